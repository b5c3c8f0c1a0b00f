//! An entry of the log and the batch it carries: the gates' observations and actions, in sections per line.
//!
//! The types are plain data. Decoding is total: invalid bytes give an error, never a panic.

pub(crate) mod codec;
pub(crate) mod commands;
pub(crate) mod effects;
pub(crate) mod encoded;
pub(crate) mod eviction;
pub(crate) mod marks_codec;
pub(crate) mod sale;
pub(crate) mod section_codec;

use crate::draw::{AdmissionOrder, Hash};
use crate::entry::commands::{CallOrder, Who};
use crate::entry::eviction::Eviction;
use crate::entry::sale::{DrawnLane, Forms, Sale};
use crate::line::accounts::{Bound, Tagged};
use crate::load::{Outside, Reported};
use crate::room::codes::{BroughtCodes, Redeem};
use crate::room::rehearsal::RehearsalOrder;
use crate::settings::schedule::Window;
use crate::settings::{Overrides, Settings};
use crate::state::additions::Addition;
use crate::version::ACTIVE_SLOTS;
use ropeline_ids::{
    Clock, Edition, Epoch, GateId, LaneId, LineName, Number, PendingId, Position, RehearsalId, RoomName, Tag, Wall,
};

/// Most bytes of one encoded batch; more goes with the next.
pub const MAX_BATCH_BYTES: usize = 64 * 1024;

/// One record of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub position: Position,
    pub gate: GateId,
    /// Counts a gate's batches from 1; an entry whose serial is not above the roster's is a repeat and skipped.
    pub serial: u64,
    /// The nonce of the entry before, and this entry's own: a fork of history shows at once.
    pub previous: [u8; 8],
    pub nonce: [u8; 8],
    /// The store's own time when it took the entry.
    pub time: Wall,
    pub version: u16,
    pub batch: Batch,
}

/// The content of one gate's entry.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    /// The gate's first batch of its life puts it on the roster; others of gates not on it are ignored.
    pub hello: bool,
    /// The gate leaves; last batch of its life.
    pub goodbye: bool,
    /// The highest machine version that the gate knows; counts with `hello` and `spoke`.
    pub knows: u16,
    /// The last sequence of this epoch that the gate had applied when it cut the batch.
    pub applied: u64,
    /// The rooms' clock at that entry, if this batch has all notes that the gate had left. Not known in version 1.
    pub notes_until: Option<Clock>,
    /// How long its last exchange with the log took, in microseconds.
    pub lag_us: u32,
    /// While a log has no root: how far its gate has read the logs before.
    pub spoke: Option<Spoke>,
    /// The state with which a new log starts: the hash of a snapshot's state. As the first entry of an embedded log it makes
    /// a state of the log before begin the new one by itself ([`super::State::begin`]).
    pub root: Option<StateHash>,
    /// The hash of the gate's own state at a checkpoint.
    pub vote: Option<Vote>,
    /// The gate has saved the confirmed snapshot at this sequence.
    pub saved: Option<u64>,
    /// From the next entry on the rooms run this machine version, if all on the roster know it.
    pub raise: Option<u16>,
    /// The gate brings the end of an epoch that the rooms have lost; the sections contain what it knew of it.
    pub adopt: Option<Adopt>,
    pub rooms: Vec<RoomChange>,
    pub sections: Vec<Section>,
    /// Visitors who join by codes, after all who join otherwise.
    pub redeems: Vec<Redeem>,
    /// Codes that were spent in a log which was lost, with an epoch that a gate brings back.
    pub spent_codes: Vec<BroughtCodes>,
    /// The gate's figures of the rooms' upstreams, at most one report for a room.
    pub load: Vec<Reported>,
}

/// The hash of a state, as [`State::hash`](super::State::hash) computes it.
pub type StateHash = [u8; 32];

/// How far a gate has read, reported while a log has no root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spoke {
    /// The last entry that its state has applied; zeros for a gate that has nothing.
    pub position: Position,
    pub nonce: [u8; 8],
    /// The gates on the roster of that state, itself among them.
    pub roster: Vec<GateId>,
}

/// A gate's word on a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vote {
    /// The checkpoint's sequence in this log.
    pub sequence: u64,
    pub hash: StateHash,
    /// Computed anew from the last confirmed snapshot, because the first votes were undecided.
    pub again: bool,
}

