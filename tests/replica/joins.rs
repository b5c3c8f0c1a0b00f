//! Numbers: in order of arrival, each once, and none before it is durable and in the view.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use ropeline::replica::{Arrival, JoinOutcome, Unrecorded};
use ropeline::room::{Change, Settings};
use ropeline::room::{LaneId, LineName, Mode, Overrides, RoomName, Standing};

use crate::gate::{Site, hold, main, number};

#[test]
fn joins_are_numbered_in_order_of_arrival() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let mut last = None;
    for round in 0..20 {
        let numbers: Vec<_> = gate.join_many(100).into_iter().map(number).collect();
        assert!(
            numbers.windows(2).all(|pair| pair[0] < pair[1]),
            "round {round}: {numbers:?}"
        );
        assert!(last < numbers.first().copied(), "round {round}");
        last = numbers.last().copied();
    }
    gate.stop();
}

#[test]
fn each_lane_and_line_counts_for_itself() {
    let mut site = Site::new(0);
    hold(&mut site);
    let gate = site.start();
    let line = |name: &str| LineName::new(name).unwrap();
    let (main, a, b) = (main(), line("a"), line("b"));
    let places = [(&a, 0), (&b, 0), (&a, 1), (&b, 0), (&a, 0)];
    let joins = places.map(|(line, lane)| gate.replica.join(&main, line, LaneId(lane), Arrival::first()));
    let numbers: Vec<_> = gate
        .wait(join_all(joins))
        .into_iter()
        .map(|outcome| number(outcome).n)
        .collect();
    assert_eq!(numbers[4] - numbers[0], 1, "line a, lane 0");
    assert_eq!(numbers[3] - numbers[1], 1, "line b, lane 0");
    assert_eq!(
        (numbers[0], numbers[0]),
        (numbers[1], numbers[2]),
        "lines and lanes start alike"
    );
    gate.stop();
}

#[test]
fn a_number_is_in_the_view_when_the_join_resolves() {
    let gate = Site::new(1).start();
    let first = gate.numbered();
    assert!(
        matches!(gate.standing(first), Standing::Called(_)),
        "{:?}",
        gate.standing(first)
    );
    for ahead in 0..50 {
        let number = gate.numbered();
        assert!(matches!(gate.standing(number), Standing::Waiting(waiting) if waiting.ahead == ahead));
    }
    gate.stop();
}

#[test]
fn a_pending_id_has_one_number_however_often_it_joins() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let id = Arrival::again(ropeline::room::PendingId(*b"twelve bytes"));
    let (main, line) = (main(), LineName::ONLY);
    let at_once = (0..10).map(|_| gate.replica.join(&main, &line, LaneId(0), id.clone()));
    let mut numbers: BTreeSet<_> = gate.wait(join_all(at_once)).into_iter().map(number).collect();
    numbers.insert(number(gate.wait(gate.replica.join(
        &main,
        &line,
        LaneId(0),
        id.clone(),
    ))));
    assert_eq!(numbers.len(), 1, "{numbers:?}");
    assert_eq!(gate.replica.view().rooms[&main].line(&line).unwrap().figures.joins, 1);
    assert_ne!(
        number(gate.join_with(7)),
        *numbers.first().unwrap(),
        "another id is another visitor"
    );
    gate.stop();
}

#[test]
fn nobody_joins_what_is_not_there_or_closed() {
    let mut site = Site::new(1);
    let closed = RoomName::new("closed").unwrap();
    site.rooms.push((
        closed.clone(),
        Settings {
            mode: Mode::Closed,
            ..Settings::default()
        },
    ));
    let gate = site.start();
    let join =
        |room: &RoomName, lane| gate.wait(gate.replica.join(room, &LineName::ONLY, LaneId(lane), Arrival::first()));
    assert_eq!(join(&closed, 0), JoinOutcome::Refused);
    assert_eq!(join(&RoomName::new("nowhere").unwrap(), 0), JoinOutcome::Refused);
    assert_eq!(join(&main(), 2), JoinOutcome::Refused, "there are two lanes");
    assert!(matches!(join(&main(), 1), JoinOutcome::Numbered(..)));
    gate.stop();
}

#[test]
fn a_stampede_is_batched_by_itself() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let before = gate.replica.stats().appends;
    let numbers: BTreeSet<_> = gate.join_many(20_000).into_iter().map(number).collect();
    assert_eq!(numbers.len(), 20_000);
    let batches = gate.replica.stats().appends - before;
    assert!(batches < 2_000, "{batches} batches for 20,000 joins");
    assert_eq!(gate.replica.stats().pending_joins, 0);
    gate.stop();
}

#[test]
fn an_operators_change_answers_with_the_revision_that_the_view_shows() {
    let gate = Site::new(1).start();
    let change = |capacity| {
        let overrides = Overrides {
            capacity: Some(capacity),
            ..Overrides::default()
        };
        gate.wait(gate.replica.change(main(), Change::Override(overrides), None))
            .unwrap()
    };
    let first = change(5);
    let second = change(7);
    assert_eq!(second, first + 1);
    let room = &gate.replica.view().rooms[&main()];
    assert_eq!((room.revision, room.settings.capacity), (second, 7));
    let nowhere = gate.replica.change(
        RoomName::new("nowhere").unwrap(),
        Change::Override(Overrides::default()),
        None,
    );
    assert_eq!(gate.wait(nowhere), Err(Unrecorded::Refused), "a room that is not there");
    gate.stop();
}

#[test]
fn a_number_that_nobody_hears_of_is_given_up_and_holds_no_slot() {
    let gate = Site::new(1).start();
    gate.faults.refuse.store(true, Ordering::Relaxed);
    gate.hangs_up();
    gate.faults.refuse.store(false, Ordering::Relaxed);
    gate.until("the slot that it was called to", |replica| {
        let view = replica.view();
        let figures = view.rooms[&main()].line(&LineName::ONLY).map(|line| line.figures);
        figures.is_some_and(|figures| (figures.joins, figures.left, figures.called) == (1, 1, 0))
    });
    gate.stop();
}
