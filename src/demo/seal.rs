//! Signatures between shop and provider, and the ids of customers and orders. A key of this process only.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub(super) struct Seal {
    keyed: Hmac<Sha256>,
    drawn: AtomicU64,
}

impl Seal {
    /// Fails when the system has no randomness to give.
    pub(super) fn random() -> io::Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
        let keyed = Hmac::new_from_slice(&key).expect("HMAC takes a key of any length");
        Ok(Self {
            keyed,
            drawn: AtomicU64::new(0),
        })
    }

    /// An id that cannot be guessed: 32 hexadecimal digits, another each time.
    pub(super) fn draw(&self) -> String {
        let count = self.drawn.fetch_add(1, Ordering::Relaxed);
        let tag = self.mac(&["id", &count.to_string()]).finalize().into_bytes();
        hex(&tag[..16])
    }

    /// A signature over `parts`, the first of which names the kind of signature.
    pub(super) fn sign(&self, parts: &[&str]) -> String {
        hex(&self.mac(parts).finalize().into_bytes())
    }

    pub(super) fn is_signed(&self, parts: &[&str], signature: &str) -> bool {
        let pairs = signature
            .as_bytes()
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).unwrap_or("").to_owned());
        let Ok(tag) = pairs
            .map(|pair| u8::from_str_radix(&pair, 16))
            .collect::<Result<Vec<u8>, _>>()
        else {
            return false;
        };
        self.mac(parts).verify_slice(&tag).is_ok()
    }

    fn mac(&self, parts: &[&str]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        for part in parts {
            mac.update(&part.len().to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_parts_have_the_signature() {
        let seal = Seal::random().expect("randomness");
        let signature = seal.sign(&["paid", "order"]);
        assert!(seal.is_signed(&["paid", "order"], &signature));
        assert!(!seal.is_signed(&["paido", "rder"], &signature));
        for wrong in ["", "zz", "é", &signature[2..], &signature[1..]] {
            assert!(!seal.is_signed(&["paid", "order"], wrong), "{wrong}");
        }
        assert_ne!(seal.draw(), seal.draw());
    }
}
