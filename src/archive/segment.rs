//! One file of an archive: a range of entries without a gap, the chain before and after it, and a checksum.
//!
//! All numbers are little-endian. The head names the range; where a replay may begin here, the state before it follows.
//! Then the entries as [`Entry::encode`](crate::room::Entry::encode) writes them, each behind its length, and a foot that closes the range.

use std::io::{self, Write};

use sha2::{Digest, Sha256};

use crate::room::{Chain, Encoded, Position, Wall};

/// A range of entries on its way into a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    pub epoch: u64,
    /// Sequences of the first entry and of the last.
    pub first: u64,
    pub last: u64,
    /// The chain before the first entry and after the last.
    pub before: Chain,
    pub after: Chain,
    /// Log time of the first entry and of the last.
    pub from: Wall,
    pub to: Wall,
    /// The encoded state before the first entry, where a replay can begin.
    pub base: Option<Vec<u8>>,
    /// The entries, each behind its length.
    entries: Vec<u8>,
}

/// One entry in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    pub entry: Encoded,
    /// The operator had it passed over: the rooms never applied it.
    pub passed_over: bool,
    /// The chain after it.
    pub chain: Chain,
}

/// Bytes that are no segment as it was filed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Damaged {
    #[error("it does not start like a file of an archive")]
    Start,
    #[error("it is cut short")]
    Short,
    #[error("its checksum does not match: a byte is not as it was filed")]
    Sum,
    #[error("its parts do not fit together")]
    Form,
    #[error("its entries do not give the chain that it names")]
    Chain,
    #[error("it holds an entry that this version cannot read")]
    Entry,
}

impl Segment {
    /// An empty range behind `at`, to be filled.
    #[must_use]
    pub fn behind(at: Position, before: Chain, base: Option<Vec<u8>>) -> Self {
        Self {
            epoch: at.epoch,
            first: at.sequence + 1,
            last: at.sequence,
            before,
            after: before,
            from: Wall(0),
            to: Wall(0),
            base,
            entries: Vec::new(),
        }
    }

    /// Adds the entry that follows the last; `chain` is the chain after it.
    ///
    /// # Panics
    /// When the entry is longer than any that a log takes.
    pub fn push(&mut self, entry: &Encoded, passed_over: bool, chain: Chain) {
        let bytes = entry.bytes();
        let len = u32::try_from(bytes.len()).expect("an entry is below 128 KiB");
        let mark = if passed_over { PASSED_OVER } else { 0 };
        self.entries.extend_from_slice(&(len | mark).to_le_bytes());
        self.entries.extend_from_slice(bytes);
        if self.is_empty() {
            self.from = entry.time;
        }
        self.last = entry.position.sequence;
        self.to = entry.time;
        self.after = chain;
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last < self.first
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }

    /// Bytes of the entries.
    #[must_use]
    pub fn entry_bytes(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Bytes of the file, about.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let base = self.base.as_ref().map_or(0, Vec::len) as u64;
        base + self.entry_bytes() + AROUND
    }

    /// The last entry's position.
    #[must_use]
    pub fn end(&self) -> Position {
        Position {
            epoch: self.epoch,
            sequence: self.last,
        }
    }

