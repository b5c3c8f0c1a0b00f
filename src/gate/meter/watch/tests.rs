use super::*;
use ropeline_ids::{LaneId, LineName, Number, RoomName};

fn visitor(n: u32) -> Visitor {
    Visitor {
        room: RoomName::new("shop").unwrap(),
        line: LineName::ONLY,
        lane: LaneId(0),
        number: Number {
            epoch: ropeline_ids::Epoch(1),
            n,
        },
        rehearsal: None,
    }
}

#[test]
fn what_is_under_way_is_counted_until_its_answer_or_its_client_is_gone() {
    let meter = Arc::new(RoomMeter::new(u64::MAX));
    let watched: Vec<Watched> = (0..3).filter_map(|n| meter.watch(&visitor(n), true)).collect();
    assert_eq!(meter.take().in_flight, 3);
    let mut watched = watched.into_iter();
    watched.next().unwrap().over(Some(false));
    watched.next().unwrap().over(Some(true));
    drop(watched);
    let report = meter.take();
    assert_eq!((report.in_flight, report.ended, report.errors), (0, 2, 1));
    assert_eq!(report.times.total(), 1, "a failure is no time");
    assert_eq!(meter.take(), Report::default());
}

#[test]
fn whoever_gives_up_late_has_found_the_shop_slow_and_early_says_nothing() {
    for (late_us, ended) in [(0, 1), (u64::MAX, 0)] {
        let meter = Arc::new(RoomMeter::new(late_us));
        drop(meter.watch(&visitor(1), true));
        assert_eq!(meter.take().ended, ended);
    }
}

#[test]
fn a_body_that_its_client_sends_slowly_is_no_slow_shop() {
    let meter = Arc::new(RoomMeter::new(0));
    let watched = meter.watch(&visitor(1), false).unwrap();
    assert_eq!(meter.take().in_flight, 0);
    watched.over(Some(false));
    drop(meter.watch(&visitor(1), false));
    let report = meter.take();
    assert_eq!((report.ended, report.times.total()), (1, 0));
}

#[test]
fn one_session_is_looked_at_a_few_times_in_each_report() {
    let meter = Arc::new(RoomMeter::new(0));
    for _ in 0..2 {
        for _ in 0..100 {
            if let Some(watched) = meter.watch(&visitor(7), true) {
                watched.over(Some(true));
            }
        }
        meter.watch(&visitor(8), true).unwrap().over(Some(false));
        let report = meter.take();
        assert_eq!(
            (report.errors, report.ended),
            (MOST_OF_ONE.into(), u32::from(MOST_OF_ONE) + 1)
        );
    }
}

#[test]
fn what_hangs_weighs_no_more_than_a_few_requests_however_long_it_does() {
    let meter = Arc::new(RoomMeter::new(3_000_000));
    let mut hanging = Vec::new();
    for _ in 0..30 {
        hanging.extend((0..10).filter_map(|_| meter.watch(&visitor(1), true)));
        assert_eq!(meter.take().in_flight, u32::from(MOST_OF_ONE));
    }
    hanging.clear();
    assert_eq!(meter.take().in_flight, 0);
    assert!(meter.watch(&visitor(1), true).is_some());
}

#[test]
fn lines_that_begin_their_numbers_alike_are_all_looked_at() {
    let meter = Arc::new(RoomMeter::new(3_000_000));
    let first_of = |line: u32| Visitor {
        line: LineName::new(&format!("event-{line}")).unwrap(),
        ..visitor(1)
    };
    let looked = (0..500).filter_map(|line| meter.watch(&first_of(line), true)).count();
    assert!(looked > 300, "{looked}");
}

/// Three hundred reports in which thirty visitors are answered well twice and the first few of them meet something four times:
/// how often that was reported.
fn told_where_some_meet(few: u32, late_us: u64, meets: impl Fn(Watched)) -> u64 {
    let (meter, mut told) = (Arc::new(RoomMeter::new(late_us)), 0);
    for _ in 0..300 {
        for n in 0..30 {
            (0..2).for_each(|_| meter.watch(&visitor(few + n), false).unwrap().over(Some(false)));
        }
        for n in 0..few {
            (0..4).for_each(|_| meets(meter.watch(&visitor(n), true).unwrap()));
        }
        let report = meter.take();
        assert_eq!(report.ended, 60 + 4 * few);
        told += u64::from(report.errors) + report.times.total();
    }
    told
}

