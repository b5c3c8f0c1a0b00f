//! The inputs of the protocol at a gate's start, and the view before anything is read.

use std::sync::Arc;

use crate::archive::Archiver;
use crate::replica::options::Options;
use crate::room::{
    Batch, Change, Effects, Encoded, Entry, GateId, Position, RoomChange, RoomName, Settings, State, VERSION, View,
    Wall,
};

/// The inputs of a gate's protocol.
pub struct Setup {
    /// Random for each life of a process.
    pub gate: GateId,
    /// The configured rooms.
    pub rooms: Vec<(RoomName, Settings)>,
    pub options: Options,
    /// As [`crate::store::Log::alone`].
    pub alone: bool,
    /// The function that applies an entry: [`State::apply`], except in tests of panics and errors in it.
    pub apply: fn(&mut State, &Encoded) -> Effects,
    /// The archive in which applied entries are filed.
    pub archiver: Option<Archiver>,
    /// 64 random bits a call.
    pub random: Box<dyn FnMut() -> u64 + Send>,
}

/// The view of a gate that has not read anything yet: the configured rooms as of that time, empty, with no visitor called.
pub(in crate::replica) fn placeholder(rooms: &[(RoomName, Settings)], time: Wall) -> Arc<View> {
    let mut state = State::after_a_loss(0);
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
