//! The page that a request came from, by its `Referer`. A browser may not name it, or name only its site.

use http::HeaderMap;
use http::header::REFERER;

use super::kind::is_own_host;
use crate::router::OWN_PREFIX;

/// The path and query of the page that led here; never one of the gate's own, or a browser would go round in a circle.
#[must_use]
pub fn came_from(headers: &HeaderMap) -> Option<String> {
    let (_, path) = parts(headers)?;
    let own = path.as_bytes().get(..OWN_PREFIX.len());
    let is_own = own.is_some_and(|start| start.eq_ignore_ascii_case(OWN_PREFIX.as_bytes()));
    (!is_own).then(|| path.to_owned())
}

/// The same, where that page was of this host.
#[must_use]
pub fn came_from_here(headers: &HeaderMap) -> Option<String> {
    let (host, _) = parts(headers)?;
    is_own_host(headers, host).then(|| came_from(headers))?
}

/// Host, with its port if it has one, and path.
fn parts(headers: &HeaderMap) -> Option<(&str, &str)> {
    let (_, rest) = headers.get(REFERER)?.to_str().ok()?.split_once("://")?;
    rest.split_at_checked(rest.find('/')?)
}

#[cfg(test)]
mod tests {
    use http::header::HOST;
    use http::{HeaderName, HeaderValue};

    use super::*;
    use crate::gate::request::kind::FORWARDED_HOST;

    #[test]
    fn a_referer_leads_back_to_its_path_and_never_in_a_circle() {
        let from = |referer: &'static str| {
            let value = HeaderValue::from_static(referer);
            came_from(&HeaderMap::from_iter([(REFERER, value)]))
        };
        assert_eq!(from("https://shop.example/a?b=c"), Some("/a?b=c".to_owned()));
        for nowhere in [
            "https://shop.example",
            "about:blank",
            "https://shop.example/.ropeline/rooms/shop/check",
        ] {
            assert_eq!(from(nowhere), None);
        }
        assert_eq!(came_from(&HeaderMap::new()), None);
    }

    #[test]
    fn a_page_of_another_host_is_left_out() {
        let from = |names: &[(HeaderName, &'static str)]| {
            let value = |(name, value): &(HeaderName, &'static str)| (name.clone(), HeaderValue::from_static(value));
            came_from_here(&names.iter().map(value).collect())
        };
        let page = (REFERER, "https://Shop.example:8443/a");
        let behind = FORWARDED_HOST;
        assert_eq!(
            from(&[page.clone(), (HOST, "shop.example:8443")]),
            Some("/a".to_owned())
        );
        let proxied = [page.clone(), (HOST, "gate:8080"), (behind, "shop.example")];
        assert_eq!(from(&proxied), Some("/a".to_owned()));
        for other in ["gate:8080", "shop.example.evil.example", ""] {
            assert_eq!(from(&[page.clone(), (HOST, other)]), None, "{other}");
        }
        assert_eq!(from(&[page]), None);
        assert_eq!(
            from(&[(REFERER, "https://shop.example@evil.example/a"), (HOST, "shop.example")]),
            None
        );
    }
}
