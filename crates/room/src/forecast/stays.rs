//! What a line learns of its sessions: how soon called visitors come in, and how sessions end.
//!
//! A session is *active* until it has not been renewed for three renewal intervals, then *idle*. An idle session mostly runs out at its
//! date, which is known. So two chances are learnt by the age of an active session: to end by a word, and to fall idle. They are a life
//! table of the recent past (see `ages`). The `level` says how far the last minutes are from that table, and where it goes.

#[cfg(test)]
mod tests;

use crate::forecast::ages::{CLASSES, ONE, Rate, SURE, class};
use crate::forecast::flow::{Arrivals, pairs};
use crate::lane::record::{Call, Record, Session};
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
#[allow(clippy::struct_field_names, reason = "the unit stands last in a name")]
pub(crate) struct Times {
    pub step_ms: u64,
    /// After so long without a renewal a session is idle.
    pub idle_ms: u64,
    /// From the last use to the end of the session, or to its parking.
    pub hold_ms: u64,
    pub parks_after_ms: Option<u64>,
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

/// What a look at the record of a holder of a slot shows. Ages are given as classes, and times as parts (see [`Stays`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    Called {
        part: usize,
    },
    Active {
        class: usize,
    },
    /// `fell`: the age of a session that fell idle since the last look.
    Idle {
        part: usize,
        fell: Option<usize>,
    },
}

/// The chances of all visitors, which stand in where nothing is known of some of them.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    claims: Vec<u64>,
    ends: Vec<u64>,
    idles: Vec<u64>,
    recalls: Rate,
}

