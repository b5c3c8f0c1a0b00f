//! Draws of histories that the log has lost, brought back by gates that had read them.

use ropeline_room::{Batch, Change, Changed, Edition, Epoch, Forms, Number, Settings, Standing, State, Wall};

use crate::draw::{
    SECRET, START, called, crowd, drawing, entry, figures, forms, promise, promise_of, reveal, same_elsewhere, says,
    until, view,
};
use crate::recovery::fork::Fork;
use ropeline_room::testing::log::{EPOCH, Log};

/// A sale of which one history has gone on to its draw, and another has stood still in the prequeue.
fn drawn_elsewhere(fork: &mut Fork, people: &mut Vec<Number>) -> Vec<Option<(u32, Option<u32>)>> {
    let old = &mut fork.old;
    people.extend(crowd(old, 10));
    until(old, 30_000);
    for person in &*people {
        old.mark(*person);
    }
    old.change(reveal(1, SECRET, None));
    let places: Vec<_> = people.iter().map(|person| entry(old, *person)).collect();
    assert!(
        places.iter().all(|place| matches!(place, Some((_, Some(_))))),
        "{places:?}"
    );
    places
}

/// The new history has the draw that was made in the old one, and calls by it.
fn has_that_draw(fork: &mut Fork, people: &[Number], places: &[Option<(u32, Option<u32>)>]) {
    let told = figures(&mut fork.old);
    fork.bring();
    let new = &mut fork.new;
    assert_eq!(figures(new), told, "what was published stands");
    let now: Vec<_> = people.iter().map(|person| entry(new, *person)).collect();
    assert_eq!(now, places);
    same_elsewhere(new);
    new.pass(10_000);
    for person in people {
        new.mark(*person);
    }
    let mut wanted: Vec<Number> = people.to_vec();
    wanted.sort_by_key(|person| entry(new, *person).unwrap().1);
    let order: Vec<Number> = called(new, people, people.len());
    assert_eq!(order.len(), people.len());
    // Visitors called in the lost history have a pass, and come in front.
    assert_eq!(order, wanted);
}

#[test]
fn a_draw_that_the_log_has_lost_is_brought_back_as_it_was() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let mut people = crowd(&mut log, 20);
    let mut fork = Fork::of(log);
    let places = drawn_elsewhere(&mut fork, &mut people);
    until(&mut fork.new, 30_500);
    assert!(
        view(&mut fork.new).sale.is_awaited(),
        "it has closed the line for those it knows"
    );
    has_that_draw(&mut fork, &people, &places);
}

#[test]
fn a_draw_outlives_a_store_that_has_lost_everything() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let mut people = crowd(&mut log, 20);
    let mut fork = Fork::of_nothing(log, drawing(1, None));
    let places = drawn_elsewhere(&mut fork, &mut people);
    fork.new.time = fork.old.time;
    has_that_draw(&mut fork, &people, &places);
}

#[test]
fn a_promise_that_the_log_has_lost_is_kept() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    let mut fork = Fork::of(log);
    fork.old.change(promise(1, None));
    crowd(&mut fork.old, 10);
    let told = figures(&mut fork.old);
    fork.new.pass(500);
    fork.bring();
    assert_eq!(figures(&mut fork.new), told);
    // A gate of the new history may have promised something else meanwhile, but not a draw that is made already.
    until(&mut fork.new, 30_500);
    // The room's revision is ahead of this test's count now.
    let taken = (0..5).any(|_| says(&mut fork.new, reveal(1, SECRET, None)) == Changed::Taken);
    assert!(taken);
}

