//! TLS as an operator sets it up and a visitor meets it: the binary, curl, files that are renewed.

use std::net::SocketAddr;
use std::process::Command;

use crate::gate::{Gate, Site, line_with};
use crate::harness::certificates::{Authority, Issued};
use crate::until;

/// A gate that also speaks TLS, and the authority of its certificate.
struct Secured {
    site: Site,
    gate: Gate,
    authority: Authority,
    address: SocketAddr,
}

impl Secured {
    /// With these lines more in `[[room]]` and in `[tls]`.
    fn start(room: &str, tls: &str) -> Self {
        let authority = Authority::new();
        Self::on(site(room, tls, &authority.issue(&["shop.example"])), authority)
    }

    fn on(site: Site, authority: Authority) -> Self {
        std::fs::write(site.path("root.pem"), authority.pem()).unwrap();
        let gate = site.start();
        let serving = line_with(&gate.program.err(), "serving").unwrap();
        Self {
            address: serving["tls"].as_str().unwrap().parse().unwrap(),
            site,
            gate,
            authority,
        }
    }

    /// The answer of `shop.example` to curl, with its head; `scheme` chooses the port.
    fn curl(&self, scheme: &str, target: &str, arguments: &[&str]) -> String {
        let port = if scheme == "https" {
            self.address.port()
        } else {
            self.gate.address.port()
        };
        let asked = Command::new("curl")
            .args(["-s", "-i", "--max-time", "60", "--cacert"])
            .arg(self.site.path("root.pem"))
            .args(["--resolve", &format!("shop.example:{port}:127.0.0.1")])
            .args(arguments)
            .arg(format!("{scheme}://shop.example:{port}{target}"))
            .output()
            .unwrap();
        assert!(asked.status.success(), "{asked:?}\n{}", self.gate.program.err());
        String::from_utf8_lossy(&asked.stdout).into_owned()
    }

    fn metrics(&self) -> String {
        self.gate.asks_admin("/metrics").body
    }
}

fn site(room: &str, tls: &str, issued: &Issued) -> Site {
    let tables = format!(
        "[tls]\nlisten = [\"127.0.0.1:0\"]\n\
         certificates = [{{ cert_file = \"shop.pem\", key_file = \"shop.key\" }}]\n{tls}"
    );
    let site = Site::new(room, &tables);
    issued.write(&site.path(""), "shop");
    site
}

/// The value of a field of an answer.
fn field<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split("\r\n\r\n").next()?;
    head.lines().find_map(|line| {
        let (field, value) = line.split_once(": ")?;
        field.eq_ignore_ascii_case(name).then_some(value)
    })
}

#[test]
fn a_visitor_comes_in_over_tls_with_cookies_for_nothing_else() {
    let secured = Secured::start("", "");
    let answer = secured.curl(
        "https",
        "/",
        &["-H", "Accept: text/html", "-H", "Sec-Fetch-Mode: navigate"],
    );
    assert!(
        answer.starts_with("HTTP/2 200 ") && answer.contains("x-forwarded-proto: https"),
        "{answer}"
    );
    let cookies: Vec<&str> = answer
        .lines()
        .filter(|line| line.to_ascii_lowercase().starts_with("set-cookie: "))
        .collect();
    assert!(!cookies.is_empty(), "{answer}");
    for cookie in cookies {
        assert!(
            cookie.contains("__Host-ropeline-") && cookie.contains("; Secure"),
            "{cookie}"
        );
    }
    let older = secured.curl("https", "/robots.txt", &["--http1.1"]);
    assert!(older.starts_with("HTTP/1.1 200 "), "{older}");
    let plain = secured.curl("http", "/.ropeline/health", &[]);
    assert!(plain.starts_with("HTTP/1.1 200 "), "{plain}");
    let text = secured.metrics();
    assert!(
        text.lines().any(|line| line == "ropeline_tls_handshakes_total 2"),
        "{text}"
    );
    let expiry = "ropeline_certificate_expiry_timestamp_seconds{name=\"shop.example\",file=\"shop.pem\"} 3786912000.0";
    assert!(text.lines().any(|line| line == expiry), "{text}");
}

