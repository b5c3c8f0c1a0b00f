//! Traefik's and Envoy's questions as their documents describe them, sent over sockets; neither is run here.
//!
//! Traefik (`ForwardAuth`): a GET of the configured address with the visitor's fields but those of one connection, and
//! `X-Forwarded-Method`, `-Proto`, `-Host`, `-Uri`, `-For`; 2xx lets pass, any other answer is the visitor's, whole.
//! Envoy (`ext_authz`, HTTP service): the visitor's method and host, the path behind `path_prefix`, the listed fields and an
//! empty body; 200 lets pass, any other answer is the visitor's with the listed fields.

use std::collections::BTreeMap;

use ropeline::room::{CodeId, LaneId, LineName, Wall};
use ropeline::token::{Code, Grant};

use crate::gate::{Gate, keyring, pass_name, room, ticket_name};
use crate::guest::{PAGE, SCRIPT, read_ticket};
use crate::house::{ONE, eventually};
use crate::http::{Message, Pool};
use crate::shop::Shop;

/// The status of a temporary no: Envoy takes 5xx for a failure of the gate.
fn not_now(asker: &str) -> u16 {
    if asker == "envoy" { 429 } else { 503 }
}

const ASKERS: [&str; 2] = ["traefik", "envoy"];

/// A proxy of one kind before a gate.
struct Asking {
    asker: &'static str,
    gate: Gate,
    pool: Pool,
}

impl Asking {
    async fn open(asker: &'static str, room: &str, tables: &str) -> Self {
        let way = format!("[forward_auth]\nproxies = [\"{asker}\"]");
        let mut gate = Gate::configured("embedded:data", &way, room, tables);
        gate.start();
        gate.ready().await;
        let pool = Pool::new(gate.address);
        Self { asker, gate, pool }
    }

