//! Hosts as requests name them and as the configuration lists them.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU16;

/// A host name in its normal form: lower case, no port, no dot at the end. `None` for text that is no host (RFC 3986, section 3.2.2).
#[must_use]
pub fn normal(host: &str) -> Option<Cow<'_, str>> {
    let name = without_port(host)?;
    let name = name.strip_suffix('.').unwrap_or(name);
    let inner = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':');
    if inner.is_empty() || inner.len() > 255 || !inner.bytes().all(legal) {
        return None;
    }
    if inner.bytes().any(|b| b.is_ascii_uppercase()) {
        return Some(Cow::Owned(name.to_ascii_lowercase()));
    }
    Some(Cow::Borrowed(name))
}

fn without_port(host: &str) -> Option<&str> {
    let digits = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    if let Some(end) = host.strip_prefix('[').and_then(|_| host.find(']')) {
        let (name, port) = host.split_at(end + 1);
        let legal = port.is_empty() || port.strip_prefix(':').is_some_and(digits);
        return legal.then_some(name);
    }
    match host.split_once(':') {
        None => Some(host),
        Some((name, port)) => digits(port).then_some(name),
    }
}

/// Why a host pattern is refused: the mistake, and the correction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{wrong}; {right}")]
pub struct HostError {
    pub wrong: String,
    pub right: String,
}

/// The port of a name: none if it is that of HTTP or HTTPS, as browsers leave these out.
fn port(host: &str) -> Option<&str> {
    let behind = host.rsplit_once(']').map_or(host, |(_, behind)| behind);
    let (_, port) = behind.split_once(':')?;
    (!matches!(port, "80" | "443")).then_some(port)
}

/// One host, or with `*.` in front every host below it, at any depth; with a port, there alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostPattern {
    name: String,
    below: bool,
}

impl HostPattern {
    /// Takes `shop.example` or `*.shop.example`, in any case, with a port or without.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let right = "a host such as \"shop.example\", or \"*.shop.example\" for all hosts below it".to_owned();
        let wrong = |wrong: String| HostError {
            wrong,
            right: right.clone(),
        };
        if !text.is_ascii() {
            let right = "the name in its ASCII form, beginning with \"xn--\"".to_owned();
            return Err(HostError {
                wrong: format!("\"{text}\" has letters beyond ASCII"),
                right,
            });
        }
        let (below, name) = match text.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, text),
        };
        let Some(bare) = normal(name) else {
            return Err(wrong(format!("\"{text}\" is no host")));
        };
        let name = match port(name) {
            Some(port)
                if port
                    .parse::<NonZeroU16>()
                    .is_ok_and(|number| number.to_string() == port) =>
            {
                format!("{bare}:{port}")
            }
            Some(_) => return Err(wrong(format!("\"{text}\" names no port"))),
            None => bare.into_owned(),
        };
        Ok(Self { name, below })
    }

    /// `host` in normal form.
    #[must_use]
    pub fn matches(&self, host: &str) -> bool {
        if !self.below {
            return host == self.name;
        }
        host.strip_suffix(self.name.as_str())
            .is_some_and(|front| front.len() > 1 && front.ends_with('.'))
    }

    /// Every host that `other` matches is matched here too.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        self.below && self.matches(&other.name)
    }

    /// The hosts below the name are meant, and not itself.
    #[must_use]
    pub fn is_below(&self) -> bool {
        self.below
    }

    /// It is for requests that name a port.
    pub(super) fn has_port(&self) -> bool {
        port(&self.name).is_some()
    }

    /// The host, or the domain of the hosts; with its port, if it has one.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The same without a port.
    #[must_use]
    pub fn domain(&self) -> &str {
        without_port(&self.name).unwrap_or(&self.name)
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.below { "*." } else { "" };
        write!(f, "{star}{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_host_have_one_form() {
        for host in [
            "shop.example",
            "SHOP.example",
            "shop.example.",
            "shop.example:8080",
            "Shop.Example.:1",
        ] {
            assert_eq!(normal(host).as_deref(), Some("shop.example"), "{host}");
        }
        assert_eq!(normal("[::1]:8080").as_deref(), Some("[::1]"));
        for odd in ["", "a b", "a/b", "a@b", "a:b", "[::1]x", "[::1", "é", ":80", "a,b"] {
            assert_eq!(normal(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_star_takes_hosts_below_and_not_the_domain_itself() {
        let pattern = HostPattern::parse("*.shop.example").expect("pattern");
        assert!(pattern.matches("www.shop.example") && pattern.matches("a.b.shop.example"));
        assert!(!pattern.matches("shop.example") && !pattern.matches("myshop.example"));
        assert!(pattern.covers(&HostPattern::parse("a.shop.example").expect("host")));
        assert!(!pattern.covers(&HostPattern::parse("shop.example").expect("host")));
    }

    #[test]
    fn a_port_is_part_of_a_pattern_unless_browsers_leave_it_out() {
        let named = |text| HostPattern::parse(text).map(|pattern| pattern.to_string());
        assert_eq!(named("Shop.example:8443").as_deref(), Ok("shop.example:8443"));
        assert_eq!(named("*.shop.example:8443").as_deref(), Ok("*.shop.example:8443"));
        assert_eq!(named("shop.example:443").as_deref(), Ok("shop.example"));
        assert_eq!(HostPattern::parse("[::1]:81").expect("a pattern").domain(), "[::1]");
        for odd in [
            "shop.example:",
            "shop.example:0",
            "shop.example:080",
            "shop.example:65536",
        ] {
            assert!(named(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn letters_beyond_ascii_and_a_star_alone_are_refused() {
        assert!(HostPattern::parse("가게.example").is_err_and(|e| e.right.contains("xn--")));
        assert!(HostPattern::parse("*").is_err());
    }
}
