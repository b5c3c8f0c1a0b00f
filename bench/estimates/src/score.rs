//! Scores of intervals against true waits, and the rules that a pattern has to pass.
//!
//! Visitors weigh alike, however often they look: a look weighs one by the number of its visitor's looks that count, in a
//! quarter of the line by those in that quarter.

use std::collections::BTreeMap;

use crate::looks::{Kind, Look};

/// An interval and its middle, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Told {
    pub low: f64,
    pub middle: f64,
    pub high: f64,
}

/// How good the intervals of one run are, or of several on average.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Score {
    /// Looks that count.
    pub looks: f64,
    /// Shares of the looks: with an interval, with the true wait inside it, and the same by quarter of the line.
    pub told: f64,
    pub holds: f64,
    pub quarters: [Option<f64>; 4],
    /// The middle against the true wait: half of the errors are no larger.
    pub middle: f64,
    /// The mean interval score.
    pub interval: f64,
}

/// The looks that span a change or come soon after it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Changed {
    pub looks: f64,
    pub told: f64,
    pub holds: f64,
}

impl Told {
    /// From the seconds of a status answer.
    pub fn of((low, high): (u32, u32)) -> Self {
        let (low, high) = (f64::from(low) * 1_000.0, f64::from(high) * 1_000.0);
        Self {
            low,
            middle: f64::midpoint(low, high),
            high,
        }
    }

    /// Telling nothing counts as telling that it is the visitor's turn now: a miss with the whole wait as its error. So it
    /// never pays to keep quiet where the wait is hard to know.
    pub const NOTHING: Self = Self {
        low: 0.0,
        middle: 0.0,
        high: 0.0,
    };

    fn holds(self, wait: f64) -> bool {
        (self.low..=self.high).contains(&wait)
    }

    fn error(self, wait: f64) -> f64 {
        (self.middle - wait).abs() / wait.max(1_000.0)
    }

    /// Winkler's score at alpha = 0.2, by the wait, or a minute if that is longer: the width, and ten times as much as the
    /// wait lies outside.
    fn interval(self, wait: f64) -> f64 {
        let outside = (self.low - wait).max(0.0) + (wait - self.high).max(0.0);
        (self.high - self.low + 2.0 / ALPHA * outside) / wait.max(MINUTE)
    }
}

/// The score of what `tell` says at each look that counts.
pub fn score(looks: &[Look], tell: impl Fn(&Look) -> Option<Told>) -> Score {
    let counted: Vec<(&Look, f64)> = looks.iter().filter_map(|look| Some((look, counts(look)?))).collect();
    let weights = weights(counted.iter().map(|(look, _)| look.person));
    let in_quarter = self::weights(counted.iter().map(|(look, _)| (look.person, look.quarter)));
    let mut score = Score {
        looks: counted.len() as f64,
        ..Score::default()
    };
    let (mut sum, mut errors, mut quarters) = (0.0, Vec::new(), [(0.0, 0.0); 4]);
    for (look, wait) in counted {
        let said = tell(look);
        let told = said.unwrap_or(Told::NOTHING);
        let holds = f64::from(u8::from(said.is_some() && told.holds(wait)));
        let weight = weights[&look.person];
        sum += weight;
        score.told += weight * f64::from(u8::from(said.is_some()));
        score.holds += weight * holds;
        score.interval += weight * told.interval(wait);
        errors.push((told.error(wait), weight));
        let (held, of) = &mut quarters[usize::from(look.quarter)];
        let weight = in_quarter[&(look.person, look.quarter)];
        *held += weight * holds;
        *of += weight;
    }
    if sum > 0.0 {
        (score.told, score.holds, score.interval) = (score.told / sum, score.holds / sum, score.interval / sum);
    }
    score.middle = median(errors);
    score.quarters = quarters.map(|(held, of)| (of > 0.0).then(|| held / of));
    score
}

