//! Handshakes: versions, protocols, resumption, and all that fail, bounded and counted.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use ropeline::tls::{Tls, Version};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind, SupportedProtocolVersion};

use super::{GET, Shown};
use crate::client::Client;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

const SHORT: Duration = Duration::from_millis(50);

fn failed(gate: &Gate, shown: &Shown, count: u64) {
    gate.until("the failure counted, nothing open", |gate| {
        shown.tls.failed() == count && gate.stats.open.load(Relaxed) == 0
    });
}

/// openssl with only this version of TLS, which it is made to offer however old.
fn openssl(gate: &Gate, version: &str) -> Output {
    Command::new("openssl")
        .args([
            "s_client",
            "-connect",
            &gate.address.to_string(),
            "-servername",
            "a.example",
            version,
        ])
        .args(["-cipher", "DEFAULT@SECLEVEL=0"])
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn versions(shown: &Shown, versions: &[&'static SupportedProtocolVersion]) -> Arc<ClientConfig> {
    let trusting = shown.authority.client();
    let provider = Arc::clone(trusting.crypto_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap();
    Arc::new(
        builder
            .with_root_certificates(shown.authority.roots())
            .with_no_client_auth(),
    )
}

#[test]
fn versions_from_1_2_on_are_spoken_and_older_ones_refused() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    for (version, word) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
        let told = String::from_utf8_lossy(&openssl(&gate, version).stdout).into_owned();
        assert!(told.contains(&format!("New, {word}")), "{version}: {told}");
    }
    for version in ["-tls1_1", "-tls1"] {
        let ended = openssl(&gate, version);
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(
            !ended.status.success() && told.contains("SSL alert number"),
            "{version}: {told}"
        );
    }
    failed(&gate, &shown, 2);
    assert_eq!(shown.tls.done(), 2);
}

#[test]
fn the_oldest_version_can_be_raised() {
    let shown = Shown::with(&[&["a.example"]], Version::Tls13);
    let shop = Shop::answering(OK);
    let gate = shown.gate(&shop);
    assert!(Client::secured(gate.address, "a.example", &versions(&shown, &[&TLS12])).is_err());
    let mut client = Client::secured(gate.address, "a.example", &versions(&shown, &[&TLS13])).unwrap();
    assert_eq!(client.ask(GET).status, 200);
}

/// The protocol agreed on in a handshake with this offer; empty without one.
fn agreed(shown: &Shown, gate: &Gate, offered: &[&str]) -> std::io::Result<String> {
    let offered = offered.iter().map(|one| one.as_bytes().to_vec()).collect();
    let client = shown.visitor(gate, "a.example", |config| config.alpn_protocols = offered);
    let tls = client?.tls.unwrap();
    Ok(String::from_utf8(tls.alpn_protocol().unwrap_or_default().to_vec()).unwrap())
}

#[test]
fn http2_is_agreed_on_with_whoever_offers_it() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    for (offered, chosen) in [
        (&["h2", "http/1.1"][..], "h2"),
        (&["http/1.1", "h2"], "h2"),
        (&["h2"], "h2"),
        (&["http/1.1"], "http/1.1"),
        (&[], ""),
    ] {
        assert_eq!(agreed(&shown, &gate, offered).unwrap(), chosen, "{offered:?}");
    }
    assert!(agreed(&shown, &gate, &["spdy/1"]).is_err());
    failed(&gate, &shown, 1);
}

