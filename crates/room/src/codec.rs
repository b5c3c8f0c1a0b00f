//! Bytes in and out: one little writer and one cursor that reads what it wrote.
//!
//! Little-endian, fixed widths, lengths as LEB128 variable integers, no `usize`. Reading is total: a length is checked
//! against the bytes that are left before anything is allocated for it.

use ropeline_ids::{Clock, Edition, Epoch, LaneId, LineName, Number, Place, RoomName, Wall};

/// Bytes that are not what they should be, or not of a version that this binary reads.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the bytes are no {what} that this version reads (at byte {at})")]
pub struct DecodeError {
    pub what: &'static str,
    pub at: usize,
}

#[derive(Debug, Default)]
pub(super) struct Writer {
    pub bytes: Vec<u8>,
}

/// What may be absent stands at the end of a thing: tags, rising, and what each holds. Of what is absent nothing is written.
pub(super) type Fields = Vec<(u8, Vec<u8>)>;

/// Reads from the front; every method fails with where it stood.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    what: &'static str,
}

pub(super) type Read<T> = Result<T, DecodeError>;

impl Writer {
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn flag(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    pub fn u16(&mut self, value: u16) {
        self.raw(&value.to_le_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }

    /// Seven bits a byte, lowest first; small values take one byte.
    pub fn var(&mut self, mut value: u64) {
        loop {
            let low = value.to_le_bytes()[0] & 0x7f;
            value >>= 7;
            if value == 0 {
                return self.u8(low);
            }
            self.u8(low | 0x80);
        }
    }

    pub fn count(&mut self, len: usize) {
        self.var(u64::try_from(len).expect("a length fits in 64 bits"));
    }

    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.raw(text.as_bytes());
    }

    pub fn clock(&mut self, clock: Clock) {
        self.u64(clock.0);
    }

    pub fn wall(&mut self, wall: Wall) {
        self.u64(wall.0);
    }

    pub fn place(&mut self, place: Place) {
        self.u64(place.0);
    }

    pub fn number(&mut self, number: Number) {
        self.u64(number.epoch.0);
        self.u32(number.n);
    }

    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.count(items.len());
        for item in items {
            write(self, item);
        }
    }

    pub fn fields(&mut self, fields: &[(u8, Vec<u8>)]) {
        self.list(fields, |w, (tag, bytes)| {
            w.u8(*tag);
            w.count(bytes.len());
            w.raw(bytes);
        });
    }

    /// What one field holds.
    pub fn field(write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut w = Self::default();
        write(&mut w);
        w.bytes
    }
}

impl<'a> Reader<'a> {
    /// `what` names the thing read in errors.
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, at: 0, what }
    }

    pub fn wrong<T>(&self) -> Read<T> {
        Err(DecodeError {
            what: self.what,
            at: self.at,
        })
    }

    /// Succeeds when everything was read.
    pub fn finish(&self) -> Read<()> {
        if self.bytes.is_empty() { Ok(()) } else { self.wrong() }
    }

    pub fn raw(&mut self, len: usize) -> Read<&'a [u8]> {
        let Some((head, rest)) = self.bytes.split_at_checked(len) else {
            return self.wrong();
        };
        self.bytes = rest;
        self.at = self.at.saturating_add(len);
        Ok(head)
    }

    pub fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.raw(N)?);
        Ok(bytes)
    }

    pub fn u8(&mut self) -> Read<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub fn flag(&mut self) -> Read<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => self.wrong(),
        }
    }

    pub fn u16(&mut self) -> Read<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Read<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Read<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Only the shortest form of a value is read, so that equal states have equal bytes.
    pub fn var(&mut self) -> Read<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let low = u64::from(byte & 0x7f);
            if (low << shift) >> shift != low || (byte == 0 && shift > 0) {
                return self.wrong();
            }
            value |= low << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        self.wrong()
    }

    /// A length whose items take at least `item_bytes` each: fails when they cannot all be there.
    pub fn count(&mut self, item_bytes: usize) -> Read<usize> {
        let Ok(count) = usize::try_from(self.var()?) else {
            return self.wrong();
        };
        // SECURITY: nothing is allocated for a length that the bytes cannot hold.
        match count.checked_mul(item_bytes) {
            Some(least) if least <= self.bytes.len() => Ok(count),
            _ => self.wrong(),
        }
    }

    pub fn text(&mut self) -> Read<&'a str> {
        let len = self.count(1)?;
        let bytes = self.raw(len)?;
        std::str::from_utf8(bytes).or_else(|_| self.wrong())
    }

    pub fn clock(&mut self) -> Read<Clock> {
        self.u64().map(Clock)
    }

    pub fn wall(&mut self) -> Read<Wall> {
        self.u64().map(Wall)
    }

    pub fn place(&mut self) -> Read<Place> {
        self.u64().map(Place)
    }

    pub fn lane(&mut self) -> Read<LaneId> {
        self.u8().map(LaneId)
    }

    pub fn edition(&mut self) -> Read<Edition> {
        self.u32().map(Edition)
    }

    pub fn number(&mut self) -> Read<Number> {
        Ok(Number {
            epoch: Epoch(self.u64()?),
            n: self.u32()?,
        })
    }

    pub fn room_name(&mut self) -> Read<RoomName> {
        let text = self.text()?;
        RoomName::new(text).map_or_else(|| self.wrong(), Ok)
    }

    pub fn line_name(&mut self) -> Read<LineName> {
        let text = self.text()?;
        LineName::new(text).map_or_else(|| self.wrong(), Ok)
    }

    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }

    /// The fields at such a place, by rising tags. Whoever asks reads all of them: one that is not known is wrong.
    pub fn fields(&mut self) -> Read<Vec<(u8, Self)>> {
        let mut last = None;
        self.list(2, |r| {
            let tag = r.u8()?;
            if last.replace(tag).is_some_and(|last| tag <= last) {
                return r.wrong();
            }
            let len = r.count(1)?;
            let at = r.at;
            let bytes = r.raw(len)?;
            let field = Self {
                at,
                ..Self::new(bytes, r.what)
            };
            Ok((tag, field))
        })
    }

    pub fn list<T>(&mut self, item_bytes: usize, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.count(item_bytes)?;
        (0..count).map(|_| read(self)).collect()
    }
}

/// Reads the fields at such a place: `read` is given each field's tag, and refuses one that it does not know.
pub(super) fn read_fields<'a>(r: &mut Reader<'a>, mut read: impl FnMut(u8, &mut Reader<'a>) -> Read<()>) -> Read<()> {
    for (tag, mut field) in r.fields()? {
        read(tag, &mut field)?;
        field.finish()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
