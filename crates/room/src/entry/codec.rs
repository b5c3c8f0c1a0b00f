//! The byte form of entries and batches. An entry of a version that this binary lacks is refused, so that its gate stops there.
//!
//! A word about a room has a number of its own; what may be absent of a batch, such a word or a section stands at its end as
//! [`Fields`].

use super::{Adopt, Batch, Change, Entry, MAX_BATCH_BYTES, RoomChange, Spoke, Vote};
use crate::codec::{DecodeError, Fields, Read, Reader, Writer, read_fields};
use crate::draw::Hash;
use crate::entry::batch_fields;
use crate::entry::commands::{CallOrder, Who};
use crate::entry::eviction::Eviction;
use crate::entry::sale::{DrawnLane, Forms, Sale, read_beacon, write_beacon};
use crate::entry::section_codec::{read_count, read_section, write_section};
use crate::load::Outside;
use crate::room::rehearsal::RehearsalOrder;
use crate::settings::codec::{read_overrides, read_settings, write_overrides, write_settings};
use crate::settings::schedule::{read_windows, write_windows};
use crate::state::additions::Addition;
use crate::version::{NEWEST, OLDEST};
use ropeline_ids::{Epoch, GateId, Position, RehearsalId, Wall};

/// Longest entry that is read: twice what a gate may write, since an entry refused here would stop every gate.
const MAX_ENTRY_BYTES: usize = 2 * MAX_BATCH_BYTES;

impl Entry {
    /// The entry as the log stores it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = self.write_head();
        write_batch(&mut w, &self.batch);
        w.bytes
    }

    /// The bytes of [`Entry::encode`] before those of the batch.
    pub(super) fn encode_head(&self) -> Vec<u8> {
        self.write_head().bytes
    }

    fn write_head(&self) -> Writer {
        let mut w = Writer::default();
        w.u16(self.version);
        w.u64(self.position.epoch);
        w.u64(self.position.sequence);
        w.u64(self.gate.0);
        w.u64(self.serial);
        w.raw(&self.previous);
        w.raw(&self.nonce);
        w.wall(self.time);
        w
    }

    /// # Errors
    /// When the bytes are not an entry of a version that this binary reads, or longer than twice [`MAX_BATCH_BYTES`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes, "entry");
        let version = r.u16()?;
        if !(OLDEST..=NEWEST).contains(&version) || bytes.len() > MAX_ENTRY_BYTES {
            return r.wrong();
        }
        let entry = Self {
            version,
            position: Position {
                epoch: r.u64()?,
                sequence: r.u64()?,
            },
            gate: GateId(r.u64()?),
            serial: r.u64()?,
            previous: r.array()?,
            nonce: r.array()?,
            time: Wall(r.u64()?),
            batch: read_batch(&mut r)?,
        };
        r.finish().map(|()| entry)
    }
}

impl Batch {
    /// The batch as a log that keeps it apart from the rest of its entry stores it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        write_batch(&mut w, self);
        w.bytes
    }

    /// # Errors
    /// When the bytes are no batch, or longer than twice [`MAX_BATCH_BYTES`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes, "batch");
        if bytes.len() > MAX_ENTRY_BYTES {
            return r.wrong();
        }
        let batch = read_batch(&mut r)?;
        r.finish().map(|()| batch)
    }

    /// Bytes of the encoded batch, for keeping under [`MAX_BATCH_BYTES`]. Costs an encoding.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.encode().len()
    }
}

/// Tag of a change's field.
const WHO: u8 = 1;

fn write_batch(w: &mut Writer, batch: &Batch) {
    w.flag(batch.hello);
    w.flag(batch.goodbye);
    w.u16(batch.knows);
    w.var(batch.applied);
    w.var(u64::from(batch.lag_us));
    w.option(batch.spoke.as_ref(), write_spoke);
    w.option(batch.root, |w, hash| w.raw(&hash));
    w.option(batch.vote, write_vote);
    w.option(batch.saved, Writer::u64);
    w.option(batch.raise, Writer::u16);
    w.option(batch.adopt, write_adopt);
    w.list(&batch.rooms, write_room_change);
    w.list(&batch.sections, write_section);
    batch_fields::write(w, batch);
}

fn read_batch(r: &mut Reader) -> Read<Batch> {
    let mut batch = Batch {
        hello: r.flag()?,
        goodbye: r.flag()?,
        knows: r.u16()?,
        applied: r.var()?,
        lag_us: read_count(r)?,
        spoke: r.option(read_spoke)?,
        root: r.option(Reader::array)?,
        vote: r.option(read_vote)?,
        saved: r.option(Reader::u64)?,
        raise: r.option(Reader::u16)?,
        adopt: r.option(read_adopt)?,
        rooms: r.list(11, read_room_change)?,
        sections: r.list(11, read_section)?,
        redeems: Vec::new(),
        spent_codes: Vec::new(),
        load: Vec::new(),
    };
    batch_fields::read(r, &mut batch)?;
    Ok(batch)
}

fn write_spoke(w: &mut Writer, spoke: &Spoke) {
    write_position(w, spoke.position);
    w.raw(&spoke.nonce);
    w.list(&spoke.roster, |w, gate| w.u64(gate.0));
}

fn read_spoke(r: &mut Reader) -> Read<Spoke> {
    Ok(Spoke {
        position: read_position(r)?,
        nonce: r.array()?,
        roster: r.list(8, |r| Ok(GateId(r.u64()?)))?,
    })
}

