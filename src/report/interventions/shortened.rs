//! Durations that a configuration file shortened while visitors relied on them.

use super::people;
use crate::room::{RoomView, Settings};

/// One kind of them: its text, and for how many visitors.
pub(super) type Shortened = (&'static str, String, u64);

/// The times that became shorter, by the visitors who lose by it; empty if there are none.
pub(super) fn shortened(was: &Settings, is: &Settings, room: &RoomView) -> Vec<Shortened> {
    let [waiting, called, inside] = people(room);
    let presence = [
        ("grace", was.grace_ms, is.grace_ms),
        ("firm_within", was.firm_within_ms, is.firm_within_ms),
        ("late_window", was.late_window_ms, is.late_window_ms),
    ];
    let turn = [("claim_deadline", was.claim_deadline_ms, is.claim_deadline_ms)];
    let session = [
        ("session_duration", was.session_ms, is.session_ms),
        ("session_max", was.session_max_ms, is.session_max_ms),
    ];
    let kinds: [(&'static str, &[Duration], u64, &str); 3] = [
        ("shorter presence", &presence, waiting, "waited"),
        ("shorter turn", &turn, waiting + called, "waited or were called"),
        ("shorter session", &session, inside, "were inside"),
    ];
    let told = kinds.into_iter().filter_map(|(kind, durations, count, did)| {
        let what = shorter(durations).filter(|_| count > 0)?;
        Some((kind, format!("{what}, while {count} {did}"), count))
    });
    told.collect()
}

/// A key with its former and its present value, in milliseconds.
type Duration = (&'static str, u64, u64);

fn shorter(durations: &[Duration]) -> Option<String> {
    let shorter = durations.iter().filter(|(_, was, is)| is < was);
    let said: Vec<String> = shorter
        .map(|(key, was, is)| format!("{key} shortened from {was} ms to {is} ms"))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}
