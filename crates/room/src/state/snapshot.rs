//! The state as bytes, and its hash.
//!
//! The bytes end in a checksum, which keeps altered ones from being taken for a state. The hash, by which gates compare
//! states, name roots and find snapshots, is over all of them. What follows from the rest (who is present, deadlines,
//! schedules) is not written.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::codec::{DecodeError, Fields, Read, Reader, Writer, read_later, write_later};
use crate::entry::StateHash;
use crate::recovery::adopting::Adopting;
use crate::recovery::codes_cutoff::CodesCutoff;
use crate::recovery::healing::Healing;
use crate::room::{Room, codec};
use crate::state::additions::Additions;
use crate::state::chain::Chain;
use crate::state::checkpoints::Checkpoints;
use crate::state::context::{Context, MAX_JOINS};
use crate::state::past::Past;
use crate::state::roster::Roster;
use crate::state::versions::Versions;
use crate::state::{MAX_ROOMS, State};
use crate::version::WITH_SCHEDULES;
use ropeline_ids::{Clock, Position, Wall};

/// The snapshot's form under machine versions 1 and 2, and from the one on that has schedules: rooms end in fields. A state
/// is written in the form of its version, so that gates which lack the later one have the same bytes and the same hash.
const PLAIN: u16 = 2;
const WITH_FIELDS: u16 = 3;

/// Tag of a state's field.
const ADDITIONS: u8 = 1;
/// Tag of a state's field: which codes are in doubt.
const DOUBT: u8 = 2;

/// SHA-256 of everything before it.
const SUM_BYTES: usize = 32;

impl State {
    /// The state as bytes: what a snapshot holds.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let version = self.versions.current();
        let mut w = Writer {
            version,
            ..Writer::default()
        };
        w.u16(form_of(version));
        w.u64(self.position.incarnation);
        w.u64(self.position.sequence);
        w.raw(&self.nonce);
        w.raw(&self.chain.0);
        w.option(self.time, Writer::wall);
        w.option(self.awaits, |w, hash| w.raw(&hash));
        self.versions.write(&mut w);
        self.checkpoints.write(&mut w);
        self.adopting.write(&mut w);
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
        w.count(self.rooms.len());
        for (name, room) in &self.rooms {
            w.text(name.as_str());
            codec::write(room, &mut w);
        }
        let additions = (!self.additions.is_empty()).then(|| (ADDITIONS, Writer::field(|w| self.additions.write(w))));
        let codes_cutoff = self.codes_cutoff.field().map(|field| (DOUBT, field));
        write_later(&mut w, &additions.into_iter().chain(codes_cutoff).collect::<Fields>());
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
        let form = if sha256(body) == *sum { r.u16()? } else { 0 };
        let mut r = match form {
            PLAIN => r.of(WITH_SCHEDULES - 1),
            WITH_FIELDS => r,
            _ => return r.wrong(),
        };
        let state = read(&mut r)?;
        if form_of(state.version()) != form {
            return r.wrong();
        }
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

fn form_of(version: u16) -> u16 {
    if version < WITH_SCHEDULES { PLAIN } else { WITH_FIELDS }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn read(r: &mut Reader) -> Read<State> {
    let position = Position {
        incarnation: r.u64()?,
        sequence: r.u64()?,
    };
    let nonce = r.array()?;
    let chain = Chain(r.array()?);
    let time = r.option(Reader::wall)?;
    let awaits = r.option(Reader::array)?;
    let (versions, checkpoints, adopting) = (Versions::read(r)?, Checkpoints::read(r)?, Adopting::read(r)?);
    let (clock, moment_time): (Clock, Wall) = (r.clock()?, r.wall()?);
    let first_call = r.clock()?;
    let healing = r.list(21, |r| Ok((r.room_name()?, Healing::read(r)?)))?;
    let past = Arc::new(Past::read(r)?);
    let roster = Roster::read(r)?;
    let context = Context {
        version: versions.current(),
        clock,
        time: moment_time,
        first_call,
        barred_until: Clock(0),
        held_until: Clock(0),
        adopts: None,
        silent_ms: 0,
        lag_ms: 0,
        joins_left: MAX_JOINS,
        given_up: Vec::new(),
        past,
    };
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
    let (mut additions, mut codes_cutoff) = (Additions::default(), CodesCutoff::default());
    read_later(r, |tag, field| match tag {
        DOUBT => CodesCutoff::read(field).map(|read| codes_cutoff = read),
        ADDITIONS => Additions::read(field).map(|read| additions = read),
        _ => field.wrong(),
    })?;
    let mut state = State {
        position,
        nonce,
        chain,
        time,
        awaits,
        versions,
        checkpoints,
        adopting,
        context,
        roster,
        codes_cutoff,
        rooms,
        additions: Arc::new(additions),
        published: None,
    };
    // What follows from the rest, in the order in which one needs the other.
    state.look_over_rooms();
    state.settle();
    state
        .rooms
        .values_mut()
        .for_each(|room| room.reschedule(&state.context));
    Ok(state)
}