/// An epoch that a gate brings back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Adopt {
    pub epoch: Epoch,
    /// The last entry of that epoch's log that the gate has read.
    pub sequence: u64,
    /// Numbers below it belonged to lines that were forgotten there.
    pub floor: u32,
    /// This is the last batch of the epoch: from now on its end and its floor are known.
    pub whole: bool,
    /// This is the gate's last batch of epochs; no visitor is called before it.
    pub done: bool,
}

/// An operator's word about a room; applied before everything else of the entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoomChange {
    pub room: RoomName,
    /// The highest revision wins; one not above the room's is skipped.
    pub revision: u64,
    pub change: Change,
    /// The operator who made it; `None` if none did.
    pub who: Option<Who>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// The configured settings of a room; makes the room if it is new.
    Configure(Settings),
    /// Replaces the room's overrides whole.
    Override(Overrides),
    /// A new edition and a new epoch: every session ends, older tokens are void.
    Reset,
    /// The room is no longer configured.
    Remove,
    /// A genuine token, or a gate's own history, is of this edition: a room whose edition is lower has lost a reset, and
    /// takes the edition back. The room's revision does not matter, and no session ends: visitors who are in the room joined
    /// after that reset.
    Edition(Edition),
    /// The next windows of a recurring schedule, added if the room still follows this rule.
    Windows { rule: String, windows: Vec<Window> },
    /// A promise of the secret that an edition is to be drawn by, made before its line is closed.
    Commit {
        edition: Edition,
        order: AdmissionOrder,
        beacon: Option<String>,
        forms: Forms,
        salt: [u8; 16],
        commitment: Hash,
    },
    /// The secret that was promised, and the beacon's value if one was named: the line is drawn.
    Draw {
        edition: Edition,
        secret: Hash,
        value: Option<String>,
    },
    /// A draw of another history, as far as it had come there: with an epoch that a gate brings back.
    Sale {
        edition: Edition,
        sale: Box<Sale>,
        /// The lanes that were drawn, or are to be; more of them may follow.
        lanes: Vec<DrawnLane>,
    },
    /// Calls a number of visitors now, above the rate.
    Call(CallOrder),
    /// Ends a session, or takes a visitor from the line.
    Evict(Eviction),
    /// Makes a room that is in no file.
    Add(Box<Addition>),
    /// Virtual visitors may come.
    Rehearse(Box<RehearsalOrder>),
    /// The rehearsal goes on: whatever its revision, and no revision of the room.
    Renew(RehearsalId),
    /// It is over.
    EndRehearsal(RehearsalId),
    /// Visitors of a lost log are waited for no longer.
    EndHealing,
    /// Figures of the room's upstreams from an outside source, in place of measured ones; with `None` the measured ones count
    /// again. It does not depend on the room's revision, and does not change it.
    Load(Option<Outside>),
}

/// The events of one line since the gate's last batch. Applied in the order of the fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    pub room: RoomName,
    pub line: LineName,
    /// All of this is virtual visitors' of a rehearsal; it counts while that is under way.
    pub rehearsal: Option<RehearsalId>,
    /// Waiting visitors who left, and sessions ended by their visitor or an operator: at once.
    pub leaves: Vec<(LaneId, Number)>,
    /// Sessions ended by the shop's answer, `after_ms` from now (`end_grace`, 0 for at once).
    pub ends: Vec<End>,
    /// Sessions in which the visitor bought: counted against the stock, once, and ended.
    pub completions: Vec<Completion>,
    pub claims: Vec<Claim>,
    /// Numbers of an adopted epoch that ended or left there.
    pub taken: Vec<(LaneId, Number)>,
    /// Those called there for the second and last time: late, unless `reopens` has them as inside, or `marks` as coming.
    pub spent: Vec<(LaneId, Number)>,
    /// Sessions that a gate cut off from the log continued to honour, or whose genuine, unexpired pass the room does not know
    /// (its epoch or its call was lost): opened again as excess.
    pub reopens: Vec<(LaneId, Number)>,
    /// Sessions seen in use; appended once a tenth of the session.
    pub renewals: Vec<(LaneId, Number)>,
    /// Sessions whose slot is kept until a date: a payment is under way.
    pub holds: Vec<Hold>,
    /// Requests of parked sessions, and of sessions that the room does not know: each asks for a slot, in this order.
    pub returns: Vec<(LaneId, Number)>,
    /// Visitors who checked in; each at most once per generation. Sorted, without repeats. A number in the gap behind a
    /// closed epoch, or of an epoch that the room does not know, is proof that it was issued: its place is given back.
    pub marks: Vec<(LaneId, Number)>,
    /// At most one for each lane: where an adopted epoch's horizon stood. Numbers below that were not issued here are void.
    pub voids: Vec<(LaneId, Number)>,
    /// Numbers that genuine tickets and passes say are an account's.
    pub bound: Vec<Bound>,
    /// Visitors let past the line in an outage since the last batch; only counted.
    pub bypasses: u32,
    /// Visitors let past it because of their network since then; only counted.
    pub networks: u32,
    /// Visitors who joined without a pending id, counted per lane.
    pub joins: Vec<(LaneId, u32)>,
    /// Visitors who carry a pending ticket: the same id is answered with the place it already has.
    pub pending_joins: Vec<(LaneId, PendingId)>,
    /// Visitors with an account, and visitors who came among them, in order of arrival: an account is answered with the place
    /// that it already has.
    pub tagged: Vec<Tagged>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    pub lane: LaneId,
    pub number: Number,
    pub after_ms: u64,
}