#[test]
fn http2_is_not_agreed_on_where_it_is_off() {
    let (mut shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let certificates = Arc::clone(shown.tls.certificates());
    shown.tls = Arc::new(Tls::new(certificates, Version::Tls12, false).unwrap());
    let gate = shown.gate(&shop);
    let chosen = agreed(&shown, &gate, &["h2", "http/1.1"]);
    assert_eq!(chosen.unwrap(), "http/1.1");
    let mut client = shown.client(&gate);
    assert_eq!(client.ask(GET).status, 200);
    assert!(agreed(&shown, &gate, &["h2"]).is_err());
}

#[test]
fn several_connections_resume_in_either_version() {
    for version in [&TLS12, &TLS13] {
        let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
        let gate = shown.gate(&shop);
        let config = versions(&shown, &[version]);
        let connect = || {
            let mut client = Client::secured(gate.address, "a.example", &config).unwrap();
            // An answer comes after the tickets.
            assert_eq!(client.ask(GET).status, 200);
            client
        };
        let kind = |client: &Client| client.tls.as_ref().unwrap().handshake_kind();
        assert_eq!(kind(&connect()), Some(HandshakeKind::Full));
        let resumed: Vec<Client> = (0..4).map(|_| connect()).collect();
        for client in &resumed {
            assert_eq!(kind(client), Some(HandshakeKind::Resumed), "{version:?}");
        }
    }
}

#[test]
fn nothing_is_taken_before_the_handshake_is_over() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let mut config = shown.authority.client();
    config.enable_early_data = true;
    let config = Arc::new(config);
    for _ in 0..2 {
        let mut client = Client::secured(gate.address, "a.example", &config).unwrap();
        assert!(
            client.tls.as_mut().unwrap().early_data().is_none()
                && !client.tls.as_ref().unwrap().is_early_data_accepted()
        );
        assert_eq!(client.ask(GET).status, 200);
    }
}

/// The first flight of a client, as bytes.
pub fn hello(shown: &Shown) -> Vec<u8> {
    let host = "a.example".try_into().unwrap();
    let mut client = rustls::ClientConnection::new(shown.authority.shared_client(), host).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_silent_connection_is_closed() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate_with(shop.address, |setup| setup.server.first_byte = SHORT);
    assert_eq!(gate.client().rest(), "");
    failed(&gate, &shown, 1);
    gate.until("it counted", |gate| gate.stats.timed_out.load(Relaxed) == 1);
}

#[test]
fn a_handshake_that_stops_half_way_is_closed_on() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate_with(shop.address, |setup| setup.server.first_byte = SHORT);
    let hello = hello(&shown);
    // Before the end of the first flight, and with nothing behind it.
    for part in [5, hello.len() / 2, hello.len()] {
        let mut client = gate.client();
        client.stream.write_all(&hello[..part]).unwrap();
        client.rest();
    }
    failed(&gate, &shown, 3);
    gate.until("it counted", |gate| gate.stats.timed_out.load(Relaxed) == 3);
}

#[test]
fn a_trickled_handshake_is_closed_on() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate_with(shop.address, |setup| setup.server.first_byte = 4 * SHORT);
    let hello = hello(&shown);
    let mut client = gate.client();
    let closed = hello.iter().any(|byte| {
        thread::park_timeout(SHORT);
        client.stream.write_all(&[*byte]).is_err()
    });
    assert!(closed, "all {} bytes were waited for", hello.len());
    failed(&gate, &shown, 1);
}

#[test]
fn a_handshake_cut_off_is_counted_and_a_look_at_the_port_is_not() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    for _ in 0..3 {
        drop(gate.client());
    }
    gate.until("all have come and gone", |gate| {
        gate.stats.accepted.load(Relaxed) == 3 && gate.stats.open.load(Relaxed) == 0
    });
    assert_eq!(shown.tls.failed(), 0);
    let mut client = gate.client();
    client.stream.write_all(&hello(&shown)[..100]).unwrap();
    drop(client);
    failed(&gate, &shown, 1);
}

#[test]
fn what_is_no_handshake_is_closed_on_and_the_shop_sees_nothing() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let mut count = 0;
    for sent in [
        GET,
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u{16}\u{3}\u{3}\u{7f}\u{7f}",
        "\0\0\0\0\0\0",
    ] {
        let mut client = gate.client();
        client.send(sent);
        client.finish();
        let told = client.rest();
        assert!(told.len() <= 7 && !told.contains("HTTP"), "{sent:?}: {told:?}");
        count += 1;
        failed(&gate, &shown, count);
    }
    assert_eq!((shop.connections(), shown.tls.done()), (0, 0));
}

#[test]
fn others_are_served_while_handshakes_hang() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let hello = hello(&shown);
    let hanging: Vec<Client> = (0..200)
        .map(|at| {
            let mut client = gate.client();
            client.stream.write_all(&hello[..at % hello.len()]).unwrap();
            client
        })
        .collect();
    assert_eq!(shown.client(&gate).ask(GET).status, 200);
    drop(hanging);
}
