//! Draw secrets: derived from the gates' keys, so that every gate can compute them and none has to store them.

use hmac::Mac as _;

use super::key::Keyring;
use ropeline_ids::{Edition, Hash, RoomName};

/// The secrets of a draw, one for each key, in the order of the ring. A promise that was made before the keys were rotated is
/// kept with a key that still verifies. Each promise has its own salt.
#[must_use]
pub fn draw_secrets(keys: &Keyring, room: &RoomName, edition: Edition, salt: &[u8; 16]) -> Vec<Hash> {
    // SECURITY: no token's MAC begins like this, since no cookie's name has a space in it.
    let edition = edition.0.to_le_bytes();
    let parts = [
        b"ropeline draw secret",
        salt.as_slice(),
        &edition,
        room.as_str().as_bytes(),
    ];
    keys.iter()
        .map(|signer| Hash(signer.mac_of(&parts).finalize().into_bytes().into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, KeyId};
    use ropeline_ids::Secret;

    fn ring(keys: &[(&str, u8)]) -> Keyring {
        let keys = keys.iter().map(|(id, byte)| Key {
            id: KeyId::new(id).expect("an id"),
            secret: Secret::new(vec![*byte; 32]),
        });
        Keyring::new(keys.collect()).expect("a ring")
    }

    fn secrets(keys: &[(&str, u8)], room: &str, edition: u32, salt: u8) -> Vec<Hash> {
        let room = RoomName::new(room).expect("a name");
        draw_secrets(&ring(keys), &room, Edition(edition), &[salt; 16])
    }

    #[test]
    fn each_key_room_edition_and_promise_has_a_secret_of_its_own() {
        let one = secrets(&[("a", 1)], "drop", 3, 9);
        for other in [
            secrets(&[("a", 2)], "drop", 3, 9),
            secrets(&[("a", 1)], "drops", 3, 9),
            secrets(&[("a", 1)], "drop", 4, 9),
            secrets(&[("a", 1)], "drop", 3, 8),
        ] {
            assert_ne!(one, other);
        }
        assert_eq!(
            one,
            secrets(&[("b", 1)], "drop", 3, 9),
            "the bytes of a key count, not its name"
        );
    }

    #[test]
    fn a_rotated_ring_still_has_the_secret_of_the_key_before() {
        let before = secrets(&[("a", 1)], "drop", 3, 9);
        let after = secrets(&[("b", 2), ("a", 1)], "drop", 3, 9);
        assert_eq!((after.len(), after[1]), (2, before[0]));
    }
}
