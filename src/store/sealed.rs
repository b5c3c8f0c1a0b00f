//! Lines of small files, each with a checksum: a line that something else wrote into is found.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Bytes of a line's checksum.
const SUM_BYTES: usize = 4;

/// The line with its checksum.
#[must_use]
pub fn sealed(line: &str) -> String {
    format!("{line} {}\n", sum(line))
}

/// The line as it was written; `None` for one that is altered or cut.
#[must_use]
pub fn unsealed(line: &str) -> Option<&str> {
    let (line, found) = line.trim_end().rsplit_once(' ')?;
    (found == sum(line)).then_some(line)
}

fn sum(line: &str) -> String {
    let hash = Sha256::digest(line);
    hash.iter().take(SUM_BYTES).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_back_and_no_byte_of_it_can_be_another() {
        let written = sealed("17 1700000000 5");
        assert_eq!(unsealed(&written), Some("17 1700000000 5"));
        let text = written.trim_end().as_bytes();
        for at in 0..text.len() {
            for bit in 0..7 {
                let mut altered = text.to_vec();
                altered[at] ^= 1 << bit;
                let altered = String::from_utf8(altered).unwrap();
                assert_eq!(unsealed(&altered), None, "{altered}");
            }
            assert_eq!(unsealed(&written[..at]), None);
        }
        assert_eq!(unsealed(""), None);
    }
}
