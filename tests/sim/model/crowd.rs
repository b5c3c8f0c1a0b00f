//! Many joins at once through one gate: how many entries they take, which all gates read and apply.

use ropeline::replica::{Arrival, JoinOutcome};
use ropeline::room::{LineName, PendingId, VERSION};
use tokio::sync::oneshot::Receiver;

use super::observer;
use super::rooms::{self, LANE};
use super::world::{MILLI, SECOND, Time, World};

/// Three gates without visitors, ten seconds after their start, a fifth of a millisecond from their store.
fn world() -> World {
    let mut world = World::new(1, 3, VERSION);
    for slot in 0..3 {
        world.slots[slot].weather.delay = (100, 100);
        world.start_gate(slot);
    }
    world.run_until(10 * SECOND);
    world
}

fn entries(world: &World) -> u64 {
    assert!(!world.is_at_fault(), "{:?}", world.faults);
    observer::with(|watch| watch.last.clone())
        .expect("a view")
        .position
        .sequence
}

fn join(world: &mut World, index: u64) -> Receiver<JoinOutcome> {
    let gate = world.slots[0].gate.as_mut().expect("it runs");
    let mut id = [0; 12];
    id[..8].copy_from_slice(&index.to_le_bytes());
    let arrival = Arrival {
        id: PendingId(id),
        ..Arrival::first()
    };
    let joined = gate
        .protocol
        .join(rooms::room(), LineName::ONLY, LANE, arrival)
        .expect("room for one more");
    world.go_on(0);
    joined
}

/// A thousand joins, so far apart. The entries they took, and the longest that one waited.
fn joins(apart: Time) -> (u64, Time) {
    let mut world = world();
    let (before, began) = (entries(&world), world.now);
    let (mut waiting, mut longest) = (Vec::new(), 0);
    for index in 0..1_000 {
        let joined = join(&mut world, index);
        waiting.push((world.now, joined));
        let next = began + apart * (index + 1);
        while world.now < next {
            world.run_until(next.min(world.now + MILLI / 10));
            let now = world.now;
            waiting.retain_mut(|(since, joined)| {
                let told = joined.try_recv();
                if let Ok(outcome) = &told {
                    assert!(matches!(outcome, JoinOutcome::Numbered(..)), "{outcome:?}");
                    longest = longest.max(now - *since);
                }
                told.is_err()
            });
        }
    }
    world.run_until(world.now + SECOND);
    assert!(waiting.iter_mut().all(|(_, joined)| joined.try_recv().is_ok()));
    (entries(&world) - before, longest)
}

#[test]
fn a_crowds_joins_go_in_few_entries() {
    let (entries, longest) = joins(MILLI / 10);
    assert!(entries < 60, "{entries} entries for 1,000 joins in a tenth of a second");
    // 8 ms between its entries, and the way to the store and back.
    assert!(longest < 9 * MILLI, "{longest} us");
}

#[test]
fn who_joins_alone_waits_for_nobody() {
    let (entries, longest) = joins(MILLI);
    assert!(entries >= 1_000, "{entries} entries for 1,000 joins in a second");
    assert!(longest < MILLI, "{longest} us");
}
