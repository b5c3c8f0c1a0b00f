//! A link of the page's footer: to a site, to a path of the shop, or to a mailbox.

use http::Uri;

use super::unfit::Unfit;
use crate::pages::text::path_on_this_host;

/// Most characters of a link.
pub const MAX_LINK: usize = 300;

/// The target of a link that a browser opens and never runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link(String);

impl Link {
    /// A link to a page; with `mail` also to a mailbox.
    ///
    /// # Errors
    /// When the text is longer than a link may be, or has any other scheme.
    pub fn parse(text: &str, mail: bool) -> Result<Self, Unfit> {
        let right = if mail {
            "\"https://…\", \"mailto:…\", or a path of the shop such as \"/help\""
        } else {
            "\"https://…\", or a path of the shop such as \"/help\""
        };
        let length = text.chars().count();
        if length > MAX_LINK {
            return Err(Unfit::new(
                format!("the link has {length} characters"),
                format!("at most {MAX_LINK}"),
            ));
        }
        let plain = text
            .bytes()
            .all(|b| b.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&b));
        let known = is_path(text) || is_site(text) || (mail && is_mailbox(text));
        match (plain, known) {
            (true, true) => Ok(Self(text.to_owned())),
            (false, _) => Err(Unfit::new(
                format!("{:?} has characters that an address cannot have", beginning(text)),
                "the address as a browser copies it, with %20 for a space",
            )),
            (true, false) => Err(Unfit::new(format!("{:?} is no link to a page", beginning(text)), right)),
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Path and query of a link to the shop's own host.
    #[must_use]
    pub fn on_this_host(&self) -> Option<&str> {
        self.0.split('#').next().filter(|target| target.starts_with('/'))
    }
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && path_on_this_host(text) == text
}

/// SECURITY: a name before the host, as in `https://shop.example@evil.example`, is for deception only.
fn is_site(text: &str) -> bool {
    let page = text.split('#').next().unwrap_or_default();
    let Ok(uri) = page.parse::<Uri>() else { return false };
    let named = uri
        .authority()
        .is_some_and(|authority| !authority.host().is_empty() && !authority.as_str().contains('@'));
    matches!(uri.scheme_str(), Some("http" | "https")) && named
}

fn is_mailbox(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("mailto:") else {
        return false;
    };
    let mailbox = rest.split('?').next().unwrap_or_default();
    let parts = mailbox.split_once('@');
    parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains(['@', '/']))
}

/// As much of a wrong value as a message needs.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_and_for_help_to_a_mailbox() {
        for link in [
            "https://shop.example",
            "https://shop.example:8443/a?b=c#d",
            "http://shop.example/%ED%95%9C",
            "https://[2001:db8::1]/",
            "/help",
            "/help?topic=line#late",
        ] {
            assert_eq!(Link::parse(link, false).unwrap().as_str(), link);
        }
        for mail in ["mailto:help@shop.example", "mailto:help@shop.example?subject=Line"] {
            assert!(
                Link::parse(mail, true).is_ok() && Link::parse(mail, false).is_err(),
                "{mail}"
            );
        }
    }

    #[test]
    fn nothing_that_a_browser_runs_or_that_leads_elsewhere_is_a_link() {
        for link in [
            "",
            "help",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "java\nscript:alert(1)",
            " javascript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "vbscript:x",
            "ftp://shop.example/",
            "file:///etc/passwd",
            "//evil.example",
            "/\\evil.example",
            "https:",
            "https://",
            "https://shop.example@evil.example/",
            "https://shop.example/a b",
            "https://shop.example/\"onclick=x",
            "mailto:",
            "mailto:@",
            "mailto:javascript:alert(1)",
        ] {
            assert!(Link::parse(link, true).is_err(), "{link:?}");
        }
        let long = format!("https://shop.example/{}", "x".repeat(MAX_LINK));
        assert_eq!(Link::parse(&long, true).unwrap_err().right, "at most 300");
    }

    #[test]
    fn only_a_link_to_the_shop_has_a_path() {
        let path = |text: &str| Link::parse(text, true).unwrap().on_this_host().map(str::to_owned);
        assert_eq!(path("/help?a#b").as_deref(), Some("/help?a"));
        assert_eq!(path("https://shop.example/help"), None);
        assert_eq!(path("mailto:help@shop.example"), None);
    }
}
