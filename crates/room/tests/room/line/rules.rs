//! Rules of rooms and lines: modes, resets, lines on demand, lanes, the roster.

use ropeline_room::{
    Batch, Change, Clock, Epoch, GateId, LaneId, LineName, Mode, Number, Overrides, RoomChange, Section, Settings,
    Standing, State, Visitor,
};

use ropeline_room::testing::log::{EPOCH, LANE, Log, numbers, only, room, settings};

#[test]
fn modes_decide_who_joins_and_who_is_called() {
    let mut log = Log::new(settings(5));
    let mode = |mode| {
        Change::Override(Overrides {
            mode: Some(mode),
            ..Overrides::default()
        })
    };
    log.change(mode(Mode::Hold));
    let held = log.join(1)[0];
    assert_eq!(log.ahead(held), Some(0));
    for closed in [Mode::Closed, Mode::Off] {
        log.change(mode(closed));
        assert!(log.join(1).is_empty());
    }
    assert_eq!(log.figures().calls, 0);
    log.change(mode(Mode::Auto));
    assert!(log.is_called(held));
}

#[test]
fn the_same_pending_id_is_answered_with_the_same_number() {
    let mut log = Log::new(settings(1));
    let first = log.pending(1);
    assert_ne!(log.pending(2), first);
    assert_eq!(log.pending(1), first);
    log.change(Change::Override(Overrides {
        mode: Some(Mode::Closed),
        ..Overrides::default()
    }));
    assert_eq!((log.pending(1), log.pending(3)), (first, None));
    log.change(Change::Override(Overrides::default()));
    log.pass(60_500);
    assert_ne!(log.pending(1), first);
}

#[test]
fn a_reset_voids_everything_and_issues_no_number_again() {
    let mut log = Log::new(settings(1));
    let before = log.join(3);
    log.claim(before[0], true);
    log.change(Change::Reset);
    assert_eq!(log.state.view().rooms[&room()].edition.0, 1);
    assert!(before.iter().all(|number| log.standing(*number) == Standing::Late));
    let after = log.join(2);
    assert!(after[0] > before[2]);
    assert!(log.is_called(after[0]));
    assert!(!log.mark(before[1]) && !log.reopen(before[0]));
}

#[test]
fn a_room_taken_out_and_put_back_issues_no_number_again() {
    let mut log = Log::new(settings(1));
    let before = log.join(3);
    log.change(Change::Remove);
    assert!(log.join(1).is_empty());
    log.change(Change::Configure(settings(1)));
    assert!(log.join(1)[0] > before[2]);
}

#[test]
fn changes_that_are_not_newer_or_not_sensible_are_passed_over() {
    let mut log = Log::new(settings(1));
    let mut say = |revision, change| {
        let change = RoomChange {
            room: room(),
            revision,
            change,
            who: None,
        };
        log.apply(
            0,
            Batch {
                rooms: vec![change],
                ..Batch::default()
            },
        )
        .skipped
    };
    let message = |text: String| {
        Change::Override(Overrides {
            message: Some(text),
            ..Overrides::default()
        })
    };
    assert_eq!(say(1, message("old".into())), 1);
    assert_eq!(say(2, message("x".repeat(1_001))), 1);
    assert_eq!(say(2, message("new".into())), 0);
    assert_eq!(say(2, Change::Reset), 1);
}

#[test]
fn a_line_is_forgotten_when_nobody_can_come_back_and_begins_above_its_numbers() {
    let mut log = Log::new(settings(1));
    let name = LineName::new("42").unwrap();
    let section = || Section {
        joins: vec![(LANE, 3)],
        ..Section::new(room(), name.clone())
    };
    let first = numbers(log.say(section()).joined[0].first, 3);
    let standing = |log: &mut Log| {
        let view = log.state.view();
        let visitor = Visitor {
            room: room(),
            line: name.clone(),
            lane: LANE,
            number: first[2],
            rehearsal: None,
        };
        (view.rooms[&room()].lines.len(), view.standing(&visitor, view.clock))
    };
    log.pass(71_500);
    assert_eq!(standing(&mut log).0, 1, "a minute after the only call was missed");
    log.pass(500);
    assert_eq!(standing(&mut log), (0, Standing::Late));
    let again = numbers(log.say(section()).joined[0].first, 3);
    assert!(again[0] > first[2]);
    assert_eq!(standing(&mut log), (1, Standing::Late));
}

#[test]
fn only_so_many_lines_are_made() {
    let mut log = Log::new(Settings {
        max_lines: 2,
        ..settings(1)
    });
    let mut join = |name: &str| {
        let section = Section::new(room(), LineName::new(name).unwrap());
        log.say(Section {
            joins: vec![(LANE, 1)],
            ..section
        })
        .joined[0]
            .first
            .is_some()
    };
    assert_eq!(["a", "b", "c", "a"].map(&mut join), [true, true, false, true]);
}

