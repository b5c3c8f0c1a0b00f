//! A request with the ticket alone belongs to the session of its pass, and the shop's answer can end that, over HTTP/1.1 and
//! HTTP/2. Where a proxy asks, the ticket is void once the pass has been shown.

use bytes::Bytes;
use http::Request;
use tokio::net::TcpStream;

use crate::gate::{Gate, pass_name, ticket_name};
use crate::guest::{Guest, PAGE};
use crate::house::{Direct, Way};
use crate::http::{Message, Pool};
use crate::shop::{Reply, Shop};

use super::{House, OFTEN, ONE, eventually};

const ENDING: &[Reply] = &[
    Reply::new(
        "/say-end",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nRopeline-Session: end\r\n",
        "bye",
    ),
    Reply::new(
        "/say-complete",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nRopeline-Session: complete\r\n",
        "bye",
    ),
];

const ROOM: &str = "total_active_users = 1\nstock = 2\nend_grace = \"0s\"\npass_networks = 2\n\
                    ends_on = [{ route = \"/receipt\", status = 200 }]\n\
                    completes_on = [{ route = \"/bought\", status = 200 }]";

/// A version of HTTP that visitors speak.
#[derive(Clone, Copy, Debug)]
enum Speaks {
    One,
    Two,
}

struct Site {
    shop: Shop,
    gate: Gate,
    pool: std::sync::Arc<Pool>,
}

impl Site {
    async fn open() -> Self {
        let shop = Shop::open(ENDING).await;
        let mut gate = Gate::configured("embedded:data", &Direct::tables(shop.address), ROOM, OFTEN);
        gate.amend("[server]\n", "[server]\nh2c = true\n");
        gate.start();
        gate.ready().await;
        let pool = std::sync::Arc::new(Pool::new(gate.address));
        Self { shop, gate, pool }
    }

    /// A visitor who is inside and shows only the ticket.
    async fn by_ticket(&self, speaks: Speaks) -> Guest {
        let mut guest = Guest::at(&self.pool, "10.1.1.1", 1);
        let answer = self.page(speaks, &mut guest, "/").await;
        assert!(answer.is_the_shops(), "{}", answer.head);
        assert!(guest.jar.remove(&pass_name()).is_some());
        guest
    }

    async fn page(&self, speaks: Speaks, guest: &mut Guest, target: &str) -> Message {
        let answer = match speaks {
            Speaks::One => return guest.once("GET", target, PAGE, "").await.unwrap(),
            Speaks::Two => self.second(&guest.request("GET", target, PAGE, "")).await,
        };
        guest.take_cookies(&answer);
        answer
    }

    /// Sends a request of HTTP/1.1 as one of HTTP/2; the answer reads as one of HTTP/1.1.
    async fn second(&self, request: &str) -> Message {
        let mut lines = request.lines();
        let target = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap();
        let mut head = Request::get(format!("http://shop.test{target}"));
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            if !name.eq_ignore_ascii_case("host") {
                head = head.header(name, value);
            }
        }
        let stream = TcpStream::connect(self.gate.address).await.unwrap();
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut sender: h2::client::SendRequest<Bytes> = sender.ready().await.unwrap();
        let (answer, _) = sender.send_request(head.body(()).unwrap(), true).unwrap();
        let answer = answer.await.unwrap();
        let mut text = format!("HTTP/1.1 {}\r\n", answer.status());
        for (name, value) in answer.headers() {
            text.extend([name.as_str(), ": ", value.to_str().unwrap(), "\r\n"]);
        }
        connection.abort();
        Message {
            head: text,
            ..Message::default()
        }
    }

    async fn until(&self, figure: &str, value: u64) {
        eventually(&format!("{figure} = {value}"), async || {
            (self.gate.room().await[figure] == value).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn the_shops_answer_ends_the_session_of_the_ticket() {
    for speaks in [Speaks::One, Speaks::Two] {
        for target in ["/receipt", "/say-end"] {
            let site = Site::open().await;
            let mut guest = site.by_ticket(speaks).await;
            let answer = site.page(speaks, &mut guest, target).await;
            assert!(answer.is_the_shops(), "{speaks:?} {target}: {}", answer.head);
            assert!(answer.field("ropeline-session").is_none());
            site.until("ends", 1).await;
            assert_eq!(site.gate.room().await["completed"], 0, "{speaks:?} {target}");
        }
    }
}

#[tokio::test]
async fn the_shops_answer_completes_the_session_of_the_ticket() {
    for speaks in [Speaks::One, Speaks::Two] {
        for target in ["/bought", "/say-complete"] {
            let site = Site::open().await;
            let mut guest = site.by_ticket(speaks).await;
            let answer = site.page(speaks, &mut guest, target).await;
            assert!(answer.is_the_shops(), "{speaks:?} {target}: {}", answer.head);
            site.until("completed", 1).await;
        }
    }
}

#[tokio::test]
async fn the_ticket_is_refused_where_its_pass_is() {
    for speaks in [Speaks::One, Speaks::Two] {
        let site = Site::open().await;
        let guest = site.by_ticket(speaks).await;
        let [mut second, mut third] = ["10.2.1.1", "10.3.1.1"].map(|address| {
            let mut other = Guest::at(&site.pool, address, 2);
            other.jar.clone_from(&guest.jar);
            other
        });
        assert!(site.page(speaks, &mut second, "/").await.is_the_shops(), "{speaks:?}");
        let refused = site.page(speaks, &mut third, "/").await;
        assert_eq!((refused.status(), refused.word()), (403, "pass_shared"), "{speaks:?}");
        assert_eq!(site.shop.seen().len(), 2, "{speaks:?}");
    }
}

#[tokio::test]
async fn the_shop_is_told_the_same_session_by_either_token() {
    let house = House::open(ONE, OFTEN).await;
    let mut guest = house.guest();
    assert!(guest.page("/first").await.is_the_shops());
    let ticket = guest.jar[&ticket_name()].clone();
    guest.jar.remove(&pass_name());
    let second = guest.page("/second").await;
    assert!(second.is_the_shops(), "{}", second.head);
    guest.jar.insert(ticket_name(), ticket);
    assert!(guest.page("/third").await.is_the_shops());
    let seen = house.shop.seen();
    let sessions: Vec<_> = seen.iter().map(|seen| seen.session().unwrap()).collect();
    assert_eq!(sessions.len(), 3);
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    assert_eq!(house.gate.verify(sessions[1]).await["state"], "inside");
}
