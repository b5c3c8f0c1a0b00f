//! The forecast of a line: when its calls will reach each waiting visitor.
//!
//! `stays` learns how sessions go on, `queue` learns who leaves, `limit` knows the rate, and `flow` works out the hours to come from
//! that. `errors` learns how far off forecasts were. A `Curve` is what the view keeps. All of it follows from the entries that this
//! replica has applied and from the state's records. It is no part of the state's bytes, since no call depends on it: a gate that
//! begins from a snapshot learns anew, and says wider intervals for a while.

pub(crate) mod ages;
pub(crate) mod crowds;
pub(crate) mod curve;
pub(crate) mod errors;
pub(crate) mod flow;
pub(crate) mod kinds;
pub(crate) mod limit;
pub(crate) mod queue;
#[cfg(test)]
mod size;
mod start;
pub(crate) mod stays;
pub(crate) mod told;

use std::sync::Arc;

use crate::forecast::crowds::Kind;
use crate::forecast::curve::{Curve, LaneCurve, Passing};
use crate::forecast::errors::Errors;
use crate::forecast::flow::{Arrivals, Flow, LaneFlow, Start, Tokens};
use crate::forecast::kinds::{Kinds, OneOf};
use crate::forecast::limit::{Limit, Losses, MeanCalls, Ticks, is_stopped};
use crate::forecast::queue::Queue;
use crate::forecast::start::start;
use crate::forecast::stays::{Chances, Lean, Times};
use crate::forecast::told::{Shares, Told};
use crate::lane::Lane;
use crate::lane::slots::Held;
use crate::settings::{Mode, Settings};
use ropeline_ids::{Clock, LaneId, Place};

/// Waits beyond this are not told, in milliseconds: a week.
pub(crate) const LONGEST_TOLD_MS: u64 = 7 * 24 * 3_600_000;

/// What a line has learnt, and its last forecast.
///
/// Its lists are bounded: it takes at most 56,500 bytes for a line and 20,700 for each of its lanes. With all lists full, one
/// lane took 76,392 bytes and eight 219,128 (`size`). A gate's last two views can each keep an earlier curve, of 9,300 bytes a
/// lane.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    stays: Option<Box<Kinds>>,
    queues: Vec<Queue>,
    pub mean_calls: MeanCalls,
    pub losses: Losses,
    errors: Errors,
    told: Told,
    /// When the line was last looked at.
    watched: Option<Clock>,
    /// Calls until the last entry.
    calls: u64,
    /// What operators set, as of then.
    under: (u32, Option<u32>, Mode, Option<u32>, bool),
    curve: Option<Arc<Curve>>,
}

/// The line as a forecast sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    pub lanes: &'a [Lane],
    /// The calls of each lane so far.
    pub calls: &'a [u64],
    pub settings: &'a Settings,
    pub limit: Limit,
    pub ticks: Option<Ticks>,
    /// Slots that calls may take: without those that are kept for visitors who return.
    pub slots: u32,
    /// So many visitors more can get a piece of the stock.
    pub reach: u64,
    /// Calls are possible, so waits are told.
    pub is_open: bool,
    pub now: Clock,
}

/// The calls of a lane so far; of several lanes without names they are not counted.
pub(crate) fn calls_of(lanes: &[Lane], at: usize, all: u64) -> u64 {
    if lanes.len() < 2 {
        return all;
    }
    lanes.get(at).map_or(0, |lane| lane.pulse.total())
}

impl Sight<'_> {
    /// Visitors wait although slots are free: the rate is the limit, and brings its calls at known times.
    fn is_rated(&self) -> bool {
        let held = self.lanes.iter().map(|lane| lane.slots.held());
        let has_rate = self.settings.rate_per_minute.is_some() && self.settings.load_control.is_none();
        has_rate && held.fold(Held::default(), Held::plus).free(self.slots) > 0
    }
}

impl Forecast {
    /// The last forecast, if visitors wait.
    pub fn curve(&self) -> Option<&Arc<Curve>> {
        self.curve.as_ref()
    }

    /// What came of the intervals that were told.
    pub fn told(&self) -> Shares {
        self.told.shares
    }

