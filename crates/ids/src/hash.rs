//! SHA-256 over labelled fields, each preceded by its length, so that no two different lists of fields give the same input.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

/// 32 bytes that are published: a fingerprint, or a secret that was revealed. 64 hexadecimal digits in text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Over a label and fields: before each of them its length in bytes, as 8 bytes with the lowest first.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "memory is smaller than that")]
    pub fn over(label: &str, fields: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for field in std::iter::once(&label.as_bytes()).chain(fields) {
            let length = u64::try_from(field.len()).expect("memory is smaller than 2^64 bytes");
            hash.update(length.to_le_bytes());
            hash.update(field);
        }
        Self(hash.finalize().into())
    }

    /// Reads 64 hexadecimal digits, capital or not.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let digits = text.as_bytes();
        let plain = digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        plain.then_some(Self(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("64 hexadecimal digits are wanted"))
    }
}
