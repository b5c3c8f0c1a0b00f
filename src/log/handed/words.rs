//! What two processes of one gate say about the log, as bytes: the calls of [`crate::log::Log`], and their answers.
//!
//! The two may be of different versions. Entries and snapshots have byte forms with a version of their own, and the sockets
//! are only handed over between processes that agree on the words around them (`cli/upgrade`).

use crate::log::{Append, Beginning, Begun, Exchanged, Loaded, Occasion, Skips, Snapshot, Trouble, Unavailable};
use crate::room::{Entry, Position, StateHash, Wall};

/// A call of the process before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Call {
    Exchange { at: Position, append: Option<Box<Append>> },
    Save { snapshot: Snapshot, occasion: Occasion },
    Load,
    Root(StateHash),
    Begin { seen: u64, beginning: Beginning },
    Skip(Position),
    Skips,
}

/// The answer to a call of the same name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    Exchanged(Exchanged),
    Done,
    Loaded(Loaded),
    Root(Option<Snapshot>),
    Begun(Begun),
    Skips(Skips),
    Unavailable(Unavailable),
}

impl Call {
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Out::default();
        match self {
            Self::Exchange { at, append } => to.tag(0).position(*at).list(append.as_slice(), Out::boxed),
            Self::Save { snapshot, occasion } => to.tag(1).tag(*occasion as u8).snapshot(snapshot),
            Self::Load => to.tag(2),
            Self::Root(hash) => to.tag(3).bytes(hash),
            Self::Begin { seen, beginning } => to.tag(4).number(*seen).beginning(beginning),
            Self::Skip(position) => to.tag(5).position(*position),
            Self::Skips => to.tag(6),
        };
        to.0
    }

    /// `None` for bytes that are no call of this version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = In(bytes);
        let call = match from.tag()? {
            0 => Self::Exchange {
                at: from.position()?,
                append: from.list(In::append)?.pop().map(Box::new),
            },
            1 => Self::Save {
                occasion: from.occasion()?,
                snapshot: from.snapshot()?,
            },
            2 => Self::Load,
            3 => Self::Root(from.bytes()?.try_into().ok()?),
            4 => Self::Begin {
                seen: from.number()?,
                beginning: from.beginning()?,
            },
            5 => Self::Skip(from.position()?),
            6 => Self::Skips,
            _ => return None,
        };
        from.0.is_empty().then_some(call)
    }
}

impl Reply {
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Out::default();
        match self {
            Self::Exchanged(exchanged) => to.tag(0).exchanged(exchanged),
            Self::Done => to.tag(1),
            Self::Loaded(loaded) => to.tag(2).loaded(loaded),
            Self::Root(root) => to.tag(3).list(root.as_slice(), Out::snapshot),
            Self::Begun(Begun::Begun) => to.tag(4),
            Self::Begun(Begun::Lost { incarnation }) => to.tag(5).number(*incarnation),
            Self::Skips(skips) => to.tag(6).number(skips.incarnation).positions(&skips.positions),
            Self::Unavailable(reason) => to.tag(7).tag(reason.trouble as u8).bytes(reason.reason.as_bytes()),
        };
        to.0
    }

    /// `None` for bytes that are no answer of this version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = In(bytes);
        let reply = match from.tag()? {
            0 => Self::Exchanged(from.exchanged()?),
            1 => Self::Done,
            2 => Self::Loaded(from.loaded()?),
            3 => Self::Root(from.list(In::snapshot)?.pop()),
            4 => Self::Begun(Begun::Begun),
            5 => Self::Begun(Begun::Lost {
                incarnation: from.number()?,
            }),
            6 => Self::Skips(Skips {
                incarnation: from.number()?,
                positions: from.list(In::position)?,
            }),
            7 => Self::Unavailable(Unavailable {
                trouble: *Trouble::ALL.get(usize::from(from.tag()?))?,
                reason: String::from_utf8_lossy(from.bytes()?).into_owned(),
            }),
            _ => return None,
        };
        from.0.is_empty().then_some(reply)
    }
}

