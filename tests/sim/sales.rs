//! Schedules as gates follow them without visitors: turns in time, the next windows before they run out, and the same
//! decision whichever gate starts when.

use std::sync::Arc;

use ropeline::room::{Phase, RoomView, VERSION};

use super::faults::Fault;
use super::observer;
use super::rooms::{self, Sale};
use super::store::EPOCH_MS;
use super::world::{Event, MILLI, SECOND, World};

const DAY_MS: i64 = 86_400_000;
const DAILY: &str = "opens_at = daily 12:00 UTC; closes_at = daily 14:00 UTC";

/// Three gates without visitors, ten seconds after their start.
fn world(seed: u64, sale: Sale) -> World {
    rooms::go_by(Some(sale));
    let mut world = World::new(seed, 3, VERSION);
    for slot in 0..3 {
        world.start_gate(slot);
    }
    world.run_until(10 * SECOND);
    world
}

fn room(world: &World) -> Arc<RoomView> {
    assert!(!world.is_at_fault(), "{:?}", world.faults);
    let view = observer::with(|watch| watch.last.clone()).expect("a view");
    Arc::clone(&view.rooms[&rooms::room()])
}

fn phase(world: &World) -> Option<Phase> {
    room(world).stage.map(|stage| stage.phase)
}

/// An empty room's time goes on every five seconds.
#[test]
fn a_turn_is_in_the_log_at_once_though_nobody_is_there() {
    for seed in 0..8 {
        let opens_ms = 20_000 + 510 * seed;
        let mut world = world(seed, Sale::DrawnAt(EPOCH_MS + opens_ms));
        world.run_until((opens_ms - 50) * MILLI);
        assert_eq!(phase(&world), Some(Phase::Prequeue));
        world.run_until((opens_ms + 500) * MILLI);
        assert_eq!(phase(&world), Some(Phase::Open), "seed {seed}");
    }
}

#[test]
fn windows_are_added_before_they_run_out() {
    let mut world = world(1, Sale::Recurring(DAILY));
    let first = room(&world).edition.0;
    for day in 1..=12 {
        world.strike(Fault::Step(DAY_MS));
        world.run_until(world.now + 30 * SECOND);
        let room = room(&world);
        let now = world.servers[0].wall(world.now);
        let windows = &room.configured.schedule.as_ref().expect("a schedule").windows;
        let ahead = windows.iter().filter(|window| window.begins > now).count();
        assert!(ahead >= 2, "day {day}: {windows:?}");
        assert_eq!(room.edition.0, first + day, "each day has its sale");
    }
}

#[test]
fn a_gate_that_starts_later_has_nothing_to_say_of_a_rule_that_is_known() {
    let mut world = world(2, Sale::Recurring(DAILY));
    for _ in 0..5 {
        world.strike(Fault::Step(DAY_MS));
        world.run_until(world.now + 30 * SECOND);
    }
    let before = room(&world);
    for slot in 0..3 {
        let after = world.now + SECOND;
        world.at(after, Event::Fault(Fault::Leave(slot, SECOND)));
        world.run_until(world.now + 30 * SECOND);
        let after = room(&world);
        assert_eq!(
            (before.revision, &before.configured),
            (after.revision, &after.configured)
        );
    }
}
