//! How a name in a request goes with a name that is looked for: the stacks' rules, folded into one ([`super::parameter`]).
//!
//! A name has many spellings and may be as long as a request, and it is read before any limit. So plain letters are decided
//! first, only the beginning of the rest is folded, and the total for all names is bounded.

use std::borrow::Cow;

use super::{letters, look_alikes, percent};

/// How a name in a request goes with one that is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// Every stack reads another name.
    Other,
    /// Every stack reads the name, letter case apart.
    Own,
    /// Some stack reads the name, and some does not.
    Alias,
}

/// Stacks may read different values under the name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the parameter can be read in two ways")]
pub struct Doubtful;

/// Looks through the names of one request for one name.
pub struct Finder<'n> {
    wanted: &'n str,
    odd: usize,
    /// Bytes that were folded.
    folded: usize,
}

impl<'n> Finder<'n> {
    #[must_use]
    pub fn new(wanted: &'n str) -> Self {
        let (odd, folded) = (0, 0);
        Self { wanted, odd, folded }
    }

    /// How `raw`, a name in a query or form, relates to the decoded name that is looked for.
    ///
    /// # Errors
    /// When names have to be folded as no ordinary request's have, by their number or length: each costs work before any limit.
    pub fn spelling(&mut self, raw: &[u8]) -> Result<Spelling, Doubtful> {
        if let Some(spelling) = at_a_glance(raw, self.wanted) {
            return Ok(spelling);
        }
        self.odd += 1;
        if self.odd > MAX_ODD {
            return Err(Doubtful);
        }
        self.unfolded(raw)
    }

    /// The name differs by ASCII letter case alone.
    #[must_use]
    pub fn is_in_other_case(&self, raw: &[u8]) -> bool {
        raw.eq_ignore_ascii_case(self.wanted.as_bytes())
    }

    /// The spelling of a name as some stack reads it that decodes it once, twice and so on.
    fn unfolded(&mut self, raw: &[u8]) -> Result<Spelling, Doubtful> {
        let is_cut = raw.len() > MAX_RAW;
        let mut bytes = raw[..raw.len().min(MAX_RAW)].to_vec();
        for _ in 0..MAX_DECODED {
            if is_cut {
                bytes.truncate(whole_escapes(&bytes));
            }
            let again = percent::decode_leniently(&spaced(&bytes));
            let last = again == bytes;
            bytes = again;
            if self.is_alias(&bytes, is_cut)? {
                return Ok(Spelling::Alias);
            }
            if last {
                break;
            }
        }
        Ok(Spelling::Other)
    }

