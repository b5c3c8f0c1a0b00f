//! The rooms that operators added while the gates run: which are in force at this gate, and when to look at the log for others.
//! A file that is refused changes nothing here.

use std::sync::Arc;
use std::time::Duration;

use crate::config::AddedRoom;
use crate::room::{Additions, RoomName};

#[derive(Default)]
pub(super) struct Followed {
    /// The rooms of the log that the configuration in force was read with.
    additions: Arc<Additions>,
    /// The added rooms in force, in this gate's form.
    rooms: Vec<AddedRoom>,
    /// Rooms of the log that could not be taken.
    refused: Option<Arc<Additions>>,
    /// Uptime of the next try at those that were not taken.
    again: Option<Duration>,
}

impl Followed {
    /// Whether these rooms of the log are to be looked at.
    pub(super) fn is_due(&self, additions: &Arc<Additions>, now: Duration) -> bool {
        let known = self.refused.as_ref().unwrap_or(&self.additions);
        !Arc::ptr_eq(known, additions) || self.again.is_some_and(|again| again <= now)
    }

    /// The added rooms in force, in this gate's form.
    pub(super) fn rooms(&self) -> &[AddedRoom] {
        &self.rooms
    }

    /// Whether this one was an added room when they were looked at last.
    pub(super) fn knew(&self, room: &RoomName) -> bool {
        self.additions.get(room).is_some()
    }

    /// The configuration in force was read with these rooms of the log and has those; `whole`: no other is left out.
    pub(super) fn taken(&mut self, additions: &Arc<Additions>, rooms: Vec<AddedRoom>, whole: bool, now: Duration) {
        *self = Self {
            additions: Arc::clone(additions),
            rooms,
            refused: None,
            again: (!whole).then_some(now + AGAIN),
        };
    }

    /// Everything stays as it was.
    pub(super) fn refused(&mut self, additions: &Arc<Additions>, now: Duration) {
        self.refused = Some(Arc::clone(additions));
        self.again = Some(now + AGAIN);
    }

    /// An order of this gate's operator has put these in force. The log's rooms are still to be compared, because another
    /// gate's change may have come with it.
    pub(super) fn ordered(&mut self, rooms: Vec<AddedRoom>) {
        self.rooms = rooms;
    }
}

/// When a change of the file that was refused is tried again.
pub(super) const AGAIN: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn vip() -> Vec<AddedRoom> {
        vec![AddedRoom::new("[[room]]\nname = \"vip\"\n").unwrap()]
    }

    #[test]
    fn an_order_of_this_gate_leaves_the_log_to_be_looked_at() {
        let mut followed = Followed::default();
        let (before, after) = (Arc::default(), Arc::default());
        followed.taken(&before, Vec::new(), true, at(1));
        assert!(!followed.is_due(&before, at(1_000)));
        followed.ordered(vip());
        assert!(followed.rooms() == vip() && followed.is_due(&after, at(2)));
        followed.taken(&after, vip(), true, at(2));
        assert!(!followed.is_due(&after, at(1_000)));
    }

    #[test]
    fn what_is_refused_or_left_out_is_looked_at_once_a_minute_and_what_is_new_at_once() {
        let mut followed = Followed::default();
        let (one, two) = (Arc::default(), Arc::default());
        followed.refused(&one, at(1));
        assert!(!followed.is_due(&one, at(60)) && followed.is_due(&one, at(61)));
        assert!(followed.is_due(&two, at(2)));
        followed.taken(&two, vip(), false, at(2));
        assert!(!followed.is_due(&two, at(61)) && followed.is_due(&two, at(62)));
        assert!(followed.is_due(&one, at(3)));
    }
}
