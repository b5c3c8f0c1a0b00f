//! Machine versions: the one that the rooms run, and the agreement of all gates on the next.
//!
//! Every gate of a log runs the same version, whatever its binary supports: a rule may only change at an entry that all of
//! them read. The version is part of the state and rises only with an entry that says so.

use crate::codec::codec;
use crate::entry::Entry;
use crate::state::roster::Roster;
use crate::version::{NEWEST, OLDEST};
use ropeline_ids::Clock;

/// How long all gates must have known a version before it is raised without an operator.
const AGREED_MS: u64 = 600_000;

#[derive(Debug)]
pub(crate) struct Versions {
    /// In force.
    current: u16,
    /// A later one that all on the roster know, and since when.
    agreement: Option<(u16, Clock)>,
}

codec! {
    struct Versions { current, agreement } where is_known;
}

impl Versions {
    pub fn new(current: u16) -> Self {
        Self {
            current,
            agreement: None,
        }
    }

    pub fn current(&self) -> u16 {
        self.current
    }

    /// Whether the entry is of a version that the rooms run already.
    pub fn runs(&self, entry: &Entry) -> bool {
        entry.version <= self.current
    }

    /// The version that applying the entry takes, when this binary does not have it.
    pub fn wants(&self, entry: &Entry, roster: &Roster, rooted: bool) -> Option<u16> {
        if entry.version > NEWEST {
            return Some(entry.version);
        }
        let says = entry.batch.hello.then_some((entry.gate, entry.batch.knows));
        let raised = entry.batch.raise.filter(|version| *version > NEWEST)?;
        let heard = rooted && self.runs(entry) && roster.admits(entry);
        (heard && roster.knows(raised, says)).then_some(raised)
    }

    /// The version that an entry of a gate on the roster raises the rooms to.
    pub fn raised(&self, entry: &Entry, roster: &Roster) -> Option<u16> {
        let higher = |version: &u16| *version > self.current && *version <= NEWEST;
        let raised = entry.batch.raise.filter(higher);
        raised.filter(|version| roster.knows(*version, None))
    }

    /// A version above the one in force that all on the roster have known for long enough.
    pub fn agreed(&self, now: Clock) -> Option<u16> {
        let (version, since) = self.agreement?;
        (now.since(since) >= AGREED_MS).then_some(version)
    }

    pub fn raise(&mut self, version: u16) {
        *self = Self::new(version);
    }

    /// Notes the highest version that all gates on the roster support.
    pub fn agree(&mut self, roster: &Roster, now: Clock) {
        let known = roster.gates().map(|gate| gate.knows).min().unwrap_or(0);
        self.agreement = (known > self.current).then(|| match self.agreement {
            // A gate that supports a version supports those below it.
            Some((version, since)) => (version.min(known), since),
            None => (known, now),
        });
    }

    fn is_known(&self) -> bool {
        (OLDEST..=NEWEST).contains(&self.current)
    }
}
