//! Codes: signed grants that an operator gives away. A code gives its bearer a place in a lane, or a way past the line.
//!
//! A code is a token for a room or for one line of it. It names no visitor: any visitor who has it may use it until it
//! expires, and a single-use code belongs to the first who shows it. Only genuine codes are decoded, so a wrong date and a
//! wrong code are different outcomes.

use sha2::{Digest, Sha256};

use super::key::Keyring;
use super::seal::{Fields, MAX_PAYLOAD, Scope};
use ropeline_ids::{CodeId, LineName, MAX_LANE_NAME, PendingId, RoomName, Wall};

/// What a code grants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Grant {
    /// A place in the lane with this name.
    Lane(String),
    /// A way past the line.
    Bypass,
}

/// A grant with its dates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    pub id: CodeId,
    /// Valid from this time on, in whole seconds.
    pub starts: Option<Wall>,
    /// Valid before this time, in whole seconds.
    pub expires: Option<Wall>,
    pub grant: Grant,
    /// Valid for one visitor.
    pub single: bool,
    /// Issue date. Where records of used codes were lost after it, the code may have been used. Not encoded in codes for a lane
    /// that any number of visitors may use.
    pub issued: Wall,
}

/// Whether a genuine code is valid at a given time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeDate {
    NotYet(Wall),
    Good,
    Over,
}

impl std::fmt::Display for Grant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lane(name) => write!(f, "lane:{name}"),
            Self::Bypass => f.write_str("bypass"),
        }
    }
}

impl Code {
    /// The code as text for a link. With [`LineName::ONLY`] it is valid for every line of the room. `None` if the lane's name is
    /// empty or too long.
    #[must_use]
    pub fn sign(&self, keys: &Keyring, room: &RoomName, line: &LineName) -> Option<String> {
        let known = match &self.grant {
            Grant::Lane(name) => (1..=MAX_LANE_NAME).contains(&name.len()),
            Grant::Bypass => true,
        };
        known.then(|| keys.seal(Scope::new(CODE, room, line), &encode(self)))
    }

    /// Decodes `text` if it is a genuine code of this room, for this line or for all lines. Dates are not checked.
    #[must_use]
    pub fn read(keys: &Keyring, room: &RoomName, line: &LineName, text: &str) -> Option<Self> {
        let lines = [&LineName::ONLY, line];
        let mut lines = lines.into_iter().take(if line.is_only() { 1 } else { 2 });
        let opened = lines.find_map(|line| keys.unseal(Scope::new(CODE, room, line), text))?;
        decode(opened.payload())
    }

    /// Whether each use is decided in the log: single-use codes and bypasses.
    #[must_use]
    pub fn is_redeemed(&self) -> bool {
        self.single || self.grant == Grant::Bypass
    }

    /// The visitor who shows the code, as a hash of a mark that only their browser or app has. The log holds the hash, from
    /// which the mark cannot be computed. It does not depend on the keys.
    #[must_use]
    pub fn holder(&self, mark: &str) -> PendingId {
        let mut hash = Sha256::new();
        hash.update(b"ropeline-holder");
        hash.update(self.id.0);
        hash.update(mark.as_bytes());
        let hash: [u8; 32] = hash.finalize().into();
        let mut holder = [0; 12];
        holder.copy_from_slice(&hash[..12]);
        PendingId(holder)
    }

    #[must_use]
    pub fn date(&self, now: Wall) -> CodeDate {
        match (self.starts, self.expires) {
            (_, Some(expires)) if now >= expires => CodeDate::Over,
            (Some(starts), _) if now < starts => CodeDate::NotYet(starts),
            _ => CodeDate::Good,
        }
    }
}

/// id (6), starts (4), expires (4), flags and the length of the lane's name (1), the name, and with a flag the issue date
/// (4). Dates are seconds since 1970, 0 for none.
fn encode(code: &Code) -> Vec<u8> {
    let secs = |at: Wall| u32::try_from(at.0 / 1_000).unwrap_or(u32::MAX);
    let lane = match &code.grant {
        Grant::Lane(name) => name.as_str(),
        Grant::Bypass => "",
    };
    let single = if code.single { SINGLE } else { 0 };
    let bypass = if code.grant == Grant::Bypass { BYPASS } else { 0 };
    let mut bytes = Vec::with_capacity(MAX_PAYLOAD);
    bytes.extend(code.id.0);
    bytes.extend(code.starts.map_or(0, secs).to_le_bytes());
    bytes.extend(code.expires.map_or(0, secs).to_le_bytes());
    bytes.push(single | bypass | u8::try_from(lane.len()).unwrap_or(u8::MAX));
    bytes.extend(lane.as_bytes());
    if code.is_redeemed() {
        bytes.extend(secs(code.issued).to_le_bytes());
    }
    bytes
}