#[test]
fn who_comes_in_the_clear_is_sent_to_the_same_address_over_tls() {
    let secured = Secured::start("", "redirect = true");
    let port = secured.address.port();
    for (target, arguments) in [
        ("/deep/link?a=b&c=%20", &[][..]),
        ("/.ropeline/rooms/shop/status", &[]),
        ("/.well-known/security.txt", &[]),
        ("//other.example/", &["--path-as-is"]),
        ("/order", &["-X", "POST", "-d", "a=b"]),
    ] {
        let answer = secured.curl("http", target, arguments);
        assert!(answer.starts_with("HTTP/1.1 308 "), "{target}: {answer}");
        assert_eq!(
            field(&answer, "location"),
            Some(&*format!("https://shop.example:{port}{target}"))
        );
        assert_eq!(field(&answer, "cache-control"), Some("no-store"));
    }
    for target in ["/.well-known/acme-challenge/token_-1", "/.ropeline/health"] {
        let answer = secured.curl("http", target, &[]);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{target}: {answer}");
    }
    // No host that a link can be made of, yet one that a request may have.
    let answer = secured.curl("http", "/a", &["-H", "Host: a~b"]);
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && field(&answer, "location").is_none(),
        "{answer}"
    );
    let followed = secured.curl(
        "http",
        "/.well-known/security.txt",
        &["-L", "--resolve", &format!("shop.example:{port}:127.0.0.1")],
    );
    assert!(followed.contains("x-forwarded-proto: https"), "{followed}");
    assert!(
        secured.metrics().contains("outcome=\"redirected\"} 6"),
        "{}",
        secured.metrics()
    );
}

#[test]
fn visitors_of_a_rehearsal_come_over_tls_where_the_gate_sends_them() {
    let secured = Secured::start("hosts = [\"shop.example\"]", "redirect = true");
    let rehearse = |url: &str, more: &[&str]| {
        let admin = format!("http://{}", secured.gate.admin);
        let base = [
            "rehearse",
            "--room",
            "shop",
            "--visitors",
            "2",
            "--inside",
            "1s",
            "--url",
            url,
        ];
        let whole = [&base[..], &["--admin", &admin], &crate::rehearse::PLAIN, more].concat();
        secured.site.run(&whole)
    };
    let (clear, tls) = (
        format!("http://{}", secured.gate.address),
        format!("https://{}", secured.address),
    );
    for url in [&clear, &tls] {
        let ended = rehearse(url, &["--ca-file", "root.pem"]);
        assert!(ended.code == Some(0) && ended.out.contains("inside 2,"), "{ended:?}");
    }
    let asked = secured.metrics();
    assert!(asked.contains("outcome=\"redirected\"} 1"), "{asked}");
    assert_eq!(secured.site.shop.asked("/"), 0);
    std::fs::write(secured.site.path("other.pem"), Authority::new().pem()).unwrap();
    // A certificate of an unknown authority could be any server's.
    for (url, more) in [
        (&clear, &["--ca-file", "other.pem"][..]),
        (&tls, &["--ca-file", "root.pem", "--host", "other.example"]),
    ] {
        let ended = rehearse(url, more);
        assert_eq!(ended.code, Some(1), "{ended:?}");
    }
    let untrusted = rehearse(&tls, &["--ca-file", "other.pem"]);
    assert!(
        untrusted.err.contains("no TLS") && untrusted.err.contains("--ca-file"),
        "{untrusted:?}"
    );
}

