//! Percent signs in a URL's user name, password and master name (RFC 3986, section 2.1).

/// The text with every `%xx` replaced; `None` when one is cut short or no hexadecimal, or the result is not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            decoded.push(digit(bytes.next()?)? << 4 | digit(bytes.next()?)?);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_decoded_or_refused() {
        assert_eq!(decode("a%2fb%C3%A9%25").as_deref(), Some("a/bé%"));
        for broken in ["%", "%2", "%zz", "%ff", "a%+1"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }
}
