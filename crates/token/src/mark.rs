//! The mark of a rehearsal: a signed header field in each request of a virtual visitor, so that none is taken for a person's.
//!
//! The command `rehearse` signs it with one of the gates' keys, for one room and one rehearsal. It states whether the requests are
//! forwarded to the upstream. A mark has no date: it is valid while the rehearsal with its id is under way. The command draws a new id each time.

use super::key::Keyring;
use super::seal::{Fields, MAX_PAYLOAD, Scope};
use ropeline_ids::{LineName, RehearsalId, RoomName};

/// The content of a rehearsal's mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    pub rehearsal: RehearsalId,
    /// Whether the visitors' requests are forwarded to the upstream.
    pub forward: bool,
}

impl Mark {
    /// The mark as text for a header field.
    #[must_use]
    pub fn sign(&self, keys: &Keyring, room: &RoomName) -> String {
        keys.seal(scope(room), &encode(self))
    }

    /// Decodes `text` if it is a genuine mark of this room.
    #[must_use]
    pub fn read(keys: &Keyring, room: &RoomName, text: &str) -> Option<Self> {
        decode(keys.unseal(scope(room), text)?.payload())
    }
}

fn scope(room: &RoomName) -> Scope<'_> {
    Scope::new(MARK, room, &LineName::ONLY)
}

/// flags (1), rehearsal (8).
fn encode(mark: &Mark) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAX_PAYLOAD);
    bytes.push(u8::from(mark.forward));
    bytes.extend(mark.rehearsal.0);
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
    use ropeline_ids::{Edition, Epoch, LaneId, Number, Wall};

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
    fn a_mark_is_good_for_its_room_and_its_keys() {
        let text = mark().sign(&ring(7), &room("shop"));
        assert_eq!(Mark::read(&ring(7), &room("shop"), &text), Some(mark()));
        assert_eq!(Mark::read(&ring(7), &room("other"), &text), None);
        assert_eq!(Mark::read(&ring(8), &room("shop"), &text), None);
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
        let (real, virtual_one) = (ticket().sign(&keys), ticket().sign_for(&keys, Some(ID)));
        assert_eq!(
            Ticket::read_virtual(&keys, ID, (&room, &line), &virtual_one),
            Some(ticket())
        );
        assert_eq!(Ticket::read(&keys, &room, &line, &virtual_one), None);
        assert_eq!(Ticket::read_virtual(&keys, ID, (&room, &line), &real), None);
        let other = RehearsalId([4; 8]);
        assert_eq!(Ticket::read_virtual(&keys, other, (&room, &line), &virtual_one), None);
        let (real, virtual_one) = (pass.sign(&keys), pass.sign_for(&keys, Some(ID)));
        assert_eq!(Pass::read_virtual(&keys, ID, (&room, &line), &virtual_one), Some(pass));
        assert_eq!(Pass::read(&keys, &room, &line, &virtual_one), None);
        assert_eq!(Pass::read_virtual(&keys, ID, (&room, &line), &real), None);
        assert_eq!(Pass::read_virtual(&keys, other, (&room, &line), &virtual_one), None);
        assert_eq!(Mark::read(&keys, &room, &virtual_one), None);
    }
}
