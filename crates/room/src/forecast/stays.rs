//! What a line learns of its sessions: how soon the called come in, how long they are active, and how a session ends.
//!
//! A session is *active* until it has not been renewed for a while, then *idle*: an idle one mostly runs out at its date, which is
//! known. So what is learnt is, by the age of a session, the chance that it ends by a word, and the chance that it falls idle.

use crate::forecast::ages::{CLASSES, ONE, Rate, SURE, class};
use crate::lane::record::{Call, Record, Session};
use crate::lane::slots::Slots;
use crate::settings::Settings;
use ropeline_ids::Clock;

/// Parts of the time that a called visitor has to come in, and of the time from falling idle to the end.
const CLAIM_PARTS: u64 = 16;
const IDLE_PARTS: u64 = 8;

/// Events that count in full; with more of them old ones fade.
const MANY: u64 = 512 * ONE;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stays {
    pub times: Times,
    claims: Vec<Rate>,
    /// Time of active sessions, ends by a word, and sessions fallen idle, by class of age.
    exposure: Vec<u64>,
    ends: Vec<u64>,
    idles: Vec<u64>,
    /// Idle sessions that were used again.
    backs: Vec<Rate>,
    /// From the word to the end: events, and steps in all.
    delay: Rate,
    /// Second calls, by all calls.
    recalls: Rate,
    /// Sessions that ended or fell idle lately, and how many would have by the table.
    lately: u64,
    expected: u64,
    table: Vec<u64>,
    /// For how long it has learnt.
    learnt_ms: u64,
    /// What of it was seen, in parts of [`ONE`].
    seen: Vec<u64>,
}

/// The spans that chances are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Times {
    pub step_ms: u64,
    /// After so long without a renewal a session is idle.
    pub idle_ms: u64,
    pub hold_ms: u64,
    pub claim_ms: u64,
    pub max_ms: u64,
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
        ms / self.step_ms
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
        part(
            idle_ms.saturating_sub(self.idle_ms),
            self.hold_ms.saturating_sub(self.idle_ms),
            IDLE_PARTS,
        )
    }
}

fn part(of: u64, whole: u64, parts: u64) -> usize {
    let part = of.saturating_mul(parts) / whole.max(1);
    usize::try_from(part.min(parts - 1)).unwrap_or(0)
}

impl Stays {
    pub fn new(settings: &Settings) -> Self {
        Self {
            times: Times::of(settings),
            claims: vec![Rate::default(); usize::try_from(CLAIM_PARTS).unwrap_or(0)],
            exposure: vec![0; CLASSES],
            ends: vec![0; CLASSES],
            idles: vec![0; CLASSES],
            backs: vec![Rate::default(); usize::try_from(IDLE_PARTS).unwrap_or(0)],
            delay: Rate::default(),
            recalls: Rate::default(),
            lately: 0,
            expected: 0,
            table: vec![0; CLASSES],
            learnt_ms: 0,
            seen: vec![0; CLASSES],
        }
    }

    pub fn note_call(&mut self, count: u8) {
        self.recalls.exposure += ONE;
        if count > 1 {
            self.recalls.events += ONE;
        }
        if self.recalls.exposure > MANY {
            self.recalls.fade(64);
        }
    }

    /// A called visitor comes in.
    pub fn note_claim(&mut self, call: &Call, now: Clock) {
        self.claims[self.times.claim_part(call, now)].note();
    }

    /// A session is to end so long from now.
    pub fn note_end(&mut self, session: &Session, after_ms: u64, now: Clock) {
        let class = class(self.times.age(session, now));
        self.ends[class] += ONE;
        self.lately += self.seen[class];
        self.delay.events += ONE;
        self.delay.exposure += self.times.steps(after_ms.saturating_mul(ONE));
    }

    /// A session is used after so long.
    pub fn note_use(&mut self, session: &Session, now: Clock) {
        let idle_ms = now.since(session.renewed);
        if idle_ms >= self.times.idle_ms {
            self.backs[self.times.idle_part(idle_ms)].note();
        }
    }

