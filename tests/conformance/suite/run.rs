//! Plays cases at one proxy, several at a time: each worker has a separate shop and a separate way to it, so that a shop's
//! requests belong to one case.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::case::Case;
use super::client::{Delivery, play};
use super::judge::{Facts, Outcome, Verdict, judge};
use super::shop::Shop;

/// How long a shop must have been silent for a case to be over.
pub const SETTLED: Duration = Duration::from_millis(25);

/// A proxy at work: by lane, where clients reach it and the shop behind it.
pub struct Contestant {
    pub lanes: Vec<(SocketAddr, Shop)>,
    /// The ids of each worker's process, or of the one for all.
    pub pids: Vec<u32>,
    pub is_gate: bool,
    /// How long an answer is waited for.
    pub patience: Duration,
}

/// The result of a case, and the part that is compared between deliveries.
pub struct Played {
    pub outcome: Outcome,
    pub gist: String,
    /// For cases of a list with rules of its own: whether they are kept.
    pub keeps_list: bool,
}

/// Plays all cases, in any order; outcomes are in theirs.
pub fn play_all(cases: &[&Case], contestant: &Contestant, delivery: Delivery) -> Vec<Played> {
    by_lanes(cases, contestant, |case, address, shop| {
        play_one(case, address, shop, contestant, delivery)
    })
}

/// Every case at the next lane that is free.
pub fn by_lanes<C: Sync>(
    cases: &[&C],
    contestant: &Contestant,
    play: impl Fn(&C, SocketAddr, &Shop) -> Played + Sync,
) -> Vec<Played> {
    let next = AtomicUsize::new(0);
    let played = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (address, shop) in &contestant.lanes {
            scope.spawn(|| {
                while let Some((at, case)) = take(cases, &next) {
                    let one = play(case, *address, shop);
                    played.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
                }
            });
        }
    });
    let mut played = played.into_inner().unwrap_or_else(PoisonError::into_inner);
    played.sort_by_key(|(at, _)| *at);
    played.into_iter().map(|(_, one)| one).collect()
}

fn take<'c, C>(cases: &[&'c C], next: &AtomicUsize) -> Option<(usize, &'c C)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    cases.get(at).map(|case| (at, *case))
}

fn play_one(case: &Case, address: SocketAddr, shop: &Shop, contestant: &Contestant, delivery: Delivery) -> Played {
    if case.gate_alone && !contestant.is_gate {
        let outcome = Outcome {
            verdict: Verdict::None,
            tells: String::new(),
            fault: None,
        };
        let gist = String::new();
        return Played {
            outcome,
            gist,
            keeps_list: true,
        };
    }
    shop.begin(case.shop);
    let heard = play(case, address, delivery, contestant.patience).expect("the proxy takes connections");
    let seen = shop.end(SETTLED);
    let facts = Facts::new(&heard, &seen);
    let mut outcome = judge(case, &facts);
    // The gate tells its own refusals from the shop's.
    let bare = |answer: &super::client::Answer| answer.status >= 400 && answer.field("ropeline-status").is_none();
    if contestant.is_gate && !case.is_shop_s_error() && heard.answers.iter().any(bare) {
        outcome.verdict = Verdict::Wrong;
        outcome.fault = Some("a refusal without Ropeline-Status".into());
    }
    Played {
        outcome,
        gist: if case.varies { String::new() } else { facts.gist() },
        keeps_list: true,
    }
}
