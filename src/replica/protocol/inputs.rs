//! The protocol's inputs: messages of visitors and operators, which wait here for the next batch.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::context::Context;
use super::{Phase, Protocol};
use crate::replica::inbox::{
    Arrival, Binding, Changing, Join, JoinOutcome, Message, NoEnd, Note, Noted, Redeeming, Redemption, Unrecorded,
};
use crate::replica::options::Charge;
use crate::room::{Change, Epoch, LaneId, LineName, Position, Redeem, Reported, RoomName, Settings, Tag, Visitor, Who};
use crate::token::Keyring;

impl Protocol {
    /// Takes word from the queue.
    pub(in crate::replica) fn take(&mut self, message: Message) {
        let Context { outgoing, shared, .. } = &mut self.context;
        let collector = &mut outgoing.collector;
        match message {
            Message::Join(join) => collector.join(*join),
            Message::Note(noted) => shared.counts.dropped_unless(collector.note(*noted)),
            Message::Bind(binding) => shared.counts.dropped_unless(collector.bind(*binding)),
            Message::Redeem(redeeming) => collector.redeem(*redeeming),
            Message::Change(change) => collector.change(*change),
            Message::Edition(proved) => collector.regain(proved.0, proved.1),
            Message::Bypassed(past) => collector.bypassed(*past),
            Message::Load(reports) => self.report(reports),
            Message::Configure(rooms) => self.reconfigure(rooms),
            Message::Charge(charge) => self.set_charge(charge),
            Message::Keys(keyring) => self.set_keys(keyring),
            Message::Skip(position) => self.skip(position),
            Message::Raise(version) => self.raise(version),
            Message::RootNow(answer) => {
                let _ = answer.send(self.root_now());
            }
            Message::Wake => {}
        }
    }

    /// A visitor joins, behind all earlier ones; resolves once the number is read back. `None` in its place when too many
    /// wait.
    pub fn join(
        &mut self,
        room: RoomName,
        line: LineName,
        lane: LaneId,
        arrival: Arrival,
    ) -> Option<oneshot::Receiver<JoinOutcome>> {
        let (join, outcome) = Join::new(&self.context.shared, (room, line, lane), arrival, Duration::ZERO)?;
        self.take(Message::Join(Box::new(join)));
        Some(outcome)
    }

    /// A visitor joins by a code, as [`Protocol::join`].
    pub fn redeem(&mut self, redeem: Redeem) -> Option<oneshot::Receiver<Redemption>> {
        let (redeeming, outcome) = Redeeming::new(&self.context.shared, redeem)?;
        self.take(Message::Redeem(Box::new(redeeming)));
        Some(outcome)
    }

    /// Takes a note of a visitor's action at uptime `seen`.
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

    /// As [`Protocol::note`]; resolves once the note is read back.
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

    /// Takes the gate's figures of its upstream, for each room with load control.
    pub fn report(&mut self, reports: Vec<Reported>) {
        self.context.outgoing.collector.report(reports);
    }

    /// An operator's word about a room.
    pub fn change(&mut self, room: RoomName, change: Change) -> oneshot::Receiver<Result<u64, Unrecorded>> {
        self.order(room, change, (None, None))
    }

    /// As [`Protocol::change`], with the revision on which it is based, and the operator's name.
    pub fn order(
        &mut self,
        room: RoomName,
        change: Change,
        (over, who): (Option<u64>, Option<Who>),
    ) -> oneshot::Receiver<Result<u64, Unrecorded>> {
        let (changing, done) = Changing::asked(room, change, over, who);
        self.take(Message::Change(Box::new(changing)));
        done
    }

    /// The entry at `position` is to be passed over, by every gate.
    pub fn skip(&mut self, position: Position) {
        self.skip = Some(position);
    }

    /// The rooms are to run this machine version from now on; takes effect if all on the roster know it.
    pub fn raise(&mut self, version: u16) {
        self.context.outgoing.raise(version);
    }

    /// Ends the wait for gates that are silent while the log has no root.
    ///
    /// # Errors
    /// Fails when no gate is awaited, when it is too early, and when another gate has read further: only that gate can give
    /// the log its root without a loss.
    pub fn root_now(&mut self) -> Result<(), NoEnd> {
        match &mut self.phase {
            Phase::Rootless(rootless) => rootless.end_wait(self.context.identity.gate()),
            Phase::Starting(_) | Phase::CatchingUp(_) | Phase::Beginning(_) => Err(NoEnd::NotYet),
            Phase::Live(_) | Phase::Frozen(_) | Phase::Behind { .. } | Phase::Ended => Err(NoEnd::Rooted),
        }
    }

    /// Takes other rooms for the configured ones.
    pub fn reconfigure(&mut self, rooms: Vec<(RoomName, Settings)>) {
        let context = &mut self.context;
        let changes = context
            .configured
            .reconfigure(&context.identity, self.phase.state(), rooms);
        context.outgoing.collector.reconfigure(changes);
    }

    /// This gate is in charge of its rooms so far from here on.
    pub fn set_charge(&mut self, charge: Charge) {
        self.context.configured.takes_charge(charge);
    }

    /// Other keys than at the start.
    pub fn set_keys(&mut self, keyring: Keyring) {
        self.context.configured.set_keyring(keyring);
    }

    /// A genuine token of `epoch` was seen: one above the rooms' own begins a new log above it.
    pub fn foreign(&mut self, epoch: Epoch) {
        self.context.shared.foreign.fetch_max(epoch.0, Ordering::Relaxed);
    }
}
