//! Fields that a shop sees as ones that the gate sets, strips or decides by, from any sender, over HTTP/1.1 and HTTP/2, in
//! heads and trailers; and fields that `Connection` may not remove.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};

use crate::client::header;
use crate::gate::{Gate, Setup};
use crate::http2::{Client, read};
use crate::shop::{OK, Shop};

/// Spellings that some shop is shown as `X-User`, `Ropeline-Session`, `X-Forwarded-For` and others.
const ALIASES: [&str; 22] = [
    "X_User",
    "X.User",
    "X~User",
    "X*User",
    "x!uSER",
    "X-Forwarded_User",
    "Ropeline_Session",
    "Ropeline.Session",
    "ropeline*ticket",
    "X_Forwarded_For",
    "X-Forwarded.Proto",
    "X~Forwarded~Host",
    "X_Host",
    "X.Real.IP",
    "X_Original_URL",
    "Content_Type",
    "Content_Encoding",
    "Transfer_Encoding",
    "Proxy_Authorization",
    "Sec_Fetch_Site",
    "Access_Control_Request_Method",
    "X_Request_Id",
];

const TRUSTED: [&[&str]; 2] = [&[], &["127.0.0.0/8"]];

/// A gate that takes accounts from `X-User` and `X-Forwarded-User`.
fn gate(shop: &Shop, trusted: &[&str]) -> Gate {
    Gate::with(shop.address, |setup: &mut Setup| {
        setup.server.h2c = true;
        setup.trusted = trusted.iter().map(|net| net.parse().unwrap()).collect();
        setup.said = ["x-user", "x-forwarded-user"].map(HeaderName::from_static).to_vec();
    })
}

#[test]
fn aliases_never_reach_the_shop() {
    for trusted in TRUSTED {
        let shop = Shop::answering(OK);
        let lines: String = ALIASES.iter().flat_map(|name| [name, ": forged\r\n"]).collect();
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}My_App: kept\r\n\r\n");
        assert_eq!(gate(&shop, trusted).client().ask(&request).status, 200);
        let seen = shop.seen();
        assert!(!seen.contains("forged"), "{seen}");
        assert_eq!(header(&seen.to_ascii_lowercase(), "my_app").unwrap(), "kept");
    }
}

#[test]
fn nor_do_those_in_trailers_nor_an_account_that_is_said_there() {
    for trusted in TRUSTED {
        let shop = Shop::answering(OK);
        let names: Vec<_> = ALIASES
            .into_iter()
            .chain(["X-User", "X-Forwarded-User", "Authorization"])
            .collect();
        let lines: String = names.iter().flat_map(|name| [name, ": forged\r\n"]).collect();
        // Trailers that are not announced are dropped in any case.
        let announced = names.join(", ");
        let request = format!(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, {announced}\r\n\r\n1\r\na\r\n0\r\n\
             {lines}X-Sum: 7\r\n\r\n"
        );
        assert_eq!(gate(&shop, trusted).client().ask(&request).status, 200);
        let seen = shop.seen();
        assert!(
            !seen.contains("forged") && seen.ends_with("0\r\nx-sum: 7\r\n\r\n"),
            "{seen}"
        );
    }
}

#[tokio::test]
async fn the_same_holds_over_http2() {
    for trusted in TRUSTED {
        let shop = Shop::answering(OK);
        let gate = gate(&shop, trusted);
        let mut forged = HeaderMap::new();
        for name in ALIASES {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            forged.insert(name, HeaderValue::from_static("forged"));
        }
        let announced = format!("x-sum, x-user, {}", ALIASES.join(", "));
        let mut request = Request::post("http://shop.example/").header("trailer", announced);
        request.headers_mut().unwrap().extend(forged.clone());
        let (answer, mut body) = Client::new(&gate).await.open(request.body(()).unwrap()).await;
        body.send_data(Bytes::from_static(b"a"), false).unwrap();
        forged.insert("x-user", HeaderValue::from_static("forged"));
        forged.insert("x-sum", HeaderValue::from_static("7"));
        body.send_trailers(forged).unwrap();
        assert_eq!(read(answer).await.0, StatusCode::OK);
        let seen = shop.seen();
        assert!(
            !seen.contains("forged") && seen.ends_with("0\r\nx-sum: 7\r\n\r\n"),
            "{seen}"
        );
    }
}

#[test]
fn an_account_is_heard_from_a_trusted_peer_alone_and_connection_cannot_name_it_away() {
    for (trusted, heard) in TRUSTED.into_iter().zip([None, Some("ann")]) {
        let shop = Shop::answering(OK);
        let request = "GET / HTTP/1.1\r\nHost: a\r\nX-User: ann\r\nConnection: X-User, close\r\n\r\n";
        assert_eq!(gate(&shop, trusted).client().ask(request).status, 200);
        let seen = shop.seen().to_ascii_lowercase();
        assert_eq!(header(&seen, "x-user").as_deref(), heard, "{seen}");
    }
}

#[test]
fn connection_cannot_name_away_what_is_decided_by() {
    let fields = [
        ("authorization", "Bearer x"),
        ("content-encoding", "gzip"),
        ("origin", "https://a.example"),
        ("sec-fetch-site", "cross-site"),
        ("access-control-request-method", "PUT"),
    ];
    let shop = Shop::answering(OK);
    let lines: String = fields
        .iter()
        .flat_map(|(name, value)| [name, ": ", value, "\r\n"])
        .collect();
    let named = fields.map(|(name, _)| name).join(", ");
    let request = format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: {named}\r\n{lines}\r\n");
    assert_eq!(gate(&shop, &[]).client().ask(&request).status, 200);
    let seen = shop.seen();
    for (name, value) in fields {
        assert_eq!(header(&seen, name).as_deref(), Some(value), "{seen}");
    }
}
