//! The effects of a promised draw: on the calls once the line is closed, and on the opening.

use ropeline_room::draw::{Fault, Figures};
use ropeline_room::{BreaksDraw, Change, Changed, Forms, Overrides, Phase, Schedule, Settings, Wall, Window};

use crate::draw::{
    SECRET, START, VALUE, crowd, drawing, entry, figures, forms, promise, promise_of, reveal, same_elsewhere, says,
    until, view,
};
use ropeline_room::testing::log::{Log, room};

#[test]
fn a_room_may_be_called_in_order_of_arrival_until_its_line_is_closed_for_the_draw() {
    let fifo = || Settings {
        draw: None,
        ..drawing(1, None)
    };
    let promised = |ms: u64| {
        let mut log = Log::new(drawing(1, Some("round 7")));
        until(&mut log, 10_000);
        log.change(promise(1, Some("round 7")));
        let people = crowd(&mut log, 20);
        until(&mut log, ms);
        log.change(Change::Configure(fifo()));
        same_elsewhere(&mut log);
        (log, people)
    };
    let (mut log, people) = promised(20_000);
    until(&mut log, 31_000);
    assert!(log.is_called(people[0]));
    assert_eq!(entry(&mut log, people[0]), None);

    let (mut log, people) = promised(31_000);
    assert!(!people.iter().any(|person| log.is_called(*person)), "the draw stands");
    assert!(view(&mut log).sale.is_awaited() && view(&mut log).settings.draw.is_some());
    assert_eq!(says(&mut log, reveal(1, SECRET, Some(VALUE))), Changed::Taken);
    let figures = Figures::parse(figures(&mut log).as_bytes()).unwrap();
    let first = figures.order().number(0).unwrap();
    assert!(log.is_called(people[usize::try_from(first).unwrap()]));
    // The next edition may be called in order of arrival.
    log.change(Change::Configure(fifo()));
    assert!(view(&mut log).configured.draw.is_none());
}

#[test]
fn another_opening_takes_another_promise_and_an_early_closing_shows() {
    let moved = |opens: u64| {
        let window = Window {
            opens: Wall(START + opens),
            closes: None,
            results: None,
            begins: Wall(START + 10_000),
        };
        let schedule = Schedule {
            rule: format!("opens {opens}"),
            windows: vec![window],
        };
        Change::Override(Overrides {
            schedule: Some(schedule),
            ..Overrides::default()
        })
    };
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    assert_eq!(says(&mut log, promise(1, None)), Changed::Taken);
    let first = view(&mut log).sale.commitment.clone().unwrap();
    log.change(moved(40_000));
    assert_eq!(
        says(&mut log, promise(1, None)),
        Changed::Refused,
        "for the opening before"
    );
    let later = Forms {
        opens: Wall(START + 40_000),
        ..forms(1)
    };
    assert_eq!(says(&mut log, promise_of(1, None, later)), Changed::Taken);
    let second = view(&mut log).sale.commitment.clone().unwrap();
    assert_ne!(first.hash, second.hash, "everybody can see that it was moved");
    crowd(&mut log, 20);
    // Without a promise for it, because it could not be known.
    let now = log.time - START;
    log.change(moved(now));
    assert!(view(&mut log).sale.is_awaited());
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Taken);
    let figures = Figures::parse(figures(&mut log).as_bytes()).unwrap();
    assert!(
        matches!(figures.faults()[..], [Fault::Early(_)]),
        "{:?}",
        figures.faults()
    );
}

/// [`drawing`], with an opening of its own.
fn opening(at: u64, rule: &str) -> Settings {
    let window = Window {
        begins: Wall(START + 10_000),
        opens: Wall(START + at),
        closes: None,
        results: None,
    };
    Settings {
        schedule: Some(Schedule {
            rule: rule.to_owned(),
            windows: vec![window],
        }),
        ..drawing(1, None)
    }
}

fn forms_at(at: u64) -> Forms {
    Forms {
        begins: Wall(START + 10_000),
        opens: Wall(START + at),
    }
}

/// A gate that starts says what its file holds, which a reload had refused.
#[test]
fn a_gate_that_is_configured_with_an_earlier_opening_than_the_promised_one_opens_nothing() {
    let mut log = Log::new(opening(20_000, "right"));
    until(&mut log, 10_000);
    assert_eq!(says(&mut log, promise_of(1, None, forms_at(20_000))), Changed::Taken);
    let people = crowd(&mut log, 20);
    log.change(Change::Configure(opening(900_000, "later")));
    assert_eq!(says(&mut log, promise_of(1, None, forms_at(900_000))), Changed::Taken);
    until(&mut log, 25_000);
    for person in &people {
        log.mark(*person);
    }
    let settings = opening(20_000, "right");
    assert_eq!(log.state.breaks_draw(&room(), &settings), Some(BreaksDraw::Opening));
    says(&mut log, Change::Configure(settings));
    until(&mut log, 26_000);
    assert_eq!(view(&mut log).stage.map(|stage| stage.phase), Some(Phase::Prequeue));
    assert_eq!(view(&mut log).sale.closed, None);
    assert!(people.iter().all(|person| !log.is_called(*person)));
    // Too soon for another promise.
    let at_once = opening(29_000, "at once");
    assert_eq!(log.state.breaks_draw(&room(), &at_once), Some(BreaksDraw::Opening));
    // One that is to come may be promised yet.
    let soon = opening(31_000, "soon");
    assert_eq!(log.state.breaks_draw(&room(), &soon), None);
    says(&mut log, Change::Configure(soon));
    assert_eq!(says(&mut log, promise_of(1, None, forms_at(31_000))), Changed::Taken);
    until(&mut log, 31_000);
    assert!(view(&mut log).sale.closed.is_some());
    assert_eq!(says(&mut log, reveal(1, SECRET, None)), Changed::Taken);
    log.pass(500);
    assert!(people.iter().any(|person| log.is_called(*person)));
}
