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

fn by_agent(agent: &str) -> Kind {
    kind("GET", &[("accept", "text/html"), ("user-agent", agent)])
}

#[test]
fn crawlers_and_fetchers_of_link_previews_get_no_place() {
    for agent in [
        "Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)",
        "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Mobile Safari/537.36 (compatible; GoogleOther)",
        "Mozilla/5.0 (X11; Linux x86_64; Storebot-Google/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/79.0 Safari/537.36",
        "Mediapartners-Google",
        "AdsBot-Google",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/130.0 Safari/537.36",
        "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
        "Twitterbot/1.0",
        "TelegramBot (like TwitterBot)",
        "Mozilla/5.0 (Macintosh) AppleWebKit/601.2.4 Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
        "facebookexternalhit/1.1;line-poker/1.0",
        "meta-externalagent/1.1",
        "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient)",
        "Slackbot-LinkExpanding 1.0",
        "Mozilla/5.0 (compatible; Discordbot/2.0)",
        "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
        "Mozilla/5.0 Chrome/130.0 Safari/537.36 (Snap URL Preview Service; bot; snapchat)",
        "WhatsApp/2",
        "WhatsApp/2.23.18.78 i",
        "CCBot/2.0 (https://commoncrawl.org/faq/)",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; claudebot@anthropic.com)",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0",
    ] {
        assert_eq!(by_agent(agent), Kind::Passive, "{agent}");
    }
}

#[test]
fn browsers_also_those_within_apps_are_no_crawlers() {
    for agent in [
        "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Mobile Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Twitter for iPhone/10.60",
        "Mozilla/5.0 (Linux; Android 14; SM-S918B; wv) AppleWebKit/537.36 Version/4.0 Chrome/130.0 Mobile Safari/537.36 WhatsApp/2.24.20",
        "Mozilla/5.0 (Linux; Android 9; CUBOT/P20 Build/PPR1) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 GSA/330.0 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [FBAN/FBIOS;FBAV/480.0]",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [LinkedInApp]/9.29",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [Pinterest/iOS]",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Snapchat/13.0 (like Safari/8619)",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Instagram 340.0 KAKAOTALK 10.9 Line/14.0",
    ] {
        assert_eq!(by_agent(agent), Kind::Navigation, "{agent}");
    }
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
