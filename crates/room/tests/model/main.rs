//! Every state that a small world can reach: the real room, breadth first, each form once.
//!
//! **In the world.** `State::apply` with entries as gates append them; one gate (in the long run two, of which the second reads
//! late); visitors who join, ask, come in when called, use the session, leave, and are away for as long as time goes on without
//! them; time, which stops at the next deadline, and as often as a run allows just before or just after one. Faults: the gate
//! crashes and another starts; an answer is lost, the gate appends the batch again and the visitor asks again; the log is lost
//! with everything, or comes back without its last entry, no gate remembering more; the store cannot be reached while
//! time goes on; old tickets and passes are shown again.
//!
//! **Not in it.** Tokens' signatures, HTTP, the wire to the store and what gates keep in memory: a gate is what
//! `src/gate/seat/reader.rs` makes of a view, told again in `acts`. No rate, schedule, draw, stock, codes, accounts, load
//! control, lanes or operators. No votes on checkpoints, no adoption of an epoch that another gate still knows, and no root
//! shared by several gates. A silent gate's hold of an hour does not end. Two steps never fall between two times of the grid.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod active;
mod acts;
mod alike;
mod frozen;
mod laws;
mod long;
mod search;
mod steps;
mod words;
mod world;

use laws::{Before, broken_by};
use ropeline_room::LineName;
use ropeline_room::testing::log::room;
use search::{Bound, End, Found, Search};
use steps::{Act, Step, When};
use world::{Broken, Faults, Size, World};

const NO_FAULTS: Faults = Faults {
    crash: 0,
    reply: 0,
    log: 0,
    cut: 0,
    replay: 0,
    early: 0,
    late: 0,
};

/// Each kind alone.
const KINDS: [(&str, Faults); 5] = [
    ("a crash", Faults { crash: 1, ..NO_FAULTS }),
    ("a lost answer", Faults { reply: 1, ..NO_FAULTS }),
    ("a cut", Faults { cut: 1, ..NO_FAULTS }),
    ("two old tokens", Faults { replay: 2, ..NO_FAULTS }),
    ("a lost log", Faults { log: 1, ..NO_FAULTS }),
];

/// One of each kind.
const FAULTS: Faults = Faults {
    crash: 1,
    reply: 1,
    log: 1,
    cut: 1,
    replay: 2,
    early: 1,
    late: 1,
};

const SMALL: Size = Size {
    gates: 1,
    visitors: 2,
    slots: 1,
    rights: None,
    joins: 1,
    faults: NO_FAULTS,
};

/// With active slots, and rights for two.
const ACTIVE: Size = Size {
    rights: Some(2),
    ..SMALL
};

/// Time stops once just before a deadline, and once just after one.
const fn timed(faults: Faults) -> Faults {
    Faults {
        early: 1,
        late: 1,
        ..faults
    }
}

/// Most steps in which everybody is served, with everybody acting and no more faults.
const SERVED_WITHIN: usize = 40;

fn look(what: &str, size: Size, bound: Bound) -> Found {
    let found = Search::new(size, Broken::Nothing).run(bound, || true);
    let found = found.unwrap_or_else(|trace| panic!("{what}: {trace}"));
    println!("{what}: {found:?}");
    assert!(
        found.longest <= SERVED_WITHIN,
        "{what}: served after {} steps",
        found.longest
    );
    found
}

/// Looks at every state.
fn exhaust(what: &str, size: Size) {
    let found = look(what, size, Bound::NONE);
    let is_whole = found.end == End::Exhausted && found.followed == found.states;
    assert!(is_whole, "{what}: {found:?}");
}

/// Looks at so many states, and says how deep they go.
fn look_at(states: usize, what: &str, size: Size) -> usize {
    let bound = Bound { states, ..Bound::NONE };
    look(what, size, bound).depth
}

/// All that two visitors can do without faults is part of this: nobody has to show the old token.
#[test]
fn what_ended_a_search_is_said() {
    let ends = |bound| look("a bound", SMALL, bound).end;
    let none = Bound::NONE;
    assert_eq!(ends(Bound { states: 300, ..none }), End::States);
    let bytes = 1 << 20;
    assert_eq!(ends(Bound { bytes, ..none }), End::Memory);
    let found = Search::new(SMALL, Broken::Nothing).run(none, || false);
    assert_eq!(found.map(|found| found.end), Ok(End::Time));
}

#[test]
fn two_visitors_and_one_slot_with_an_old_token_shown_or_not_are_exhausted() {
    let faults = Faults { replay: 1, ..NO_FAULTS };
    exhaust("two visitors, an old token", Size { faults, ..SMALL });
}

#[test]
fn one_visitor_with_time_just_before_and_after_deadlines_is_exhausted() {
    let faults = Faults {
        early: 3,
        late: 3,
        ..NO_FAULTS
    };
    let size = Size {
        visitors: 1,
        faults,
        ..SMALL
    };
    exhaust("just before and after", size);
}

#[test]
fn one_visitor_with_each_kind_of_fault_is_exhausted() {
    for (what, faults) in KINDS {
        // After these two, times of their own are left behind for long.
        let is_long = faults.crash + faults.log > 0;
        let faults = if is_long { faults } else { timed(faults) };
        let size = Size {
            visitors: 1,
            faults,
            ..SMALL
        };
        exhaust(what, size);
    }
}

