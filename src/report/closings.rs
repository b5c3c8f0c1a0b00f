//! Lines closed for a draw: whether the draw was committed to before, and for this opening.

use std::collections::BTreeMap;

use super::describe;
use super::findings::Stamp;
use crate::dates::rfc3339;
use crate::room::{Edition, GateId, LaneId, MAX_LANES, RoomName, RoomView, Wall};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Closings {
    /// The last change of a room's opening, while its line forms.
    moved: BTreeMap<RoomName, String>,
    /// The last edition of each room whose line was closed with visitors in it. The line itself is forgotten once all have
    /// given up.
    drawn: BTreeMap<RoomName, Edition>,
}

impl Closings {
    /// A room went from one view to the next by an entry of `gate`; `cause` says who changed the room with it. Returns the unfairness
    /// of the closing of its line, if it was closed unfairly.
    pub fn follow(
        &mut self,
        name: &RoomName,
        (before, after): (&RoomView, Option<&RoomView>),
        (cause, gate, at): (Option<String>, GateId, &Stamp),
    ) -> Option<String> {
        let Some(after) = after.filter(|after| after.edition == before.edition || after.sale.closed.is_some()) else {
            self.moved.remove(name);
            return None;
        };
        if let Some(who) = cause.filter(|_| opening(before) != opening(after)) {
            let gate = describe::gate(gate);
            let moved = format!("moved by {who} at gate {gate}, {}", at.time);
            self.moved.insert(name.clone(), moved);
        }
        let goes_on = before.edition == after.edition && before.sale.closed.is_some();
        let closed = after.sale.closed.filter(|_| !goes_on)?;
        if is_drawn(after) {
            self.drawn.insert(name.clone(), after.edition);
        }
        let moved = self.moved.remove(name);
        let moved = moved.map_or_else(String::new, |moved| format!(": {moved}"));
        let edition = after.edition.0;
        let at = rfc3339(closed);
        // One that comes with the entry that closes the line may be made with the line in sight; one that a gate brings back
        // with a closing is older than it.
        let kept = before
            .sale
            .commitment
            .as_ref()
            .filter(|_| before.edition == after.edition);
        let brought = || after.sale.commitment.as_ref().filter(|promise| promise.at < closed);
        match kept.or_else(brought) {
            Some(promised) if closed < promised.forms.opens => Some(format!(
                "{name}: the line of edition {edition} was closed for its draw at {at}, before the opening promised for {}{moved}",
                rfc3339(promised.forms.opens)
            )),
            None if is_drawn(after) => Some(format!(
                "{name}: the line of edition {edition} was closed for its draw at {at}, without a promise of its draw{moved}"
            )),
            _ => None,
        }
    }

    /// Whether there is a visitor to draw in the room's edition, whose line is closed or about to be.
    pub fn draws_somebody(&self, name: &RoomName, room: &RoomView) -> bool {
        let waits = || room.lines.iter().any(|(_, line)| line.figures.waiting > 0);
        is_drawn(room) || (room.sale.closed.is_none() && waits()) || self.drawn.get(name) == Some(&room.edition)
    }
}

/// When the room's line opens by its schedule.
fn opening(room: &RoomView) -> Option<Wall> {
    room.stage.map(|stage| stage.window.opens)
}

/// Whether the draw is of any visitor at all.
fn is_drawn(room: &RoomView) -> bool {
    let lanes = || (0..=u8::MAX).take(MAX_LANES).map(LaneId);
    room.lines
        .iter()
        .any(|(_, line)| lanes().any(|lane| line.drawn(lane) > 0))
}
