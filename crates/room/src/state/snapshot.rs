//! The state as bytes, and its hash.
//!
//! The bytes end in a checksum, which keeps altered ones from being taken for a state. The hash, by which gates compare
//! states, name roots and find snapshots, is over all of them. What follows from the rest (who is present, deadlines,
//! schedules) is not written.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::codec::{DecodeError, Fields, Read, Reader, Writer, read_fields};
use crate::entry::StateHash;
use crate::recovery::Recovery;
use crate::recovery::adopting::Adopting;
use crate::recovery::codes_cutoff::CodesCutoff;
use crate::recovery::healing::Healing;
use crate::room::{Room, codec};
use crate::state::State;
use crate::state::additions::Additions;
use crate::state::checkpoints::Checkpoints;
use crate::state::context::Context;
use crate::state::head::Head;
use crate::state::past::Past;
use crate::state::rooms::{MAX_ROOMS, Rooms};
use crate::state::roster::Roster;
use crate::state::versions::Versions;

/// The snapshot's form.
const FORM: u16 = 1;

/// Tag of a state's field.
const ADDITIONS: u8 = 1;
/// Tag of a state's field: which codes are in doubt.
const CODES: u8 = 2;

/// SHA-256 of everything before it.
const SUM_BYTES: usize = 32;

impl State {
    /// The state as bytes: what a snapshot holds.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.u16(FORM);
        self.head.write(&mut w);
        w.option(self.recovery.awaits(), |w, hash| w.raw(&hash));
        self.versions.write(&mut w);
        self.checkpoints.write(&mut w);
        self.recovery.adopting().write(&mut w);
        w.clock(self.context.clock);
        w.wall(self.context.time);
        w.clock(self.context.first_call);
        let heal = self.rooms.iter().filter(|(_, room)| !room.healing().is_nothing());
        let heal: Vec<_> = heal.collect();
        w.list(&heal, |w, (name, room)| {
            w.text(name.as_str());
            room.healing().write(w);
        });
        self.context.past.write(&mut w);
        self.roster.write(&mut w);
        let rooms: Vec<_> = self.rooms.iter().collect();
        w.list(&rooms, |w, (name, room)| {
            w.text(name.as_str());
            codec::write(room, w);
        });
        let additions = self.rooms.additions();
        let additions = (!additions.is_empty()).then(|| (ADDITIONS, Writer::field(|w| additions.write(w))));
        let codes = self.recovery.codes().field().map(|field| (CODES, field));
        w.fields(&additions.into_iter().chain(codes).collect::<Fields>());
        let sum = sha256(&w.bytes);
        w.raw(&sum);
        w.bytes
    }

    /// # Errors
    /// When the bytes are cut, altered, or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let wrong = DecodeError {
            what: "snapshot",
            at: 0,
        };
        let (body, sum) = bytes.split_last_chunk::<SUM_BYTES>().ok_or(wrong)?;
        let mut r = Reader::new(body, "snapshot");
        if sha256(body) != *sum || r.u16()? != FORM {
            return r.wrong();
        }
        let state = read(&mut r)?;
        r.finish().map(|()| state)
    }

    /// [`State::hash_of`] the state's bytes: equal on every replica that has applied the same entries. Costs an encoding.
    #[must_use]
    pub fn hash(&self) -> StateHash {
        Self::hash_of(&self.encode())
    }

    /// SHA-256 over a state as [`State::encode`] wrote it, checksum included: the one hash of votes, roots and snapshots.
    #[must_use]
    pub fn hash_of(encoded: &[u8]) -> StateHash {
        sha256(encoded)
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn read(r: &mut Reader) -> Read<State> {
    let head = Head::read(r)?;
    let awaits = r.option(Reader::array)?;
    let (versions, checkpoints, adopting) = (Versions::read(r)?, Checkpoints::read(r)?, Adopting::read(r)?);
    let (clock, time, first_call) = (r.clock()?, r.wall()?, r.clock()?);
    let healing = r.list(21, |r| Ok((r.room_name()?, Healing::read(r)?)))?;
    let past = Arc::new(Past::read(r)?);
    let roster = Roster::read(r)?;
    let rooms = r.list(64, |r| Ok((r.room_name()?, codec::read(r)?)))?;
    if rooms.len() > MAX_ROOMS {
        return r.wrong();
    }
    let mut rooms: BTreeMap<_, Room> = rooms.into_iter().collect();
    for (name, healing) in healing {
        let Some(room) = rooms.get_mut(&name) else {
            return r.wrong();
        };
        room.set_healing(healing);
    }
    let (mut additions, mut codes) = (Additions::default(), CodesCutoff::default());
    read_fields(r, |tag, field| match tag {
        CODES => CodesCutoff::read(field).map(|read| codes = read),
        ADDITIONS => Additions::read(field).map(|read| additions = read),
        _ => field.wrong(),
    })?;
    let mut state = State {
        context: Context::new((clock, time), first_call, past),
        head,
        roster,
        versions,
        checkpoints,
        recovery: Recovery::of(awaits, adopting, codes),
        rooms: Rooms::of(rooms, additions),
        published: None,
    };
    // What follows from the rest, in the order in which one needs the other.
    state.rooms.look_over(&mut state.context);
    state.settle();
    state.rooms.all_mut().for_each(|room| room.reschedule(&state.context));
    Ok(state)
}
