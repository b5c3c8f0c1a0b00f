//! Newcomers who could not be numbered at once: their ids, and the treatment of ids beyond the bound.

use ropeline_room::{GateId, Number, PendingId, Section};

use crate::recovery::fork::{Fork, go, held};
use ropeline_room::testing::log::{LANE, Log, only};

/// Most ids that a room remembers.
const BOUND: u32 = 131_072;

/// The number of each of the ids, as far as it is numbered; the others must come again.
fn pend(log: &mut Log, ids: impl Iterator<Item = u32>) -> Vec<Option<Number>> {
    let id = |i: u32| {
        let mut id = [0; 12];
        id[..4].copy_from_slice(&i.wrapping_mul(0x9E37_79B9).to_be_bytes());
        (LANE, PendingId(id))
    };
    let said = Section {
        pending_joins: ids.map(id).collect(),
        ..only()
    };
    let joined = log.say(said).pending_joined;
    assert!(joined.iter().all(|joined| joined.later == joined.first.is_none()));
    joined.iter().map(|joined| joined.first).collect()
}

#[test]
fn an_id_is_answered_also_when_its_number_was_shown() {
    let mut log = Log::new(held(1));
    let first = pend(&mut log, 0..4);
    let numbers: Vec<Number> = first.iter().flatten().copied().collect();
    assert_eq!(pend(&mut log, 0..4), first);
    log.mark(numbers[0]);
    log.leave(numbers[1]);
    let late = pend(&mut log, 0..4);
    assert_eq!(late, first, "it may wait in another gate's queue");
}

#[test]
fn at_the_bound_an_id_comes_again_until_somebody_is_heard_of_or_gone() {
    let mut log = Log::new(held(1));
    let first = pend(&mut log, 0..BOUND);
    assert!(first.iter().all(Option::is_some));
    let over = BOUND..BOUND + 3;
    assert_eq!(pend(&mut log, over.clone()), [None; 3]);
    assert_eq!(log.join(1).len(), 1, "whoever comes without an id is numbered");
    log.mark(first[77].unwrap());
    let second = pend(&mut log, over.clone());
    assert!(second[0].is_some() && second[1..] == [None, None]);
    log.pass(3_500);
    assert_eq!(pend(&mut log, over.clone()), second);
    // `firm_within` after it was numbered, only visitors who have checked in are present.
    log.pass(500);
    let last = pend(&mut log, over);
    assert_eq!(last[0], second[0]);
    assert!(last.iter().all(Option::is_some));
    assert_eq!(pend(&mut log, 3..BOUND)[0], first[3], "the oldest made room, no more");
}

#[test]
fn after_an_outage_two_gates_number_each_of_their_newcomers_once() {
    let mut log = Log::new(held(1));
    let mut given = vec![None; 200_000];
    for _ in 0..2 {
        ask(&mut log, &mut given);
        let numbered = given.iter().flatten().count();
        assert_eq!(numbered, BOUND as usize, "also when their pages come again");
    }
    let held: Vec<Number> = given.iter().flatten().copied().collect();
    let marks = held.iter().map(|number| (LANE, *number)).collect();
    log.say(Section { marks, ..only() });
    let rest = (0..).zip(&given).filter(|(_, number)| number.is_none());
    let behind = pend(&mut log, rest.map(|(id, _)| id));
    let last = held.iter().max().copied();
    assert!(behind.iter().all(|number| *number > last));
    assert_eq!(log.figures().joins, 200_000);
}

/// Two gates say their halves of the ids by turns, as much as fits into a batch.
fn ask(log: &mut Log, given: &mut [Option<Number>]) {
    let (first, second) = given.split_at_mut(100_000);
    for (chunk, (first, second)) in (0..).zip(first.chunks_mut(2_500).zip(second.chunks_mut(2_500))) {
        for (gate, from, given) in [(7, 0, first), (8, 100_000, second)] {
            log.gate = GateId(gate);
            log.rejoin();
            let from = from + chunk * 2_500;
            for (given, number) in given.iter_mut().zip(pend(log, from..from + 2_500)) {
                assert!(given.is_none() || *given == number, "{given:?} becomes {number:?}");
                *given = number;
            }
        }
    }
}

#[test]
fn a_number_that_nobody_may_have_heard_of_comes_back_with_its_visitor_only() {
    let mut log = Log::new(held(1));
    let given = pend(&mut log, 0..4);
    let numbers: Vec<Number> = given.into_iter().flatten().collect();
    log.mark(numbers[1]);
    for of_nothing in [true, false] {
        let mut fork = if of_nothing {
            Fork::of_nothing(log.fork(), held(1))
        } else {
            Fork::of(log.fork())
        };
        let lost = pend(&mut fork.old, 4..6);
        let lost: Vec<Number> = lost.into_iter().flatten().collect();
        fork.old.mark(lost[1]);
        fork.bring();
        assert!(fork.new.is_present(numbers[1]) && fork.new.is_present(lost[1]));
        assert!(!fork.new.is_present(lost[0]), "nobody holds a slot for it");
        let another = pend(&mut fork.new, 4..5)[0];
        assert!(another > Some(lost[1]), "who comes with the id is numbered here");
        assert!(!fork.new.is_present(numbers[0]));
        assert!(fork.new.mark(numbers[0]), "who was told the number has it");
        assert_eq!(fork.new.ahead(numbers[0]), Some(0));
        go(&mut fork.new);
        assert!(fork.new.is_called(numbers[0]));
    }
}
