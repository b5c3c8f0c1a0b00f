//! To a gate with several upstreams, of which one has no room: what reaches the same shop as that one's has got past the line.

#[path = "every_row.rs"]
mod every_row;

use std::net::SocketAddr;

use bytes::Bytes;
use h2::client::SendRequest;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsConnector;

use super::case::Case;
use super::direct::Http2;
use super::gate::{Gate, free_address};
use super::harness::certificates::Authority;
use super::http::Message;
use super::shop::Shop;
use super::site::{Way, wire};

/// Over HTTP/2 in the clear.
pub struct Several(Http2);

use Several as Here;

impl Way for Several {
    const NAME: &str = Http2::NAME;
    const ROOM: &str = "upstream = \"shop\"";

    fn tables(shop: SocketAddr) -> String {
        ["shop", "open"].map(|name| upstream(name, shop)).concat()
    }

    async fn open(gate: &Gate, shop: SocketAddr) -> Self {
        Self(Http2::open(gate, shop).await)
    }

    async fn send(&self, case: &Case, fields: &[(String, String)]) -> Message {
        self.0.send(case, fields).await
    }
}

fn upstream(name: &str, shop: SocketAddr) -> String {
    format!("[[upstream]]\nname = \"{name}\"\nhosts = [\"{name}.test\"]\nurl = \"http://{shop}\"\n")
}

