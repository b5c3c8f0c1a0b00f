//! The page that a request came from, by its `Referer`. A browser may not name it, or name only its site.

use http::header::REFERER;
use http::{HeaderMap, HeaderValue};

use super::kind::is_own_host;
use crate::router::OWN_PREFIX;

/// The path and query of the page that led here; never one of the gate's own, or a browser would go round in a circle.
#[must_use]
pub fn came_from(headers: &HeaderMap) -> Option<String> {
    path_of(headers.get(REFERER)?)
}

/// The same, where that page was of this host, by `Host` and the word of a trusted proxy.
#[must_use]
pub fn came_from_here(referer: &HeaderValue, names: [Option<&HeaderValue>; 2]) -> Option<String> {
    let (host, _) = parts(referer)?;
    is_own_host(host, names).then(|| path_of(referer))?
}

fn path_of(referer: &HeaderValue) -> Option<String> {
    let (_, path) = parts(referer)?;
    let own = path.as_bytes().get(..OWN_PREFIX.len());
    let is_own = own.is_some_and(|start| start.eq_ignore_ascii_case(OWN_PREFIX.as_bytes()));
    (!is_own).then(|| path.to_owned())
}

/// Host, with its port if it has one, and path.
fn parts(referer: &HeaderValue) -> Option<(&str, &str)> {
    let (_, rest) = referer.to_str().ok()?.split_once("://")?;
    rest.split_at_checked(rest.find('/')?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let from = |referer: &'static str, names: [Option<&'static str>; 2]| {
            let names = names.map(|name| name.map(HeaderValue::from_static));
            came_from_here(&HeaderValue::from_static(referer), names.each_ref().map(Option::as_ref))
        };
        let page = "https://Shop.example:8443/a";
        assert_eq!(from(page, [Some("shop.example:8443"), None]), Some("/a".to_owned()));
        let proxied = [Some("gate:8080"), Some("shop.example")];
        assert_eq!(from(page, proxied), Some("/a".to_owned()));
        for other in [Some("gate:8080"), Some("shop.example.evil.example"), Some(""), None] {
            assert_eq!(from(page, [other, None]), None, "{other:?}");
        }
        let named = "https://shop.example@evil.example/a";
        assert_eq!(from(named, [Some("shop.example"), None]), None);
    }
}
