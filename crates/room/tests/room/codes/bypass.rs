//! Codes that lead past the line: called at once, a limited number at a time, and never into a room that admits no visitors.

use ropeline_room::{
    Change, Completion, Denied, Edition, LaneId, LineName, Mode, NamedLane, Redeem, Section, Settings, Standing, State,
    Tag, Wall,
};

use crate::codes::{bypass, code};
use crate::recovery::fork::Fork;
use ropeline_room::testing::log::{LANE, Log, only, settings};

fn room_of(capacity: u32, bypass_most: u32) -> Settings {
    Settings {
        bypass_most,
        ..settings(capacity)
    }
}

/// A join by a code that any visitor may use.
fn open(holder: u8) -> Redeem {
    Redeem {
        single: false,
        expires: None,
        ..bypass(9, holder)
    }
}

#[test]
fn whoever_has_one_is_called_at_once_above_the_capacity_and_counted() {
    let mut log = Log::new(room_of(1, 2));
    let line = log.join(3);
    assert!(log.is_called(line[0]));
    let done = log.redeems(vec![bypass(1, 1)]).remove(0);
    let past = done.joined.first.unwrap();
    assert!(done.past && done.new && log.is_called(past));
    assert_eq!(log.ahead(line[1]), Some(0), "nobody else was moved");
    let figures = log.figures();
    assert_eq!(
        (figures.bypasses, figures.calls, figures.called + figures.inside),
        (1, 1, 2)
    );
    assert!(log.claim(past, true) && log.is_inside(past));
    assert_eq!(log.redeem(bypass(1, 2)), Err(Denied::Spent));
    assert_eq!(log.redeem(bypass(1, 1)), Ok(past));
    // A visitor in line is called by the capacity, once a slot is free.
    log.leave(line[0]);
    assert!(!log.is_called(line[1]));
    log.leave(past);
    assert!(log.is_called(line[1]));
}

#[test]
fn so_many_are_inside_by_codes_at_once() {
    let mut log = Log::new(room_of(0, 2));
    let [one, two] = [1, 2].map(|holder| log.redeem(open(holder)).unwrap());
    assert_eq!(log.redeem(open(3)), Err(Denied::NotNow));
    assert_eq!(log.redeem(bypass(4, 4)), Err(Denied::NotNow));
    assert_eq!(log.redeem(open(1)), Ok(one), "an answer that was lost");
    assert!(log.claim(two, true));
    log.leave(two);
    log.redeem(bypass(4, 4)).unwrap();
    assert_eq!(log.redeem(open(3)), Err(Denied::NotNow));
    // A turn that is missed is no slot.
    log.pass(12_500);
    log.redeem(open(3)).unwrap();
    assert!(
        matches!(log.standing(one), Standing::Waiting(_)),
        "it waits as others do"
    );
}

#[test]
fn where_nobody_is_let_in_no_code_lets_anybody_in_and_none_is_spent() {
    let mut log = Log::new(room_of(5, 0));
    assert_eq!(log.redeem(bypass(1, 1)), Err(Denied::Refused), "the room takes none");
    for (mode, denied) in [
        (Mode::Hold, Denied::NotNow),
        (Mode::Closed, Denied::NotNow),
        (Mode::Off, Denied::NotNow),
    ] {
        log.change(Change::Configure(Settings { mode, ..room_of(5, 5) }));
        assert_eq!(log.redeem(bypass(1, 1)), Err(denied), "{mode:?}");
    }
    log.change(Change::Configure(room_of(5, 5)));
    log.redeem(bypass(1, 1)).unwrap();
}

