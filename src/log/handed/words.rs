//! What two processes of one gate say about the log, as bytes: the calls of [`crate::log::Log`], and their answers.
//!
//! The two may be of different versions. Entries and snapshots have byte forms with a version of their own, and the sockets
//! are only handed over between processes that agree on the words around them (`cli/upgrade`).

use super::bytes::{In, Out};
use crate::log::{Append, Beginning, Begun, Exchanged, Loaded, Occasion, Skips, Snapshot, Trouble, Unavailable};
use crate::room::{Position, StateHash};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Batch, GateId, VERSION, Wall};

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
                torn: false,
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
