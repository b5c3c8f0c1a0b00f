//! Active slots: a slot belongs to a session that is in use.

use crate::config::document::Section;
use crate::config::document::value::{both, fields};
use crate::config::document::{Node, Read};
use crate::config::keys::{Form, span};
use crate::room::{ActiveSlots, Settings};
use crate::router::Route;

/// How the gate treats the sessions of a room with active slots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Active {
    /// How long a request waits for a slot.
    pub return_wait_ms: u64,
    /// At most 16.
    pub hold_slot: Vec<HoldSlot>,
    /// Routes whose requests are no use of a session.
    pub background: Vec<Route>,
}

/// Requests after which the slot is kept for a while.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoldSlot {
    pub route: Route,
    pub for_ms: u64,
}

/// Most rules of `hold_slot`.
const MAX_HOLDS: usize = 16;

/// A renewal may take 2 s to be recorded, and what is under way is looked at once a second.
const MIN_IDLE_MS: u64 = 4_000;

const KEYS: [&str; 5] = ["idle_after", "max_sessions", "return_wait", "hold_slot", "background"];

/// Reads the keys, and sets the room's part of them in `settings`. `None`: a slot belongs to a session until it ends.
pub(in crate::config) fn active(section: &Section<'_>, settings: &mut Settings) -> Option<Active> {
    let is_active = section.word("slots", &[("session", false), ("active", true)]);
    let idle_after_ms = section.need("idle_after");
    let max_sessions = section.get("max_sessions");
    let active = Active {
        return_wait_ms: section.need("return_wait"),
        hold_slot: section.list_as("hold_slot", hold_slot),
        background: section.list("background"),
    };
    if !is_active {
        section.only_with(&KEYS, "slots = \"active\"");
        return None;
    }
    settings.active = Some(ActiveSlots {
        idle_after_ms,
        max_sessions,
    });
    if active.hold_slot.len() > MAX_HOLDS {
        let wrong = format!("{} rules", active.hold_slot.len());
        section.mistake("hold_slot", wrong, format!("at most {MAX_HOLDS}"));
    }
    times(section, settings, idle_after_ms);
    rights(section, settings, max_sessions);
    Some(active)
}

fn times(section: &Section<'_>, settings: &Settings, idle_after_ms: u64) {
    if idle_after_ms < MIN_IDLE_MS {
        let wrong = "a renewal may take 2 s to be recorded, so people would lose their slot while they shop";
        section.mistake("idle_after", wrong, format!("at least {}", span(MIN_IDLE_MS)));
        return;
    }
    let Some(parked_after_ms) = settings.parks_after_ms() else {
        return;
    };
    if settings.session_ms <= parked_after_ms && !section.has_mistake("session_duration") {
        let wrong = format!(
            "an idle session would be over before it gives its slot away, {} after the last request at the latest",
            span(parked_after_ms)
        );
        section.mistake(
            "session_duration",
            wrong,
            format!("more than {}, or a shorter idle_after", span(parked_after_ms)),
        );
    }
}

fn rights(section: &Section<'_>, settings: &Settings, max_sessions: Option<u32>) {
    if max_sessions.is_some_and(|most| most < settings.capacity) {
        let wrong = format!(
            "no visitor is called beyond it, so some of the {} slots would stay free",
            settings.capacity
        );
        section.mistake("max_sessions", wrong, format!("at least {}", settings.capacity));
    }
}

fn hold_slot(node: &Node<'_>, form: &Form) -> Read<HoldSlot> {
    let [route, time] = fields(node, form)?;
    let (route, for_ms) = both(route.read(), time.read())?;
    Ok(HoldSlot { route, for_ms })
}
