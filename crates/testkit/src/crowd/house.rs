//! A shop with a gate before it, and the way that visitors take to the shop: through the gate, or through a proxy that asks it.

use std::cell::Cell;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::gate::Gate;
use super::guest::Guest;
use super::http::{Message, PATIENCE, Pool};
use super::shop::{Reply, Shop};

/// A room for one.
pub const ONE: &str = "total_active_users = 1\nexcept = [\"/static/*\"]";

/// Without the bound on how often one visitor asks.
pub const OFTEN: &str = "[limits]\nstatus = { requests = 1000, window = \"1s\" }";

/// How visitors come to the shop.
pub trait Way: Sized {
    /// The status of a page that the gate shows instead of the shop's.
    const PAGE: u16;
    /// The gate's tables for the way to the shop.
    fn tables(shop: SocketAddr) -> String;
    /// Opens the way before a gate that serves.
    fn open(gate: &Gate, shop: SocketAddr) -> impl Future<Output = Self>;
    /// Where visitors come in.
    fn entrance(&self) -> SocketAddr;
    /// The connections of a visitor at this address.
    fn pool(&self, address: &str) -> Arc<Pool>;
}

/// Through the gate, which trusts a test for the visitor's address.
pub struct Direct(Arc<Pool>);

impl Way for Direct {
    const PAGE: u16 = 200;

    fn tables(shop: SocketAddr) -> String {
        format!("[upstream]\nurl = \"http://{shop}\"")
    }

    async fn open(gate: &Gate, _: SocketAddr) -> Self {
        Self(Arc::new(Pool::new(gate.address)))
    }

    fn entrance(&self) -> SocketAddr {
        self.0.address
    }

    fn pool(&self, _: &str) -> Arc<Pool> {
        Arc::clone(&self.0)
    }
}

/// A shop with a gate before it.
pub struct House<W> {
    pub shop: Shop,
    pub gate: Gate,
    /// Where visitors come in.
    pub entrance: SocketAddr,
    pub way: W,
    guests: Cell<u32>,
}

impl<W: Way> House<W> {
    /// The status of a page that the gate shows instead of the shop's.
    pub const PAGE: u16 = W::PAGE;

    pub async fn open(room: &str, tables: &str) -> Self {
        Self::scripted(&[], room, tables).await
    }

    pub async fn scripted(replies: &'static [Reply], room: &str, tables: &str) -> Self {
        Self::built(replies, "", room, tables).await
    }

    /// With these further lines of `[upstream]`, which only visitors that come through the gate have.
    pub async fn configured(upstream: &str, room: &str) -> Self {
        Self::built(&[], upstream, room, "").await
    }

    pub async fn built(replies: &'static [Reply], upstream: &str, room: &str, tables: &str) -> Self {
        Self::stored("embedded:data", replies, upstream, room, tables).await
    }

    /// With the store at this URL.
    pub async fn on_store(store: &str, replies: &'static [Reply], room: &str, tables: &str) -> Self {
        Self::stored(store, replies, "", room, tables).await
    }

    async fn stored(store: &str, replies: &'static [Reply], upstream: &str, room: &str, tables: &str) -> Self {
        let shop = Shop::open(replies).await;
        let way = format!("{}\n{upstream}", W::tables(shop.address));
        let mut gate = Gate::configured(store, &way, room, tables);
        gate.start();
        gate.ready().await;
        let way = W::open(&gate, shop.address).await;
        let entrance = way.entrance();
        Self {
            shop,
            gate,
            entrance,
            way,
            guests: Cell::new(0),
        }
    }

    /// A room with one slot, which a visitor holds.
    pub async fn full() -> (Self, Guest) {
        let house = Self::open(ONE, "").await;
        let inside = house.inside().await;
        (house, inside)
    }

    /// As [`Self::full`], where visitors may ask as often as a test does.
    pub async fn full_and_patient() -> (Self, Guest) {
        let house = Self::open(ONE, OFTEN).await;
        let inside = house.inside().await;
        (house, inside)
    }

    /// A new visitor, at a new address.
    pub fn guest(&self) -> Guest {
        self.guests.set(self.guests.get() + 1);
        self.guest_at(&format!("127.{}.1.1", self.guests.get()))
    }

    /// A visitor at this loopback address.
    pub fn guest_at(&self, address: &str) -> Guest {
        Guest::at(&self.way.pool(address), address, self.guests.get())
    }

    /// A visitor who is inside and has used the pass.
    pub async fn inside(&self) -> Guest {
        let mut guest = self.guest();
        for _ in 0..2 {
            let answer = guest.page("/").await;
            assert!(answer.is_the_shops(), "not let in: {}", answer.head);
        }
        guest
    }

    /// A visitor in line.
    pub async fn in_line(&self) -> Guest {
        let mut guest = self.guest();
        let answer = guest.page("/seats?row=7").await;
        assert_eq!(
            (answer.status(), answer.word()),
            (W::PAGE, "waiting"),
            "{}",
            answer.head
        );
        guest
    }

    /// A counter of the operator's metrics.
    pub async fn counter(&self, name: &str) -> u64 {
        let text = self.gate.admin_ask("GET", "/metrics", "").await.text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// Waits until the operator's figure has this value.
    pub async fn until(&self, figure: &str, value: u64) {
        eventually(&format!("{figure} = {value}"), async || {
            (self.gate.room().await[figure] == value).then_some(())
        })
        .await;
    }

    /// Waits until the answer to a guest without a place has this state.
    pub async fn until_state(&self, guest: &mut Guest, state: &str) {
        let asked = async {
            while guest.own("GET", "status").await.json()["state"] != state {
                tokio::time::sleep(Duration::from_millis(600)).await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, asked).await.is_ok(), "never {state}");
    }
}

/// Asks until there is an answer.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let asked = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"))
}

/// One of the gate's own answers that turns a program away.
pub fn assert_turned_away(answer: &Message) {
    assert_eq!((answer.status(), answer.word()), (503, "waiting"), "{}", answer.head);
    assert!(answer.field("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    assert_eq!(answer.field("cache-control"), Some("no-store"));
    assert_eq!(answer.field("set-cookie"), None);
}

/// Refused by the rate limit of this name.
pub fn assert_limited(answer: &Message, name: &str) {
    assert_eq!((answer.status(), answer.word()), (429, "limited"), "{}", answer.head);
    assert!(answer.field("retry-after").unwrap().parse::<u64>().unwrap() > 0);
    assert!(
        answer
            .field("ratelimit-policy")
            .unwrap()
            .starts_with(&format!("\"{name}\";q=")),
        "{}",
        answer.head
    );
    assert!(
        answer
            .field("ratelimit")
            .unwrap()
            .starts_with(&format!("\"{name}\";r=0;t=")),
        "{}",
        answer.head
    );
    assert_eq!(answer.field("set-cookie"), None);
}
