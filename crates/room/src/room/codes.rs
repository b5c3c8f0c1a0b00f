//! Codes that visitors join by: the single-use ones that are spent, and the visitors who passed the line by one.
//!
//! A spent code is remembered with the one number that it gave until it expires; the visitor of that number may ask again and
//! gets the same answer. A code that may have been used before is not valid. Spent codes are grouped by their first byte, so
//! that a view shares all groups except changed ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::codec::{Codec, Read, Reader, Writer, codec};
use ropeline_ids::{CodeId, LaneId, LineName, Number, PendingId, RoomName, Tag, Wall};

/// Most spent codes that a room remembers; over it single-use codes are not good until some have expired.
pub const MAX_SPENT: usize = 131_072;

/// Most visitors of one line that codes may have brought past it at once.
pub const MAX_BYPASS: u32 = 1_000;

type Seat = (LaneId, Number);

/// A visitor who joins by a code that a gate found to be genuine and good for this line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redeem {
    pub room: RoomName,
    pub line: LineName,
    /// The lane to join.
    pub lane: LaneId,
    /// The account's tags, as of [`Tagged`](crate::Tagged).
    pub tags: Vec<Tag>,
    pub code: CodeId,
    /// A visitor who comes again with the same one is the same visitor.
    pub holder: PendingId,
    pub issued: Wall,
    pub expires: Option<Wall>,
    /// It is good for one visitor.
    pub single: bool,
    /// It leads past the line.
    pub bypass: bool,
    /// The place in line that its holder has so far.
    pub leaves: Option<Seat>,
}

codec! {
    struct Redeem { room, line, lane, tags, code, holder, issued, expires, single, bypass, leaves };
}

/// Why a code was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Denied {
    /// The room assigns no numbers, or takes no such codes.
    Refused,
    /// Another visitor has used it, or its number is over.
    Spent,
    /// No visitor is admitted by codes at present, or lost data is being looked for.
    NotNow,
    /// Records were lost after it was issued.
    Doubtful,
    Expired,
}

/// The number that a code gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spent {
    pub holder: PendingId,
    pub expires: Wall,
    /// When it was used, by the log's time.
    pub at: Wall,
    pub line: LineName,
    pub lane: LaneId,
    pub number: Number,
    pub bypass: bool,
}

codec! {
    struct Spent { holder, expires, at, line, lane, number, bypass };
}

/// Data of a lost log that a gate brings back: spent codes, and visitors who passed the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BroughtCodes {
    pub room: RoomName,
    pub spent: Vec<(CodeId, Spent)>,
    pub past: Vec<(LineName, LaneId, Number)>,
}

codec! {
    struct BroughtCodes { room, spent, past };
}

/// The spent codes of a room. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SpentCodes {
    /// By the first byte of their ids; empty until there is one.
    pieces: Arc<Vec<Arc<BTreeMap<CodeId, Spent>>>>,
    count: usize,
}

impl SpentCodes {
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[must_use]
    pub fn get(&self, code: CodeId) -> Option<&Spent> {
        self.pieces.get(usize::from(code.0[0]))?.get(&code)
    }

    /// By rising ids, those behind `after`.
    pub fn iter_after(&self, after: Option<CodeId>) -> impl Iterator<Item = (CodeId, &Spent)> {
        let first = after.map_or(0, |after| usize::from(after.0[0]));
        let codes = self.pieces.iter().skip(first).flat_map(|piece| piece.iter());
        let behind = move |(code, _): &(&CodeId, &Spent)| after.is_none_or(|after| **code > after);
        codes.filter(behind).map(|(code, spent)| (*code, spent))
    }

    fn put(&mut self, code: CodeId, spent: Spent) {
        let pieces = Arc::make_mut(&mut self.pieces);
        if pieces.is_empty() {
            pieces.resize_with(256, Arc::default);
        }
        let piece = Arc::make_mut(&mut pieces[usize::from(code.0[0])]);
        self.count += usize::from(piece.insert(code, spent).is_none());
    }

    fn remove(&mut self, code: CodeId) {
        if self.get(code).is_none() {
            return;
        }
        let pieces = Arc::make_mut(&mut self.pieces);
        let piece = Arc::make_mut(&mut pieces[usize::from(code.0[0])]);
        self.count -= usize::from(piece.remove(&code).is_some());
    }
}

