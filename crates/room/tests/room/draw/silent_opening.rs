//! Outages of the store over the opening of a draw: gates number the visitors who came before it once the store is back.

use ropeline_room::draw::Figures;
use ropeline_room::{
    Batch, BreaksDraw, Change, Changed, Epoch, Number, Overrides, Phase, Schedule, Settings, Wall, Window,
};

use crate::draw::{
    SECRET, START, called, crowd, drawing, entry, figures, promise, promise_of, reveal, same_elsewhere, says, until,
    view,
};
use ropeline_room::testing::log::{Log, room};

/// Ten people in the prequeue of a promised draw, and the next entry comes so many milliseconds after the opening.
fn silent_for(ms: u64) -> (Log, Vec<Number>) {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    assert_eq!(says(&mut log, promise(1, None)), Changed::Taken);
    let people = crowd(&mut log, 10);
    until(&mut log, 28_000);
    let left = START + 30_000 + ms - log.time;
    log.apply(left, Batch::default());
    (log, people)
}

#[test]
fn who_is_numbered_within_five_seconds_of_a_log_that_was_silent_over_the_opening_is_drawn() {
    let (mut log, mut people) = silent_for(0);
    for _ in 0..2 {
        people.extend(log.join(2));
        log.pass(2_400);
        assert!(
            people.iter().all(|person| !log.is_called(*person)),
            "nobody has an order yet"
        );
        assert_eq!(view(&mut log).sale.closed, None);
        same_elsewhere(&mut log);
        assert_ne!(
            says(&mut log, reveal(1, SECRET, None)),
            Changed::Taken,
            "the line is open"
        );
    }
    assert_eq!(
        log.state.next_turn(),
        Some(Wall(START + 35_000)),
        "gates know when it is closed"
    );
    log.pass(300);
    assert_eq!(view(&mut log).sale.closed.map(|at| at.0), Some(log.time));
    let behind = log.join(1);
    assert_eq!(entry(&mut log, people[13]), Some((14, None)));
    assert_eq!(entry(&mut log, behind[0]), None);
    for person in people.iter().chain(&behind) {
        log.mark(*person);
    }
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Taken);
    let figures = Figures::parse(figures(&mut log).as_bytes()).unwrap();
    assert_eq!((figures.count(), figures.faults()), (14, vec![]));
    people.sort_by_key(|person| entry(&mut log, *person).unwrap().1);
    people.extend(behind);
    assert_eq!(called(&mut log, &people.clone(), 15), people);
}

/// Between two outages one gate alone may have come through.
#[test]
fn another_outage_in_the_five_seconds_begins_them_anew() {
    for (before, silent) in [(500, 1_500), (4_500, 1_200), (500, 60_000)] {
        let (mut log, mut people) = silent_for(2_000);
        log.pass(before);
        log.apply(silent, Batch::default());
        log.pass(1_000);
        people.extend(log.join(1));
        log.pass(3_900);
        assert_eq!(view(&mut log).sale.closed, None, "{before} {silent}");
        log.pass(200);
        assert_eq!(view(&mut log).sale.closed, Some(Wall(log.time)), "{before} {silent}");
        assert_eq!(entry(&mut log, people[10]), Some((11, None)), "{before} {silent}");
    }
}

#[test]
fn a_store_that_flickers_keeps_nobody_waiting_for_ever() {
    let (mut log, people) = silent_for(2_000);
    for _ in 0..11 {
        log.apply(1_100, Batch::default());
        assert_eq!(view(&mut log).sale.closed, None);
        for person in &people {
            log.mark(*person);
        }
    }
    for _ in 0..6 {
        log.apply(1_100, Batch::default());
    }
    assert!(view(&mut log).sale.closed.is_some());
}

#[test]
fn a_line_is_closed_by_the_first_entry_after_an_opening_that_the_log_was_not_silent_over() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    let people = crowd(&mut log, 10);
    until(&mut log, 29_500);
    log.apply(1_000, Batch::default());
    assert_eq!(view(&mut log).sale.closed, Some(Wall(START + 30_500)));
    let behind = log.join(1);
    assert_eq!(entry(&mut log, people[9]), Some((10, None)));
    assert_eq!(entry(&mut log, behind[0]), None);

    // Without waiting visitors gates append little.
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.apply(20_900, Batch::default());
    assert_eq!(view(&mut log).sale.closed, Some(Wall(START + 30_900)));
}