    /// Writes the file.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut to = Summed { to, sum: Sha256::new() };
        let base = self.base.as_deref().unwrap_or_default();
        let base_len = u32::try_from(base.len()).map_err(io::Error::other)?;
        to.put(MAGIC)?;
        to.put(&self.epoch.to_le_bytes())?;
        to.put(&self.first.to_le_bytes())?;
        to.put(&self.before.0)?;
        to.put(&self.from.0.to_le_bytes())?;
        to.put(&base_len.to_le_bytes())?;
        to.put(base)?;
        to.put(&self.entries)?;
        to.put(&0_u32.to_le_bytes())?;
        to.put(&self.last.to_le_bytes())?;
        to.put(&self.count().to_le_bytes())?;
        to.put(&self.to.0.to_le_bytes())?;
        to.put(&self.after.0)?;
        let sum = to.sum.finalize();
        to.to.write_all(&sum)
    }

    /// Reads a file whole and checks everything in it that can be checked alone.
    ///
    /// # Errors
    /// When a single byte differs from the filed ones, unless checksum and chain were computed anew.
    pub fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        if !bytes.starts_with(MAGIC) {
            return Err(Damaged::Start);
        }
        let (body, sum) = bytes.split_last_chunk::<SUM>().ok_or(Damaged::Short)?;
        if Sha256::digest(body)[..] != sum[..] {
            return Err(if ends(body) { Damaged::Sum } else { Damaged::Short });
        }
        let segment = parse(body).ok_or(Damaged::Form)?;
        segment.verify()?;
        Ok(segment)
    }

    /// That the entries are dense and give the chain and the times that are named.
    fn verify(&self) -> Result<(), Damaged> {
        let mut due = self.first;
        let mut chain = self.before;
        let mut to = self.from;
        for stored in self.entries() {
            let stored = stored?;
            let here = Position {
                epoch: self.epoch,
                sequence: due,
            };
            let is_first = due == self.first;
            if stored.entry.position != here || (is_first && stored.entry.time != self.from) {
                return Err(Damaged::Form);
            }
            due += 1;
            to = stored.entry.time;
            chain = stored.chain;
        }
        match due == self.last + 1 && to == self.to {
            false => Err(Damaged::Form),
            true if chain != self.after => Err(Damaged::Chain),
            true => Ok(()),
        }
    }

    /// The entries in order, each with the chain after it.
    pub fn entries(&self) -> impl Iterator<Item = Result<Stored, Damaged>> {
        let (mut rest, mut chain) = (&*self.entries, self.before);
        std::iter::from_fn(move || {
            let mark = take_u32(&mut rest)?;
            let bytes = take(&mut rest, mark & !PASSED_OVER);
            let Some(entry) = bytes.and_then(|bytes| Encoded::decode(bytes.to_vec()).ok()) else {
                rest = &[];
                return Some(Err(Damaged::Entry));
            };
            let passed_over = mark & PASSED_OVER != 0;
            chain = chain.then(entry.bytes(), passed_over);
            Some(Ok(Stored {
                entry,
                passed_over,
                chain,
            }))
        })
    }
}

/// Everything but the checksum; `None` where lengths do not add up.
fn parse(body: &[u8]) -> Option<Segment> {
    let mut rest = body.strip_prefix(MAGIC)?;
    let rest = &mut rest;
    let epoch = take_u64(rest)?;
    let first = take_u64(rest)?;
    let before = take_chain(rest)?;
    let from = Wall(take_u64(rest)?);
    let base_len = take_u32(rest)?;
    let base = take(rest, base_len)?;
    let from_here = *rest;
    loop {
        match take_u32(rest)? & !PASSED_OVER {
            0 => break,
            len => take(rest, len)?,
        };
    }
    let entries = &from_here[..from_here.len() - rest.len() - 4];
    let last = take_u64(rest)?;
    let count = take_u64(rest)?;
    let to = Wall(take_u64(rest)?);
    let after = take_chain(rest)?;
    let segment = Segment {
        epoch,
        first,
        last,
        before,
        after,
        from,
        to,
        base: (!base.is_empty()).then(|| base.to_vec()),
        entries: entries.to_vec(),
    };
    let sound = rest.is_empty() && first > 0 && last < u64::MAX && count > 0 && segment.count() == count;
    sound.then_some(segment)
}

/// Whether the bytes have a whole foot at their end, so that they are altered rather than cut.
fn ends(body: &[u8]) -> bool {
    parse(body).is_some()
}

