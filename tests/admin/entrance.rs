//! Access to the admin listener, over sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use ropeline::admin::{Entrance, Options, StartError, Token};

use crate::support::{Gate, PATIENCE};

fn with_token() -> Options {
    Options {
        entrance: Entrance {
            token: Some(Token::new(b"correct horse battery")),
            ..Entrance::default()
        },
        ..Options::default()
    }
}

#[test]
fn a_rebound_host_reaches_nothing() {
    let gate = Gate::start();
    for target in ["/api/v1/rooms", "/metrics", "/readyz"] {
        let detail = gate.ask("GET", target, &[("host", "evil.example")], "").refused(403);
        assert!(detail.contains("localhost"), "{detail}");
    }
    assert_eq!(gate.metrics.admin_refused.get(), 3);
    let answer = gate.get("/api/v1/rooms");
    assert!(
        !answer
            .headers
            .keys()
            .any(|name| name.as_str().starts_with("access-control")),
        "{:?}",
        answer.headers
    );
}

#[test]
fn another_sites_page_changes_nothing() {
    let gate = Gate::start();
    let json = ("content-type", "application/json");
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
    ] {
        let headers = [("host", "localhost"), json, (name, value)];
        let detail = gate
            .ask("PATCH", "/api/v1/rooms/main", &headers, r#"{"mode": "off"}"#)
            .refused(403);
        assert!(detail.contains("another site"), "{detail}");
        gate.ask("DELETE", "/api/v1/rooms/main/visitors/000", &headers, "")
            .refused(403);
    }
    assert_eq!(gate.get("/api/v1/rooms/main").ok()["mode"], "auto");
}

#[test]
fn a_token_is_asked_of_all_but_health_checks() {
    let gate = Gate::with(with_token());
    gate.readiness.serving();
    let with = |target: &str, token: &str| {
        gate.ask(
            "GET",
            target,
            &[("host", "gate.internal"), ("authorization", token)],
            "",
        )
    };
    for target in ["/api/v1/rooms", "/metrics", "/nowhere"] {
        let answer = with(target, "Bearer wrong");
        answer.refused(401);
        assert_eq!(answer.headers["www-authenticate"], "Bearer realm=\"ropeline\"");
        gate.get(target).refused(401);
    }
    assert_eq!(with("/api/v1/rooms", "Bearer correct horse battery").status, 200);
    assert_eq!(with("/livez", "").status, 200);
    assert_eq!(gate.get("/readyz").status, 200);
}

#[test]
fn elsewhere_than_on_loopback_it_starts_only_with_a_token() {
    let folder = || Arc::new(tempfile::tempdir().expect("a folder"));
    let refused = Gate::on(folder(), Options::default(), "0.0.0.0:0")
        .err()
        .expect("refused");
    assert!(matches!(refused, StartError::NoToken(_)), "{refused}");
    assert!(refused.to_string().contains("admin_token"), "{refused}");
    assert!(Gate::on(folder(), with_token(), "0.0.0.0:0").is_ok());
}

#[test]
fn a_connection_that_says_nothing_or_half_a_head_is_closed() {
    let gate = Gate::with(Options {
        patience: Duration::from_millis(100),
        ..Options::default()
    });
    for said in ["", "GET /livez HTTP/1.1\r\nHost: local"] {
        let mut stream = TcpStream::connect(gate.address).expect("connects");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(said.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        // Closed, with or without a word; a time-out of our own would be an error.
        stream.read_to_end(&mut answer).expect("closed in time");
        assert!(
            !answer.starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
}

/// A client without a token that holds as many connections as it gets.
fn connect_from(source: [u8; 4], gate: &Gate) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket
        .bind(&SocketAddr::from((source, 0)).into())
        .expect("an address of this machine");
    socket.connect(&gate.address.into()).expect("connects");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let mut stream = TcpStream::from(socket);
    // Where it is refused the other end is closed already.
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nX: ");
    stream
}

#[test]
fn one_client_cannot_take_all_connections_of_the_listener() {
    let gate = Gate::with(with_token());
    gate.readiness.serving();
    let _held: Vec<TcpStream> = (0..300).map(|_| connect_from([127, 0, 0, 7], &gate)).collect();
    for target in ["/livez", "/readyz"] {
        assert_eq!(gate.get(target).status, 200, "{target}");
    }
    let fields = [("host", "localhost"), ("authorization", "Bearer correct horse battery")];
    assert_eq!(gate.ask("GET", "/api/v1/rooms", &fields, "").status, 200);
    let mut late = connect_from([127, 0, 0, 7], &gate);
    assert!(
        !matches!(late.read(&mut [0; 1]), Ok(1)),
        "it has its share, and no more"
    );
}
