//! The people of a run, drawn from its seed before it begins.

use crate::chance::{Chance, times};
use crate::patterns::{Arrivals, Leaving, Pattern, Shape, Stay};

/// One visitor, with all that does not depend on the line.
#[derive(Clone, PartialEq, Debug)]
pub struct Person {
    /// When the visitor joins, in milliseconds after the start.
    pub arrives: u64,
    pub lane: u8,
    pub bot: bool,
    pub shows_up: ShowsUp,
    /// How long this visitor waits before giving up.
    pub patience: Patience,
    /// Gives up by the button.
    pub says_so: bool,
    /// The page falls silent so long after joining, for so long.
    pub sleeps: Option<(u64, u64)>,
    /// From the call to the first request.
    pub reacts: u64,
    /// How long the visitor is busy inside, before drift.
    pub stays: u64,
    /// Goes to the end of the shop.
    pub finishes: bool,
}

/// What a visitor does when called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShowsUp {
    AtOnce,
    /// After the first turn is missed.
    Late,
    Never,
}

/// When a visitor gives up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Patience {
    Endless,
    /// So long after joining.
    Of(u64),
    /// So long for a visitor who joins with so many others ahead, less for one with more.
    At(u64, u32),
}

/// Everybody, in order of arrival.
pub fn draw(pattern: &Pattern, seed: u64) -> Vec<Person> {
    let mut chance = Chance::of(seed);
    let mut people: Vec<Person> = (0..pattern.visitors).map(|_| visitor(pattern, &mut chance)).collect();
    for (permille, shows_up) in [
        (pattern.bots.never, ShowsUp::Never),
        (pattern.bots.stay, ShowsUp::AtOnce),
    ] {
        for bot in 0..pattern.bots(permille) as usize {
            let at = pattern.bots.at[bot % pattern.bots.at.len()];
            people.push(Person {
                bot: true,
                shows_up,
                patience: Patience::Endless,
                sleeps: None,
                stays: pattern.room.session_max,
                finishes: false,
                ..person(pattern, at, &mut chance)
            });
        }
    }
    people.sort_by_key(|person| person.arrives);
    people
}

fn visitor(pattern: &Pattern, chance: &mut Chance) -> Person {
    let mut share = chance.below(1_000) as u16;
    let part = pattern.arrivals.iter().find(|part| {
        let found = share < part.share;
        share = share.saturating_sub(part.share);
        found
    });
    let at = part.map_or(0, |part| arrival(part, chance));
    person(pattern, at, chance)
}

fn person(pattern: &Pattern, arrives: u64, chance: &mut Chance) -> Person {
    let lane = lane(pattern, chance);
    let patience = patience(pattern.leaving, chance);
    let says_so = chance.hits(pattern.say_so);
    let kind = chance.below(1_000) as u16;
    let shows_up = match () {
        () if kind < pattern.no_show => ShowsUp::Never,
        () if kind < pattern.no_show + pattern.late => ShowsUp::Late,
        () => ShowsUp::AtOnce,
    };
    let sleeps = (kind >= 1_000 - pattern.sleep).then(|| (chance.below(SLEEPS_WITHIN), chance.below(SLEEPS_FOR)));
    Person {
        arrives,
        lane,
        bot: false,
        shows_up,
        patience,
        says_so,
        sleeps,
        reacts: 1_000 + times(chance.exponential(), REACTS_IN),
        stays: stay(pattern.stay, chance),
        finishes: chance.hits(pattern.finish),
    }
}

fn lane(pattern: &Pattern, chance: &mut Chance) -> u8 {
    let mut share = chance.below(1_000) as u16;
    for (lane, (_, of)) in (0..).zip(pattern.room.lanes) {
        if share < *of {
            return lane;
        }
        share -= of;
    }
    0
}

fn arrival(part: &Arrivals, chance: &mut Chance) -> u64 {
    let unit = chance.unit();
    let share = match part.shape {
        Shape::AtOnce => 0.0,
        Shape::Even => unit,
        Shape::Rising => unit.sqrt(),
        Shape::Falling => 1.0 - unit.sqrt(),
        Shape::Wave => f64::midpoint(unit, chance.unit()),
        Shape::Spike => unit / (1.0 + 18.0 * (1.0 - unit)),
    };
    part.from + times(share, part.over)
}

fn patience(leaving: Leaving, chance: &mut Chance) -> Patience {
    let (share, patience) = match leaving {
        Leaving::Nobody => return Patience::Endless,
        Leaving::Steady { share, mean } => (share, Patience::Of(times(chance.exponential(), mean))),
        Leaving::ByPlace { share, mean, at } => (share, Patience::At(times(chance.exponential(), mean), at)),
        Leaving::ByWait { share, median, sigma } => (share, Patience::Of(times(chance.log_normal(sigma), median))),
    };
    if chance.hits(share) {
        patience
    } else {
        Patience::Endless
    }
}

