//! Forecasts of a line under the hand of a test.

use proptest::prelude::*;

use super::*;
use crate::lane::record::{Call, Record, Session};
use crate::line::rate::Bucket;
use ropeline_ids::{Epoch, Place, Wall};

const DAY_MS: u64 = 24 * 3_600_000;

/// A line under the hand of a test.
pub(super) struct Line {
    pub lanes: Vec<Lane>,
    calls: Vec<u64>,
    settings: Settings,
    pub forecast: Forecast,
    pub now: Clock,
}

/// What happens to a lane before a look.
#[derive(Clone, Copy, Debug)]
struct Round {
    passed_ms: u64,
    join: u32,
    call: u64,
    enter: u64,
    /// Since when sessions have been, and since when not used.
    ages_ms: (u64, u64),
    is_ending: bool,
    leave: u64,
}

impl Line {
    pub fn new(settings: Settings) -> Self {
        let count = settings.lane_weights.len();
        Self {
            lanes: vec![Lane::new(Epoch(1), 0); count],
            calls: vec![0; count],
            settings,
            forecast: Forecast::default(),
            now: Clock(400 * DAY_MS),
        }
    }

    pub fn join(&mut self, at: usize, count: u32) {
        self.lanes[at].issue(count, &self.settings, self.now);
    }

    /// Calls so many; says their places.
    fn call(&mut self, at: usize, count: u64) -> Vec<Place> {
        let call = Call {
            deadline: self.now.plus(self.settings.claim_deadline_ms),
            at: Wall(0),
            count: 1,
            back: false,
        };
        let (settings, now) = (&self.settings, self.now);
        let lane = &mut self.lanes[at];
        let called: Vec<_> = (0..count).map_while(|_| lane.call(call, settings, now)).collect();
        let id = LaneId(u8::try_from(at).unwrap());
        for (place, call) in &called {
            self.forecast.of(settings, (id, *place)).note_call(call.count);
            self.forecast.of(settings, (id, *place)).note_claim(call, now);
        }
        self.calls[at] += count;
        called.into_iter().map(|(place, _)| place).collect()
    }

    /// A session that began and was used last so long ago.
    fn session(&self, (since_ms, used_ms): (u64, u64)) -> Session {
        let since = Clock(self.now.0 - since_ms.min(self.settings.session_max_ms));
        let renewed = Clock(self.now.0 - used_ms.min(self.settings.hold_ms())).max(since);
        Session::of_test(since, renewed, &self.settings)
    }

    fn happens(&mut self, at: usize, round: Round) {
        self.join(at, round.join);
        let places = self.call(at, round.call);
        for place in places.into_iter().take(usize::try_from(round.enter).unwrap()) {
            let session = self.session(round.ages_ms);
            let visitor = (LaneId(u8::try_from(at).unwrap()), place);
            self.forecast.of(&self.settings, visitor).note_use(&session, self.now);
            if round.is_ending {
                let after_ms = self.settings.session_ms;
                self.forecast
                    .of(&self.settings, visitor)
                    .note_end(&session, after_ms, self.now);
            }
            let ending = round.is_ending;
            let record = Record::Inside(Session { ending, ..session });
            self.lanes[at].slots.put(place, Some(record));
        }
        let next = self.lanes[at].epochs.next();
        let first = Place(next.0 - round.leave.min(u64::from(round.join)));
        self.lanes[at].presence.void(&(first..next));
    }

    pub fn look(&mut self, limit: Limit) {
        let sight = Sight {
            lanes: &self.lanes,
            calls: &self.calls,
            settings: &self.settings,
            limit,
            ticks: Ticks::of(self.bucket(), &self.settings, self.now),
            slots: self.settings.capacity,
            reach: u64::MAX,
            is_open: true,
            now: self.now,
        };
        self.forecast.watch(sight, 1);
    }

    /// A full one, whose steps began long ago.
    fn bucket(&self) -> Bucket {
        Bucket::full(&self.settings, Clock(7_000))
    }

    fn by_rate(&self) -> Limit {
        limit::by_rate(self.bucket(), (&self.settings, 10_000), Losses::default(), self.now)
    }
}

