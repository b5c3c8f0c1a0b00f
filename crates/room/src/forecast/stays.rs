//! What a line learns of its sessions: how soon called visitors come in, and how sessions end.
//!
//! A session is *active* until it has not been renewed for three renewal intervals, then *idle*. An idle session mostly runs out at its
//! date, which is known. So two chances are learnt by the age of an active session: to end by a word, and to fall idle. They are a life
//! table of the recent past (see `ages`). The `level` says how far the last minutes are from that table, and where it goes.

use crate::forecast::ages::{CLASSES, ONE, Rate, SURE, class};
use crate::forecast::flow::pairs;
use crate::lane::record::{Call, Record, Session};
use crate::lane::slots::Slots;
use crate::settings::Settings;
use ropeline_ids::Clock;

/// Parts of the time to come in, and of the time from falling idle to the end.
const CLAIM_PARTS: u64 = 16;
const IDLE_PARTS: u64 = 8;

/// Events that count in full; with more of them old ones fade.
const MANY: u64 = 512 * ONE;

/// Before anything is known an active session lasts so long, and a sixth of a slot's time more.
const VISIT_MS: u64 = 120_000;

/// Events that a chance weighs before anything is known of an age.
const PRIOR: u64 = 2;

/// Most steps of age that are told apart.
const OLDEST: u64 = 2_048;

/// The spans that chances are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Times {
    pub step_ms: u64,
    /// After so long without a renewal a session is idle.
    pub idle_ms: u64,
    pub hold_ms: u64,
    claim_ms: u64,
    max_ms: u64,
}

/// Which of three forecasts: the likely one, or one in which everything ends sooner or later than that by its doubt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lean {
    Likely,
    Fast,
    Slow,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stays {
    pub times: Times,
    claims: Vec<Rate>,
    /// Of active sessions by class of age: ends by a word, and sessions fallen idle, each with the time of all.
    ends: Vec<Rate>,
    idles: Vec<Rate>,
    /// Idle sessions that were used again.
    backs: Vec<Rate>,
    /// From the word to the end: events, and steps in all.
    delay: Rate,
    /// Second calls, by all calls.
    recalls: Rate,
    level: Level,
}

/// Sessions that ended or fell idle lately, and how many would have by the table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Level {
    events: u64,
    expected: u64,
    learnt_ms: u64,
    /// The table as of the last watch: the chance of either event by class of age, and what of it was seen, in parts of [`ONE`].
    table: Vec<u64>,
    seen: Vec<u64>,
}

impl Times {
    pub fn of(settings: &Settings) -> Self {
        let hold_ms = settings.hold_ms();
        Self {
            step_ms: (hold_ms / 64).clamp(1_000, 10_000),
            idle_ms: settings.renewal_ms().saturating_mul(3),
            hold_ms,
            claim_ms: settings.claim_deadline_ms,
            max_ms: settings.session_max_ms,
        }
    }

    pub fn steps(self, ms: u64) -> u64 {
        ms / self.step_ms.max(1)
    }

    /// The age of a session, in steps.
    pub fn age(self, session: &Session, now: Clock) -> u64 {
        let since = Clock(session.ends_by.0.saturating_sub(self.max_ms));
        self.steps(now.since(since))
    }

    fn claim_part(self, call: &Call, now: Clock) -> usize {
        let left = call.deadline.since(now).min(self.claim_ms);
        part(self.claim_ms - left, self.claim_ms, CLAIM_PARTS)
    }

    fn idle_part(self, idle_ms: u64) -> usize {
        let since = idle_ms.saturating_sub(self.idle_ms);
        part(since, self.hold_ms.saturating_sub(self.idle_ms), IDLE_PARTS)
    }
}

impl Lean {
    /// Leaving, more or less than the chances say by its doubt, as a fraction.
    pub fn leaving(self, doubt: u64) -> (u64, u64) {
        match self {
            Self::Likely => (1, 1),
            Self::Fast => (SURE + doubt, SURE),
            Self::Slow => (SURE, SURE + doubt),
        }
    }