/// Visitors of the last moments have no number yet, but entries are as far apart as the store makes them.
#[test]
fn a_slow_store_has_a_few_answers_more_once() {
    let slow = |lag_us| Batch {
        lag_us,
        ..Batch::default()
    };
    for (lag_us, wait_ms) in [
        (500_000, None),
        (510_000, Some(7_040)),
        (900_000, Some(8_600)),
        (9_000_000, Some(13_000)),
    ] {
        let mut log = Log::new(drawing(1, None));
        until(&mut log, 10_000);
        crowd(&mut log, 10);
        until(&mut log, 29_500);
        log.apply(1_000, slow(lag_us));
        let late = view(&mut log).sale.late.map(|late| late.at.0 - log.time);
        assert_eq!(
            (late, view(&mut log).sale.closed.is_none()),
            (wait_ms, wait_ms.is_some()),
            "{lag_us}"
        );
        for _ in 0..7 {
            log.apply(1_900, slow(lag_us));
        }
        assert!(view(&mut log).sale.closed.is_some(), "{lag_us}");
    }
    // An answer that took as long as an outage says nothing of the store.
    let (mut log, _) = silent_for(1_000);
    log.apply(4_900, slow(60_000_000));
    log.apply(200, slow(60_000_000));
    assert_eq!(view(&mut log).sale.closed, None, "silent again");
}

#[test]
fn a_room_that_does_not_draw_opens_at_once() {
    let mut settings = drawing(1, None);
    settings.draw = None;
    let mut log = Log::new(settings);
    until(&mut log, 10_000);
    let people = crowd(&mut log, 10);
    log.apply(60_000, Batch::default());
    assert!(log.is_called(people[0]));
    assert!(view(&mut log).sale.late.is_none());
}

#[test]
fn visitors_of_a_lost_log_are_waited_for_before_a_late_line_is_closed() {
    let (mut log, mut people) = silent_for(3_000);
    let lost = Number { epoch: Epoch(77), n: 4 };
    assert!(log.mark(lost));
    assert!(
        log.healing().is_some() && !view(&mut log).sale.lost,
        "the line is open still"
    );
    while log.healing().is_some() {
        assert_eq!(view(&mut log).sale.closed, None);
        assert!(
            log.state.next_turn() > Some(Wall(log.time)),
            "gates do not write without end"
        );
        log.pass(500);
        for person in people.iter().chain([&lost]) {
            assert!(!log.is_called(*person));
        }
    }
    log.pass(5_000);
    assert!(view(&mut log).sale.is_awaited());
    people.push(lost);
    for person in people {
        assert!(entry(&mut log, person).is_some(), "{person:?}");
    }
}

#[test]
fn what_is_said_of_a_late_line_before_it_is_closed_counts() {
    let moved = Schedule {
        rule: "later".to_owned(),
        windows: vec![Window {
            begins: Wall(START + 10_000),
            opens: Wall(START + 60_000),
            closes: None,
            results: None,
        }],
    };
    let (mut log, people) = silent_for(2_000);
    let later = Overrides {
        schedule: Some(moved.clone()),
        ..Overrides::default()
    };
    log.change(Change::Override(later));
    for _ in 0..2 {
        let room = view(&mut log);
        assert_eq!(
            (room.sale.late, room.sale.closed),
            (None, None),
            "the opening that is to come closes it"
        );
        assert_eq!(room.stage.map(|stage| stage.phase), Some(Phase::Prequeue));
        log.pass(6_000);
    }
    let forms = ropeline_room::Forms::of(&moved.windows[0]);
    assert_eq!(says(&mut log, promise_of(1, None, forms)), Changed::Taken);
    until(&mut log, 60_500);
    assert!(view(&mut log).sale.is_awaited() && entry(&mut log, people[0]).is_some());

    let (mut log, people) = silent_for(2_000);
    let mut fifo: Settings = drawing(1, None);
    fifo.draw = None;
    assert_eq!(log.state.breaks_draw(&room(), &fifo), Some(BreaksDraw::Due));
    log.change(Change::Configure(fifo));
    log.pass(6_000);
    assert!(
        view(&mut log).sale.is_awaited() && entry(&mut log, people[9]).is_some(),
        "the draw stands"
    );

    let (mut log, _) = silent_for(2_000);
    log.change(Change::Reset);
    let first = log.join(1);
    assert!(
        log.is_called(first[0]),
        "an edition that begins after the opening is called in order of arrival"
    );
    log.pass(6_000);
    assert_eq!(view(&mut log).sale.closed, None);
}
