//! Virtual visitors, drawn from the seed.

use fastrand::Rng;

use super::plan::{Crowd, Doing, Plan, Scripted};

/// One visitor, or one more browser of a visitor.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub nature: Nature,
    pub is: Is,
    pub twin: Twin,
    pub lane: u8,
    /// Times that the visitor was called.
    pub calls: u8,
    /// The page sends no requests now.
    pub asleep: bool,
    /// Has heard once that the turn has come.
    pub heard: bool,
    /// Requests that failed one after the other.
    pub failed: u8,
    /// Goes to the end of the shop.
    pub finishes: bool,
    pub number: u32,
    /// Times to look at an answer that are left in the shop.
    pub pauses: u32,
    /// The generation of marks that the visitor last checked in in.
    pub marked: u32,
    /// When the visitor came, and first joined, in milliseconds.
    pub arrives: u64,
    pub joined: u64,
    /// When the visitor was last numbered.
    pub numbered: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nature {
    Patient,
    /// Gives up while waiting, and says so.
    Leaver,
    /// Closes the page.
    Quitter,
    Sleepy,
    Late,
    /// In a tab that the visitor looks at now and then: on a desktop, and on a phone, which suspends the page meanwhile.
    HiddenTab,
    HiddenPhone,
    /// Also the browser that a visitor with two does not come with.
    NoShow,
    Bot,
}

/// The other browser of a visitor with two, which is the next line of arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Twin {
    None,
    Next,
    Before,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Is {
    Coming,
    Waiting,
    /// Inside, where nobody has looked yet.
    Unseen,
    Inside,
    Gone,
}

/// Everybody, in the order in which they come.
pub(super) fn draw(plan: &Plan, rng: &mut Rng) -> Vec<Person> {
    if !plan.script.is_empty() {
        let parts = plan.script.iter();
        return parts
            .map(|part| person(plan, part.arrives_ms, played(part), rng))
            .collect();
    }
    let times = plan.arrive.times(plan.visitors, plan.over_ms, rng);
    let mut people: Vec<Person> = Vec::with_capacity(times.len());
    for at in times {
        let mut person = person(plan, at, nature(&plan.crowd, rng), rng);
        if hits(plan.crowd.tabs, rng) {
            people.push(Person {
                twin: Twin::Next,
                ..person.clone()
            });
            person.twin = Twin::Before;
        }
        people.push(person);
    }
    let bots = u64::from(plan.visitors) * u64::from(plan.crowd.bots) / 1_000;
    for bot in 0..bots {
        // In three masses: at the start, after a third and after two thirds.
        let at = bot % 3 * plan.over_ms / 3;
        people.push(person(plan, at, Nature::Bot, rng));
    }
    // Visitors who come at once stay so: a visitor's two browsers side by side.
    people.sort_by_key(|person| person.arrives);
    people
}

fn played(part: &Scripted) -> Nature {
    match part.does {
        Doing::Nothing => Nature::Patient,
        Doing::Leaves(_) => Nature::Leaver,
        Doing::Sleeps(..) => Nature::Sleepy,
        Doing::ComesLate(_) => Nature::Late,
        Doing::StaysAway => Nature::NoShow,
    }
}

fn person(plan: &Plan, at: u64, nature: Nature, rng: &mut Rng) -> Person {
    Person {
        nature,
        is: Is::Coming,
        twin: Twin::None,
        lane: lane(&plan.lanes, rng),
        calls: 0,
        asleep: false,
        heard: false,
        failed: 0,
        finishes: nature != Nature::Bot && hits(plan.crowd.finish, rng),
        number: 0,
        pauses: 0,
        marked: 0,
        arrives: at,
        joined: u64::MAX,
        numbered: u64::MAX,
    }
}

fn nature(crowd: &Crowd, rng: &mut Rng) -> Nature {
    let phones = u16::try_from(u32::from(crowd.hidden) * u32::from(crowd.phones.min(1_000)) / 1_000).unwrap_or(0);
    let shares = [
        (crowd.leave / 2, Nature::Leaver),
        (crowd.leave.div_ceil(2), Nature::Quitter),
        (crowd.sleep, Nature::Sleepy),
        (crowd.late, Nature::Late),
        (crowd.no_show, Nature::NoShow),
        (phones, Nature::HiddenPhone),
        (crowd.hidden - phones, Nature::HiddenTab),
    ];
    let mut at = rng.u16(0..1_000);
    for (share, nature) in shares {
        if at < share {
            return nature;
        }
        at -= share;
    }
    Nature::Patient
}

fn lane(shares: &[u16], rng: &mut Rng) -> u8 {
    let mut at = rng.u16(0..1_000);
    for (lane, share) in (1..).zip(shares) {
        if at < *share {
            return lane;
        }
        at -= share;
    }
    0
}

/// True `per_mille` times in a thousand.
pub(super) fn hits(per_mille: u16, rng: &mut Rng) -> bool {
    rng.u16(0..1_000) < per_mille
}

/// A time around a mean, now and then three times as long: two exponential ones, half and half.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "milliseconds of a visit"
)]
pub(super) fn around(mean: u64, rng: &mut Rng) -> u64 {
    let part = |rng: &mut Rng| -(1.0 - rng.f64()).ln();
    let times = f64::midpoint(part(rng), part(rng));
    (times * mean as f64) as u64
}
