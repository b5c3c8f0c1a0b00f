//! A proof of work for newcomers: the price, which depends on the number of joins, the challenge, and the check of the
//! answer.
//!
//! No gate remembers a challenge. Its id is the join's pending id, so the room itself gives one number for it, at any gate
//! and however often it is shown. A visitor without a script shows the challenge alone, later; since that costs a program
//! only time, it is bounded by network.

use std::net::IpAddr;

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode};

use crate::metrics::Outcome;
use crate::pages::problem::{self, Problem, Work};
use crate::pages::{PageFacts, PageKind, ProofFacts};
use crate::token::proof::{self, Challenge, PARTS};
use crate::{config, time};
use ropeline_ids::PendingId;

use super::Seat;
use crate::gate::request::aim::Aim;
use crate::gate::request::kind::Kind;
use crate::gate::request::visit::Visit;
use crate::gate::state::rules::Rules;
use crate::gate::state::shared::Shared;
use crate::gate::verdict::answers::{Answer, json, page};
use crate::gate::verdict::line_page::line_facts;

/// Apps, and the page, show their proof in this.
pub const PROOF_HEADER: HeaderName = HeaderName::from_static("ropeline-proof");

/// How long a challenge is good for, or the room's `late_window` where that is shorter: after it the room forgets the id. The
/// prices of calmer minutes are gone as soon.
const LIFE_MS: u64 = 300_000;

/// A visitor without a script waits at least this long, and at the highest price this much more.
const WAIT_SECS: u32 = 10;
const WAIT_MORE_SECS: u64 = 50;

/// How a newcomer stands to the room's proof of work.
pub enum Proof {
    /// There is none to give.
    NotAsked,
    /// It was given, and is good for this one join.
    Given(PendingId),
    Asked(Asked),
    /// The visitor waited instead, which a limited number of visitors per network may do.
    Waited(PendingId),
}

/// The challenge to show.
pub struct Asked {
    challenge: String,
    price: u32,
    wait_secs: u32,
}

/// Publishes the present price of a join for each room.
pub fn show_prices(shared: &Shared) {
    let now = time::uptime();
    let price = |rules: &Rules| Some(rules.room.proof.as_ref()?.price_at(rules.joins.per_minute(now)));
    let prices = shared
        .rules
        .iter()
        .filter_map(|rules| Some((rules.room.name.clone(), price(rules)?)));
    shared.metrics.proof_prices.set(prices.collect());
}

/// Whether a newcomer has to do something before joining, and has done it.
#[must_use]
pub fn judge(seat: &Seat<'_>, visit: &Visit, shown: Option<&str>) -> Proof {
    let Some(terms) = seat
        .rules
        .room
        .proof
        .as_ref()
        .filter(|_| seat.shown.rehearsal().is_none())
    else {
        return Proof::NotAsked;
    };
    if let Some(taken) = shown.and_then(|shown| take(seat, visit, terms, shown)) {
        return taken;
    }
    let price = terms.price_at(seat.rules.joins.per_minute(time::uptime()));
    if price == 0 {
        return Proof::NotAsked;
    }
    let challenge = Challenge {
        id: crate::replica::Arrival::first().id,
        issued_at: visit.wall,
        price,
        network: network(seat, visit.client),
    };
    let (room, line) = (&seat.rules.room.name, &seat.line);
    Proof::Asked(Asked {
        challenge: challenge.sign(&seat.shared.keyring, room, line),
        price,
        wait_secs: wait_secs(terms, price),
    })
}

/// `None`: the shown proof is invalid.
fn take(seat: &Seat<'_>, visit: &Visit, terms: &config::Proof, shown: &str) -> Option<Proof> {
    let (text, nonces) = proof::parse(shown)?;
    let (room, line) = (&seat.rules.room.name, &seat.line);
    let challenge = Challenge::read(&seat.shared.keyring, room, line, text)?;
    let age_ms = visit.wall.since(challenge.issued_at);
    let life_ms = LIFE_MS.min(seat.rules.room.settings.late_window_ms);
    if age_ms > life_ms || challenge.network != network(seat, visit.client) {
        return None;
    }
    match nonces {
        Some(nonces) => proof::solves(text, challenge.price, &nonces).then_some(Proof::Given(challenge.id)),
        None if age_ms / 1_000 < u64::from(wait_secs(terms, challenge.price)) => None,
        None => Some(Proof::Waited(challenge.id)),
    }
}

fn network(seat: &Seat<'_>, client: IpAddr) -> [u8; 17] {
    let network = seat.shared.limits.network(client);
    let address = match network.network() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    let mut bytes = [network.prefix_len(); 17];
    bytes[..16].copy_from_slice(&address.octets());
    bytes
}

/// The page that does the work, or for a program its terms.
#[must_use]
pub fn ask(seat: &Seat<'_>, visit: &Visit, asked: &Asked) -> Answer {
    if visit.kind.is_navigation() {
        return ask_page(seat, visit, asked);
    }
    let id = visit.id.as_str();
    let status = StatusCode::PRECONDITION_REQUIRED;
    let work = Work {
        challenge: &asked.challenge,
        price: asked.price,
        parts: PARTS,
        most: proof::most(asked.price),
        wait: asked.wait_secs,
    };
    let body = Problem::new(status, "proof", id)
        .room(seat.rules.room.name.as_str())
        .work(work);
    let response = json(status, "proof", problem::CONTENT_TYPE, body.to_json());
    Answer::new(Outcome::Proof, response)
}

fn ask_page(seat: &Seat<'_>, visit: &Visit, asked: &Asked) -> Answer {
    let view = seat.shared.replica.load();
    let pages = &seat.rules.pages;
    let Some(room_view) = view.rooms.get(&seat.rules.room.name) else {
        return seat.shared.unavailable(pages, visit);
    };
    let id = visit.id.as_str();
    let facts = PageFacts {
        not_sent: visit.kind != Kind::Navigation,
        message: seat.rules.message(room_view, visit.languages()),
        line: Some(line_facts(seat, visit, room_view)),
        proof: Some(ProofFacts {
            challenge: &asked.challenge,
            parts: PARTS,
            most: proof::most(asked.price),
            wait_secs: asked.wait_secs,
        }),
        ..PageFacts::new(id, visit.wall, visit.here())
    };
    let status = match visit.kind {
        Kind::Navigation if visit.aim == Aim::Shop => seat.rules.room.waiting_status,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = page(status, "proof", pages.render(PageKind::Proof, &facts, visit));
    if status != StatusCode::OK {
        let secs = HeaderValue::from(asked.wait_secs);
        response.headers_mut().insert(RETRY_AFTER, secs);
    }
    Answer::new(Outcome::Proof, response)
}

/// How long a wait replaces a proof at this price.
fn wait_secs(terms: &config::Proof, price: u32) -> u32 {
    let most = u64::from(terms.price.1).max(1);
    let more = WAIT_MORE_SECS * u64::from(price).min(most) / most;
    WAIT_SECS + u32::try_from(more).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_instead_waits_longer_the_higher_the_price() {
        let terms = config::Proof {
            price: (0, 4_000_000),
            joins_per_minute: (1, 2),
        };
        let waits = [1, 2_000_000, 4_000_000, u32::MAX].map(|price| wait_secs(&terms, price));
        assert_eq!(waits, [10, 35, 60, 60]);
    }
}