/// By its number, not by where it stands: since the draw these are two things.
#[test]
fn what_became_of_the_drawn_is_brought_back_for_each_of_them() {
    let mut log = Log::new(drawing(2, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let mut people = crowd(&mut log, 20);
    let mut fork = Fork::of(log);
    drawn_elsewhere(&mut fork, &mut people);
    people.sort_by_key(|person| entry(&mut fork.old, *person).unwrap().1);
    let [gone, inside, done, called, left] = [people[0], people[1], people[2], people[3], people[7]];
    let old = &mut fork.old;
    assert!(old.is_called(gone) && old.leave(gone));
    assert!(old.claim(inside, true));
    assert!(old.claim(done, true) && old.leave(done));
    assert!(old.leave(left));
    assert!(old.is_called(called));
    until(&mut fork.new, 30_500);
    fork.bring();
    let new = &mut fork.new;
    same_elsewhere(new);
    assert!(new.is_inside(inside));
    for over in [gone, done, left] {
        assert_eq!(new.standing(over), Standing::Ended, "{over:?}");
    }
    for person in people
        .iter()
        .filter(|person| ![gone, inside, done, left].contains(person))
    {
        assert!(matches!(new.standing(*person), Standing::Waiting(_)), "{person:?}");
    }
    assert_eq!(new.ahead(called), Some(0));
}

/// A log that begins from nothing after the opening of its sale.
fn begun_after_the_opening() -> Log {
    let mut log = Log::bare(State::empty(EPOCH + 100));
    log.time = START + 40_000;
    log.change(Change::Configure(drawing(1, None)));
    log
}

/// Even numbers of the log that all gates have lost.
fn of_the_lost_log(count: u32) -> Vec<Number> {
    let number = |n| Number {
        epoch: Epoch(77),
        n: 2 * n,
    };
    (0..count).map(number).collect()
}

#[test]
fn where_everybody_has_lost_a_draw_those_who_come_back_are_drawn_anew() {
    let mut log = begun_after_the_opening();
    let newcomers = log.join(3);
    assert!(log.is_called(newcomers[0]), "nothing tells of a log before");
    let people = of_the_lost_log(20);
    for person in &people[..10] {
        assert!(log.mark(*person));
    }
    assert!(log.healing().is_some() && view(&mut log).is_undrawn());
    assert!(view(&mut log).sale.lost);
    let mut regained = log.fork();
    regained.change(Change::Edition(Edition(3)));
    same_elsewhere(&mut regained);
    assert!(view(&mut regained).sale.lost, "also where the edition was lost with it");
    // The room has no edition that it lost yet.
    assert_eq!(says(&mut log, promise_of(0, None, forms(1))), Changed::Taken);
    assert_ne!(
        says(&mut log, reveal(0, SECRET, None)),
        Changed::Taken,
        "they still come"
    );
    log.pass(15_000);
    assert!(log.leave(newcomers[0]));
    for person in people[10..].iter().chain(&newcomers[1..]) {
        assert!(log.mark(*person));
    }
    assert_eq!(entry(&mut log, people[0]), None);
    log.pass(5_000);
    let sale = view(&mut log).sale.clone();
    assert!(sale.is_awaited() && !sale.lost, "{sale:?}");
    assert!(log.healing().is_none() && people.iter().all(|person| !log.is_called(*person)));
    assert_eq!(entry(&mut log, people[3]), Some((7, None)), "as it was numbered");
    assert_eq!(entry(&mut log, newcomers[1]), None);
    assert_eq!(says(&mut log, reveal(0, SECRET, None)), Changed::Taken);

    for person in &people {
        log.mark(*person);
    }
    let all: Vec<_> = people.iter().chain(&newcomers[1..]).copied().collect();
    let mut wanted = people.clone();
    wanted.sort_by_key(|person| entry(&mut log, *person).unwrap().1);
    assert_ne!(wanted, people);
    wanted.extend(&newcomers[1..]);
    assert_eq!(called(&mut log, &all, all.len()), wanted);
    same_elsewhere(&mut log);
}

#[test]
fn a_room_that_does_not_draw_calls_those_who_come_back_in_order_of_arrival() {
    let mut log = begun_after_the_opening();
    let mut settings = drawing(1, None);
    settings.draw = None;
    log.change(Change::Configure(settings));
    let people = of_the_lost_log(10);
    for person in people.iter().rev() {
        assert!(log.mark(*person));
    }
    assert!(!view(&mut log).sale.has_no_order());
    log.pass(20_000);
    for person in &people {
        log.mark(*person);
    }
    assert_eq!(called(&mut log, &people, 10), people);
}

/// Neither the gate that brings the promise back nor any other has read the closing.
#[test]
fn a_promise_that_comes_back_after_its_opening_is_drawn_by() {
    brings_a_promise(false);
}

/// The log that was lost had been silent over the opening, and its line was not closed yet.
#[test]
fn a_promise_of_a_line_that_was_to_be_closed_late_is_drawn_by_without_newcomers() {
    brings_a_promise(true);
}

fn brings_a_promise(silent: bool) {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    log.change(promise(1, None));
    let people = crowd(&mut log, 20);
    let told = figures(&mut log);
    if silent {
        log.apply(22_000, Batch::default());
        assert!(view(&mut log).sale.late.is_some());
    }
    let mut new = begun_after_the_opening();
    let newcomers = new.join(2);
    for newcomer in &newcomers {
        assert!(new.leave(*newcomer));
    }
    let mut fork = Fork { old: log, new };
    fork.bring();
    let new = &mut fork.new;
    assert!(view(new).is_undrawn());
    until(new, 41_000);
    assert!(view(new).sale.is_awaited());
    assert_eq!(entry(new, newcomers[1]), None, "came after the opening");
    let published = |figures: &str| {
        let figures: serde_json::Value = serde_json::from_str(figures).unwrap();
        figures["commitment"].clone()
    };
    assert_eq!(published(&figures(new)), published(&told));
    let taken = (0..5).any(|_| says(new, reveal(1, SECRET, None)) == Changed::Taken);
    assert!(taken);
    for person in &people {
        new.mark(*person);
    }
    let mut wanted = people.clone();
    wanted.sort_by_key(|person| entry(new, *person).unwrap().1);
    assert_ne!(wanted, people);
    assert_eq!(called(new, &people, 20), wanted);
}

/// Dates that lead to another opening while visitors come back: that opening closes the line.
#[test]
fn an_opening_that_is_moved_while_visitors_come_back_closes_the_line() {
    let mut log = begun_after_the_opening();
    let people = of_the_lost_log(10);
    for person in &people {
        assert!(log.mark(*person));
    }
    assert!(view(&mut log).sale.lost);
    let mut settings = drawing(1, None);
    let schedule = settings.schedule.as_mut().unwrap();
    schedule.rule = "another rule".to_owned();
    schedule.windows[0].opens.0 += 60_000;
    let opens = schedule.windows[0].opens;
    log.change(Change::Configure(settings));
    let forms = Forms { opens, ..forms(1) };
    assert_eq!(says(&mut log, promise_of(0, None, forms)), Changed::Taken);
    log.pass(30_000);
    assert_eq!(view(&mut log).sale.closed, None);
    let newcomers = log.join(1);
    until(&mut log, 90_500);
    let sale = view(&mut log).sale.clone();
    assert_eq!(sale.closed.map(|at| at >= opens), Some(true));
    assert!(entry(&mut log, newcomers[0]).is_some());
    assert_eq!(says(&mut log, reveal(0, SECRET, None)), Changed::Taken);
    assert!(!view(&mut log).sale.has_no_order());
}

/// Its opening is over: another draw is of another opening.
#[test]
fn a_reset_of_a_line_that_is_closed_for_its_draw_holds_nobody_and_leads_to_another_draw_by_another_opening() {
    let mut log = Log::new(drawing(1, Some("a beacon")));
    until(&mut log, 10_000);
    log.change(promise(1, Some("a beacon")));
    crowd(&mut log, 10);
    until(&mut log, 30_500);
    let mut held = log.fork();
    assert!(view(&mut log).sale.is_awaited());
    log.change(Change::Reset);
    same_elsewhere(&mut log);
    let newcomer = log.join(1)[0];
    log.pass(500);
    same_elsewhere(&mut log);
    assert!(log.is_called(newcomer), "in order of arrival");
    let mut regained = held.fork();
    regained.change(Change::Edition(Edition(7)));
    same_elsewhere(&mut regained);
    regained.join(1);
    regained.pass(500);
    assert_eq!(
        regained.figures().called,
        1,
        "an edition that comes back holds nobody either"
    );

    let mut settings = drawing(1, Some("a beacon"));
    let schedule = settings.schedule.as_mut().unwrap();
    schedule.rule = "another rule".to_owned();
    schedule.windows[0].opens.0 += 60_000;
    let opens = schedule.windows[0].opens;
    held.change(Change::Configure(settings));
    held.change(Change::Reset);
    same_elsewhere(&mut held);
    let forms = Forms { opens, ..forms(1) };
    assert_eq!(says(&mut held, promise_of(2, Some("a beacon"), forms)), Changed::Taken);
    let people = crowd(&mut held, 10);
    assert!(people.iter().all(|person| !held.is_called(*person)));
    until(&mut held, 90_500);
    assert!(view(&mut held).sale.is_awaited());
    assert!(entry(&mut held, people[0]).is_some());
}

/// Neither after a reset, nor where the room was set to draw when its line had formed and opened.
#[test]
fn dates_that_are_moved_in_an_open_sale_draw_nobody_who_stands_in_order_of_arrival() {
    for was_reset in [true, false] {
        let beacon = Some("a beacon");
        let mut settings = drawing(1, beacon);
        let mut log = Log::new(Settings {
            draw: settings.draw.clone().filter(|_| was_reset),
            ..settings.clone()
        });
        until(&mut log, 31_000);
        if was_reset {
            log.change(Change::Reset);
        } else {
            log.change(Change::Configure(settings.clone()));
        }
        let people = log.join(6);
        for closes in [80_000, 70_000, 60_000] {
            let schedule = settings.schedule.as_mut().unwrap();
            schedule.rule = format!("closes at {closes}");
            schedule.windows[0].closes = Some(Wall(START + closes));
            log.change(Change::Configure(settings.clone()));
            log.pass(500);
            same_elsewhere(&mut log);
            assert_eq!(view(&mut log).sale.closed, None, "{was_reset}");
        }
        // It is over, and goes on after all.
        until(&mut log, 61_000);
        let schedule = settings.schedule.as_mut().unwrap();
        schedule.rule = "longer".to_owned();
        schedule.windows[0].closes = Some(Wall(START + 90_000));
        log.change(Change::Configure(settings));
        log.pass(500);
        assert_eq!(view(&mut log).sale.closed, None, "{was_reset}");
        for person in &people {
            log.mark(*person);
        }
        assert_eq!(called(&mut log, &people, 6), people, "{was_reset}");
    }
}
