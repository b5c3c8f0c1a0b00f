//! What the fuzzers call: one function for each target, which panics where a law does not hold.
//!
//! Compiled for tests and under cargo-fuzz (`--cfg fuzzing`) only, so that what is private stays so. `fuzz/` holds the
//! fuzzers and their corpora, which the tests here go through on every run, also where no fuzzer can be built.

pub use crate::accounts::fuzzing::identity;
pub use crate::config::fuzzing::config;
pub use crate::gate::fuzzing::cookies;
pub use crate::proxy::fuzzing::{framing, headers, proxy_protocol};
pub use crate::router::fuzzing::path;
pub use crate::token::fuzzing::{proofs, token};

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    type Target = fn(&[u8]);

    const TARGETS: [(&str, Target); 9] = [
        ("config", config),
        ("cookies", cookies),
        ("framing", framing),
        ("headers", headers),
        ("identity", identity),
        ("path", path),
        ("proofs", proofs),
        ("proxy_protocol", proxy_protocol),
        ("token", token),
    ];

    fn folder(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(name)
    }

    /// The inputs of a corpus that break a law.
    fn broken_by(name: &str, target: Target) -> Vec<PathBuf> {
        let inputs = std::fs::read_dir(folder("corpus").join(name)).expect("a corpus");
        let inputs: Vec<PathBuf> = inputs.map(|input| input.expect("an entry").path()).collect();
        assert!(inputs.len() >= 10, "{name}: a corpus of {}", inputs.len());
        let breaks = |path: &PathBuf| {
            let data = std::fs::read(path).expect("an input");
            std::panic::catch_unwind(|| target(&data)).is_err()
        };
        inputs.into_iter().filter(breaks).collect()
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