#[test]
fn lanes_share_the_calls_by_their_weights_and_keep_their_own_order() {
    let weights = Settings {
        lane_weights: vec![3, 1],
        ..settings(0)
    };
    let mut log = Log::new(weights);
    let lanes = [LANE, LaneId(1)];
    log.say(Section {
        joins: lanes.map(|lane| (lane, 600)).to_vec(),
        ..only()
    });
    log.change(Change::Override(Overrides {
        capacity: Some(400),
        ..Overrides::default()
    }));
    let view = log.state.view();
    let line = view.rooms[&room()].line(&LineName::ONLY).unwrap();
    let called = lanes.map(|lane| {
        let standing = |n| line.standing(lane, Number { epoch: Epoch(EPOCH), n }, view.clock);
        (0..600)
            .take_while(|n| matches!(standing(*n), Standing::Called(_)))
            .count()
    });
    assert_eq!((called, line.figures.called), ([300, 100], 400));
}

#[test]
fn a_room_begun_from_nothing_calls_when_the_passes_of_a_lost_log_have_run_out_unless_there_is_none() {
    let mut log = Log::of(State::after_a_loss(EPOCH), settings(1));
    let person = log.join(1)[0];
    log.mark(person);
    // A session and the two seconds in which a slot is still held.
    assert_eq!(log.healing(), Some(Clock(22_000)));
    assert!(!log.state.view().open(&room(), &LineName::ONLY, Clock(21_999)));
    log.pass(21_500);
    assert_eq!(log.ahead(person), Some(0));
    log.pass(500);
    assert!(log.is_called(person));
    assert_eq!(log.healing(), None);
    for state in [State::empty(EPOCH), State::first(EPOCH)] {
        let mut log = Log::of(state, settings(1));
        let person = log.join(1)[0];
        assert!(log.is_called(person), "at once");
    }
}

/// A visitor inside may show the pass at its very end, long after the tickets of the line have come.
#[test]
fn no_slot_is_called_that_a_pass_of_a_lost_log_may_still_take() {
    let short = Settings {
        grace_ms: 10_000,
        ..settings(2)
    };
    let mut log = Log::of(State::after_a_loss(EPOCH), short);
    let newcomer = log.join(1)[0];
    let lost = |n| Number { epoch: Epoch(77), n };
    assert!(log.mark(lost(9)), "in line");
    for _ in 0..4 {
        log.pass(4_900);
        assert!(log.mark(newcomer) && log.mark(lost(9)));
    }
    assert!(log.reopen(lost(0)) && log.reopen(lost(1)));
    assert_eq!((log.figures().inside, log.figures().called), (2, 0));
    log.pass(5_000);
    assert_eq!(log.healing(), None);
    assert_eq!(
        (log.figures().inside, log.figures().called),
        (2, 0),
        "both slots are held"
    );
    log.leave(lost(0));
    assert!(log.is_called(lost(9)) && log.ahead(newcomer) == Some(0));
}

/// The sessions of the lost log were longer than the settings say now: its passes come late, one after the other.
#[test]
fn a_pass_of_a_lost_log_that_comes_after_the_wait_stops_the_room_again() {
    let mut log = Log::of(State::after_a_loss(EPOCH), settings(3));
    let newcomer = log.join(1)[0];
    let lost = |n| Number { epoch: Epoch(77), n };
    log.pass(21_000);
    assert!(log.reopen(lost(0)));
    assert_eq!(log.healing(), Some(Clock(22_000)), "it waits for passes anyway");
    log.mark(newcomer);
    log.pass(2_000);
    assert!(log.is_called(newcomer));
    assert!(log.reopen(lost(1)));
    assert_eq!(log.healing(), Some(Clock(43_000)));
    log.pass(5_000);
    assert!(log.reopen(lost(2)));
    assert_eq!(log.healing(), Some(Clock(43_000)), "once in a log");
}

#[test]
fn a_room_that_comes_later_waits_for_no_longer_than_the_passes_of_a_lost_log_last() {
    let mut log = Log::of(State::after_a_loss(EPOCH), settings(1));
    log.change(Change::Remove);
    log.pass(22_000);
    log.change(Change::Configure(settings(1)));
    let person = log.join(1)[0];
    assert!(log.is_called(person), "at once");
}

#[test]
fn a_line_is_open_only_while_a_newcomer_would_be_called_at_once() {
    let mut log = Log::new(Settings {
        rate_per_minute: Some(60),
        call_every_ms: 1_000,
        ..settings(2)
    });
    let open = |log: &mut Log, ms| {
        let view = log.state.view();
        view.open(&room(), &LineName::ONLY, view.clock.plus(ms))
    };
    assert!(open(&mut log, 0), "a line that nobody has made yet");
    let first = log.join(1)[0];
    assert!(!open(&mut log, 999), "no token");
    assert!(open(&mut log, 1_000));
    log.pass(1_000);
    log.join(1);
    assert!(!open(&mut log, 5_000), "no slot");
    log.leave(first);
    assert!(open(&mut log, 5_000));
    log.change(Change::Override(Overrides {
        mode: Some(Mode::Hold),
        ..Overrides::default()
    }));
    assert!(!open(&mut log, 5_000), "on hold");
}

#[test]
fn a_gate_is_heard_only_after_its_hello_and_can_ask_what_it_was_given() {
    let mut log = Log::new(settings(1));
    let first = log.join(2)[0];
    let (_, joined) = log.state.answered(log.gate).unwrap();
    assert_eq!((joined[0].first, joined[0].count), (Some(first), 2));
    log.gate = GateId(8);
    let effects = log.say(Section {
        joins: vec![(LANE, 1)],
        ..only()
    });
    assert!(effects.ignored && effects.joined.is_empty());
    assert_eq!((log.figures().joins, log.state.roster().count()), (2, 1));
}
