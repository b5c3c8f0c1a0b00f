//! Which fields reach the shop, and which come back.

use crate::client::header;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

/// The shop's view of a request with these extra lines, in lower case.
fn seen_with(lines: &str, trusted: &[&str]) -> String {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.trusted = trusted.iter().map(|net| net.parse().unwrap()).collect();
    });
    let answer = gate
        .client()
        .ask(&format!("GET / HTTP/1.1\r\nHost: shop.test:81\r\n{lines}\r\n"));
    assert_eq!(answer.status, 200, "{answer:?}");
    shop.seen().to_ascii_lowercase()
}

#[test]
fn request_and_answer_pass() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let answer = gate
        .client()
        .ask("GET /a?b=%2F HTTP/1.1\r\nHost: shop.test\r\nX-App: 1\r\n\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, "hi"));
    let seen = shop.seen();
    assert!(seen.starts_with("GET /a?b=%2F HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains("x-app: 1\r\n"), "{seen}");
}

#[test]
fn host_stays_as_it_is() {
    assert_eq!(header(&seen_with("", &[]), "host").unwrap(), "shop.test:81");
}

#[test]
fn hop_by_hop_request_fields_stay_here() {
    let lines = "Connection: keep-alive, X-Secret\r\nX-Secret: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\n\
                 Proxy-Authorization: Basic x\r\nProxy-Authenticate: x\r\nTE: gzip\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n";
    let seen = seen_with(lines, &[]);
    for gone in [
        "connection",
        "x-secret",
        "keep-alive",
        "proxy-",
        "te:",
        "upgrade",
        "http2-settings",
    ] {
        assert!(!seen.contains(&format!("\n{gone}")), "{gone} in {seen}");
    }
}

#[test]
fn connection_cannot_name_ours_away() {
    let lines =
        "Connection: X-Forwarded-For, x-forwarded-proto, Via, Ropeline-Session, Host, Cookie\r\nCookie: a=b\r\n";
    let seen = seen_with(lines, &[]);
    for kept in [
        "x-forwarded-for",
        "x-forwarded-proto",
        "via",
        "ropeline-session",
        "host",
        "cookie",
    ] {
        assert!(header(&seen, kept).is_some(), "{kept} not in {seen}");
    }
}

/// A proxy in front may pass its client's `Connection` on.
#[test]
fn connection_cannot_name_a_trusted_peer_s_word_away() {
    let lines =
        "Connection: X-Forwarded-For, X-Forwarded-Proto\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\n";
    let seen = seen_with(lines, &["127.0.0.0/8"]);
    assert_eq!(header(&seen, "x-forwarded-for").unwrap(), "1.2.3.4, 127.0.0.1");
    assert_eq!(header(&seen, "x-forwarded-proto").unwrap(), "https");
}

#[test]
fn connection_cannot_name_the_length_away() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let request = "POST / HTTP/1.1\r\nHost: a\r\nConnection: content-length\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(gate.client().ask(request).status, 200);
    assert_eq!(header(&shop.seen(), "content-length").unwrap(), "2");
}

#[test]
fn hop_by_hop_answer_fields_stay_here() {
    let shop = Shop::answering(
        "HTTP/1.1 200 OK\r\nConnection: X-Inner\r\nX-Inner: 1\r\nKeep-Alive: timeout=9\r\nProxy-Authenticate: x\r\n\
         Upgrade: h2c\r\nServer: shop/1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nhi",
    );
    let answer = Gate::new(&shop).client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    for gone in ["x-inner", "keep-alive", "proxy-authenticate", "upgrade", "connection"] {
        assert_eq!(answer.header(gone), None, "{}", answer.head);
    }
    assert_eq!(answer.header("server").unwrap(), "shop/1");
    assert!(
        answer.head.contains("set-cookie: a=1\r\n") && answer.head.contains("set-cookie: b=2\r\n"),
        "{}",
        answer.head
    );
}

#[test]
fn via_is_appended() {
    assert_eq!(header(&seen_with("", &[]), "via").unwrap(), "1.1 ropeline");
    assert_eq!(
        header(&seen_with("Via: 1.0 a, 1.1 b\r\n", &[]), "via").unwrap(),
        "1.0 a, 1.1 b, 1.1 ropeline"
    );
    let two = seen_with("Via: 1.0 a\r\nVia: 1.1 b\r\n", &[]);
    assert!(
        two.contains("via: 1.0 a\r\nvia: 1.1 b\r\nvia: 1.1 ropeline\r\n"),
        "{two}"
    );
}

#[test]
fn via_beyond_ascii_stays_as_it_is() {
    let seen = seen_with("Via: 1.1 \u{e9}\r\n", &[]);
    assert!(seen.contains("via: 1.1 \u{e9}\r\nvia: 1.1 ropeline\r\n"), "{seen}");
}

#[test]
fn via_names_the_client_s_version() {
    let shop = Shop::answering(OK);
    let answer = Gate::new(&shop).client().ask("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    assert_eq!(answer.body, "hi");
    assert_eq!(header(&shop.seen(), "via").unwrap(), "1.0 ropeline");
}

#[test]
fn request_going_in_circles_is_refused() {
    let shop = Shop::answering(OK);
    let via = "Via: 1.1 ropeline, 1.1 ropeline\r\n".repeat(3);
    let answer = Gate::new(&shop)
        .client()
        .ask(&format!("GET / HTTP/1.1\r\nHost: a\r\n{via}\r\n"));
    assert_eq!(answer.status, 508);
    assert_eq!(shop.connections(), 0);
}

#[test]
fn stranger_s_forwarded_fields_are_replaced() {
    let lines = "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 5.6.7.8\r\nX-Forwarded-Proto: https\r\n\
                 X-Forwarded-Host: evil\r\nX-Forwarded-Port: 1\r\nX-Forwarded-Prefix: /x\r\n";
    let seen = seen_with(lines, &[]);
    assert_eq!(header(&seen, "x-forwarded-for").unwrap(), "127.0.0.1");
    assert_eq!(header(&seen, "x-forwarded-proto").unwrap(), "http");
    assert_eq!(header(&seen, "x-forwarded-host").unwrap(), "shop.test:81");
    assert_ne!(header(&seen, "x-forwarded-port").unwrap(), "1");
    assert_eq!(header(&seen, "x-forwarded-prefix"), None);
    assert!(!seen.contains("5.6.7.8"), "{seen}");
}

#[test]
fn trusted_peer_s_forwarded_fields_are_kept_and_its_address_appended() {
    let lines = "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 5.6.7.8, 10.0.0.1\r\nX-Forwarded-Proto: https\r\n\
                 X-Forwarded-Host: front\r\nX-Forwarded-Port: 443\r\n";
    let seen = seen_with(lines, &["127.0.0.0/8"]);
    assert_eq!(
        header(&seen, "x-forwarded-for").unwrap(),
        "1.2.3.4, 5.6.7.8, 10.0.0.1, 127.0.0.1"
    );
    assert_eq!(header(&seen, "x-forwarded-proto").unwrap(), "https");
    assert_eq!(header(&seen, "x-forwarded-host").unwrap(), "front");
    assert_eq!(header(&seen, "x-forwarded-port").unwrap(), "443");
}

#[test]
fn override_fields_are_dropped_whoever_sends_them() {
    let lines = "Forwarded: for=1.2.3.4\r\nX-Real-IP: 1.2.3.4\r\nX-Original-URL: /admin\r\nX-Rewrite-URL: /admin\r\n\
                 X-Original-URI: /admin\r\nX-Override-URL: /admin\r\nProxy: http://evil\r\nX-Script-Name: /admin\r\n\
                 SCRIPT_NAME: /admin\r\nScript_Name: /admin\r\nPATH_INFO: /admin\r\n$WSSN: evil\r\n$wsra: 1.2.3.4\r\n\
                 !~Passenger: evil\r\n-x: evil\r\nX-CF-Forwarded-Url: /admin\r\nX-WAWS-Unencoded-URL: /admin\r\nHX-Current-URL: /kept\r\n";
    for trusted in [&[][..], &["127.0.0.0/8"]] {
        let seen = seen_with(lines, trusted);
        assert!(
            !seen.contains("/admin") && !seen.contains("1.2.3.4") && !seen.contains("evil"),
            "{seen}"
        );
        assert_eq!(header(&seen, "hx-current-url").unwrap(), "/kept");
    }
}

#[test]
fn another_host_is_heard_from_a_trusted_peer_alone() {
    let lines = "X-Host: h\r\nX-Original-Host: h\r\nX-HTTP-Host-Override: h\r\n";
    for name in ["x-host", "x-original-host", "x-http-host-override"] {
        assert_eq!(header(&seen_with(lines, &[]), name), None, "{name}");
        let trusted = seen_with(lines, &["127.0.0.0/8"]);
        assert_eq!(header(&trusted, name).unwrap(), "h", "{name}");
    }
}

#[test]
fn names_with_other_signs_cannot_alias_ours() {
    let lines = "X.Forwarded.For: 6\r\nX~Real~IP: 6\r\nX-Original.URL: 6\r\nRopeline!Pass: 6\r\nContent.Length: 6\r\n\
                 My.App: kept\r\n";
    let seen = seen_with(lines, &["127.0.0.0/8"]);
    assert_eq!(seen.matches(": 6\r\n").count(), 0, "{seen}");
    assert_eq!(header(&seen, "my.app").unwrap(), "kept");
}

#[test]
fn names_with_underscores_cannot_alias_ours() {
    let lines = "X_Forwarded_For: 6.6.6.6\r\nX-Forwarded_For: 6.6.6.6\r\nRopeline_Session: 6\r\nX_Real_IP: 6\r\n\
                 Content_Length: 6\r\nTransfer_Encoding: chunked\r\nHost_: kept\r\nMy_App: kept\r\n";
    let seen = seen_with(lines, &["127.0.0.0/8"]);
    for gone in [
        "x_forwarded",
        "x-forwarded_",
        "ropeline_",
        "x_real",
        "content_",
        "transfer_",
    ] {
        assert!(!seen.contains(gone), "{gone} in {seen}");
    }
    assert_eq!(header(&seen, "my_app").unwrap(), "kept");
}

#[test]
fn ropeline_fields_come_from_the_gate_alone() {
    let seen = seen_with(
        "Ropeline-Session: forged\r\nRopeline-Pass: p\r\nRopeline-Ticket: t\r\n",
        &["127.0.0.0/8"],
    );
    assert_eq!(seen.matches("ropeline-").count(), 1, "{seen}");
    assert_eq!(header(&seen, "ropeline-session").unwrap(), "opaque");
}

#[test]
fn shop_s_word_on_the_session_is_handed_over_and_removed() {
    let shop = Shop::answering(
        "HTTP/1.1 200 OK\r\nRopeline-Session: complete\r\nRopeline-Status: x\r\nContent-Length: 0\r\n\r\n",
    );
    let answer = Gate::new(&shop).client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(answer.header("x-heard").unwrap(), "complete");
    assert!(!answer.head.contains("ropeline-"), "{}", answer.head);
}

/// A browser that obeyed it would come to the shop by another way than the gate.
#[test]
fn another_way_to_the_shop_is_not_passed_on() {
    let shop = Shop::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nAlt-Svc: h3=\":8443\"; ma=86400\r\n\r\nhi");
    let answer = Gate::new(&shop).client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((answer.status, answer.header("alt-svc")), (200, None));
}

/// NTLM authenticates the connection, and with it every client that would use it next.
#[test]
fn a_connection_that_somebody_is_signed_in_on_is_nobody_elses() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    for (nth, authorization) in ["NTLM TlRMTVNT", "negotiate YII", "Basic YTpi", "Basic YTpi"]
        .into_iter()
        .enumerate()
    {
        let fields = format!("Host: a\r\nAuthorization: {authorization}");
        assert_eq!(client.ask(&format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n")).status, 200);
        assert_eq!(shop.connections(), nth.min(2) + 1, "{authorization}");
    }
    let asking = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nWWW-Authenticate: Basic\r\nWWW-Authenticate: NTLM x\r\n\r\nhi";
    let shop = Shop::answering(asking);
    let gate = Gate::new(&shop);
    for nth in 1..=2 {
        assert_eq!(gate.client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 401);
        assert_eq!(shop.connections(), nth);
    }
}
