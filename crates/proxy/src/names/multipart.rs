//! The parts of a `multipart/form-data` body (RFC 7578).
//!
//! Not `multer`: it accepts lenient input, and other stacks may split the same body differently. Here every form that two
//! stacks in use parse differently is refused: bare line feeds, folded lines, a boundary inside a value, escaped quotes,
//! doubled parameters.

/// One part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<'b> {
    pub name: &'b [u8],
    pub value: &'b [u8],
    /// It has a file's name.
    pub is_file: bool,
    /// Its bytes are its value in UTF-8, as far as its fields say.
    pub is_plain: bool,
}

/// Why there are no more parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// The body ends in the middle of one.
    Cut,
    /// Two stacks may read it differently.
    Malformed,
}

/// The parts of a body, as far as it has arrived. An error is the last item.
pub fn parts<'b>(body: &'b [u8], boundary: &[u8]) -> impl Iterator<Item = Result<Part<'b>, Broken>> {
    let delimiter = [b"\r\n--", boundary].concat();
    let opened = open(body, &delimiter[2..]);
    let mut rest = Some(opened);
    std::iter::from_fn(move || {
        let body = match rest.take()? {
            Ok(body) => body,
            Err(broken) => return Some(Err(broken)),
        };
        match next(body, &delimiter) {
            Ok(None) => None,
            Ok(Some((part, behind))) => {
                rest = Some(Ok(behind));
                Some(Ok(part))
            }
            Err(broken) => Some(Err(broken)),
        }
    })
}

/// The bytes behind the first delimiter, which some clients send with an empty line before it.
fn open<'b>(body: &'b [u8], delimiter: &[u8]) -> Result<&'b [u8], Broken> {
    let body = body.strip_prefix(b"\r\n").unwrap_or(body);
    body.strip_prefix(delimiter)
        .ok_or_else(|| cut_or_malformed(body, delimiter))
}

/// The part behind a delimiter, and the bytes behind the next one; none behind the last delimiter.
fn next<'b>(body: &'b [u8], delimiter: &[u8]) -> Result<Option<(Part<'b>, &'b [u8])>, Broken> {
    if let Some(epilogue) = body.strip_prefix(b"--") {
        return match epilogue {
            b"" | b"\r\n" => Ok(None),
            b"\r" => Err(Broken::Cut),
            _ => Err(Broken::Malformed),
        };
    }
    if body == b"-" {
        return Err(Broken::Cut);
    }
    let body = body
        .strip_prefix(b"\r\n")
        .ok_or_else(|| cut_or_malformed(body, b"\r\n"))?;
    let end = position(body, b"\r\n\r\n").ok_or(Broken::Cut)?;
    let (head, body) = (&body[..end], &body[end + 4..]);
    if position(head, &delimiter[2..]).is_some() || end > MAX_HEAD {
        return Err(Broken::Malformed);
    }
    let fields = Fields::read(head).ok_or(Broken::Malformed)?;
    // A value must not contain a delimiter as a lenient reader sees it.
    let end = position(body, &delimiter[2..]).ok_or(Broken::Cut)?;
    let value = body[..end].strip_suffix(b"\r\n").ok_or(Broken::Malformed)?;
    let part = Part {
        name: fields.name,
        value,
        is_file: fields.is_file,
        is_plain: fields.is_plain,
    };
    Ok(Some((part, &body[end + delimiter.len() - 2..])))
}

fn cut_or_malformed(body: &[u8], wanted: &[u8]) -> Broken {
    if body.len() < wanted.len() && wanted.starts_with(body) {
        Broken::Cut
    } else {
        Broken::Malformed
    }
}

/// The relevant fields of a part.
struct Fields<'b> {
    name: &'b [u8],
    is_file: bool,
    is_plain: bool,
}

impl<'b> Fields<'b> {
    fn read(head: &'b [u8]) -> Option<Self> {
        let (mut disposition, mut kind, mut coding) = (None, None, None);
        for line in lines(head) {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
                return None;
            }
            let lower = line.to_ascii_lowercase();
            // Rack finds the words in the middle of a line.
            if position(&lower[1..], DISPOSITION).is_some() {
                return None;
            }
            let seen = match &lower[..colon] {
                DISPOSITION => disposition.replace(value),
                b"content-type" => kind.replace(value),
                b"content-transfer-encoding" => coding.replace(value),
                _ => None,
            };
            if seen.is_some() {
                return None;
            }
        }
        // Mojolicious takes the parts inside it for the form's.
        if kind.is_some_and(|kind| position(&kind.to_ascii_lowercase(), b"multipart").is_some()) {
            return None;
        }
        let (name, is_file) = named(disposition?)?;
        let bytes = coding.is_none_or(|coding| {
            [&b"7bit"[..], b"8bit", b"binary"]
                .iter()
                .any(|own| coding.eq_ignore_ascii_case(own))
        });
        let is_plain = bytes && kind.is_none_or(is_utf8_text);
        Some(Self {
            name,
            is_file,
            is_plain,
        })
    }
}

