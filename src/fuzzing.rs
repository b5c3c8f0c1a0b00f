//! Entry points of the fuzzers: one function for each target, which panics where a law does not hold.
//!
//! Compiled for tests and under cargo-fuzz (`--cfg fuzzing`) only, so that private items stay private. `fuzz/` holds the
//! fuzzers and a corpus for each, which the tests here run every time, also where no fuzzer can be built. A corpus is a text
//! file with one input a line, its bytes as [`slice::escape_ascii`] writes them; `scripts/lib/corpus.py` packs it.

pub use crate::accounts::fuzzing::identity;
pub use crate::config::fuzzing::config;
pub use crate::gate::fuzzing::cookies;
pub use crate::proxy::fuzzing::{framing, headers, proxy_protocol};
pub use crate::router::fuzzing::{host, path};
pub use crate::token::fuzzing::{proofs, token};

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::str::Bytes;

    use super::*;

    type Target = fn(&[u8]);

    const TARGETS: [(&str, Target); 10] = [
        ("config", config),
        ("cookies", cookies),
        ("framing", framing),
        ("headers", headers),
        ("host", host),
        ("identity", identity),
        ("path", path),
        ("proofs", proofs),
        ("proxy_protocol", proxy_protocol),
        ("token", token),
    ];

    fn folder(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(name)
    }

    fn corpus(name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(folder("corpus").join(name).with_extension("txt")).expect("a corpus");
        text.lines().map(str::to_owned).collect()
    }

    /// The bytes that [`slice::escape_ascii`] wrote as `line`.
    fn unescape(line: &str) -> Option<Vec<u8>> {
        let mut data = Vec::new();
        let mut rest = line.bytes();
        while let Some(byte) = rest.next() {
            data.push(if byte == b'\\' { escaped(&mut rest)? } else { byte });
        }
        Some(data)
    }

    /// The byte whose escape goes on behind a backslash.
    fn escaped(rest: &mut Bytes<'_>) -> Option<u8> {
        Some(match rest.next()? {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            sign @ (b'\'' | b'"' | b'\\') => sign,
            b'x' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?
            }
            _ => return None,
        })
    }

    /// The inputs of a corpus that break a law.
    fn broken_by(name: &str, target: Target) -> Vec<String> {
        let inputs = corpus(name);
        assert!(inputs.len() >= 10, "{name}: a corpus of {}", inputs.len());
        let breaks = |line: &String| {
            let data = unescape(line).expect("an input");
            std::panic::catch_unwind(|| target(&data)).is_err()
        };
        inputs.into_iter().filter(breaks).collect()
    }

    #[test]
    fn a_corpus_is_sorted_without_duplicates_and_written_in_one_way() {
        for (name, _) in TARGETS {
            let lines = corpus(name);
            let other = lines.iter().find(|line| {
                let data = unescape(line);
                data.is_none_or(|data| data.escape_ascii().to_string() != **line)
            });
            assert_eq!(other, None, "{name}: no line of a corpus");
            let ordered = lines.is_sorted_by(|one, next| one < next);
            assert!(ordered, "{name}: not sorted, or an input twice");
        }
        let every_byte: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(unescape(&every_byte.escape_ascii().to_string()), Some(every_byte));
    }

    #[test]
    fn no_input_of_a_corpus_breaks_a_law() {
        let broken: Vec<_> = TARGETS
            .iter()
            .map(|(name, target)| (name, broken_by(name, *target)))
            .filter(|(_, inputs)| !inputs.is_empty())
            .collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }

    #[test]
    fn every_target_has_a_fuzzer_and_every_fuzzer_a_target() {
        let fuzzers = std::fs::read_dir(folder("fuzz_targets")).expect("fuzzers");
        let mut found: Vec<String> = fuzzers
            .map(|entry| entry.expect("an entry").path())
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        found.sort();
        assert_eq!(found, TARGETS.map(|(name, _)| name));
    }
}
