//! Account tags: keyed hashes that stand for an account in logs, snapshots and tickets, which never hold its name.
//!
//! A ticket has room for eight bytes. Among ten million accounts, two share a tag with a probability of three in a million.
//! An attacker cannot search for such a pair, because computing a tag needs a key.

use hmac::Mac as _;

use super::key::Keyring;
use ropeline_ids::{Identity, RoomName, Tag};

/// The tags of an account in a room, one for each key, in the order of the ring. Gates with the same keys compute the same
/// tags. A tag made with a key that now only verifies still names the account, as long as that key is kept.
#[must_use]
pub fn account_tags(keys: &Keyring, room: &RoomName, identity: &Identity) -> Vec<Tag> {
    // SECURITY: no token's MAC begins like this, since no cookie's name has a space in it; and a room's name has no zero
    // byte, which ends it.
    let parts = [b"ropeline account ", room.as_str().as_bytes(), b"\0", identity.expose()];
    keys.iter()
        .map(|signer| {
            let mac: [u8; 32] = signer.mac_of(&parts).finalize().into_bytes().into();
            let mut tag = [0; 8];
            tag.copy_from_slice(&mac[..8]);
            Tag(tag)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, KeyId};
    use ropeline_ids::Secret;

    fn tags(keys: &[(&str, u8)], room: &str, account: &str) -> Vec<Tag> {
        let key = |(id, byte): &(&str, u8)| Key {
            id: KeyId::new(id).expect("an id"),
            secret: Secret::new(vec![*byte; 32]),
        };
        let ring = Keyring::new(keys.iter().map(key).collect()).expect("a ring");
        let room = RoomName::new(room).expect("a name");
        account_tags(&ring, &room, &Identity::new(account).expect("an account"))
    }

    #[test]
    fn every_account_room_and_key_has_a_tag_of_its_own() {
        let one = tags(&[("a", 1)], "drop", "ann");
        assert_eq!(
            one,
            tags(&[("b", 1)], "drop", "ann"),
            "the bytes of a key count, not its name"
        );
        for other in [
            tags(&[("a", 2)], "drop", "ann"),
            tags(&[("a", 1)], "drops", "ann"),
            tags(&[("a", 1)], "dro", "pann"),
            tags(&[("a", 1)], "drop", "bob"),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_rotated_ring_still_has_the_tag_of_the_key_before() {
        let before = tags(&[("a", 1)], "drop", "ann");
        let after = tags(&[("b", 2), ("a", 1)], "drop", "ann");
        assert_eq!((after.len(), after[1]), (2, before[0]));
    }

    /// HMAC-SHA-256 under 32 bytes of 1, computed with Python's `hmac`.
    #[test]
    fn the_form_of_a_tag_is_fixed() {
        let tag = Tag([206, 114, 64, 8, 115, 134, 238, 151]);
        assert_eq!(tags(&[("a", 1)], "drop", "ann"), [tag]);
    }
}