    /// What is known of sessions; learnt anew when the settings' times have changed.
    pub fn stays(&mut self, settings: &Settings) -> &mut Kinds {
        let times = Times::of(settings);
        if self.stays.as_ref().is_some_and(|stays| stays.times() != times) {
            self.stays = None;
            self.watched = None;
        }
        self.stays.get_or_insert_with(|| Box::new(Kinds::new(times)))
    }

    /// Learns of the visitor with this place.
    pub fn of(&mut self, settings: &Settings, (lane, place): (LaneId, Place)) -> OneOf<'_> {
        let queue = self.queues.get(usize::from(lane.0));
        let kind = queue.map_or(Kind::Stream, |queue| queue.crowds.kind(place));
        self.stays(settings).of(kind)
    }

    /// Looks at the line, and forecasts anew, once in so many steps. Costs a look at every record, and three runs of a flow.
    pub fn watch(&mut self, sight: Sight, every: u64) {
        let Sight {
            lanes, settings, now, ..
        } = sight;
        let step_ms = self.stays(settings).times().step_ms;
        let passed_ms = self.watched.map(|at| now.since(at));
        let waiting = lanes.iter().any(|lane| lane.presence.waiting() > 0);
        // A step would be too late to know when a place was passed.
        let calls = sight.calls.iter().sum();
        if std::mem::replace(&mut self.calls, calls) != calls {
            self.judge(&sight);
        }
        // The first who waits is told at once: the line may not be touched again soon.
        let first = waiting && self.curve.is_none();
        if !first && passed_ms.is_some_and(|passed| passed < step_ms.saturating_mul(every)) {
            return;
        }
        self.watched = Some(now);
        let passed_ms = passed_ms.unwrap_or(0);
        let grace_steps = settings.grace_ms / step_ms;
        for (at, lane) in lanes.iter().enumerate().skip(self.queues.len()) {
            // With more calls than holders of slots, sessions have ended before this look. So the line is older, and its visitors joined
            // over some time.
            let is_new = sight.calls[at] <= u64::from(lane.slots.held().rights());
            self.queues.push(Queue::new(lane, is_new));
        }
        for (queue, lane) in self.queues.iter_mut().zip(lanes) {
            queue.watch(lane, (step_ms, grace_steps), passed_ms, now);
        }
        self.watch_sessions(&sight, passed_ms);
        self.judge(&sight);
        self.curve = waiting.then(|| Arc::new(self.forecast(&sight)));
        self.note(&sight);
    }

    fn watch_sessions(&mut self, sight: &Sight, passed_ms: u64) {
        let Self { stays, queues, .. } = self;
        let stays = stays.as_mut().expect("asked for before");
        stays.tell_apart(queues.iter().any(|queue| !queue.crowds.is_empty()));
        let records = queues.iter().zip(sight.lanes).flat_map(|(queue, lane)| {
            let of_lane = lane.slots.iter();
            of_lane.map(move |(place, record)| (queue.crowds.kind(place), record))
        });
        stays.watch(records, passed_ms, sight.now);
    }

    /// Learns from earlier forecasts whose outcome is known.
    fn judge(&mut self, sight: &Sight) {
        let settings = sight.settings;
        let under = (
            settings.capacity,
            settings.rate_per_minute,
            settings.mode,
            settings.stock,
            settings.load_control.is_some(),
        );
        // What was forecast before an operator's change says nothing. A controller changes all the time.
        let changed = std::mem::replace(&mut self.under, under) != under;
        if changed {
            self.told.forget_open();
            self.errors.doubt();
        }
        if changed || settings.load_control.is_some() || is_stopped(&sight.limit) {
            self.errors.forget_open();
        }
        self.errors.settle(sight.lanes, sight.now);
        self.told.settle(sight.lanes, sight.now);
    }

    /// Notes some forecasts, to learn from them later.
    fn note(&mut self, sight: &Sight) {
        let Some(curve) = &self.curve else { return };
        let told = |at: usize, ahead: u64| {
            let wait = curve.wait(at, (ahead, sight.calls[at]), sight.now)?;
            Some((wait.likely, curve.interval(wait, ahead + 1, sight.now)))
        };
        if sight.is_open && self.told.is_due(sight.now) {
            let interval = |at: usize, ahead: u64| {
                let is_told = |likely: &u64| ahead < sight.reach && *likely < LONGEST_TOLD_MS;
                told(at, ahead)
                    .filter(|(likely, _)| is_told(likely))
                    .map(|(_, interval)| interval)
            };
            self.told.note(sight.lanes, interval, sight.now);
        }
        if !self.errors.is_due(sight.now) {
            return;
        }
        for (at, lane) in sight.lanes.iter().enumerate() {
            self.errors.note(
                (at, lane),
                |ms| curve.passed_after(at, ms),
                |ahead| told(at, ahead),
                sight.now,
            );
        }
    }

    fn forecast(&self, sight: &Sight) -> Curve {
        let stays = self.stays.as_ref().expect("watched before");
        let step_ms = stays.times().step_ms;
        let kind = |at: usize, place: Place| self.queues[at].crowds.kind(place);
        let [likely, fast, slow] = stays.chances([Lean::Likely, Lean::Fast, Lean::Slow]);
        let start = start(sight, stays.times(), &likely, kind);
        let flows: Vec<LaneFlow> = (0..sight.lanes.len())
            .map(|at| self.lane_flow(at, sight, step_ms))
            .collect();
        let by_slot = if likely.is_sorted_by_key(Chances::slot) {
            [Kind::Stream, Kind::Crowd]
        } else {
            [Kind::Crowd, Kind::Stream]
        };
        let run = |lean: Lean, chances: Vec<Chances>, tokens: Option<Tokens>| {
            let mut flows: Vec<LaneFlow> = flows.iter().map(|flow| flow.leaning(lean, by_slot)).collect();
            let start = Start {
                tokens,
                ..start.clone()
            };
            let doubt = self.queues.iter().map(|queue| queue.doubt(lean)).max().unwrap_or(0);
            Flow::new(start, chances, lean.leaving(doubt)).run(&mut flows);
            let passing = |(flow, lane): (LaneFlow, &Lane)| match lane.presence.waiting() {
                0 => Passing::new(&[]),
                _ => Passing::new(&flow.curve),
            };
            flows.into_iter().zip(sight.lanes).map(passing).collect::<Vec<_>>()
        };
        let limit = sight.limit;
        let runs = run(Lean::Likely, likely, limit[0])
            .into_iter()
            .zip(run(Lean::Fast, fast, limit[1]))
            .zip(run(Lean::Slow, slow, limit[2]));
        let lanes = runs.zip(sight.calls).map(|(((likely, fast), slow), calls)| LaneCurve {
            calls: *calls,
            likely,
            fast,
            slow,
        });
        Curve {
            at: sight.now,
            step_ms,
            lanes: lanes.collect(),
            ticks: sight
                .ticks
                .filter(|_| sight.is_rated() && flows.iter().all(LaneFlow::is_closed)),
            errors: self.errors.spans,
        }
    }

    fn lane_flow(&self, at: usize, sight: &Sight, step_ms: u64) -> LaneFlow {
        let queue = &self.queues[at];
        let weight = sight.settings.lane_weights.get(at).copied().unwrap_or(1);
        let leaves = queue.chances(sight.settings.grace_ms / step_ms);
        // Later arrivals delay only visitors of other lanes.
        let arrivals = if sight.lanes.len() > 1 {
            queue.arrivals(step_ms, sight.now)
        } else {
            Arrivals::default()
        };
        LaneFlow::new(&queue.groups(step_ms, sight.now), leaves, u64::from(weight), arrivals)
    }
}

#[cfg(test)]
mod tests {
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
                ticks: Ticks::of(Bucket::full(&self.settings, self.now), &self.settings, self.now),
                slots: self.settings.capacity,
                reach: u64::MAX,
                is_open: true,
                now: self.now,
            };
            self.forecast.watch(sight, 1);
        }

        fn by_rate(&self) -> Limit {
            let bucket = Bucket::full(&self.settings, self.now);
            limit::by_rate(bucket, (&self.settings, 10_000), Losses::default(), self.now)
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
            let likely = wait.likely * curve.errors.factors(wait.likely).longer / errors::WHOLE;
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
        (capacity, rate, [ms(), ms(), ms(), ms()], weights).prop_map(|(capacity, rate, times, lane_weights)| {
            let [session_ms, session_max_ms, claim_deadline_ms, grace_ms] = times;
            Settings {
                capacity,
                rate_per_minute: rate,
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
}
