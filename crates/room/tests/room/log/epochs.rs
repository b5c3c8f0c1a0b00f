//! New logs and lost ones: the data that tickets restore.

use ropeline_room::{
    Batch, CallOrder, Change, Changed, Clock, Entry, Epoch, GateId, LineName, Mode, NEWEST, Number, Position,
    RoomChange, RoomName, Root, Section, Settings, Standing, State,
};

use ropeline_room::testing::log::{EPOCH, LANE, Log, room, settings};

fn of(epoch: u64, n: u32) -> Number {
    Number { epoch: Epoch(epoch), n }
}

/// The log ends and a new one begins.
fn begin(log: &mut Log, epoch: u64) {
    log.state.begin(epoch, Root::Own);
    log.rejoin();
}

#[test]
fn a_new_log_keeps_places_sessions_and_order_and_numbers_anew_behind() {
    let mut log = Log::new(settings(1));
    let old = log.join(3);
    log.claim(old[0], true);
    log.mark(old[2]);
    begin(&mut log, EPOCH + 1);
    assert!(log.is_inside(old[0]));
    assert!(
        !log.is_present(old[1]),
        "the machine counts on nobody older without a mark"
    );
    let new = log.join(1)[0];
    assert_eq!((new, log.ahead(new)), (of(EPOCH + 1, 0), Some(1)));
    log.mark(old[1]);
    assert_eq!(
        [old[1], old[2], new].map(|number| log.ahead(number)),
        [Some(0), Some(1), Some(2)]
    );
}

/// The log ends, and a new one begins as gates do it.
fn begin_marked(log: &mut Log, epoch: u64) {
    log.state.mark_newcomers();
    begin(log, epoch);
}

#[test]
fn whoever_has_just_joined_is_present_in_a_new_log_for_as_long_again_and_not_for_ever() {
    // Where the generation under way ends long after they would be gone, just then, a moment before, and at once.
    for (what, age) in [("none", 0), ("young", 5_000), ("old", 16_500), ("over", 19_500)] {
        let mut log = Log::new(Settings {
            mode: Mode::Hold,
            ..settings(1)
        });
        if age > 0 {
            let regular = log.join(1)[0];
            log.mark(regular);
            log.pass(age);
            log.leave(regular);
        }
        let gone = log.join(2);
        log.pass(1_500);
        let new = log.join(2);
        log.leave(gone[0]);
        let before = log.state.encode();
        begin_marked(&mut log, EPOCH + 1);
        assert_eq!(log.ahead(new[1]), Some(2), "{what}: whoever left stays gone");
        let later = log.join(1)[0];
        for _ in 0..7 {
            log.pass(500);
            log.mark(later);
            let ahead = [gone[1], new[0], new[1], later].map(|number| log.ahead(number));
            assert_eq!(ahead, [Some(0), Some(1), Some(2), Some(3)], "{what}");
        }
        log.pass(21_500);
        log.mark(later);
        assert_eq!(
            log.ahead(later),
            Some(0),
            "{what}: gone after half of grace at most and as long again"
        );
        // The same without the mark of a new log.
        let mut log = Log::bare(State::decode(&before).unwrap());
        begin(&mut log, EPOCH + 1);
        assert!(!log.is_present(new[0]));
    }
}

#[test]
fn a_new_log_with_nobody_who_has_just_joined_begins_as_it_ended() {
    let mut log = Log::new(settings(1));
    let numbers = log.join(3);
    log.claim(numbers[0], true);
    log.mark(numbers[1]);
    log.pass(4_500);
    let before = log.state.encode();
    log.state.mark_newcomers();
    assert_eq!(log.state.encode(), before);
    let mut again = log.fork();
    again.join(1);
    again.state.mark_newcomers();
    let once = again.state.encode();
    again.state.mark_newcomers();
    assert_eq!(again.state.encode(), once, "marked once");
}

#[test]
fn a_history_goes_on_into_a_log_that_began_either_way() {
    for marked in [true, false] {
        let mut log = Log::new(settings(1));
        log.join(3);
        let mut replayed = log.fork();
        if marked {
            log.state.mark_newcomers();
        }
        begin(&mut log, EPOCH + 1);
        let root = Some(log.state.hash());
        let entry = log.entry(
            100,
            Batch {
                root,
                ..Batch::default()
            },
        );
        for state in [&mut log.state, &mut replayed.state] {
            state.apply(&entry.clone().into());
        }
        assert_eq!(replayed.state.hash(), log.state.hash(), "marked {marked}");
    }
}

