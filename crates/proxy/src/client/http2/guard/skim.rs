//! Finds pseudo-fields in a field block (RFC 7541, section 6) without unpacking it.
//!
//! Names in the static table or in the block itself are found. A name that the client put into the dynamic table before is
//! not, because that table would have to be kept: h2 drops it, and the upstream gets a clean trailer.

/// A block being read, byte by byte.
#[derive(Default)]
pub(super) struct Skim {
    at: At,
    is_spoilt: bool,
}

#[derive(Default)]
enum At {
    /// A field begins.
    #[default]
    Field,
    /// The rest of an index; behind it, this.
    Index(Then),
    /// A string's length begins.
    Length(String),
    /// The rest of its length: the value so far, and the shift of the next seven bits.
    More(String, usize, u32),
    /// Remaining bytes of a string; `true` before the first.
    Text(String, usize, bool),
}

#[derive(Clone, Copy)]
enum Then {
    Field,
    Value,
}

#[derive(Clone, Copy)]
enum String {
    /// Its bytes are in Huffman's code.
    Name {
        coded: bool,
    },
    Value,
}

impl Skim {
    /// Looks at a byte, and overwrites it where a pseudo-field begins, and all that comes behind.
    pub(super) fn pass(&mut self, byte: &mut u8) {
        if self.is_spoilt {
            *byte = SPOILT;
            return;
        }
        self.at = match self.at {
            At::Field => {
                let (mask, then) = match *byte {
                    0x80.. => (0x7f, Then::Field),
                    0x40..0x80 => (0x3f, Then::Value),
                    0x20..0x40 => (0x1f, Then::Field),
                    _ => (0x0f, Then::Value),
                };
                let index = *byte & mask;
                let names_field = !(0x20..0x40).contains(byte);
                if names_field && (1..=PSEUDO).contains(&index) {
                    // Index 0 is invalid: an error in every position.
                    *byte = 0x80;
                    self.is_spoilt = true;
                }
                match then {
                    _ if index == mask => At::Index(then),
                    Then::Value if index == 0 => At::Length(String::Name { coded: false }),
                    then => then.at(),
                }
            }
            At::Index(then) if *byte & 0x80 == 0 => then.at(),
            At::Index(then) => At::Index(then),
            At::Length(string) => {
                let string = string.coded(*byte & 0x80 != 0);
                match usize::from(*byte & 0x7f) {
                    0x7f => At::More(string, 0x7f, 0),
                    length => string.text(length),
                }
            }
            At::More(string, length, shift) => {
                let more = usize::from(*byte & 0x7f).checked_shl(shift).unwrap_or(usize::MAX);
                let length = length.saturating_add(more);
                if *byte & 0x80 == 0 {
                    string.text(length)
                } else {
                    At::More(string, length, shift.saturating_add(7))
                }
            }
            At::Text(string, left, is_first) => {
                if is_first && string.begins_pseudo(*byte) {
                    *byte = SPOILT;
                    self.is_spoilt = true;
                }
                match left {
                    0 | 1 => string.next(),
                    _ => At::Text(string, left - 1, false),
                }
            }
        };
    }
}

impl Then {
    fn at(self) -> At {
        match self {
            Self::Field => At::Field,
            Self::Value => At::Length(String::Value),
        }
    }
}

impl String {
    fn coded(self, coded: bool) -> Self {
        match self {
            Self::Name { .. } => Self::Name { coded },
            Self::Value => Self::Value,
        }
    }

    fn text(self, length: usize) -> At {
        if length == 0 {
            self.next()
        } else {
            At::Text(self, length, true)
        }
    }

    fn next(self) -> At {
        match self {
            Self::Name { .. } => At::Length(Self::Value),
            Self::Value => At::Field,
        }
    }

    /// A colon is 1011100 in Huffman's code (appendix B).
    fn begins_pseudo(self, first: u8) -> bool {
        match self {
            Self::Name { coded: true } => first >> 1 == 0b101_1100,
            Self::Name { coded: false } => first == b':',
            Self::Value => false,
        }
    }
}

/// The pseudo-fields of the fixed table (appendix A).
const PSEUDO: u8 = 14;
/// No name contains it, no text in Huffman's code ends with it, and as an index it continues.
const SPOILT: u8 = 0xff;

#[cfg(test)]
mod tests {
    use super::*;

    fn is_spoilt(block: &[u8]) -> bool {
        let mut skim = Skim::default();
        let mut passed = block.to_vec();
        for byte in &mut passed {
            skim.pass(byte);
        }
        assert_eq!(skim.is_spoilt, passed != block);
        skim.is_spoilt
    }

    #[test]
    fn every_way_to_name_a_pseudo_field_is_seen() {
        for block in [
            &[0x83][..],
            &[0x8e],
            b"\x42\x03PUT",
            b"\x02\x03PUT",
            b"\x12\x03PUT",
            b"\0\x05:path\x01/",
            b"\x40\x05:test\x01a",
            b"\x10\x05:test\x01a",
            // The same, coded.
            b"\0\x84\xb9\x58\xd3\x3f\x01/",
            b"\0\x03x-a\x01b\x83",
            b"\x90\xbe\x83",
            b"\xff\x80\x01\x83",
            b"\x3f\xe1\x1f\x83",
        ] {
            assert!(is_spoilt(block), "{block:x?}");
        }
    }

    #[test]
    fn what_is_no_pseudo_field_passes() {
        let long = [&b"\0\x03x-a\x7f\x81\x01"[..], &[0x83; 256]].concat();
        for block in [
            &[][..],
            b"\0\x03x-a\x01b",
            b"\0\x03x-a\x05:path",
            b"\0\x03x-a\0\x90",
            b"\x40\x03x-a\x01b\xbe",
            b"\x90\x8f",
            b"\x3f\xe1\x1f\x0f\x0a\x01b",
            b"\0\x83\xf2\xb0\x7f\x01b",
            &long,
        ] {
            assert!(!is_spoilt(block), "{block:x?}");
        }
    }
}
