//! A store that has stopped: only requests that cannot be answered without it wait for it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ropeline::token::{Ticket, TicketPlace};
use tokio::time::{sleep, timeout};

use crate::crowd::gate::{Gate, keyring, ticket_name};
use crate::crowd::guest::{Guest, number_of};
use crate::crowd::house::{OFTEN, ONE};
use crate::crowd::http::Pool;
use crate::crowd::shop::Shop;
use crate::harness::PATIENCE;
use crate::harness::redis::{Options, Server};
use crate::harness::toxic::{Proxy, Toxic};

/// The cookie of a place in line of which the log knows nothing.
fn lost(ticket: &Ticket) -> String {
    let number = number_of(ticket).unwrap();
    let place = TicketPlace::Numbered(ropeline::room::Number {
        n: number.n + 1_000,
        ..number
    });
    Ticket {
        place,
        ..ticket.clone()
    }
    .sign(&keyring())
}

#[tokio::test]
async fn with_the_store_stopped_only_a_page_that_would_show_a_lost_place_waits_for_it() {
    let server = Server::start(&Options::default());
    let proxy = Proxy::before(SocketAddr::from(([127, 0, 0, 1], server.port())));
    let shop = Shop::open(&[]).await;
    let store = format!("redis://{}", proxy.address);
    let mut gate = Gate::with_store(&store, shop.address, ONE, OFTEN);
    gate.start();
    gate.ready().await;
    let pool = Arc::new(Pool::new(gate.address));
    let [mut inside, mut in_line, mut lost_page, mut lost_script] = [1, 2, 3, 4].map(|at| Guest::new(&pool, at));
    // A new log calls no visitor for a moment. The second page brings the pass.
    let comes_in = async {
        while !inside.page("/").await.is_the_shops() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(timeout(PATIENCE, comes_in).await.is_ok(), "never let in");
    assert!(inside.page("/").await.is_the_shops());
    assert_eq!(in_line.page("/seats").await.word(), "waiting");
    let cookie = lost(&in_line.ticket().unwrap());
    for guest in [&mut inside, &mut lost_page, &mut lost_script] {
        guest.jar.insert(ticket_name(), cookie.clone());
    }

    proxy.set(Toxic::Blackhole);
    let waits = tokio::spawn(async move { lost_page.page("/seats").await });
    let answer = lost_script.script("GET", "/api").await;
    assert_eq!((answer.status(), answer.word()), (503, "waiting"), "{}", answer.head);
    assert!(inside.page("/seats").await.is_the_shops());
    assert!(inside.send("POST", "/seats", "", "row=7").await.unwrap().is_the_shops());
    assert_eq!(in_line.page("/seats").await.word(), "waiting");
    assert_eq!(in_line.own("GET", "status").await.json()["state"], "waiting");
    assert!(
        !waits.is_finished(),
        "the lost place was shown, or the others have waited"
    );

    proxy.set(Toxic::Pass);
    let answer = waits.await.unwrap();
    assert_eq!(answer.word(), "waiting", "{}", answer.head);
}
