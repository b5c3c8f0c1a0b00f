//! The names of the log's keys: all under one hash tag, so that in a cluster one node has them all.

use crate::room::{GateId, StateHash};

/// The keys of one log. `docs/guides/redis.md` describes them.
pub(super) struct Keys {
    tag: String,
    /// Hash: epoch (`epoch`), last sequence, its nonce, replication id, bytes, and the sequence of the kept snapshot.
    pub head: String,
    /// Stream of entries, ids `epoch-sequence`.
    pub log: String,
    /// String: the snapshot that a start loads.
    pub snapshot: String,
    /// Set of entries to be passed over.
    pub skips: String,
    /// Hash: sealed records of certificates, and their revision.
    pub vault: String,
    /// String: the gate that may write them; expires.
    pub lease: String,
    /// String: a snapshot on its way to the kept one's place; one key per gate.
    pub saving: String,
    /// Two unused keys, by which the user's rights are tested.
    pub trial: [String; 2],
}

impl Keys {
    /// Whether a prefix is valid in a hash tag and in a rule of an access list.
    pub fn fits(prefix: &str) -> bool {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':');
        (1..=64).contains(&prefix.len()) && prefix.bytes().all(plain)
    }

    /// The keys under a prefix, with a random number of this gate's for those that are its own.
    pub fn new(prefix: &str, own: u64) -> Self {
        let tag = format!("{{{prefix}}}");
        Self {
            head: format!("{tag}:head"),
            log: format!("{tag}:log"),
            snapshot: format!("{tag}:snapshot"),
            skips: format!("{tag}:skips"),
            vault: format!("{tag}:certificates"),
            lease: format!("{tag}:certificates:lease"),
            saving: format!("{tag}:saving:{own:016x}"),
            trial: [format!("{tag}:trial:{own:016x}"), format!("{tag}:trial:{own:016x}:2")],
            tag,
        }
    }

    /// String: a snapshot that a new log may start from.
    pub fn root(&self, hash: &StateHash) -> String {
        use std::fmt::Write as _;
        hash.iter().fold(format!("{}:root:", self.tag), |mut key, byte| {
            let _ = write!(key, "{byte:02x}");
            key
        })
    }

    /// String: what a gate tells the others, apart from the log.
    pub fn note(&self, gate: GateId) -> String {
        format!("{}:gate:{:016x}", self.tag, gate.0)
    }

    /// The keys that every gate uses, each with the type that it has.
    pub fn shared(&self) -> [(&str, &'static str); 5] {
        [
            (&self.head, "hash"),
            (&self.log, "stream"),
            (&self.snapshot, "string"),
            (&self.skips, "set"),
            (&self.vault, "hash"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_bears_the_tag() {
        let keys = Keys::new("shop", 7);
        let own = [&keys.lease, &keys.saving, &keys.trial[0], &keys.trial[1]];
        let all = keys
            .shared()
            .map(|(key, _)| key)
            .into_iter()
            .chain(own.map(String::as_str));
        assert!(all.into_iter().all(|key| key.starts_with("{shop}:")));
        assert_eq!(keys.note(GateId(10)), "{shop}:gate:000000000000000a");
        assert_eq!(keys.root(&[0xAB; 32]), format!("{{shop}}:root:{}", "ab".repeat(32)));
    }
}
