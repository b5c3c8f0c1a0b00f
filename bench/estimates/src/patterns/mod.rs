//! Patterns of crowds: plain descriptions of a room, its visitors, and what happens meanwhile.
//!
//! The patterns of `working` are for choosing a method. Those of `judging` judge it: their results are not looked at before
//! the method is done. Both lists are frozen.

mod judging;
mod working;

pub use judging::JUDGING;
pub use working::WORKING;

pub const SEC: u64 = 1_000;
pub const MIN: u64 = 60 * SEC;
pub const HOUR: u64 = 60 * MIN;

/// One pattern. Durations in milliseconds, shares in thousandths.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub name: &'static str,
    pub room: Room,
    /// People, without bots.
    pub visitors: u32,
    pub arrivals: &'static [Arrivals],
    pub leaving: Leaving,
    /// Of those who leave the line, these use the button. The others close the page.
    pub say_so: u16,
    /// Do not come in when they are called.
    pub no_show: u16,
    /// Come only after they have missed their first turn.
    pub late: u16,
    /// Their page falls silent once in the first half hour, for up to a quarter of an hour.
    pub sleep: u16,
    pub bots: Bots,
    pub stay: Stay,
    /// From so long after the start on, stays are so many thousandths of `stay`; in between it changes evenly.
    pub drift: &'static [(u64, u32)],
    /// Of those inside, go to the end, after which the shop's answer ends the session in `end_grace`.
    pub finish: u16,
    pub end_grace: u64,
    /// How often a visitor inside asks for a page, on average.
    pub page: u64,
    /// Changes that no visitor is told of before, each at a time after the start.
    pub changes: &'static [(u64, Change)],
    /// How long the gate collects events before it appends them.
    pub step: u64,
    /// Visitors whose looks are recorded.
    pub watched: u32,
}

/// The settings of a room.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub capacity: u32,
    pub rate_per_minute: Option<u32>,
    pub call_every: u64,
    pub session: u64,
    pub session_max: u64,
    pub claim: u64,
    pub grace: u64,
    /// The weight of each lane, and the share of the visitors who join there; the shares add up to 1,000.
    pub lanes: &'static [(u16, u16)],
    /// The room follows its shop, which serves so many people at once well.
    pub follows: Option<u32>,
}

/// A part of the visitors, who come in a span of time.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    pub share: u16,
    pub from: u64,
    pub over: u64,
    pub shape: Shape,
}

/// How a part of the visitors is spread over its span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    AtOnce,
    Even,
    /// More and more.
    Rising,
    /// Fewer and fewer.
    Falling,
    /// Rises to the middle and falls again.
    Wave,
    /// Half of them in the first twentieth.
    Spike,
}

/// Who gives up in line, and when.
#[derive(Clone, Copy, Debug)]
pub enum Leaving {
    Nobody,
    /// The same hazard all the time.
    Steady {
        share: u16,
        mean: u64,
    },
    /// The further back they joined, the sooner: the mean is `mean` for a visitor with `at` others before them.
    ByPlace {
        share: u16,
        mean: u64,
        at: u32,
    },
    /// After a time that is log-normal.
    ByWait {
        share: u16,
        median: u64,
        sigma: u16,
    },
}

/// Programs that join, in equal masses at these times.
#[derive(Clone, Copy, Debug)]
pub struct Bots {
    /// As many as so many thousandths of the visitors, who never come in.
    pub never: u16,
    /// The same, who come in and stay as long as a session may.
    pub stay: u16,
    pub at: &'static [u64],
}

/// How long people are busy inside.
#[derive(Clone, Copy, Debug)]
pub enum Stay {
    Exponential {
        mean: u64,
    },
    LogNormal {
        median: u64,
        sigma: u16,
    },
    /// This share stays about as long as `long`, the others about as long as `short`: half to one and a half times.
    Bimodal {
        short: u64,
        long: u64,
        share: u16,
    },
}

/// A change by the operator or of the shop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Capacity(u32),
    Rate(Option<u32>),
    Hold,
    GoOn,
    /// The shop answers nobody, and the gates' circuit opens.
    ShopStops,
    ShopIsBack,
}

/// A room of the default values, and a crowd that comes at once and stays in line.
pub const PLAIN: Pattern = Pattern {
    name: "",
    room: Room {
        capacity: 100,
        rate_per_minute: None,
        call_every: SEC,
        session: 5 * MIN,
        session_max: 2 * HOUR,
        claim: 90 * SEC,
        grace: 4 * MIN,
        lanes: &[(1, 1_000)],
        follows: None,
    },
    visitors: 1_000,
    arrivals: &[Arrivals {
        share: 1_000,
        from: 0,
        over: 0,
        shape: Shape::AtOnce,
    }],
    leaving: Leaving::Nobody,
    say_so: 500,
    no_show: 0,
    late: 0,
    sleep: 0,
    bots: Bots {
        never: 0,
        stay: 0,
        at: &[],
    },
    stay: Stay::Exponential { mean: 3 * MIN },
    drift: &[],
    finish: 500,
    end_grace: 30 * SEC,
    page: 20 * SEC,
    changes: &[],
    step: SEC,
    watched: 1_000,
};

/// A part of the arrivals.
pub const fn arrive(share: u16, shape: Shape, from: u64, over: u64) -> Arrivals {
    Arrivals {
        share,
        from,
        over,
        shape,
    }
}

impl Pattern {
    /// People and bots.
    #[cfg(test)]
    pub fn everybody(&self) -> u32 {
        self.visitors + self.bots(self.bots.never) + self.bots(self.bots.stay)
    }

