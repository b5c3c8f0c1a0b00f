//! What a body is, by its head, and the value that every stack reads under a name in a form.
//!
//! Stacks choose a parser by `Content-Type` and disagree where it is doubled, unusual or missing: PHP ends the type at a comma or a
//! space, Rack takes a body without a type for a form and any `multipart/*` for one, Django decodes even a query by `charset`.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::multipart::{self, Broken};
use super::parameter::{self, Doubtful, Spelling, Value, spelling};

/// What the body of a request is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `application/x-www-form-urlencoded`.
    Urlencoded,
    /// `multipart/form-data`, with its boundary.
    Multipart(String),
    /// `application/json`.
    Json,
    /// No type is said: some stacks take it for a form.
    Untyped,
    /// A form to some stack, in a type, charset or coding that others read otherwise.
    Unclear,
    /// No stack takes it for a form.
    Other,
}

impl Kind {
    /// As the head says.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let mut lines = headers.get_all(CONTENT_TYPE).iter();
        let kind = match (lines.next(), lines.next()) {
            (None, _) => Self::Untyped,
            (Some(line), None) => line.to_str().map_or(Self::Unclear, kind),
            (Some(_), Some(_)) => Self::Unclear,
        };
        // Express and others unpack a body before they parse it.
        if !headers.contains_key(CONTENT_ENCODING) {
            return kind;
        }
        match kind {
            Self::Urlencoded | Self::Multipart(_) | Self::Unclear => Self::Unclear,
            Self::Json | Self::Untyped | Self::Other => Self::Other,
        }
    }

    fn is_form(&self) -> bool {
        matches!(self, Self::Urlencoded | Self::Multipart(_) | Self::Untyped)
    }
}

fn kind(text: &str) -> Kind {
    let mut parts = text.split(';').map(str::trim_ascii);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let parameters: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    if essence.is_empty() {
        return Kind::Untyped;
    }
    match (essence.as_str(), boundary(&parameters)) {
        ("application/x-www-form-urlencoded", Ok(None)) => Kind::Urlencoded,
        // Programs in PHP look for these letters themselves.
        ("application/json", Ok(None)) if text.starts_with(&essence) => Kind::Json,
        ("multipart/form-data", Ok(Some(boundary))) => Kind::Multipart(boundary),
        (other, _)
            if ["form-urlencoded", "form-data", "multipart/"]
                .iter()
                .any(|own| other.contains(own)) =>
        {
            Kind::Unclear
        }
        _ => Kind::Other,
    }
}

/// The one boundary that all stacks read, if there is any; doubtful where they may differ about it or about the charset.
fn boundary(parameters: &[&str]) -> Result<Option<String>, Doubtful> {
    let mut boundary = None;
    let mut charsets = 0;
    for parameter in parameters {
        let (name, value) = parameter.split_once('=').ok_or(Doubtful)?;
        let name = name.trim_ascii().to_ascii_lowercase();
        let value = value.trim_ascii();
        let value = value
            .strip_prefix('"')
            .map_or(Some(value), |rest| rest.strip_suffix('"'))
            .ok_or(Doubtful)?;
        match name.as_str() {
            "boundary" => {
                let fits = (1..=MAX_BOUNDARY).contains(&value.len()) && value.bytes().all(is_boundary);
                if !fits || boundary.replace(value.to_owned()).is_some() {
                    return Err(Doubtful);
                }
            }
            "charset" => {
                charsets += 1;
                if charsets > 1 || !is_utf8(value) {
                    return Err(Doubtful);
                }
            }
            // RFC 2231: `charset*`, `boundary*0`.
            name if name.contains('*') => return Err(Doubtful),
            _ => {}
        }
    }
    Ok(boundary)
}

/// The value that every stack reads under `name` in a form of this kind, of which `body` is the beginning or the `whole`; `None`
/// where no stack reads any, or it is no form.
///
/// # Errors
/// When stacks may read different values, or the kind is [unclear](Kind::Unclear).
pub fn value_of(kind: &Kind, body: &[u8], whole: bool, name: &str) -> Result<Option<Value>, Doubtful> {
    if *kind == Kind::Unclear {
        return Err(Doubtful);
    }
    if !kind.is_form() {
        return Ok(None);
    }
    let value = read(kind, body, whole, name)?;
    // HTML, 4.10.21.4: the field in which a form says its charset. Some stacks decode by it.
    match read(kind, body, whole, "_charset_")? {
        Some(charset) if !std::str::from_utf8(&charset.bytes).is_ok_and(is_utf8) => Err(Doubtful),
        _ => Ok(value),
    }
}

fn read(kind: &Kind, body: &[u8], whole: bool, name: &str) -> Result<Option<Value>, Doubtful> {
    if let Kind::Multipart(boundary) = kind {
        return of_parts(boundary, body, whole, name);
    }
    let end = body.iter().rposition(|byte| matches!(byte, b'&' | b';'));
    let pairs = if whole { body } else { &body[..end.unwrap_or(0)] };
    parameter::value_of(pairs, name)
}