    fn of(self, chance: u64, doubt: u64) -> u64 {
        let (times, by) = self.leaving(doubt);
        chance * times / by
    }
}

impl Stays {
    pub fn new(times: Times) -> Self {
        let rates = |count: u64| vec![Rate::default(); usize::try_from(count).unwrap_or(0)];
        Self {
            times,
            claims: rates(CLAIM_PARTS),
            ends: vec![Rate::default(); CLASSES],
            idles: vec![Rate::default(); CLASSES],
            backs: rates(IDLE_PARTS),
            delay: Rate::default(),
            recalls: Rate::default(),
            level: Level {
                events: 0,
                expected: 0,
                learnt_ms: 0,
                table: vec![0; CLASSES],
                seen: vec![0; CLASSES],
            },
        }
    }

    /// A visitor is called, this often by now.
    pub fn note_call(&mut self, count: u8) {
        self.recalls.exposure += ONE;
        if count > 1 {
            self.recalls.note();
        }
        if self.recalls.exposure > MANY {
            self.recalls.fade(64);
        }
    }

    /// A called visitor comes in.
    pub fn note_claim(&mut self, call: &Call, now: Clock) {
        self.claims[self.times.claim_part(call, now)].note();
    }

    /// A session is to end so long from now. One that was to end before is not counted again.
    pub fn note_end(&mut self, session: &Session, after_ms: u64, now: Clock) {
        if session.ending {
            return;
        }
        let class = class(self.times.age(session, now));
        self.ends[class].note();
        self.level.events += self.level.seen[class];
        self.delay.note();
        self.delay.exposure += self.times.steps(after_ms.saturating_mul(ONE));
    }

    /// A session is used.
    pub fn note_use(&mut self, session: &Session, now: Clock) {
        let idle_ms = now.since(session.renewed);
        if !session.ending && idle_ms >= self.times.idle_ms {
            self.backs[self.times.idle_part(idle_ms)].note();
        }
    }

