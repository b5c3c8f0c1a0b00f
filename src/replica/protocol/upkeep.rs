//! Items that a live gate adds for the rooms when it is its turn: those of draws, and the next windows.

use std::time::Duration;

use super::context::Context;
use super::{draws, schedules};
use crate::replica::inbox::Changing;
use crate::room::{Change, RoomName, State};

#[derive(Default)]
pub(super) struct Upkeep {
    /// Uptime when this gate last spoke of draws, and of windows.
    drew: Option<Duration>,
    planned: Option<Duration>,
}

impl Upkeep {
    pub fn keep_up(&mut self, context: &mut Context, state: &State, now: Duration) {
        if !context.is_on_turn(state, now) {
            return;
        }
        if !is_recent(self.drew, DRAW_AGAIN, now)
            && let Some(keyring) = context.configured.keyring()
        {
            let changes = draws::next_changes(state, keyring, &mut context.identity);
            self.drew = said(context, changes, now).or(self.drew);
        }
        if !is_recent(self.planned, PLAN_AGAIN, now) {
            let changes = schedules::next_changes(state);
            self.planned = said(context, changes, now).or(self.planned);
        }
    }
}

fn is_recent(last: Option<Duration>, apart: Duration, now: Duration) -> bool {
    last.is_some_and(|last| now < last + apart)
}

/// Queues changes, each based on the room's revision: if another gate's change comes first, they are dropped.
fn said(context: &mut Context, changes: Vec<(RoomName, Change)>, now: Duration) -> Option<Duration> {
    if changes.is_empty() {
        return None;
    }
    let view = context.shared.load().share();
    for (room, change) in changes {
        let over = view.rooms.get(&room).map(|room| room.revision);
        context.outgoing.collector.change(Changing {
            over,
            ..Changing::unasked(room, change)
        });
    }
    Some(now)
}

/// Shortest time between two looks that led to an item.
const DRAW_AGAIN: Duration = Duration::from_millis(500);
const PLAN_AGAIN: Duration = Duration::from_secs(2);