#[test]
fn two_visitors_with_each_kind_of_fault_as_deep_as_a_test_may_go() {
    for (what, faults) in KINDS {
        let size = Size {
            faults: timed(faults),
            ..SMALL
        };
        assert!(look_at(2_000, what, size) >= 4);
    }
}

#[test]
fn two_visitors_with_one_fault_of_each_kind_as_deep_as_a_test_may_go() {
    let size = Size {
        faults: FAULTS,
        joins: 2,
        ..SMALL
    };
    assert!(look_at(5_000, "everything", size) >= 4);
}

#[test]
fn one_visitor_with_an_active_slot_is_exhausted_and_two_as_deep_as_a_test_may_go() {
    exhaust("one with an active slot", Size { visitors: 1, ..ACTIVE });
    look_at(4_000, "two with an active slot", ACTIVE);
}

#[test]
fn one_visitor_with_active_slots_and_each_kind_of_fault_is_looked_at() {
    for (what, faults) in KINDS {
        let size = Size {
            visitors: 1,
            faults,
            ..ACTIVE
        };
        look_at(2_000, what, size);
    }
}

#[test]
fn two_visitors_with_active_slots_and_one_fault_of_each_kind_as_deep_as_a_test_may_go() {
    let size = Size {
        faults: FAULTS,
        joins: 2,
        ..ACTIVE
    };
    assert!(look_at(3_000, "active slots, everything", size) >= 4);
}

/// A broken rule is found, with a shortest trace of so many steps to a law that says this.
fn finds(broken: Broken, size: Size, bound: Bound, law: &str, steps: usize) {
    let trace = Search::new(size, broken).run(bound, || true).unwrap_err();
    println!("{broken:?}: {trace}");
    assert!(trace.contains(law), "{trace}");
    assert_eq!(trace.lines().count() - 1, steps, "{trace}");
}

#[test]
fn a_call_above_the_slots_is_found() {
    // One is inside and leaves while two wait: the third visitor is the one called above the slot.
    let size = Size { visitors: 3, ..SMALL };
    let law = "capacity: 2 are called or inside, with 1 slots";
    finds(Broken::Capacity, size, Bound::NONE, law, 4);
}

#[test]
fn a_number_given_twice_is_found() {
    finds(Broken::Uniqueness, SMALL, Bound::NONE, "uniqueness: ", 2);
}

#[test]
fn a_call_past_somebody_is_found() {
    let size = Size { visitors: 3, ..SMALL };
    finds(Broken::Order, size, Bound::NONE, "order: ", 4);
}

#[test]
fn a_lost_visitor_is_found() {
    finds(Broken::Lost, SMALL, Bound::NONE, "nobody lost: ", 3);
}

#[test]
fn a_line_that_stands_still_is_found() {
    let bound = Bound {
        states: 60,
        ..Bound::NONE
    };
    finds(Broken::Served, SMALL, bound, "served in the end: ", 2);
}

#[test]
fn a_session_parked_while_it_is_in_use_is_found() {
    finds(Broken::Parked, ACTIVE, Bound::NONE, "parked: A is parked", 5);
}

#[test]
fn a_return_out_of_turn_is_found() {
    let size = Size { slots: 2, ..ACTIVE };
    let law = "returns: number 1 comes back before 0, who asked before";
    finds(Broken::Returns, size, Bound::NONE, law, 8);
}

#[test]
fn a_right_too_many_is_found() {
    let law = "rights: 2 are called, active or parked, with 1 rights";
    finds(Broken::Rights, ACTIVE, Bound::NONE, law, 6);
}

/// Takes these acts one after the other. None of them breaks a law.
fn tell(world: &mut World, acts: &[Act]) {
    for act in acts {
        let before = Before::of(world);
        let step = Step::fine(*act);
        let came = world.take(step);
        assert_eq!(broken_by(step, came, &before, world), None, "{act:?}");
    }
}

fn parked(world: &mut World) -> u32 {
    world.state.view().rooms[&room()].lines[&LineName::ONLY].figures.parked
}

/// Two are parked, two others are inside and leave; the first two come back in the opposite order of their arrival.
#[test]
fn four_visitors_return_in_the_order_in_which_they_asked() {
    let size = Size {
        visitors: 4,
        slots: 2,
        rights: Some(4),
        ..ACTIVE
    };
    let mut world = World::new(size, Broken::Nothing);
    let come = |at| [Act::Join(at), Act::ComeIn(at)];
    tell(&mut world, &[come(0), come(1)].concat());
    while parked(&mut world) < 2 {
        tell(&mut world, &[Act::Time(When::At)]);
    }
    tell(&mut world, &[come(2), come(3), [Act::Use(1), Act::Use(0)]].concat());
    assert_eq!(parked(&mut world), 2);
    tell(&mut world, &[Act::Leave(2)]);
    assert_eq!(world.queue.len(), 1);
    assert_eq!(world.people[0].number(), Some(world.queue[0]));
    tell(&mut world, &[Act::Leave(3)]);
    assert_eq!(parked(&mut world), 0);
}
