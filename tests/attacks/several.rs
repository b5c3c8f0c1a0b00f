//! To a gate with several upstreams, of which one has no room: what reaches the same shop as that one's has got past the line.

#[path = "every_row.rs"]
mod every_row;

use std::net::SocketAddr;

use bytes::Bytes;
use h2::client::SendRequest;

use super::case::Case;
use super::direct::Http2;
use super::gate::Gate;
use super::http::Message;
use super::shop::Shop;
use super::site::Way;

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
    let (shop, open) = (Shop::open(&[]).await, Shop::open(&[]).await);
    let way = upstream("shop", shop.address) + &upstream("open", open.address);
    let mut gate = Gate::configured("embedded:data", &way, "upstream = \"shop\"\nmode = \"hold\"", "");
    gate.amend("[server]\n", "[server]\nh2c = true\n");
    gate.start();
    gate.ready().await;
    let stream = tokio::net::TcpStream::connect(gate.address).await.unwrap();
    let (mut sender, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    for (authority, host, status, reached) in [
        ("open.test", None, 200, (0, 1)),
        ("shop.test", None, 503, (0, 1)),
        ("other.test", None, 421, (0, 1)),
        ("open.test", Some("shop.test"), 400, (0, 1)),
        ("shop.test", Some("open.test"), 400, (0, 1)),
        ("open.test", Some("open.test"), 200, (0, 2)),
        ("user@open.test", None, 400, (0, 2)),
        ("open.test", None, 200, (0, 3)),
    ] {
        assert_eq!(ask(&mut sender, authority, host).await, status, "{authority} {host:?}");
        assert_eq!((shop.seen().len(), open.seen().len()), reached, "{authority} {host:?}");
    }
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