    /// Asks about a visitor's request with this jar, and keeps the cookies that the visitor would be given.
    async fn ask(&self, jar: &mut Jar, method: &str, target: &str, fields: &str) -> Message {
        let cookies: Vec<String> = jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = if cookies.is_empty() {
            String::new()
        } else {
            format!("Cookie: {}\r\n", cookies.join("; "))
        };
        let about = "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http\r\n";
        let question = match self.asker {
            "traefik" => format!(
                "GET /.ropeline/forward/traefik HTTP/1.1\r\nHost: {}\r\nUser-Agent: Go-http-client/1.1\r\n{fields}{cookies}{about}\
                 X-Forwarded-Host: shop.test\r\nX-Forwarded-Method: {method}\r\nX-Forwarded-Port: 80\r\n\
                 X-Forwarded-Server: proxy\r\nX-Forwarded-Uri: {target}\r\nX-Real-Ip: 203.0.113.9\r\nAccept-Encoding: gzip\r\n\
                 Ropeline-Body: none\r\n\r\n",
                self.gate.address
            ),
            _ => format!(
                "{method} /.ropeline/forward/envoy{target} HTTP/1.1\r\nhost: shop.test\r\ncontent-length: 0\r\n{fields}{cookies}{about}\
                 x-envoy-internal: true\r\nx-request-id: 7\r\nropeline-body: none\r\n\r\n"
            ),
        };
        let answer = self.pool.ask(question.as_bytes()).await.unwrap();
        for line in answer.fields("set-cookie") {
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            jar.insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    /// Asserts that the visitor is redirected to the same address: to the path or, as Traefik takes a bare path for one of
    /// the gate's own, to the whole address; a visitor who has just joined goes via the check for cookies.
    fn assert_back(&self, answer: &Message, target: &str) {
        let host = if self.asker == "traefik" {
            "http://shop.test"
        } else {
            ""
        };
        let location = answer.field("location").unwrap_or_default();
        let path = location.strip_prefix(host).unwrap_or("on another host");
        let query = path.strip_prefix("/.ropeline/rooms/shop/check?").unwrap_or_default();
        let named = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "to");
        let back = named.map_or(path.to_owned(), |(_, to)| to.into_owned());
        assert_eq!((answer.status(), back.as_str()), (303, target), "{}", answer.head);
    }

    /// A visitor inside who has used the pass.
    async fn inside(&self) -> Jar {
        let mut jar = Jar::new();
        let answer = self.ask(&mut jar, "GET", "/", PAGE).await;
        self.assert_back(&answer, "/");
        assert_pass(&self.ask(&mut jar, "GET", "/", PAGE).await);
        jar
    }
}

type Jar = BTreeMap<String, String>;

/// Both let a request pass on 200; what a visitor must be given cannot be on it.
fn assert_pass(answer: &Message) {
    assert_eq!((answer.status(), answer.word()), (200, "pass"), "{}", answer.head);
    assert_eq!(answer.field("set-cookie"), None);
    assert!(answer.body.is_empty());
}

#[tokio::test]
async fn outside_the_room_and_in_an_open_one_requests_pass_as_nobodys() {
    for asker in ASKERS {
        let proxy = Asking::open(asker, ONE, "").await;
        let mut jar = Jar::from([("sid".to_owned(), "7".to_owned())]);
        for (method, target, fields) in [
            ("GET", "/static/x", PAGE),
            ("GET", "/robots.txt", ""),
            ("PUT", "/api", SCRIPT),
        ] {
            let answer = proxy.ask(&mut jar, method, target, fields).await;
            assert_pass(&answer);
            assert_eq!(answer.field("ropeline-session"), None);
            assert_eq!(
                answer.field("cookie"),
                Some("sid=7"),
                "for the shop, where it can be copied"
            );
        }
        assert_eq!(proxy.gate.room().await["joins"], 0);
    }
}

#[tokio::test]
async fn a_navigation_is_given_its_cookies_on_the_way_back_and_then_passes_as_its_session() {
    for asker in ASKERS {
        let proxy = Asking::open(asker, ONE, "").await;
        let mut jar = Jar::from([("sid".to_owned(), "7".to_owned())]);
        let answer = proxy.ask(&mut jar, "GET", "/seats?row=7", PAGE).await;
        proxy.assert_back(&answer, "/seats?row=7");
        assert!(jar.contains_key(&ticket_name()) && jar.contains_key(&pass_name()));
        let answer = proxy.ask(&mut jar, "POST", "/order", PAGE).await;
        assert_pass(&answer);
        assert!(answer.field("ropeline-session").is_some());
        assert_eq!(answer.field("cookie"), Some("sid=7"));
        let gone = answer.field("x-envoy-auth-headers-to-remove");
        assert_eq!(gone, (asker == "envoy").then_some("ropeline-ticket,ropeline-pass"));
    }
}

#[tokio::test]
async fn before_a_full_room_people_get_the_page_and_programs_are_turned_away() {
    for asker in ASKERS {
        let proxy = Asking::open(asker, ONE, "").await;
        let mut inside = proxy.inside().await;
        let mut jar = Jar::new();
        let answer = proxy.ask(&mut jar, "GET", "/seats", PAGE).await;
        assert_eq!(
            (answer.status(), answer.word()),
            (not_now(asker), "waiting"),
            "{}",
            answer.head
        );
        assert!(answer.text().contains("id=\"data\"") && answer.field("retry-after").is_some());
        assert!(jar.contains_key(&ticket_name()) && !jar.contains_key(&pass_name()));
        let answer = proxy.ask(&mut jar, "GET", "/seats", PAGE).await;
        assert_eq!(
            (answer.word(), answer.field("set-cookie")),
            ("waiting", None),
            "the same place"
        );
        for (method, fields) in [("POST", SCRIPT), ("GET", SOCKET)] {
            let answer = proxy.ask(&mut Jar::new(), method, "/api", fields).await;
            assert_eq!(
                (answer.status(), answer.field("content-type")),
                (not_now(asker), Some("application/problem+json")),
                "{fields}"
            );
        }
        let mut forged = Jar::from([(pass_name(), "forged".to_owned())]);
        assert_eq!(
            proxy.ask(&mut forged, "GET", "/api", SCRIPT).await.status(),
            not_now(asker)
        );
        assert_pass(&proxy.ask(&mut inside, "GET", "/api", SCRIPT).await);
        assert_eq!(proxy.gate.room().await["joins"], 2);
    }
}

/// Without the fields of one connection, as both send it.
const SOCKET: &str = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-Fetch-Mode: websocket\r\nSec-Fetch-Dest: websocket\r\n";

#[tokio::test]
async fn who_is_called_is_given_the_pass() {
    for asker in ASKERS {
        let proxy = Asking::open(asker, ONE, "").await;
        let _inside = proxy.inside().await;
        let mut jar = Jar::new();
        assert_eq!(proxy.ask(&mut jar, "GET", "/", PAGE).await.status(), not_now(asker));
        proxy.gate.set("{\"total_active_users\": 2}").await;
        eventually("called", async || {
            (proxy.gate.room().await["called"] == 1).then_some(())
        })
        .await;
        let answer = proxy.ask(&mut jar, "GET", "/x", PAGE).await;
        proxy.assert_back(&answer, "/x");
        assert_pass(&proxy.ask(&mut jar, "GET", "/x", PAGE).await);
    }
}

#[tokio::test]
async fn a_link_with_a_code_is_sent_on_to_the_same_address_without_it() {
    const PRESS: &str = "[[room.lane]]\nname = \"rest\"\n[[room.lane]]\nname = \"press\"\ncode = true\n";
    let code = Code {
        id: CodeId([1; 6]),
        starts: None,
        expires: None,
        grant: Grant::Lane("press".to_owned()),
        single: false,
        issued: Wall(0),
    };
    let code = code.sign(&keyring(), &room(), &LineName::ONLY).unwrap();
    for asker in ASKERS {
        let proxy = Asking::open(asker, &format!("{ONE}\n{PRESS}"), "").await;
        proxy.inside().await;
        let mut jar = Jar::new();
        let link = format!("/seats?row=7&ropeline_code={code}");
        let answer = proxy.ask(&mut jar, "GET", &link, PAGE).await;
        assert_eq!(answer.word(), "code", "{}", answer.head);
        proxy.assert_back(&answer, "/seats?row=7");
        let answer = proxy.ask(&mut jar, "GET", "/seats?row=7", PAGE).await;
        assert_eq!(answer.word(), "waiting", "{}", answer.head);
        let ticket = read_ticket(&jar[&ticket_name()]).unwrap();
        assert_eq!(ticket.lane, LaneId(1));
        // A visitor with a place is asked first, and keeps it until they answer.
        let mut waits = Jar::new();
        assert_eq!(proxy.ask(&mut waits, "GET", "/seats", PAGE).await.word(), "waiting");
        let before = waits.clone();
        let answer = proxy.ask(&mut waits, "GET", &link, PAGE).await;
        assert_eq!(
            (answer.status(), answer.word()),
            (not_now(asker), "code_use"),
            "{}",
            answer.head
        );
        assert_eq!(waits, before);
        for target in ["//evil.test/x", "//0", "//"] {
            let link = format!("{target}?ropeline_code=none");
            let answer = proxy.ask(&mut jar, "GET", &link, PAGE).await;
            let location = answer.field("location").unwrap_or("/").to_owned();
            let on_this_host = location.starts_with('/') && !location.starts_with("//");
            assert!(on_this_host || location.starts_with("http://shop.test/"), "{location}");
        }
    }
}

#[tokio::test]
async fn a_limit_is_429_with_its_fields_and_counts_each_request_once() {
    let limit = "[[limit]]\nname = \"seats\"\nroutes = [\"/api/*\"]\nrequests = 3\nwindow = \"10 min\"";
    for asker in ASKERS {
        let proxy = Asking::open(asker, "routes = [\"/event/*\"]", limit).await;
        for _ in 0..3 {
            assert_pass(&proxy.ask(&mut Jar::new(), "POST", "/api/seats", SCRIPT).await);
        }
        let answer = proxy.ask(&mut Jar::new(), "POST", "/api/seats", SCRIPT).await;
        assert_eq!((answer.status(), answer.word()), (429, "limited"));
        assert!(answer.field("retry-after").is_some() && answer.field("ratelimit").is_some());
    }
}

#[tokio::test]
async fn a_closed_room_and_the_gates_own_path_are_never_a_yes() {
    for asker in ASKERS {
        let proxy = Asking::open(asker, &format!("{ONE}\nmode = \"closed\""), "").await;
        let answer = proxy.ask(&mut Jar::new(), "GET", "/", PAGE).await;
        assert_eq!((answer.status(), answer.word()), (not_now(asker), "closed"));
        let cross = format!("Origin: https://pay.test\r\nSec-Fetch-Site: cross-site\r\n{PAGE}");
        let answer = proxy.ask(&mut Jar::new(), "POST", "/", &cross).await;
        assert_eq!((answer.status(), answer.word()), (not_now(asker), "same_site"));
        let strict = Asking::open(asker, &format!("{ONE}\nsame_site = \"strict\""), "").await;
        let link = format!("Sec-Fetch-Site: cross-site\r\n{PAGE}");
        let answer = strict.ask(&mut Jar::new(), "GET", "/", &link).await;
        assert_eq!((answer.status(), answer.word()), (not_now(asker), "same_site"));
        assert_eq!((answer.field("refresh"), answer.field("set-cookie")), (Some("1"), None));
        for own in [
            "/.ropeline/health",
            "/.ropeline/rooms/shop/status",
            "/.ropeline/forward/traefik",
            "/%2eropeline/health",
        ] {
            let answer = proxy.ask(&mut Jar::new(), "GET", own, SCRIPT).await;
            assert!(matches!(answer.status(), 400 | 404), "{own}: {}", answer.head);
        }
        assert_eq!(
            proxy
                .ask(&mut Jar::new(), "GET", "/static/..%2fx", SCRIPT)
                .await
                .status(),
            400
        );
    }
}

#[tokio::test]
async fn a_question_without_its_description_is_refused() {
    let proxy = Asking::open("traefik", ONE, "").await;
    let fields = [
        "X-Forwarded-For: 203.0.113.9",
        "X-Forwarded-Proto: http",
        "X-Forwarded-Host: shop.test",
        "X-Forwarded-Method: GET",
        "X-Forwarded-Uri: /static/x",
    ];
    for at in 0..=fields.len() {
        let kept: Vec<&str> = fields
            .iter()
            .enumerate()
            .filter(|(n, _)| *n != at)
            .map(|(_, field)| *field)
            .collect();
        let question = format!(
            "GET /.ropeline/forward/traefik HTTP/1.1\r\nHost: gate\r\nRopeline-Body: none\r\n{}\r\n\r\n",
            kept.join("\r\n")
        );
        let answer = proxy.pool.ask(question.as_bytes()).await.unwrap();
        if at == fields.len() {
            assert_pass(&answer);
        } else {
            assert_eq!(
                (answer.status(), answer.word()),
                (400, "undescribed"),
                "without {}",
                fields[at]
            );
            let (name, _) = fields[at].split_once(':').unwrap();
            assert!(answer.text().contains(name), "it says so: {}", answer.text());
        }
    }
}

/// Without a configured proxy none can ask; and without a named shop no request reaches one.
#[tokio::test]
async fn what_is_not_configured_is_not_there() {
    let proxy = Asking::open("traefik", ONE, "").await;
    let answer = |target: &'static str| {
        let question = format!(
            "GET {target} HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http\r\n{PAGE}\r\n"
        );
        let pool = &proxy.pool;
        async move { pool.ask(question.as_bytes()).await.unwrap() }
    };
    for target in [
        "/.ropeline/forward/nginx",
        "/.ropeline/forward/envoy/static/x",
        "/.ropeline/forward",
        "/.ropeline/forward/traefik/answer",
    ] {
        assert_eq!(answer(target).await.status(), 404, "{target}");
    }
    for target in ["/", "/static/x"] {
        let answer = answer(target).await;
        assert_eq!(
            (answer.status(), answer.word(), answer.field("set-cookie")),
            (421, "no_upstream", None)
        );
    }
    assert_eq!(proxy.gate.room().await["joins"], 0);
    let shop = Shop::open(&[]).await;
    let gate = Gate::open(shop.address, ONE, "").await;
    let question = "GET /.ropeline/forward/nginx HTTP/1.1\r\nHost: shop.test\r\n\r\n";
    assert_eq!(
        Pool::new(gate.address).ask(question.as_bytes()).await.unwrap().status(),
        404
    );
}

/// The gate cannot refuse a field that it does not see.
#[test]
fn envoys_example_sends_every_field_and_the_beginning_of_a_body() {
    let example = std::fs::read_to_string("examples/forward-auth/envoy.yaml").unwrap();
    let (_, listed) = example.split_once("allowed_headers:").unwrap();
    let (listed, _) = listed.split_once("disallowed_headers:").unwrap();
    assert!(listed.contains("safe_regex: { regex: \".*\" }"), "{listed}");
    assert!(example.contains("with_request_body:") && example.contains("{ key: ropeline-body, value: none }"));
}

#[test]
fn the_gates_example_is_a_configuration() {
    let text = std::fs::read_to_string("examples/forward-auth/ropeline.toml").unwrap();
    let report = ropeline::config::check(&text, "ropeline.toml");
    assert!(report.mistakes().is_empty(), "{report}");
    let config = report.config().unwrap();
    assert!(config.upstreams.is_empty() && config.forward_auth.len() == 5);
    // It reports what is missing.
    assert_eq!(report.warnings().len(), 1, "{report}");
}