fn of_parts(boundary: &str, body: &[u8], whole: bool, name: &str) -> Result<Option<Value>, Doubtful> {
    let mut found: Option<Value> = None;
    for part in multipart::parts(body, boundary.as_bytes()) {
        let part = match part {
            Ok(part) => part,
            Err(Broken::Cut) if !whole => break,
            Err(_) => return Err(Doubtful),
        };
        // A name is not encoded here; some stacks decode it all the same.
        if part.name.eq_ignore_ascii_case(name.as_bytes()) {
            let differs = found.as_ref().is_some_and(|other| other.bytes != part.value);
            if differs || part.is_file || !part.is_plain {
                return Err(Doubtful);
            }
            let times = found.map_or(1, |other| other.times + 1);
            found = Some(Value {
                bytes: part.value.to_vec(),
                times,
            });
        } else if spelling(part.name, name) != Spelling::Other {
            return Err(Doubtful);
        }
    }
    Ok(found)
}

/// Whether every stack decodes a query alike: Django and ASP.NET do so by the charset that `Content-Type` says, in which
/// letters of ASCII may be written otherwise (UTF-7, UTF-16, EBCDIC, ISO 2022).
#[must_use]
pub fn is_query_plain(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_TYPE).iter().all(|line| {
        let lower = line.as_bytes().to_ascii_lowercase();
        let text = String::from_utf8_lossy(&lower);
        let charsets = text.split([';', ',']).filter_map(|part| part.split_once('='));
        let mut charsets = charsets.filter(|(name, _)| name.trim_ascii().starts_with("charset"));
        charsets.all(|(name, value)| name.trim_ascii() == "charset" && has_ascii(value.trim_ascii().trim_matches('"')))
    })
}

/// Charsets in which what reads as ASCII is ASCII.
fn has_ascii(charset: &str) -> bool {
    let families = ["iso-8859-", "windows-125", "koi8-", "euc-"];
    let others = [
        "us-ascii",
        "ascii",
        "latin1",
        "shift_jis",
        "big5",
        "gbk",
        "gb2312",
        "gb18030",
        "ks_c_5601-1987",
    ];
    is_utf8(charset) || others.contains(&charset) || families.iter().any(|family| charset.starts_with(family))
}

