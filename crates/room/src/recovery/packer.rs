//! Packs the content of an adopted epoch into batches of a bounded size, by counting the bytes that numbers will take.

use crate::entry::{Adopt, Batch, Completion, MAX_BATCH_BYTES, Section};
use crate::line::accounts::Bound;
use ropeline_ids::{LaneId, LineName, Number, RoomName, Tag};

/// Bytes of a batch that are left for the fields around its sections.
const HEAD_BYTES: usize = 256;

/// Most bytes of a section without its numbers: two names, which lists there are, and the count of completions.
const SECTION_BYTES: usize = 33 + 65 + 3 + 3;

/// Most bytes of a run without its numbers: lane, epoch, form, first number, length, and its part of the list's count.
const RUN_BYTES: usize = 1 + 10 + 1 + 5 + 5 + 5;

/// Most bytes of a completion: lane, number, edition, no grace, what follows, time, tag.
const COMPLETION_BYTES: usize = 1 + 15 + 5 + 1 + 1 + 11 + 9;

/// Bytes of an account's tag, with how many there are.
const TAG_BYTES: usize = 9;

/// A list of a section that an adopted epoch fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum List {
    Taken,
    Spent,
    Reopens,
    Marks,
    Voids,
    Bound,
}

/// Batches of one epoch; the last is being filled.
#[derive(Debug)]
pub(crate) struct Packer {
    adopt: Adopt,
    batches: Vec<Batch>,
    /// Bytes of the last batch but for the run under way.
    bytes: usize,
    run: Option<Run>,
    /// The place for numbers: a section of the last batch, or one to be opened.
    line: Option<Section>,
    open: bool,
}

/// Numbers of one list that will be written together.
#[derive(Clone, Copy, Debug)]
struct Run {
    list: List,
    lane: LaneId,
    first: u32,
    last: u32,
    count: usize,
    /// Bytes of the differences between its numbers.
    differences: usize,
}

impl Packer {
    pub fn new(adopt: Adopt) -> Self {
        let mut packer = Self {
            adopt,
            batches: Vec::new(),
            bytes: 0,
            run: None,
            line: None,
            open: false,
        };
        packer.next_batch();
        packer
    }

    /// Items put from now on belong to this line.
    pub fn turn_to(&mut self, room: &RoomName, line: &LineName) {
        self.line = Some(Section::new(room.clone(), line.clone()));
        self.open = false;
    }

    pub fn put(&mut self, list: List, lane: LaneId, number: Number) {
        let Some(section) = self.open_for(list, lane, number) else {
            return;
        };
        let numbers = match list {
            List::Taken => &mut section.taken,
            List::Spent => &mut section.spent,
            List::Reopens => &mut section.reopens,
            List::Marks => &mut section.marks,
            List::Voids => &mut section.voids,
            List::Bound => return,
        };
        numbers.push((lane, number));
    }

    /// The number is an account's.
    pub fn bind(&mut self, lane: LaneId, number: Number, tag: Tag) {
        let tags = vec![tag];
        if let Some(section) = self.open_for(List::Bound, lane, number) {
            section.bound.push(Bound { lane, number, tags });
        }
    }

    /// The section that one more number of a list goes to.
    fn open_for(&mut self, list: List, lane: LaneId, number: Number) -> Option<&mut Section> {
        let line = self.line.as_ref()?;
        let mut run = Run::new(list, lane, number.n);
        match self.run.filter(|before| self.open && before.takes(&run)) {
            Some(before) => run = before.with(number.n),
            None => self.bytes += self.run.take().map_or(0, Run::bytes),
        }
        let opening = if self.open { 0 } else { SECTION_BYTES };
        if self.bytes + opening + run.bytes() > MAX_BATCH_BYTES {
            let line = line.clone();
            self.next_batch();
            self.line = Some(line);
            run = Run::new(list, lane, number.n);
        }
        self.run = Some(run);
        self.section()
    }

    /// One who completed; before the numbers of the line.
    pub fn complete(&mut self, done: Completion) {
        let Some(line) = &self.line else { return };
        self.bytes += self.run.take().map_or(0, Run::bytes);
        let opening = if self.open { 0 } else { SECTION_BYTES };
        if self.bytes + opening + COMPLETION_BYTES > MAX_BATCH_BYTES {
            let line = line.clone();
            self.next_batch();
            self.line = Some(line);
        }
        if let Some(section) = self.section() {
            section.completions.push(done);
        }
        self.bytes += COMPLETION_BYTES;
    }

    /// At least one batch.
    pub fn finish(self) -> Vec<Batch> {
        self.batches
    }

    fn section(&mut self) -> Option<&mut Section> {
        let batch = self.batches.last_mut()?;
        if !self.open {
            batch.sections.extend(self.line.clone());
            self.bytes += SECTION_BYTES;
            self.open = true;
        }
        batch.sections.last_mut()
    }

    fn next_batch(&mut self) {
        self.batches.push(Batch {
            adopt: Some(self.adopt),
            ..Batch::default()
        });
        self.bytes = HEAD_BYTES;
        self.run = None;
        self.open = false;
    }
}

impl Run {
    fn new(list: List, lane: LaneId, n: u32) -> Self {
        Self {
            list,
            lane,
            first: n,
            last: n,
            count: 1,
            differences: 0,
        }
    }

