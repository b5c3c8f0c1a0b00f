//! Proxies that forward requests themselves and ask the gate for each.

use crate::config::document::Reader;
use crate::config::document::value::one_of;
use crate::config::room::Room;
use crate::config::server::Server;

/// A proxy that asks. Each has its own way of describing a request, and of taking the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asker {
    Nginx,
    Traefik,
    Caddy,
    Haproxy,
    Envoy,
}

impl Asker {
    /// Every one, with its name in the configuration and in the endpoint's path.
    pub const ALL: [(&'static str, Self); 5] = [
        ("nginx", Self::Nginx),
        ("traefik", Self::Traefik),
        ("caddy", Self::Caddy),
        ("haproxy", Self::Haproxy),
        ("envoy", Self::Envoy),
    ];
}

pub(in crate::config) fn read(reader: &Reader<'_>, server: &Server) -> Vec<Asker> {
    let section = reader.table("forward_auth");
    let askers = section.list_as("proxies", |item, form| one_of(item, form, &Asker::ALL));
    if askers.is_empty() {
        return askers;
    }
    if server.trusted_proxies.is_empty() {
        let right = "the addresses that these proxies ask from, in trusted_proxies of [server]";
        section.mistake("proxies", "nobody is trusted to ask", right);
    }
    let wrong = "of what these proxies ask about the gate sees no answer: there the shop ends no session (ends_on, \
                 Ropeline-Session: end), and a long answer or socket keeps none alive";
    let right = "a session_duration that outlasts the longest of them; sessions end by themselves, or by leave";
    section.warning("proxies", wrong, right);
    askers
}

/// Checks the settings of a room that depend on answers of the shop, which the gate does not see.
pub(in crate::config) fn check(reader: &Reader<'_>, rooms: &[Room]) {
    for room in rooms.iter().filter(|room| !room.ends_on.is_empty()) {
        let wrong = format!(
            "without [upstream] the gate hears no answer of the shop, so \"{}\" never ends by one",
            room.name
        );
        reader.warning(&format!("{}.ends_on", room.place), wrong, "the room without it");
    }
    for room in rooms.iter().filter(|room| room.settings.load_control.is_some()) {
        let wrong = format!(
            "without [upstream] the gate sees nothing of the shop, so \"{}\" calls nobody but while figures are given",
            room.name
        );
        let right = "figures by POST /api/v1/rooms/{room}/load, again and again, or the room without it";
        reader.warning(&format!("{}.load_control.by", room.place), wrong, right);
    }
}

/// A proxy that only asks hides what is under way, so the gate would take the slot of a visitor who is being served.
pub(in crate::config) fn refuse_active(reader: &Reader<'_>, rooms: &[Room]) {
    for room in rooms.iter().filter(|room| room.active.is_some()) {
        let wrong = format!(
            "the proxies of [forward_auth] do not show what is under way, so \"{}\" would park sessions in use",
            room.name
        );
        let right = "\"session\", or a gate without [forward_auth]";
        reader.mistake(&format!("{}.slots", room.place), wrong, right);
    }
}
