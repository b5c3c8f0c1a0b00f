//! What visitors and operators leave for the log.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Phase, Protocol};
use crate::replica::inbox::{
    Arrival, Binding, Changing, Join, JoinOutcome, Joiner, Message, NoEnd, Note, Noted, Permit, Redeeming, Redemption,
    Unrecorded,
};
use crate::room::{
    Change, Era, LaneId, LineName, Position, Redeem, Reported, RoomName, Tag, Visitor, WITH_SCHEDULES, Who,
};
use crate::store::next_incarnation;

impl Protocol {
    /// Takes word from the queue.
    pub(in crate::replica) fn take(&mut self, message: Message) {
        match message {
            Message::Join(join) => self.collector.join(*join),
            Message::Note(noted) => {
                if !self.collector.note(*noted) {
                    self.shared.counts.dropped();
                }
            }
            Message::Bind(binding) => {
                if !self.collector.bind(*binding) {
                    self.shared.counts.dropped();
                }
            }
            Message::Redeem(redeeming) => self.collector.redeem(*redeeming),
            Message::Change(change) => self.collector.change(*change),
            Message::Configure(rooms) => self.reconfigure(rooms),
            Message::Charge(charge) => self.has_the_say(charge),
            Message::Keys(keyring) => self.set_keys(keyring),
            Message::Edition(proved) => self.collector.regain(proved.0, proved.1),
            Message::Bypassed(past) => self.collector.bypassed(*past),
            // Rooms of an older version take none.
            Message::Load(_) if self.live_state().is_some_and(|state| state.version() < WITH_SCHEDULES) => {}
            Message::Load(reports) => self.collector.report(reports),
            Message::Skip(position) => self.skip(position),
            Message::Raise(version) => self.raise(version),
            Message::RootNow(answer) => {
                let _ = answer.send(self.root_now());
            }
            Message::Wake => {}
        }
    }

    /// A visitor joins, behind all who have; resolves once the number is read back. `None` in place of it when too many wait.
    pub fn join(
        &mut self,
        room: RoomName,
        line: LineName,
        lane: LaneId,
        arrival: Arrival,
    ) -> Option<oneshot::Receiver<JoinOutcome>> {
        let permit = Permit::take(&self.shared)?;
        let leaves = arrival.leaves;
        let (answer, outcome) = oneshot::channel();
        self.collector.join(Join {
            room,
            line,
            lane,
            arrival,
            came: Duration::ZERO,
            waiter: Joiner { answer, permit, leaves },
        });
        Some(outcome)
    }

    /// A visitor joins by a code, as [`Protocol::join`].
    pub fn redeem(&mut self, redeem: Redeem) -> Option<oneshot::Receiver<Redemption>> {
        let permit = Permit::take(&self.shared)?;
        let (answer, outcome) = oneshot::channel();
        self.collector.redeem(Redeeming { redeem, answer, permit });
        Some(outcome)
    }

    /// What a visitor did at uptime `seen`.
    pub fn note(&mut self, visitor: Visitor, note: Note, seen: Duration) {
        let noted = Noted {
            visitor,
            note,
            seen,
            recorded: None,
        };
        self.take(Message::Note(Box::new(noted)));
    }

    /// A number is an account's.
    pub fn bind(&mut self, visitor: Visitor, tags: Vec<Tag>) {
        let recorded = None;
        self.take(Message::Bind(Box::new(Binding {
            visitor,
            tags,
            recorded,
        })));
    }

    /// As [`Protocol::note`]; resolves once the word is read back.
    pub fn record(&mut self, visitor: Visitor, note: Note, seen: Duration) -> oneshot::Receiver<()> {
        let (recorded, done) = oneshot::channel();
        let noted = Noted {
            visitor,
            note,
            seen,
            recorded: Some(recorded),
        };
        self.take(Message::Note(Box::new(noted)));
        done
    }

    /// What the gate saw of its upstream, for each room that goes by it.
    pub fn report(&mut self, reports: Vec<Reported>) {
        self.take(Message::Load(reports));
    }

    /// An operator's word about a room.
    pub fn change(&mut self, room: RoomName, change: Change) -> oneshot::Receiver<Result<u64, Unrecorded>> {
        self.order(room, change, (None, None))
    }

    /// As [`Protocol::change`], with the revision that it was made of, and whose word it is.
    pub fn order(
        &mut self,
        room: RoomName,
        change: Change,
        (over, who): (Option<u64>, Option<Who>),
    ) -> oneshot::Receiver<Result<u64, Unrecorded>> {
        let (answer, done) = oneshot::channel();
        self.collector.change(Changing {
            room,
            change,
            over,
            who,
            answer: Some(answer),
            beaten: 0,
        });
        done
    }

    /// The entry at `position` is to be passed over, by every gate.
    pub fn skip(&mut self, position: Position) {
        self.skip = Some(position);
    }

    /// The rooms are to run this machine version from now on; takes effect if all on the roster know it.
    pub fn raise(&mut self, version: u16) {
        self.raise = Some(version);
    }

    /// Ends the wait for gates that are silent while the log has no root.
    ///
    /// # Errors
    /// Where nobody is waited for, or not yet, or another gate has read further: only that one can give the log its root
    /// without a loss.
    pub fn root_now(&mut self) -> Result<(), NoEnd> {
        let healing = match &self.phase {
            Phase::Rootless(healing) => healing,
            Phase::Starting(_) | Phase::CatchingUp(_) | Phase::Beginning(_) => return Err(NoEnd::NotYet),
            Phase::Live(_) | Phase::Frozen { .. } | Phase::Behind { .. } | Phase::Ended => return Err(NoEnd::Rooted),
        };
        match healing.furthest() {
            Some(gate) if gate == self.gate => {
                self.root_now = true;
                Ok(())
            }
            Some(gate) => Err(NoEnd::Further(gate)),
            None => Err(NoEnd::NotYet),
        }
    }

    /// A genuine token of `era` was seen: one above the rooms' own begins a new log above it.
    pub fn foreign(&mut self, era: Era) {
        self.shared.foreign.fetch_max(era.0, Ordering::Relaxed);
    }

    /// The highest era seen elsewhere, if it is above this log.
    ///
    /// With two masters, each with gates and visitors of its own, every visitor who crosses brings one: a new log now and
    /// then is enough.
    pub(super) fn foreign_era(&self, now: Duration) -> Option<u64> {
        if self.foreign_at.is_some_and(|last| now < last + FOREIGN_AGAIN) {
            return None;
        }
        let era = self.shared.foreign.load(Ordering::Relaxed);
        let state = self.live_state()?;
        let possible = next_incarnation(era, self.time, u32::MAX).is_some();
        (era > state.position().incarnation && possible).then_some(era)
    }
}

/// Shortest time between two logs begun for tokens of foreign eras.
const FOREIGN_AGAIN: Duration = Duration::from_secs(30);
