//! A gate's side of the protocol at its start, before it has asked anything.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::checkpoint::Checkpoint;
use super::{BACKOFF_FIRST, Phase, Protocol};
use crate::archive::Archiver;
use crate::replica::collector::Collector;
use crate::replica::options::Options;
use crate::replica::publish::Shared;
use crate::replica::recover::Apply;
use crate::room::{
    Batch, Change, Effects, Entry, GateId, Position, RoomChange, RoomName, Settings, State, VERSION, View, Wall,
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
    pub apply: fn(&mut State, &Entry) -> Effects,
    /// Where entries are filed as they are applied.
    pub archiver: Option<Archiver>,
    /// 64 random bits a call.
    pub random: Box<dyn FnMut() -> u64 + Send>,
}

impl Protocol {
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let shared = Arc::new(Shared::new(placeholder(&setup.rooms, Wall(0))));
        Self::sharing(setup, shared)
    }

    pub(in crate::replica) fn sharing(setup: Setup, shared: Arc<Shared>) -> Self {
        let Setup {
            gate,
            rooms,
            options,
            alone,
            apply,
            archiver,
            random,
        } = setup;
        let (apply, charge): (Apply, _) = (apply, options.charge);
        Self {
            gate,
            rooms,
            charge,
            compare: false,
            options,
            alone,
            apply,
            random,
            archiver,
            shared,
            phase: Phase::Starting(Box::default()),
            asked: None,
            collector: Collector::default(),
            serial: 0,
            under_way: None,
            outbox: VecDeque::new(),
            lost: None,
            foreign_at: None,
            hello: true,
            skips: Vec::new(),
            skip: None,
            raise: None,
            root_now: false,
            checkpoint: Checkpoint::default(),
            time: Wall(0),
            heard: Duration::ZERO,
            exchanged: Duration::ZERO,
            more: false,
            spoke: Duration::ZERO,
            company_since: None,
            crowded: false,
            lag: Duration::ZERO,
            backoff: BACKOFF_FIRST,
            rest_until: Duration::ZERO,
            leaving: None,
            joined: false,
            planned: None,
            drew: None,
        }
    }
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
    state.apply(&Entry {
        position: Position {
            incarnation: 0,
            sequence: 1,
        },
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
    });
    state.view()
}
