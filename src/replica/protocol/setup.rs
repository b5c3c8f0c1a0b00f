//! What a gate brings along to the protocol, and what it shows before it has read anything.

use std::sync::Arc;

use crate::archive::Archiver;
use crate::replica::options::Options;
use crate::room::{
    Batch, Change, Effects, Encoded, Entry, GateId, Position, RoomChange, RoomName, Settings, State, VERSION, View,
    Wall,
};

/// What a gate brings along.
pub struct Setup {
    /// Random for each life of a process.
    pub gate: GateId,
    /// The configured rooms.
    pub rooms: Vec<(RoomName, Settings)>,
    pub options: Options,
    /// As [`crate::store::Log::alone`].
    pub alone: bool,
    /// How an entry is applied: [`State::apply`], but for tests of what happens when it panics or errs.
    pub apply: fn(&mut State, &Encoded) -> Effects,
    /// Where entries are filed as they are applied.
    pub archiver: Option<Archiver>,
    /// 64 random bits a call.
    pub random: Box<dyn FnMut() -> u64 + Send>,
}

/// What the gate shows before it has read anything: the configured rooms as they are at that time, with nobody in them
/// and nobody called.
pub(in crate::replica) fn placeholder(rooms: &[(RoomName, Settings)], time: Wall) -> Arc<View> {
    let mut state = State::empty(0, false);
    let configure = |(room, settings): &(RoomName, Settings)| RoomChange {
        room: room.clone(),
        revision: 1,
        change: Change::Configure(settings.clone()),
        who: None,
    };
    let entry = Entry {
        position: Position { epoch: 0, sequence: 1 },
        gate: GateId(0),
        serial: 1,
        previous: [0; 8],
        nonce: [0; 8],
        time,
        version: VERSION,
        batch: Batch {
            hello: true,
            rooms: rooms.iter().map(configure).collect(),
            ..Batch::default()
        },
    };
    state.apply(&entry.into());
    state.view()
}