fn decode(payload: &[u8]) -> Option<Code> {
    let mut fields = Fields(payload);
    let wall = |secs: u32| (secs > 0).then(|| Wall(u64::from(secs) * 1_000));
    let id = CodeId(fields.take()?);
    let (starts, expires) = (wall(fields.u32()?), wall(fields.u32()?));
    let byte = fields.u8()?;
    let name = fields.text_of(usize::from(byte & !(SINGLE | BYPASS)))?;
    let grant = match (byte & BYPASS != 0, name) {
        (false, name) if (1..=MAX_LANE_NAME).contains(&name.len()) => Grant::Lane(name.to_owned()),
        (true, "") => Grant::Bypass,
        _ => return None,
    };
    let mut code = Code {
        id,
        starts,
        expires,
        grant,
        single: byte & SINGLE != 0,
        issued: Wall(0),
    };
    if code.is_redeemed() {
        code.issued = wall(fields.u32()?).unwrap_or_default();
    }
    fields.end().map(|()| code)
}

/// Flags in the byte that holds the length of a name, which is at most 32.
const SINGLE: u8 = 0x80;
const BYPASS: u8 = 0x40;

/// The kind in the MAC, and the cookie's base name up to the room.
pub(super) const CODE: &str = "ropeline-code-";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, KeyId};
    use ropeline_ids::Secret;

    fn ring(byte: u8) -> Keyring {
        let id = KeyId::new("a").expect("an id");
        let secret = Secret::new([byte; 32]);
        Keyring::new(vec![Key { id, secret }]).expect("a ring")
    }

    fn room(name: &str) -> RoomName {
        RoomName::new(name).expect("a room")
    }

    fn code() -> Code {
        Code {
            id: CodeId([1, 2, 3, 4, 5, 0xab]),
            starts: Some(Wall(1_000_000)),
            expires: Some(Wall(2_000_000)),
            grant: Grant::Lane("press".to_owned()),
            single: false,
            issued: Wall(0),
        }
    }

    #[test]
    fn a_code_is_good_for_its_room_its_line_and_its_keys_alone() {
        let line = LineName::new("4711").expect("a line");
        let all = code().sign(&ring(7), &room("shop"), &LineName::ONLY).expect("a code");
        let one = code().sign(&ring(7), &room("shop"), &line).expect("a code");
        let read = |byte, name, line: &LineName, text: &str| Code::read(&ring(byte), &room(name), line, text);
        assert_eq!(read(7, "shop", &LineName::ONLY, &all), Some(code()));
        assert_eq!(read(7, "shop", &line, &all), Some(code()), "every line");
        assert_eq!(read(7, "shop", &line, &one), Some(code()));
        assert_eq!(read(7, "shop", &LineName::ONLY, &one), None, "one line's");
        assert_eq!(read(7, "other", &LineName::ONLY, &all), None);
        assert_eq!(read(8, "shop", &LineName::ONLY, &all), None);
        assert!(all.len() <= 76, "{}", all.len());
        assert_eq!(code().id.to_string(), "0102030405ab");
    }

    #[test]
    fn a_code_says_what_it_grants_to_how_many_and_when_it_was_made() {
        let issued = Wall(3_000_000);
        let longest = Grant::Lane("x".repeat(32));
        for (grant, single) in [(longest, true), (Grant::Bypass, false), (Grant::Bypass, true)] {
            let code = Code {
                grant,
                single,
                issued,
                ..code()
            };
            let text = code.sign(&ring(7), &room("shop"), &LineName::ONLY).expect("a code");
            assert_eq!(Code::read(&ring(7), &room("shop"), &LineName::ONLY, &text), Some(code));
        }
        let long = Code {
            grant: Grant::Lane("x".repeat(33)),
            ..code()
        };
        assert_eq!(long.sign(&ring(7), &room("shop"), &LineName::ONLY), None);
        // A name beside the flag of a way past the line.
        let mut bytes = encode(&Code { single: true, ..code() });
        bytes[14] |= BYPASS;
        assert_eq!(decode(&bytes), None);
    }

    #[test]
    fn a_holder_is_told_by_the_code_and_the_mark() {
        let other = Code {
            id: CodeId([9; 6]),
            ..code()
        };
        assert_eq!(code().holder("a"), code().holder("a"));
        assert_ne!(code().holder("a"), code().holder("b"));
        assert_ne!(code().holder("a"), other.holder("a"));
    }

    #[test]
    fn any_altered_character_is_refused() {
        let text = code().sign(&ring(7), &room("shop"), &LineName::ONLY).expect("a code");
        for at in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).expect("text");
            assert_eq!(
                Code::read(&ring(7), &room("shop"), &LineName::ONLY, &altered),
                None,
                "{at}"
            );
        }
    }

    #[test]
    fn a_code_begins_and_ends_to_the_second() {
        let date = |ms| code().date(Wall(ms));
        assert_eq!(date(999_999), CodeDate::NotYet(Wall(1_000_000)));
        assert_eq!((date(1_000_000), date(1_999_999)), (CodeDate::Good, CodeDate::Good));
        assert_eq!(date(2_000_000), CodeDate::Over);
        let always = Code {
            starts: None,
            expires: None,
            ..code()
        };
        assert_eq!(always.date(Wall(u64::MAX)), CodeDate::Good);
    }
}