fn stay(stay: Stay, chance: &mut Chance) -> u64 {
    match stay {
        Stay::Exponential { mean } => times(chance.exponential(), mean),
        Stay::LogNormal { median, sigma } => times(chance.log_normal(sigma), median),
        Stay::Bimodal { short, long, share } => {
            let about = if chance.hits(share) { long } else { short };
            about / 2 + chance.below(about)
        }
    }
}

impl Patience {
    /// When a visitor gives up who joins now with so many others ahead.
    pub fn until(self, now: u64, ahead: u64) -> Option<u64> {
        match self {
            Self::Endless => None,
            Self::Of(after) => Some(now + after),
            Self::At(after, at) => Some(now + after.saturating_mul(u64::from(at)) / (ahead + 1)),
        }
    }
}

/// A called visitor comes after a second, and after so long more on average.
const REACTS_IN: u64 = 8_000;

const SLEEPS_WITHIN: u64 = 30 * 60_000;
const SLEEPS_FOR: u64 = 15 * 60_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::{Bots, JUDGING, MIN, PLAIN, WORKING, arrive};

    #[test]
    fn the_same_seed_is_the_same_crowd_and_another_one_is_another() {
        for pattern in &WORKING[..3] {
            assert_eq!(draw(pattern, 7), draw(pattern, 7));
            assert_ne!(draw(pattern, 7), draw(pattern, 8));
        }
    }

    #[test]
    fn every_crowd_is_as_large_as_its_pattern_says_and_comes_in_its_time() {
        for pattern in WORKING.iter().chain(&JUDGING) {
            let people = draw(pattern, 1);
            assert_eq!(people.len(), pattern.everybody() as usize, "{}", pattern.name);
            assert!(people.is_sorted_by_key(|person| person.arrives), "{}", pattern.name);
            let last = people.last().map_or(0, |person| person.arrives);
            assert!(last <= pattern.comes_until(), "{}", pattern.name);
            let lanes = pattern.room.lanes.len();
            assert!(
                people.iter().all(|person| usize::from(person.lane) < lanes),
                "{}",
                pattern.name
            );
        }
    }

    #[test]
    fn shares_of_a_crowd_are_those_of_its_pattern() {
        let pattern = Pattern {
            visitors: 20_000,
            no_show: 200,
            late: 100,
            sleep: 300,
            leaving: Leaving::Steady { share: 400, mean: MIN },
            bots: Bots {
                never: 50,
                stay: 25,
                at: &[0, MIN],
            },
            ..PLAIN
        };
        let people = draw(&pattern, 1);
        let share = |wanted: &dyn Fn(&Person) -> bool| {
            let found = people.iter().filter(|person| !person.bot && wanted(person));
            found.count() / 20
        };
        let near = |permille: usize, wanted: &dyn Fn(&Person) -> bool| {
            assert!(
                share(wanted).abs_diff(permille) < 15,
                "{} for {permille}",
                share(wanted)
            );
        };
        near(200, &|person| person.shows_up == ShowsUp::Never);
        near(100, &|person| person.shows_up == ShowsUp::Late);
        near(300, &|person| person.sleeps.is_some());
        near(400, &|person| person.patience != Patience::Endless);
        near(500, &|person| person.finishes);
        let bots = |shows_up| {
            people
                .iter()
                .filter(|person| person.bot && person.shows_up == shows_up)
                .count()
        };
        assert_eq!((bots(ShowsUp::Never), bots(ShowsUp::AtOnce)), (1_000, 500));
    }

    #[test]
    fn each_shape_has_its_half_where_it_says() {
        let half = |shape| {
            let mut chance = Chance::of(1);
            let part = arrive(1_000, shape, 1_000, 100_000);
            let mut times: Vec<u64> = (0..10_001).map(|_| arrival(&part, &mut chance)).collect();
            times.sort_unstable();
            assert!(times[0] >= 1_000 && times[10_000] <= 101_000);
            (times[5_000] - 1_000) / 1_000
        };
        let halves = [
            Shape::AtOnce,
            Shape::Even,
            Shape::Rising,
            Shape::Falling,
            Shape::Wave,
            Shape::Spike,
        ]
        .map(half);
        let wanted = [0, 50, 70, 29, 50, 5];
        assert!(
            halves.iter().zip(wanted).all(|(is, wanted)| is.abs_diff(wanted) <= 2),
            "{halves:?}"
        );
    }

    #[test]
    fn the_further_back_a_visitor_joined_the_sooner_patience_ends() {
        let patience = Patience::At(60_000, 100);
        assert_eq!(patience.until(5_000, 99), Some(65_000));
        assert_eq!(patience.until(5_000, 199), Some(35_000));
        assert_eq!(Patience::Of(60_000).until(5_000, 199), Some(65_000));
        assert_eq!(Patience::Endless.until(0, 1), None);
    }
}