#[test]
fn a_ticket_from_behind_an_epochs_end_gets_its_place_back() {
    let mut log = Log::new(settings(1));
    let old = log.join(3);
    log.claim(old[0], true);
    begin(&mut log, EPOCH + 1);
    let new = log.join(1)[0];
    let lost = of(EPOCH, 5);
    assert_eq!(log.standing(lost), Standing::Unknown);
    assert!(log.mark(lost));
    assert_eq!((log.ahead(lost), log.ahead(new)), (Some(0), Some(1)));
    assert_eq!(
        log.standing(of(EPOCH, 4)),
        Standing::Unknown,
        "others in the gap stay as they were"
    );
    let beyond = of(EPOCH, 3 << 20);
    assert_eq!(log.standing(beyond), Standing::Late);
    assert!(!log.mark(beyond));
}

#[test]
fn a_number_of_the_issuing_epoch_that_was_not_issued_is_nobodys() {
    let mut log = Log::new(settings(1));
    log.join(2);
    for ahead in [of(EPOCH, 2), of(EPOCH + 1, 0)] {
        assert_eq!(log.standing(ahead), Standing::Unknown);
        assert!(!log.mark(ahead) && !log.reopen(ahead));
    }
}

#[test]
fn when_everything_is_lost_a_ticket_proves_it_and_nobody_is_called_until_it_healed() {
    let mut log = Log::new(settings(2));
    let new = log.join(3);
    log.claim(new[0], true);
    let (waited, was_inside) = (of(77, 1_000_000), of(77, 12));
    assert_eq!(log.standing(waited), Standing::Unknown);
    assert!(log.mark(waited));
    let heals = Clock(log.now().0 + 20_000);
    assert_eq!(log.healing(), Some(heals), "a generation");
    assert!(log.reopen(was_inside));
    assert_eq!((log.figures().inside, log.figures().excess), (2, 1));
    assert_eq!((log.ahead(waited), log.ahead(new[2])), (Some(0), Some(1)));
    log.leave(new[0]);
    log.leave(new[1]);
    log.leave(was_inside);
    log.mark(new[2]);
    log.mark(waited);
    log.pass(19_500);
    assert_eq!(log.figures().called, 0);
    log.pass(500);
    assert!(log.is_called(waited) && log.is_called(new[2]));
}

/// A room whose generation, session and claim are of different lengths, and another one.
fn two_rooms() -> (Log, RoomName) {
    let settings = Settings {
        grace_ms: 16_000,
        ..settings(1)
    };
    let mut log = Log::new(settings.clone());
    let other = RoomName::new("other").unwrap();
    let rooms = vec![RoomChange {
        room: other.clone(),
        revision: 1,
        change: Change::Configure(settings),
        who: None,
    }];
    log.apply(
        0,
        Batch {
            rooms,
            ..Batch::default()
        },
    );
    (log, other)
}

#[test]
fn a_ticket_of_a_lost_epoch_stops_its_own_room_for_half_of_grace_and_once() {
    let (mut log, other) = two_rooms();
    assert!(log.mark(of(77, 3)));
    let heals = Clock(log.now().0 + 8_000);
    assert_eq!(log.healing(), Some(heals));
    let view = log.state.view();
    assert_eq!(view.rooms[&other].healing_until(view.clock), None);
    assert!(view.open(&other, &LineName::ONLY, view.clock) && !view.open(&room(), &LineName::ONLY, view.clock));
    log.pass(8_000);
    assert_eq!(log.healing(), None);
    log.leave(of(77, 3));
    // One of the same epoch, and one of another.
    assert!(log.mark(of(77, 4)) && log.mark(of(60, 2)) && log.mark(of(78, 2)));
    assert_eq!(log.healing(), None);
    assert!(log.is_called(of(77, 4)), "at once");
}

