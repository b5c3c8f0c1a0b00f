//! The mark of a rehearsal: a signed header field in each request of a virtual visitor, so that none is taken for a person's.
//!
//! The command `rehearse` signs it with one of the gates' keys, for one room, one rehearsal and a few minutes, and renews it
//! while it runs. It states the number of visitors, and whether their requests are forwarded to the upstream. An expired mark
//! and a mark that is not genuine are different outcomes; neither lets a request through.

use super::key::Keyring;
use super::seal::{Fields, MAX_PAYLOAD, Scope};
use ropeline_ids::{LineName, RehearsalId, RoomName, Wall};

/// The content of a rehearsal's mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    pub rehearsal: RehearsalId,
    /// Valid before this time, in whole seconds.
    pub expires: Wall,
    /// Most visitors.
    pub size: u32,
    /// Whether the visitors' requests are forwarded to the upstream.
    pub forward: bool,
}

/// Whether a genuine mark is valid at a given time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkDate {
    Good,
    Over,
    /// Expires later than [`Mark::MOST_MS`] from now.
    TooLong,
}

impl Mark {
    /// Longest validity of a mark, in milliseconds.
    pub const MOST_MS: u64 = 600_000;

    /// The mark as text for a header field.
    #[must_use]
    pub fn sign(&self, keys: &Keyring, room: &RoomName) -> String {
        keys.seal(scope(room), &encode(self))
    }

    /// Decodes `text` if it is a genuine mark of this room. Its date is not checked.
    #[must_use]
    pub fn read(keys: &Keyring, room: &RoomName, text: &str) -> Option<Self> {
        decode(keys.unseal(scope(room), text)?.payload())
    }

    #[must_use]
    pub fn date(&self, now: Wall) -> MarkDate {
        match self.expires.since(now) {
            0 => MarkDate::Over,
            left if left > Self::MOST_MS => MarkDate::TooLong,
            _ => MarkDate::Good,
        }
    }
}

fn scope(room: &RoomName) -> Scope<'_> {
    Scope::new(MARK, room, &LineName::ONLY)
}

/// flags (1), rehearsal (8), expires (4, seconds since 1970), size (4); little-endian.
fn encode(mark: &Mark) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAX_PAYLOAD);
    bytes.push(u8::from(mark.forward));
    bytes.extend(mark.rehearsal.0);
    let secs = u32::try_from(mark.expires.0 / 1_000).unwrap_or(u32::MAX);
    bytes.extend(secs.to_le_bytes());
    bytes.extend(mark.size.to_le_bytes());
    bytes
}

fn decode(payload: &[u8]) -> Option<Mark> {
    let mut fields = Fields(payload);
    let forward = match fields.u8()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let mark = Mark {
        forward,
        rehearsal: RehearsalId(fields.take()?),
        expires: Wall(u64::from(fields.u32()?) * 1_000),
        size: fields.u32()?,
    };
    fields.end().map(|()| mark)
}

/// SECURITY: no other kind of token begins with this text.
const MARK: &str = "ropeline-rehearsal-mark-";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, KeyId, Pass, PassId, Ticket, TicketPlace};
    use ropeline_ids::Secret;
    use ropeline_ids::{Edition, Epoch, LaneId, Number};

    const ID: RehearsalId = RehearsalId([3; 8]);

    fn ring(byte: u8) -> Keyring {
        let id = KeyId::new("a").expect("an id");
        let secret = Secret::new([byte; 32]);
        Keyring::new(vec![Key { id, secret }]).expect("a ring")
    }

    fn room(name: &str) -> RoomName {
        RoomName::new(name).expect("a room")
    }

    fn mark() -> Mark {
        Mark {
            rehearsal: ID,
            expires: Wall(1_000_000),
            size: 10_000,
            forward: false,
        }
    }

    fn ticket() -> Ticket {
        Ticket {
            room: room("shop"),
            line: LineName::ONLY,
            lane: LaneId(0),
            edition: Edition(0),
            place: TicketPlace::Numbered(Number { epoch: Epoch(1), n: 7 }),
            joined_at: Wall(5),
            identity: None,
        }
    }

    #[test]
    fn a_mark_is_good_for_its_room_and_its_keys_and_for_minutes() {
        let text = mark().sign(&ring(7), &room("shop"));
        assert_eq!(Mark::read(&ring(7), &room("shop"), &text), Some(mark()));
        assert_eq!(Mark::read(&ring(7), &room("other"), &text), None);
        assert_eq!(Mark::read(&ring(8), &room("shop"), &text), None);
        assert_eq!(mark().date(Wall(999_999)), MarkDate::Good);
        assert_eq!(mark().date(Wall(1_000_000)), MarkDate::Over);
        assert_eq!(mark().date(Wall(399_999)), MarkDate::TooLong);
    }

    #[test]
    fn any_altered_character_is_refused() {
        let text = mark().sign(&ring(7), &room("shop"));
        for at in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).expect("text");
            assert_eq!(Mark::read(&ring(7), &room("shop"), &altered), None, "{at}");
        }
    }

    #[test]
    fn a_virtual_token_is_none_to_anybody_else_and_none_in_another_rehearsal() {
        let (keys, room, line) = (ring(7), room("shop"), LineName::ONLY);
        let pass = Pass {
            room: room.clone(),
            line: line.clone(),
            lane: LaneId(0),
            edition: Edition(0),
            number: Number { epoch: Epoch(1), n: 7 },
            call: 1,
            id: PassId([1; 8]),
            expires_at: Wall(9),
        };
        let (real, virtual_one) = (ticket().sign(&keys), ticket().sign_virtual(&keys, ID));
        assert_eq!(
            Ticket::read_virtual(&keys, ID, &room, &line, &virtual_one),
            Some(ticket())
        );
        assert_eq!(Ticket::read(&keys, &room, &line, &virtual_one), None);
        assert_eq!(Ticket::read_virtual(&keys, ID, &room, &line, &real), None);
        let other = RehearsalId([4; 8]);
        assert_eq!(Ticket::read_virtual(&keys, other, &room, &line, &virtual_one), None);
        let (real, virtual_one) = (pass.sign(&keys), pass.sign_virtual(&keys, ID));
        assert_eq!(Pass::read_virtual(&keys, ID, &room, &line, &virtual_one), Some(pass));
        assert_eq!(Pass::read(&keys, &room, &line, &virtual_one), None);
        assert_eq!(Pass::read_virtual(&keys, ID, &room, &line, &real), None);
        assert_eq!(Pass::read_virtual(&keys, other, &room, &line, &virtual_one), None);
        assert_eq!(Mark::read(&keys, &room, &virtual_one), None);
    }
}
