use http::Request;

use super::*;

fn kind(method: &str, headers: &[(&str, &str)]) -> Kind {
    let mut request = Request::builder().method(method);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Kind::of(&request.body(()).unwrap().into_parts().0, false)
}

#[test]
fn a_browser_that_sends_fetch_metadata_is_told_by_it() {
    let navigate = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    assert_eq!(kind("GET", &navigate), Kind::Navigation);
    assert_eq!(kind("POST", &navigate), Kind::Post);
    assert_eq!(kind("HEAD", &navigate), Kind::Passive);
    assert_eq!(
        kind("GET", &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")]),
        Kind::Passive
    );
    assert_eq!(
        kind("GET", &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")]),
        Kind::Api
    );
    assert_eq!(
        kind(
            "GET",
            &[
                ("sec-fetch-mode", "cors"),
                ("sec-fetch-dest", "empty"),
                ("accept", "text/html")
            ]
        ),
        Kind::Api
    );
    assert_eq!(
        kind(
            "GET",
            &[("sec-fetch-mode", "navigate"), ("sec-purpose", "prefetch;prerender")]
        ),
        Kind::Passive
    );
}

#[test]
fn what_a_service_worker_makes_anew_of_a_navigation_is_told_by_accept() {
    let anew = |method, accept| {
        let fields = [
            ("sec-fetch-mode", "same-origin"),
            ("sec-fetch-dest", "empty"),
            ("accept", accept),
        ];
        kind(method, &fields)
    };
    assert_eq!(anew("GET", "text/html,application/xhtml+xml"), Kind::Navigation);
    assert_eq!(anew("POST", "text/html"), Kind::Post);
    assert_eq!(anew("GET", "*/*"), Kind::Api);
    assert_eq!(anew("GET", "application/json"), Kind::Api);
    let mut headers = from_site(Some("same-origin"));
    headers.insert(SEC_FETCH_MODE, HeaderValue::from_static("same-origin"));
    assert!(!is_by_own_hand(&headers), "it does not say who led here");
}

#[test]
fn a_client_without_fetch_metadata_is_told_by_accept() {
    assert_eq!(kind("GET", &[("accept", "text/html,*/*;q=0.8")]), Kind::Navigation);
    assert_eq!(
        kind(
            "GET",
            &[("accept", "text/html"), ("x-requested-with", "com.example.app")]
        ),
        Kind::Navigation
    );
    assert_eq!(
        kind(
            "GET",
            &[("accept", "text/html"), ("x-requested-with", "XMLHttpRequest")]
        ),
        Kind::Api
    );
    assert_eq!(kind("GET", &[("accept", "image/avif,image/webp,*/*")]), Kind::Passive);
    assert_eq!(kind("GET", &[("accept", "*/*")]), Kind::Api);
    assert_eq!(kind("POST", &[]), Kind::Api);
    assert_eq!(kind("DELETE", &[("accept", "text/html")]), Kind::Api);
}

#[test]
fn a_form_from_another_site_is_told_apart() {
    let cross = [("sec-fetch-mode", "navigate"), ("sec-fetch-site", "cross-site")];
    assert_eq!(kind("POST", &cross), Kind::CrossSitePost);
    let old = [
        ("accept", "text/html"),
        ("origin", "https://pay.example"),
        ("host", "shop.example"),
    ];
    assert_eq!(kind("POST", &old), Kind::CrossSitePost);
    let own = [
        ("accept", "text/html"),
        ("origin", "https://shop.example"),
        ("host", "shop.example"),
    ];
    assert_eq!(kind("POST", &own), Kind::Post);
}

fn from_site(site: Option<&str>) -> HeaderMap {
    let site = site.map(|site| (SEC_FETCH_SITE, site.parse().unwrap()));
    site.into_iter().collect()
}

#[test]
fn a_link_of_another_site_is_told_by_fetch_metadata_alone() {
    assert!(is_link_from_elsewhere(&from_site(Some("cross-site"))));
    for site in [Some("same-site"), Some("same-origin"), Some("none"), None] {
        assert!(!is_link_from_elsewhere(&from_site(site)), "{site:?}");
    }
}

#[test]
fn another_origins_link_is_no_own_hand() {
    for site in ["cross-site", "same-site"] {
        assert!(!is_by_own_hand(&from_site(Some(site))), "{site}");
    }
    for site in [Some("same-origin"), Some("none"), None] {
        assert!(is_by_own_hand(&from_site(site)), "{site:?}");
    }
}

#[test]
fn a_frame_in_another_sites_page_is_no_navigation_of_its_own() {
    let frame = |site| {
        kind(
            "GET",
            &[
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "iframe"),
                ("sec-fetch-site", site),
            ],
        )
    };
    assert_eq!(frame("cross-site"), Kind::CrossSiteFrame);
    assert_eq!(frame("same-site"), Kind::Navigation);
    assert_eq!(frame("same-origin"), Kind::Navigation);
}

#[test]
fn preflights_sockets_and_crawlers_have_their_rows() {
    let preflight = [
        ("origin", "https://a.example"),
        ("access-control-request-method", "PUT"),
    ];
    assert_eq!(kind("OPTIONS", &preflight), Kind::Preflight);
    assert_eq!(kind("OPTIONS", &[]), Kind::Api);
    let tunnel = [preflight[0], preflight[1], ("x-http-method-override", "POST")];
    assert_eq!(kind("OPTIONS", &tunnel), Kind::Api);
    assert_eq!(
        kind("GET", &[("upgrade", "websocket"), ("accept", "text/html")]),
        Kind::Api
    );
    let crawler = [("accept", "text/html"), ("user-agent", "Googlebot/2.1")];
    assert_eq!(kind("GET", &crawler), Kind::Passive);
    assert_eq!(kind("POST", &crawler), Kind::Post);
    for agent in [
        "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +HTTPS://openai.com/gptbot)",
    ] {
        let named = [("accept", "text/html"), ("user-agent", agent)];
        assert_eq!(kind("GET", &named), Kind::Passive, "{agent}");
    }
    let phone = "Mozilla/5.0 (Linux; Android 9; CUBOT X19 Build/PPR1) AppleWebKit/537.36 Mobile Safari/537.36";
    let person = [("accept", "text/html"), ("user-agent", phone)];
    assert_eq!(kind("GET", &person), Kind::Navigation);
    let mut headers = HeaderMap::new();
    for (name, value) in crawler {
        headers.insert(name, value.parse().unwrap());
    }
    assert_eq!(Kind::of_no_crawler(&Method::GET, &headers), Kind::Navigation);
}

#[test]
fn a_script_that_names_its_visitors_account_is_a_sign_in_and_a_form_stays_what_it_is() {
    assert_eq!(kind("POST", &[("sec-fetch-mode", "cors")]).signing_in(), Kind::SignIn);
    assert_eq!(kind("POST", &[]).signing_in(), Kind::SignIn, "an app");
    assert_eq!(kind("POST", &[("accept", "text/html")]).signing_in(), Kind::Post);
    assert!(Kind::SignIn.takes_tokens() && !Kind::SignIn.is_navigation() && !Kind::Api.takes_tokens());
}

#[test]
fn without_fetch_metadata_an_origin_is_held_against_the_hosts_that_the_request_and_a_proxy_name() {
    let is_own = |origin: &str, fields: &[(&'static str, &str)]| {
        let fields = fields.iter().copied().chain([("origin", origin)]);
        let headers = fields.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        !is_cross_site(&headers.collect())
    };
    let inner = ("host", "10.0.0.7:8080");
    for (origin, host) in [
        ("http://shop.example:8000", "shop.example:8000"),
        ("http://shop.example:8000", "Shop.Example"),
        ("https://shop.example", "shop.example:443"),
        ("http://shop.example.", "shop.example."),
        ("https://[::1]:8000", "[::1]"),
    ] {
        assert!(is_own(origin, &[("host", host)]), "{origin} {host}");
        assert!(is_own(origin, &[inner, ("x-forwarded-host", host)]), "{origin} {host}");
        let list = format!("{host}, 10.0.0.8");
        assert!(is_own(origin, &[inner, ("x-forwarded-host", &list)]), "{origin} {list}");
    }
    for (origin, host) in [
        ("http://evil.test:8000", "shop.example"),
        ("http://shop.example.evil.test", "shop.example"),
        ("http://evil.test", "shop.example, evil.test"),
        ("null", "shop.example"),
        ("null", "null"),
        ("http://", ""),
        ("http://:80", ":80"),
    ] {
        assert!(!is_own(origin, &[("host", host)]), "{origin} {host}");
        assert!(!is_own(origin, &[inner, ("x-forwarded-host", host)]), "{origin} {host}");
    }
}
