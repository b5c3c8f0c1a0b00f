//! The page that a request came from, by its `Referer`. A browser may not name it, or name only its site.

use http::HeaderMap;
use http::header::REFERER;

use crate::router::OWN_PREFIX;

/// The path and query of the page that led here; never one of the gate's own, or a browser would go round in a circle.
#[must_use]
pub fn came_from(headers: &HeaderMap) -> Option<String> {
    let referer = headers.get(REFERER)?.to_str().ok()?;
    let (_, rest) = referer.split_once("://")?;
    let path = &rest[rest.find('/')?..];
    let own = path.as_bytes().get(..OWN_PREFIX.len());
    let is_own = own.is_some_and(|start| start.eq_ignore_ascii_case(OWN_PREFIX.as_bytes()));
    (!is_own).then(|| path.to_owned())
}

/// The same, where that page was of the host asked for.
#[must_use]
pub fn came_from_host(headers: &HeaderMap, host: &str) -> Option<String> {
    let referer = headers.get(REFERER)?.to_str().ok()?;
    let (_, rest) = referer.split_once("://")?;
    let authority = rest.split('/').next()?;
    authority.eq_ignore_ascii_case(host).then(|| came_from(headers))?
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

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
        let referer = HeaderValue::from_static("https://Shop.example:8443/a");
        let headers = HeaderMap::from_iter([(REFERER, referer)]);
        assert_eq!(came_from_host(&headers, "shop.example:8443"), Some("/a".to_owned()));
        assert_eq!(came_from_host(&headers, "shop.example"), None);
        assert_eq!(came_from_host(&headers, ""), None);
    }
}