/// The looks around changes, each weighing alike.
pub fn changed(looks: &[Look]) -> Changed {
    let around: Vec<&Look> = looks.iter().filter(|look| look.kind == Kind::Changed).collect();
    let share = |wanted: fn(&Look) -> bool| {
        let found = around.iter().filter(|look| wanted(look)).count();
        found as f64 / around.len().max(1) as f64
    };
    Changed {
        looks: around.len() as f64,
        told: share(|look| look.told.is_some()),
        holds: share(Look::holds),
    }
}

/// The mean of the scores of several runs. A quarter without looks in a run is left out there.
pub fn mean(scores: &[Score]) -> Score {
    let runs = scores.len().max(1) as f64;
    let of = |value: fn(&Score) -> f64| scores.iter().map(value).sum::<f64>() / runs;
    let quarter = |at: usize| {
        let known: Vec<f64> = scores.iter().filter_map(|score| score.quarters[at]).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    Score {
        looks: of(|score| score.looks),
        told: of(|score| score.told),
        holds: of(|score| score.holds),
        quarters: [0, 1, 2, 3].map(quarter),
        middle: of(|score| score.middle),
        interval: of(|score| score.interval),
    }
}

/// The rules that these scores break, in words; none for a pattern that passes.
pub fn broken(score: &Score, oracle: &Score) -> Vec<&'static str> {
    let rules = [
        (score.looks > 0.0, "no looks"),
        (score.holds >= HOLDS, "holds"),
        (
            score.quarters.iter().flatten().all(|holds| *holds >= IN_QUARTER),
            "quarter",
        ),
        (score.middle <= MIDDLE.max(MIDDLE_TIMES * oracle.middle), "middle"),
        (
            score.interval <= INTERVAL_TIMES * oracle.interval + INTERVAL_MORE,
            "interval",
        ),
    ];
    rules
        .into_iter()
        .filter(|(kept, _)| !kept)
        .map(|(_, name)| name)
        .collect()
}

/// The true wait of a look that counts, in milliseconds.
fn counts(look: &Look) -> Option<f64> {
    look.wait.filter(|_| look.kind == Kind::Counts).map(|wait| wait as f64)
}

/// One by the number of times that each occurs.
fn weights<T: Ord>(of: impl Iterator<Item = T>) -> BTreeMap<T, f64> {
    let mut weights = BTreeMap::new();
    for one in of {
        *weights.entry(one).or_insert(0.0) += 1.0;
    }
    for count in weights.values_mut() {
        *count = 1.0 / *count;
    }
    weights
}

/// The least value that half of the weight does not exceed; 0 of nothing.
fn median(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let found = values.iter().find(|(_, weight)| {
        sum += weight;
        sum >= half * (1.0 - 1e-12)
    });
    found.map_or(0.0, |(value, _)| *value)
}

const ALPHA: f64 = 0.2;
const MINUTE: f64 = 60_000.0;

