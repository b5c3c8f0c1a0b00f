//! Bytes in and out: the byte form of everything that entries and snapshots hold.
//!
//! Integers are LEB128 variable integers in their shortest form, bytes and flags one byte; a text and a list stand behind their
//! length; a struct is its fields in order, and an enum a tag and the fields of its variant. [`codec!`] declares the form of a type
//! once, for both directions. The form is canonical: bytes that are read are the bytes that are written again. Reading is total:
//! a length is checked against the bytes that are left, and nothing is allocated for items that are not there.
//!
//! By hand because borsh, the nearest library, writes each length as four bytes and each default, checks no value once it is read, and
//! brings a TOML parser to a member that depends on five crates.

mod declare;
mod forms;

pub(crate) use declare::codec;

/// Bytes that are not what they should be, or not of a version that this binary reads.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the bytes are no {what} that this version reads (at byte {at})")]
pub struct DecodeError {
    pub what: &'static str,
    pub at: usize,
}

/// A type with one byte form, of at least one byte.
pub(crate) trait Codec: Sized {
    fn write(&self, w: &mut Writer);

    /// # Errors
    /// For bytes that [`Codec::write`] does not write.
    fn read(r: &mut Reader) -> Read<Self>;
}

/// A field that is there or not, as an integer before it says.
pub(crate) trait Part: Sized {
    fn is_there(&self) -> bool;

    fn write(&self, w: &mut Writer);

    /// # Errors
    /// For bytes that [`Part::write`] does not write.
    fn read(r: &mut Reader, there: bool) -> Read<Self>;
}

#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub bytes: Vec<u8>,
    /// Times are written against this clock, at most so many milliseconds back.
    #[cfg(any(test, feature = "testing"))]
    against: Option<(u64, u64)>,
}

/// Reads from the front; every method fails with where it stood.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// How many there were.
    len: usize,
    what: &'static str,
}

/// Most bytes of an integer: seven bits each, so that the last one holds the highest bit alone.
const MAX_VAR: usize = 10;

pub(crate) type Read<T> = Result<T, DecodeError>;

impl Writer {
    /// Writes times against a clock, at most `memory_ms` back, and no dates: not to be read again.
    #[cfg(any(test, feature = "testing"))]
    pub fn against(now: ropeline_ids::Clock, memory_ms: u64) -> Self {
        Self {
            bytes: Vec::new(),
            against: Some((now.0, memory_ms)),
        }
    }

    /// Writes behind these bytes.
    pub fn onto(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            #[cfg(any(test, feature = "testing"))]
            against: None,
        }
    }

    pub fn clock(&mut self, ms: u64) {
        #[cfg(any(test, feature = "testing"))]
        if let Some((now, memory_ms)) = self.against {
            return self.var(ms.saturating_add(memory_ms).saturating_sub(now));
        }
        self.var(ms);
    }

    pub fn date(&mut self, ms: u64) {
        #[cfg(any(test, feature = "testing"))]
        if self.against.is_some() {
            return;
        }
        self.var(ms);
    }

    pub fn put<T: Codec>(&mut self, value: &T) {
        value.write(self);
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Seven bits a byte, lowest first; small values take one byte.
    pub fn var(&mut self, mut value: u64) {
        while value > 0x7f {
            self.u8(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.u8(value.to_le_bytes()[0]);
    }

    pub fn count(&mut self, len: usize) {
        self.var(u64::try_from(len).expect("a length fits in 64 bits"));
    }

    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.raw(text.as_bytes());
    }

    pub fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.count(items.len());
        items.for_each(|item| write(self, item));
    }

    /// Which of several parts are there, the first one in the lowest bit.
    pub fn parts(&mut self, there: &[bool]) {
        self.var(there.iter().rev().fold(0, |bits, there| bits << 1 | u64::from(*there)));
    }
}

impl<'a> Reader<'a> {
    /// `what` names the thing read in errors.
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        let len = bytes.len();
        Self { bytes, len, what }
    }

    pub fn wrong<T>(&self) -> Read<T> {
        Err(DecodeError {
            what: self.what,
            at: self.len - self.bytes.len(),
        })
    }

    /// Succeeds when everything was read.
    pub fn finish(&self) -> Read<()> {
        if self.bytes.is_empty() { Ok(()) } else { self.wrong() }
    }

    pub fn get<T: Codec>(&mut self) -> Read<T> {
        T::read(self)
    }

    pub fn raw(&mut self, len: usize) -> Read<&'a [u8]> {
        let Some((head, rest)) = self.bytes.split_at_checked(len) else {
            return self.wrong();
        };
        self.bytes = rest;
        Ok(head)
    }

    pub fn u8(&mut self) -> Read<u8> {
        let Some((byte, rest)) = self.bytes.split_first() else {
            return self.wrong();
        };
        self.bytes = rest;
        Ok(*byte)
    }

    /// Only the shortest form of a value is read, so that equal states have equal bytes.
    pub fn var(&mut self) -> Read<u64> {
        let mut value = 0_u64;
        for (at, byte) in self.bytes.iter().enumerate().take(MAX_VAR) {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                let shortest = *byte > 0 || at == 0;
                let fits = at + 1 < MAX_VAR || *byte == 1;
                if !shortest || !fits {
                    return self.wrong();
                }
                self.bytes = &self.bytes[at + 1..];
                return Ok(value);
            }
        }
        self.wrong()
    }

    /// The number of items that follow: fails when they cannot all be there.
    pub fn count(&mut self) -> Read<usize> {
        // SECURITY: an item takes at least a byte, so no length asks for more steps or memory than the bytes are worth.
        match usize::try_from(self.var()?) {
            Ok(count) if count <= self.bytes.len() => Ok(count),
            _ => self.wrong(),
        }
    }

    pub fn text(&mut self) -> Read<&'a str> {
        let len = self.count()?;
        let bytes = self.raw(len)?;
        std::str::from_utf8(bytes).or_else(|_| self.wrong())
    }

    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.count()?;
        (0..count).map(|_| read(self)).collect()
    }

    /// Which of so many parts are there, as [`Writer::parts`] says it.
    pub fn parts(&mut self, count: usize) -> Read<impl Iterator<Item = bool> + use<>> {
        let bits = self.var()?;
        if bits >> count != 0 {
            return self.wrong();
        }
        Ok((0..count).map(move |at| bits >> at & 1 == 1))
    }

    /// A part that is not there has its default, and one that has it is not there.
    pub fn part<T: Default + PartialEq>(
        &mut self,
        there: Option<bool>,
        read: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<T> {
        if there != Some(true) {
            return Ok(T::default());
        }
        let part = read(self)?;
        if is_there(&part) { Ok(part) } else { self.wrong() }
    }
}

pub(crate) fn is_there<T: Default + PartialEq>(part: &T) -> bool {
    *part != T::default()
}

#[cfg(test)]
mod tests;
