//! Forms and queries (`application/x-www-form-urlencoded`, WHATWG URL standard, section 5).

/// The first value of `name`, decoded; bytes that are not UTF-8 become replacement characters.
pub(super) fn value(form: &str, name: &str) -> Option<String> {
    let pairs = form.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs
        .map(|(key, value)| (decode(key), value))
        .find(|(key, _)| key == name)
        .map(|(_, value)| decode(value))
}

/// `text` so that it can stand as a value in a query or form.
pub(super) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.extend([byte >> 4, byte & 15].map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])));
        }
    }
    encoded
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'+', _) => (b' ', after),
            (b'%', [high, low, beyond @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, beyond),
                _ => (first, after),
            },
            _ => (first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn digit(character: u8) -> Option<u8> {
    char::from(character)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_read_back(text in ".{0,40}", other in ".{0,10}") {
            let form = format!("other={}&text={}", encode(&other), encode(&text));
            prop_assert_eq!(value(&form, "text"), Some(text));
        }

        #[test]
        fn any_form_is_read_without_a_panic(form in "[a%=&+0-9é]{0,40}") {
            let _read = value(&form, "a");
        }
    }

    #[test]
    fn broken_escapes_stand_for_themselves() {
        assert_eq!(value("a=%4&b=%zz&c=%C3%A9+%21", "a").as_deref(), Some("%4"));
        assert_eq!(value("a=%4&b=%zz&c=%C3%A9+%21", "b").as_deref(), Some("%zz"));
        assert_eq!(value("a=%4&b=%zz&c=%C3%A9+%21", "c").as_deref(), Some("é !"));
        assert_eq!(value("a", "a").as_deref(), Some(""));
        assert_eq!(value("a=1", "b"), None);
    }
}
