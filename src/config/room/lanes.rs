//! A room's lanes: their names and weights, and which visitors belong to which.

use ipnet::IpNet;

use crate::config::document::Section;
use crate::config::document::value::name;
use crate::config::room::identity::{Identities, plain};
use crate::room::{MAX_LANES, NamedLane, ONLY_LANE};

/// A class of visitors with an order of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    pub name: String,
    pub weight: u16,
    /// Clients that belong to it.
    pub networks: Vec<IpNet>,
    /// Accounts whose token has one of these values stand in it.
    pub claims: Vec<String>,
    /// Codes lead into it.
    pub code: bool,
}

impl Lane {
    /// No rule leads to it: it is for all visitors without another lane.
    #[must_use]
    pub fn is_for_the_rest(&self) -> bool {
        self.networks.is_empty() && self.claims.is_empty() && !self.code
    }
}

/// Reads the lanes; the one for everybody else is the first.
pub(in crate::config) fn lanes(
    section: &Section<'_>,
    identity: (&Section<'_>, Option<&Identities>),
    bypass_networks: &[IpNet],
) -> Vec<Lane> {
    let mut sections = section.tables("room.lane");
    if sections.is_empty() {
        let path = format!("{}.lane[0]", section.path());
        sections.push(section.reader().defaults("room.lane", &path));
    }
    if sections.len() > MAX_LANES {
        let wrong = format!("{} lanes", sections.len());
        section.mistake("lane", wrong, format!("at most {MAX_LANES}"));
    }
    let lanes: Vec<Lane> = sections.iter().map(lane).collect();
    twice(&sections, &lanes);
    for_the_rest(section, &sections, &lanes);
    overlaps(&sections, &lanes, bypass_networks);
    claims(identity, &sections, &lanes);
    let (rest, others): (Vec<Lane>, Vec<Lane>) = lanes.into_iter().partition(Lane::is_for_the_rest);
    rest.into_iter().chain(others).take(MAX_LANES).collect()
}

/// The lanes as the log carries them: their weights, and their names unless there is only the usual one.
pub(in crate::config) fn weights_and_names(lanes: &[Lane]) -> (Vec<u16>, Vec<NamedLane>) {
    let weights = lanes.iter().map(|lane| lane.weight).collect();
    match lanes {
        [only] if only.name == ONLY_LANE => (weights, Vec::new()),
        _ => (weights, lanes.iter().map(|lane| NamedLane::new(&lane.name)).collect()),
    }
}

fn lane(section: &Section<'_>) -> Lane {
    Lane {
        name: section.need_as("name", name),
        weight: section.need("weight"),
        networks: section.list("networks"),
        claims: section.list_as("claims", plain),
        code: section.need("code"),
    }
}

fn twice(sections: &[Section<'_>], lanes: &[Lane]) {
    for (at, (section, lane)) in sections.iter().zip(lanes).enumerate() {
        if lanes[..at].iter().any(|before| before.name == lane.name) {
            let wrong = format!("another lane is called \"{}\"", lane.name);
            section.mistake("name", wrong, "a name of its own for each");
        }
    }
}

/// There is one lane that nothing leads to.
fn for_the_rest(room: &Section<'_>, sections: &[Section<'_>], lanes: &[Lane]) {
    let unread = |section: &Section<'_>| {
        ["networks", "claims", "code"]
            .iter()
            .any(|key| section.has_mistake(key))
    };
    if sections.iter().any(unread) {
        return;
    }
    let mut rest = sections.iter().zip(lanes).filter(|(_, lane)| lane.is_for_the_rest());
    let Some((_, first)) = rest.next() else {
        let wrong = "every lane is for some visitors, and there is none for everybody else";
        room.mistake("lane", wrong, "one lane without networks, claims and code");
        return;
    };
    for (section, _) in rest {
        let wrong = format!(
            "nothing leads to this lane: everybody else stands in \"{}\"",
            first.name
        );
        section.mistake("networks", wrong, "networks, claims, or code = true");
    }
}

/// Each value leads to one lane, and only a token that names an account too can say one.
fn claims((section, identity): (&Section<'_>, Option<&Identities>), sections: &[Section<'_>], lanes: &[Lane]) {
    let claimed = identity.is_some_and(|identity| identity.lane_claim.is_some());
    // Where it cannot be read it says so itself.
    let unread = identity.is_none() && section.is_set("from");
    let mut some = false;
    for (at, (section, lane)) in sections.iter().zip(lanes).enumerate() {
        if lane.claims.is_empty() {
            continue;
        }
        some = true;
        if lane.claims.len() > MAX_CLAIMS {
            let wrong = format!("{} values of a claim", lane.claims.len());
            section.mistake("claims", wrong, format!("at most {MAX_CLAIMS}"));
        }
        if !claimed && !unread {
            let wrong = "only a claim of a signed token can say who stands in this lane";
            section.mistake("claims", wrong, "room.identity with from = \"jwt\" and lane_claim");
        }
        let elsewhere = |claim: &&String| lanes[..at].iter().any(|other| other.claims.contains(claim));
        for claim in lane.claims.iter().filter(elsewhere) {
            let wrong = format!("\"{claim}\" leads to another lane too");
            section.mistake("claims", wrong, "each value in one lane");
        }
    }
    if claimed && !some {
        section.warning(
            "lane_claim",
            "no lane has claims, so this does nothing",
            "claims in a room.lane",
        );
    }
}

/// Values of a claim that lead to one lane.
const MAX_CLAIMS: usize = 16;

/// Each client belongs to one lane.
fn overlaps(sections: &[Section<'_>], lanes: &[Lane], bypass: &[IpNet]) {
    let meet = |a: &IpNet, b: &IpNet| a.contains(b) || b.contains(a);
    for (at, (section, lane)) in sections.iter().zip(lanes).enumerate() {
        for network in &lane.networks {
            let other = |other: &&Lane| other.networks.iter().any(|theirs| meet(network, theirs));
            if let Some(other) = lanes[..at].iter().find(other) {
                let wrong = format!("{network} is in the lane \"{}\" too", other.name);
                section.mistake("networks", wrong, "networks that do not overlap those of other lanes");
            }
            if let Some(passed) = bypass.iter().find(|passed| passed.contains(network)) {
                let wrong = format!("clients of {network} never wait, by {passed} in bypass_networks");
                section.warning("networks", wrong, "networks that wait");
            }
        }
    }
}