/// A session whose slot is kept for so long from now on, whether or not a request comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hold {
    pub lane: LaneId,
    pub number: Number,
    pub for_ms: u64,
}

/// A session whose visitor, by the shop's answer, has completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    pub lane: LaneId,
    pub number: Number,
    /// Edition of the pass: a completion in a sale that is over does not count for a later one.
    pub edition: Edition,
    pub after_ms: u64,
    /// When it was completed, and by which account, in data that a gate brings back of a lost log; `None`: now, and as known.
    pub at: Option<Wall>,
    pub tag: Option<Tag>,
}

/// The first request forwarded on a called number's ticket, or with its pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    pub lane: LaneId,
    pub number: Number,
    /// The request carried the pass: from now on the ticket yields it no more.
    pub carried: bool,
}

impl Batch {
    /// The batch as a log of this machine version can hold it: without what only later ones know.
    #[must_use]
    pub fn under(mut self, version: u16) -> Self {
        if version >= ACTIVE_SLOTS {
            return self;
        }
        self.notes_until = None;
        for change in &mut self.rooms {
            match &mut change.change {
                Change::Configure(settings) => settings.active = None,
                Change::Add(addition) => addition.settings.active = None,
                _ => {}
            }
        }
        for section in &mut self.sections {
            section.reopens.append(&mut section.returns);
            section.holds.clear();
        }
        self
    }
}

impl Section {
    /// An empty section of a line.
    #[must_use]
    pub fn new(room: RoomName, line: LineName) -> Self {
        Self {
            room,
            line,
            rehearsal: None,
            leaves: Vec::new(),
            ends: Vec::new(),
            completions: Vec::new(),
            claims: Vec::new(),
            taken: Vec::new(),
            spent: Vec::new(),
            reopens: Vec::new(),
            renewals: Vec::new(),
            holds: Vec::new(),
            returns: Vec::new(),
            marks: Vec::new(),
            voids: Vec::new(),
            bound: Vec::new(),
            bypasses: 0,
            networks: 0,
            joins: Vec::new(),
            pending_joins: Vec::new(),
            tagged: Vec::new(),
        }
    }

    /// Items other than joins.
    pub(super) fn items(&self) -> u32 {
        let named = [
            &self.leaves,
            &self.taken,
            &self.spent,
            &self.reopens,
            &self.renewals,
            &self.returns,
            &self.marks,
            &self.voids,
        ];
        let items = named.map(Vec::len).iter().sum::<usize>();
        let items = items + self.ends.len() + self.completions.len() + self.claims.len() + self.bound.len();
        let items = items + self.holds.len();
        u32::try_from(items).unwrap_or(u32::MAX)
    }
}

impl Completion {
    /// The end of the session, where completions are not counted.
    #[must_use]
    pub fn end(&self) -> End {
        End {
            lane: self.lane,
            number: self.number,
            after_ms: self.after_ms,
        }
    }
}
