//! The reference: a short code that names a visitor's place, to be read out over the telephone and typed by support.
//!
//! It consists of two characters for the epoch, then number and lane, then a check character, in Crockford's base32, which has
//! no letter that looks like a digit (<https://www.crockford.com/base32.html>). The check character is a weighted sum over
//! GF(32). It detects any single wrong character and any swap of two neighbours. A reference is no proof and no secret.

use std::fmt;

use sha2::{Digest, Sha256};

use ropeline_ids::{Epoch, LaneId, Visitor};

/// One visitor of a line: lane, number, and ten bits of the epoch's hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reference {
    pub lane: LaneId,
    /// 0 to 1,023, from the epoch's hash; [`Reference::matches`] finds the epoch.
    pub epoch_tag: u16,
    pub n: u32,
}

impl Reference {
    /// Longest reference in characters, hyphens included.
    pub const MAX_LEN: usize = 13;

    #[must_use]
    pub fn of(visitor: &Visitor) -> Self {
        debug_assert!(visitor.lane.0 < 8, "a line has at most eight lanes");
        let lane = LaneId(visitor.lane.0 & 7);
        Self {
            lane,
            epoch_tag: epoch_tag(visitor.number.epoch),
            n: visitor.number.n,
        }
    }

    /// Parses the output of [`fmt::Display`], in any case, with or without hyphens and spaces, `O` for 0, `I` and `L` for 1.
    /// `None` if the check character does not match or the text has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut digits = Digits::default();
        for character in text.bytes().filter(|b| !matches!(b, b'-' | b' ')) {
            digits.push(value_of(character)?)?;
        }
        let (&[high, low], body) = digits.as_slice().split_first_chunk()?;
        let (_check, body) = body.split_last()?;
        let padded = body.len() > 1 && body[0] == 0;
        if body.is_empty() || padded || check(digits.as_slice()) != 0 {
            return None;
        }
        let place = body.iter().fold(0_u64, |place, digit| place << 5 | u64::from(*digit));
        Some(Self {
            lane: LaneId(place.to_le_bytes()[0] & 7),
            epoch_tag: u16::from(high) << 5 | u16::from(low),
            n: u32::try_from(place >> 3).ok()?,
        })
    }

    /// Whether the number may be of `epoch`. One epoch in a thousand matches by chance.
    #[must_use]
    pub fn matches(&self, epoch: Epoch) -> bool {
        self.epoch_tag == epoch_tag(epoch)
    }
}

impl fmt::Display for Reference {
    /// In groups of three: `K7D-4D2-R1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = u64::from(self.n) << 3 | u64::from(self.lane.0 & 7);
        let length = place.checked_ilog2().unwrap_or(0) / 5 + 1;
        let mut digits = Digits::default();
        let tag = [5, 0].map(|shift| low_five(u64::from(self.epoch_tag) >> shift));
        let body = (0..length).rev().map(|at| low_five(place >> (5 * at)));
        for digit in tag.into_iter().chain(body) {
            digits.push(digit).ok_or(fmt::Error)?;
        }
        digits.push(double(check(digits.as_slice()))).ok_or(fmt::Error)?;
        for (at, digit) in digits.as_slice().iter().enumerate() {
            if at > 0 && at % 3 == 0 {
                f.write_str("-")?;
            }
            write!(f, "{}", char::from(ALPHABET[usize::from(*digit)]))?;
        }
        Ok(())
    }
}

/// Base32 digits of one reference: two, then one to seven, then the check.
#[derive(Default)]
struct Digits {
    values: [u8; 10],
    length: usize,
}

impl Digits {
    /// `None` when there is no room for another.
    fn push(&mut self, digit: u8) -> Option<()> {
        *self.values.get_mut(self.length)? = digit;
        self.length += 1;
        Some(())
    }

    fn as_slice(&self) -> &[u8] {
        &self.values[..self.length]
    }
}

