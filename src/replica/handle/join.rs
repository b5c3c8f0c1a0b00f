//! How a request joins a line: it leaves the arrival in the queue, and waits for the number while there is hope.

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Replica;
use crate::replica::CUT_OFF_AFTER;
use crate::replica::inbox::{Arrival, Join, JoinOutcome, Joiner, Message, Permit};
use crate::room::{LaneId, LineName, RoomName};

impl Replica {
    /// Joins a line; resolves once the number is durable and the view shows it, within two seconds, or four
    /// where the gate is not cut off and the first attempt was in vain.
    ///
    /// On `Later` the visitor gets a pending ticket with the arrival's id, which stands in the queue in order of arrival, and
    /// the gate calls again with it on each of the visitor's next requests. However often an id joins, it gets one number.
    /// Somebody new who is not waited for is forgotten.
    pub async fn join(&self, room: &RoomName, line: &LineName, lane: LaneId, arrival: Arrival) -> JoinOutcome {
        if self.frozen() {
            return JoinOutcome::Later;
        }
        let mut again = arrival.again || self.cut_off().is_some();
        loop {
            let queued = self.queue(room, line, lane, Arrival { again, ..arrival });
            let outcome = match queued {
                Some(outcome) if self.cut_off().is_none() => timeout(CUT_OFF_AFTER, outcome).await.ok(),
                _ => None,
            };
            match outcome {
                Some(Ok(outcome)) if outcome != JoinOutcome::Later => return outcome,
                _ if again => return JoinOutcome::Later,
                _ => again = true,
            }
        }
    }

    /// `None` when there is no room for one more.
    fn queue(
        &self,
        room: &RoomName,
        line: &LineName,
        lane: LaneId,
        arrival: Arrival,
    ) -> Option<oneshot::Receiver<JoinOutcome>> {
        let permit = Permit::take(&self.shared)?;
        let (answer, outcome) = oneshot::channel();
        let join = Join {
            room: room.clone(),
            line: line.clone(),
            lane,
            arrival,
            waiter: Joiner { answer, permit },
        };
        self.inbox.try_send(Message::Join(Box::new(join))).ok()?;
        Some(outcome)
    }
}