#[test]
fn a_pass_of_a_lost_epoch_stops_its_own_room_for_a_session_and_once_whatever_tickets_did() {
    let (mut log, other) = two_rooms();
    assert!(log.mark(of(77, 3)));
    log.pass(5_000);
    assert!(log.reopen(of(77, 1)));
    let heals = Clock(log.now().0 + 20_000);
    assert_eq!(log.healing(), Some(heals), "the epoch was known already");
    let again = State::decode(&log.state.encode()).unwrap();
    assert_eq!(again.hash(), log.state.hash());
    let view = log.state.view();
    assert_eq!(view.rooms[&other].healing_until(view.clock), None);
    log.pass(20_000);
    assert!(log.reopen(of(77, 2)) && log.reopen(of(76, 1)));
    assert_eq!(log.healing(), None);
}

#[test]
fn each_room_heals_by_its_own_tokens_though_another_has_shown_the_epoch() {
    let (mut log, other) = two_rooms();
    assert!(log.mark(of(77, 3)));
    log.pass(3_000);
    let marks = vec![(LANE, of(77, 9))];
    log.say(Section {
        marks,
        ..Section::new(other.clone(), LineName::ONLY)
    });
    let view = log.state.view();
    let heals = Clock(view.clock.0 + 8_000);
    assert_eq!(view.rooms[&other].healing_until(view.clock), Some(heals));
}

#[test]
fn what_stopped_a_room_in_one_log_does_not_stop_it_in_the_next() {
    let (mut log, _) = two_rooms();
    assert!(log.mark(of(77, 3)));
    log.pass(8_000);
    begin(&mut log, EPOCH + 9);
    assert!(log.mark(of(77, 4)) && log.mark(of(60, 2)));
    assert_eq!(log.healing(), None, "what is older than the log before");
    assert!(log.reopen(of(77, 1)));
    assert!(log.healing().is_some(), "no pass had stopped it");
    log.pass(20_000);
    assert!(log.mark(of(EPOCH + 5, 3)));
    assert!(log.healing().is_some(), "a log between the two is lost");
}

#[test]
fn an_operator_ends_a_healing_for_the_whole_log_and_calls_while_it_lasts() {
    let (mut log, _) = two_rooms();
    let order = || {
        Change::Call(CallOrder {
            line: LineName::ONLY,
            lane: None,
            count: 1,
            beyond: false,
        })
    };
    let lost = [of(77, 3), of(77, 4), of(77, 5)];
    assert!(lost.iter().all(|number| log.mark(*number)));
    assert_eq!(log.change(order()).changed, [Changed::Taken]);
    assert!(log.is_called(lost[0]) && log.healing().is_some());
    log.leave(lost[0]);
    assert!(!log.is_called(lost[1]));
    assert_eq!(log.change(Change::EndHealing).changed, [Changed::Taken]);
    assert!(log.healing().is_none() && log.is_called(lost[1]));
    assert!(log.reopen(of(70, 1)));
    assert_eq!(log.healing(), None, "nor by a pass");
    assert_eq!(log.change(Change::EndHealing).changed, [Changed::Refused]);
}

#[test]
fn a_second_ticket_of_the_lost_epoch_does_not_stop_the_calls_again() {
    let mut log = Log::new(settings(1));
    log.mark(of(77, 3));
    let heals = log.healing();
    log.pass(5_000);
    assert!(log.mark(of(77, 2)));
    assert_eq!(log.healing(), heals);
    assert_eq!((log.ahead(of(77, 2)), log.ahead(of(77, 3))), (Some(0), Some(1)));
}

#[test]
fn the_order_of_several_lost_epochs_is_theirs_and_not_that_of_their_return() {
    let mut log = Log::new(settings(0));
    let newest = log.join(1)[0];
    let lost = [of(80, 4), of(70, 9), of(75, 0), of(70, 2)];
    for number in lost {
        assert!(log.mark(number));
    }
    let mut order = lost.to_vec();
    order.sort();
    order.push(newest);
    let aheads: Vec<_> = order.iter().map(|number| log.ahead(*number)).collect();
    assert_eq!(aheads, (0..5).map(Some).collect::<Vec<_>>());
}

#[test]
fn a_ticket_of_a_lost_epoch_is_no_proof_once_the_longest_session_has_passed() {
    let mut log = Log::new(settings(1));
    log.join(1);
    log.pass(60_000);
    assert_eq!(log.standing(of(77, 3)), Standing::Late);
    assert!(!log.mark(of(77, 3)));
    assert_eq!(log.healing(), None);
}

