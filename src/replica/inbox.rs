//! The queue from requests to the replica's thread, and its messages. It is bounded and lock-free: a full one refuses at
//! once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::MAX_PENDING_JOINS;
use super::options::Charge;
use super::publish::Shared;
use crate::room::{
    Change, Denied, Edition, GateId, LaneId, LineName, Number, PendingId, Position, Redeem, RehearsalId, Reported,
    RoomName, Settings, Tag, Visitor, Who,
};
use crate::time;
use crate::token::Keyring;

/// Why visitors were let past a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Past {
    /// The gate was cut off, and the room is open then.
    Outage,
    /// Their network never waits.
    Network,
}

/// An action of a visitor, as a gate saw it. The room applies each to the visitor's present state; a note that came too late
/// has no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// Checked in.
    Mark,
    /// A request of a called visitor is to be forwarded, with the pass (`carried`) or without it; or the first with the pass
    /// of one inside.
    Claim { carried: bool },
    /// A session seen in use.
    Renew,
    /// A session that the room does not know and that its genuine pass says is open, or one in use while the gate is cut
    /// off: it may have idled out in the log meanwhile. If it lives, it is renewed.
    Reopen,
    /// A request of a session that is parked, or that the room does not know, in a room with active slots: it asks for a slot,
    /// and is forwarded only once the view shows that it has one.
    Return,
    /// The slot of a session in use is kept for so long, whether or not a request comes.
    Hold { for_ms: u64 },
    /// Left the line, or ended the session.
    Leave,
    /// The shop ended the session, `after_ms` from now.
    End { after_ms: u64 },
    /// The shop reported that the visitor, whose pass is of this edition, has completed; the session ends `after_ms` from
    /// now.
    Complete { edition: Edition, after_ms: u64 },
}

/// A visitor who joins: a random id for each, which a pending ticket carries while there is no number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    pub id: PendingId,
    /// Tags of the visitor's account, first the one to be kept; empty for a visitor without an account.
    pub tags: Vec<Tag>,
    /// The visitor has come before, and carries the id.
    pub again: bool,
    /// The visitor is not coming any more: the number that the id has, or is given, is to be left.
    pub leaves: bool,
    /// The visitor is a virtual one of this rehearsal.
    pub rehearsal: Option<RehearsalId>,
}

impl Arrival {
    /// A visitor without a ticket.
    #[must_use]
    pub fn first() -> Self {
        let mut id = [0; 12];
        // Without randomness two newcomers share a place, which is better than having none.
        let _ = getrandom::fill(&mut id);
        Self {
            id: PendingId(id),
            tags: Vec::new(),
            again: false,
            leaves: false,
            rehearsal: None,
        }
    }

    /// A visitor with a pending ticket.
    #[must_use]
    pub fn again(id: PendingId) -> Self {
        Self {
            id,
            tags: Vec::new(),
            again: true,
            leaves: false,
            rehearsal: None,
        }
    }

    /// A visitor with a pending ticket who leaves. The id may stand in other gates' queues too, so it is numbered first; the
    /// answer says that this number has left.
    #[must_use]
    pub fn leaving(id: PendingId) -> Self {
        Self {
            leaves: true,
            ..Self::again(id)
        }
    }

    /// The id that no visitor will ever present again if this one gives up before the answer. A visitor with an account comes
    /// again by the tags, and the number may belong to another browser of that account.
    #[must_use]
    pub fn unheard(&self) -> Option<PendingId> {
        let is_new = !self.again && self.tags.is_empty() && self.rehearsal.is_none();
        is_new.then_some(self.id)
    }

    /// The same, of an account.
    #[must_use]
    pub fn of(self, tags: Vec<Tag>) -> Self {
        Self { tags, ..self }
    }

    /// The same, in a rehearsal.
    #[must_use]
    pub fn within(self, rehearsal: Option<RehearsalId>) -> Self {
        Self { rehearsal, ..self }
    }
}