#[test]
fn an_unknown_host_is_put_into_no_link_and_a_port_of_the_operator_s_stands_in_it() {
    let secured = Secured::start("hosts = [\"shop.example\"]", "redirect = true\nredirect_port = 443");
    let answer = secured.curl("http", "/a", &[]);
    assert_eq!(field(&answer, "location"), Some("https://shop.example/a"));
    for (target, status) in [("/a", "421"), ("/.ropeline/rooms/shop/status", "200")] {
        let answer = secured.curl("http", target, &["-H", "Host: evil.example"]);
        assert!(
            field(&answer, "location").is_none() && !answer.contains("evil"),
            "{answer}"
        );
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    let answer = secured.curl("http", "/a", &["-H", "Host: shop.example/../evil"]);
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && field(&answer, "location").is_none(),
        "{answer}"
    );
}

#[test]
fn who_came_over_tls_to_a_trusted_proxy_is_not_sent_round_in_circles() {
    let authority = Authority::new();
    let site = site("", "redirect = true", &authority.issue(&["shop.example"]));
    let proto = ["-H", "X-Forwarded-Proto: https"];
    let secured = Secured::on(site, authority);
    assert!(
        secured.curl("http", "/robots.txt", &proto).starts_with("HTTP/1.1 308 "),
        "a stranger's word"
    );
    let Secured {
        site, gate, authority, ..
    } = secured;
    gate.stop();
    site.edit("threads = 1", "threads = 1\ntrusted_proxies = [\"127.0.0.1\"]");
    let secured = Secured::on(site, authority);
    assert!(secured.curl("http", "/robots.txt", &proto).starts_with("HTTP/1.1 200 "));
    assert!(secured.curl("http", "/robots.txt", &[]).starts_with("HTTP/1.1 308 "));
}

#[test]
fn a_renewed_certificate_is_shown_without_a_restart_and_a_wrong_one_is_not() {
    let secured = Secured::start("", "");
    let wrong = Issued {
        key: secured.authority.issue(&["shop.example"]).key,
        ..secured.authority.issue(&["shop.example"])
    };
    wrong.write(&secured.site.path(""), "shop");
    until("the refusal", || {
        secured
            .metrics()
            .contains("ropeline_certificate_reloads_total{outcome=\"refused\"} 1")
            .then_some(())
    });
    let line = secured.gate.logs("the old one stays");
    assert!(
        line["error"]
            .as_str()
            .unwrap()
            .contains("the key in shop.key does not belong"),
        "{line}"
    );
    assert!(secured.curl("https", "/robots.txt", &[]).starts_with("HTTP/2 200 "));

    let renewed = secured.authority.issue_until(&["shop.example"], 2080);
    renewed.write(&secured.site.path(""), "shop");
    until("the new certificate", || {
        secured
            .metrics()
            .contains("ropeline_certificate_reloads_total{outcome=\"taken\"} 1")
            .then_some(())
    });
    assert!(
        secured.metrics().contains("file=\"shop.pem\"} 3471292800.0"),
        "{}",
        secured.metrics()
    );
    assert!(secured.curl("https", "/robots.txt", &[]).starts_with("HTTP/2 200 "));
    let ended = secured.gate.stop();
    for line in renewed
        .key
        .lines()
        .chain(wrong.key.lines())
        .filter(|line| line.len() > 20)
    {
        assert!(!ended.err.contains(line) && !ended.out.contains(line), "{ended:?}");
    }
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_pair_that_does_not_fit_is_told_by_check_and_stops_the_start() {
    let authority = Authority::new();
    let mixed = Issued {
        key: authority.issue(&["shop.example"]).key,
        ..authority.issue(&["shop.example"])
    };
    let site = site("", "", &mixed);
    for command in ["check", "run"] {
        let ended = site.run(&[command]);
        assert_eq!(ended.code, Some(78), "{ended:?}");
        let told = ended.out + &ended.err;
        assert!(
            told.contains("the key in shop.key does not belong to the certificate in shop.pem"),
            "{told}"
        );
    }
}
