//! A gate's report of its upstream, kept until it can be sent.

use std::collections::BTreeSet;

use super::Collector;
use crate::replica::inbox::Note;
use crate::room::{Report, RoomName};

#[test]
fn reports_that_could_not_be_said_add_up_and_one_of_nothing_is_no_hurry() {
    let mut collector = Collector::default();
    let room = RoomName::new("shop").unwrap();
    let quiet = Report {
        span_ms: 2_000,
        ..Report::default()
    };
    collector.report(vec![(room.clone(), quiet)]);
    assert!(!collector.is_urgent() && !collector.keeps_company() && !collector.is_empty());
    let busy = Report {
        requests: 30,
        ended: 20,
        errors: 1,
        in_flight: 7,
        ..quiet
    };
    collector.report(vec![(room.clone(), busy)]);
    collector.report(vec![(room.clone(), Report { in_flight: 3, ..busy })]);
    assert!(collector.is_urgent() && collector.keeps_company());
    let (batch, _) = collector.cut(|_| 0);
    let all = Report {
        span_ms: 6_000,
        requests: 60,
        ended: 40,
        errors: 2,
        in_flight: 3,
        ..quiet
    };
    assert_eq!(batch.load, [(room, all)]);
    assert!(collector.is_empty());
}

/// This number of rooms, each with a report that must be sent.
fn rooms(count: u32) -> Vec<(RoomName, Report)> {
    let report = Report {
        requests: 1,
        ..Report::default()
    };
    let name = |n| RoomName::new(&format!("room-{n:04}")).unwrap();
    (0..count).map(|n| (name(n), report)).collect()
}

#[test]
fn reports_of_a_thousand_rooms_leave_room_for_visitors_in_every_batch() {
    let mut collector = Collector::default();
    collector.report(rooms(1_000));
    for n in 1..10_000 {
        collector.note(super::tests::noted(0, n, Note::Leave));
    }
    while !collector.is_empty() {
        let (batch, _) = collector.cut(|_| 0);
        assert!(batch.load.is_empty() || batch.load.len() <= 64);
        assert!(
            batch.sections.iter().map(|section| section.leaves.len()).sum::<usize>() > 1_000 || collector.notes == 0
        );
        assert!(batch.load.is_sorted_by(|(one, _), (other, _)| one < other));
    }
}

#[test]
fn where_only_some_of_the_reports_can_be_said_no_room_is_left_out() {
    let mut collector = Collector::default();
    let mut said = BTreeSet::new();
    // As many batches as it takes, each time with new reports of all.
    for _ in 0..5 {
        collector.report(rooms(300));
        let (batch, _) = collector.cut(|_| 0);
        said.extend(batch.load.into_iter().map(|(room, _)| room));
    }
    assert_eq!(said.len(), 300);
}
