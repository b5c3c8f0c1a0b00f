//! Draws of histories that the log has lost: what gates that had read them bring back.

use anteroom::room::{Changed, Number, Standing};

use super::draw::{SECRET, called, crowd, drawing, entry, figures, promise, reveal, same_elsewhere, says, until, view};
use super::fork::Fork;
use super::support::Log;

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
    // Whoever was called in the lost history has a pass, and comes in front.
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
    // A gate of the new history may have promised something else meanwhile, but not what it has made of it already.
    until(&mut fork.new, 30_500);
    // The room's revision is ahead of this hand's by now.
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