impl Times {
    pub fn of(settings: &Settings) -> Self {
        let parks_after_ms = settings.parks_after_ms();
        let hold_ms = settings.hold_ms().min(parks_after_ms.unwrap_or(u64::MAX));
        Self {
            step_ms: (hold_ms / 64).clamp(1_000, 10_000),
            idle_ms: settings.renewal_ms().saturating_mul(3),
            hold_ms,
            parks_after_ms,
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

    /// What a record shows so long after the last look; `None` for a record without a slot, and for a session whose end is set.
    pub fn see(self, record: &Record, passed_ms: u64, now: Clock) -> Option<Seen> {
        match record {
            Record::Called(call) => Some(Seen::Called {
                part: self.claim_part(call, now),
            }),
            Record::Inside(session) if !session.is_parked() && !session.ending => {
                let idle_ms = now.since(session.renewed);
                let class = class(self.age(session, now));
                if idle_ms < self.idle_ms {
                    return Some(Seen::Active { class });
                }
                Some(Seen::Idle {
                    part: self.idle_part(idle_ms),
                    fell: (idle_ms - self.idle_ms < passed_ms).then_some(class),
                })
            }
            Record::Inside(_) | Record::Missed { .. } | Record::Spent { .. } | Record::Over { .. } => None,
        }
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

    /// Of so many who are present, and so many who came, how many never leave, however long it takes. The others leave sooner, so they
    /// become fewer; one in six is supposed to leave in any case. Nobody knows these shares before the end of a line, and they differ
    /// much between crowds: so the forecasts differ in them.
    pub fn patient(self, present: u64, came: u64) -> u64 {
        let patient = match self {
            Self::Likely => (present * 2 / 5).max(came / 4),
            Self::Fast => present / 6,
            Self::Slow => (present * 2 / 3).max(came / 4),
        };
        patient.min(present * 5 / 6)
    }

    /// Later arrivals take calls of other lanes. What has gone on for a while goes on for as long in half of the cases, and for four times as
    /// long in two of ten (Gott 1993, "Implications of the Copernican principle"); but the arrivals of a sale may end at once. Behind
    /// these steps they thin out.
    pub fn arrivals(self, of: Arrivals) -> Arrivals {
        let steps = match self {
            Self::Likely => of.steps,
            Self::Fast => of.steps / 16,
            Self::Slow => of.steps * 4,
        };
        Arrivals { steps, ..of }
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

    /// Counts the time since the last look for a holder of a slot, in parts of [`ONE`] of a step, and whether the session fell
    /// idle in it.
    pub fn note_seen(&mut self, seen: Seen, steps: u64) {
        match seen {
            Seen::Called { part } => self.claims[part].exposure += steps,
            Seen::Active { class } => {
                self.ends[class].exposure += steps;
                self.idles[class].exposure += steps;
                self.level.expected += steps * self.level.table[class] / SURE * self.level.seen[class] / ONE;
            }
            Seen::Idle { part, fell } => {
                if let Some(class) = fell {
                    self.idles[class].note();
                    self.level.events += self.level.seen[class];
                }
                self.backs[part].exposure += steps;
            }
        }
    }

    /// What is known before a look is the table that the look compares with.
    pub fn begin_look(&mut self) {
        let (ends, idles) = self.by_age(None, Lean::Likely);
        self.level.table = ends.iter().zip(&idles).map(|(end, idle)| end + idle).collect();
        let seen = |(table, rate): (&u64, &Rate)| {
            let expected = rate.exposure * table / SURE;
            ONE * expected / (expected + 16 * ONE)
        };
        self.level.seen = self.level.table.iter().zip(&self.ends).map(seen).collect();
    }

    /// What happened longer ago counts less, where much has happened since.
    pub fn end_look(&mut self, passed_ms: u64) {
        let passed_ms = passed_ms.max(1);
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

    /// What is known of these visitors, for the chances of some of them.
    pub fn common(&self) -> Common {
        let (ends, idles) = self.by_age(None, Lean::Likely);
        Common {
            claims: self.claim_chances(None, Lean::Likely),
            ends,
            idles,
            recalls: self.recalls,
        }
    }

    /// The chances of one step; with `all`, those of some of the visitors: what is not known of them is as with all.
    pub fn chances(&self, all: Option<&Common>, lean: Lean) -> Chances {
        let ages = self.times.steps(self.times.max_ms).clamp(1, OLDEST);
        let back = self.back_chances();
        let first = back.first().copied().unwrap_or(0);
        let (end, idle) = self.by_age(all, lean);
        // Whom a call reaches is not known before it is made.
        let recalls = all.map_or(self.recalls, |all| all.recalls);
        let spread = |by_class: &[u64]| (0..ages).map(|age| by_class[class(age)]).collect::<Vec<u64>>();
        Chances {
            claim: self.claim_chances(all, lean),
            end: spread(&end),
            idle: spread(&idle).iter().map(|idle| idle - idle * first / SURE).collect(),
            idle_steps: self.times.steps(self.times.hold_ms.saturating_sub(self.times.idle_ms)),
            back,
            delay: self.delay.exposure / self.delay.events.max(1),
            recall: recalls.events.saturating_mul(SURE) / recalls.exposure.max(ONE * 16),
            level: self.level.of(),
            hold: self.times.steps(self.times.hold_ms).max(1),
        }
    }

    /// The chances to end by a word and to fall idle, by class of age. What is unknown of an age is as with all; of all it is as at the
    /// age before, and a little as usual.
    fn by_age(&self, all: Option<&Common>, lean: Lean) -> (Vec<u64>, Vec<u64>) {
        let common = all.map(|all| self.as_often(all.ends.clone(), all.idles.clone()));
        let usual = SURE * self.times.step_ms / (2 * (VISIT_MS + self.times.hold_ms / 6));
        let events = self.ends.iter().chain(&self.idles).map(|rate| rate.events).sum::<u64>() / ONE;
        let known = SURE / (events + 4).isqrt();
        // What was not seen may go twice as fast, or one and a half times as slowly: a wait that ends early is further off, by its length.
        // Before anything is known, most may end by a word, which frees the slot sooner.
        let (unseen_end, unseen_idle) = match lean {
            Lean::Fast => (SURE + known, SURE - 2 * known),
            Lean::Likely | Lean::Slow => (SURE / 2, SURE / 2),
        };
        let cannot_idle = class(self.times.steps(self.times.idle_ms).saturating_sub(1));
        let (mut ends, mut idles) = (Vec::new(), Vec::new());
        let (mut end, mut idle) = (usual, usual);
        for (at, (end_rate, idle_rate)) in self.ends.iter().zip(&self.idles).enumerate() {
            let prior = match &common {
                Some((ends, idles)) => (ends[at], idles[at]),
                None => ((end * 7 + usual) / 8, (idle * 7 + usual) / 8),
            };
            end = end_rate.chance(prior.0, PRIOR);
            if at > cannot_idle {
                idle = idle_rate.chance(prior.1, PRIOR);
            }
            // The part of the chance that was seen, and not supposed.
            let expected = end_rate.exposure.saturating_mul(end + idle) / SURE / ONE;
            let seen = SURE * expected / (expected + 2 * PRIOR);
            let doubt = |unseen: u64| (seen * known + (SURE - seen) * unseen) / SURE;
            ends.push(lean.of(end, doubt(unseen_end)));
            idles.push(if at > cannot_idle {
                lean.of(idle, doubt(unseen_idle))
            } else {
                0
            });
        }
        (ends, idles)
    }

    /// The chances of all sessions, scaled by how often sessions of this table ended compared with them. It gives chances at ages that
    /// none of these sessions has reached.
    fn as_often(&self, mut ends: Vec<u64>, mut idles: Vec<u64>) -> (Vec<u64>, Vec<u64>) {
        let events = self.ends.iter().chain(&self.idles).map(|rate| rate.events).sum::<u64>();
        let chances = ends.iter().zip(&idles).map(|(end, idle)| end + idle);
        let expected = self.ends.iter().zip(chances);
        let expected = expected.map(|(rate, chance)| rate.exposure / ONE * chance / (SURE / ONE));
        let (events, expected) = (events + 4 * ONE, expected.sum::<u64>() + 4 * ONE);
        for chance in ends.iter_mut().chain(&mut idles) {
            *chance = (*chance * events / expected).clamp(1, SURE / 2);
        }
        (ends, idles)
    }

    /// By step since the call. Most come in the first half minute.
    fn claim_chances(&self, all: Option<&Common>, lean: Lean) -> Vec<u64> {
        let steps = self.times.steps(self.times.claim_ms).clamp(1, OLDEST);
        let of = |step: u64| {
            let ms = step * self.times.step_ms;
            let soon = (SURE / 10 * self.times.step_ms / 1_000).min(SURE / 2);
            let usual = if ms < 30_000 { soon } else { SURE / 200 };
            let of_all = all.and_then(|all| all.claims.get(usize::try_from(step).ok()?));
            let prior = of_all.copied().map_or(usual, |all| match lean {
                Lean::Likely => all.midpoint(usual),
                // Who does not come in gives the slot away soonest.
                Lean::Fast => all.min(usual),
                Lean::Slow => all.max(usual),
            });
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

    /// How long a visitor of these chances holds a slot from the call on, in parts of [`SURE`] of a step.
    pub fn slot(&self) -> u64 {
        let (mut held, mut called, mut inside) = (0, SURE, 0);
        for claim in &self.claim {
            held += called;
            let claims = called * claim / SURE;
            (called, inside) = (called - claims, inside + claims);
        }
        for (end, idle) in self.end.iter().zip(&self.idle) {
            let (ends, idles) = (inside * end / SURE, inside * idle / SURE);
            held += inside + ends * self.delay + idles * self.idle_steps;
            inside = inside.saturating_sub(ends + idles);
        }
        held
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