fn is_utf8(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

/// RFC 2046, section 5.1.1, without the space and what would have to be quoted by some.
fn is_boundary(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"'()+_,-./:=?".contains(&byte)
}

const MAX_BOUNDARY: usize = 70;

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn head(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let lines = lines
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut head = HeaderMap::new();
        head.extend(lines);
        head
    }

    fn typed(kind: &'static str) -> Kind {
        Kind::of(&head(&[("content-type", kind)]))
    }

    #[test]
    fn a_body_is_what_every_stack_takes_it_for_or_unclear() {
        for kind in [
            "application/x-www-form-urlencoded",
            " Application/X-WWW-Form-URLencoded ; charset=UTF-8;",
            "application/x-www-form-urlencoded; charset=\"utf-8\"",
        ] {
            assert_eq!(typed(kind), Kind::Urlencoded, "{kind}");
        }
        assert_eq!(typed("application/json;charset=utf8"), Kind::Json);
        assert_eq!(
            typed("multipart/form-data; boundary=\"a-b\""),
            Kind::Multipart("a-b".to_owned())
        );
        assert_eq!((Kind::of(&HeaderMap::new()), typed("")), (Kind::Untyped, Kind::Untyped));
        for kind in [
            "application/x-www-form-urlencoded, text/plain",
            "application/x-www-form-urlencoded text",
            "application/x-www-form-urlencoded; charset=utf-16",
            "application/x-www-form-urlencoded; charset=utf-7",
            "application/x-www-form-urlencoded; charset=utf-8; charset=utf-7",
            "application/x-www-form-urlencoded; charset*=utf-8\'\'utf-7",
            "multipart/form-data",
            "multipart/form-data; boundary=a; boundary=b",
            "multipart/form-data; boundary=\"a",
            "multipart/form-data; boundary=a b",
            "multipart/form-data; boundary*0=a",
            "multipart/mixed; boundary=a",
        ] {
            assert_eq!(typed(kind), Kind::Unclear, "{kind}");
        }
        for kind in [
            "text/plain",
            "application/json; charset=utf-16",
            "application/x-platform",
            "image/png",
            "Application/JSON",
        ] {
            assert_eq!(typed(kind), Kind::Other, "{kind}");
        }
        let form = ("content-type", "application/x-www-form-urlencoded");
        assert_eq!(Kind::of(&head(&[form, ("content-type", "text/plain")])), Kind::Unclear);
        assert_eq!(Kind::of(&head(&[form, ("content-encoding", "gzip")])), Kind::Unclear);
    }

    #[test]
    fn a_query_is_plain_unless_a_charset_writes_letters_otherwise() {
        let plain = |kind| is_query_plain(&head(&[("content-type", kind)]));
        for kind in [
            "",
            "text/plain",
            "a/b; charset=UTF-8",
            "a/b; charset=euc-kr",
            "a/b; charset=\"windows-1251\"",
            "multipart/form-data; boundary=x",
        ] {
            assert!(plain(kind), "{kind}");
        }
        for kind in [
            "a/b; charset=utf-7",
            "a/b;charset=UTF-16LE",
            "a/b; charset=cp037",
            "a/b; charset=iso-2022-jp",
            "a/b; charset*=a",
            "a/b; charset=utf-8; charset=utf-7",
            "a, b; charset =utf-7",
        ] {
            assert!(!plain(kind), "{kind}");
        }
        assert!(is_query_plain(&HeaderMap::new()));
    }

    const BOUNDARY: &str = "b0";

    fn of(kind: &Kind, body: &str, whole: bool) -> Result<Option<String>, Doubtful> {
        let value = value_of(kind, body.as_bytes(), whole, "id")?;
        Ok(value.map(|value| String::from_utf8(value.bytes).unwrap()))
    }

    fn part(field: &str, value: &str) -> String {
        format!("--{BOUNDARY}\r\n{field}\r\n\r\n{value}\r\n")
    }

    #[test]
    fn a_form_has_the_value_that_all_read() {
        assert_eq!(of(&Kind::Urlencoded, "a=1&id=7", true), Ok(Some("7".to_owned())));
        assert_eq!(of(&Kind::Untyped, "id=7", true), Ok(Some("7".to_owned())));
        assert_eq!(of(&Kind::Json, "id=7", true), Ok(None));
        assert_eq!(of(&Kind::Unclear, "", true), Err(Doubtful));
        assert_eq!(of(&Kind::Urlencoded, "id=7&_charset_=utf-7", true), Err(Doubtful));
        assert_eq!(
            of(&Kind::Urlencoded, "id=7&_charset_=UTF-8", true),
            Ok(Some("7".to_owned()))
        );
        assert_eq!(
            of(&Kind::Urlencoded, "a=1&id=7", false),
            Ok(None),
            "what may go on is left out"
        );
        assert_eq!(of(&Kind::Urlencoded, "id=7&a=1", false), Ok(Some("7".to_owned())));
        assert_eq!(of(&Kind::Urlencoded, "\u{FEFF}id=7", true), Err(Doubtful));
    }

    #[test]
    fn a_multipart_form_has_the_value_that_all_read() {
        let kind = Kind::Multipart(BOUNDARY.to_owned());
        let own = part("Content-Disposition: form-data; name=\"id\"", "7");
        let file = part(
            "Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png",
            "\u{0}\u{1}",
        );
        let end = format!("--{BOUNDARY}--\r\n");
        assert_eq!(
            of(&kind, &format!("{file}{own}{own}{end}"), true),
            Ok(Some("7".to_owned()))
        );
        assert_eq!(of(&kind, &format!("{file}{end}"), true), Ok(None));
        let cut = format!("{own}{file}");
        for length in own.len() + "--b0".len()..cut.len() {
            assert_eq!(of(&kind, &cut[..length], false), Ok(Some("7".to_owned())), "{length}");
            assert_eq!(of(&kind, &cut[..length], true), Err(Doubtful), "{length}");
        }
        for field in [
            "Content-Disposition: form-data; name=\"id[]\"",
            "Content-Disposition: form-data; name=\"[id]\"",
            "Content-Disposition: form-data; name=\"%69d\"",
            "Content-Disposition: form-data; name=\" id\"",
            "Content-Disposition: form-data; name=\"id\"; filename=\"x\"",
            "Content-Disposition: form-data; name=\"a\"; name=\"id\"",
            "Content-Disposition: form-data; name*=utf-8\'\'id",
            "Content-Disposition: form-data; name=\"a\"; filename=\"\\\"; name=\"id\"",
            "Content-Disposition: form-data; name=\"a\"\nContent-Disposition: form-data; name=\"id\"",
            "Content-Disposition: form-data;\r\n name=\"id\"",
            "Content-Disposition: form-data; name=\"a\"\r\nContent_Disposition: form-data; name=\"id\"",
            "Content-Disposition: form-data; name=\"id\"\r\nContent-Type: text/plain; charset=utf-7",
            "Content-Disposition: form-data; name=\"id\"\r\nContent-Transfer-Encoding: base64",
            "Content-Disposition: attachment; name=\"id\"",
            "X: y",
        ] {
            let body = format!("{own}{}{end}", part(field, "7"));
            assert_eq!(of(&kind, &body, true), Err(Doubtful), "{field}");
        }
        let other = part("Content-Disposition: form-data; name=\"id\"", "8");
        let hidden = part(
            "Content-Disposition: form-data; name=\"a\"",
            &format!("x\n--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n8"),
        );
        for body in [
            format!("{own}{other}{end}"),
            format!("{own}{hidden}{end}"),
            format!("x{own}{end}"),
            format!("{own}{end}{other}"),
            own.clone(),
        ] {
            assert_eq!(of(&kind, &body, true), Err(Doubtful), "{body}");
        }
    }
}
