//! Plays cases over HTTP/2 at one proxy, several at a time.

use std::net::SocketAddr;

use super::case::Case;
use super::client::play;
use super::judge::{gist, judge, keeps_list};
use crate::suite::client::{Delivery, Heard};
use crate::suite::judge::{Facts, Verdict};
use crate::suite::run::{Contestant, Played, SETTLED, by_lanes};
use crate::suite::shop::Shop;

/// Plays all cases, in any order; outcomes are in theirs.
pub fn play_all(cases: &[&Case], contestant: &Contestant, delivery: Delivery) -> Vec<Played> {
    by_lanes(cases, contestant, |case, address, shop| {
        play_one(case, address, shop, contestant, delivery)
    })
}

fn play_one(case: &Case, address: SocketAddr, shop: &Shop, contestant: &Contestant, delivery: Delivery) -> Played {
    shop.begin(case.shop);
    let heard = play(case, address, delivery, contestant.patience).expect("the proxy takes connections");
    let seen = shop.end(SETTLED);
    let nothing = Heard::default();
    let facts = Facts::new(&nothing, &seen);
    let mut outcome = judge(case, &heard, &facts);
    let keeps_list = case.listed.is_empty() || keeps_list(case, &heard, outcome.verdict == Verdict::Right);
    if outcome.verdict == Verdict::Lenient && contestant.is_gate && !case.known.is_empty() {
        outcome.fault = None;
    }
    Played {
        outcome,
        gist: if case.varies {
            String::new()
        } else {
            gist(&heard, &facts)
        },
        keeps_list,
    }
}