#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn tag(&mut self, tag: u8) -> &mut Self {
        self.0.push(tag);
        self
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn list<T>(&mut self, items: &[T], write: for<'a> fn(&'a mut Self, &T) -> &'a mut Self) -> &mut Self {
        self.number(items.len() as u64);
        for item in items {
            write(self, item);
        }
        self
    }

    fn position(&mut self, position: Position) -> &mut Self {
        self.number(position.incarnation).number(position.sequence)
    }

    fn positions(&mut self, positions: &[Position]) -> &mut Self {
        self.list(positions, |to, position| to.position(*position))
    }

    fn snapshot(&mut self, snapshot: &Snapshot) -> &mut Self {
        self.bytes(&snapshot.encode())
    }

    fn entry(&mut self, entry: &Entry) -> &mut Self {
        self.bytes(&entry.encode())
    }

    /// An entry without what the log adds.
    fn append(&mut self, append: &Append) -> &mut Self {
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
    fn boxed(&mut self, append: &Box<Append>) -> &mut Self {
        self.append(append)
    }

    fn beginning(&mut self, beginning: &Beginning) -> &mut Self {
        match beginning {
            Beginning::Root(root) => self.tag(0).snapshot(root),
            Beginning::First { incarnation, append } => self.tag(1).number(*incarnation).append(append),
        }
    }

    fn exchanged(&mut self, exchanged: &Exchanged) -> &mut Self {
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

    fn loaded(&mut self, loaded: &Loaded) -> &mut Self {
        self.number(loaded.incarnation).number(loaded.last_known);
        self.tag(loaded.new.into()).tag(loaded.clean.into());
        self.number(loaded.time.0).positions(&loaded.skips);
        self.list(&loaded.snapshots, Self::snapshot)
    }
}

struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
    fn tag(&mut self) -> Option<u8> {
        let (tag, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*tag)
    }

    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// As long as there are bytes for it: what an item takes is never nothing.
    fn list<T>(&mut self, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| read(self)).collect()
    }

    fn position(&mut self) -> Option<Position> {
        Some(Position {
            incarnation: self.number()?,
            sequence: self.number()?,
        })
    }

    fn occasion(&mut self) -> Option<Occasion> {
        let all = [Occasion::Checkpoint, Occasion::Root, Occasion::Last];
        let tag = self.tag()?;
        all.into_iter().find(|occasion| *occasion as u8 == tag)
    }

    fn snapshot(&mut self) -> Option<Snapshot> {
        Snapshot::decode(self.bytes()?).ok()
    }

    fn entry(&mut self) -> Option<Entry> {
        Entry::decode(self.bytes()?).ok()
    }

    fn append(&mut self) -> Option<Append> {
        let entry = self.entry()?;
        Some(Append {
            gate: entry.gate,
            serial: entry.serial,
            nonce: entry.nonce,
            version: entry.version,
            batch: entry.batch,
        })
    }

    fn beginning(&mut self) -> Option<Beginning> {
        Some(match self.tag()? {
            0 => Beginning::Root(self.snapshot()?),
            1 => Beginning::First {
                incarnation: self.number()?,
                append: Box::new(self.append()?),
            },
            _ => return None,
        })
    }

    fn exchanged(&mut self) -> Option<Exchanged> {
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

    fn loaded(&mut self) -> Option<Loaded> {
        Some(Loaded {
            incarnation: self.number()?,
            last_known: self.number()?,
            new: self.tag()? != 0,
            clean: self.tag()? != 0,
            time: Wall(self.number()?),
            skips: self.list(Self::position)?,
            snapshots: self.list(Self::snapshot)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Batch, GateId, VERSION};

    const AT: Position = Position {
        incarnation: 7,
        sequence: 9,
    };

    fn snapshot() -> Snapshot {
        Snapshot {
            position: AT,
            nonce: *b"noncense",
            time: Wall(5),
            state: b"rooms".to_vec(),
        }
    }

    fn append() -> Append {
        Append {
            gate: GateId(3),
            serial: 4,
            nonce: *b"a nonce.",
            version: VERSION,
            batch: Batch {
                hello: true,
                ..Batch::default()
            },
        }
    }

    fn calls() -> Vec<Call> {
        let (snapshot, append) = (snapshot(), Box::new(append()));
        vec![
            Call::Exchange { at: AT, append: None },
            Call::Exchange {
                at: AT,
                append: Some(append.clone()),
            },
            Call::Save {
                snapshot: snapshot.clone(),
                occasion: Occasion::Root,
            },
            Call::Load,
            Call::Root([6; 32]),
            Call::Begin {
                seen: 2,
                beginning: Beginning::Root(snapshot),
            },
            Call::Begin {
                seen: 2,
                beginning: Beginning::First { incarnation: 8, append },
            },
            Call::Skip(AT),
            Call::Skips,
        ]
    }

    fn replies() -> Vec<Reply> {
        let mut from = In(&[]);
        assert_eq!(from.tag(), None);
        let mut entry = Out::default();
        entry.append(&append());
        let entry = In(&entry.0).entry().unwrap();
        let entries = |more, newer| Exchanged::Entries {
            entries: vec![entry.clone(), entry.clone()],
            log_bytes: 11,
            more,
            newer,
        };
        vec![
            Reply::Exchanged(entries(true, None)),
            Reply::Exchanged(entries(false, Some(9))),
            Reply::Exchanged(Exchanged::Moved),
            Reply::Exchanged(Exchanged::Broken { incarnation: 4 }),
            Reply::Done,
            Reply::Loaded(Loaded {
                incarnation: 1,
                last_known: 2,
                new: false,
                clean: true,
                time: Wall(3),
                skips: vec![AT],
                snapshots: vec![snapshot(), snapshot()],
            }),
            Reply::Root(None),
            Reply::Root(Some(snapshot())),
            Reply::Begun(Begun::Begun),
            Reply::Begun(Begun::Lost { incarnation: 5 }),
            Reply::Skips(Skips {
                incarnation: 6,
                positions: vec![AT, AT],
            }),
            Reply::Unavailable(Unavailable::new(Trouble::Odd, "a reason")),
        ]
    }

    #[test]
    fn what_is_said_is_heard() {
        for call in calls() {
            assert_eq!(Call::decode(&call.encode()).as_ref(), Some(&call));
        }
        for reply in replies() {
            assert_eq!(Reply::decode(&reply.encode()).as_ref(), Some(&reply));
        }
    }

    #[test]
    fn what_is_cut_or_longer_is_nothing() {
        let all = calls().iter().map(Call::encode).collect::<Vec<_>>();
        for bytes in all {
            for at in 0..bytes.len() {
                assert_eq!(Call::decode(&bytes[..at]), None);
            }
            assert_eq!(Call::decode(&[&bytes[..], &[0]].concat()), None);
        }
        for bytes in replies().iter().map(Reply::encode) {
            for at in 0..bytes.len() {
                assert_eq!(Reply::decode(&bytes[..at]), None);
            }
            assert_eq!(Reply::decode(&[&bytes[..], &[0]].concat()), None);
        }
    }
}
