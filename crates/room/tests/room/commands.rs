//! Operators' commands: visitors admitted now, messages by language, and the record of every change.

use std::collections::BTreeMap;

use ropeline_room::{
    Batch, CallOrder, Change, Changed, Deed, Edition, LaneId, LineName, MAX_ORDERS, Mode, Order, Overrides, Phase,
    RoomChange, Section, Setting, Settings, State, Who,
};

use crate::draw::{SECRET, VALUE, drawing, promise, reveal, says, until};
use ropeline_room::testing::log::{LANE, Log, only, room, settings};

fn call(count: u32, beyond: bool) -> CallOrder {
    CallOrder {
        line: LineName::ONLY,
        lane: None,
        count,
        beyond,
    }
}

fn anna() -> Who {
    Who {
        name: "anna".to_owned(),
        reason: "the hall is empty".to_owned(),
    }
}

/// The result of an operator's change.
fn order(log: &mut Log, change: Change) -> Changed {
    said(log, change, Some(anna()))
}

fn said(log: &mut Log, change: Change, who: Option<Who>) -> Changed {
    let revision = log.state.view().rooms[&room()].revision + 1;
    let rooms = vec![RoomChange {
        room: room(),
        revision,
        change,
        who,
    }];
    let batch = Batch {
        rooms,
        ..Batch::default()
    };
    log.apply(0, batch).changed[0]
}

fn newest(log: &mut Log) -> Order {
    let view = log.state.view();
    view.rooms[&room()].orders.iter().next().expect("an order").clone()
}

