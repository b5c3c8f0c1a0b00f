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

/// The bytes that such a line has in hexadecimal digits; `None` for any other.
#[must_use]
pub fn unsealed_bytes(line: &str) -> Option<Vec<u8>> {
    let digits = unsealed(line)?;
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pairs = (0..digits.len()).step_by(2).filter(|_| is_hex);
    let bytes: Vec<u8> = pairs
        .filter_map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect();
    Some(bytes).filter(|bytes| !bytes.is_empty())
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

    #[test]
    fn the_bytes_of_a_line_are_those_of_its_digits() {
        assert_eq!(unsealed_bytes(&sealed("00ff7a")), Some(vec![0, 0xff, 0x7a]));
        for other in ["", "0", "00f", "0g", "+1", "00 ff", "\u{e4}\u{e4}"] {
            assert_eq!(unsealed_bytes(&sealed(other)), None, "{other}");
        }
        assert_eq!(unsealed_bytes("00ff7a 00000000"), None);
    }
}
