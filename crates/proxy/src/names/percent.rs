//! Percent-decoding (RFC 3986, section 2.1) with a choice of the escapes to decode. No library: the crate `percent-encoding`
//! decodes all escapes, and refuses neither a malformed one nor an encoded control character.

/// Why a path's percent-encoding is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A `%` that no two hexadecimal digits follow.
    Malformed,
    /// An encoded control character, NUL among them.
    Control,
}

/// Decodes the escapes that `wanted` accepts; keeps the others unchanged.
///
/// With `strict` a malformed escape is an error, otherwise it stays unchanged.
pub fn decode(input: &[u8], strict: bool, wanted: impl Fn(u8) -> bool) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::with_capacity(input.len());
    let mut rest = input;
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'%' {
            out.push(first);
            rest = tail;
            continue;
        }
        let Some(byte) = escape(rest) else {
            if strict {
                return Err(Fault::Malformed);
            }
            out.push(first);
            rest = tail;
            continue;
        };
        if byte.is_ascii_control() {
            return Err(Fault::Control);
        }
        let (taken, after) = rest.split_at(3);
        if wanted(byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(taken);
        }
        rest = after;
    }
    Ok(out)
}

/// Decodes every escape, those of ASP.NET (`%u0069`) too; malformed escapes stay unchanged.
#[must_use]
pub fn decode_leniently(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len());
    let mut rest = input;
    while let Some((&first, tail)) = rest.split_first() {
        if let Some(byte) = escape(rest) {
            out.push(byte);
            rest = &rest[3..];
        } else if let Some(letter) = wide_escape(rest) {
            out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            rest = &rest[6..];
        } else {
            out.push(first);
            rest = tail;
        }
    }
    out
}

fn wide_escape(input: &[u8]) -> Option<char> {
    let [b'%', b'u' | b'U', digits @ ..] = input else {
        return None;
    };
    let mut digits = digits.get(..4)?.iter().map(|digit| hex(*digit));
    let code = digits.try_fold(0, |code, digit| Some(code << 4 | u32::from(digit?)))?;
    char::from_u32(code)
}

/// The byte of the escape that `input` begins with.
#[must_use]
pub fn escape(input: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = *input else { return None };
    Some(hex(high)? << 4 | hex(low)?)
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_is_wanted_and_keeps_the_rest() {
        assert_eq!(decode(b"/a%2Fb%20c", true, |b| b != b'/'), Ok(b"/a%2Fb c".to_vec()));
        assert_eq!(decode(b"100%", true, |_| true), Err(Fault::Malformed));
        assert_eq!(decode(b"100%zz", false, |_| true), Ok(b"100%zz".to_vec()));
        assert_eq!(decode(b"/a%00", false, |_| true), Err(Fault::Control));
    }

    #[test]
    fn leniently_every_escape_is_decoded_and_the_rest_stays() {
        assert_eq!(decode_leniently(b"%69%64%00%zz%"), b"id\0%zz%");
        assert_eq!(decode_leniently(b"%u0069%U0064%u00%ud800"), b"id%u00%ud800");
    }
}