#[test]
fn the_stock_bounds_them_as_everybody() {
    let mut log = Log::new(Settings {
        stock: Some(2),
        ..room_of(1, 5)
    });
    let first = log.join(1)[0];
    assert!(log.is_called(first));
    let past = log.redeem(bypass(1, 1)).unwrap();
    assert_eq!(log.redeem(bypass(2, 2)), Err(Denied::NotNow), "each holds a piece");
    let complete = |number| Section {
        completions: vec![Completion {
            lane: LANE,
            number,
            edition: Edition(0),
            after_ms: 0,
            at: None,
            tag: None,
        }],
        ..only()
    };
    for number in [first, past] {
        log.claim(number, true);
        log.say(complete(number));
    }
    assert_eq!(log.redeem(bypass(2, 2)), Err(Denied::Refused), "all is sold");
}

#[test]
fn whoever_waits_is_called_with_the_number_that_they_have() {
    let mut log = Log::new(room_of(0, 5));
    let line = log.join(9);
    let redeem = Redeem {
        leaves: Some((LANE, line[6])),
        ..bypass(1, 1)
    };
    assert_eq!(log.redeem(redeem), Ok(line[6]));
    assert!(log.is_called(line[6]));
    assert_eq!((log.figures().joins, log.ahead(line[7])), (9, Some(6)));
    // The horizon follows the line's calls, and not theirs.
    log.pass(2_000);
    for number in &line {
        log.mark(*number);
    }
    log.pass(70_000);
    assert!(matches!(log.standing(line[0]), Standing::Waiting(_)));
}

/// By a code that many may use, which is remembered for a while as the id of a pending ticket is.
#[test]
fn whoever_has_a_number_by_two_ids_is_heard_of_by_both_on_every_replica() {
    let mut log = Log::new(room_of(0, 5));
    let number = log.pending(200).unwrap();
    let redeem = Redeem {
        leaves: Some((LANE, number)),
        ..open(1)
    };
    assert_eq!(log.redeem(redeem), Ok(number));
    let mut other = log.fork();
    other.state = State::decode(&log.state.encode()).unwrap();
    for log in [&mut log, &mut other] {
        log.claim(number, true);
    }
    assert!(log.state.hash() == other.state.hash());
    assert!(log.state.encode() == other.state.encode());
}

#[test]
fn whoever_was_called_meanwhile_keeps_the_call_and_the_code() {
    let mut log = Log::new(Settings {
        lane_weights: vec![1, 1],
        lanes: vec![NamedLane::new("rest"), NamedLane::new("members")],
        ..room_of(1, 5)
    });
    let number = log.join(1)[0];
    assert!(log.is_called(number));
    for inside in [false, true] {
        assert!(!inside || log.claim(number, true));
        let of_lane = Redeem {
            lane: LaneId(1),
            ..code(1, 1)
        };
        let doubtful = Redeem {
            issued: Wall(0),
            ..code(4, 4)
        };
        for redeem in [of_lane, bypass(2, 2), open(3), doubtful] {
            let redeem = Redeem {
                leaves: Some((LANE, number)),
                ..redeem
            };
            assert_eq!(log.redeem(redeem), Ok(number), "inside {inside}");
        }
    }
    let figures = log.figures();
    assert_eq!((log.spent(), figures.joins, figures.called + figures.inside), (0, 1, 1));
}

/// An app that says its mark once more, after it has left.
#[test]
fn a_number_that_is_over_is_not_given_again_by_a_code_that_is_good_for_many() {
    let mut log = Log::new(room_of(0, 5));
    let first = log.redeem(open(1)).unwrap();
    assert!(log.claim(first, true));
    log.leave(first);
    let second = log.redeem(open(1)).unwrap();
    assert!(second != first && log.is_called(second));
    assert_eq!(log.redeem(open(1)), Ok(second));
}

/// The session of one of them idled out while their gate was cut off, which goes on with it.
#[test]
fn who_goes_on_after_an_outage_counts_among_those_past_the_line() {
    let mut log = Log::new(room_of(0, 2));
    let first = log.redeem(open(1)).unwrap();
    assert!(log.claim(first, true));
    log.pass(24_500);
    assert_eq!(log.standing(first), Standing::Ended);
    log.redeem(open(2)).unwrap();
    assert!(log.reopen(first) && log.is_inside(first));
    assert_eq!(log.redeem(open(3)), Err(Denied::NotNow));
    log.leave(first);
    log.redeem(open(3)).unwrap();
}

