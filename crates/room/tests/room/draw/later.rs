//! After a draw: sessions that outlast its sale, and calls that were made before it.

use ropeline_room::{Change, Changed, Edition, Overrides, Schedule, Settings, Standing, Wall, Window};

use crate::draw::{SECRET, START, called, crowd, drawing, entry, promise, reveal, says, until, view};
use ropeline_room::testing::log::{Log, settings};

#[test]
fn sessions_of_a_drawn_sale_are_found_after_all_the_sales_that_follow() {
    let long = Settings {
        session_ms: 60_000,
        session_max_ms: 300_000,
        ..drawing(3, None)
    };
    let mut log = Log::new(long);
    until(&mut log, 10_000);
    let mut inside = Vec::new();
    for (edition, begins) in [(1, 10_000), (2, 110_000)] {
        until(&mut log, begins);
        log.change(promise(edition, None));
        let people = crowd(&mut log, 20);
        until(&mut log, begins + 20_000);
        assert_eq!(says(&mut log, reveal(edition, SECRET, None)), Changed::Taken);
        let called = people.into_iter().filter(|person| log.is_called(*person));
        for person in called.take(2).collect::<Vec<_>>() {
            assert!(log.claim(person, true));
            inside.push(person);
        }
        for _ in 0..8 {
            log.pass(9_500);
            for person in &inside {
                assert!(log.renew(*person), "{person:?}");
            }
        }
    }
    until(&mut log, 212_000);
    assert_eq!(view(&mut log).edition, Edition(3));
    assert_eq!(inside.len(), 3, "the third slot is free for the second sale");
    for person in inside {
        assert!(log.is_inside(person), "{person:?}");
        assert!(log.leave(person));
        assert_eq!(log.standing(person), Standing::Ended);
    }
}

/// The line that formed in the prequeue is drawn when its dates are back, by the promise that was made for it.
#[test]
fn a_sale_that_was_moved_by_mistake_over_its_opening_is_drawn_when_it_is_set_back() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let people = crowd(&mut log, 20);
    let tomorrow = Window {
        begins: Wall(START + 900_000),
        opens: Wall(START + 950_000),
        closes: None,
        results: None,
    };
    let schedule = Schedule {
        rule: "tomorrow".to_owned(),
        windows: vec![tomorrow],
    };
    log.change(Change::Override(Overrides {
        schedule: Some(schedule),
        ..Overrides::default()
    }));
    until(&mut log, 31_000);
    for person in &people {
        log.mark(*person);
    }
    assert_eq!(view(&mut log).edition, Edition(1));
    log.change(Change::Override(Overrides::default()));
    log.pass(500);
    assert_eq!(view(&mut log).edition, Edition(1));
    assert!(
        people.iter().all(|person| !log.is_called(*person)),
        "nobody before the order is there"
    );
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Taken);
    log.pass(500);
    let first = people.iter().position(|person| log.is_called(*person));
    assert!(first.is_some_and(|at| entry(&mut log, people[at]) == Some((u32::try_from(at).unwrap() + 1, Some(1)))));
}

/// Time to come back counts from a call in the new order.
#[test]
fn who_was_called_before_the_draw_voids_nobody_in_it() {
    let mut log = Log::new(settings(1));
    let people = log.join(20);
    let before = called(&mut log, &people, 10);
    assert_eq!(before, people[..10]);
    until(&mut log, 11_000);
    log.change(Change::Configure(drawing(1, None)));
    log.change(promise(0, None));
    for person in &people[10..] {
        log.mark(*person);
    }
    until(&mut log, 30_000);
    assert_eq!(says(&mut log, reveal(0, SECRET, None)), Changed::Taken);
    let mut drawn = people[10..].to_vec();
    drawn.sort_by_key(|person| entry(&mut log, *person).unwrap().1);
    let (absent, others) = (drawn[1], [&drawn[..1], &drawn[2..]].concat());
    let first = entry(&mut log, absent).unwrap().1.unwrap();
    assert!(first <= 10, "in front of where the calls had come to: {first}");
    // Beyond `late_window` after those calls, and not after the first of the draw.
    while log.time < START + 85_000 {
        log.pass(5_000);
        for person in &others {
            log.mark(*person);
            log.renew(*person);
            log.claim(*person, true);
        }
    }
    assert!(log.mark(absent), "{:?}", log.standing(absent));
    assert_eq!(log.ahead(absent), Some(0));
}

#[test]
fn an_operator_who_opens_at_once_closes_the_line_for_its_draw() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let people = crowd(&mut log, 20);
    let now = Wall(log.time);
    let opened = Schedule {
        rule: "now".to_owned(),
        windows: vec![Window {
            begins: Wall(START + 10_000),
            opens: now,
            closes: None,
            results: None,
        }],
    };
    log.change(Change::Override(Overrides {
        schedule: Some(opened),
        ..Overrides::default()
    }));
    log.pass(1_000);
    assert!(view(&mut log).sale.is_awaited());
    assert!(!people.iter().any(|person| log.is_called(*person)));
    let late = log.join(1);
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Taken);
    assert_eq!(entry(&mut log, late[0]), None, "came too late for it");
    let mut wanted = people.clone();
    wanted.sort_by_key(|person| entry(&mut log, *person).unwrap().1);
    assert_eq!(called(&mut log, &people, 20), wanted);
}
