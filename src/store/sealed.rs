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

/// Bytes of a key in such a line.
pub const KEY_BYTES: usize = 32;

/// The key that such a line has in hexadecimal digits; `None` for any other.
#[must_use]
pub fn unsealed_key(line: &str) -> Option<Vec<u8>> {
    let digits = unsealed(line)?;
    if digits.len() != KEY_BYTES * 2 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    let bytes = pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
    bytes.collect::<Result<_, _>>().ok()
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
    fn a_key_is_the_bytes_of_its_digits() {
        let digits = "00ff7a19".repeat(8);
        assert_eq!(unsealed_key(&sealed(&digits)), Some([0, 0xff, 0x7a, 0x19].repeat(8)));
        let with_a_sign = format!("+0{}", &digits[2..]);
        for other in ["", "00ff7a19", &digits[1..], &format!("{digits}00"), &with_a_sign] {
            assert_eq!(unsealed_key(&sealed(other)), None, "{other}");
        }
        assert_eq!(unsealed_key(&digits), None, "without a checksum");
    }
}