    /// Counts the time that has passed for all who hold a slot, and those who fell idle in it.
    pub fn watch(&mut self, slots: &Slots, passed_ms: u64, now: Clock) {
        let passed = passed_ms.saturating_mul(ONE) / self.times.step_ms;
        let (end, idle) = self.by_age(0);
        self.table = end.iter().zip(&idle).map(|(end, idle)| end + idle).collect();
        let seen = |(table, exposure): (&u64, &u64)| {
            let expected = exposure * table / SURE;
            ONE * expected / (expected + 16 * ONE)
        };
        self.seen = self.table.iter().zip(&self.exposure).map(seen).collect();
        for (_, record) in slots.iter() {
            match record {
                Record::Called(call) => self.claims[self.times.claim_part(call, now)].exposure += passed,
                Record::Inside(session) if !session.ending => self.watch_one(session, (passed, passed_ms), now),
                _ => {}
            }
        }
    }

    fn watch_one(&mut self, session: &Session, (passed, passed_ms): (u64, u64), now: Clock) {
        let idle_ms = now.since(session.renewed);
        let class = class(self.times.age(session, now));
        if idle_ms < self.times.idle_ms {
            self.exposure[class] += passed;
            self.expected += passed * self.table[class] / SURE * self.seen[class] / ONE;
            return;
        }
        if idle_ms - self.times.idle_ms < passed_ms {
            self.idles[class] += ONE;
            self.lately += self.seen[class];
        }
        self.backs[self.times.idle_part(idle_ms)].exposure += passed;
    }

    /// Old events count less, where there are many.
    pub fn fade(&mut self, passed_ms: u64) {
        self.learnt_ms += passed_ms;
        if self.learnt_ms < 2 * self.times.hold_ms {
            (self.lately, self.expected) = (0, 0);
        }
        let parts = (self.times.hold_ms * 2 / 3 / passed_ms.max(1)).max(2);
        self.lately -= self.lately / parts;
        self.expected -= self.expected / parts;
        let all = self.ends.iter().chain(&self.idles).sum::<u64>();
        if all < MANY {
            return;
        }
        let parts = (self.times.hold_ms * 2 / passed_ms.max(1)).max(2);
        let lists = [&mut self.exposure, &mut self.ends, &mut self.idles];
        for count in lists.into_iter().flatten() {
            *count -= *count / parts;
        }
        for rate in self.claims.iter_mut().chain(&mut self.backs).chain([&mut self.delay]) {
            rate.fade(parts);
        }
    }

    /// The chances of one step, with so many of the deviations added.
    pub fn chances(&self, lean: i64) -> Chances {
        let steps = self.times.steps(self.times.max_ms).clamp(1, OLDEST);
        let (end, idle) = self.by_age(lean);
        let spread = |by_class: &[u64]| (0..steps).map(|age| by_class[class(age)]).collect::<Vec<u64>>();
        Chances {
            claim: self.claim_chances(),
            end: spread(&end),
            idle: spread(&idle),
            back: self.back_chances(),
            level: self.level(),
            hold: self.times.steps(self.times.hold_ms),
            delay: self.delay.exposure / self.delay.events.max(1),
            recall: self.recalls.events.saturating_mul(SURE) / self.recalls.exposure.max(ONE * 16),
        }
    }

