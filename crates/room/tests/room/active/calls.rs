//! What active slots mean for calls: the reserve, the stock, load control, and calls above the capacity.

use ropeline_room::testing::log::{LANE, Log, active, only};
use ropeline_room::{
    CallOrder, Change, Completion, Controller, Denied, Edition, LineName, Linear, LoadControl, Mode, Number, Outside,
    Section, Settings,
};

use super::{PARKS, fill, held, long, mode};
use crate::codes::bypass;

#[test]
fn calls_leave_slots_for_those_who_may_return_as_soon_as_anybody_is_parked() {
    let mut log = Log::new(active(20, 60));
    let people = fill(&mut log, 40);
    assert_eq!(held(&mut log), (0, 20, 0), "nobody can return yet");
    log.pass(PARKS);
    let figures = log.figures();
    assert_eq!(
        (figures.called, figures.reserve, figures.parked),
        (18, 2, 20),
        "two are a tenth"
    );
    assert!(log.ask(people[0]) && log.is_active(people[0]));
    let figures = log.figures();
    assert_eq!(
        (figures.called, figures.inside),
        (18, 1),
        "and nobody is called in its place"
    );
}

#[test]
fn a_small_room_keeps_no_slot_back() {
    let mut log = Log::new(active(9, 60));
    fill(&mut log, 20);
    log.pass(PARKS);
    assert_eq!((log.figures().called, log.figures().reserve), (9, 0));
}

#[test]
fn a_reserve_that_is_not_needed_shrinks_to_a_slot_and_the_next_is_called() {
    let mut log = Log::new(long(40, 120));
    let people = fill(&mut log, 200);
    log.pass(PARKS);
    assert!(log.figures().reserve >= 2);
    let mut called = log.figures().called;
    for _ in 0..100 {
        for person in &people {
            log.mark(*person);
        }
        log.pass(10_000);
        assert!(log.figures().called >= called);
        called = log.figures().called;
    }
    assert_eq!((log.figures().reserve, called), (1, 39));
}

#[test]
fn a_piece_is_held_for_each_right() {
    let settings = Settings {
        stock: Some(3),
        ..long(1, 9)
    };
    let mut log = Log::new(settings);
    let people = fill(&mut log, 6);
    for person in &people[1..3] {
        log.pass(PARKS);
        assert!(log.claim(*person, true));
    }
    log.pass(PARKS);
    let figures = log.figures();
    assert_eq!(
        (figures.called, figures.parked, figures.unfinished),
        (0, 3, 3),
        "two parked and one more hold all three"
    );
    let buys = Section {
        completions: vec![Completion {
            lane: LANE,
            number: people[0],
            edition: Edition(0),
            after_ms: 0,
            at: None,
            tag: None,
        }],
        ..only()
    };
    assert_eq!(log.say(buys).skipped, 0, "a parked visitor's order is taken");
    assert_eq!((log.figures().completed, log.figures().unfinished), (1, 2));
    assert!(log.leave(people[1]));
    assert_eq!(held(&mut log), (1, 0, 1), "the piece of the one who left");
}

/// Load control that allows three calls a second while the shop has few requests.
fn controlled(log: &mut Log) {
    log.change(Change::Load(Some(Outside {
        requests_per_second: 0,
        p95_ms: None,
        errors_permille: None,
        ttl_ms: 20_000,
    })));
    log.pass(2_500);
}

fn under_control() -> Settings {
    let linear = Linear {
        most: 3,
        least: 0,
        from: 10,
        until: 20,
    };
    Settings {
        load_control: Some(LoadControl::by(Controller::Linear(linear))),
        ..long(6, 60)
    }
}

/// Three are parked, five wait, and nobody is called before the mode is `auto` again.
fn parked_under_control() -> (Log, Vec<Number>) {
    let mut log = Log::new(under_control());
    controlled(&mut log);
    let people = log.join(3);
    log.pass(3_000);
    assert!(people.iter().all(|person| log.claim(*person, true)));
    mode(&mut log, Mode::Hold);
    log.pass(PARKS);
    assert_eq!(held(&mut log), (0, 0, 3));
    log.join(5);
    (log, people)
}

#[test]
fn returns_use_up_what_a_controller_allows() {
    let (mut log, people) = parked_under_control();
    let mut alone = log.fork();
    mode(&mut alone, Mode::Auto);
    assert_eq!(held(&mut alone), (3, 0, 3));
    assert!(log.ask(people[0]) && log.ask(people[1]));
    mode(&mut log, Mode::Auto);
    assert_eq!(held(&mut log), (1, 2, 1), "one is left for a call in this step");
}

#[test]
fn no_controller_refuses_a_return() {
    let (mut log, people) = parked_under_control();
    log.change(Change::Load(None));
    log.pass(9_000);
    mode(&mut log, Mode::Auto);
    log.pass(1_000);
    assert_eq!(log.figures().called, 0, "it allows nothing");
    assert!(people.iter().all(|person| log.ask(*person) && log.is_active(*person)));
}

#[test]
fn neither_codes_nor_an_operator_call_beyond_the_rights() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 9);
    log.change(Change::Call(CallOrder {
        line: LineName::ONLY,
        lane: None,
        count: 9,
        beyond: true,
    }));
    assert_eq!(held(&mut log), (2, 1, 0));
    assert!(log.is_called(people[2]) && !log.is_called(people[3]));
    let mut log = Log::new(Settings {
        bypass_most: 9,
        ..active(1, 2)
    });
    fill(&mut log, 1);
    assert!(log.redeem(bypass(1, 1)).is_ok());
    assert_eq!(log.redeem(bypass(2, 2)), Err(Denied::NotNow));
    assert_eq!(held(&mut log), (1, 1, 0));
}