fn write_position(w: &mut Writer, position: Position) {
    w.u64(position.epoch);
    w.u64(position.sequence);
}

fn read_position(r: &mut Reader) -> Read<Position> {
    Ok(Position {
        epoch: r.u64()?,
        sequence: r.u64()?,
    })
}

pub(crate) fn write_vote(w: &mut Writer, vote: Vote) {
    w.u64(vote.sequence);
    w.raw(&vote.hash);
    w.flag(vote.again);
}

pub(crate) fn read_vote(r: &mut Reader) -> Read<Vote> {
    Ok(Vote {
        sequence: r.u64()?,
        hash: r.array()?,
        again: r.flag()?,
    })
}

fn write_adopt(w: &mut Writer, adopt: Adopt) {
    w.u64(adopt.epoch.0);
    w.u64(adopt.sequence);
    w.u32(adopt.floor);
    w.flag(adopt.whole);
    w.flag(adopt.done);
}

fn read_adopt(r: &mut Reader) -> Read<Adopt> {
    Ok(Adopt {
        epoch: Epoch(r.u64()?),
        sequence: r.u64()?,
        floor: r.u32()?,
        whole: r.flag()?,
        done: r.flag()?,
    })
}

fn write_room_change(w: &mut Writer, change: &RoomChange) {
    w.text(change.room.as_str());
    w.u64(change.revision);
    match &change.change {
        Change::Configure(settings) => {
            w.u8(0);
            write_settings(w, settings);
        }
        Change::Override(overrides) => {
            w.u8(1);
            write_overrides(w, overrides);
        }
        Change::Reset => w.u8(2),
        Change::Remove => w.u8(3),
        Change::Edition(edition) => {
            w.u8(4);
            w.u32(edition.0);
        }
        Change::Windows { rule, windows } => {
            w.u8(5);
            w.text(rule);
            write_windows(w, windows);
        }
        Change::Commit {
            edition,
            order,
            beacon,
            forms,
            salt,
            commitment,
        } => {
            w.u8(6);
            w.u32(edition.0);
            write_beacon(w, *order, beacon.as_deref());
            forms.write(w);
            w.raw(salt);
            w.raw(&commitment.0);
        }
        Change::Sale { edition, sale, lanes } => {
            w.u8(8);
            w.u32(edition.0);
            sale.write(w);
            w.list(lanes, |w, lane| lane.write(w));
        }
        Change::Call(order) => {
            w.u8(30);
            order.write(w);
        }
        Change::Evict(eviction) => {
            w.u8(31);
            eviction.write(w);
        }
        Change::Add(addition) => {
            w.u8(32);
            addition.write(w);
        }
        Change::Rehearse(order) => {
            w.u8(25);
            order.write(w);
        }
        Change::Renew(id) => {
            w.u8(26);
            w.raw(&id.0);
        }
        Change::EndRehearsal(id) => {
            w.u8(27);
            w.raw(&id.0);
        }
        Change::EndHealing => w.u8(40),
        Change::Load(Some(figures)) => {
            w.u8(50);
            figures.write(w);
        }
        Change::Load(None) => w.u8(51),
        Change::Draw { edition, secret, value } => {
            w.u8(7);
            w.u32(edition.0);
            w.raw(&secret.0);
            w.option(value.as_deref(), Writer::text);
        }
    }
    let who = change.who.as_ref();
    let who = who.map(|who| (WHO, Writer::field(|w| who.write(w))));
    w.fields(&Fields::from_iter(who));
}

fn read_room_change(r: &mut Reader) -> Read<RoomChange> {
    let room = r.room_name()?;
    let revision = r.u64()?;
    let change = match r.u8()? {
        0 => Change::Configure(read_settings(r)?),
        1 => Change::Override(read_overrides(r)?),
        2 => Change::Reset,
        3 => Change::Remove,
        4 => Change::Edition(r.edition()?),
        5 => Change::Windows {
            rule: r.text()?.to_owned(),
            windows: read_windows(r)?,
        },
        6 => {
            let edition = r.edition()?;
            let (order, beacon) = read_beacon(r)?;
            Change::Commit {
                edition,
                order,
                beacon,
                forms: Forms::read(r)?,
                salt: r.array()?,
                commitment: Hash(r.array()?),
            }
        }
        7 => Change::Draw {
            edition: r.edition()?,
            secret: Hash(r.array()?),
            value: read_text(r)?,
        },
        8 => Change::Sale {
            edition: r.edition()?,
            sale: Box::new(Sale::read(r)?),
            lanes: r.list(3, DrawnLane::read)?,
        },
        25 => Change::Rehearse(Box::new(RehearsalOrder::read(r)?)),
        26 => Change::Renew(RehearsalId(r.array()?)),
        27 => Change::EndRehearsal(RehearsalId(r.array()?)),
        30 => Change::Call(CallOrder::read(r)?),
        31 => Change::Evict(Eviction::read(r)?),
        32 => Change::Add(Box::new(Addition::read(r)?)),
        40 => Change::EndHealing,
        50 => Change::Load(Some(Outside::read(r)?)),
        51 => Change::Load(None),
        _ => return r.wrong(),
    };
    let mut who = None;
    read_fields(r, |tag, field| match tag {
        WHO => Who::read(field).map(|read| who = Some(read)),
        _ => field.wrong(),
    })?;
    Ok(RoomChange {
        room,
        revision,
        change,
        who,
    })
}

fn read_text(r: &mut Reader) -> Read<Option<String>> {
    r.option(|r| r.text().map(str::to_owned))
}
