//! Proof of work on joining: the signed challenge, and the check of a browser's solution.
//!
//! A challenge is a token, so no gate stores one. It names its join by a pending id: the room gives one number for it, no
//! matter how often and at how many gates a solution is shown. The work is [`PARTS`] small puzzles instead of one large
//! puzzle, so that it takes about the same time for everybody.

use sha2::{Digest, Sha256};

use super::key::Keyring;
use super::seal::{Fields, Scope};
use ropeline_ids::{LineName, PendingId, RoomName, Wall};

/// Puzzles of one challenge. The standard deviation of the time for all of them is a quarter of its mean.
pub const PARTS: u32 = 16;

pub(super) const KIND: &str = "ropeline-proof";

/// The task that a newcomer must solve before joining.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Challenge {
    /// The join that it is valid for.
    pub id: PendingId,
    pub issued_at: Wall,
    /// Average number of hashes to solve it.
    pub price: u32,
    /// The network that it was given to: its address (IPv4 mapped to IPv6) and the length of its prefix.
    pub network: [u8; 17],
}

impl Challenge {
    /// The challenge as text.
    #[must_use]
    pub fn sign(&self, keys: &Keyring, room: &RoomName, line: &LineName) -> String {
        let mut bytes = Vec::with_capacity(41);
        bytes.extend(self.id.0);
        bytes.extend(self.issued_at.0.to_le_bytes());
        bytes.extend(self.price.to_le_bytes());
        bytes.extend(self.network);
        keys.seal(Scope::new(KIND, room, line), &bytes)
    }

    /// Decodes `text` if it is a genuine challenge of this room and line.
    #[must_use]
    pub fn read(keys: &Keyring, room: &RoomName, line: &LineName, text: &str) -> Option<Self> {
        let opened = keys.unseal(Scope::new(KIND, room, line), text)?;
        let mut fields = Fields(opened.payload());
        let challenge = Self {
            id: PendingId(fields.take()?),
            issued_at: Wall(fields.u64()?),
            price: fields.u32()?,
            network: fields.take()?,
        };
        fields.end()?;
        Some(challenge)
    }
}

/// The largest first four bytes, as a number, of a hash that solves a puzzle.
#[must_use]
pub fn most(price: u32) -> u32 {
    let each = u64::from(price / PARTS).max(1);
    u32::try_from((1 << 32) / each - 1).unwrap_or(u32::MAX)
}

/// Whether `nonces` solve the challenge with this text. There is one nonce for each part. The hash of a part is SHA-256 of its
/// seed and the nonce (4 bytes, big-endian); the seed is SHA-256 of the text, a colon and the part's number.
#[must_use]
pub fn solves(text: &str, price: u32, nonces: &[u32]) -> bool {
    let most = most(price);
    let solved = |(part, nonce): (u32, &u32)| {
        let seed = Sha256::digest(format!("{text}:{part}"));
        let hash = Sha256::new().chain_update(seed).chain_update(nonce.to_be_bytes());
        let [a, b, c, d, ..]: [u8; 32] = hash.finalize().into();
        u32::from_be_bytes([a, b, c, d]) <= most
    };
    nonces.len() == PARTS as usize && (0..).zip(nonces).all(solved)
}

/// Splits `shown` into the challenge's text and the nonces behind it, each after a full stop and in hexadecimal. `None` if a
/// nonce is malformed; no nonces if only the challenge is shown.
#[must_use]
pub fn parse(shown: &str) -> Option<(&str, Option<Vec<u32>>)> {
    let Some((text, rest)) = shown.split_once('.') else {
        return Some((shown, None));
    };
    let digits = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_hexdigit());
    let mut parts = rest.split('.').take(PARTS as usize + 1);
    let nonces: Option<Vec<u32>> = parts
        .by_ref()
        .map(|part| u32::from_str_radix(part, 16).ok().filter(|_| digits(part)))
        .collect();
    Some((text, Some(nonces?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, KeyId};
    use ropeline_ids::Secret;

    fn ring(byte: u8) -> Keyring {
        let id = KeyId::new("a").unwrap();
        let secret = Secret::new(vec![byte; 32]);
        Keyring::new(vec![Key { id, secret }]).unwrap()
    }

    fn challenge(price: u32) -> Challenge {
        Challenge {
            id: PendingId([7; 12]),
            issued_at: Wall(1_800_000_000_000),
            price,
            network: [9; 17],
        }
    }

    fn solve(text: &str, price: u32) -> Vec<u32> {
        let most = most(price);
        let part = |part| {
            let seed = Sha256::digest(format!("{text}:{part}"));
            let hash = |nonce: &u32| {
                let hash = Sha256::new().chain_update(seed).chain_update(nonce.to_be_bytes());
                let bytes: [u8; 32] = hash.finalize().into();
                u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) <= most
            };
            (0..u32::MAX).find(hash).unwrap()
        };
        (0..PARTS).map(part).collect()
    }

    #[test]
    fn a_challenge_is_good_for_its_room_line_and_key_and_reads_back() {
        let [shop, other] = ["shop", "other"].map(|name| RoomName::new(name).unwrap());
        let line = LineName::new("7").unwrap();
        let text = challenge(500).sign(&ring(1), &shop, &LineName::ONLY);
        let only = LineName::ONLY;
        let read =
            |ring: Keyring, room: &RoomName, line: &LineName, text: &str| Challenge::read(&ring, room, line, text);
        assert_eq!(read(ring(1), &shop, &only, &text), Some(challenge(500)));
        assert_eq!(read(ring(1), &other, &only, &text), None);
        assert_eq!(read(ring(1), &shop, &line, &text), None);
        assert_eq!(read(ring(2), &shop, &only, &text), None);
        let ticket = text.replacen('A', "B", 1);
        assert_eq!(read(ring(1), &shop, &only, &ticket), None);
    }

    #[test]
    fn only_a_whole_solution_of_the_very_challenge_counts() {
        let (text, price) = ("a-challenge", 1_600);
        let nonces = solve(text, price);
        assert!(solves(text, price, &nonces));
        assert!(!solves(text, price, &nonces[1..]) && !solves(text, price, &[]));
        assert!(!solves("another-challenge", price, &nonces));
        let mut swapped = nonces.clone();
        swapped.rotate_left(1);
        assert!(!solves(text, price, &swapped), "each part has a puzzle of its own");
        assert!(!solves(text, 1_000_000, &nonces), "a cheaper one's");
    }

    #[test]
    fn the_price_is_what_it_takes_on_average() {
        assert_eq!((most(0), most(16), most(31)), (u32::MAX, u32::MAX, u32::MAX));
        assert_eq!(most(16 * 256), (1 << 24) - 1);
        let tried: u64 = (0..40)
            .flat_map(|n| solve(&format!("challenge {n}"), 3_200))
            .map(|nonce| u64::from(nonce) + 1)
            .sum();
        assert!((40 * 2_600..40 * 3_800).contains(&tried), "{tried}");
    }

    #[test]
    fn what_is_shown_is_a_challenge_alone_or_with_nonces() {
        assert_eq!(parse("abc"), Some(("abc", None)));
        assert_eq!(parse("abc.0.1f.ffffffff"), Some(("abc", Some(vec![0, 31, u32::MAX]))));
        for wrong in ["abc.", "abc.1.", "abc.+1", "abc.g", "abc.100000000", "abc.1.-1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        let long = format!("abc{}", ".1".repeat(1_000));
        assert!(
            parse(&long).unwrap().1.unwrap().len() == 17,
            "no more is read than can be wrong"
        );
    }
}