#[test]
fn by_account_whoever_waits_is_called_and_whoever_is_inside_keeps_the_code() {
    let mut log = Log::new(room_of(1, 5));
    let of = |id, tag| Redeem {
        tags: vec![Tag([tag; 8])],
        ..bypass(id, id)
    };
    let (inside, waits) = (log.account(&[1]).unwrap(), log.account(&[2]).unwrap());
    assert_eq!(log.redeem(of(1, 1)), Ok(inside));
    assert_eq!(log.redeem(of(1, 2)), Ok(waits), "the code was not spent");
    assert!(log.is_called(waits));
    let new = log.redeem(of(3, 3)).unwrap();
    assert_eq!(log.account(&[3]), Some(new));
}

#[test]
fn each_line_has_its_own_bound_and_a_gone_line_holds_nobody() {
    let mut log = Log::new(room_of(1, 1));
    let at = |line: &str, holder| Redeem {
        line: LineName::new(line).unwrap(),
        ..open(holder)
    };
    log.redeem(at("a", 1)).unwrap();
    log.redeem(at("b", 2)).unwrap();
    assert_eq!(log.redeem(at("a", 3)), Err(Denied::NotNow));
    log.pass(200_000);
    log.redeem(at("a", 4)).unwrap();
}

#[test]
fn lanes_keep_their_turns_beside_those_who_go_past() {
    let mut log = Log::new(Settings {
        lane_weights: vec![3, 1],
        lanes: vec![NamedLane::new("rest"), NamedLane::new("members")],
        ..room_of(40, 5)
    });
    let joins = |lane, count| Section {
        joins: vec![(lane, count)],
        ..only()
    };
    log.change(Change::Configure(Settings {
        lane_weights: vec![3, 1],
        lanes: vec![NamedLane::new("rest"), NamedLane::new("members")],
        mode: Mode::Hold,
        ..room_of(40, 5)
    }));
    log.say(joins(LaneId(0), 100));
    log.say(joins(LaneId(1), 100));
    log.change(Change::Configure(Settings {
        lane_weights: vec![3, 1],
        lanes: vec![NamedLane::new("rest"), NamedLane::new("members")],
        ..room_of(40, 5)
    }));
    for id in 0..5 {
        log.redeem(Redeem {
            lane: LaneId(1),
            ..bypass(id, id)
        })
        .unwrap();
    }
    let view = log.state.view();
    let line = &view.rooms[&ropeline_room::testing::log::room()].lines[&LineName::ONLY];
    let waiting = [LaneId(0), LaneId(1)].map(|lane| line.waiting(lane));
    assert_eq!(waiting, [70, 90]);
}

#[test]
fn who_came_past_the_line_counts_in_the_log_that_comes_after() {
    let mut log = Log::new(room_of(1, 2));
    let past = log.redeem(bypass(1, 1)).unwrap();
    assert!(log.claim(past, true));
    let mut fork = Fork::of(log);
    let lost = fork.old.redeem(bypass(2, 2)).unwrap();
    assert!(fork.old.claim(lost, true));
    fork.bring();
    assert!(fork.new.is_inside(past) && fork.new.is_inside(lost));
    fork.new.apply(0, ropeline_room::Batch::default());
    assert_eq!(fork.new.redeem(bypass(3, 3)), Err(Denied::NotNow));
    fork.new.leave(lost);
    fork.new.redeem(bypass(3, 3)).unwrap();
}

#[test]
fn nobody_goes_past_while_something_lost_may_come_back() {
    let mut log = Log::of(
        ropeline_room::State::after_a_loss(ropeline_room::testing::log::EPOCH),
        room_of(1, 2),
    );
    assert_eq!(log.redeem(open(1)), Err(Denied::NotNow));
    log.pass(22_500);
    log.redeem(open(1)).unwrap();
}
