//! Epochs that a gate brings back: the course of it, and which items are taken or skipped.

use ropeline_room::{
    Adopt, Batch, Change, Changed, Clock, Epoch, LaneId, LineName, MAX_BATCH_BYTES, MAX_ROOMS, Mode, Number, Overrides,
    RoomChange, RoomName, Section, Standing, State,
};

use crate::recovery::fork::{Fork, adopt, held};
use ropeline_room::testing::log::{EPOCH, LANE, Log, numbers, only, room, settings};

#[test]
fn nobody_is_called_until_it_is_done_or_five_seconds_are_over() {
    let mut log = Log::new(settings(2));
    let old = log.join(4);
    log.pass(500);
    for finishes in [true, false] {
        let mut fork = Fork::of_nothing(log.fork(), settings(2));
        let bring = |done, n: usize| Batch {
            adopt: Some(adopt(EPOCH, done)),
            sections: vec![Section {
                marks: vec![(LANE, old[n])],
                ..only()
            }],
            ..Batch::default()
        };
        fork.new.apply(0, bring(false, 3));
        let view = fork.new.state.view();
        assert_eq!(view.adopting, Some(Clock(view.clock.0 + 5_000)));
        assert!(!view.open(&room(), &LineName::ONLY, view.clock));
        fork.new.pass(4_500);
        assert_eq!(fork.new.figures().called, 0);
        if finishes {
            fork.new.apply(0, bring(true, 2));
            assert_eq!(fork.new.figures().called, 0, "not in the entry itself");
        } else {
            fork.new.pass(500);
        }
        fork.new.apply(0, Batch::default());
        assert_eq!(fork.new.state.view().adopting, None);
        assert!(fork.new.is_called(old[3]));
        assert_eq!(fork.new.is_called(old[2]), finishes);
    }
}

#[test]
fn a_slow_gate_is_waited_for_from_batch_to_batch_for_a_minute() {
    let mut log = Log::new(settings(2));
    let old = log.join(40);
    let mut fork = Fork::of_nothing(log, settings(2));
    let bring = |n: usize| Batch {
        adopt: Some(adopt(EPOCH, false)),
        sections: vec![Section {
            marks: vec![(LANE, old[39 - n])],
            ..only()
        }],
        ..Batch::default()
    };
    for n in 0..15 {
        fork.new.apply(0, bring(n));
        fork.new.pass(4_000);
        let called = fork.new.figures().called;
        assert_eq!(called > 0, n == 14, "after {n} batches");
    }
    assert!(fork.new.is_called(old[25]), "all of them in their order");
    assert!(fork.new.is_called(old[26]));
    fork.new.apply(0, bring(15));
    assert_eq!(fork.new.state.view().adopting, None, "its minute is over");
}

#[test]
fn several_gates_bring_the_same_epoch() {
    let mut log = Log::new(settings(1));
    let old = log.join(4);
    log.claim(old[0], true);
    let mut further = log.fork();
    further.leave(old[0]);
    let more = further.join(1)[0];
    let mut fork = Fork::of_nothing(log, held(1));
    let first = fork.old.state.adoption(&fork.new.state);
    let second = further.state.adoption(&fork.new.state);
    for batch in first.iter().chain(&second).chain(&first).chain(&second) {
        fork.new.apply(0, batch.clone());
    }
    assert_eq!(
        fork.aheads(&[old[1], old[2], old[3], more]),
        (0..4).map(Some).collect::<Vec<_>>()
    );
    let figures = fork.new.figures();
    assert_eq!(
        (figures.inside, figures.waiting),
        (1, 4),
        "the session is the shop's to end"
    );
    assert_eq!(
        fork.new.state.ended_at(Epoch(EPOCH)),
        Some(further.state.position().sequence)
    );
}

