//! What is learnt of sessions in rooms whose sessions are known.

use super::*;
use crate::lane::slots::Slots;
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

impl Stays {
    pub fn bytes(&self) -> usize {
        let rates = [&self.claims, &self.ends, &self.idles, &self.backs];
        let rates = rates.map(Vec::capacity).iter().sum::<usize>() * size_of::<Rate>();
        let level = [&self.level.table, &self.level.seen].map(Vec::capacity);
        rates + level.iter().sum::<usize>() * size_of::<u64>()
    }

    /// A look at these records.
    fn watch<'a>(&mut self, records: impl Iterator<Item = &'a Record>, passed_ms: u64, now: Clock) {
        let times = self.times;
        let steps = passed_ms * ONE / times.step_ms;
        self.begin_look();
        for seen in records.filter_map(|record| times.see(record, passed_ms, now)) {
            self.note_seen(seen, steps);
        }
        self.end_look(passed_ms);
    }
}

fn records(slots: &Slots) -> impl Iterator<Item = &Record> {
    slots.iter().map(|(_, record)| record)
}

fn times() -> Times {
    Times::of(&Settings::default())
}

fn session(since: Clock, renewed: Clock) -> Session {
    Session::of_test(since, renewed, &Settings::default())
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
            self.stays.watch(records(&self.slots), times().step_ms, self.now);
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
fn some_stay_in_line_however_long_it_takes() {
    let of = |present: u64, came: u64| [Lean::Fast, Lean::Likely, Lean::Slow].map(|lean| lean.patient(present, came));
    assert_eq!(of(600, 600), [100, 240, 400]);
    // One in four of those who came is the least.
    assert_eq!(of(600, 1_800), [100, 450, 450]);
    // One in six of those present leaves in any case.
    assert_eq!(of(600, 6_000), [100, 500, 500]);
    assert_eq!(of(0, 600), [0; 3]);
}

#[test]
fn before_anything_is_known_a_session_lasts_minutes() {
    let stays = Stays::new(times());
    let ms = mean_life(&stays.chances(None, Lean::Likely)) * times().step_ms / 100;
    assert!((120_000..400_000).contains(&ms), "{ms}");
}

#[test]
fn sessions_of_one_length_are_known_to_last_that_long() {
    let mut busy = Busy::new(100);
    busy.go_on(800, 40, 0);
    let life = mean_life(&busy.stays.chances(None, Lean::Likely));
    assert!((3_600..4_400).contains(&life), "{life}");
}

#[test]
fn sessions_that_end_at_any_age_are_known_to_last_as_long_in_the_mean() {
    let mut busy = Busy::new(200);
    busy.go_on(600, u64::MAX, 10);
    let life = mean_life(&busy.stays.chances(None, Lean::Likely));
    assert!((1_700..2_300).contains(&life), "{life}");
}

#[test]
fn a_fast_forecast_has_shorter_sessions_and_a_slow_one_longer_ones() {
    let mut busy = Busy::new(200);
    let life = |stays: &Stays| [Lean::Fast, Lean::Likely, Lean::Slow].map(|lean| mean_life(&stays.chances(None, lean)));
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
    assert_eq!(stays.chances(None, Lean::Likely).delay, times().steps(30_000));
}

#[test]
fn a_session_falls_idle_once() {
    let mut stays = Stays::new(times());
    let renewed = Clock(1_000_000_000);
    let mut slots = Slots::default();
    slots.put(Place(0), Some(Record::Inside(session(renewed, renewed))));
    for step in 1..40 {
        let now = renewed.plus(step * times().step_ms);
        stays.watch(records(&slots), times().step_ms, now);
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
    let chances = Stays::new(times()).chances(None, Lean::Likely);
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
    let before = stays.chances(None, Lean::Likely).back(times(), idle_ms);
    (0..50).for_each(|_| stays.note_use(&idle, now));
    // A session in use, and one that ends anyway, do not come back.
    stays.note_use(&session(now, now), now);
    stays.note_use(&Session { ending: true, ..idle }, now);
    assert_eq!(stays.backs.iter().map(|rate| rate.events).sum::<u64>(), 50 * ONE);
    let after = stays.chances(None, Lean::Likely).back(times(), idle_ms);
    assert!(before < SURE / 10 && after > SURE / 2, "{before} {after}");
    // Later in its time a session has less of it left.
    assert!(stays.chances(None, Lean::Likely).back(times(), times().hold_ms) < before);
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
            stays.watch(records(&slots), times().step_ms, called.plus(step * times().step_ms));
        }
        stays.note_claim(&call, called.plus(8 * times().step_ms));
    }
    let claim = stays.chances(None, Lean::Likely).claim;
    assert!(claim[2] < SURE / 20 && claim[8] > SURE / 3, "{claim:?}");
}

#[test]
fn second_calls_are_as_often_as_they_were() {
    let mut stays = Stays::new(times());
    stays.note_call(2);
    assert_eq!(stays.chances(None, Lean::Likely).recall, SURE / 16);
    (0..24).for_each(|_| stays.note_call(1));
    (0..7).for_each(|_| stays.note_call(2));
    assert_eq!(stays.chances(None, Lean::Likely).recall, SURE / 4);
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

#[test]
fn who_ends_later_holds_a_slot_for_longer() {
    let slot = |chance: u64| Chances::steady(chance).slot();
    assert!(slot(SURE / 20) * 3 / 2 < slot(SURE / 40));
    assert!(slot(SURE / 40) < slot(0));
}

#[test]
fn arrivals_are_expected_to_go_on_for_as_long_as_they_have() {
    let of = Arrivals { rate: ONE, steps: 320 };
    let steps = [Lean::Fast, Lean::Likely, Lean::Slow].map(|lean| lean.arrivals(of).steps);
    assert_eq!(steps, [20, 320, 1_280]);
    assert_eq!(Lean::Slow.arrivals(of).rate, ONE);
}

/// Of all sessions the share that ends by a word, in parts of [`SURE`].
fn share_with_a_word(chances: &Chances) -> u64 {
    let (mut left, mut by_word) = (SURE, 0);
    for (end, idle) in chances.end.iter().zip(&chances.idle) {
        by_word += left * end / SURE;
        left -= left * (end + idle) / SURE;
    }
    by_word
}

#[test]
fn before_anything_is_known_most_may_end_by_a_word() {
    let stays = Stays::new(times());
    let share = |stays: &Stays, lean| share_with_a_word(&stays.chances(None, lean));
    let [fast, likely, slow] = [Lean::Fast, Lean::Likely, Lean::Slow].map(|lean| share(&stays, lean));
    // Who is inside for less than three renewals cannot be idle.
    assert!((SURE / 2..SURE * 7 / 8).contains(&likely), "{likely}");
    assert!(fast > u64::midpoint(likely, SURE), "{fast} {likely}");
    assert!(slow < likely, "{slow} {likely}");
}
