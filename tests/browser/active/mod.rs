//! Visitors who gave their slot away while they were idle, and come back to a full room: what they see, and what the shop gets.

mod asleep;
mod forms;
mod pages;
mod scripts;
mod tabs;

use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use ropeline_testkit::crowd::shop::{Reply, Seen, Shop};

use crate::hall::ROOM;
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

/// What the page says while no slot is free.
const STILL_LET_IN: &str = "You are still let in";
const FIRST: &str = "You come before everyone in line.";

/// Visitors see the page soon.
const SHORT: &str = "1s";

/// Visitors whose forms are sent again see it after half a minute.
const LONGER: &str = "2s";

/// Visitors see no page, only that the next one takes its time.
const LONG: &str = "1 min";

/// The shop: its pages, and what its forms and scripts send to.
const SHOP: &[Reply] = &[
    Reply::new("/seats", HTML, include_str!("seats.html")),
    Reply::new("/cart", HTML, "<!doctype html><title>Cart</title><h1>Your cart</h1>"),
    Reply::new(
        "/order",
        HTML,
        "<!doctype html><title>Order</title><h1>Your order is taken</h1>",
    ),
];

const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: no-store\r\n";

/// A shop for one at a time, its gate, and one visitor's browser.
struct Stage {
    shop: Shop,
    gate: Gate,
    browser: Browser,
}

impl Stage {
    /// The visitor has been let in and sees the seats.
    async fn open(look: Look, return_wait: &str) -> Self {
        let shop = Shop::open(SHOP).await;
        let room = format!(
            "[[room]]\nname = \"{ROOM}\"\nroutes = [\"/*\"]\nexcept = [\"/favicon.ico\"]\ntotal_active_users = 1\n\
             slots = \"active\"\nidle_after = \"4s\"\nreturn_wait = \"{return_wait}\""
        );
        let gate = Gate::start(shop.address, &room);
        let browser = Browser::start(look).await;
        let stage = Self { shop, gate, browser };
        stage.browser.open(&stage.gate.at("/seats")).await;
        stage.browser.shows("Choose your seats").await;
        stage
    }

    /// As [`Self::open`]. Then the visitor is idle until the slot is another's, who keeps it.
    async fn idle(look: Look, return_wait: &str) -> (Self, Busy) {
        let stage = Self::open(look, return_wait).await;
        let busy = stage.taken().await;
        (stage, busy)
    }

    /// Waits until the slot has been taken from the visitor, and gives it to another.
    async fn taken(&self) -> Busy {
        self.room("parked", 1).await;
        let busy = Busy::enter(&self.gate).await;
        self.room("sessions", 1).await;
        self.room("parked", 1).await;
        busy
    }

    /// Waits for a figure of the room, as the operator has it.
    async fn room(&self, figure: &str, value: u64) {
        eventually(&format!("{figure} = {value}"), async || {
            let mut operator = Guest::new(&format!("http://{}", self.gate.admin));
            let answer = operator.visit(&format!("/api/v1/rooms/{ROOM}")).await;
            let room: Value = serde_json::from_str(&answer.body).ok()?;
            (room[figure] == value).then_some(())
        })
        .await;
    }

    /// Waits until so many requests have got no slot in time.
    async fn turned_away(&self, times: u64) {
        let told = format!("ropeline_returns_total{{room=\"{ROOM}\",outcome=\"later\"}}");
        eventually("requests without a slot", async || {
            (self.gate.metric(&told).await >= times).then_some(())
        })
        .await;
    }

    /// The shop's requests with this method and target.
    fn seen(&self, request: &str) -> Vec<Seen> {
        self.shop.seen_of(&format!("{request} HTTP"))
    }

    /// The shop got this request once, as a request of the session that saw the seats; that one.
    fn once(&self, request: &str) -> Seen {
        let mut seen = self.seen(request);
        assert_eq!(seen.len(), 1, "{request}: {seen:#?}");
        let seen = seen.remove(0);
        let before = self.seen("GET /seats");
        assert_eq!(seen.session(), before[0].session(), "still the same session");
        seen
    }
}

/// Another visitor, who uses the slot all the time.
struct Busy {
    done: oneshot::Sender<()>,
    visits: JoinHandle<()>,
}

impl Busy {
    async fn enter(gate: &Gate) -> Self {
        let mut guest = Guest::new(&gate.address);
        for _ in 0..ENTRIES {
            if guest.visit("/busy").await.gate.is_none() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        let (done, mut is_done) = oneshot::channel();
        let visits = tokio::spawn(async move {
            while is_done.try_recv().is_err() {
                let answer = guest.visit("/busy").await;
                assert_eq!(answer.gate, None, "it has the slot: {}", answer.body);
                tokio::time::sleep(PAUSE).await;
            }
            guest.leave(ROOM).await;
        });
        Self { done, visits }
    }

    /// Gives the slot back.
    async fn leaves(self) {
        self.done.send(()).expect("it goes on until then");
        self.visits.await.expect("it had the slot until then");
    }
}

/// Far below the time after which a visitor is idle.
const PAUSE: Duration = Duration::from_millis(500);

/// Tries to get the slot, which is free.
const ENTRIES: usize = 60;
