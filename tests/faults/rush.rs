//! Five hundred waiting, fifty slots, all asking at once through three gates.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::{JoinSet, block_in_place};

use super::fleet::{Fleet, Store};
use crate::crowd::guest::{Guest, number_of};
use crate::crowd::people::Rules;
use crate::harness::eventually;
use crate::harness::redis::{Options, Server};

const WAITING: u32 = 500;
const SLOTS: u32 = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_five_hundred_who_ask_at_once_exactly_fifty_get_in() {
    let store = block_in_place(|| Store::Server(Server::start(&Options::default())));
    let rules = Rules {
        capacity: SLOTS.into(),
        session_secs: 120,
    };
    let fleet = Fleet::open(store, rules, "").await;
    let pool = Arc::new(fleet.pool());
    set_mode(&fleet, "hold").await;
    let crowd = (0..WAITING).map(|index| Guest::new(&pool, index)).collect();
    let (inside, mut crowd) = ask_at_once(crowd).await;
    assert_eq!(inside, 0, "on hold nobody gets in");
    for gate in &fleet.gates {
        eventually("everybody in line", async || {
            (gate.room().await["waiting"] == WAITING).then_some(())
        })
        .await;
    }
    let mut numbers: Vec<_> = crowd
        .iter()
        .map(|guest| number_of(&guest.ticket().unwrap()).unwrap())
        .collect();
    numbers.sort_unstable();
    // Everybody checks in, so that all are present when the room opens.
    (_, crowd) = ask_at_once(crowd).await;
    set_mode(&fleet, "auto").await;
    let mut inside = 0;
    while inside < SLOTS {
        (inside, crowd) = ask_at_once(crowd).await;
    }
    (inside, crowd) = ask_at_once(crowd).await;
    assert_eq!(inside, SLOTS);
    let mut called: Vec<_> = crowd.iter().filter_map(|guest| Some(guest.pass()?.number)).collect();
    called.sort_unstable();
    assert_eq!(called, numbers[..SLOTS as usize], "the first come first");
    let seen = fleet.shop.seen();
    let sessions: BTreeSet<_> = seen.iter().filter_map(|seen| seen.session()).collect();
    let visitors: BTreeSet<_> = seen.iter().filter_map(|seen| seen.request.field("x-visitor")).collect();
    assert_eq!((sessions.len(), visitors.len()), (SLOTS as usize, SLOTS as usize));
}

async fn set_mode(fleet: &Fleet, mode: &str) {
    let patch = format!("{{\"mode\":\"{mode}\"}}");
    eventually("a change that the log takes", async || {
        let answer = fleet.gates[0].admin_ask("PATCH", "/api/v1/rooms/shop", &patch).await;
        (answer.status() == 200).then_some(())
    })
    .await;
    for gate in &fleet.gates {
        eventually(&format!("{mode} at every gate"), async || {
            (gate.room().await["mode"] == mode).then_some(())
        })
        .await;
    }
}

/// Everybody asks for the page at once; how many the shop answered.
async fn ask_at_once(crowd: Vec<Guest>) -> (u32, Vec<Guest>) {
    let mut asking = JoinSet::new();
    for mut guest in crowd {
        asking.spawn(async move { (guest.page("/event").await.is_the_shops(), guest) });
    }
    let (answers, crowd): (Vec<bool>, Vec<Guest>) = asking.join_all().await.into_iter().unzip();
    let inside = answers.into_iter().filter(|shop| *shop).count();
    (u32::try_from(inside).unwrap(), crowd)
}