#[test]
fn a_page_that_fails_is_no_shop_that_fails_however_often_one_or_two_ask_for_it() {
    let fails = |few| told_where_some_meet(few, u64::MAX, |watched| watched.over(Some(true)));
    assert_eq!((fails(1), fails(2), fails(3)), (0, 0, 300 * 12));
}

#[test]
fn a_page_that_takes_too_long_is_no_slow_shop_however_often_one_or_two_ask_for_it() {
    let late = |few| told_where_some_meet(few, 0, |watched| watched.over(Some(false)));
    assert_eq!((late(1), late(2), late(3)), (0, 0, 300 * 12));
    let given_up = |few| told_where_some_meet(few, 0, drop);
    assert_eq!((given_up(1), given_up(2), given_up(3)), (0, 0, 300 * 12));
}

/// A request of each of these visitors that was sent so long ago and has no answer.
fn sent(meter: &Arc<RoomMeter>, visitors: impl Iterator<Item = u32>) -> Vec<Watched> {
    visitors.filter_map(|n| meter.watch(&visitor(n), true)).collect()
}

/// A report as made this many milliseconds from now.
fn take_in(meter: &RoomMeter, ms: u64) -> Report {
    meter.take_at(micros(time::uptime()) + ms * 1_000)
}

#[test]
fn a_request_is_late_once_while_it_is_under_way_or_at_its_end() {
    for ends in [Some(Some(false)), Some(Some(true)), Some(None), None] {
        let meter = Arc::new(RoomMeter::new(1_500_000));
        let watched = meter.watch(&visitor(1), true).unwrap();
        let first = take_in(&meter, 1_000);
        assert_eq!((first.hanging, first.times.total(), first.in_flight), (0, 0, 1));
        for (ms, late) in [(2_000, 1), (4_000, 0), (6_000, 0)] {
            let report = take_in(&meter, ms);
            assert_eq!((report.hanging, report.times.total()), (1, late), "{ends:?} {ms}");
            assert_eq!((report.ended, report.errors), (0, 0));
        }
        match ends {
            Some(failed) => watched.over(failed),
            None => drop(watched),
        }
        let last = take_in(&meter, 8_000);
        assert_eq!(
            (last.hanging, last.times.total(), last.in_flight),
            (0, 0, 0),
            "{ends:?}"
        );
    }
}

#[test]
fn one_visitor_who_hangs_is_believed_only_until_others_have_been_answered_since() {
    let meter = Arc::new(RoomMeter::new(1_500_000));
    let answered = |visitors: std::ops::Range<u32>| {
        for watched in sent(&meter, visitors) {
            watched.over(Some(false));
        }
    };
    answered(10..40);
    let hanging = sent(&meter, 1..2);
    assert_eq!(take_in(&meter, 2_000).hanging, 1, "nobody was answered since");
    answered(10..11);
    assert_eq!(take_in(&meter, 4_000).hanging, 1, "one was");
    answered(11..12);
    for ms in [6_000, 8_000, 60_000] {
        assert_eq!(
            take_in(&meter, ms).hanging,
            0,
            "two were, and say so for as long as it hangs"
        );
    }
    drop(hanging);
}

#[test]
fn three_visitors_who_hang_are_believed_whoever_is_answered_and_however_many_requests_each_has() {
    for (visitors, believed) in [(1..2, 0), (1..3, 0), (1..4, 3), (1..11, 10)] {
        let meter = Arc::new(RoomMeter::new(1_500_000));
        let hanging: Vec<Watched> = (0..4).flat_map(|_| sent(&meter, visitors.clone())).collect();
        for watched in sent(&meter, 100..150) {
            watched.over(Some(false));
        }
        let report = take_in(&meter, 2_000);
        assert_eq!((report.hanging, report.answered), (believed, 50));
        // 50 are read off as answered in time; late ones count where they are believed.
        assert_eq!(report.times.total(), u64::from(4 * believed) + 50);
        drop(hanging);
    }
}

#[test]
fn a_request_that_hangs_is_seen_though_enough_of_its_visitor_were_looked_at() {
    let meter = Arc::new(RoomMeter::new(1_500_000));
    for _ in 0..8 {
        meter.watch(&visitor(1), true).unwrap().over(Some(false));
    }
    let hanging = meter.watch(&visitor(1), true).unwrap();
    let report = take_in(&meter, 2_000);
    assert_eq!((report.hanging, report.in_flight, report.ended), (1, 1, 4));
    assert_eq!(report.times.total(), 5);
    hanging.over(Some(false));
    let report = take_in(&meter, 4_000);
    assert_eq!(
        (report.hanging, report.ended, report.times.total(), report.answered),
        (0, 0, 0, 1)
    );
}
