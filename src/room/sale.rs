//! A room's draw, as far as it has come: what was promised, when the line was closed for it, and what came out.
//!
//! What these are made of and how a visitor checks them is [`crate::draw`]; the draw itself is the lanes' (`drawn`). All
//! lines and lanes of an edition share one commitment and one secret.

use super::codec::{Read, Reader, Writer};
use super::ids::{Edition, Era, LaneId, LineName, Wall};
use super::schedule::{Phase, Stage};
use crate::draw::{Beacon, Draw, Hash, MAX_BEACON_NAME, MAX_BEACON_VALUE};

/// The line is drawn at the opening.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawing {
    /// The name of a public value that nobody can know before the opening; `None`: the secret alone decides.
    pub beacon: Option<String>,
}

/// How far an edition's draw has come. Each part is there before the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sale {
    pub commitment: Option<Commitment>,
    /// When the line was closed for the draw: whoever joins later stands behind.
    pub closed: Option<Wall>,
    pub made: Option<Made>,
}

/// Who was drawn of a lane, or is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnLane {
    pub line: LineName,
    pub lane: LaneId,
    /// Numbers of an era, from the first to before the last, in the order of their places.
    pub runs: Vec<(Era, u32, u32)>,
}

/// What an edition's draw waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owed<'a> {
    /// A promise, for this beacon or none.
    Promise(Edition, Option<&'a str>),
    /// The secret of this promise, and its beacon's value if it has one.
    Secret(Edition, &'a Commitment),
}

/// The promise of a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commitment {
    /// As it was named when the promise was made.
    pub beacon: Option<String>,
    /// What makes the secret another for each promise; says nothing without the gates' key.
    pub salt: [u8; 16],
    pub hash: Hash,
    pub at: Wall,
}

/// What the order was made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    pub secret: Hash,
    /// The beacon's, where there is one.
    pub value: Option<String>,
    pub at: Wall,
}

impl Drawing {
    /// `None` for a name that figures cannot have.
    #[must_use]
    pub fn bounded(&self) -> Option<Self> {
        let fits = |name: &String| (1..=MAX_BEACON_NAME).contains(&name.len());
        self.beacon.as_ref().is_none_or(fits).then(|| self.clone())
    }

    pub(super) fn write(&self, w: &mut Writer) {
        w.option(self.beacon.as_deref(), Writer::text);
    }

    pub(super) fn read(r: &mut Reader) -> Read<Self> {
        let beacon = r.option(|r| r.text().map(str::to_owned))?;
        Ok(Self { beacon })
    }
}

impl DrawnLane {
    pub(super) fn write(&self, w: &mut Writer) {
        w.text(self.line.as_str());
        w.u8(self.lane.0);
        w.list(&self.runs, |w, (era, from, to)| {
            w.u64(era.0);
            w.u32(*from);
            w.u32(*to);
        });
    }

    pub(super) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            line: r.line_name()?,
            lane: r.lane()?,
            runs: r.list(16, |r| Ok((Era(r.u64()?), r.u32()?, r.u32()?)))?,
        })
    }
}

impl Sale {
    /// Whoever is in line is to be drawn and is not yet, in a room that draws and is at `stage`.
    #[must_use]
    pub fn is_open(&self, stage: Option<&Stage>) -> bool {
        let forms = || stage.is_some_and(|stage| stage.phase == Phase::Prequeue);
        self.made.is_none() && (self.closed.is_some() || forms())
    }

    /// How far it has come: 0 for nothing, 1 promised, 2 closed, 3 made.
    #[must_use]
    pub fn stage(&self) -> u8 {
        match self {
            Self { made: Some(_), .. } => 3,
            Self { closed: Some(_), .. } => 2,
            Self {
                commitment: Some(_), ..
            } => 1,
            _ => 0,
        }
    }

    /// Closed, and the order is not there yet: nobody is called.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.closed.is_some() && self.made.is_none()
    }

    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn write(&self, w: &mut Writer) {
        w.option(self.commitment.as_ref(), |w, commitment| {
            w.option(commitment.beacon.as_deref(), Writer::text);
            w.raw(&commitment.salt);
            w.raw(&commitment.hash.0);
            w.wall(commitment.at);
        });
        w.option(self.closed, Writer::wall);
        w.option(self.made.as_ref(), |w, made| {
            w.raw(&made.secret.0);
            w.option(made.value.as_deref(), Writer::text);
            w.wall(made.at);
        });
    }

    pub(super) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            commitment: r.option(|r| {
                Ok(Commitment {
                    beacon: r.option(|r| r.text().map(str::to_owned))?,
                    salt: r.array()?,
                    hash: Hash(r.array()?),
                    at: r.wall()?,
                })
            })?,
            closed: r.option(Reader::wall)?,
            made: r.option(|r| {
                Ok(Made {
                    secret: Hash(r.array()?),
                    value: r.option(|r| r.text().map(str::to_owned))?,
                    at: r.wall()?,
                })
            })?,
        })
    }
}

impl Commitment {
    /// Whether a secret, and the value that is said to be the beacon's, are what was promised for this edition of a room.
    #[must_use]
    pub fn fits(&self, (room, edition): (&str, u32), secret: Hash, value: Option<&str>) -> bool {
        let size = value.is_none_or(|value| (1..=MAX_BEACON_VALUE).contains(&value.len()));
        let draw = Draw {
            room,
            line: "",
            edition,
            lane: 0,
            count: 0,
            secret,
            beacon: self.beacon(value),
        };
        size && value.is_some() == self.beacon.is_some() && draw.commitment() == self.hash
    }

    pub(super) fn beacon<'a>(&'a self, value: Option<&'a str>) -> Option<Beacon<'a>> {
        let name = self.beacon.as_deref()?;
        Some(Beacon {
            name,
            value: value.unwrap_or_default(),
        })
    }
}
