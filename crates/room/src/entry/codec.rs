//! The byte form of entries and batches. An entry of a version that this binary lacks is refused, so that its gate stops there.

use super::{Adopt, Batch, Change, Entry, MAX_BATCH_BYTES, RoomChange, Spoke, Vote};
use crate::codec::{DecodeError, Reader, Writer, codec};
use crate::version::{NEWEST, OLDEST};

/// Longest entry that is read: twice what a gate may write, since an entry refused here would stop every gate.
pub(super) const MAX_ENTRY_BYTES: usize = 2 * MAX_BATCH_BYTES;

impl Entry {
    /// The entry as the log stores it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = self.write_head();
        w.put(&self.batch);
        w.bytes
    }

    /// The bytes of [`Entry::encode`] before those of the batch.
    pub(super) fn encode_head(&self) -> Vec<u8> {
        self.write_head().bytes
    }

    fn write_head(&self) -> Writer {
        // PERF: most entries fit.
        let bytes = Vec::with_capacity(256);
        let mut w = Writer::onto(bytes);
        w.put(&self.version);
        w.put(&self.position);
        w.put(&self.gate);
        w.put(&self.serial);
        w.put(&self.previous);
        w.put(&self.nonce);
        w.put(&self.time);
        w
    }

    /// # Errors
    /// When the bytes are not an entry of a version that this binary reads, or longer than twice [`MAX_BATCH_BYTES`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes, "entry");
        let version = r.get()?;
        if !(OLDEST..=NEWEST).contains(&version) || bytes.len() > MAX_ENTRY_BYTES {
            return r.wrong();
        }
        let entry = Self {
            version,
            position: r.get()?,
            gate: r.get()?,
            serial: r.get()?,
            previous: r.get()?,
            nonce: r.get()?,
            time: r.get()?,
            batch: r.get()?,
        };
        r.finish().map(|()| entry)
    }
}

impl Batch {
    /// The batch as a log that keeps it apart from the rest of its entry stores it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.put(self);
        w.bytes
    }

    /// # Errors
    /// When the bytes are no batch, or longer than twice [`MAX_BATCH_BYTES`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes, "batch");
        if bytes.len() > MAX_ENTRY_BYTES {
            return r.wrong();
        }
        let batch = r.get()?;
        r.finish().map(|()| batch)
    }

    /// One report for a room, in their order.
    fn is_sound(&self) -> bool {
        self.load.is_sorted_by(|(a, _), (b, _)| a < b)
    }

    /// Bytes of the encoded batch, for keeping under [`MAX_BATCH_BYTES`]. Costs an encoding.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.encode().len()
    }
}

// What every batch says comes first, so that one byte says what is there.
codec! {
    struct Batch sparse {
        applied, lag_us, sections, load, vote, saved, rooms, redeems, hello, goodbye, knows, spoke, root, raise,
        adopt, spent_codes, notes_until,
    } where is_sound;
    struct Spoke { position, nonce, roster };
    struct Vote { sequence, hash, again };
    struct Adopt { epoch, sequence, floor, whole, done };
    struct RoomChange { room, revision, change, who };
    enum Change {
        0 => Configure(settings),
        1 => Override(overrides),
        2 => Reset,
        3 => Remove,
        4 => Edition(edition),
        5 => Windows { rule, windows },
        6 => Commit { edition, order, beacon, forms, salt, commitment },
        7 => Draw { edition, secret, value },
        8 => Sale { edition, sale, lanes },
        9 => Call(order),
        10 => Evict(eviction),
        11 => Add(addition),
        12 => Rehearse(order),
        13 => Renew(id),
        14 => EndRehearsal(id),
        15 => EndHealing,
        16 => Load(figures),
    };
}