/// The lines of a head; one with a control byte is none that has a colon where it should.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(head);
    std::iter::from_fn(move || {
        let head = rest?;
        let end = position(head, b"\r\n");
        rest = end.map(|end| &head[end + 2..]);
        let line = &head[..end.unwrap_or(head.len())];
        let is_odd = line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t');
        Some(if is_odd { &b""[..] } else { line })
    })
}

/// The name of a part, and whether it has a file's.
fn named(disposition: &[u8]) -> Option<(&[u8], bool)> {
    let (kind, mut rest) = split(disposition, b';');
    if !kind.trim_ascii().eq_ignore_ascii_case(b"form-data") {
        return None;
    }
    let (mut name, mut file) = (None, 0);
    while let Some(parameters) = rest {
        let (key, value) = split(parameters, b'=');
        let key = key.trim_ascii().to_ascii_lowercase();
        let value = value?.trim_ascii_start();
        let (value, behind) = if let Some(quoted) = value.strip_prefix(b"\"") {
            let (value, behind) = split(quoted, b'"');
            let (gap, next) = split(behind?, b';');
            if !gap.trim_ascii().is_empty() {
                return None;
            }
            (value, next)
        } else {
            let (value, behind) = split(value, b';');
            let is_named = key == b"filename*" && is_extended(value);
            if !is_named && !is_token(value) {
                return None;
            }
            (value, behind)
        };
        if names_another(value) {
            return None;
        }
        match key.as_slice() {
            b"name" if name.is_none() && is_read_alike(value) => name = Some(value),
            // A quote behind a backslash ends the text for some, and not for others.
            b"filename" if file & 1 == 0 && !value.ends_with(b"\\") => file |= 1,
            b"filename*" if file & 2 == 0 => file |= 2,
            _ => return None,
        }
        rest = behind;
    }
    name.map(|name| (name, file != 0))
}

/// Stacks differ about escapes, and Tomcat decodes a name that is an encoded word (RFC 2047).
fn is_read_alike(name: &[u8]) -> bool {
    !name.iter().any(|byte| b"\\\"".contains(byte)) && position(name, b"=?").is_none()
}

/// A name that Rack takes for the part's, although it is within quotes.
fn names_another(value: &[u8]) -> bool {
    let mut behind = value.split(|byte| *byte == b';').skip(1);
    behind.any(|text| text.trim_ascii_start().to_ascii_lowercase().starts_with(b"name="))
}

/// A value without quotes. PHP takes single ones for quotes too.
fn is_token(value: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&*+-.^_|~".contains(byte);
    !value.is_empty() && value.iter().all(fits)
}

/// RFC 8187, without a language: `UTF-8''name`.
fn is_extended(value: &[u8]) -> bool {
    let parted = position(value, b"''").map(|at| (&value[..at], &value[at + 2..]));
    parted.is_some_and(|(charset, name)| is_token(charset) && is_token(name))
}

fn is_utf8_text(kind: &[u8]) -> bool {
    let kind = kind.to_ascii_lowercase();
    let Some(charset) = position(&kind, b"charset") else {
        return true;
    };
    let value = kind[charset + 7..].trim_ascii_start().strip_prefix(b"=");
    value.is_some_and(|value| matches!(value.trim_ascii(), b"utf-8" | b"\"utf-8\"" | b"utf8"))
}

fn split(bytes: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|byte| *byte == at) {
        Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
        None => (bytes, None),
    }
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}

const DISPOSITION: &[u8] = b"content-disposition";
/// Longest head of a part.
const MAX_HEAD: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::fmt::Write as _;

    use super::*;

    proptest! {
        #[test]
        fn parts_come_back_as_they_were_written(
            written in prop::collection::vec(("[a-z.\\[\\]]{1,6}", "[ -~\r\n]{0,20}", any::<bool>()), 1..5)
        ) {
            let mut body = String::new();
            for (name, value, is_file) in &written {
                let file = if *is_file { "; filename=\"C:\\a.png\"" } else { "" };
                let _ = write!(body, "--b0und\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n");
            }
            body += "--b0und--\r\n";
            let read: Vec<_> = parts(body.as_bytes(), b"b0und").map(|part| part.map(|part| (part.name, part.value, part.is_file))).collect();
            let wanted: Vec<_> = written.iter().map(|(name, value, is_file)| Ok((name.as_bytes(), value.as_bytes(), *is_file))).collect();
            prop_assert_eq!(read, wanted);
        }

        #[test]
        fn a_cut_body_is_cut_and_none_is_read_twice(length in 0_usize..200) {
            let body = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\n2\r\n--b--\r\n";
            let cut = &body.as_bytes()[..length.min(body.len())];
            let read: Vec<_> = parts(cut, b"b").collect();
            prop_assert!(read.len() <= 3 && !read.contains(&Err(Broken::Malformed)), "{:?}", read);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(body: Vec<u8>) {
            let _ = parts(&body, b"b").count();
            let _ = parts(&[&b"--b\r\n"[..], &body].concat(), b"b").count();
        }
    }
}