/// Whether waits rise with those ahead, and each lies in its interval.
fn rises(curve: &Curve, lane: usize, calls: u64, now: Clock) -> bool {
    let aheads = (0..200).map(|ahead| ahead * ahead / 8).chain([u64::MAX]);
    let waits: Vec<_> = aheads
        .map(|ahead| (ahead, curve.wait(lane, (ahead, calls), now).unwrap()))
        .collect();
    let holds = |(ahead, wait): &(u64, curve::Wait)| {
        let (low, high) = curve.interval(*wait, ahead.saturating_add(1), now);
        let longer = curve.errors.factors(wait.likely).longer;
        let scaled = curve::Wait {
            likely: wait.likely * longer / errors::WHOLE,
            ..*wait
        };
        let likely = curve.likely(scaled, now);
        low <= likely && likely <= high
    };
    waits.is_sorted_by_key(|(_, wait)| wait.likely)
        && waits.is_sorted_by_key(|(_, wait)| wait.fast)
        && waits.is_sorted_by_key(|(_, wait)| wait.slow)
        && waits.iter().all(holds)
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let ms = || prop::sample::select(vec![1, 10, 1_000, 90_000, 300_000, 7_200_000, DAY_MS, 366 * DAY_MS]);
    let weights = prop::collection::vec(prop::sample::select(vec![1_u16, 3, u16::MAX]), 1..=3);
    let capacity = prop::sample::select(vec![0, 1, 20, 1_000, u32::MAX]);
    let rate = prop::option::of(prop::sample::select(vec![0, 1, 60, u32::MAX]));
    (capacity, rate, [ms(), ms(), ms(), ms(), ms()], weights).prop_map(|(capacity, rate, times, lane_weights)| {
        let [session_ms, session_max_ms, claim_deadline_ms, grace_ms, call_every_ms] = times;
        Settings {
            capacity,
            rate_per_minute: rate,
            call_every_ms,
            session_ms,
            session_max_ms,
            claim_deadline_ms,
            grace_ms,
            lane_weights,
            ..Settings::default()
        }
        .bounded()
    })
}

