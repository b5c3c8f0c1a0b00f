//! The design's contract with the outside, a test for each row, in rooms that are empty or full.

mod called;
mod elsewhere;
mod empty;
mod endpoints;
mod ends;
mod forwarded;
mod limits;
mod lines;
mod modes;
mod quiet;
mod sockets;
mod tokens;
mod visitors;

use std::cell::Cell;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::gate::Gate;
use crate::guest::Guest;
use crate::http::{Message, PATIENCE, Pool};
use crate::shop::{Reply, Shop};

/// A room for one.
pub const ONE: &str = "total_active_users = 1\nexcept = [\"/static/*\"]";

/// Without the bound on how often one visitor asks.
pub const OFTEN: &str = "[limits]\nstatus = { requests = 1000, window = \"1s\" }";

/// A shop with a gate before it.
pub struct House {
    pub shop: Shop,
    pub gate: Gate,
    pub pool: Arc<Pool>,
    guests: Cell<u32>,
}

impl House {
    pub async fn open(room: &str, tables: &str) -> Self {
        Self::scripted(&[], room, tables).await
    }

    pub async fn scripted(replies: &'static [Reply], room: &str, tables: &str) -> Self {
        let shop = Shop::open(replies).await;
        let gate = Gate::open(shop.address, room, tables).await;
        let pool = Arc::new(Pool::new(gate.address));
        Self {
            shop,
            gate,
            pool,
            guests: Cell::new(0),
        }
    }

    /// A room for one with somebody in it.
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

    /// Somebody who has not been here, at an address of their own.
    pub fn guest(&self) -> Guest {
        self.guests.set(self.guests.get() + 1);
        Guest::new(&self.pool, self.guests.get())
    }

    /// Somebody who is inside and has used the pass.
    pub async fn inside(&self) -> Guest {
        let mut guest = self.guest();
        for _ in 0..2 {
            let answer = guest.page("/").await;
            assert!(answer.is_the_shops(), "not let in: {}", answer.head);
        }
        guest
    }

    /// Somebody in line.
    pub async fn in_line(&self) -> Guest {
        let mut guest = self.guest();
        let answer = guest.page("/seats?row=7").await;
        assert_eq!((answer.status(), answer.word()), (200, "waiting"), "{}", answer.head);
        guest
    }

    /// Waits until the operator's figure has this value.
    pub async fn until(&self, figure: &str, value: u64) {
        eventually(&format!("{figure} = {value}"), async || {
            (self.gate.room().await[figure] == value).then_some(())
        })
        .await;
    }

    /// Waits until somebody who asks without a place is in this state.
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
