//! The gate's own addresses, as pages lead to them.

use super::kind::LineFacts;
use super::text::percent_encode;
use ropeline_ids::{LineName, RoomName};

/// A longer address than this is not carried through the check: without JavaScript the page then reloads where it is.
pub(super) const MAX_CARRIED: usize = 2_000;

/// The gate's own addresses for a room.
pub(super) fn api(room: &RoomName) -> String {
    format!("/.ropeline/rooms/{room}")
}

/// The suffix of the addresses: empty, or `?line=…`.
pub(super) fn query(line: &LineName) -> String {
    if line.is_only() {
        String::new()
    } else {
        format!("?line={}", percent_encode(line.as_str()))
    }
}

/// Where the gate looks whether the browser kept its ticket and sends it back to `here`.
pub(super) fn check_url(line: &LineFacts<'_>, here: &str) -> String {
    let here = if here.len() > MAX_CARRIED { "/" } else { here };
    format!("{}to={}", check(line), percent_encode(here))
}

/// The same for a visitor who gets no page first; none for an address that is too long to be carried there.
#[must_use]
pub fn check_of(room: &RoomName, line: &LineName, here: &str) -> Option<String> {
    let line = if line.is_only() {
        String::new()
    } else {
        format!("line={}&", percent_encode(line.as_str()))
    };
    let to = percent_encode(here);
    (here.len() <= MAX_CARRIED).then(|| format!("/.ropeline/rooms/{room}/check?{line}to={to}"))
}

/// The same, up to where its own parameters begin.
pub(super) fn check(line: &LineFacts<'_>) -> String {
    let query = query(line.line);
    let join = if query.is_empty() { '?' } else { '&' };
    format!("{}/check{query}{join}", api(line.room))
}