#[test]
fn what_makes_no_sense_is_passed_over() {
    let mut log = Log::new(held(1));
    let mine = log.join(2);
    let epoch = EPOCH;
    let section = |number: Number| Section {
        taken: vec![(LANE, number)],
        spent: vec![(LANE, number)],
        voids: vec![(LANE, number)],
        ..only()
    };
    let say = |log: &mut Log, adopt: Option<Adopt>, section| {
        let batch = Batch {
            adopt,
            sections: vec![section],
            ..Batch::default()
        };
        log.apply(0, batch).skipped
    };
    let before = |n| Number {
        epoch: Epoch(epoch - 5),
        n,
    };
    assert_eq!(say(&mut log, None, section(mine[0])), 3, "of no epoch");
    assert_eq!(
        say(&mut log, Some(adopt(epoch, true)), section(mine[0])),
        4,
        "of the epoch that issues"
    );
    assert_eq!(
        say(&mut log, Some(adopt(epoch + 9, true)), section(mine[0])),
        4,
        "of the future"
    );
    assert_eq!(
        say(&mut log, Some(adopt(epoch - 5, true)), section(mine[0])),
        3,
        "of another epoch"
    );
    assert_eq!(say(&mut log, Some(adopt(epoch - 6, true)), section(before(3))), 3);
    let elsewhere = Section {
        marks: vec![(LaneId(9), before(3))],
        ..section(before(3))
    };
    assert_eq!(
        say(&mut log, Some(adopt(epoch - 5, true)), elsewhere),
        2,
        "spent after taken, and no such lane"
    );
    let far = before(u32::MAX);
    say(&mut log, Some(adopt(epoch - 5, true)), section(far));
    assert_eq!(log.standing(before(9)), Standing::Late);
    assert_eq!((log.ahead(mine[0]), log.ahead(mine[1])), (Some(0), Some(1)));
    assert_eq!(State::decode(&log.state.encode()).unwrap().hash(), log.state.hash());
}

#[test]
fn lines_that_were_forgotten_stay_so() {
    let mut log = Log::new(settings(1));
    let name = LineName::new("42").unwrap();
    let section = || Section::new(room(), name.clone());
    let join = Section {
        joins: vec![(LANE, 3)],
        ..section()
    };
    let ended = numbers(log.say(join).joined[0].first, 3);
    let alive = log.join(2);
    log.pass(90_000);
    assert_eq!(log.state.view().rooms[&room()].lines.len(), 1);
    let mut fork = Fork::of_nothing(log, held(1));
    fork.bring();
    let mark = Section {
        marks: vec![(LANE, ended[2])],
        ..section()
    };
    assert_eq!(fork.new.say(mark).skipped, 1);
    assert_eq!(fork.new.state.view().rooms[&room()].lines.len(), 1);
    assert!(fork.new.mark(alive[1]), "though a lower number of the same epoch");
}

#[test]
fn an_operators_later_word_comes_along() {
    let mut log = Log::new(settings(1));
    log.join(2);
    let stop = Overrides {
        mode: Some(Mode::Hold),
        ..Overrides::default()
    };
    log.change(Change::Override(stop.clone()));
    let mut fork = Fork::of_nothing(log, settings(1));
    fork.bring();
    assert_eq!(fork.new.state.view().rooms[&room()].overrides, stop);
    fork.new.pass(1_000);
    assert_eq!(fork.new.figures().called, 0);
}

#[test]
fn what_an_operator_has_said_since_stands() {
    let word = |mode, capacity| Overrides {
        mode,
        capacity,
        ..Overrides::default()
    };
    let (lost, since) = (word(None, Some(5)), word(Some(Mode::Hold), None));
    for (of_nothing, in_time) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut log = Log::new(settings(1));
        log.join(2);
        log.change(Change::Override(word(None, Some(3))));
        let mut fork = if of_nothing {
            Fork::of_nothing(log, settings(1))
        } else {
            Fork::of(log)
        };
        fork.old.join(1);
        for _ in 0..9 {
            fork.old.change(Change::Override(lost.clone()));
        }
        let mut silent = fork.new.fork();
        // This many changes of the configuration must not hide the operator's settings.
        (0..20).for_each(|_| drop(silent.change(Change::Configure(settings(1)))));
        let without = fork.old.state.adoption(&silent.state);
        for batch in without {
            silent.apply(0, batch);
        }
        assert_eq!(
            silent.state.view().rooms[&room()].overrides,
            lost,
            "nobody has said anything"
        );
        let early = fork.old.state.adoption(&fork.new.state);
        fork.new.change(Change::Override(since.clone()));
        let batches = if in_time {
            fork.old.state.adoption(&fork.new.state)
        } else {
            early
        };
        let changed = batches.into_iter().flat_map(|batch| fork.new.apply(0, batch).changed);
        let refused = changed.filter(|changed| *changed != Changed::Taken).count();
        assert_eq!(refused, usize::from(!in_time));
        assert_eq!(fork.new.state.view().rooms[&room()].overrides, since);
        let again = State::decode(&fork.new.state.encode()).unwrap();
        assert_eq!(again.hash(), fork.new.state.hash());
    }
}

