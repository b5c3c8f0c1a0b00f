//! Words that nobody says again: a shop answers once that somebody has bought.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Replica;
use crate::replica::inbox::{Message, Note, Noted};
use crate::room::Visitor;
use crate::time;

/// How often, and for how long, a full queue is asked again.
const EVERY: Duration = Duration::from_secs(1);
const TRIES: u32 = 60;

impl Replica {
    /// As [`Replica::note`], for what the visitor's next request does not say again: while the queue is full it is tried
    /// each second, for a minute. Only then is it dropped and counted. To be called within the runtime.
    pub fn insist(&self, visitor: Visitor, note: Note) {
        let seen = time::uptime();
        if self.leaves_word(&visitor, note, seen) {
            return;
        }
        let replica = self.clone();
        tokio::spawn(async move {
            for _ in 0..TRIES {
                tokio::time::sleep(EVERY).await;
                if replica.leaves_word(&visitor, note, seen) {
                    return;
                }
            }
            replica.shared.counts.notes_dropped.fetch_add(1, Ordering::Relaxed);
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
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::replica::publish::Shared;
    use crate::room::{Edition, Era, LaneId, LineName, Number, RoomName};

    #[tokio::test(start_paused = true)]
    async fn what_finds_the_queue_full_is_said_when_there_is_room() {
        let (inbox, messages) = sync_channel(1);
        let replica = Replica::of(inbox, Shared::new(Arc::default()));
        let visitor = Visitor {
            room: RoomName::new("drop").unwrap(),
            line: LineName::ONLY,
            lane: LaneId(0),
            number: Number { era: Era(1), n: 7 },
            rehearsal: None,
        };
        let bought = Note::Complete {
            edition: Edition(0),
            after_ms: 0,
        };
        replica.note(visitor.clone(), Note::Mark);
        replica.insist(visitor.clone(), bought);
        tokio::time::sleep(2 * EVERY).await;
        assert!(matches!(messages.recv(), Ok(Message::Note(first)) if first.note == Note::Mark));
        tokio::time::sleep(2 * EVERY).await;
        assert!(matches!(messages.try_recv(), Ok(Message::Note(next)) if next.note == bought));
        // It is not tried for ever.
        replica.note(visitor.clone(), Note::Mark);
        replica.insist(visitor, bought);
        assert_eq!(replica.shared.counts.notes_dropped.load(Ordering::Relaxed), 0);
        tokio::time::sleep((TRIES + 2) * EVERY).await;
        assert_eq!(replica.shared.counts.notes_dropped.load(Ordering::Relaxed), 1);
    }
}
