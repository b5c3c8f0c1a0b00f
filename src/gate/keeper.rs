//! Keeps sessions alive while something of theirs is under way, and closes the sockets of those that are over.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::replica::Note;
use crate::room::Standing;

use super::Shared;
use super::in_flight::InFlight;

/// How often a core looks; far below a tenth of the shortest session.
const EVERY: Duration = Duration::from_secs(1);

/// Looks after one core's sessions until the core is gone.
pub async fn keep_alive(shared: Arc<Shared>, in_flight: Weak<InFlight>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(in_flight) = in_flight.upgrade() else { return };
        for held in in_flight.held() {
            match standing(&shared, &held.visitor) {
                Some(Standing::Inside(inside)) if inside.renewal_due => {
                    shared.replica.note((*held.visitor).clone(), Note::Renew);
                }
                // While cut off, those inside go on: only what the log says ends a session.
                Some(Standing::Ended | Standing::Late) => held.cancel.cancel(),
                _ => {}
            }
        }
        shared.limits.forget_idle();
    }
}

fn standing(shared: &Shared, visitor: &crate::room::Visitor) -> Option<Standing> {
    let view = shared.replica.load();
    let line = view.rooms.get(&visitor.room)?.line(&visitor.line)?;
    Some(line.standing(visitor.lane, visitor.number, view.clock))
}