const HOLDS: f64 = 0.8;
const IN_QUARTER: f64 = 0.7;
const MIDDLE: f64 = 0.15;
const MIDDLE_TIMES: f64 = 1.5;
const INTERVAL_TIMES: f64 = 1.5;
const INTERVAL_MORE: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::*;

    fn look(person: u32, told: Option<(u32, u32)>, wait_secs: u64) -> Look {
        Look {
            person,
            lane: 0,
            quarter: 0,
            at: 0,
            ahead: 0,
            told,
            wait: Some(wait_secs * 1_000),
            kind: Kind::Counts,
        }
    }

    fn of(looks: &[Look]) -> Score {
        score(looks, |look| look.told.map(Told::of))
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn the_interval_score_is_the_width_and_ten_times_what_lies_outside_by_the_wait() {
        // Inside: 60 s wide by 200 s.
        near(of(&[look(0, Some((180, 240)), 200)]).interval, 0.3);
        // 20 s too late, and 20 s too early.
        near(of(&[look(0, Some((120, 180)), 200)]).interval, (60.0 + 200.0) / 200.0);
        near(of(&[look(0, Some((220, 280)), 200)]).interval, (60.0 + 200.0) / 200.0);
        // A short wait counts as a minute.
        near(of(&[look(0, Some((0, 30)), 6)]).interval, 0.5);
    }

    #[test]
    fn nothing_told_is_a_miss_with_the_whole_wait_as_its_error() {
        let score = of(&[look(0, None, 300)]);
        assert_eq!(
            (score.told, score.holds, score.middle, score.interval),
            (0.0, 0.0, 1.0, 10.0)
        );
        near(of(&[look(0, None, 0)]).holds, 0.0);
    }

    #[test]
    fn visitors_weigh_alike_however_often_they_look() {
        let mut looks = vec![look(0, Some((0, 10)), 100)];
        looks.extend((0..9).map(|_| look(1, Some((90, 110)), 100)));
        let score = of(&looks);
        near(score.holds, 0.5);
        near(score.interval, f64::midpoint((10.0 + 900.0) / 100.0, 0.2));
        // Half of the weight has no error at all.
        near(score.middle, 0.0);
    }

    #[test]
    fn the_middle_is_judged_at_the_median_of_the_visitors() {
        let looks = [
            look(0, Some((50, 150)), 100),
            look(1, Some((100, 120)), 100),
            look(2, Some((300, 500)), 100),
        ];
        near(of(&looks).middle, 0.1);
    }

    #[test]
    fn each_quarter_has_its_own_share_and_an_empty_one_none() {
        let at = |quarter, told| Look {
            quarter,
            ..look(u32::from(quarter), told, 100)
        };
        let (hit, miss) = (Some((90, 110)), Some((0, 1)));
        let score = of(&[at(0, hit), at(0, miss), at(2, hit)]);
        assert_eq!(score.quarters, [Some(0.5), None, Some(1.0), None]);
        let other = of(&[at(0, hit)]);
        let mean = mean(&[score, other]);
        assert_eq!(mean.quarters, [Some(0.75), None, Some(1.0), None]);
        near(mean.holds, f64::midpoint(0.75, 1.0));
    }

    #[test]
    fn looks_around_changes_and_of_stopped_lines_do_not_count() {
        let of_kind = |kind| Look {
            kind,
            ..look(0, Some((0, 1)), 100)
        };
        let hit = look(1, Some((90, 110)), 100);
        let unknown = Look { wait: None, ..hit };
        let looks = [hit, of_kind(Kind::Changed), of_kind(Kind::Stopped), unknown];
        let score = of(&looks);
        assert_eq!((score.looks, score.holds), (1.0, 1.0));
        let changed = changed(&looks);
        assert_eq!((changed.looks, changed.told, changed.holds), (1.0, 1.0, 0.0));
    }

    #[test]
    fn a_pattern_passes_at_the_limits_and_fails_beyond_each() {
        let oracle = Score {
            middle: 0.05,
            interval: 0.5,
            ..Score::default()
        };
        let least = Score {
            looks: 1.0,
            told: 1.0,
            holds: 0.8,
            quarters: [Some(0.7), Some(0.9), None, Some(0.7)],
            middle: 0.15,
            interval: 1.0,
        };
        assert!(broken(&least, &oracle).is_empty());
        assert_eq!(broken(&Score { holds: 0.799, ..least }, &oracle), ["holds"]);
        let quarters = [Some(0.7), Some(0.699), None, Some(0.7)];
        assert_eq!(broken(&Score { quarters, ..least }, &oracle), ["quarter"]);
        assert_eq!(broken(&Score { middle: 0.151, ..least }, &oracle), ["middle"]);
        assert_eq!(
            broken(
                &Score {
                    interval: 1.001,
                    ..least
                },
                &oracle
            ),
            ["interval"]
        );
        assert_eq!(broken(&Score { looks: 0.0, ..least }, &oracle), ["no looks"]);
        // What even the oracle cannot know is not asked for.
        let blind = Score { middle: 0.4, ..oracle };
        assert!(broken(&Score { middle: 0.6, ..least }, &blind).is_empty());
        assert_eq!(broken(&Score { middle: 0.601, ..least }, &blind), ["middle"]);
    }
}