fn called(log: &mut Log) -> (u32, u32) {
    match newest(log).deed {
        Deed::Call { asked, called, .. } => (asked, called),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_is_nothing_that_everybody_who_waits_has_to_ask_for() {
    let mut log = Log::new(settings(1));
    let announced = |log: &mut Log| log.state.view().rooms[&room()].announced();
    assert_eq!(order(&mut log, Change::Override(Overrides::default())), Changed::Taken);
    let before = announced(&mut log);
    log.join(200);
    for _ in 0..MAX_ORDERS - 1 {
        assert_eq!(order(&mut log, Change::Call(call(1, true))), Changed::Taken);
        assert_eq!(announced(&mut log), before);
    }
    let after: Vec<u64> = (0..3)
        .map(|_| {
            assert_eq!(order(&mut log, Change::Call(call(1, true))), Changed::Taken);
            announced(&mut log)
        })
        .collect();
    assert_eq!(after, [0, 0, 0], "once more at most, whoever calls and how often");
    assert_eq!(order(&mut log, Change::Override(Overrides::default())), Changed::Taken);
    let view = log.state.view();
    assert_eq!(announced(&mut log), view.rooms[&room()].revision);
}

#[test]
fn an_operator_calls_above_the_rate_and_not_above_the_capacity() {
    let mut log = Log::new(Settings {
        rate_per_minute: Some(0),
        ..settings(4)
    });
    let people = log.join(10);
    assert_eq!(log.figures().calls, 0);
    assert_eq!(order(&mut log, Change::Call(call(3, false))), Changed::Taken);
    assert_eq!(called(&mut log), (3, 3));
    assert!(people[..3].iter().all(|person| log.is_called(*person)));
    assert_eq!(order(&mut log, Change::Call(call(3, false))), Changed::Taken);
    assert_eq!((called(&mut log), log.figures().called), ((3, 1), 4));
}

#[test]
fn what_is_called_beyond_the_capacity_only_shrinks() {
    let mut log = Log::new(settings(2));
    let people = log.join(10);
    assert_eq!(order(&mut log, Change::Call(call(4, true))), Changed::Taken);
    assert_eq!((called(&mut log), log.figures().called), ((4, 4), 6));
    for person in &people[..6] {
        log.claim(*person, true);
        log.leave(*person);
        let figures = log.figures();
        assert!(figures.called + figures.inside <= 6);
    }
    // The seventh was called when the fifth of six had left: with two slots.
    assert_eq!((log.figures().called, log.figures().calls), (2, 8));
}

#[test]
fn a_call_takes_no_more_than_wait_and_leaves_the_rate_alone() {
    let mut log = Log::new(Settings {
        rate_per_minute: Some(60),
        ..settings(50)
    });
    log.join(4);
    log.pass(5_000);
    let before = log.figures().calls;
    assert_eq!(order(&mut log, Change::Call(call(20, true))), Changed::Taken);
    assert_eq!(u64::from(called(&mut log).1), 4 - before);
    log.join(1);
    log.pass(1_100);
    assert_eq!(log.figures().calls, 5, "the rate goes on");
}

#[test]
fn a_call_reaches_those_who_are_held_and_nobody_of_a_closed_room() {
    let mut log = Log::new(settings(5));
    let mode = |mode| {
        Change::Override(Overrides {
            mode: Some(mode),
            ..Overrides::default()
        })
    };
    order(&mut log, mode(Mode::Hold));
    let held = log.join(3);
    assert_eq!(order(&mut log, Change::Call(call(1, false))), Changed::Taken);
    assert!(log.is_called(held[0]) && !log.is_called(held[1]));
    for shut in [Mode::Closed, Mode::Off] {
        order(&mut log, mode(shut));
        assert_eq!(order(&mut log, Change::Call(call(1, false))), Changed::Refused);
    }
}

#[test]
fn nobody_is_called_before_the_opening() {
    let mut log = Log::new(Settings {
        draw: None,
        ..drawing(1, None)
    });
    until(&mut log, 10_000);
    let people = log.join(3);
    for beyond in [false, true] {
        assert_eq!(order(&mut log, Change::Call(call(1, beyond))), Changed::Refused);
    }
    assert_eq!(log.figures().calls, 0);
    until(&mut log, 29_000);
    for person in &people {
        log.mark(*person);
    }
    until(&mut log, 30_000);
    assert_eq!(order(&mut log, Change::Call(call(1, true))), Changed::Taken);
    assert_eq!((called(&mut log), log.figures().calls), ((1, 1), 2));
}

#[test]
fn nobody_is_called_out_of_an_order_that_is_not_drawn_yet() {
    let mut log = Log::new(drawing(1, Some("stars")));
    until(&mut log, 10_000);
    assert_eq!(says(&mut log, promise(1, Some("stars"))), Changed::Taken);
    let people = log.join(3);
    until(&mut log, 29_000);
    for person in &people {
        log.mark(*person);
    }
    until(&mut log, 31_000);
    let view = log.state.view();
    let waits = &view.rooms[&room()];
    assert!(waits.is_undrawn() && waits.stage.is_some_and(|stage| stage.phase == Phase::Open));
    assert_eq!(order(&mut log, Change::Call(call(1, true))), Changed::Refused);
    assert_eq!(log.figures().calls, 0);
    assert_eq!(says(&mut log, reveal(1, SECRET, Some(VALUE))), Changed::Taken);
    assert_eq!(order(&mut log, Change::Call(call(1, true))), Changed::Taken);
}

#[test]
fn a_call_of_one_lane_passes_the_others_over() {
    let mut log = Log::new(Settings {
        lane_weights: vec![1, 1],
        rate_per_minute: Some(0),
        ..settings(9)
    });
    log.say(Section {
        joins: vec![(LANE, 5), (LaneId(1), 5)],
        ..only()
    });
    let of_lane = |lane| CallOrder {
        lane: Some(LaneId(lane)),
        ..call(3, false)
    };
    assert_eq!(order(&mut log, Change::Call(of_lane(1))), Changed::Taken);
    assert_eq!(called(&mut log), (3, 3));
    let view = log.state.view();
    let line = view.rooms[&room()].line(&LineName::ONLY).unwrap().clone();
    let first = |lane| {
        line.frame(LaneId(lane))
            .bits
            .first()
            .copied()
            .unwrap_or_default()
            .count_ones()
    };
    assert_eq!((first(0), first(1)), (5, 2));
    assert_eq!(order(&mut log, Change::Call(of_lane(2))), Changed::Refused);
}

#[test]
fn calls_of_nobody_too_many_or_no_line_are_refused() {
    let mut log = Log::new(settings(1));
    log.join(3);
    let elsewhere = CallOrder {
        line: LineName::new("elsewhere").unwrap(),
        ..call(1, false)
    };
    for wrong in [call(0, false), call(10_001, true), elsewhere] {
        assert_eq!(order(&mut log, Change::Call(wrong)), Changed::Refused);
    }
    assert_eq!(log.figures().calls, 1);
}

#[test]
fn who_when_before_and_after_are_noted_and_come_back_with_a_snapshot() {
    let mut log = Log::new(settings(5));
    let lowered = Overrides {
        capacity: Some(3),
        messages: BTreeMap::from([("ko".to_owned(), "잠시만요".to_owned())]),
        ..Overrides::default()
    };
    order(&mut log, Change::Override(lowered));
    let noted = newest(&mut log);
    let korean = Setting::Message("ko".to_owned(), None, Some("잠시만요".to_owned()));
    assert_eq!(noted.deed, Deed::Set(vec![Setting::Capacity(5, 3), korean]));
    assert_eq!(noted.who, Some(anna()));
    assert_eq!(Some(noted.at), log.state.time());
    order(&mut log, Change::Reset);
    let (before, after) = (Edition(0), Edition(1));
    assert_eq!(newest(&mut log).deed, Deed::Reset { before, after });
    said(&mut log, Change::Configure(settings(9)), None);
    assert_eq!(
        newest(&mut log).deed,
        Deed::Reset { before, after },
        "the override stands over the file"
    );
    let slow = Settings {
        rate_per_minute: Some(7),
        ..settings(9)
    };
    said(&mut log, Change::Configure(slow), None);
    assert_eq!(newest(&mut log).deed, Deed::Set(vec![Setting::Rate(None, Some(7))]));
    assert_eq!(newest(&mut log).who, None);
    let mut again = State::decode(&log.state.encode()).unwrap();
    assert_eq!(
        again.view().rooms[&room()].orders,
        log.state.view().rooms[&room()].orders
    );
}

#[test]
fn a_long_text_that_differs_only_behind_what_is_kept_is_a_change() {
    let mut log = Log::new(settings(1));
    for end in ["two", "three"] {
        let text = format!("{}{end}", "x".repeat(200));
        let told = Overrides {
            messages: BTreeMap::from([("en".to_owned(), text)]),
            ..Overrides::default()
        };
        assert_eq!(order(&mut log, Change::Override(told)), Changed::Taken);
    }
    let kept = || Some("x".repeat(120));
    let message = Setting::Message("en".to_owned(), kept(), kept());
    assert_eq!(newest(&mut log).deed, Deed::Set(vec![message]));
}

#[test]
fn texts_beyond_their_length_are_refused_whole() {
    let mut log = Log::new(settings(1));
    let with = |messages: Vec<(String, String)>| {
        Change::Override(Overrides {
            messages: messages.into_iter().collect(),
            ..Overrides::default()
        })
    };
    let many = (0..17).map(|i| (format!("x{i}"), "text".to_owned())).collect();
    for wrong in [
        vec![("en".to_owned(), "x".repeat(1_001))],
        vec![("x".repeat(36), "text".to_owned())],
        vec![(String::new(), "text".to_owned())],
        many,
    ] {
        assert_eq!(order(&mut log, with(wrong)), Changed::Refused);
    }
    assert_eq!(
        order(&mut log, with(vec![("en".to_owned(), "x".repeat(1_000))])),
        Changed::Taken
    );
}
