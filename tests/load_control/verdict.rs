//! The criteria of `docs/reports/load-control-research.md`, held to a run.

use crate::course::{Course, FULL, Level, SECOND_US};
use crate::world::Trace;

pub const P99_BOUND_US: u64 = 3_000_000;

/// The results of a run.
#[derive(Debug)]
pub struct Verdict {
    pub completed: u64,
    pub lost: u64,
    /// The worst of the steady stretches; `None`: more than one of a hundred failed.
    pub p99_us: Option<u64>,
    /// Largest part by which a piece of 30 s is off its stretch's mean, in percent.
    pub swing_percent: u64,
    /// The longest that it took to be well again after a move or an outage; `None`: never.
    pub recovery_secs: Option<u64>,
}

pub fn judge(course: &Course, trace: &Trace) -> Verdict {
    let steady: Vec<(u64, u64)> = course
        .levels
        .iter()
        .filter(|level| level.percent > 0 && level.to_us > level.from_us + course.kind.settle_us)
        .map(|level| (level.from_us + course.kind.settle_us, level.to_us))
        .collect();
    let p99 = |stretch: &(u64, u64)| {
        let took = within(trace, *stretch).map(|(_, took_us)| took_us.unwrap_or(u64::MAX));
        let mut took: Vec<u64> = took.collect();
        took.sort_unstable();
        took.get(took.len() * 99 / 100).copied().filter(|us| *us < u64::MAX)
    };
    let recoveries = course.levels.iter().skip(1).filter(|level| level.percent > 0);
    Verdict {
        completed: trace.completed,
        lost: trace.lost,
        p99_us: steady
            .iter()
            .map(p99)
            .try_fold(0, |worst: u64, us| Some(worst.max(us?))),
        swing_percent: steady
            .iter()
            .map(|stretch| swing(trace, *stretch, course.kind.piece_us))
            .max()
            .unwrap_or(0),
        recovery_secs: recoveries
            .map(|level| recovery(trace, level))
            .try_fold(0, |worst: u64, secs| Some(worst.max(secs?))),
    }
}

fn within(trace: &Trace, (from_us, to_us): (u64, u64)) -> impl Iterator<Item = &(u64, Option<u64>)> {
    let first = trace.requests.partition_point(|(at_us, _)| *at_us < from_us);
    trace.requests[first..]
        .iter()
        .take_while(move |(at_us, _)| *at_us < to_us)
}

fn answered(trace: &Trace, stretch: (u64, u64)) -> u64 {
    u64::try_from(within(trace, stretch).filter(|(_, took_us)| took_us.is_some()).count()).unwrap()
}

fn swing(trace: &Trace, (from_us, to_us): (u64, u64), piece_us: u64) -> u64 {
    let pieces: Vec<u64> = (0..(to_us - from_us) / piece_us)
        .map(|i| answered(trace, (from_us + i * piece_us, from_us + (i + 1) * piece_us)))
        .collect();
    let mean = pieces.iter().sum::<u64>() / u64::try_from(pieces.len()).unwrap().max(1);
    let off = pieces.iter().map(|piece| piece.abs_diff(mean) * 100 / mean.max(1));
    off.max().unwrap_or(0)
}

/// Seconds until the end of the first 20 s in which all is well.
fn recovery(trace: &Trace, level: &Level) -> Option<u64> {
    let end_secs = (level.to_us - level.from_us) / SECOND_US;
    (20..=end_secs).find(|secs| {
        let to_us = level.from_us + secs * SECOND_US;
        let stretch = (to_us - 20 * SECOND_US, to_us);
        let all = u64::try_from(within(trace, stretch).count()).unwrap();
        let good = answered(trace, stretch);
        let quick = within(trace, stretch).filter(|(_, took_us)| took_us.is_some_and(|us| us < P99_BOUND_US));
        let quick = u64::try_from(quick.count()).unwrap();
        good * 100 >= 20 * FULL * level.percent * 70 / 100 && (all - good) * 100 < all && quick * 100 >= all * 95
    })
}
