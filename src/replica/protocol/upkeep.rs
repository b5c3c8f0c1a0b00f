//! What a gate says of rooms unasked, when it is its turn: the windows that come next, and words on draws.

use std::time::Duration;

use super::Protocol;
use crate::replica::inbox::Changing;
use crate::room::{Change, RoomName, State};

impl Protocol {
    pub(super) fn keep_rooms_up(&mut self, now: Duration) {
        self.draw_on(now);
        self.plan_ahead(now);
    }

    /// The next entry is this gate's to make, if nobody has anything to say. Gates that are left alone know of the others' entries
    /// only when they speak: each of them is on turn then.
    pub(super) fn is_on_turn(&self, state: &State, now: Duration) -> bool {
        self.is_left_alone(now) || state.rank(self.gate, state.position().sequence + 1) == Some(0)
    }

    /// Another gate's word in between is as good: these are not said again.
    pub(super) fn say_of_rooms(&mut self, words: Vec<(RoomName, Change)>) {
        let view = self.view();
        for (room, change) in words {
            let over = view.rooms.get(&room).map(|room| room.revision);
            self.collector.change(Changing {
                room,
                change,
                over,
                who: None,
                answer: None,
                beaten: 0,
            });
        }
    }
}
