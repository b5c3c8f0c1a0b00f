//! Items of visitors' requests for the log: arrivals, which wait for their numbers while that is possible, and notes of
//! visitors' actions.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Replica;
use super::woken::AsOne;
use crate::replica::CUT_OFF_AFTER;
use crate::replica::inbox::{
    Arrival, Binding, Join, JoinOutcome, Message, Note, Noted, Past, Redeeming, Redemption, Unrecorded,
};
use crate::room::{Denied, LaneId, LineName, PendingId, Redeem, RoomName, Tag, Visitor};
use crate::time;

impl Replica {
    /// Joins a line. Resolves once the number is durable and the view shows it, within two seconds, or four if the gate is
    /// not cut off and the first attempt failed. While no numbers are assigned, because the log is gone or has no root yet,
    /// it resolves within 0.7 s: the visitor then gets a page that says so.
    ///
    /// On `Later` the visitor gets a pending ticket with the arrival's id. The id stands in the queue in order of arrival,
    /// and the gate joins again with it on each of the visitor's next requests. An id gets one number, however often it
    /// joins. A new visitor whose request is no longer waiting is forgotten.
    pub async fn join(&self, room: &RoomName, line: &LineName, lane: LaneId, arrival: Arrival) -> JoinOutcome {
        if self.frozen() {
            return JoinOutcome::Later;
        }
        let came = time::uptime();
        let mut again = arrival.again || self.cut_off().is_some();
        let place = (room, line, lane);
        let mut unheard = Unheard {
            replica: self,
            place,
            id: None,
        };
        let outcome = loop {
            unheard.id = arrival.unheard().filter(|_| again);
            let arrival = Arrival {
                again,
                ..arrival.clone()
            };
            let outcome = match self.queue(place, arrival, came) {
                Some(outcome) if self.cut_off().is_none() => self.hear(outcome, came).await,
                _ => None,
            };
            match outcome {
                Some(outcome) if outcome != JoinOutcome::Later => break outcome,
                _ if again => break JoinOutcome::Later,
                // The id is in the queue from now on, at its first arrival.
                _ => again = true,
            }
        };
        unheard.id = None;
        outcome
    }

    /// A visitor with a pending ticket leaves; resolves once the id has its number, which the next batch leaves, or within
    /// 0.7 s: whenever it is numbered, it holds nothing beyond one batch.
    pub async fn withdraw(&self, place: (&RoomName, &LineName, LaneId), id: PendingId) {
        if let Some(outcome) = self.queue(place, Arrival::leaving(id), time::uptime())
            && !self.numbers_nobody()
        {
            let _ = timeout(PATIENCE, outcome).await;
        }
    }

    /// Visitors have been numbered at this gate, or could have been: it has lived on a log that has its rooms.
    #[must_use]
    pub fn has_opened(&self) -> bool {
        self.shared.opened()
    }

    /// A visitor asks something of the rooms: a gate that left its log alone reads it at once.
    pub fn attend(&self) {
        if self.shared.attention.draw() {
            let _ = self.inbox.try_send(Message::Wake);
        }
    }

    /// No numbers are assigned at present: the gate is cut off, or its log does not answer or has no root yet.
    #[must_use]
    pub fn numbers_nobody(&self) -> bool {
        self.cut_off().is_some() || self.shared.stands_still()
    }

    /// The outcome of a queued arrival; `None` when the wait is over.
    async fn hear(&self, outcome: oneshot::Receiver<JoinOutcome>, came: Duration) -> Option<JoinOutcome> {
        let mut outcome = AsOne::of(outcome);
        let left = PATIENCE.saturating_sub(time::uptime().saturating_sub(came));
        if let Ok(heard) = timeout(left, &mut outcome).await {
            return heard.ok();
        }
        if self.shared.stands_still() {
            return None;
        }
        timeout(CUT_OFF_AFTER.saturating_sub(left), outcome).await.ok()?.ok()
    }

    /// Joins a line by a code. Resolves once that is durable and the view shows it, within four seconds. After a timeout the
    /// log may still have it: the same holder asks again.
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
        let (redeeming, outcome) = Redeeming::new(&self.shared, redeem)?;
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

    /// As [`Replica::bind`], and resolves once the note is durable and applied, within two seconds.
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

    /// Queues a note of a visitor's action and does not wait. A note repeated before a batch is sent goes once. Marks and
    /// renewals are sent with the next batch, within a quarter of a second; other notes are sent at once. When the queue is
    /// full, the note is dropped and counted, and the visitor's next request repeats it. Notes that are not repeated go by
    /// [`Replica::insist`].
    pub fn note(&self, visitor: Visitor, note: Note) {
        let _ = self.takes(visitor, note);
    }

    /// As [`Replica::note`]; false where it was dropped.
    #[must_use]
    pub fn takes(&self, visitor: Visitor, note: Note) -> bool {
        let noted = Noted::now(visitor, note, None);
        let is_queued = self.inbox.try_send(Message::Note(Box::new(noted))).is_ok();
        if !is_queued {
            self.shared.counts.dropped();
        }
        is_queued
    }

    /// As [`Replica::note`], and resolves once the note is durable and applied, within two seconds.
    pub async fn record(&self, visitor: Visitor, note: Note) -> Result<(), Unrecorded> {
        let (recorded, done) = oneshot::channel();
        let noted = Noted::now(visitor, note, Some(recorded));
        self.send(Message::Note(Box::new(noted)))?;
        self.wait(done).await
    }