    pub fn bots(&self, permille: u16) -> u32 {
        (u64::from(self.visitors) * u64::from(permille) / 1_000) as u32
    }

    /// When the last of them comes, at the latest.
    pub fn comes_until(&self) -> u64 {
        let ends = self.arrivals.iter().map(|part| part.from + part.over);
        ends.chain(self.bots.at.iter().copied()).max().unwrap_or(0)
    }

    /// The factor of stays at a time, in thousandths.
    pub fn drifted(&self, now: u64) -> u64 {
        let after = self.drift.iter().position(|(at, _)| *at > now);
        match (after, self.drift.last()) {
            (_, None) => 1_000,
            (None, Some((_, last))) => u64::from(*last),
            (Some(0), _) => u64::from(self.drift[0].1),
            (Some(i), _) => {
                let ((from, a), (to, b)) = (self.drift[i - 1], self.drift[i]);
                (u64::from(a) * (to - now) + u64::from(b) * (now - from)) / (to - from)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = &'static Pattern> {
        WORKING.iter().chain(&JUDGING)
    }

    #[test]
    fn every_pattern_is_within_the_limits_of_the_issue() {
        for pattern in all() {
            let name = pattern.name;
            assert!((5..=50_000).contains(&pattern.room.capacity), "{name}");
            assert!((1..=200_000).contains(&pattern.everybody()), "{name}");
            assert!(pattern.comes_until() <= 3 * 24 * HOUR, "{name}");
            assert!((1..=2_000).contains(&pattern.watched), "{name}");
            assert!((250..=2_000).contains(&pattern.step), "{name}");
            let of_arrivals: u16 = pattern.arrivals.iter().map(|part| part.share).sum();
            let of_lanes: u16 = pattern.room.lanes.iter().map(|(_, share)| share).sum();
            assert_eq!((of_arrivals, of_lanes), (1_000, 1_000), "{name}");
            let rest = pattern.no_show + pattern.late + pattern.sleep;
            assert!(rest <= 1_000 && pattern.finish <= 1_000, "{name}");
            let bots = pattern.bots.never + pattern.bots.stay;
            assert_eq!(bots > 0, !pattern.bots.at.is_empty(), "{name}");
            assert!(pattern.changes.is_sorted_by_key(|(at, _)| at), "{name}");
            assert!(pattern.drift.is_sorted_by_key(|(at, _)| at), "{name}");
        }
    }

    #[test]
    fn there_are_twenty_of_each_and_no_two_have_a_name_or_a_size_in_common() {
        assert_eq!((WORKING.len(), JUDGING.len()), (20, 20));
        let mut names: Vec<&str> = all().map(|pattern| pattern.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 40);
        let size = |pattern: &Pattern| (pattern.room.capacity, pattern.visitors);
        for judging in &JUDGING {
            assert!(
                WORKING.iter().all(|working| size(working) != size(judging)),
                "{}",
                judging.name
            );
        }
    }

    #[test]
    fn both_lists_have_the_whole_range() {
        for list in [&WORKING, &JUDGING] {
            let some = |wanted: &dyn Fn(&Pattern) -> bool| list.iter().any(wanted);
            let most = |of: fn(&Pattern) -> u32| list.iter().map(of).max().unwrap_or(0);
            assert!(list.iter().any(|pattern| pattern.room.capacity <= 10));
            assert_eq!(most(|pattern| pattern.room.capacity), 50_000);
            assert!(most(Pattern::everybody) >= 180_000);
            assert!(some(&|pattern| pattern.comes_until() >= 12 * HOUR));
            assert!(some(&|pattern| matches!(pattern.leaving, Leaving::Steady { .. })));
            assert!(some(&|pattern| matches!(pattern.leaving, Leaving::ByPlace { .. })));
            assert!(some(&|pattern| matches!(pattern.leaving, Leaving::ByWait { .. })));
            assert!(some(&|pattern| pattern.no_show >= 200) && some(&|pattern| pattern.late > 0));
            assert!(some(&|pattern| pattern.bots.never > 0) && some(&|pattern| pattern.bots.stay > 0));
            let drifts = |up: bool| {
                move |pattern: &Pattern| {
                    let last = pattern.drift.last();
                    last.is_some_and(|(_, last)| (*last > 1_000) == up)
                }
            };
            assert!(some(&drifts(true)) && some(&drifts(false)));
            for wanted in ["Capacity", "Rate", "Hold", "GoOn", "ShopStops", "ShopIsBack"] {
                let has = |(_, change): &(u64, Change)| format!("{change:?}").starts_with(wanted);
                assert!(some(&|pattern| pattern.changes.iter().any(has)), "{wanted}");
            }
            assert!(some(&|pattern| pattern.room.lanes.len() > 1));
            assert!(some(&|pattern| pattern.room.rate_per_minute.is_some()));
            assert!(some(&|pattern| matches!(pattern.stay, Stay::Bimodal { .. })));
            assert!(some(&|pattern| matches!(pattern.stay, Stay::LogNormal { .. })));
        }
    }

    #[test]
    fn a_drift_goes_evenly_from_point_to_point_and_stands_before_and_after() {
        let pattern = Pattern {
            drift: &[(100, 1_000), (200, 2_000)],
            ..PLAIN
        };
        let at = [0, 100, 150, 200, 900].map(|now| pattern.drifted(now));
        assert_eq!(at, [1_000, 1_000, 1_500, 2_000, 2_000]);
        assert_eq!(PLAIN.drifted(7), 1_000);
    }
}
