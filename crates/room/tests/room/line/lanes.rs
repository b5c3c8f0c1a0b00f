//! Several lanes: how they share the calls, what each visitor is shown, and the effects of a changed configuration.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use ropeline_room::{
    CallId, Change, Claim, LaneId, LineName, NamedLane, Number, Section, Settings, Standing, State, Visitor,
};

use ropeline_room::testing::log::{Log, numbers, only, room, settings};

const REST: LaneId = LaneId(0);
const VIP: LaneId = LaneId(1);

fn lanes(of: &[(&str, u16)], capacity: u32) -> Settings {
    Settings {
        lane_weights: of.iter().map(|(_, weight)| *weight).collect(),
        lanes: of.iter().map(|(name, _)| NamedLane::new(name)).collect(),
        ..settings(capacity)
    }
}

fn joined(log: &mut Log, lane: LaneId, count: u32) -> Vec<Number> {
    let effects = log.say(Section {
        joins: vec![(lane, count)],
        ..only()
    });
    numbers(effects.joined[0].first, count)
}

fn stands(log: &mut Log, lane: LaneId, number: Number) -> Standing {
    let view = log.state.view();
    let visitor = Visitor {
        room: room(),
        line: LineName::ONLY,
        lane,
        number,
        rehearsal: None,
    };
    view.standing(&visitor, view.clock)
}

fn waiting(log: &mut Log, lane: LaneId) -> u64 {
    log.state.view().rooms[&room()].lines[&LineName::ONLY].waiting(lane)
}

fn called(log: &mut Log, lane: LaneId) -> u64 {
    let view = log.state.view();
    let mut figures = view.rooms[&room()].lines[&LineName::ONLY].lane_figures();
    figures.nth(usize::from(lane.0)).map_or(0, |lane| lane.called)
}

/// The slot of a missed turn goes by the lanes' turns, also when a visitor has come back.
#[test]
fn who_is_back_just_after_the_deadline_is_the_next_of_the_lane() {
    let mut log = Log::new(lanes(&[("rest", 1), ("vip", 1)], 1));
    let rest = joined(&mut log, REST, 2);
    let vip = joined(&mut log, VIP, 1)[0];
    assert!(matches!(stands(&mut log, REST, rest[0]), Standing::Called(_)));
    log.pass(11_000);
    let back = Section {
        marks: vec![(REST, rest[0]), (REST, rest[1]), (VIP, vip)],
        ..only()
    };
    assert_eq!(log.say(back).skipped, 0);
    log.pass(1_000);
    assert!(
        matches!(stands(&mut log, VIP, vip), Standing::Called(_)),
        "its lane's turn"
    );
    assert!(matches!(stands(&mut log, REST, rest[0]), Standing::Waiting(w) if w.present && w.ahead == 0));
    assert!(matches!(stands(&mut log, REST, rest[1]), Standing::Waiting(w) if w.ahead == 1));
}

/// Every called visitor comes and leaves at once, so that as many are called in the next entry.
fn served(log: &mut Log) -> Vec<CallId> {
    let view = log.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    let seated = line.seated_since(None);
    let called = |id: &CallId| matches!(line.standing(id.lane, id.number, view.clock), Standing::Called(_));
    let seated: Vec<CallId> = seated.into_iter().filter(called).collect();
    let claim = |id: &CallId| Claim {
        lane: id.lane,
        number: id.number,
        carried: true,
    };
    log.say(Section {
        claims: seated.iter().map(claim).collect(),
        ..only()
    });
    log.say(Section {
        leaves: seated.iter().map(|id| (id.lane, id.number)).collect(),
        ..only()
    });
    seated
}

#[test]
fn three_to_one_gives_three_hundred_to_one_hundred_of_any_four_hundred_calls() {
    let mut log = Log::new(lanes(&[("rest", 3), ("vip", 1)], 1));
    joined(&mut log, REST, 1_500);
    joined(&mut log, VIP, 500);
    let mut calls = Vec::new();
    while calls.len() < 1_600 {
        let seated = served(&mut log);
        assert_eq!(seated.len(), 1, "one slot");
        assert!(waiting(&mut log, REST) > 0 && waiting(&mut log, VIP) > 0);
        calls.extend(seated.iter().map(|id| id.lane));
    }
    for window in calls.windows(400) {
        let rest = window.iter().filter(|lane| **lane == REST).count();
        assert!((299..=301).contains(&rest), "{rest}");
    }
}

