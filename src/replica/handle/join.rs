//! How a request joins a line: it leaves the arrival in the queue, and waits for the number while there is hope.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Replica;
use crate::replica::CUT_OFF_AFTER;
use crate::replica::inbox::{
    Arrival, Binding, Join, JoinOutcome, Joiner, Message, Permit, Redeeming, Redemption, Unrecorded,
};
use crate::room::{Denied, LaneId, LineName, Redeem, RoomName, Tag, Visitor};
use crate::time;

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
        let came = time::uptime();
        let mut again = arrival.again || self.cut_off().is_some();
        loop {
            let arrival = Arrival {
                again,
                ..arrival.clone()
            };
            let outcome = match self.queue((room, line, lane), arrival, came) {
                Some(outcome) if self.cut_off().is_none() => timeout(CUT_OFF_AFTER, outcome).await.ok(),
                _ => None,
            };
            match outcome {
                Some(Ok(outcome)) if outcome != JoinOutcome::Later => return outcome,
                _ if again => return JoinOutcome::Later,
                // Stands in the queue by its id from now on, where it came.
                _ => again = true,
            }
        }
    }

    /// Joins a line by a code; resolves once that is durable and the view shows it, within four seconds. What is not heard
    /// by then may be in the log yet: the same holder asks again.
    pub async fn redeem(&self, redeem: Redeem) -> Redemption {
        for _ in 0..2 {
            if self.frozen() || self.cut_off().is_some() {
                break;
            }
            let Some(outcome) = self.queue_code(redeem.clone()) else {
                break;
            };
            if let Ok(Ok(outcome)) = timeout(CUT_OFF_AFTER, outcome).await {
                return outcome;
            }
        }
        Err(Denied::NotNow)
    }

    fn queue_code(&self, redeem: Redeem) -> Option<oneshot::Receiver<Redemption>> {
        let permit = Permit::take(&self.shared)?;
        let (answer, outcome) = oneshot::channel();
        let redeeming = Redeeming { redeem, answer, permit };
        self.inbox.try_send(Message::Redeem(Box::new(redeeming))).ok()?;
        Some(outcome)
    }

    /// Leaves word that a genuine ticket or pass is an account's, and does not wait. Where it is dropped, the visitor's next
    /// request says it again.
    pub fn bind(&self, visitor: Visitor, tags: Vec<Tag>) {
        let binding = Binding {
            visitor,
            tags,
            recorded: None,
        };
        if self.inbox.try_send(Message::Bind(Box::new(binding))).is_err() {
            self.shared.counts.dropped();
        }
    }

    /// As [`Replica::bind`], and resolves once the word is durable and applied, within two seconds.
    pub async fn bound(&self, visitor: Visitor, tags: Vec<Tag>) -> Result<(), Unrecorded> {
        let (recorded, done) = oneshot::channel();
        let recorded = Some(recorded);
        self.send(Message::Bind(Box::new(Binding {
            visitor,
            tags,
            recorded,
        })))?;
        self.wait(done).await
    }

    /// `None` when there is no room for one more.
    fn queue(
        &self,
        (room, line, lane): (&RoomName, &LineName, LaneId),
        arrival: Arrival,
        came: Duration,
    ) -> Option<oneshot::Receiver<JoinOutcome>> {
        let permit = Permit::take(&self.shared)?;
        let (answer, outcome) = oneshot::channel();
        let join = Join {
            room: room.clone(),
            line: line.clone(),
            lane,
            arrival,
            came,
            waiter: Joiner { answer, permit },
        };
        self.inbox.try_send(Message::Join(Box::new(join))).ok()?;
        Some(outcome)
    }
}
