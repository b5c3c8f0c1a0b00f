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
mod laws;
mod long;
mod search;
mod steps;
mod words;
mod world;

use laws::{Before, broken_by};
use ropeline_room::LineName;
use ropeline_room::testing::log::room;
use search::{Bound, Found, Search};
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

#[test]
fn two_visitors_and_one_slot_without_faults_are_exhausted() {
    let found = look("two visitors", SMALL, Bound::NONE);
    assert!(found.exhausted && found.followed == found.states);
}

#[test]
fn one_visitor_with_each_kind_of_fault_is_exhausted() {
    let timed = Faults {
        early: 1,
        late: 1,
        ..NO_FAULTS
    };
    let kinds = [
        ("a crash", Faults { crash: 1, ..NO_FAULTS }),
        ("a lost answer", Faults { reply: 1, ..timed }),
        ("a cut", Faults { cut: 1, ..timed }),
        ("two old tokens", Faults { replay: 2, ..timed }),
        ("a lost log", Faults { log: 1, ..NO_FAULTS }),
    ];
    for (what, faults) in kinds {
        let size = Size {
            visitors: 1,
            faults,
            ..SMALL
        };
        let found = look(what, size, Bound::NONE);
        assert!(found.exhausted && found.followed == found.states, "{what}");
    }
}

#[test]
fn two_visitors_with_one_fault_of_each_kind_as_deep_as_a_test_may_go() {
    let size = Size {
        faults: FAULTS,
        joins: 2,
        ..SMALL
    };
    let bound = Bound {
        states: 5_000,
        ..Bound::NONE
    };
    assert!(look("everything", size, bound).depth >= 4);
}

#[test]
fn one_visitor_with_an_active_slot_is_exhausted_and_two_as_deep_as_a_test_may_go() {
    let one = Size { visitors: 1, ..ACTIVE };
    let found = look("one with an active slot", one, Bound::NONE);
    assert!(found.exhausted && found.followed == found.states);
    let bound = Bound {
        states: 4_000,
        ..Bound::NONE
    };
    look("two with an active slot", ACTIVE, bound);
}

#[test]
fn one_visitor_with_active_slots_and_each_kind_of_fault_is_looked_at() {
    let kinds = [
        ("a crash", Faults { crash: 1, ..NO_FAULTS }),
        ("a lost answer", Faults { reply: 1, ..NO_FAULTS }),
        ("a cut", Faults { cut: 1, ..NO_FAULTS }),
        ("an old token", Faults { replay: 1, ..NO_FAULTS }),
        ("a lost log", Faults { log: 1, ..NO_FAULTS }),
    ];
    for (what, faults) in kinds {
        let size = Size {
            visitors: 1,
            faults,
            ..ACTIVE
        };
        let bound = Bound {
            states: 2_000,
            ..Bound::NONE
        };
        look(what, size, bound);
    }
}

#[test]
fn two_visitors_with_active_slots_and_one_fault_of_each_kind_as_deep_as_a_test_may_go() {
    let size = Size {
        faults: FAULTS,
        joins: 2,
        ..ACTIVE
    };
    let bound = Bound {
        states: 3_000,
        ..Bound::NONE
    };
    assert!(look("active slots, everything", size, bound).depth >= 4);
}

/// The trace by which a broken rule is found.
fn trace_of(broken: Broken, law: &str) -> String {
    let trace = Search::new(SMALL, broken).run(Bound::NONE, || true).unwrap_err();
    println!("{broken:?}: {trace}");
    assert!(trace.contains(law), "{trace}");
    trace
}

fn steps(trace: &str) -> usize {
    trace.lines().count() - 1
}

#[test]
fn a_call_above_the_slots_is_found() {
    // One is inside and leaves while two wait: the third visitor is the one called above the slot.
    let size = Size { visitors: 3, ..SMALL };
    let trace = Search::new(size, Broken::Capacity)
        .run(Bound::NONE, || true)
        .unwrap_err();
    println!("{trace}");
    assert!(
        trace.contains("capacity: 2 are called or inside, with 1 slots"),
        "{trace}"
    );
    assert_eq!(steps(&trace), 4);
}

#[test]
fn a_number_given_twice_is_found() {
    assert_eq!(steps(&trace_of(Broken::Uniqueness, "uniqueness: ")), 2);
}

#[test]
fn a_call_past_somebody_is_found() {
    let size = Size { visitors: 3, ..SMALL };
    let trace = Search::new(size, Broken::Order).run(Bound::NONE, || true).unwrap_err();
    println!("{trace}");
    assert!(trace.contains("order: "), "{trace}");
    assert_eq!(steps(&trace), 4);
}

#[test]
fn a_lost_visitor_is_found() {
    assert_eq!(steps(&trace_of(Broken::Lost, "nobody lost: ")), 3);
}

#[test]
fn a_line_that_stands_still_is_found() {
    let bound = Bound {
        states: 60,
        ..Bound::NONE
    };
    let trace = Search::new(SMALL, Broken::Served).run(bound, || true).unwrap_err();
    println!("{trace}");
    assert!(trace.contains("served in the end: "), "{trace}");
    assert_eq!(steps(&trace), 2);
}

/// Takes these acts one after the other; says which law is broken first.
fn tell(world: &mut World, acts: &[Act]) -> Option<String> {
    acts.iter().find_map(|act| {
        let before = Before::of(world);
        let step = Step::fine(*act);
        let came = world.take(step);
        broken_by(step, came, &before, world)
    })
}

/// Time goes on until so many are parked, or a law is broken.
fn until_parked(world: &mut World, count: u32) -> Option<String> {
    (0..40).find_map(|_| {
        let parked = world.state.view().rooms[&room()].lines[&LineName::ONLY].figures.parked;
        if parked >= count {
            return Some(String::new());
        }
        tell(world, &[Act::Time(When::At)])
    })
}

/// Two are parked, two others are inside and leave; the first two come back in the opposite order of their arrival.
fn return_by_turns(broken: Broken) -> Option<String> {
    let size = Size {
        visitors: 4,
        slots: 2,
        rights: Some(4),
        ..ACTIVE
    };
    let mut world = World::new(size, broken);
    let come = |at| [Act::Join(at), Act::ComeIn(at)];
    assert_eq!(tell(&mut world, &[come(0), come(1)].concat()), None);
    if let Some(law) = until_parked(&mut world, 2).filter(|law| !law.is_empty()) {
        return Some(law);
    }
    let asks = [
        come(2),
        come(3),
        [Act::Use(1), Act::Use(0)],
        [Act::Leave(2), Act::Leave(3)],
    ];
    tell(&mut world, &asks.concat())
}

#[test]
fn who_returns_does_so_in_turn_and_a_return_out_of_turn_is_found() {
    assert_eq!(return_by_turns(Broken::Nothing), None);
    let law = return_by_turns(Broken::Returns).unwrap();
    assert!(
        law.contains("returns: number 0 comes back before 1") || law.contains("returns: "),
        "{law}"
    );
}

#[test]
fn a_session_parked_while_it_is_in_use_is_found() {
    let law = return_by_turns(Broken::Parked).unwrap();
    assert!(law.contains("parked: A is parked"), "{law}");
}

#[test]
fn a_right_too_many_is_found() {
    let law = return_by_turns(Broken::Rights).unwrap();
    assert!(
        law.contains("rights: 4 are called, active or parked, with 3 rights"),
        "{law}"
    );
}