fn any_round() -> impl Strategy<Value = Round> {
    let ms = || prop::sample::select(vec![0, 1, 1_000, 10_000, 60_000, 3_600_000, DAY_MS, 366 * DAY_MS]);
    let counts = (
        prop::sample::select(vec![0, 1, 50, 3_000_000]),
        0..40_u64,
        0..40_u64,
        0..100_u64,
    );
    (ms(), counts, (ms(), ms()), any::<bool>()).prop_map(|(passed_ms, counts, ages_ms, is_ending)| {
        let (join, call, enter, leave) = counts;
        Round {
            passed_ms,
            join,
            call,
            enter,
            ages_ms,
            is_ending,
            leave,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_settings_and_records_there_are_waits_rise_with_those_ahead(
        settings in any_settings(),
        other in any_settings(),
        rounds in prop::collection::vec(any_round(), 1..8),
    ) {
        let mut line = Line::new(settings);
        let count = line.lanes.len();
        for (at, round) in rounds.iter().enumerate() {
            line.now = line.now.plus(round.passed_ms);
            if at == 5 {
                let lane_weights = line.settings.lane_weights.clone();
                line.settings = Settings { lane_weights, ..other.clone() };
            }
            line.happens(at % count, *round);
            line.look(line.by_rate());
            prop_assert!(line.forecast.bytes() <= size::most(count));
            let Some(curve) = line.forecast.curve().cloned() else { continue };
            for (lane, calls) in line.calls.iter().enumerate() {
                prop_assert!(rises(&curve, lane, *calls, line.now));
                prop_assert!(rises(&curve, lane, u64::MAX, line.now.plus(DAY_MS)));
            }
        }
    }
}

#[test]
fn without_visitors_who_wait_there_is_no_forecast() {
    let mut line = Line::new(Settings::default());
    line.look([None; 3]);
    assert!(line.forecast.curve().is_none());
    line.join(0, 5);
    line.now = line.now.plus(10_000);
    line.look([None; 3]);
    assert!(line.forecast.curve().is_some());
    line.call(0, 5);
    line.now = line.now.plus(10_000);
    line.look([None; 3]);
    assert!(line.forecast.curve().is_none());
}

#[test]
fn the_first_who_waits_is_told_at_once() {
    let mut line = Line::new(Settings::default());
    let limit = line.by_rate();
    line.look(limit);
    assert!(line.forecast.curve().is_none());
    line.join(0, 1);
    line.look(limit);
    assert!(line.forecast.curve().is_some());
}

#[test]
fn a_forecast_holds_for_a_step() {
    let mut line = Line::new(Settings::default());
    line.join(0, 5);
    line.look([None; 3]);
    let (step_ms, start) = (line.forecast.curve().unwrap().step_ms, line.now);
    line.now = start.plus(step_ms - 1);
    line.look([None; 3]);
    assert_eq!(line.forecast.curve().unwrap().at, start);
    line.now = start.plus(step_ms);
    line.look([None; 3]);
    assert_eq!(line.forecast.curve().unwrap().at, line.now);
}

#[test]
fn a_change_of_the_times_begins_what_is_learnt_anew() {
    let mut line = Line::new(Settings::default());
    line.join(0, 5);
    line.call(0, 1);
    let times = line.forecast.stays(&line.settings).times();
    let before = line.forecast.stays(&line.settings).clone();
    assert_ne!(before, Kinds::new(times));
    assert_eq!(*line.forecast.stays(&line.settings), before);
    line.settings.session_ms *= 2;
    let times = Times::of(&line.settings);
    assert_eq!(*line.forecast.stays(&line.settings), Kinds::new(times));
}

#[test]
fn a_stopped_line_has_no_end_of_its_wait() {
    let mut line = Line::new(Settings::default());
    line.join(0, 5);
    line.look([Some(flow::Tokens::default()); 3]);
    let wait = line.forecast.curve().unwrap().wait(0, (0, 0), line.now).unwrap();
    assert!(wait.likely > 7 * DAY_MS, "{wait:?}");
}

#[test]
fn a_newcomer_to_an_empty_lane_waits_a_step() {
    let settings = Settings {
        lane_weights: vec![1, 1],
        ..Settings::default()
    };
    let mut line = Line::new(settings);
    line.join(0, 5);
    line.look([None; 3]);
    let curve = line.forecast.curve().unwrap();
    let wait = curve.wait(1, (0, 0), line.now).unwrap();
    assert_eq!(wait.likely, curve.step_ms);
}

/// A line of so many whose rate is the limit, with calls once a minute.
fn called_by_the_minute(rate: u32, count: u32) -> Line {
    let mut line = Line::new(Settings {
        capacity: 1_000_000,
        rate_per_minute: Some(rate),
        call_every_ms: 60_000,
        ..Settings::default()
    });
    line.join(0, count);
    line
}

/// Looks with no whole token in the bucket.
fn look_without_tokens(line: &mut Line) {
    let step_ms = line.forecast.stays(&line.settings).times().step_ms;
    let bucket = line.bucket().at(&line.settings, line.now);
    let spent = bucket.spend(bucket.tokens(&line.settings));
    line.look(limit::by_rate(
        spent,
        (&line.settings, step_ms),
        Losses::default(),
        line.now,
    ));
}

#[test]
fn with_whole_tokens_a_tick_each_place_is_told_its_tick() {
    for rate in [1, 2, 5, 25] {
        let mut line = called_by_the_minute(rate, 60);
        look_without_tokens(&mut line);
        let last = Ticks::of(line.bucket(), &line.settings, line.now).unwrap().last;
        let curve = line.forecast.curve().unwrap();
        for ahead in 0..6 {
            let tick = 60_000 * (1 + ahead / u64::from(rate)) - line.now.since(last);
            let wait = curve.wait(0, (ahead, 0), line.now).unwrap();
            let (low, high) = curve.interval(wait, ahead + 1, line.now);
            assert!((low..=high).contains(&tick), "{rate} {ahead}: {low} {tick} {high}");
            assert_eq!(curve.likely(wait, line.now), tick, "{rate} {ahead}");
        }
    }
}

#[test]
fn calls_that_come_with_their_tick_are_not_late() {
    let mut line = called_by_the_minute(60, 10_000);
    let tick = |line: &Line| Ticks::of(line.bucket(), &line.settings, line.now).unwrap().last;
    let begun = line.now;
    let mut last = tick(&line);
    while line.now.since(begun) < 3_600_000 {
        line.now = line.now.plus(1_000);
        if std::mem::replace(&mut last, tick(&line)) != tick(&line) {
            line.call(0, 60);
        }
        look_without_tokens(&mut line);
    }
    let spans = line.forecast.errors.spans;
    for wait_ms in [30_000, 90_000, 200_000, 400_000] {
        let longer = spans.factors(wait_ms).longer;
        assert!(
            longer.abs_diff(errors::WHOLE) <= errors::WHOLE / 32,
            "{wait_ms}: {longer}"
        );
    }
}

#[test]
fn a_lane_that_nobody_has_left_makes_departures_of_others_no_less_sure() {
    let slow = |lanes: usize| {
        let mut line = Line::new(Settings {
            lane_weights: vec![1; lanes],
            capacity: 20,
            ..Settings::default()
        });
        line.join(0, 5_000);
        for look in 1..=40 {
            line.now = line.now.plus(5_000);
            line.look([None; 3]);
            let next = line.lanes[0].epochs.next().0;
            line.lanes[0]
                .presence
                .void(&(Place(next - look * 20)..Place(next - (look - 1) * 20)));
        }
        let curve = line.forecast.curve().unwrap();
        curve.wait(0, (3_000, 0), line.now).unwrap().slow
    };
    assert_eq!(slow(2), slow(1));
}

#[test]
fn what_came_of_a_forecast_is_known_with_the_entry_that_calls() {
    let mut line = Line::new(Settings::default());
    line.join(0, 1_000);
    line.look([None; 3]);
    let learnt = |line: &Line| line.forecast.errors.spans;
    let before = learnt(&line);
    line.now = line.now.plus(1);
    line.look([None; 3]);
    assert_eq!(learnt(&line), before);
    line.call(0, 900);
    line.look([None; 3]);
    assert_ne!(learnt(&line), before);
}

#[test]
fn an_operators_change_forgets_open_forecasts() {
    let mut line = Line::new(Settings {
        rate_per_minute: Some(60),
        ..Settings::default()
    });
    line.join(0, 1_000);
    line.look(line.by_rate());
    let open = |line: &Line| line.forecast.errors.clone();
    let noted = open(&line);
    line.now = line.now.plus(10_000);
    line.look(line.by_rate());
    assert_eq!(open(&line), noted);
    line.settings.capacity += 1;
    line.now = line.now.plus(10_000);
    line.look(line.by_rate());
    let mut forgotten = noted.clone();
    forgotten.forget_open();
    assert_ne!(noted, forgotten);
    assert_eq!(open(&line), forgotten);
}