    /// Some stack reads the wanted name in this one, whose escapes are decoded; or may, if it is the beginning of one too
    /// long to check.
    fn is_alias(&mut self, name: &[u8], is_cut: bool) -> Result<bool, Doubtful> {
        if is_plainly_other(name, self.wanted) {
            return Ok(false);
        }
        let wanted = path_of(self.wanted.as_bytes());
        // PERF: the first letters of a name in another script say that it is another.
        for most in [FIRST_LOOK, name.len()] {
            let seen = &name[..name.len().min(most)];
            self.folded += seen.len();
            if self.folded > MAX_FOLDED {
                return Err(Doubtful);
            }
            let readings = readings(seen);
            if seen.len() == name.len() && !is_cut {
                return Ok(readings.iter().any(|reading| is_within(reading, &wanted)));
            }
            if !readings.iter().any(|reading| may_begin(reading, &wanted)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The spelling, where letters and digits settle it; `None` where the name has to be folded.
///
/// PERF: a query of 32 KB has thousands of names and is read before any limit: nothing is allocated.
fn at_a_glance(raw: &[u8], wanted: &str) -> Option<Spelling> {
    if is_own(raw, wanted) {
        return Some(Spelling::Own);
    }
    let mut letters = wanted.bytes().filter(|byte| !is_sign(*byte));
    let (mut rest, mut bracketed) = (raw, false);
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = if first == b'%' { percent::escape(rest) } else { None };
        let byte = escaped.unwrap_or(first);
        rest = if escaped.is_some() { &rest[3..] } else { tail };
        let is_wide = first == b'%' && escaped.is_none() && matches!(tail.first(), Some(b'u' | b'U'));
        let is_kept = byte == b'+' && escaped.is_some();
        if is_wide || !byte.is_ascii() || byte == 0 || byte == b'%' || is_kept {
            return None;
        }
        bracketed |= matches!(byte, b'[' | b']' | b'.');
        if is_sign(byte) {
            continue;
        }
        match letters.next() {
            Some(letter) if letter.eq_ignore_ascii_case(&byte) => {}
            None if bracketed => return None,
            _ => return Some(Spelling::Other),
        }
    }
    let is_part = letters.next().is_some() && memchr::memchr2(b'[', b']', wanted.as_bytes()).is_none();
    is_part.then_some(Spelling::Other)
}

/// Bytes that folding removes or changes.
fn is_sign(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte.is_ascii_control() || b"+_.[]?!%".contains(&byte)
}

/// A letter or digit of the decoded name is not the wanted one's.
fn is_plainly_other(name: &[u8], wanted: &str) -> bool {
    let mut letters = wanted.bytes().filter(|byte| !is_sign(*byte));
    for byte in name.iter().filter(|byte| !is_sign(**byte) || **byte == 0) {
        if !byte.is_ascii() || *byte == 0 {
            return false;
        }
        match letters.next() {
            Some(letter) if letter.eq_ignore_ascii_case(byte) => {}
            Some(_) => return true,
            None => return false,
        }
    }
    false
}

/// How many bytes are left without an escape at the end that may be cut in two.
fn whole_escapes(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(LONGEST_ESCAPE - 1);
    let at = bytes[start..].iter().position(|byte| *byte == b'%');
    at.map_or(bytes.len(), |at| start + at)
}

/// How a name of a JSON object goes with `wanted`. Stacks that compare without letter case do so by Unicode.
#[must_use]
pub fn json_spelling(name: &str, wanted: &str) -> Spelling {
    if name.eq_ignore_ascii_case(wanted) {
        return Spelling::Own;
    }
    let kept = name.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    // PERF: a body has thousands of names. Of ASCII nothing but its case is folded.
    if kept.is_ascii() && wanted.is_ascii() {
        return if kept.eq_ignore_ascii_case(wanted) {
            Spelling::Alias
        } else {
            Spelling::Other
        };
    }
    let alike = |name: &str| letters::alike(&look_alikes::fold(name.as_bytes()));
    let wanted = alike(wanted);
    let end = (0..=kept.len().min(MAX_JSON))
        .rev()
        .find(|at| kept.is_char_boundary(*at));
    let beginning = &kept[..end.unwrap_or_default()];
    let folded = alike(beginning);
    if folded == wanted || (beginning.len() < kept.len() && wanted.starts_with(&folded)) {
        return Spelling::Alias;
    }
    Spelling::Other
}

/// Decoded once, the name is `wanted`, letter case apart.
#[must_use]
pub fn is_own(raw: &[u8], wanted: &str) -> bool {
    let mut rest = raw;
    for wanted in wanted.bytes() {
        let (byte, taken) = match *rest {
            [b'%', ..] => (percent::escape(rest), 3),
            [b'+', ..] => (Some(b' '), 1),
            [byte, ..] => (Some(byte), 1),
            [] => return false,
        };
        if !byte.is_some_and(|byte| byte.eq_ignore_ascii_case(&wanted)) {
            return false;
        }
        rest = &rest[taken..];
    }
    rest.is_empty()
}

pub(super) fn spaced(raw: &[u8]) -> Vec<u8> {
    raw.iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect()
}

/// A name in the form in which it is compared: its parts between brackets, or dots, each folded.
type Path = Vec<Vec<u8>>;

/// The names that stacks may read in a name whose escapes are decoded.
fn readings(name: &[u8]) -> Vec<Path> {
    let ended = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let without = |gone: u8| -> Vec<u8> { name.iter().copied().filter(|byte| *byte != gone).collect() };
    let mut readings = Vec::new();
    // PERF: nearly every name has neither, and is read in one way.
    let mut names = vec![Cow::Borrowed(ended)];
    names.extend((ended.len() < name.len()).then(|| without(0).into()));
    names.extend(name.contains(&b'%').then(|| without(b'%').into()));
    for name in names {
        let text = look_alikes::valid(&look_alikes::fold(&name));
        readings.push(path_of(&text));
        if text.contains(&b'.') {
            readings.push(parts_of(&text, |byte| matches!(byte, b'[' | b']' | b'.')));
        }
        let tidy = signed(text.trim_ascii_start());
        if tidy != text {
            readings.push(path_of(&tidy));
        }
        let is_open = |at: usize| !text[at..].contains(&b']');
        if text.iter().position(|byte| *byte == b'[').is_some_and(is_open) {
            readings.push(vec![folded(&unclosed(&text))]);
        }
    }
    readings
}

fn path_of(name: &[u8]) -> Path {
    parts_of(name, |byte| matches!(byte, b'[' | b']'))
}

fn parts_of(name: &[u8], is_between: fn(u8) -> bool) -> Path {
    let parts = name.split(|byte| is_between(*byte)).map(folded);
    parts.filter(|part| !part.is_empty()).collect()
}

/// One is the other, or an array or object that holds it.
fn is_within(one: &Path, other: &Path) -> bool {
    let shorter = one.len().min(other.len());
    shorter > 0 && one[..shorter] == other[..shorter]
}

/// Whether a longer reading with this beginning may be within `wanted`.
fn may_begin(beginning: &Path, wanted: &Path) -> bool {
    let last = beginning.len().saturating_sub(1);
    beginning.iter().zip(wanted).enumerate().all(|(at, (part, wanted))| {
        if at == last {
            wanted.starts_with(part)
        } else {
            part == wanted
        }
    })
}

/// As PHP reads a bracket that nothing closes.
fn unclosed(name: &[u8]) -> Vec<u8> {
    name.iter()
        .map(|byte| if *byte == b'[' { b'_' } else { *byte })
        .collect()
}

/// Letters in one case and without marks, nothing at the ends that some stack takes off, and the signs that PHP replaces.
fn folded(part: &[u8]) -> Vec<u8> {
    let part = letters::alike(part);
    let off = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
    let start = part.iter().position(|byte| !(off(byte) || matches!(byte, b'?' | b'!')));
    let end = part.iter().rposition(|byte| !off(byte));
    let kept = start
        .zip(end)
        .map_or(&[][..], |(start, end)| part.get(start..=end).unwrap_or_default());
    signed(kept)
}

/// As PHP replaces signs.
fn signed(name: &[u8]) -> Vec<u8> {
    let signs = |byte: &u8| if matches!(byte, b'.' | b' ') { b'_' } else { *byte };
    name.iter().map(signs).collect()
}

/// Names of a request that are folded.
const MAX_ODD: usize = 200;

/// Bytes of a request's names that are folded: [`MAX_ODD`] first looks, and a long name.
const MAX_FOLDED: usize = 4 * 1024;

/// Bytes of a name that are looked at: a name of 200 letters, each escaped four times over.
const MAX_RAW: usize = 2 * 1024;

/// Bytes of a name that are folded first.
const FIRST_LOOK: usize = 16;

/// Bytes of a name of a JSON object that are folded.
const MAX_JSON: usize = 256;

/// `%u0069`.
const LONGEST_ESCAPE: usize = 6;

/// Times that a name is decoded.
const MAX_DECODED: usize = 4;

#[cfg(test)]
pub(super) mod tests;
