//! Two thousand visitors before a room of fifty.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::crowd::chance::number;
use crate::crowd::gathering::Crowd;
use crate::crowd::ledger::Ledger;
use crate::crowd::people::{FIFTY, LIMITS, REPLIES, World};
use crate::crowd::seed;
use crate::crowd::verdict::Verdict;
use crate::gate::Gate;
use crate::http::Pool;
use crate::kept;
use crate::shop::Shop;

/// One crowd at a time: each is all that the machine can do.
pub static MACHINE: Mutex<()> = Mutex::const_new(());

/// Far above the duration of a run; a visitor who is not in then never will be.
pub const BOUND: Duration = Duration::from_secs(900);

/// People in the crowd.
pub fn people() -> u32 {
    number("ROPELINE_VISITORS")
        .and_then(|people| u32::try_from(people).ok())
        .unwrap_or(2_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_gets_in_by_its_numbers_and_never_more_than_the_room_holds() {
    let _machine = MACHINE.lock().await;
    let chance = seed::of_run("load");
    let shop = Shop::open(REPLIES).await;
    let mut gate = Gate::open(shop.address, &FIFTY.room(), LIMITS).await;
    let world = Arc::new(World::new(Pool::new(gate.address), FIFTY, false, (50, 400)));
    let mut crowd = Crowd::gather(people(), &world, &chance, 15_000);
    crowd.watch(&world, Pool::new(gate.admin.address));
    assert_eq!(crowd.disperse(BOUND).await, 0, "some never got in");
    gate.stop();
    judge(&world, &shop, &gate, "load");
}

/// Compares what visitors, shop and log say, and finds nothing amiss.
pub fn judge(world: &World, shop: &Shop, gate: &Gate, test: &str) -> Ledger {
    let replay = gate.command(&["replay", "data"]);
    let proof = String::from_utf8_lossy(&replay.stdout).into_owned();
    assert!(replay.status.success() && !proof.contains("\ngap"), "{proof}");
    let ledger = kept::read(&gate.data(), FIFTY.capacity);
    let verdict = Verdict::of(world, shop, &ledger);
    println!("{test}: {}", verdict.tells);
    println!("{test}: {}", ledger.tells());
    assert!(verdict.faults.is_empty(), "{:#?}", verdict.first_faults());
    assert!(
        ledger.most_held == FIFTY.capacity || people() < 1_000,
        "the room was never full"
    );
    ledger
}
