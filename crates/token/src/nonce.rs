//! The nonce of `ropeline probe`: proves to the command that a gate with the operator's keys answers at an address.
//!
//! The admin listener signs a nonce for one room and ten minutes. The gate's public endpoint answers whether it is genuine. It
//! has no other use, so it may stand in a URL.

use super::key::Keyring;
use super::seal::{Fields, MAX_PAYLOAD, Scope};
use ropeline_ids::{LineName, RoomName, Wall};

/// How long a nonce is valid.
pub const LIFETIME_MS: u64 = 600_000;

/// A nonce for `room` that is valid until [`LIFETIME_MS`] after `now`.
#[must_use]
pub fn sign(keys: &Keyring, room: &RoomName, random: [u8; 8], now: Wall) -> String {
    let mut bytes = Vec::with_capacity(MAX_PAYLOAD);
    bytes.extend(now.plus(LIFETIME_MS).0.to_le_bytes());
    bytes.extend(random);
    keys.seal(scope(room), &bytes)
}

/// Whether `text` is a nonce that a gate with one of these keys signed for `room`, and has not expired.
#[must_use]
pub fn is_good(keys: &Keyring, room: &RoomName, text: &str, now: Wall) -> bool {
    let until = || {
        let opened = keys.unseal(scope(room), text)?;
        let mut fields = Fields(opened.payload());
        let (until, _random) = (Wall(fields.u64()?), fields.take::<8>()?);
        fields.end().map(|()| until)
    };
    until().is_some_and(|until| (1..=LIFETIME_MS).contains(&until.since(now)))
}

fn scope(room: &RoomName) -> Scope<'_> {
    Scope::new(NONCE, room, &LineName::ONLY)
}

/// SECURITY: no other kind of token begins with this text.
const NONCE: &str = "ropeline-probe-nonce-";

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

    #[test]
    fn a_nonce_is_good_for_its_room_its_keys_and_ten_minutes() {
        let (room, other) = (RoomName::new("a").expect("a room"), RoomName::new("b").expect("a room"));
        let text = sign(&ring(1), &room, [7; 8], Wall(1_000));
        assert!(is_good(&ring(1), &room, &text, Wall(1_000)));
        assert!(is_good(&ring(1), &room, &text, Wall(LIFETIME_MS + 999)));
        assert!(!is_good(&ring(1), &room, &text, Wall(LIFETIME_MS + 1_000)), "over");
        assert!(!is_good(&ring(1), &room, &text, Wall(999)), "from the future");
        assert!(!is_good(&ring(1), &other, &text, Wall(1_000)));
        assert!(!is_good(&ring(2), &room, &text, Wall(1_000)));
        assert!(!is_good(&ring(1), &room, &text[..text.len() - 1], Wall(1_000)));
    }
}
