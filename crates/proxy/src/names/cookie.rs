//! The value of a cookie that the gate decides by.
//!
//! Stacks differ. They split a `Cookie` line at `;`, some at `,` and white space too. They take a doubled name's first value
//! or its last. PHP keeps a space behind a name and makes `sid[]` an array. PHP, Rack and Express decode a value, Werkzeug
//! and Tomcat remove quotes, and Django does neither. So only one name counts, exactly as configured, with a value that has
//! one spelling.

use std::borrow::Cow;

use super::percent;
use super::spelling::{Doubtful, Finder, Spelling};

/// The value that every stack reads under `name` in the `Cookie` lines of a request, with its escapes decoded, so that an account is
/// the same to stacks that decode and to those that do not; `None` where no stack reads any, letter case apart.
///
/// # Errors
/// When a stack may read another value, or none.
pub fn value_of<'l>(lines: impl Iterator<Item = &'l [u8]>, name: &str) -> Result<Option<Cow<'l, str>>, Doubtful> {
    let (mut found, mut prefixed, mut other_case, mut count) = (None, None, None, 0);
    let mut finder = Finder::new(name);
    for line in lines {
        count += 1;
        for piece in line.split(|byte| *byte == b';') {
            let piece = &piece[piece.iter().take_while(|byte| **byte == b' ').count()..];
            let bare = without_prefix(piece);
            let value = |piece: &'l [u8]| piece.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
            match (value(piece), value(bare)) {
                (Some(value), _) if found.is_some_and(|own| own != value) => return Err(Doubtful),
                (Some(value), _) => found = Some(value),
                (None, Some(value)) if prefixed.is_some_and(|other| other != value) => return Err(Doubtful),
                (None, Some(value)) => prefixed = Some(value),
                (None, None) => other_case = mentioned(bare, &mut finder)?.or(other_case),
            }
        }
    }
    if prefixed.is_some() && prefixed != found {
        return Err(Doubtful);
    }
    let Some(value) = found else { return Ok(None) };
    if count > 1 || other_case.is_some_and(|other| other != value) {
        return Err(Doubtful);
    }
    plain(value).map(Some).ok_or(Doubtful)
}

/// A piece without `__Host-` or `__Secure-` (RFC 6265bis, section 4.1.3): Sanic reads a name with one before the name itself.
fn without_prefix(piece: &[u8]) -> &[u8] {
    let behind = |prefix: &[u8]| {
        let (begin, rest) = piece.split_at_checked(prefix.len())?;
        begin.eq_ignore_ascii_case(prefix).then_some(rest)
    };
    behind(b"__host-").or_else(|| behind(b"__secure-")).unwrap_or(piece)
}

/// The value of the name in another letter case in a piece that has not the name itself; doubtful where some stack reads the name.
fn mentioned<'l>(piece: &'l [u8], finder: &mut Finder<'_>) -> Result<Option<&'l [u8]>, Doubtful> {
    let mut other_case = None;
    for (at, part) in piece.split(|byte| matches!(byte, b',' | b' ' | b'\t')).enumerate() {
        let lead = part.iter().take_while(|byte| **byte == b'=').count();
        let part = &part[lead..];
        let end = part.iter().position(|byte| *byte == b'=');
        let name = &part[..end.unwrap_or(part.len())];
        let quoted = |byte: &u8| matches!(byte, b'"' | b'$');
        let start = name.iter().take_while(|byte| quoted(byte)).count();
        let name = &name[start..];
        let name = &name[..name.len() - name.iter().rev().take_while(|byte| quoted(byte)).count()];
        if finder.spelling(name)? == Spelling::Other {
            continue;
        }
        // Only the whole name of a whole piece differs by nothing but case.
        let is_cased =
            at == 0 && lead == 0 && start == 0 && finder.is_in_other_case(name) && name.len() == end.unwrap_or(0);
        if !is_cased {
            return Err(Doubtful);
        }
        other_case = end.map(|end| &piece[end + 1..]);
    }
    Ok(other_case)
}

/// A value that no stack unquotes, splits or decodes otherwise than others; its escapes decoded.
fn plain(value: &[u8]) -> Option<Cow<'_, str>> {
    // Perl's CGI.pm parts a value at `&`.
    let fits = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b'\\' | b'&');
    if !value.iter().all(fits) {
        return None;
    }
    let mut rest = value;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let byte = percent::escape(&rest[at..])?;
        // A byte that needs no escape would have two spellings.
        if byte.is_ascii_alphanumeric() || b"-._~ ".contains(&byte) || byte.is_ascii_control() {
            return None;
        }
        rest = &rest[at + 3..];
    }
    if rest.len() == value.len() {
        return std::str::from_utf8(value).ok().map(Cow::Borrowed);
    }
    String::from_utf8(percent::decode_leniently(value)).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Result<Option<String>, Doubtful> {
        value_of(lines.iter().map(|line| line.as_bytes()), "sid").map(|value| value.map(Cow::into_owned))
    }

    #[test]
    fn a_cookie_counts_by_its_own_name_and_one_value() {
        for line in [
            "sid=abc",
            "a=1; sid=abc; b=2",
            "sid=abc;sid=abc",
            "sid=abc; SID=abc",
            "sid=abc; __Host-sid=abc",
            "a=x,y z; sid=abc",
            "a; sid=abc",
        ] {
            assert_eq!(of(&[line]), Ok(Some("abc".to_owned())), "{line}");
        }
        assert_eq!(of(&["sid=s%3Aabc.x%2By/z+=="]), Ok(Some("s:abc.x+y/z+==".to_owned())));
        for none in [
            "",
            "a=1; b=2",
            "sids=1; a=sid",
            "SID=abc",
            "sid2=x;__Host-sids=y",
            "a=1; b=\"x sids=2\"",
        ] {
            assert_eq!(of(&[none]), Ok(None), "{none}");
        }
        assert_eq!(of(&["a=1", "b=2"]), Ok(None));
    }

    #[test]
    fn what_some_stack_reads_otherwise_is_doubtful() {
        for line in [
            "sid=a; sid=b",
            "sid=a&b",
            "sid=a; SID=b",
            "sid=a; __Host-sid=b",
            "__Secure-sid=b; sid=a",
            "sid=a; __host-SID=b",
            "__Host-sid=a",
            "sid=a; __Host-sid=a; __Secure-sid=b",
            "sid =a",
            " sid=a; sid\t=b",
            "sid[]=a",
            "sid=a; sid[x]=b",
            "s%69d=a",
            "sid%00=a",
            "\"sid\"=a",
            "$sid=a",
            "=sid=a",
            "=sid",
            "sid",
            "sid; sid=a",
            "x=1, sid=a",
            "x=1 sid=a",
            "\tsid=a",
            "sid=a b",
            "sid=\"a\"",
            "sid=a,b",
            "sid=a\\b",
            "sid=%61",
            "sid=a%00",
            "sid=a%20b",
            "sid=%zz",
            "sid=%",
            "sid=%ff",
            "sid=\u{f6}",
            "sid= a",
            "sid=a ;b=c",
            "SID =a",
            "\u{a0}sid=a",
        ] {
            assert_eq!(of(&[line]), Err(Doubtful), "{line}");
        }
        assert_eq!(
            of(&["sid=a", "b=2"]),
            Err(Doubtful),
            "two lines, which some stacks join by a comma"
        );
    }
}