#[test]
fn rooms_that_nobody_has_configured_yet_come_along() {
    let mut log = Log::new(settings(2));
    let old = log.join(5);
    log.claim(old[0], true);
    let held = Overrides {
        mode: Some(Mode::Hold),
        ..Overrides::default()
    };
    log.change(Change::Override(held.clone()));
    let mut new = Log::bare(State::empty(EPOCH + 100));
    new.time = log.time;
    let mut fork = Fork { old: log, new };
    assert_eq!(fork.bring(), 0);
    assert_eq!(fork.new.state.configured(&room()), Some(&settings(2)));
    assert_eq!(fork.new.state.view().rooms[&room()].overrides, held);
    assert!(fork.new.is_inside(old[0]));
    assert_eq!(fork.aheads(&old[1..]), (0..4).map(Some).collect::<Vec<_>>());
    assert!(fork.old.state.adoption(&fork.new.state).is_empty());
    // The gate's own word on its configuration comes behind.
    let revision = fork.new.state.view().rooms[&room()].revision;
    let configure = RoomChange {
        room: room(),
        revision: revision + 1,
        change: Change::Configure(settings(2)),
        who: None,
    };
    let batch = Batch {
        rooms: vec![configure],
        ..Batch::default()
    };
    assert_eq!(fork.new.apply(0, batch).skipped, 0);
    assert_eq!(fork.new.figures().called, 0, "held still");
    assert_eq!(fork.new.ahead(old[1]), Some(0));
}

#[test]
fn an_epoch_that_has_no_room_to_come_back_to_has_not_ended() {
    let mut log = Log::new(settings(1));
    log.join(2);
    let mut new = Log::bare(State::empty(EPOCH + 100));
    let configure = |i: usize| RoomChange {
        room: RoomName::new(&format!("room-{i}")).unwrap(),
        revision: 1,
        change: Change::Configure(settings(1)),
        who: None,
    };
    for rooms in (0..MAX_ROOMS).map(configure).collect::<Vec<_>>().chunks(100) {
        let rooms = rooms.to_vec();
        new.apply(
            0,
            Batch {
                rooms,
                ..Batch::default()
            },
        );
    }
    let mut fork = Fork { old: log, new };
    assert!(fork.bring() > 0);
    assert_eq!(fork.new.state.ended_at(Epoch(EPOCH)), Some(0));
    assert!(!fork.old.state.adoption(&fork.new.state).is_empty());
}

#[test]
fn a_million_waiting_are_some_tens_of_batches() {
    let mut log = Log::new(held(1));
    let old = log.join(1 << 20);
    log.leave(old[77]);
    let mut fork = Fork::of_nothing(log, held(1));
    let batches = fork.old.state.adoption(&fork.new.state);
    assert!(batches.len() < 30, "{}", batches.len());
    assert!(batches.iter().all(|batch| batch.encoded_len() <= MAX_BATCH_BYTES));
    let done: Vec<bool> = batches.iter().map(|batch| batch.adopt.unwrap().done).collect();
    assert_eq!(done.iter().position(|done| *done), Some(done.len() - 1));
    assert_eq!(fork.bring(), 0);
    assert_eq!(fork.new.figures().waiting, (1 << 20) - 1);
    assert_eq!(fork.new.ahead(old[1_000_000]), Some(999_999));
}
