//! What a gate reports of its upstream, until it can be said.

use super::Collector;
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
    assert!(!collector.is_urgent() && !collector.is_empty());
    let busy = Report {
        requests: 30,
        ended: 20,
        errors: 1,
        in_flight: 7,
        ..quiet
    };
    collector.report(vec![(room.clone(), busy)]);
    collector.report(vec![(room.clone(), Report { in_flight: 3, ..busy })]);
    assert!(collector.is_urgent());
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