    fn by_age(&self, lean: i64) -> (Vec<u64>, Vec<u64>) {
        // Each of the two once in twice the usual visit.
        let usual = SURE * self.times.step_ms / (2 * (VISIT_MS + self.times.hold_ms / 6));
        let all = self.ends.iter().chain(&self.idles).sum::<u64>() / ONE;
        let (mut ends, mut idles) = (Vec::new(), Vec::new());
        let (mut end, mut idle) = (usual, usual);
        let first_idle = self.times.steps(self.times.idle_ms);
        for (at, exposure) in self.exposure.iter().copied().enumerate() {
            let rate = |events| Rate { events, exposure };
            end = rate(self.ends[at]).chance((end * 7 + usual) / 8, PRIOR);
            let can_idle = at > class(first_idle.saturating_sub(1));
            if can_idle {
                idle = rate(self.idles[at]).chance((idle * 7 + usual) / 8, PRIOR);
            }
            // The part of the chance that was seen, and not supposed.
            let expected = exposure.saturating_mul(end + idle) / SURE / ONE;
            let seen = SURE * expected / (expected + 2 * PRIOR);
            let known = SURE / (all + 4).isqrt();
            let doubt = (seen * known + (SURE - seen) * (SURE / 2)) / SURE;
            let leans = |chance: u64| lean_by(chance, doubt, lean);
            ends.push(leans(end));
            idles.push(if can_idle { leans(idle) } else { 0 });
        }
        (ends, idles)
    }

    /// By step since the call.
    fn claim_chances(&self) -> Vec<u64> {
        let steps = self.times.steps(self.times.claim_ms).clamp(1, OLDEST);
        let of = |step: u64| {
            let ms = step * self.times.step_ms;
            let prior = if ms < 30_000 { (SURE / 10 * self.times.step_ms / 1_000).min(SURE / 2) } else { SURE / 50 };
            let part = part(ms, self.times.claim_ms, CLAIM_PARTS);
            self.claims[part].chance_in(prior, 4)
        };
        (0..steps).map(of).collect()
    }

    /// The chance of an idle session to be used again before it ends, by the part of its time.
    fn back_chances(&self) -> Vec<u64> {
        let steps = self.times.steps(self.times.hold_ms.saturating_sub(self.times.idle_ms)) / IDLE_PARTS;
        let mut stays = SURE;
        let mut backs = Vec::new();
        for rate in self.backs.iter().rev() {
            let chance = rate.chance_in(SURE / 1_000, 50);
            for _ in 0..steps.max(1) {
                stays -= stays * chance / SURE;
            }
            backs.push(SURE - stays);
        }
        backs.reverse();
        backs
    }

    /// Ends lately by those expected, in parts of [`ONE`], and the part of that which is no chance.
    pub fn level(&self) -> (u64, u64) {
        let (lately, expected) = (self.lately + 30 * ONE, self.expected + 30 * ONE);
        let level = lately * ONE / expected;
        let chance = 3 * ONE / (2 * (expected / ONE).isqrt().max(1));
        let sure = if level > ONE {
            level.saturating_sub(chance).max(ONE)
        } else {
            (level + chance).min(ONE)
        };
        (level, sure)
    }

    pub fn back(chances: &Chances, times: Times, idle_ms: u64) -> u64 {
        chances.back[times.idle_part(idle_ms)]
    }
}

/// A chance, more or less by so many of its deviations.
fn lean_by(chance: u64, doubt: u64, lean: i64) -> u64 {
    let by = doubt * lean.unsigned_abs() / 100;
    if lean >= 0 {
        chance * (SURE + by) / SURE
    } else {
        chance * SURE / (SURE + by)
    }
}

/// A usual visit lasts so long, and a sixth of a session.
const VISIT_MS: u64 = 120_000;

/// Events that the usual chance weighs.
const PRIOR: u64 = 2;

/// Steps of age that are told apart.
const OLDEST: u64 = 2_048;

/// The chances of one step, in parts of [`SURE`].
#[derive(Clone, Debug)]
pub(crate) struct Chances {
    /// To come in, by steps since the call; after the last the turn is missed.
    pub claim: Vec<u64>,
    /// To end by a word, and to fall idle, by steps of age; after the last the session is over.
    pub end: Vec<u64>,
    pub idle: Vec<u64>,
    /// To be used again before the end, by part of the idle time.
    pub back: Vec<u64>,
    /// From the word to the end, in steps.
    pub delay: u64,
    /// By how much more or less often sessions end now than the chances say, and the trend of that, in parts of [`ONE`].
    pub level: (u64, u64),
    /// Steps of a slot's time.
    pub hold: u64,
    /// Of a call to be of a visitor who missed a turn before.
    pub recall: u64,
}
