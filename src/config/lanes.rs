//! A room's lanes: what they are called, what they weigh, and who is sent to which.

use ipnet::IpNet;

use super::reader::Section;
use super::room::Room;
use super::value::{name, network, number, yes_or_no};
use crate::room::{MAX_LANES, NamedLane, ONLY_LANE};

/// A class of visitors with an order of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    pub name: String,
    pub weight: u16,
    /// Clients who stand in it.
    pub networks: Vec<IpNet>,
    /// Codes lead into it.
    pub code: bool,
}

impl Lane {
    /// Nothing leads to it: everybody stands in it who stands in no other.
    #[must_use]
    pub fn is_for_the_rest(&self) -> bool {
        self.networks.is_empty() && !self.code
    }
}

/// Reads the lanes; the one for everybody else is the first.
pub(super) fn lanes(section: &Section<'_>, room: &mut Room) {
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
    overlaps(&sections, &lanes, &room.bypass_networks);
    let (rest, others): (Vec<Lane>, Vec<Lane>) = lanes.into_iter().partition(Lane::is_for_the_rest);
    room.lanes = rest.into_iter().chain(others).take(MAX_LANES).collect();
    room.settings.lane_weights = room.lanes.iter().map(|lane| lane.weight).collect();
    let plain = room.lanes.len() == 1 && room.lanes[0].name == ONLY_LANE;
    let named = room.lanes.iter().map(|lane| NamedLane::new(&lane.name));
    room.settings.lanes = if plain { Vec::new() } else { named.collect() };
}

fn lane(section: &Section<'_>) -> Lane {
    let weight = section.need("weight", |node| number(node, 1..=1_000));
    Lane {
        name: section.need("name", name),
        weight: u16::try_from(weight).unwrap_or(u16::MAX),
        networks: section.list("networks", network),
        code: section.need("code", yes_or_no),
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
    let unread = |section: &Section<'_>| section.has_mistake("networks") || section.has_mistake("code");
    if sections.iter().any(unread) {
        return;
    }
    let mut rest = sections.iter().zip(lanes).filter(|(_, lane)| lane.is_for_the_rest());
    let Some((_, first)) = rest.next() else {
        let wrong = "every lane is for some visitors, and there is none for everybody else";
        room.mistake("lane", wrong, "one lane without networks and without code");
        return;
    };
    for (section, _) in rest {
        let wrong = format!(
            "nothing leads to this lane: everybody else stands in \"{}\"",
            first.name
        );
        section.mistake("networks", wrong, "networks, or code = true");
    }
}

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
                let wrong = format!("whoever comes from {network} never waits, by {passed} in bypass_networks");
                section.warning("networks", wrong, "networks that wait");
            }
        }
    }
}