    /// Counts the time that has passed for all who hold a slot, and those who fell idle in it.
    pub fn watch<'a>(&mut self, slots: impl Iterator<Item = &'a Slots>, passed_ms: u64, now: Clock) {
        let steps = passed_ms.saturating_mul(ONE) / self.times.step_ms;
        self.set_table();
        for (_, record) in slots.flat_map(Slots::iter) {
            match record {
                Record::Called(call) => self.claims[self.times.claim_part(call, now)].exposure += steps,
                Record::Inside(session) if !session.ending => self.watch_one(session, (steps, passed_ms), now),
                _ => {}
            }
        }
        self.fade(passed_ms.max(1));
    }

    fn watch_one(&mut self, session: &Session, (steps, passed_ms): (u64, u64), now: Clock) {
        let idle_ms = now.since(session.renewed);
        let class = class(self.times.age(session, now));
        if idle_ms < self.times.idle_ms {
            self.ends[class].exposure += steps;
            self.idles[class].exposure += steps;
            self.level.expected += steps * self.level.table[class] / SURE * self.level.seen[class] / ONE;
            return;
        }
        if idle_ms - self.times.idle_ms < passed_ms {
            self.idles[class].note();
            self.level.events += self.level.seen[class];
        }
        self.backs[self.times.idle_part(idle_ms)].exposure += steps;
    }

    fn set_table(&mut self) {
        let (ends, idles) = self.by_age(Lean::Likely);
        self.level.table = ends.iter().zip(&idles).map(|(end, idle)| end + idle).collect();
        let seen = |(table, rate): (&u64, &Rate)| {
            let expected = rate.exposure * table / SURE;
            ONE * expected / (expected + 16 * ONE)
        };
        self.level.seen = self.level.table.iter().zip(&self.ends).map(seen).collect();
    }

    /// What happened longer ago counts less, where much has happened since.
    fn fade(&mut self, passed_ms: u64) {
        let parts = |ms: u64| (ms / passed_ms).max(2);
        let hold_ms = self.times.hold_ms;
        self.level.fade(passed_ms, hold_ms, parts(hold_ms * 2 / 3));
        let all = self.ends.iter().chain(&self.idles).map(|rate| rate.events).sum::<u64>();
        if all < MANY {
            return;
        }
        let lists = [&mut self.claims, &mut self.ends, &mut self.idles, &mut self.backs];
        for rate in lists.into_iter().flatten().chain([&mut self.delay]) {
            rate.fade(parts(hold_ms * 2));
        }
    }

    /// The chances of one step.
    pub fn chances(&self, lean: Lean) -> Chances {
        let ages = self.times.steps(self.times.max_ms).clamp(1, OLDEST);
        let back = self.back_chances();
        let first = back.first().copied().unwrap_or(0);
        let (end, idle) = self.by_age(lean);
        let spread = |by_class: &[u64]| (0..ages).map(|age| by_class[class(age)]).collect::<Vec<u64>>();
        Chances {
            claim: self.claim_chances(),
            end: spread(&end),
            idle: spread(&idle).iter().map(|idle| idle - idle * first / SURE).collect(),
            idle_steps: self.times.steps(self.times.hold_ms.saturating_sub(self.times.idle_ms)),
            back,
            delay: self.delay.exposure / self.delay.events.max(1),
            recall: self.recalls.events.saturating_mul(SURE) / self.recalls.exposure.max(ONE * 16),
            level: self.level.of(),
            hold: self.times.steps(self.times.hold_ms).max(1),
        }
    }

    /// The chances to end by a word and to fall idle, by class of age. What is unknown of an age is as at the age before, and a
    /// little as usual.
    fn by_age(&self, lean: Lean) -> (Vec<u64>, Vec<u64>) {
        let usual = SURE * self.times.step_ms / (2 * (VISIT_MS + self.times.hold_ms / 6));
        let all = self.ends.iter().chain(&self.idles).map(|rate| rate.events).sum::<u64>() / ONE;
        let known = SURE / (all + 4).isqrt();
        let cannot_idle = class(self.times.steps(self.times.idle_ms).saturating_sub(1));
        let (mut ends, mut idles) = (Vec::new(), Vec::new());
        let (mut end, mut idle) = (usual, usual);
        for (at, (end_rate, idle_rate)) in self.ends.iter().zip(&self.idles).enumerate() {
            end = end_rate.chance((end * 7 + usual) / 8, PRIOR);
            if at > cannot_idle {
                idle = idle_rate.chance((idle * 7 + usual) / 8, PRIOR);
            }
            // The part of the chance that was seen, and not supposed.
            let expected = end_rate.exposure.saturating_mul(end + idle) / SURE / ONE;
            let seen = SURE * expected / (expected + 2 * PRIOR);
            let doubt = (seen * known + (SURE - seen) * (SURE / 2)) / SURE;
            ends.push(lean.of(end, doubt));
            idles.push(if at > cannot_idle { lean.of(idle, doubt) } else { 0 });
        }
        (ends, idles)
    }

    /// By step since the call. Most come in the first half minute.
    fn claim_chances(&self) -> Vec<u64> {
        let steps = self.times.steps(self.times.claim_ms).clamp(1, OLDEST);
        let of = |step: u64| {
            let ms = step * self.times.step_ms;
            let soon = (SURE / 10 * self.times.step_ms / 1_000).min(SURE / 2);
            let prior = if ms < 30_000 { soon } else { SURE / 50 };
            self.claims[part(ms, self.times.claim_ms, CLAIM_PARTS)].chance_in(prior, 4)
        };
        (0..steps).map(of).collect()
    }

    /// The chance of an idle session to be used again before it ends, by the part of its time.
    fn back_chances(&self) -> Vec<u64> {
        let idle_ms = self.times.hold_ms.saturating_sub(self.times.idle_ms);
        let steps = (self.times.steps(idle_ms) / IDLE_PARTS).max(1);
        let mut stays = SURE;
        let mut backs = Vec::new();
        for rate in self.backs.iter().rev() {
            let chance = rate.chance_in(SURE / 1_000, 50);
            for _ in 0..steps {
                let back = stays * chance / SURE;
                // With a session of a year there are many steps, and nothing more happens in them.
                if back == 0 {
                    break;
                }
                stays -= back;
            }
            backs.push(SURE - stays);
        }
        backs.reverse();
        backs
    }
}