#[test]
fn a_lane_that_weighs_one_beside_the_heaviest_is_called_within_its_turn() {
    let mut log = Log::new(lanes(&[("rest", u16::MAX), ("vip", 1)], 1_000));
    joined(&mut log, REST, 70_000);
    let [first, second] = joined(&mut log, VIP, 2)[..] else {
        panic!("two")
    };
    let mut calls = 0;
    while !matches!(stands(&mut log, VIP, first), Standing::Called(_)) {
        assert!(calls < usize::from(u16::MAX), "starved");
        calls += served(&mut log).len();
    }
    assert!(
        calls + 1_000 > usize::from(u16::MAX),
        "{calls}: sooner than by its weight"
    );
    assert!(matches!(stands(&mut log, VIP, second), Standing::Waiting(waiting) if waiting.ahead == 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// For any weights and any arrivals meanwhile: the other visitors of the lane who are called before a visitor are as many
    /// as that visitor was shown.
    #[test]
    fn whoever_is_shown_ahead_is_called_before_and_nobody_else_of_the_lane(
        weights in vec(1..9_u16, 2..5), arrivals in vec((0..5_u8, 1..6_u32), 10..60), capacity in 1..5_u32,
    ) {
        let names = ["a", "b", "c", "d"];
        let named: Vec<_> = names.into_iter().zip(weights.iter().copied()).collect();
        let mut log = Log::new(lanes(&named, capacity));
        let count = u8::try_from(weights.len()).unwrap();
        let (mut before, mut shown) = (BTreeMap::<LaneId, u64>::new(), BTreeMap::new());
        for (lane, arrived) in arrivals {
            let lane = LaneId(lane % count);
            for number in joined(&mut log, lane, arrived) {
                if let Standing::Waiting(waiting) = stands(&mut log, lane, number) {
                    let called = before.get(&lane).copied().unwrap_or(0) + called(&mut log, lane);
                    shown.insert((lane, number), waiting.ahead + called);
                }
            }
            for id in served(&mut log) {
                if let Some(expected) = shown.remove(&(id.lane, id.number)) {
                    prop_assert_eq!(before.get(&id.lane).copied().unwrap_or(0), expected);
                }
                *before.entry(id.lane).or_default() += 1;
            }
        }
        let again = State::decode(&log.state.encode()).unwrap();
        prop_assert_eq!(again.hash(), log.state.hash());
    }
}

#[test]
fn an_estimate_holds_while_others_keep_coming_into_a_lane_that_is_called_sooner() {
    let mut log = Log::new(Settings {
        rate_per_minute: Some(60),
        ..lanes(&[("rest", 1), ("vip", 3)], 10_000)
    });
    let people = joined(&mut log, REST, 200);
    let mark = |log: &mut Log| {
        log.say(Section {
            marks: people.iter().map(|number| (REST, *number)).collect(),
            ..only()
        });
    };
    // One every other second goes straight in before all waiting visitors.
    let second = |log: &mut Log, at: u32| {
        if at.is_multiple_of(2) {
            joined(log, VIP, 1);
        }
        if at.is_multiple_of(10) {
            mark(log);
        }
        served(log);
        log.pass(1_000);
    };
    (0..90).for_each(|at| second(&mut log, at));
    let last = people[120];
    let Standing::Waiting(place) = stands(&mut log, REST, last) else {
        panic!("waits")
    };
    let view = log.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    let estimate = line.estimate(REST, place.ahead, view.clock).unwrap();
    let mut waited = 0;
    while matches!(stands(&mut log, REST, last), Standing::Waiting(_)) {
        second(&mut log, waited);
        waited += 1;
    }
    assert!(
        (estimate.low_secs..=estimate.high_secs).contains(&waited),
        "{waited} {estimate:?}"
    );
    assert!(
        estimate.high_secs < 4 * estimate.low_secs,
        "no wider than it need be: {estimate:?}"
    );
}

#[test]
fn figures_of_each_lane_say_who_waits_is_called_and_inside_and_what_was_called() {
    let mut log = Log::new(lanes(&[("rest", 3), ("vip", 1)], 4));
    joined(&mut log, REST, 6);
    joined(&mut log, VIP, 5);
    served(&mut log);
    let view = log.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    let shown: Vec<_> = line
        .lane_figures()
        .map(|lane| {
            (
                lane.name,
                lane.weight,
                lane.waiting,
                lane.called,
                lane.inside,
                lane.calls,
            )
        })
        .collect();
    assert_eq!(shown, [("rest", 3, 0, 2, 0, 6), ("vip", 1, 3, 2, 0, 2)]);
    assert_eq!((line.waiting(REST), line.waiting(VIP)), (0, 3));
    let again = State::decode(&log.state.encode()).unwrap().view();
    let line = &again.rooms[&room()].lines[&LineName::ONLY];
    assert_eq!(line.lane_figures().map(|lane| lane.calls).collect::<Vec<_>>(), [6, 2]);
}

/// Places and names of the lanes of the room, and whether visitors are sent there.
fn table(log: &mut Log) -> Vec<(String, u16, bool)> {
    let settings = &log.state.view().rooms[&room()].settings;
    let named = settings.lanes.iter().zip(&settings.lane_weights);
    named
        .map(|(lane, weight)| (lane.name.clone(), *weight, !lane.out))
        .collect()
}

fn row(name: &str, weight: u16, open: bool) -> (String, u16, bool) {
    (name.to_owned(), weight, open)
}

#[test]
fn a_lane_keeps_its_index_whatever_order_it_is_listed_in() {
    let mut log = Log::new(lanes(&[("rest", 3), ("vip", 1)], 1));
    let [first, vip] = [REST, VIP].map(|lane| joined(&mut log, lane, 2)[1]);
    log.change(Change::Configure(lanes(&[("gold", 9), ("vip", 2), ("rest", 5)], 1)));
    assert_eq!(
        table(&mut log),
        [row("rest", 5, true), row("vip", 2, true), row("gold", 9, true)]
    );
    for (lane, number, ahead) in [(REST, first, 0), (VIP, vip, 1)] {
        assert!(matches!(stands(&mut log, lane, number), Standing::Waiting(place) if place.ahead == ahead));
    }
    let settings = log.state.view().rooms[&room()].settings.clone();
    assert_eq!(settings.lane_of("gold"), Some(LaneId(2)));
    assert!(settings.agrees(&lanes(&[("vip", 2), ("rest", 5), ("gold", 9)], 1)));
    assert!(!settings.agrees(&lanes(&[("vip", 2), ("rest", 5)], 1)));
}

#[test]
fn a_lane_taken_out_goes_on_until_its_visitors_are_gone_and_comes_back_as_it_was() {
    let mut log = Log::new(lanes(&[("rest", 3), ("vip", 1)], 1));
    joined(&mut log, REST, 4);
    let vips = joined(&mut log, VIP, 3);
    log.change(Change::Configure(lanes(&[("rest", 3)], 1)));
    assert_eq!(table(&mut log), [row("rest", 3, true), row("vip", 1, false)]);
    assert_eq!(log.state.view().rooms[&room()].settings.lane_of("vip"), None);
    let mut called = Vec::new();
    for _ in 0..7 {
        called.extend(served(&mut log));
    }
    let of_vip = called.iter().filter(|id| id.lane == VIP).map(|id| id.number);
    assert_eq!(of_vip.collect::<Vec<_>>(), vips);
    // A configuration without lanes has the one called "main".
    log.change(Change::Configure(settings(1)));
    assert_eq!(
        table(&mut log),
        [row("rest", 3, false), row("vip", 1, false), row("main", 1, true)]
    );
    log.change(Change::Configure(lanes(&[("rest", 2), ("vip", 4)], 1)));
    assert_eq!(
        table(&mut log),
        [row("rest", 2, true), row("vip", 4, true), row("main", 1, false)]
    );
}

#[test]
fn a_ninth_name_takes_the_place_of_an_empty_lane_and_whoever_was_away_from_that_is_late() {
    let eight: Vec<(String, u16)> = (0..8).map(|i| (format!("l{i}"), 1)).collect();
    let with = |names: &[&str]| {
        let kept = eight
            .iter()
            .take(8 - names.len())
            .map(|(name, weight)| (name.as_str(), *weight));
        lanes(&kept.chain(names.iter().map(|name| (*name, 1))).collect::<Vec<_>>(), 1)
    };
    let mut log = Log::new(with(&[]));
    joined(&mut log, REST, 1);
    let gone = joined(&mut log, LaneId(6), 1)[0];
    let here = joined(&mut log, LaneId(7), 1)[0];
    // Long enough that only marked visitors are present.
    log.pass(6_000);
    log.say(Section {
        marks: vec![(LaneId(7), here)],
        ..only()
    });
    log.change(Change::Configure(with(&["new", "newer"])));
    let names: Vec<_> = table(&mut log).into_iter().skip(6).collect();
    assert_eq!(names, [row("new", 1, true), row("l7", 1, false)], "nobody waits in l6");
    assert_eq!(stands(&mut log, LaneId(6), gone), Standing::Late);
    assert!(matches!(stands(&mut log, LaneId(7), here), Standing::Waiting(_)));
    let number = joined(&mut log, LaneId(6), 1)[0];
    assert!(number > gone, "a number is never issued twice");
}
