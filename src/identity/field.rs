//! The field of one form or JSON object that says who joins.

use super::Identity;
use super::json::{Object, name_of};

/// Longest body that is read for a field; a longer one names nobody and goes on to the shop as it came.
pub const MAX_BODY: usize = 16 * 1024;

/// Who the field `name` of a body says it is; `None` for another type of body, an absent, empty or repeated field, and text
/// that does not decode. Forms are read by the URL standard (application/x-www-form-urlencoded), JSON by RFC 8259.
#[must_use]
pub fn field_of(content_type: &str, body: &[u8], name: &str) -> Option<Identity> {
    let (kind, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    let kind = kind.trim_ascii().to_ascii_lowercase();
    if body.len() > MAX_BODY || !is_utf8(parameters) {
        return None;
    }
    match kind.as_str() {
        "application/x-www-form-urlencoded" => of_form(std::str::from_utf8(body).ok()?, name),
        "application/json" => name_of(Object::read(body)?.get(name)?).and_then(|text| Identity::new(&text)),
        _ => None,
    }
}

/// The text is in UTF-8, as far as its type says.
fn is_utf8(parameters: &str) -> bool {
    parameters
        .split(';')
        .filter_map(|parameter| parameter.split_once('='))
        .filter(|(key, _)| key.trim_ascii().eq_ignore_ascii_case("charset"))
        .all(|(_, charset)| {
            let charset = charset.trim_ascii().trim_matches('"');
            charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
        })
}

fn of_form(form: &str, name: &str) -> Option<Identity> {
    let mut found = None;
    for pair in form.split('&') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        // A name that does not decode might be the field's to whoever decodes it otherwise.
        if decoded(key)? != name {
            continue;
        }
        if found.replace(decoded(value)?).is_some() {
            return None;
        }
    }
    found.and_then(|text| Identity::new(&text))
}

/// Without percent-encoding and `+`; `None` for a broken escape or what is no UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => digit(bytes.next()?)? * 16 + digit(bytes.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(out).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FORM: &str = "application/x-www-form-urlencoded";
    const JSON: &str = "application/json";

    fn of(content_type: &str, body: &str) -> Option<Identity> {
        field_of(content_type, body.as_bytes(), "email")
    }

    #[test]
    fn a_form_names_who_its_one_field_says() {
        for body in [
            "email=ann%40shop.example&seat=7",
            "seat=7&email=ann@shop.example",
            "%65mail=+ann%40shop.example+",
        ] {
            assert_eq!(of(FORM, body), Identity::new("ann@shop.example"), "{body}");
        }
        for nobody in [
            "",
            "seat=7",
            "email=",
            "email",
            "email=a&email=b",
            "email=a&email=a",
            "email=a&%65mail=a",
            "email=%",
            "email=%zz",
            "email=%ff",
            "%=1&email=a",
            "emails=a",
        ] {
            assert_eq!(of(FORM, nobody), None, "{nobody}");
        }
    }

    #[test]
    fn an_object_names_who_its_one_member_says() {
        assert_eq!(of(JSON, r#"{"email":"ann"}"#), Identity::new("ann"));
        assert_eq!(of(JSON, r#"{"email":17}"#), Identity::new("17"));
        for nobody in [
            r#"{"email":"ann","email":"bob"}"#,
            r#"{"email":"ann","\u0065mail":"bob"}"#,
            r#"{"email":["ann"]}"#,
            r#"{"email":null}"#,
            r#"[{"email":"ann"}]"#,
            r#"{"of":{"email":"ann"}}"#,
            "email=ann",
        ] {
            assert_eq!(of(JSON, nobody), None, "{nobody}");
        }
    }

    #[test]
    fn only_the_two_types_are_read_and_only_in_utf_8() {
        let form = "email=ann";
        for good in [
            FORM,
            "Application/X-WWW-Form-URLencoded; charset=UTF-8",
            "application/x-www-form-urlencoded;charset=\"utf-8\"",
        ] {
            assert_eq!(of(good, form), Identity::new("ann"), "{good}");
        }
        for other in [
            "multipart/form-data; boundary=x",
            "text/plain",
            "",
            "application/x-www-form-urlencoded; charset=utf-16",
            "application/json",
        ] {
            assert_eq!(of(other, form), None, "{other}");
        }
        let long = format!("email=ann&rest={}", "x".repeat(MAX_BODY));
        assert_eq!(of(FORM, &long), None);
    }

    proptest! {
        #[test]
        fn any_name_comes_back_from_a_form_and_from_an_object(name in "\\PC{1,40}") {
            let identity = Identity::new(&name);
            let escaped = name.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02x}"));
            prop_assert_eq!(of(FORM, &format!("a=b&email={escaped}")), identity.clone());
            let object = serde_json::json!({ "email": name }).to_string();
            prop_assert_eq!(of(JSON, &object), identity);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(body: Vec<u8>) {
            let _ = field_of(FORM, &body, "email");
            let _ = field_of(JSON, &body, "email");
        }
    }
}