/// How a join went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinOutcome {
    /// An id that was numbered before keeps the lane that it had then.
    Numbered(LaneId, Number),
    /// The room assigns no number: it is closed or gone, has no such lane, or has too many lines.
    Refused,
    /// Not now: cut off from the log, or too many wait. Give a pending ticket with the arrival's id.
    Later,
}

/// Why a gate cannot end the wait for silent gates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoEnd {
    /// No gate is awaited: the log has its root.
    Rooted,
    /// Too early: the log is being read or begun, or no gate has reported yet how far it has read.
    NotYet,
    /// This gate has read further: only there can it be done without a loss.
    Further(GateId),
    /// The thread did not answer within two seconds; it may do it yet.
    Unanswered,
}

/// Why something is not on record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unrecorded {
    /// Not read back within two seconds. It may still be recorded later.
    #[error("the log did not take it in time; it may still")]
    CutOff,
    #[error("too much is waiting to be recorded")]
    Full,
    /// The log has it, and the room passed it over.
    #[error("the room did not take it")]
    Refused,
    /// The log has it behind another change of the room, which it was not made of.
    #[error("the room was changed elsewhere at the same time")]
    Stale,
}

pub(super) enum Message {
    Join(Box<Join>),
    Note(Box<Noted>),
    Bind(Box<Binding>),
    Redeem(Box<Redeeming>),
    Change(Box<Changing>),
    /// Other rooms are configured.
    Configure(Vec<(RoomName, Settings)>),
    /// How far the gate is in charge of its rooms: the differences between the log and the configured rooms are sent again.
    Charge(Charge),
    /// Other keys are in force.
    Keys(Keyring),
    /// A genuine token was of this edition of a room.
    Edition(Box<(RoomName, Edition)>),
    /// Visitors let past a line, and why.
    Bypassed(Box<(RoomName, LineName, Past, u32)>),
    /// The gate's figures of its upstream.
    Load(Vec<Reported>),
    /// An operator's word: an entry to be passed over, a machine version, or the end of a wait for silent gates.
    Skip(Position),
    Raise(u16),
    RootNow(oneshot::Sender<Result<(), NoEnd>>),
    /// Something outside the queue wants attention: stop, or an epoch from elsewhere.
    Wake,
}

pub(super) struct Join {
    pub room: RoomName,
    pub line: LineName,
    pub lane: LaneId,
    pub arrival: Arrival,
    /// Uptime at which this request came, however often it asks.
    pub came: Duration,
    pub waiter: Joiner,
}

impl Join {
    /// An arrival at uptime `came`, and how it goes; `None` when too many wait.
    pub fn new(
        shared: &Arc<Shared>,
        (room, line, lane): (RoomName, LineName, LaneId),
        arrival: Arrival,
        came: Duration,
    ) -> Option<(Self, oneshot::Receiver<JoinOutcome>)> {
        let permit = Permit::take(shared)?;
        let leaves = arrival.leaves;
        let (answer, outcome) = oneshot::channel();
        let join = Self {
            room,
            line,
            lane,
            arrival,
            came,
            waiter: Joiner { answer, permit, leaves },
        };
        Some((join, outcome))
    }
}

/// A request that waits for a number, and its share of the bound.
pub(super) struct Joiner {
    pub answer: oneshot::Sender<JoinOutcome>,
    pub permit: Permit,
    /// The number leaves at once, whether or not the request still waits.
    pub leaves: bool,
}

impl Joiner {
    /// No request waits for it, and it has no effect.
    pub fn is_idle(&self) -> bool {
        self.answer.is_closed() && !self.leaves
    }
}

pub(super) struct Noted {
    pub visitor: Visitor,
    pub note: Note,
    /// Uptime at which the gate saw it.
    pub seen: Duration,
    pub recorded: Option<oneshot::Sender<()>>,
}

impl Noted {
    pub fn now(visitor: Visitor, note: Note, recorded: Option<oneshot::Sender<()>>) -> Self {
        Self {
            visitor,
            note,
            seen: time::uptime(),
            recorded,
        }
    }
}