/// By rising ids.
impl Codec for SpentCodes {
    fn write(&self, w: &mut Writer) {
        w.count(self.count);
        for (code, spent) in self.iter_after(None) {
            w.put(&code);
            w.put(spent);
        }
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut codes = Self::default();
        for (code, spent) in r.get::<BTreeMap<_, _>>()? {
            codes.put(code, spent);
        }
        Ok(codes)
    }
}

/// A room's memory of its codes.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    pub spent: SpentCodes,
    /// When they are forgotten; follows from them.
    expiring: BTreeSet<(Wall, CodeId)>,
    /// Codes that expire until then may have been forgotten, even if a clock was set back.
    swept: Wall,
    /// Visitors who passed the line and may still be inside.
    past: BTreeMap<LineName, BTreeSet<Seat>>,
}

codec! {
    struct Codes { spent, swept, past } derived { expiring } where is_sound then derived;
}

impl Codes {
    pub fn is_full(&self) -> bool {
        self.spent.len() >= MAX_SPENT
    }

    /// A code of this date is over, or may have been forgotten.
    pub fn is_over(&self, expires: Option<Wall>, now: Wall) -> bool {
        expires.is_some_and(|expires| expires <= now.max(self.swept))
    }

    pub fn spend(&mut self, code: CodeId, spent: Spent) {
        self.expiring.insert((spent.expires, code));
        self.spent.put(code, spent);
    }

    /// Forgets codes that have expired. True if there was any.
    pub fn sweep(&mut self, now: Wall) -> bool {
        let mut any = false;
        while let Some((expires, code)) = self.expiring.first().copied().filter(|(expires, _)| *expires <= now) {
            self.expiring.remove(&(expires, code));
            self.spent.remove(code);
            self.swept = self.swept.max(expires);
            any = true;
        }
        any
    }

    /// How many passed a line and are still `there`; visitors who may come `back` are not forgotten.
    pub fn past(&mut self, line: &LineName, there: impl Fn(Seat) -> bool, back: impl Fn(Seat) -> bool) -> u32 {
        let Some(seats) = self.past.get_mut(line) else { return 0 };
        seats.retain(|seat| there(*seat) || back(*seat));
        let count = seats.iter().filter(|seat| there(**seat)).count();
        if seats.is_empty() {
            self.past.remove(line);
        }
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    pub fn let_past(&mut self, line: &LineName, seat: Seat) {
        self.past.entry(line.clone()).or_default().insert(seat);
    }

    /// A line is gone, with all its visitors.
    pub fn forget_line(&mut self, line: &LineName) {
        self.past.remove(line);
    }

    /// The codes that another history lacks, in parts of at most `most`.
    pub fn lacking(&self, room: &RoomName, other: Option<&Self>, most: usize) -> Vec<BroughtCodes> {
        let new = |(code, spent): &(CodeId, &Spent)| other.is_none_or(|other| other.spent.get(*code) != Some(*spent));
        let spent: Vec<_> = self.spent.iter_after(None).filter(new).collect();
        let past = self
            .past
            .iter()
            .flat_map(|(line, seats)| seats.iter().map(move |(lane, number)| (line.clone(), *lane, *number)));
        let known = |(line, lane, number): &(LineName, LaneId, Number)| {
            other
                .and_then(|other| other.past.get(line))
                .is_some_and(|seats| seats.contains(&(*lane, *number)))
        };
        let past: Vec<_> = past.filter(|seat| !known(seat)).collect();
        let part = |spent: &[(CodeId, &Spent)], past: &[(LineName, LaneId, Number)]| BroughtCodes {
            room: room.clone(),
            spent: spent.iter().map(|(code, spent)| (*code, (*spent).clone())).collect(),
            past: past.to_vec(),
        };
        let spent = spent.chunks(most).map(|chunk| part(chunk, &[]));
        spent.chain(past.chunks(most).map(|chunk| part(&[], chunk))).collect()
    }

    /// A line that no visitor passed is not written.
    fn is_sound(&self) -> bool {
        self.past.values().all(|seats| !seats.is_empty())
    }

    fn derived(mut self) -> Self {
        let codes = self.spent.iter_after(None);
        self.expiring = codes.map(|(code, spent)| (spent.expires, code)).collect();
        self
    }
}
