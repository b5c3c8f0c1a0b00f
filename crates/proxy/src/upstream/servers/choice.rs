//! Which server is next: the less busy, for its weight, of two drawn by weight.

use std::sync::Arc;

use super::target::Target;

/// A server that is not out, and among these one that is not full if there is one.
pub(super) fn among_the_well(targets: &[Arc<Target>], tried: &[Arc<Target>], now_ms: u64) -> Option<Arc<Target>> {
    for _ in 0..DRAWS {
        let chosen = draw(targets, |target| {
            is_open(target, tried) && target.takes(now_ms) && !target.is_full()
        })
        .or_else(|| draw(targets, |target| is_open(target, tried) && target.takes(now_ms)))?;
        // The first request after the server's time out is a trial, and the only one. If the server has no room, a request
        // that has waited for it is the trial.
        if chosen.is_full() || chosen.enter(now_ms) {
            return Some(Arc::clone(chosen));
        }
    }
    None
}

/// Any server with a weight, and one that is not full if there is one.
pub(super) fn among_all(targets: &[Arc<Target>], tried: &[Arc<Target>]) -> Option<Arc<Target>> {
    draw(targets, |target| is_open(target, tried) && !target.is_full())
        .or_else(|| draw(targets, |target| is_open(target, tried)))
        .map(Arc::clone)
}

/// All servers that are not out.
pub(super) fn all_well(targets: &[Arc<Target>], tried: &[Arc<Target>], now_ms: u64) -> Vec<Arc<Target>> {
    let well = |target: &&Arc<Target>| is_open(target, tried) && target.takes(now_ms);
    targets.iter().filter(well).map(Arc::clone).collect()
}

fn is_open(target: &Arc<Target>, tried: &[Arc<Target>]) -> bool {
    target.weight() > 0 && !tried.iter().any(|tried| Arc::ptr_eq(tried, target))
}

fn draw(targets: &[Arc<Target>], may: impl Fn(&Arc<Target>) -> bool) -> Option<&Arc<Target>> {
    let first = by_weight(targets, &may)?;
    let second = by_weight(targets, |target| !Arc::ptr_eq(target, first) && may(target));
    Some(second.filter(|second| is_less_busy(second, first)).unwrap_or(first))
}

fn by_weight(targets: &[Arc<Target>], may: impl Fn(&Arc<Target>) -> bool) -> Option<&Arc<Target>> {
    let sum: u64 = targets
        .iter()
        .filter(|target| may(target))
        .map(|target| u64::from(target.weight()))
        .sum();
    if sum == 0 {
        return None;
    }
    let mut at = fastrand::u64(0..sum);
    let mut last = None;
    for target in targets.iter().filter(|target| may(target)) {
        let weight = u64::from(target.weight());
        if at < weight {
            return Some(target);
        }
        at -= weight;
        last = Some(target);
    }
    // Weights or healths changed meanwhile.
    last
}

/// Compares requests in flight per unit of weight; equal is not less.
fn is_less_busy(a: &Target, b: &Target) -> bool {
    u64::from(a.in_flight()) * u64::from(b.weight()) < u64::from(b.in_flight()) * u64::from(a.weight())
}

/// Draws until a request gives up finding a server that is not out: others may take the trials it sees.
const DRAWS: usize = 4;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::target::Busy;
    use super::*;
    use crate::settings::{ConnectionBound, UpstreamSettings};

    fn targets(weights: &[u32]) -> Vec<Arc<Target>> {
        let mut servers = Vec::new();
        for (at, weight) in (1..).zip(weights) {
            let mut settings = UpstreamSettings::new("127.0.0.1", at);
            settings.servers[0].weight = *weight;
            servers.extend(super::super::Names::of(&settings).targets(&[], &[]));
        }
        servers
    }

    fn shares(targets: &[Arc<Target>]) -> Vec<usize> {
        let mut counts = vec![0; targets.len()];
        for _ in 0..10_000 {
            let chosen = among_the_well(targets, &[], 0).unwrap();
            counts[targets.iter().position(|target| Arc::ptr_eq(target, &chosen)).unwrap()] += 1;
        }
        counts
    }

    #[test]
    fn idle_servers_share_by_weight() {
        let counts = shares(&targets(&[1, 3]));
        assert!((2_200..2_800).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn weight_of_0_takes_nothing() {
        assert_eq!(shares(&targets(&[0, 1])), [0, 10_000]);
        assert!(among_the_well(&targets(&[0]), &[], 0).is_none());
        assert!(among_all(&targets(&[0, 0]), &[]).is_none());
    }

    #[test]
    fn less_busy_of_two_is_taken() {
        let targets = targets(&[1, 1]);
        let _busy = Busy::with(Arc::clone(&targets[0]));
        assert_eq!(shares(&targets), [0, 10_000]);
    }

    #[test]
    fn busy_is_relative_to_weight() {
        let targets = targets(&[1, 4]);
        let _one = Busy::with(Arc::clone(&targets[0]));
        let _four = [(); 3].map(|()| Busy::with(Arc::clone(&targets[1])));
        assert_eq!(shares(&targets), [0, 10_000], "3 of 4 is less than 1 of 1");
    }

    #[test]
    fn tried_server_is_not_chosen_again() {
        let targets = targets(&[1, 1]);
        let tried = [Arc::clone(&targets[0])];
        assert!((0..100).all(|_| Arc::ptr_eq(&among_all(&targets, &tried).unwrap(), &targets[1])));
        assert!(among_all(&targets, &targets.clone()).is_none());
    }

    #[test]
    fn of_servers_that_are_all_out_none_is_well_and_any_is_taken() {
        let targets = targets(&[1, 1]);
        for target in &targets {
            for _ in 0..3 {
                target.failed("it is down", 1_000);
            }
        }
        assert!(among_the_well(&targets, &[], 1_000).is_none());
        assert!(among_all(&targets, &[]).is_some());
    }

    #[test]
    fn trial_waits_where_there_is_no_room() {
        let mut settings = UpstreamSettings::new("127.0.0.1", 1);
        settings.bound = Some(ConnectionBound {
            connections: 1,
            waiting: 1,
            wait: Duration::ZERO,
        });
        let targets = super::super::Names::of(&settings).targets(&[], &[]);
        let busy = Busy::at(Arc::clone(&targets[0])).ok();
        for _ in 0..3 {
            targets[0].failed("it is down", 0);
        }
        let later = 1_000_000;
        assert!(busy.is_some() && among_the_well(&targets, &[], later).is_some());
        assert!(targets[0].takes(later), "nobody is there to try it");
        drop(busy);
        assert!(among_the_well(&targets, &[], later).is_some());
        assert!(!targets[0].takes(later), "one is");
    }
}