fn epoch_tag(epoch: Epoch) -> u16 {
    let digest = Sha256::digest(epoch.0.to_le_bytes());
    u16::from_be_bytes([digest[0] & 3, digest[1]])
}

fn low_five(bits: u64) -> u8 {
    bits.to_le_bytes()[0] & 31
}

fn value_of(character: u8) -> Option<u8> {
    let plain = match character.to_ascii_uppercase() {
        b'O' => b'0',
        b'I' | b'L' => b'1',
        other => other,
    };
    let at = ALPHABET.iter().position(|symbol| *symbol == plain)?;
    u8::try_from(at).ok()
}

/// Zero over a whole reference: each digit has twice the weight (in GF(32)) of the one behind it.
fn check(digits: &[u8]) -> u8 {
    digits.iter().fold(0, |sum, digit| double(sum) ^ digit)
}

/// Times two in GF(32), reduced by x^5 + x^2 + 1.
fn double(value: u8) -> u8 {
    let shifted = value << 1;
    if shifted & 32 == 0 {
        shifted
    } else {
        (shifted ^ 0b10_0101) & 31
    }
}

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ropeline_ids::{LineName, Number, RoomName};

    fn reference(epoch: u64, n: u32, lane: u8) -> Reference {
        let room = RoomName::new("shop").expect("a room");
        let number = Number { epoch: Epoch(epoch), n };
        Reference::of(&Visitor {
            room,
            line: LineName::ONLY,
            lane: LaneId(lane),
            number,
            rehearsal: None,
        })
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(epoch: u64, n: u32, lane in 0_u8..8) {
            let shown = reference(epoch, n, lane);
            let text = shown.to_string();
            prop_assert!(text.len() <= Reference::MAX_LEN);
            prop_assert_eq!(Reference::parse(&text), Some(shown));
            prop_assert_eq!(Reference::parse(&text.to_lowercase().replace('-', " ")), Some(shown));
            prop_assert!(shown.matches(Epoch(epoch)));
        }

        #[test]
        fn a_wrong_character_and_swapped_neighbours_are_found(epoch: u64, n: u32, lane in 0_u8..8) {
            let text = reference(epoch, n, lane).to_string().replace('-', "");
            for at in 0..text.len() {
                for symbol in ALPHABET {
                    let mut wrong = text.clone().into_bytes();
                    wrong[at] = *symbol;
                    let wrong = String::from_utf8(wrong).expect("ASCII");
                    prop_assert!(wrong == text || Reference::parse(&wrong).is_none(), "{text} and {wrong}");
                }
                let mut swapped = text.clone().into_bytes();
                if at > 0 {
                    swapped.swap(at - 1, at);
                }
                let swapped = String::from_utf8(swapped).expect("ASCII");
                prop_assert!(swapped == text || Reference::parse(&swapped).is_none(), "{text} and {swapped}");
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,20}") {
            if let Some(read) = Reference::parse(&text) {
                prop_assert_eq!(Reference::parse(&read.to_string()), Some(read));
            }
        }
    }

    #[test]
    fn it_is_short_for_the_ten_millionth_visitor() {
        assert_eq!(reference(1, 10_000_000, 0).to_string().replace('-', "").len(), 9);
        assert_eq!(reference(1, 0, 0).to_string().replace('-', "").len(), 4);
    }

    #[test]
    fn the_one_that_documents_show_is_a_real_one() {
        let shown = Reference::parse("K7D-4D2-R1").expect("one that a page could show");
        assert_eq!((shown.to_string().as_str(), shown.lane), ("K7D-4D2-R1", LaneId(0)));
    }

    #[test]
    fn letters_that_read_like_digits_are_taken_for_them() {
        let zero = reference(1, 0, 0).to_string();
        assert!(zero.contains('0'), "{zero}");
        assert_eq!(Reference::parse(&zero.replace('0', "o")), Reference::parse(&zero));
        assert!(Reference::parse("").is_none());
        assert!(Reference::parse("0").is_none());
    }
}