/// A visitor who joins by a code, and their share of the bound.
pub(super) struct Redeeming {
    pub redeem: Redeem,
    pub answer: oneshot::Sender<Redemption>,
    pub permit: Permit,
}

impl Redeeming {
    /// A join by a code, and its outcome; `None` when too many wait.
    pub fn new(shared: &Arc<Shared>, redeem: Redeem) -> Option<(Self, oneshot::Receiver<Redemption>)> {
        let permit = Permit::take(shared)?;
        let (answer, outcome) = oneshot::channel();
        Some((Self { redeem, answer, permit }, outcome))
    }
}

/// The outcome of a join by a code, in the log; `Err`: why the room did not take it.
pub type Redemption = Result<Granted, Denied>;

/// The number that a code was good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Granted {
    pub lane: LaneId,
    pub number: Number,
    /// The code was used by this join; otherwise its visitor had the number already.
    pub new: bool,
}

/// A genuine ticket or pass is an account's.
pub(super) struct Binding {
    pub visitor: Visitor,
    pub tags: Vec<Tag>,
    pub recorded: Option<oneshot::Sender<()>>,
}

pub(super) struct Changing {
    pub room: RoomName,
    pub change: Change,
    /// The revision on which the change is based. If another change came first, the operator is asked to repeat it; a change
    /// without a base is sent again.
    pub over: Option<u64>,
    /// The operator who made it, if one did.
    pub who: Option<Who>,
    pub answer: Option<oneshot::Sender<Result<u64, Unrecorded>>>,
    /// Times that another came first.
    pub beaten: u8,
}

impl Changing {
    /// A change without a waiting request.
    pub fn unasked(room: RoomName, change: Change) -> Self {
        Self {
            room,
            change,
            over: None,
            who: None,
            answer: None,
            beaten: 0,
        }
    }

    /// An operator's change, based on the revision `over` if that is given, and its outcome.
    pub fn asked(
        room: RoomName,
        change: Change,
        over: Option<u64>,
        who: Option<Who>,
    ) -> (Self, oneshot::Receiver<Result<u64, Unrecorded>>) {
        let (answer, done) = oneshot::channel();
        let asked = Self {
            over,
            who,
            answer: Some(answer),
            ..Self::unasked(room, change)
        };
        (asked, done)
    }

    /// If it is sent twice, it is applied twice.
    pub fn is_once(&self) -> bool {
        let is_removed = self.change == Change::Remove && self.answer.is_some();
        is_removed
            || matches!(
                self.change,
                Change::Call(_) | Change::Evict(_) | Change::Reset | Change::Add(_)
            )
    }

    /// The change is to be done once or lasts for seconds, and its maker was answered that it was not recorded: long after
    /// that, it must not take effect.
    pub fn is_given_up(&self) -> bool {
        let lease = matches!(self.change, Change::Rehearse(_) | Change::Renew(_));
        (self.is_once() || lease) && self.answer.as_ref().is_some_and(oneshot::Sender::is_closed)
    }

    /// Made by the configuration, not by an operator.
    pub fn is_of_file(&self) -> bool {
        self.answer.is_none() && matches!(self.change, Change::Configure(_) | Change::Remove)
    }
}

/// One of [`MAX_PENDING_JOINS`], given back when dropped.
pub(super) struct Permit(Arc<Shared>);

impl Permit {
    pub fn take(shared: &Arc<Shared>) -> Option<Self> {
        if shared.pending_joins.fetch_add(1, Ordering::Relaxed) < MAX_PENDING_JOINS {
            return Some(Self(Arc::clone(shared)));
        }
        shared.pending_joins.fetch_sub(1, Ordering::Relaxed);
        None
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.pending_joins.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Places in the queue: as many as joins may wait, so that a stampede is bounded by its own limit and not by this one.
pub(super) const INBOX: usize = MAX_PENDING_JOINS;
