//! A pattern judged: its runs, the oracle's, and the scores of both on the same looks.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::looks::{Kind, Look};
use crate::oracle::{Oracle, Waits};
use crate::patterns::Pattern;
use crate::run::{Record, run};
use crate::score::{Changed, Score, Told, changed, mean, score};
use crate::seeds::{OTHERS, Origin, RUNS};

/// The figures of one pattern.
pub struct Judged {
    pub pattern: &'static Pattern,
    /// The mean of all runs, of what was told and of what the oracle tells.
    pub score: Score,
    pub oracle: Score,
    /// Of each run, in the order of seeds.
    pub runs: Vec<Score>,
    pub changed: Changed,
    /// Looks of all runs whose true wait is not known.
    pub censored: usize,
    /// The looks of the first run, with what the oracle tells.
    pub first: Vec<(Look, Option<Told>)>,
}

pub fn judge(pattern: &'static Pattern, origin: &Origin) -> Judged {
    let waits = Mutex::new(Waits::default());
    in_parallel(OTHERS, |at| {
        let outcome = run(pattern, origin.other(pattern.name, at), Record::Waits);
        waits.lock().expect("no thread has panicked").add(&outcome.looks);
    });
    let oracle = waits.into_inner().expect("no thread has panicked").oracle();
    let runs = in_parallel(RUNS, |at| {
        let outcome = run(pattern, origin.run(pattern.name, at), Record::Told);
        let told = score(&outcome.looks, |look| look.told.map(Told::of));
        let known = score(&outcome.looks, |look| oracle.told(look));
        let censored = outcome.looks.iter().filter(|look| look.wait.is_none()).count();
        let first = if at == 0 {
            with_oracle(&outcome.looks, &oracle)
        } else {
            Vec::new()
        };
        (told, known, changed(&outcome.looks), censored, first)
    });
    let scores: Vec<Score> = runs.iter().map(|(told, ..)| *told).collect();
    let known: Vec<Score> = runs.iter().map(|(_, known, ..)| *known).collect();
    let of =
        |value: fn(&Changed) -> f64| runs.iter().map(|(_, _, changed, ..)| value(changed)).sum::<f64>() / RUNS as f64;
    Judged {
        pattern,
        score: mean(&scores),
        oracle: mean(&known),
        changed: Changed {
            looks: of(|changed| changed.looks),
            told: of(|changed| changed.told),
            holds: of(|changed| changed.holds),
        },
        censored: runs.iter().map(|(_, _, _, censored, _)| censored).sum(),
        runs: scores,
        first: runs.into_iter().next().map_or_else(Vec::new, |(.., first)| first),
    }
}

fn with_oracle(looks: &[Look], oracle: &Oracle) -> Vec<(Look, Option<Told>)> {
    let counted = looks.iter().filter(|look| look.kind == Kind::Counts);
    counted.map(|look| (*look, oracle.told(look))).collect()
}

/// Does this for all numbers below `count`, on all cores; the results stand in the order of the numbers.
pub fn in_parallel<T: Send>(count: usize, does: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..cores.min(count) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let result = does(at);
                    done.lock().expect("no thread has panicked").push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread has panicked");
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_order() {
        assert_eq!(in_parallel(100, |at| at * 2), (0..200).step_by(2).collect::<Vec<_>>());
        assert!(in_parallel(0, |at| at).is_empty());
    }
}