/// A browser that has one certificate for several hosts asks for all of them over one connection (RFC 9113, section 9.1.1).
#[tokio::test]
async fn each_request_of_a_connection_reaches_the_shop_of_its_own_authority() {
    let shops = [Shop::open(&[]).await, Shop::open(&[]).await];
    let gate = held(&shops, "h2c = true\n", "").await;
    let stream = tokio::net::TcpStream::connect(gate.address).await.unwrap();
    let (mut sender, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    for (authority, host, status, reached) in [
        ("open.test", None, 200, [0, 1]),
        ("shop.test", None, 503, [0, 1]),
        ("other.test", None, 421, [0, 1]),
        ("open.test", Some("shop.test"), 400, [0, 1]),
        ("shop.test", Some("open.test"), 400, [0, 1]),
        ("open.test", Some("open.test"), 200, [0, 2]),
        ("user@open.test", None, 400, [0, 2]),
        ("open.test", None, 200, [0, 3]),
    ] {
        assert_eq!(ask(&mut sender, authority, host).await, status, "{authority} {host:?}");
        assert_eq!(counts(&shops), reached, "{authority} {host:?}");
    }
}

/// A request of its own connection that names two shops, or one in an odd spelling: none reaches a shop that its `Host` does not
/// name, and none gets past the line of the other. The client is no trusted proxy.
#[tokio::test]
async fn a_request_that_names_two_shops_reaches_only_that_of_its_host() {
    let shops = [Shop::open(&[]).await, Shop::open(&[]).await];
    let gate = held(&shops, "", "").await;
    let both =
        "Host: open.test\r\nX-Forwarded-Host: shop.test\r\nForwarded: host=shop.test\r\nX-Original-Host: shop.test\r\n";
    for (target, fields, status, reached) in [
        // The line of the first shop, and the free second one.
        ("/", "Host: shop.test\r\n", 503, NEITHER),
        ("/", "Host: open.test\r\n", 200, OPEN),
        // A target in absolute form must say the same.
        ("http://shop.test/", "Host: shop.test\r\n", 503, NEITHER),
        ("http://open.test/", "Host: open.test\r\n", 200, OPEN),
        ("http://shop.test/", "Host: open.test\r\n", 400, NEITHER),
        ("http://open.test/", "Host: shop.test\r\n", 400, NEITHER),
        ("http://other.test/", "Host: open.test\r\n", 400, NEITHER),
        ("http://open.test:8443/", "Host: open.test\r\n", 400, NEITHER),
        ("http://shop.test@open.test/", "Host: open.test\r\n", 400, NEITHER),
        ("http://open.test@shop.test/", "Host: open.test\r\n", 400, NEITHER),
        ("//open.test/", "Host: shop.test\r\n", 503, NEITHER),
        // Two, in one field or in two.
        ("/", "Host: open.test\r\nHost: shop.test\r\n", 400, NEITHER),
        ("/", "Host: shop.test\r\nHost: open.test\r\n", 400, NEITHER),
        ("/", "Host: open.test\r\nHost: open.test\r\n", 400, NEITHER),
        ("/", "Host: open.test, shop.test\r\n", 400, NEITHER),
        ("/", "Host: open.test shop.test\r\n", 400, NEITHER),
        ("/", "Host: open.test/shop.test\r\n", 400, NEITHER),
        ("/", "Host: open.test@shop.test\r\n", 400, NEITHER),
        ("/", "Host: shop.test\\open.test\r\n", 400, NEITHER),
        ("/", "Host: open.test\r\n Host: shop.test\r\n", 400, NEITHER),
        ("/", "Host : open.test\r\nHost: shop.test\r\n", 400, NEITHER),
        ("/", "Host:\r\n", 400, NEITHER),
        ("/", "", 400, NEITHER),
        // Fields that some shops and proxies take for the host.
        ("/", both, 200, OPEN),
        (
            "/",
            "Host: shop.test\r\nX-Forwarded-Host: open.test\r\nX-Host: open.test\r\n",
            503,
            NEITHER,
        ),
        (
            "/",
            "Host: shop.test\r\nForwarded: host=open.test\r\nX-HTTP-Host-Override: open.test\r\n",
            503,
            NEITHER,
        ),
        // Spellings of one host, and other hosts.
        ("/", "Host: OPEN.Test\r\n", 200, OPEN),
        ("/", "Host: open.test.\r\n", 200, OPEN),
        ("/", "Host: open.test:80\r\n", 200, OPEN),
        ("/", "Host: SHOP.test.:443\r\n", 503, NEITHER),
        ("/", "Host: open.test:8443\r\n", 421, NEITHER),
        ("/", "Host: open.test..\r\n", 400, NEITHER),
        ("/", "Host: www.open.test\r\n", 421, NEITHER),
        ("/", "Host: openXtest\r\n", 421, NEITHER),
        ("/", "Host: 127.0.0.1\r\n", 421, NEITHER),
    ] {
        let before = counts(&shops);
        let request = format!("GET {target} HTTP/1.1\r\n{fields}\r\n");
        let answer = wire(gate.address).await.ask(request.as_bytes()).await.unwrap();
        let after = counts(&shops);
        let came = [after[0] - before[0], after[1] - before[1]];
        assert_eq!((answer.status(), came), (status, reached), "{target} {fields:?}");
    }
    for seen in shops[1].seen() {
        let others = ["x-forwarded-host: shop", "forwarded: host", "x-original-host"];
        let head = seen.request.head.to_lowercase();
        assert!(!others.iter().any(|other| head.contains(other)), "{head}");
        assert!(head.contains("host: open.test"), "{head}");
    }
}

/// The name of the handshake picks the certificate, and `Host` the shop.
#[tokio::test]
async fn the_name_of_a_handshake_reaches_no_shop() {
    let shops = [Shop::open(&[]).await, Shop::open(&[]).await];
    let (authority, folder, at) = (Authority::new(), tempfile::tempdir().unwrap(), free_address());
    let (cert_file, key_file) = authority
        .issue(&["shop.test", "open.test"])
        .write(folder.path(), "both");
    let tls = format!(
        "[tls]\nlisten = [\"{at}\"]\ncertificates = [{{ cert_file = {cert_file:?}, key_file = {key_file:?} }}]\n[server]\n"
    );
    let _gate = held(&shops, "", &tls).await;
    let connector = TlsConnector::from(authority.shared_client());
    for (name, host, status, reached) in [
        ("shop.test", "open.test", 200, OPEN),
        ("open.test", "open.test", 200, OPEN),
        ("open.test", "shop.test", 503, NEITHER),
        ("open.test", "other.test", 421, NEITHER),
    ] {
        let before = counts(&shops);
        let socket = tokio::net::TcpStream::connect(at).await.unwrap();
        let name_of = ServerName::try_from(name).unwrap();
        let mut stream = connector.connect(name_of, socket).await.unwrap();
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let after = counts(&shops);
        let came = [after[0] - before[0], after[1] - before[1]];
        let is_so = answer.starts_with(&format!("HTTP/1.1 {status} "));
        assert!(is_so && came == reached, "{name} {host}: {came:?} {answer}");
    }
}

const NEITHER: [usize; 2] = [0, 0];
const OPEN: [usize; 2] = [0, 1];

fn counts(shops: &[Shop; 2]) -> [usize; 2] {
    [shops[0].seen().len(), shops[1].seen().len()]
}

/// A gate before a shop in hold, and before one without a room; with further lines of `[server]`, and tables before it.
async fn held(shops: &[Shop; 2], server: &str, tables: &str) -> Gate {
    let way = upstream("shop", shops[0].address) + &upstream("open", shops[1].address);
    let mut gate = Gate::configured("embedded:data", &way, "upstream = \"shop\"\nmode = \"hold\"", "");
    let begin = if tables.is_empty() { "[server]\n" } else { tables };
    gate.amend("[server]\n", &format!("{begin}{server}"));
    gate.start();
    gate.ready().await;
    gate
}

/// The status of the answer; a stream that is reset counts as refused with 400.
async fn ask(sender: &mut SendRequest<Bytes>, authority: &str, host: Option<&str>) -> u16 {
    let request = http::Request::get(format!("http://{authority}/page"));
    let request = host
        .into_iter()
        .fold(request, |request, host| request.header("host", host));
    let mut ready = sender.clone().ready().await.unwrap();
    let (answer, _) = ready.send_request(request.body(()).unwrap(), true).unwrap();
    match answer.await {
        Ok(answer) => answer.status().as_u16(),
        Err(error) if error.is_reset() => 400,
        Err(error) => panic!("{error}"),
    }
}