impl Level {
    fn fade(&mut self, passed_ms: u64, hold_ms: u64, parts: u64) {
        self.learnt_ms = self.learnt_ms.saturating_add(passed_ms);
        self.events -= self.events / parts;
        self.expected -= self.expected / parts;
        // While the table is new, it is wrong at ages that are reached for the first time.
        if self.learnt_ms < hold_ms.saturating_mul(2) {
            (self.events, self.expected) = (0, 0);
        }
    }

    /// Events by those expected, in parts of [`ONE`], and the part of the difference that is no chance.
    fn of(&self) -> (u64, u64) {
        let (events, expected) = (self.events + 30 * ONE, self.expected + 30 * ONE);
        let level = events.saturating_mul(ONE) / expected;
        let chance = 3 * ONE / (2 * (expected / ONE).isqrt());
        let sure = if level > ONE {
            level.saturating_sub(chance).max(ONE)
        } else {
            (level + chance).min(ONE)
        };
        (level, sure)
    }
}

/// The chances of one step, in parts of [`SURE`].
#[derive(Clone, Debug)]
pub(crate) struct Chances {
    /// To come in, by steps since the call; after the last the turn is missed.
    pub claim: Vec<u64>,
    /// To end by a word, and to fall idle for good, by steps of age; after the last the session is over.
    pub end: Vec<u64>,
    pub idle: Vec<u64>,
    /// Steps from falling idle to the end.
    pub idle_steps: u64,
    /// From the word to the end, in steps.
    pub delay: u64,
    /// Of a call to be of a visitor who missed a turn before.
    pub recall: u64,
    /// To be used again before the end, by part of the idle time.
    back: Vec<u64>,
    /// By how much more or less often sessions end now than the chances say, and the trend of that, in parts of [`ONE`].
    level: (u64, u64),
    /// Steps of a slot's time.
    hold: u64,
}

impl Chances {
    /// The chance of a session that is idle for so long to be used again.
    pub fn back(&self, times: Times, idle_ms: u64) -> u64 {
        self.back[times.idle_part(idle_ms)]
    }

    /// By how much more or less often sessions end in a step to come: as now, and the trend goes on for a while.
    pub fn level_at(&self, step: u64) -> u64 {
        let (level, trend) = self.level;
        let far = 6 * self.hold;
        let ahead = step * far / (step + far);
        // The trend is what changed in four thirds of a slot's time.
        let of = |by: u64| by * ahead * 3 / (4 * self.hold);
        let level = if trend >= ONE {
            level + of(trend - ONE)
        } else {
            level * ONE / (ONE + of(ONE - trend))
        };
        level.clamp(ONE / 3, ONE * 3)
    }

    /// The chances of two steps, for ages of two steps.
    pub fn widen(&mut self) {
        let both = |one: u64, two: u64| one + two - one * two / SURE;
        self.claim = pairs(&self.claim, both).collect();
        let ends = pairs(&self.end, |one, two| one + two);
        let idles = pairs(&self.idle, |one, two| one + two);
        // In the second step only those are left who have not gone in the first.
        let rest = |(end, idle): (u64, u64)| {
            let left = SURE - ((end + idle) / 4).min(SURE / 2);
            (end * left / SURE, idle * left / SURE)
        };
        (self.end, self.idle) = ends.zip(idles).map(rest).unzip();
    }
}

