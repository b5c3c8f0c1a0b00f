//! The type of a body, by its head, and the value of a name in a form, as every stack reads it.
//!
//! Stacks choose a parser by `Content-Type` and disagree where it is doubled, unusual or missing: PHP ends the type at a comma or a
//! space, Rack takes a body without a type for a form and any `multipart/*` for one, Django decodes even a query by `charset`.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::multipart::{self, Broken};
use super::parameter::{self, Value};
use super::spelling::{Doubtful, Finder, Spelling, is_own};

/// The kind of a request's body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `application/x-www-form-urlencoded`.
    Urlencoded,
    /// `multipart/form-data`, with its boundary.
    Multipart(String),
    /// `application/json`.
    Json,
    /// Without a type: some stacks take it for a form.
    Untyped,
    /// A form to some stack, in a type, charset or coding that others read otherwise.
    Unclear,
    /// No stack takes it for a form, but one that takes any body for one.
    Other,
}

impl Kind {
    /// The kind by the head.
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

    /// Its beginning is read as a form.
    #[must_use]
    pub fn is_read(&self) -> bool {
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
        _ if FORMS.iter().any(|own| text.to_ascii_lowercase().contains(own)) => Kind::Unclear,
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
                // PHP uses the first of these letters, Rack the last before an equals sign that follows at once.
                let fits = (1..=MAX_BOUNDARY).contains(&value.len()) && value.bytes().all(is_boundary);
                if !fits || parameter.contains([' ', '\t']) || boundary.replace(value.to_owned()).is_some() {
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
            // In another's name, or in its value.
            _ if parameter.to_ascii_lowercase().contains("boundary") => return Err(Doubtful),
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
    if !kind.is_read() {
        return Ok(None);
    }
    let value = read(kind, body, whole, name)?;
    // HTML, 4.10.21.4: the field in which a form names its charset. Some stacks decode by it.
    match read(kind, body, whole, "_charset_")? {
        Some(charset) if !std::str::from_utf8(&charset.bytes).is_ok_and(is_utf8) => Err(Doubtful),
        _ => Ok(value),
    }
}

/// Whether a body whose type is not a form's has a value other than `own` under `name` if it is read as a form anyway, as by
/// Bottle, in the name's own spelling. A value with a quotation mark is the end of a text in JSON and does not count.
#[must_use]
pub fn says_otherwise(body: &[u8], whole: bool, name: &str, own: Option<&[u8]>) -> bool {
    let body = whole_pairs(body, whole);
    // Poco leaves a byte-order mark out.
    let body = body.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(body);
    let differs = |pair: &[u8]| {
        let pair = parameter::without_equals(pair);
        let at = memchr::memchr(b'=', pair).unwrap_or(pair.len());
        let value = pair.get(at + 1..).unwrap_or_default();
        is_own(&pair[..at], name) && !value.contains(&b'"') && parameter::decoded(value).as_deref() != own
    };
    body.split(|byte| *byte == b'&').any(differs) || body.split(|byte| matches!(byte, b'&' | b';')).any(differs)
}

fn read(kind: &Kind, body: &[u8], whole: bool, name: &str) -> Result<Option<Value>, Doubtful> {
    if let Kind::Multipart(boundary) = kind {
        return of_parts(boundary, body, whole, name);
    }
    parameter::value_of(whole_pairs(body, whole), name)
}

/// Without a last pair that may be cut.
fn whole_pairs(body: &[u8], whole: bool) -> &[u8] {
    let end = body.iter().rposition(|byte| matches!(byte, b'&' | b';'));
    if whole { body } else { &body[..end.unwrap_or(0)] }
}

fn of_parts(boundary: &str, body: &[u8], whole: bool, name: &str) -> Result<Option<Value>, Doubtful> {
    let mut found: Option<Value> = None;
    let mut finder = Finder::new(name);
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
        } else if finder.spelling(part.name)? != Spelling::Other {
            return Err(Doubtful);
        }
    }
    Ok(found)
}

/// Whether every stack decodes a query in the same way: Django and ASP.NET do so by the charset in `Content-Type`, in which
/// letters of ASCII may have other bytes (UTF-7, UTF-16, EBCDIC, ISO 2022).
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

/// Charsets in which bytes of ASCII mean ASCII.
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

/// Bytes of a boundary that all stacks accept. Of the others that RFC 2046, section 5.1.1, allows, PHP, Rack and Werkzeug end
/// a boundary at a comma, and Werkzeug at `( ) / : = ?`: then a body has two readings. Browsers and libraries send none of
/// them.
fn is_boundary(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

const MAX_BOUNDARY: usize = 70;

/// By which some stack takes a type for a form's, wherever they stand: Mojolicious looks for them in parameters too, Quart takes
/// `application/x-url-encoded`, and `CherryPy` `multipart` alone.
const FORMS: [&str; 4] = ["urlencoded", "url-encoded", "form-data", "multipart"];

#[cfg(test)]
mod tests;
