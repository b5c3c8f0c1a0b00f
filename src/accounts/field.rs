//! The field of one form or JSON object that says who joins.

use super::Identity;
use super::json::{Object, name_of};
use crate::names::form::{self, Kind};

/// Longest body that is read for a field; a request with a longer one is refused.
pub const MAX_BODY: usize = 16 * 1024;

/// Why a body names no account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoField {
    /// Its type is not supported, or is declared in a way that stacks read differently.
    #[error("the body is in no type that names an account")]
    Type,
    /// The field is missing, empty, doubled, or spelled so that stacks read different values.
    #[error("the body does not name one account")]
    Malformed,
}

/// The account that the field `name` of a whole body says. Urlencoded and multipart forms, and JSON objects (RFC 8259), in UTF-8.
///
/// SECURITY: names none unless every stack reads that account in the body: a visitor could otherwise join under an
/// account that the shop never hears of.
pub fn field_of(kind: &Kind, body: &[u8], name: &str) -> Result<Identity, NoField> {
    let text = match kind {
        Kind::Urlencoded | Kind::Multipart(_) => {
            let value = form::value_of(kind, body, true, name).map_err(|_| NoField::Malformed)?;
            let once = value.filter(|value| value.times == 1);
            once.and_then(|value| String::from_utf8(value.bytes).ok())
        }
        Kind::Json => Object::read(body).and_then(|object| name_of(object.sole(name)?)),
        Kind::Untyped | Kind::Unclear | Kind::Other => return Err(NoField::Type),
    };
    let text = text.filter(|text| !text.contains(|c: char| c.is_control()));
    text.and_then(|text| Identity::new(&text)).ok_or(NoField::Malformed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(kind: &Kind, body: &str) -> Result<Identity, NoField> {
        field_of(kind, body.as_bytes(), "email")
    }

    fn ann() -> Result<Identity, NoField> {
        Identity::new("ann@shop.example").ok_or(NoField::Malformed)
    }

    #[test]
    fn a_form_names_who_its_one_field_says() {
        for body in [
            "email=ann%40shop.example&seat=7",
            "seat=7&email=ann@shop.example",
            "%65mail=+ann%40shop.example+",
            "EMail=ann@shop.example",
        ] {
            assert_eq!(of(&Kind::Urlencoded, body), ann(), "{body}");
        }
        for nobody in [
            "",
            "seat=7",
            "email=",
            "email",
            "email=a&email=b",
            "email=a&email=a",
            "email=a&%20email=b",
            "email=a&email%00=b",
            "email=a&email[]=b",
            "email=a&[email]=b",
            "email=a&EMAIL=b",
            "email=a;email=b",
            "email=%",
            "email=%zz",
            "email=%ff",
            "email=a%00",
            "emails=a",
        ] {
            assert_eq!(of(&Kind::Urlencoded, nobody), Err(NoField::Malformed), "{nobody}");
        }
    }

    #[test]
    fn a_multipart_form_names_who_its_one_part_says() {
        let kind = Kind::Multipart("b0".to_owned());
        let part = |name: &str, value: &str| {
            format!("--b0\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let end = "--b0--\r\n";
        let own = part("email", "ann@shop.example");
        assert_eq!(of(&kind, &format!("{}{own}{end}", part("seat", "7"))), ann());
        for nobody in [
            end.to_owned(),
            own.clone(),
            format!("{own}{own}{end}"),
            format!("{own}{}{end}", part("email", "bob")),
            format!("{own}{}{end}", part("email[]", "bob")),
            format!("{own}{}{end}", part("email\"; filename=\"a", "bob")),
        ] {
            assert_eq!(of(&kind, &nobody), Err(NoField::Malformed), "{nobody}");
        }
    }

    #[test]
    fn an_object_names_who_its_one_member_says() {
        for body in [
            r#"{"email":"ann@shop.example"}"#,
            r#"{"\u0065MAIL":"ann@shop.example","user":{"email":"bob"}}"#,
        ] {
            assert_eq!(of(&Kind::Json, body), ann(), "{body}");
        }
        assert_eq!(
            of(&Kind::Json, r#"{"email":17}"#),
            Identity::new("17").ok_or(NoField::Malformed)
        );
        for nobody in [
            r#"{"email":"ann","email":"bob"}"#,
            r#"{"email":"ann","\u0065mail":"bob"}"#,
            r#"{"email":"ann","Email":"bob"}"#,
            r#"{"email":"ann","ema\u0131l":"bob"}"#,
            r#"{"email":["ann"]}"#,
            r#"{"email":null}"#,
            r#"{"email":9007199254740993}"#,
            r#"{"email":"ann\u0000bob"}"#,
            r#"[{"email":"ann"}]"#,
            r#"{"of":{"email":"ann"}}"#,
            "\u{FEFF}{\"email\":\"ann\"}",
            r"{'email':'ann'}",
            r#"{"email":"ann",}"#,
            r#"{"email":"ann"/**/}"#,
            "email=ann",
        ] {
            assert_eq!(of(&Kind::Json, nobody), Err(NoField::Malformed), "{nobody}");
        }
    }

    #[test]
    fn other_types_are_not_read() {
        for kind in [Kind::Untyped, Kind::Unclear, Kind::Other] {
            assert_eq!(of(&kind, "email=ann"), Err(NoField::Type));
        }
    }

    proptest! {
        #[test]
        fn any_name_comes_back_from_a_form_and_from_an_object(name in "\\PC{1,40}") {
            let identity = Identity::new(&name).ok_or(NoField::Malformed);
            let escaped = name.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02x}"));
            prop_assert_eq!(of(&Kind::Urlencoded, &format!("a=b&email={escaped}")), identity.clone());
            let object = serde_json::json!({ "email": name }).to_string();
            prop_assert_eq!(of(&Kind::Json, &object), identity);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(body: Vec<u8>) {
            for kind in [Kind::Urlencoded, Kind::Json, Kind::Multipart("b".to_owned())] {
                let _ = field_of(&kind, &body, "email");
            }
        }
    }
}
