//! The parts of what two processes say about the log, written and read.

use crate::log::{Append, Beginning, Exchanged, Loaded, Occasion, Snapshot};
use crate::room::{Entry, Position, Wall};

/// What is written.
#[derive(Default)]
pub(super) struct Out(pub Vec<u8>);

impl Out {
    pub fn tag(&mut self, tag: u8) -> &mut Self {
        self.0.push(tag);
        self
    }

    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn list<T>(&mut self, items: &[T], write: for<'a> fn(&'a mut Self, &T) -> &'a mut Self) -> &mut Self {
        self.number(items.len() as u64);
        for item in items {
            write(self, item);
        }
        self
    }

    pub fn position(&mut self, position: Position) -> &mut Self {
        self.number(position.incarnation).number(position.sequence)
    }

    pub fn positions(&mut self, positions: &[Position]) -> &mut Self {
        self.list(positions, |to, position| to.position(*position))
    }

    pub fn snapshot(&mut self, snapshot: &Snapshot) -> &mut Self {
        self.bytes(&snapshot.encode())
    }

    pub fn entry(&mut self, entry: &Entry) -> &mut Self {
        self.bytes(&entry.encode())
    }

    /// An entry without what the log adds.
    pub fn append(&mut self, append: &Append) -> &mut Self {
        self.entry(&Entry {
            position: Position::default(),
            gate: append.gate,
            serial: append.serial,
            previous: [0; 8],
            nonce: append.nonce,
            time: Wall(0),
            version: append.version,
            batch: append.batch.clone(),
        })
    }

    #[expect(clippy::borrowed_box, reason = "an item of a list of them")]
    pub fn boxed(&mut self, append: &Box<Append>) -> &mut Self {
        self.append(append)
    }

    pub fn beginning(&mut self, beginning: &Beginning) -> &mut Self {
        match beginning {
            Beginning::Root(root) => self.tag(0).snapshot(root),
            Beginning::First { incarnation, append } => self.tag(1).number(*incarnation).append(append),
        }
    }

    pub fn exchanged(&mut self, exchanged: &Exchanged) -> &mut Self {
        match exchanged {
            Exchanged::Entries {
                entries,
                log_bytes,
                more,
                newer,
            } => {
                self.tag(0).number(*log_bytes).tag((*more).into());
                self.number(newer.map_or(0, u64::from)).list(entries, Self::entry)
            }
            Exchanged::Moved => self.tag(1),
            Exchanged::Broken { incarnation } => self.tag(2).number(*incarnation),
        }
    }

    pub fn loaded(&mut self, loaded: &Loaded) -> &mut Self {
        self.number(loaded.incarnation).number(loaded.last_known);
        self.tag(loaded.new.into()).tag(loaded.clean.into());
        self.number(loaded.time.0).positions(&loaded.skips);
        self.list(&loaded.snapshots, Self::snapshot)
    }
}

/// What is left to read.
pub(super) struct In<'a>(pub &'a [u8]);

impl<'a> In<'a> {
    pub fn tag(&mut self) -> Option<u8> {
        let (tag, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*tag)
    }

    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// As long as there are bytes for it: what an item takes is never nothing.
    pub fn list<T>(&mut self, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| read(self)).collect()
    }

    pub fn position(&mut self) -> Option<Position> {
        Some(Position {
            incarnation: self.number()?,
            sequence: self.number()?,
        })
    }

    pub fn occasion(&mut self) -> Option<Occasion> {
        let all = [Occasion::Checkpoint, Occasion::Root, Occasion::Last];
        let tag = self.tag()?;
        all.into_iter().find(|occasion| *occasion as u8 == tag)
    }

    pub fn snapshot(&mut self) -> Option<Snapshot> {
        Snapshot::decode(self.bytes()?).ok()
    }

    pub fn entry(&mut self) -> Option<Entry> {
        Entry::decode(self.bytes()?).ok()
    }

    pub fn append(&mut self) -> Option<Append> {
        let entry = self.entry()?;
        Some(Append {
            gate: entry.gate,
            serial: entry.serial,
            nonce: entry.nonce,
            version: entry.version,
            batch: entry.batch,
        })
    }

    pub fn beginning(&mut self) -> Option<Beginning> {
        Some(match self.tag()? {
            0 => Beginning::Root(self.snapshot()?),
            1 => Beginning::First {
                incarnation: self.number()?,
                append: Box::new(self.append()?),
            },
            _ => return None,
        })
    }

    pub fn exchanged(&mut self) -> Option<Exchanged> {
        Some(match self.tag()? {
            0 => Exchanged::Entries {
                log_bytes: self.number()?,
                more: self.tag()? != 0,
                newer: u16::try_from(self.number()?).ok().filter(|version| *version != 0),
                entries: self.list(Self::entry)?,
            },
            1 => Exchanged::Moved,
            2 => Exchanged::Broken {
                incarnation: self.number()?,
            },
            _ => return None,
        })
    }

    pub fn loaded(&mut self) -> Option<Loaded> {
        Some(Loaded {
            incarnation: self.number()?,
            last_known: self.number()?,
            new: self.tag()? != 0,
            clean: self.tag()? != 0,
            // SECURITY: a log that another process has open was read to its end there.
            torn: false,
            time: Wall(self.number()?),
            skips: self.list(Self::position)?,
            snapshots: self.list(Self::snapshot)?,
        })
    }
}