#[test]
fn an_ended_number_is_not_given_back_by_a_mark() {
    let mut log = Log::new(settings(1));
    begin(&mut log, EPOCH + 1);
    log.join(1);
    let lost = of(77, 3);
    assert!(log.reopen(lost));
    log.leave(lost);
    log.pass(61_000);
    assert!(!log.mark(lost));
    assert!(!matches!(log.standing(lost), Standing::Waiting(_)));
}

#[test]
fn a_session_outlives_its_epoch() {
    let mut log = Log::new(settings(2));
    let old = log.join(1)[0];
    log.claim(old, true);
    begin(&mut log, EPOCH + 1);
    for _ in 0..5 {
        log.pass(11_000);
        log.renew(old);
        let new = log.join(1)[0];
        log.leave(new);
    }
    assert!(log.is_inside(old));
    log.leave(old);
    assert_eq!(log.standing(old), Standing::Ended, "and is remembered as ended");
}

#[test]
fn the_roots_entry_begins_the_new_log_by_itself() {
    let mut log = Log::new(settings(1));
    let old = log.join(2);
    let mut other = State::decode(&log.state.encode()).unwrap();
    begin(&mut log, EPOCH + 5);
    let root = Entry {
        position: Position {
            epoch: EPOCH + 5,
            sequence: 1,
        },
        ..log.entry(
            250,
            Batch {
                root: Some([7; 32]),
                hello: true,
                ..Batch::default()
            },
        )
    };
    let stray = Entry {
        batch: Batch {
            root: None,
            ..root.batch.clone()
        },
        ..root.clone()
    };
    assert!(other.apply(&stray.clone().into()).ignored);
    assert_eq!(other.position().epoch, EPOCH);
    log.state.apply(&root.clone().into());
    other.apply(&root.clone().into());
    assert_eq!(log.state.hash(), other.hash());
    assert!(!log.is_present(old[1]));
}

#[test]
fn entries_are_applied_once_and_only_of_this_log_and_version() {
    let mut log = Log::new(settings(1));
    let entry = log.entry(250, Batch::default());
    log.state.apply(&entry.clone().into());
    let hash = log.state.hash();
    let next = Position {
        sequence: entry.position.sequence + 1,
        ..entry.position
    };
    for strange in [
        entry.clone(),
        Entry {
            position: Position {
                epoch: EPOCH + 1,
                ..next
            },
            ..entry.clone()
        },
        Entry {
            position: next,
            version: NEWEST + 1,
            ..entry.clone()
        },
    ] {
        assert!(log.state.apply(&strange.into()).ignored);
        assert_eq!(log.state.hash(), hash);
    }
}

#[test]
fn a_silent_gate_holds_the_horizon_for_an_hour_or_until_it_is_back() {
    let mut log = Log::new(settings(5));
    log.join(1);
    let mut other = GateId(9);
    std::mem::swap(&mut log.gate, &mut other);
    log.apply(
        0,
        Batch {
            hello: true,
            ..Batch::default()
        },
    );
    std::mem::swap(&mut log.gate, &mut other);
    let absent = log.join(1)[0];
    log.leave(absent);
    let gone = log.join(1)[0];
    log.pass(120_000);
    assert!(
        !matches!(log.standing(gone), Standing::Late),
        "{:?}",
        log.standing(gone)
    );
    std::mem::swap(&mut log.gate, &mut other);
    log.apply(
        0,
        Batch {
            hello: true,
            ..Batch::default()
        },
    );
    log.apply(250, Batch::default());
    assert_eq!(log.standing(gone), Standing::Late);
}

#[test]
fn a_reset_after_a_new_log_voids_older_epochs_too() {
    let mut log = Log::new(settings(1));
    let old = log.join(2);
    begin(&mut log, EPOCH + 1);
    log.change(Change::Reset);
    assert_eq!(log.standing(old[1]), Standing::Late);
    assert!(!log.mark(old[1]));
    let view = log.state.view();
    assert!(view.rooms[&room()].lines.is_empty());
    assert!(log.join(1)[0].n == 0 && log.is_called(of(EPOCH + 1, 0)));
}
