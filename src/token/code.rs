//! Codes: what an operator gives away, signed, so that whoever brings one stands in a lane.
//!
//! A code is a token as the others, for a room, or for one line of it; it names no visitor, so whoever has it may use it until
//! it expires. Wrong dates are told from wrong codes, since only a genuine one is read at all.

use super::key::Keyring;
use super::seal::{Fields, MAX_PAYLOAD, Scope};
use crate::room::{LineName, MAX_LANE_NAME, RoomName, Wall};

/// Tells codes apart, in logs too, without being one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CodeId(pub [u8; 6]);

/// A grant of a place in a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    pub id: CodeId,
    /// From then on; whole seconds, as the next one.
    pub starts: Option<Wall>,
    /// Until just before then.
    pub expires: Option<Wall>,
    pub lane: String,
}

/// What a genuine code is worth at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeDate {
    NotYet(Wall),
    Good,
    Over,
}

impl std::fmt::Display for CodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Code {
    #[must_use]
    pub fn date(&self, now: Wall) -> CodeDate {
        match (self.starts, self.expires) {
            (_, Some(expires)) if now >= expires => CodeDate::Over,
            (Some(starts), _) if now < starts => CodeDate::NotYet(starts),
            _ => CodeDate::Good,
        }
    }
}

impl Keyring {
    /// The code as text for a link; for every line of the room if that is [`LineName::ONLY`]. `None` for a lane's name that is
    /// longer than any.
    #[must_use]
    pub fn sign_code(&self, room: &RoomName, line: &LineName, code: &Code) -> Option<String> {
        (code.lane.len() <= MAX_LANE_NAME).then(|| self.seal(scope(room, line), &encode(code)))
    }

    /// The code that `text` is, if it is genuine and of this room, for this line or all of them; in force or not.
    #[must_use]
    pub fn read_code(&self, room: &RoomName, line: &LineName, text: &str) -> Option<Code> {
        let lines = [&LineName::ONLY, line];
        let mut lines = lines.into_iter().take(if line.is_only() { 1 } else { 2 });
        let opened = lines.find_map(|line| self.unseal(scope(room, line), text))?;
        decode(opened.payload())
    }
}

fn scope<'a>(room: &'a RoomName, line: &'a LineName) -> Scope<'a> {
    Scope {
        kind: CODE,
        room,
        line,
        rehearsal: None,
    }
}

/// id (6), starts (4), expires (4), lane (1 and as many); seconds since 1970, 0 for none.
fn encode(code: &Code) -> Vec<u8> {
    let secs = |at: Option<Wall>| at.map_or(0, |at| u32::try_from(at.0 / 1_000).unwrap_or(u32::MAX));
    let mut bytes = Vec::with_capacity(MAX_PAYLOAD);
    bytes.extend(code.id.0);
    bytes.extend(secs(code.starts).to_le_bytes());
    bytes.extend(secs(code.expires).to_le_bytes());
    bytes.push(u8::try_from(code.lane.len()).unwrap_or(u8::MAX));
    bytes.extend(code.lane.as_bytes());
    bytes
}

fn decode(payload: &[u8]) -> Option<Code> {
    let mut fields = Fields(payload);
    let wall = |secs: u32| (secs > 0).then(|| Wall(u64::from(secs) * 1_000));
    let code = Code {
        id: CodeId(fields.take()?),
        starts: wall(fields.u32()?),
        expires: wall(fields.u32()?),
        lane: fields.text()?.to_owned(),
    };
    fields.end().map(|()| code)
}

/// What names the kind to the MAC, and the cookie's base name up to the room.
pub(super) const CODE: &str = "anteroom-code-";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{Key, KeyId, Secret};

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
            lane: "press".to_owned(),
        }
    }

    #[test]
    fn a_code_is_good_for_its_room_its_line_and_its_keys_alone() {
        let line = LineName::new("4711").expect("a line");
        let all = ring(7)
            .sign_code(&room("shop"), &LineName::ONLY, &code())
            .expect("a code");
        let one = ring(7).sign_code(&room("shop"), &line, &code()).expect("a code");
        let read = |byte, name, line: &LineName, text: &str| ring(byte).read_code(&room(name), line, text);
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
    fn any_altered_character_is_refused() {
        let text = ring(7)
            .sign_code(&room("shop"), &LineName::ONLY, &code())
            .expect("a code");
        for at in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).expect("text");
            assert_eq!(
                ring(7).read_code(&room("shop"), &LineName::ONLY, &altered),
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