    /// As [`Replica::note`], for notes that the visitor's next request does not repeat: while the queue is full, it is tried
    /// each second for a minute. Only then is it dropped and counted. Must be called within the runtime.
    pub fn insist(&self, visitor: Visitor, note: Note) {
        let seen = time::uptime();
        if self.leaves_word(&visitor, note, seen) {
            return;
        }
        let replica = self.clone();
        tokio::spawn(async move {
            for _ in 0..TRIES {
                tokio::time::sleep(AGAIN).await;
                if replica.leaves_word(&visitor, note, seen) {
                    return;
                }
            }
            replica.shared.counts.dropped();
        });
    }

    fn leaves_word(&self, visitor: &Visitor, note: Note, seen: Duration) -> bool {
        let noted = Noted {
            visitor: visitor.clone(),
            note,
            seen,
            recorded: None,
        };
        self.inbox.try_send(Message::Note(Box::new(noted))).is_ok()
    }

    /// Leaves word of visitors who were let past a line, and does not wait; when too much is waiting they are not counted.
    pub fn bypassed(&self, room: RoomName, line: LineName, why: Past, count: u32) {
        if self
            .inbox
            .try_send(Message::Bypassed(Box::new((room, line, why, count))))
            .is_err()
        {
            self.shared.counts.dropped();
        }
    }

    /// `None` when there is no room for one more.
    fn queue(
        &self,
        (room, line, lane): (&RoomName, &LineName, LaneId),
        arrival: Arrival,
        came: Duration,
    ) -> Option<oneshot::Receiver<JoinOutcome>> {
        let place = (room.clone(), line.clone(), lane);
        let (join, outcome) = Join::new(&self.shared, place, arrival, came)?;
        self.inbox.try_send(Message::Join(Box::new(join))).ok()?;
        Some(outcome)
    }
}

/// A newcomer without an answer so far, and the id by which they stand in the queue, if they do.
struct Unheard<'a> {
    replica: &'a Replica,
    place: (&'a RoomName, &'a LineName, LaneId),
    id: Option<PendingId>,
}

impl Drop for Unheard<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.replica.queue(self.place, Arrival::leaving(id), time::uptime());
        }
    }
}

/// How often, and for how long, a full queue is asked again.
const AGAIN: Duration = Duration::from_secs(1);
const TRIES: u32 = 60;

/// How long a visitor waits for an answer while no numbers are assigned.
const PATIENCE: Duration = Duration::from_millis(700);

#[cfg(test)]
impl Replica {
    /// A replica without a thread: its messages go to `inbox`.
    pub(super) fn of(inbox: std::sync::mpsc::SyncSender<Message>, shared: crate::replica::publish::Shared) -> Self {
        Self {
            inbox,
            shared: std::sync::Arc::new(shared),
            gate: crate::room::GateId(1),
            knows: crate::room::VERSION,
            archive: std::sync::Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::sync_channel;

    use tokio::time::Instant;

    use super::*;
    use crate::replica::Condition;
    use crate::replica::publish::Shared;
    use crate::room::{Edition, Epoch, Number};
    use crate::store::{Trouble, Unavailable};

    /// Total time that a newcomer waits when no number is assigned.
    async fn waits(shared: Shared) -> Duration {
        let (inbox, messages) = sync_channel(8);
        let replica = Replica::of(inbox, shared);
        let began = Instant::now();
        let room = RoomName::new("main").unwrap();
        let outcome = replica.join(&room, &LineName::ONLY, LaneId(0), Arrival::first()).await;
        assert_eq!(outcome, JoinOutcome::Later);
        let again = messages.try_iter().map(|message| match message {
            Message::Join(join) => join.arrival.again,
            _ => panic!("nothing else was said"),
        });
        assert_eq!(
            again.collect::<Vec<_>>(),
            [false, true],
            "they stand in the queue by their id"
        );
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_comes_early_while_nobody_can_be_numbered() {
        let live = || {
            let shared = Shared::new(Arc::default());
            shared.set_condition(Condition::Live);
            shared
        };
        let slow = waits(live()).await;
        assert!(
            slow > CUT_OFF_AFTER + PATIENCE,
            "a log that is slow may come yet: {slow:?}"
        );
        let gone = live();
        gone.failing
            .failed(&Unavailable::new(Trouble::Odd, "refused"), Duration::ZERO);
        assert!(waits(gone).await < CUT_OFF_AFTER);
        let rootless = live();
        rootless.set_condition(Condition::Healing {
            left: Duration::ZERO,
            missing: 0,
        });
        assert!(waits(rootless).await < CUT_OFF_AFTER);
    }

    #[tokio::test(start_paused = true)]
    async fn what_finds_the_queue_full_is_said_when_there_is_room() {
        let (inbox, messages) = sync_channel(1);
        let replica = Replica::of(inbox, Shared::new(Arc::default()));
        let visitor = Visitor {
            room: RoomName::new("drop").unwrap(),
            line: LineName::ONLY,
            lane: LaneId(0),
            number: Number { epoch: Epoch(1), n: 7 },
            rehearsal: None,
        };
        let bought = Note::Complete {
            edition: Edition(0),
            after_ms: 0,
        };
        replica.note(visitor.clone(), Note::Mark);
        replica.insist(visitor.clone(), bought);
        tokio::time::sleep(2 * AGAIN).await;
        assert!(matches!(messages.recv(), Ok(Message::Note(first)) if first.note == Note::Mark));
        tokio::time::sleep(2 * AGAIN).await;
        assert!(matches!(messages.try_recv(), Ok(Message::Note(next)) if next.note == bought));
        // It is not tried for ever.
        replica.note(visitor.clone(), Note::Mark);
        replica.insist(visitor, bought);
        assert_eq!(replica.shared.counts.notes_dropped.load(Ordering::Relaxed), 0);
        tokio::time::sleep((TRIES + 2) * AGAIN).await;
        assert_eq!(replica.shared.counts.notes_dropped.load(Ordering::Relaxed), 1);
    }
}
