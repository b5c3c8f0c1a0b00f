//! Machine versions: which one the rooms run, and when all gates have agreed on the next.
//!
//! Every gate of a log runs the same version, whatever its binary knows: a rule may only change at an entry that all of
//! them read. The version is part of the state and rises with an entry that says so, never by itself.

use crate::codec::{Read, Reader, Writer};
use crate::entry::Entry;
use crate::recovery::codes_cutoff::CodesCutoff;
use crate::state::State;
use crate::state::roster::Roster;
use crate::version::{OLDEST, VERSION, WITH_SCHEDULES};
use ropeline_ids::{Clock, Wall};

/// How long all gates must have known a version before it is raised without an operator.
const AGREED_MS: u64 = 600_000;

#[derive(Debug)]
pub(crate) struct Versions {
    /// In force.
    current: u16,
    /// A later one that all on the roster know, and since when.
    agreement: Option<(u16, Clock)>,
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

    pub fn raise(&mut self, version: u16) {
        *self = Self::new(version);
    }

    /// Notes what the roster knows now.
    pub fn agree(&mut self, roster: &Roster, now: Clock) {
        let known = roster.gates().map(|gate| gate.knows).min().unwrap_or(0);
        self.agreement = (known > self.current).then(|| match self.agreement {
            // Who knows a version knows those below it.
            Some((version, since)) => (version.min(known), since),
            None => (known, now),
        });
    }

    pub fn write(&self, w: &mut Writer) {
        w.u16(self.current);
        w.option(self.agreement, |w, (version, since)| {
            w.u16(version);
            w.clock(since);
        });
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let current = r.u16()?;
        if !(OLDEST..=VERSION).contains(&current) {
            return r.wrong();
        }
        Ok(Self {
            current,
            agreement: r.option(|r| Ok((r.u16()?, r.clock()?)))?,
        })
    }
}

impl State {
    /// The machine version in force.
    #[must_use]
    pub fn version(&self) -> u16 {
        self.versions.current
    }

    /// The same rooms under another machine version, at most [`VERSION`]; for a log that begins with one, not for one that
    /// gates have been reading.
    #[must_use]
    pub fn with_version(mut self, version: u16) -> Self {
        self.versions.raise(version.clamp(OLDEST, VERSION));
        self.context.version = self.version();
        if self.version() < WITH_SCHEDULES {
            // Rooms of these versions have no codes that could be used up.
            self.codes_cutoff = CodesCutoff::default();
        }
        self.published = None;
        self
    }

    /// The machine version that applying the entry takes, when this binary does not have it: the replica stops before the
    /// entry, which [`State::apply`] would leave alone.
    #[must_use]
    pub fn wants(&self, entry: &Entry) -> Option<u16> {
        if !self.is_next(entry) {
            return None;
        }
        if entry.version > VERSION {
            return Some(entry.version);
        }
        let says = entry.batch.hello.then_some((entry.gate, entry.batch.knows));
        let raised = entry.batch.raise.filter(|version| *version > VERSION)?;
        let heard = self.rooted() && self.versions.runs(entry) && self.roster.admits(entry);
        (heard && self.roster.knows(raised, says)).then_some(raised)
    }

    /// Whether everybody on the roster knows a machine version.
    #[must_use]
    pub fn agreeable(&self, version: u16) -> bool {
        self.roster.knows(version, None)
    }

    /// A version above the one in force that everybody on the roster has known for ten minutes of room clock: time to
    /// raise it. It may be above [`VERSION`] where this gate is not on the roster.
    #[must_use]
    pub fn agreed(&self) -> Option<u16> {
        let (version, since) = self.versions.agreement?;
        (self.context.clock.since(since) >= AGREED_MS).then_some(version)
    }

    /// Whether this binary can read the entry and what it leads to.
    pub(crate) fn reads(&self, entry: &Entry) -> bool {
        (OLDEST..=VERSION).contains(&entry.version) && self.wants(entry).is_none()
    }

    /// The rooms run a later version from this entry on.
    pub(crate) fn raise(&mut self, version: u16, now: Wall) {
        let codes = self.version() < WITH_SCHEDULES && version >= WITH_SCHEDULES;
        self.versions.raise(version);
        self.context.version = version;
        // What this log knows of codes begins here.
        if codes {
            self.doubt_codes(now);
        }
    }

    /// The version that an entry of a gate on the roster raises the rooms to.
    pub(crate) fn raised(&self, entry: &Entry) -> Option<u16> {
        let higher = |version: &u16| *version > self.version() && *version <= VERSION;
        entry
            .batch
            .raise
            .filter(higher)
            .filter(|version| self.agreeable(*version))
    }
}
