//! Rooms that an operator added while the gates ran: the description of each, and recent additions and removals with their
//! operators.
//!
//! The rooms themselves are rooms like all others. A gate that does not have such a room in its file makes it from this
//! description, so the description goes with the log: to gates that start later, into snapshots, and into the next log.

use std::collections::{BTreeMap, VecDeque};

use crate::codec::codec;
use crate::entry::commands::Who;
use crate::settings::Settings;
use ropeline_ids::{Edition, RoomName, Wall};

/// An added room, as the log carries it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addition {
    /// One `[[room]]` table, as it was written.
    pub text: String,
    /// The settings of the table, in the log's form.
    pub settings: Settings,
    /// When it was added, for a room that a gate brings back of a lost log; `None`: now.
    pub at: Option<Wall>,
}

/// An added room that still exists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Added {
    pub text: String,
    pub settings: Settings,
    pub at: Wall,
    pub who: Option<Who>,
}

/// An operator's word about a room's being there at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Noted {
    pub at: Wall,
    pub room: RoomName,
    pub who: Option<Who>,
    /// False: removed.
    pub added: bool,
}

/// All of them, and the last words about them, oldest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Additions {
    rooms: BTreeMap<RoomName, Added>,
    noted: VecDeque<Noted>,
    /// The edition that rooms begin with: above each of those that were removed, so that no token of one of the same name is
    /// taken for a token of an edition that was lost.
    begins: Edition,
    /// No room begins below the last revision of a removed one: changes based on the removed room do not apply to the new
    /// one.
    revised: u64,
}

codec! {
    struct Addition { text, settings, at };
    struct Added { text, settings, at, who };
    struct Noted { at, room, who, added };
    struct Additions { rooms, noted, begins, revised } where is_sound;
}

impl Added {
    /// As it is repeated to another log.
    pub(crate) fn again(&self) -> Addition {
        Addition {
            text: self.text.clone(),
            settings: self.settings.clone(),
            at: Some(self.at),
        }
    }
}

impl Additions {
    #[must_use]
    pub fn get(&self, room: &RoomName) -> Option<&Added> {
        self.rooms.get(room)
    }

    /// In the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&RoomName, &Added)> {
        self.rooms.iter()
    }

    /// The last words about rooms, newest first.
    pub fn noted(&self) -> impl Iterator<Item = &Noted> {
        self.noted.iter().rev()
    }

    fn is_sound(&self) -> bool {
        self.rooms.len() <= MAX_ADDED && self.noted.len() <= MAX_NOTED
    }

    /// The edition of a room that begins now, and its revision at least.
    pub(crate) fn begins(&self) -> (Edition, u64) {
        (self.begins, self.revised)
    }

    /// Whether there is a place for one more, of this length.
    pub(crate) fn takes(&self, addition: &Addition) -> bool {
        self.rooms.len() < MAX_ADDED && (1..=MAX_ROOM_TEXT).contains(&addition.text.len())
    }

    pub(crate) fn add(&mut self, room: &RoomName, addition: &Addition, (who, now): (Option<&Who>, Wall)) {
        let added = Added {
            text: addition.text.clone(),
            settings: addition.settings.bounded(),
            at: addition.at.unwrap_or(now),
            who: who.map(Who::bounded),
        };
        if addition.at.is_none() {
            self.note(room, (added.who.clone(), now), true);
        }
        self.rooms.insert(room.clone(), added);
    }

    /// Removes a room, whether operators added it or a file configures it. For an added room the operator who removed it is
    /// noted.
    pub(crate) fn remove(
        &mut self,
        room: &RoomName,
        (edition, revision): (Edition, u64),
        (who, now): (Option<&Who>, Wall),
    ) {
        self.begins = self.begins.max(Edition(edition.0.saturating_add(1)));
        self.revised = self.revised.max(revision);
        if self.rooms.remove(room).is_some() {
            self.note(room, (who.map(Who::bounded), now), false);
        }
    }

    fn note(&mut self, room: &RoomName, (who, at): (Option<Who>, Wall), added: bool) {
        if self.noted.len() >= MAX_NOTED {
            self.noted.pop_front();
        }
        self.noted.push_back(Noted {
            at,
            room: room.clone(),
            who,
            added,
        });
    }
}

/// Most rooms that are added at run time, of one log.
pub const MAX_ADDED: usize = 100;

/// Longest text of one, in bytes: two of the longest fit in a batch.
pub const MAX_ROOM_TEXT: usize = 16 * 1024;

/// Words about rooms that are kept.
const MAX_NOTED: usize = 50;