    fn takes(&self, next: &Self) -> bool {
        self.list == next.list && self.lane == next.lane && self.last < next.first
    }

    fn with(self, n: u32) -> Self {
        Self {
            last: n,
            count: self.count + 1,
            differences: self.differences + var_bytes(n - self.last),
            ..self
        }
    }

    /// As `marks_codec` writes it: a bitmap when that takes no more bytes than there are numbers.
    fn bytes(self) -> usize {
        let bitmap = usize::try_from((self.last - self.first) / 8).unwrap_or(usize::MAX);
        let bitmap = bitmap.saturating_add(1);
        let tags = if self.list == List::Bound {
            self.count * TAG_BYTES
        } else {
            0
        };
        RUN_BYTES + tags + if bitmap > self.count { self.differences } else { bitmap }
    }
}

fn var_bytes(value: u32) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline_ids::{Edition, Epoch, Wall};

    fn packed(numbers: impl Iterator<Item = (List, u8, u32)>) -> Vec<Batch> {
        let adopt = Adopt {
            epoch: Epoch(u64::MAX),
            sequence: u64::MAX,
            ..Adopt::default()
        };
        let mut packer = Packer::new(adopt);
        let line = LineName::new(&"l".repeat(LineName::MAX_LEN)).unwrap();
        packer.turn_to(&RoomName::new(&"r".repeat(RoomName::MAX_LEN)).unwrap(), &line);
        for (list, lane, n) in numbers {
            packer.put(
                list,
                LaneId(lane),
                Number {
                    epoch: Epoch(u64::MAX),
                    n,
                },
            );
        }
        packer.finish()
    }

    fn numbers(batches: &[Batch]) -> usize {
        let sections = batches.iter().flat_map(|batch| &batch.sections);
        sections.map(|s| s.taken.len() + s.marks.len()).sum()
    }

    #[test]
    fn batches_are_full_and_never_too_long() {
        type Spread = fn(u32) -> u32;
        let spreads: [(Spread, usize); 4] = [(|i| i, 3), (|i| i * 5, 5), (|i| i * 9, 5), (|i| i * 200, 8)];
        for (spread, most) in spreads {
            let batches = packed((0..200_000).map(|i| (List::Marks, 0, spread(i))));
            assert_eq!(numbers(&batches), 200_000);
            assert!(batches.len() <= most, "{}", batches.len());
            let lens: Vec<usize> = batches.iter().map(Batch::encoded_len).collect();
            assert!(lens.iter().all(|len| *len <= MAX_BATCH_BYTES), "{lens:?}");
            let full = &lens[..lens.len() - 1];
            assert!(full.iter().all(|len| *len > MAX_BATCH_BYTES / 10 * 9), "{lens:?}");
        }
    }

    #[test]
    fn completions_are_counted_at_their_longest() {
        let mut packer = Packer::new(Adopt {
            epoch: Epoch(u64::MAX),
            sequence: u64::MAX,
            ..Adopt::default()
        });
        let (room, line) = ("r".repeat(RoomName::MAX_LEN), "l".repeat(LineName::MAX_LEN));
        packer.turn_to(&RoomName::new(&room).unwrap(), &LineName::new(&line).unwrap());
        for n in 0..5_000 {
            packer.complete(Completion {
                lane: LaneId(255),
                number: Number {
                    epoch: Epoch(u64::MAX),
                    n: u32::MAX - n,
                },
                edition: Edition(u32::MAX),
                after_ms: 0,
                at: Some(Wall(u64::MAX)),
                tag: Some(Tag([255; 8])),
            });
        }
        let batches = packer.finish();
        let sections = batches.iter().flat_map(|batch| &batch.sections);
        assert_eq!(sections.map(|s| s.completions.len()).sum::<usize>(), 5_000);
        let lens: Vec<usize> = batches.iter().map(Batch::encoded_len).collect();
        assert!(lens.iter().all(|len| *len <= MAX_BATCH_BYTES), "{lens:?}");
        let full = &lens[..lens.len() - 1];
        assert!(full.iter().all(|len| *len > MAX_BATCH_BYTES / 10 * 9), "{lens:?}");
    }

    #[test]
    fn tags_are_counted() {
        let mut packer = Packer::new(Adopt::default());
        packer.turn_to(&RoomName::new("shop").unwrap(), &LineName::ONLY);
        for n in 0..50_000 {
            packer.bind(
                LaneId(0),
                Number {
                    epoch: Epoch(1),
                    n: n * 9,
                },
                Tag([7; 8]),
            );
        }
        let batches = packer.finish();
        let bound: usize = batches
            .iter()
            .flat_map(|batch| &batch.sections)
            .map(|s| s.bound.len())
            .sum();
        assert_eq!((bound, batches.len()), (50_000, 8));
        assert!(batches.iter().all(|batch| batch.encoded_len() <= MAX_BATCH_BYTES));
    }

    #[test]
    fn runs_of_single_numbers_are_counted_with_all_that_stands_around_them() {
        let single = |i: u32| {
            (
                if i.is_multiple_of(2) { List::Taken } else { List::Marks },
                (i / 2 % 8).to_le_bytes()[0],
                i,
            )
        };
        let batches = packed((0..20_000).map(single));
        assert_eq!(numbers(&batches), 20_000);
        assert!(batches.iter().all(|batch| batch.encoded_len() <= MAX_BATCH_BYTES));
    }
}