fn take<'a>(rest: &mut &'a [u8], len: u32) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    *rest = tail;
    Some(head)
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    take_array(rest).map(u32::from_le_bytes)
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    take_array(rest).map(u64::from_le_bytes)
}

fn take_chain(rest: &mut &[u8]) -> Option<Chain> {
    take_array(rest).map(Chain)
}

struct Summed<'a, W> {
    to: &'a mut W,
    sum: Sha256,
}

impl<W: Write> Summed<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.to.write_all(bytes)
    }
}

/// Names the format too: the last byte before the line's end is its version.
const MAGIC: &[u8] = b"ropeline archive 1\n";
const SUM: usize = 32;

/// Bytes around base and entries.
const AROUND: u64 = 19 + 8 + 8 + 32 + 8 + 4 + 4 + 8 + 8 + 8 + 32 + 32;

/// The bit of a length that says that the entry was passed over.
const PASSED_OVER: u32 = 1 << 31;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::room::{Batch, Entry, GateId, VERSION};

    pub fn entry(sequence: u64) -> Entry {
        Entry {
            position: Position { epoch: 7, sequence },
            gate: GateId(9),
            serial: sequence,
            previous: (sequence - 1).to_le_bytes(),
            nonce: sequence.to_le_bytes(),
            time: Wall(1_000 * sequence),
            version: VERSION,
            batch: Batch::default(),
        }
    }

    /// A segment of these entries of epoch 7, chained from its beginning.
    pub fn segment(first: u64, last: u64) -> Segment {
        let mut chain = Chain::begin(7, Chain::default());
        for sequence in 1..first {
            chain = chain.then(&entry(sequence).encode(), sequence == 4);
        }
        let at = Position {
            epoch: 7,
            sequence: first - 1,
        };
        let mut segment = Segment::behind(at, chain, Some(b"a state".to_vec()));
        for sequence in first..=last {
            chain = chain.then(&entry(sequence).encode(), sequence == 4);
            segment.push(&entry(sequence).into(), sequence == 4, chain);
        }
        segment
    }

    pub fn bytes(segment: &Segment) -> Vec<u8> {
        let mut bytes = Vec::new();
        segment.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_filed_is_read() {
        let filed = segment(3, 5);
        let read = Segment::read(&bytes(&filed)).unwrap();
        assert_eq!(read, filed);
        let entries: Vec<_> = read.entries().map(Result::unwrap).collect();
        assert_eq!(
            entries.iter().map(|stored| stored.entry.clone()).collect::<Vec<_>>(),
            [entry(3), entry(4), entry(5)].map(Encoded::from)
        );
        assert_eq!(
            entries.iter().map(|stored| stored.passed_over).collect::<Vec<_>>(),
            [false, true, false]
        );
        assert_eq!(entries[2].chain, filed.after);
    }

    #[test]
    fn any_flipped_byte_and_any_cut_is_refused() {
        let bytes = bytes(&segment(3, 5));
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 0x10;
            assert!(Segment::read(&altered).is_err(), "byte {at}");
            assert!(Segment::read(&bytes[..at]).is_err(), "cut at {at}");
        }
        let mut altered = bytes.clone();
        altered[120] ^= 1;
        assert_eq!(Segment::read(&altered), Err(Damaged::Sum));
        assert_eq!(Segment::read(&bytes[..bytes.len() - 9]), Err(Damaged::Short));
    }

    #[test]
    fn an_entry_replaced_with_its_checksum_breaks_the_chain() {
        let mut filed = segment(3, 5);
        let other = Entry {
            time: Wall(1),
            ..entry(4)
        };
        let kept = filed.clone();
        filed = Segment {
            last: 2,
            entries: Vec::new(),
            ..filed
        };
        filed.push(&entry(3).into(), false, kept.before);
        filed.push(&other.into(), false, kept.before);
        filed.push(&entry(5).into(), false, kept.after);
        assert_eq!(Segment::read(&bytes(&filed)), Err(Damaged::Chain));
    }
}