fn part(of: u64, whole: u64, parts: u64) -> usize {
    let part = of.saturating_mul(parts) / whole.max(1);
    usize::try_from(part.min(parts - 1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline_ids::{Place, Wall};

    impl Chances {
        /// Called visitors come in at once, and of active sessions so many end in a step.
        pub fn steady(end: u64) -> Self {
            Self {
                claim: vec![SURE],
                end: vec![end; 2_048],
                idle: vec![0; 2_048],
                idle_steps: 0,
                delay: 0,
                recall: 0,
                back: vec![0; 8],
                level: (ONE, ONE),
                hold: 64,
            }
        }

        /// With this chance of an idle session to be used again.
        pub fn with_backs(self, chance: u64) -> Self {
            Self {
                back: vec![chance; 8],
                ..self
            }
        }
    }

    /// A full room whose sessions are in use all the time.
    struct Busy {
        stays: Stays,
        slots: Slots,
        now: Clock,
        places: u64,
        seed: u64,
    }

    fn times() -> Times {
        Times::of(&Settings::default())
    }

    fn session(since: Clock, renewed: Clock) -> Session {
        let times = times();
        Session {
            expires: renewed.plus(times.hold_ms),
            ends_by: since.plus(times.max_ms),
            renewed,
            since: Wall(0),
            count: 1,
            carried: false,
            ending: false,
            excess: false,
        }
    }

    fn call(deadline: Clock) -> Call {
        Call {
            deadline,
            at: Wall(0),
            count: 1,
            back: false,
        }
    }

    impl Busy {
        fn new(places: u64) -> Self {
            let mut busy = Self {
                stays: Stays::new(times()),
                slots: Slots::default(),
                now: Clock(1_000_000_000),
                places,
                seed: 1,
            };
            for place in 0..places {
                busy.enter(place);
            }
            busy
        }

        fn enter(&mut self, place: u64) {
            let record = Record::Inside(session(self.now, self.now));
            self.slots.put(Place(place), Some(record));
        }

        fn random(&mut self, below: u64) -> u64 {
            self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.seed >> 33) % below
        }

        /// Steps in which sessions end that have this age, or so many others, each followed by another visitor's.
        fn go_on(&mut self, steps: u64, oldest: u64, others: u64) {
            for _ in 0..steps {
                self.now = self.now.plus(times().step_ms);
                let mut ended: Vec<u64> = (0..others).map(|_| self.random(self.places)).collect();
                for place in 0..self.places {
                    let Some(Record::Inside(session)) = self.slots.get(Place(place)).copied() else {
                        continue;
                    };
                    if times().age(&session, self.now) >= oldest {
                        ended.push(place);
                    }
                    let used = Session {
                        renewed: self.now,
                        ..session
                    };
                    self.slots.put(Place(place), Some(Record::Inside(used)));
                }
                for place in ended {
                    let Some(Record::Inside(session)) = self.slots.get(Place(place)).copied() else {
                        continue;
                    };
                    self.stays.note_end(&session, 0, self.now);
                    self.enter(place);
                }
                self.stays.watch([&self.slots].into_iter(), times().step_ms, self.now);
            }
        }
    }

    /// The mean life of an active session in hundredths of a step.
    fn mean_life(chances: &Chances) -> u64 {
        let mut left = SURE << 16;
        let mut sum = 0;
        for (end, idle) in chances.end.iter().zip(&chances.idle) {
            sum += left;
            left -= left * (end + idle).min(SURE) / SURE;
        }
        sum * 100 / (SURE << 16)
    }

    #[test]
    fn before_anything_is_known_a_session_lasts_minutes() {
        let stays = Stays::new(times());
        let ms = mean_life(&stays.chances(Lean::Likely)) * times().step_ms / 100;
        assert!((120_000..400_000).contains(&ms), "{ms}");
    }

    #[test]
    fn sessions_of_one_length_are_known_to_last_that_long() {
        let mut busy = Busy::new(100);
        busy.go_on(800, 40, 0);
        let life = mean_life(&busy.stays.chances(Lean::Likely));
        assert!((3_600..4_400).contains(&life), "{life}");
    }

    #[test]
    fn sessions_that_end_at_any_age_are_known_to_last_as_long_in_the_mean() {
        let mut busy = Busy::new(200);
        busy.go_on(600, u64::MAX, 10);
        let life = mean_life(&busy.stays.chances(Lean::Likely));
        assert!((1_700..2_300).contains(&life), "{life}");
    }

    #[test]
    fn a_fast_forecast_has_shorter_sessions_and_a_slow_one_longer_ones() {
        let mut busy = Busy::new(200);
        let life = |stays: &Stays| [Lean::Fast, Lean::Likely, Lean::Slow].map(|lean| mean_life(&stays.chances(lean)));
        let new = life(&busy.stays);
        busy.go_on(600, u64::MAX, 10);
        let known = life(&busy.stays);
        for [fast, likely, slow] in [new, known] {
            assert!(fast < likely && likely < slow, "{fast} {likely} {slow}");
        }
        // The more is known, the closer they are.
        assert!(
            (known[2] - known[0]) * new[1] < (new[2] - new[0]) * known[1],
            "{new:?} {known:?}"
        );
    }

    #[test]
    fn an_end_is_counted_once() {
        let mut stays = Stays::new(times());
        let now = Clock(1_000_000_000);
        let active = session(Clock(now.0 - 60_000), now);
        stays.note_end(&active, 30_000, now);
        let before = stays.clone();
        let ending = Session { ending: true, ..active };
        stays.note_end(&ending, 10_000, now);
        assert_eq!(stays, before);
        assert_eq!(stays.ends.iter().map(|rate| rate.events).sum::<u64>(), ONE);
        assert_eq!(stays.chances(Lean::Likely).delay, times().steps(30_000));
    }

    #[test]
    fn a_session_falls_idle_once() {
        let mut stays = Stays::new(times());
        let renewed = Clock(1_000_000_000);
        let mut slots = Slots::default();
        slots.put(Place(0), Some(Record::Inside(session(renewed, renewed))));
        for step in 1..40 {
            let now = renewed.plus(step * times().step_ms);
            stays.watch([&slots].into_iter(), times().step_ms, now);
        }
        assert_eq!(stays.idles.iter().map(|rate| rate.events).sum::<u64>(), ONE);
        let idle_from = times().idle_ms.div_ceil(times().step_ms);
        assert_eq!(
            stays.ends.iter().map(|rate| rate.exposure).sum::<u64>(),
            (idle_from - 1) * ONE
        );
    }

    #[test]
    fn nobody_is_idle_before_an_idle_session_can_be() {
        let chances = Stays::new(times()).chances(Lean::Likely);
        let first = chances.idle.iter().position(|idle| *idle > 0);
        let soonest = usize::try_from(times().steps(times().idle_ms)).unwrap();
        assert!(first.is_some_and(|first| first.abs_diff(soonest) <= 1), "{first:?}");
    }

    #[test]
    fn idle_sessions_that_are_used_again_are_expected_back() {
        let mut stays = Stays::new(times());
        let now = Clock(1_000_000_000);
        let idle_ms = times().idle_ms + 1_000;
        let idle = session(Clock(now.0 - 600_000), Clock(now.0 - idle_ms));
        let before = stays.chances(Lean::Likely).back(times(), idle_ms);
        (0..50).for_each(|_| stays.note_use(&idle, now));
        // A session in use, and one that ends anyway, do not come back.
        stays.note_use(&session(now, now), now);
        stays.note_use(&Session { ending: true, ..idle }, now);
        assert_eq!(stays.backs.iter().map(|rate| rate.events).sum::<u64>(), 50 * ONE);
        let after = stays.chances(Lean::Likely).back(times(), idle_ms);
        assert!(before < SURE / 10 && after > SURE / 2, "{before} {after}");
        // Later in its time a session has less of it left.
        assert!(stays.chances(Lean::Likely).back(times(), times().hold_ms) < before);
    }

    #[test]
    fn called_visitors_come_in_when_others_did() {
        let mut stays = Stays::new(times());
        let called = Clock(1_000_000_000);
        let mut slots = Slots::default();
        let call = call(called.plus(times().claim_ms));
        slots.put(Place(0), Some(Record::Called(call)));
        for _ in 0..100 {
            for step in 0..8 {
                stays.watch(
                    [&slots].into_iter(),
                    times().step_ms,
                    called.plus(step * times().step_ms),
                );
            }
            stays.note_claim(&call, called.plus(8 * times().step_ms));
        }
        let claim = stays.chances(Lean::Likely).claim;
        assert!(claim[2] < SURE / 20 && claim[8] > SURE / 3, "{claim:?}");
    }

    #[test]
    fn second_calls_are_as_often_as_they_were() {
        let mut stays = Stays::new(times());
        stays.note_call(2);
        assert_eq!(stays.chances(Lean::Likely).recall, SURE / 16);
        (0..24).for_each(|_| stays.note_call(1));
        (0..7).for_each(|_| stays.note_call(2));
        assert_eq!(stays.chances(Lean::Likely).recall, SURE / 4);
    }

    #[test]
    fn chances_of_two_steps_leave_as_many_as_two_steps() {
        for chance in [0, 10, SURE / 100, SURE / 20, SURE / 5, SURE / 3] {
            let mut chances = Chances::steady(chance);
            chances.claim = vec![chance, SURE / 7, chance];
            let left = |chance: u64| SURE - chance;
            let two = |one: u64, two: u64| left(one) * left(two) / SURE;
            let claims = [two(chance, SURE / 7), left(chance)];
            chances.widen();
            assert_eq!(chances.end.len(), 1_024);
            assert!(left(chances.end[5]).abs_diff(two(chance, chance)) <= 2, "{chance}");
            for (claim, stays) in chances.claim.iter().zip(claims) {
                assert!(left(*claim).abs_diff(stays) <= 2, "{chance}");
            }
        }
    }

    fn level(events: u64, expected: u64) -> Level {
        Level {
            events: events * ONE,
            expected: expected * ONE,
            ..Stays::new(times()).level
        }
    }

    #[test]
    fn without_a_change_the_level_is_one() {
        assert_eq!(level(0, 0).of(), (ONE, ONE));
        assert_eq!(level(1_000, 1_000).of(), (ONE, ONE));
        // A few more or less are chance, and no trend.
        assert_eq!(level(1_010, 1_000).of().1, ONE);
        assert_eq!(level(990, 1_000).of().1, ONE);
        assert_eq!(Chances::steady(0).level_at(500), ONE);
    }

    #[test]
    fn nothing_is_a_change_while_the_table_is_new() {
        let mut level = level(200, 100);
        level.fade(times().hold_ms, times().hold_ms, 64);
        assert_eq!(level.of(), (ONE, ONE));
        let mut later = Level {
            events: 200 * ONE,
            ..level
        };
        later.fade(times().hold_ms, times().hold_ms, 64);
        assert!(later.of().0 > 5 * ONE, "{later:?}");
    }

    #[test]
    fn twice_as_many_ends_make_a_level_of_two_once_the_table_is_known() {
        let mut busy = Busy::new(400);
        busy.go_on(600, u64::MAX, 10);
        let (before, _) = busy.stays.level.of();
        assert!(before.abs_diff(ONE) < ONE / 4, "{before}");
        busy.go_on(60, u64::MAX, 20);
        let (after, trend) = busy.stays.level.of();
        assert!((ONE * 4 / 3..ONE * 9 / 4).contains(&after), "{after}");
        assert!(trend > ONE && trend < after, "{trend}");
    }

    #[test]
    fn a_trend_goes_on_for_a_while_within_bounds() {
        let with = |level: u64, trend: u64| Chances {
            level: (level, trend),
            ..Chances::steady(0)
        };
        let more = with(ONE * 5 / 4, ONE * 9 / 8);
        let less = with(ONE * 4 / 5, ONE * 7 / 8);
        for step in 0..500 {
            assert!(more.level_at(step) <= more.level_at(step + 1), "{step}");
            assert!(less.level_at(step) >= less.level_at(step + 1), "{step}");
        }
        assert_eq!([more.level_at(0), less.level_at(0)], [ONE * 5 / 4, ONE * 4 / 5]);
        assert_eq!(with(ONE * 9, ONE * 9).level_at(8_000), ONE * 3);
        assert_eq!(with(1, 1).level_at(8_000), ONE / 3);
    }
}
