//! Names of parameters in queries and forms.
//!
//! What stacks make of a name, and so what is folded here:
//!
//! | stack | rule |
//! | --- | --- |
//! | all | percent escapes and `+` are decoded once; behind a proxy that decodes, twice |
//! | PHP | leading spaces go, a NUL ends the name, `.`, space and a `[` without `]` become `_`, `id[]` is an array `id` |
//! | Rack 2, qs (Express 4) | brackets around a name or behind it make an array or an object of that name |
//! | qs | a pair is parted at `]=` before it is parted at `=` |
//! | Rack 2, Python before 3.9.2 | `;` parts pairs too; Go drops a pair that has one |
//! | PHP, qs, `querystring` (Express 5) | pairs beyond the first 1,000 are dropped |
//! | ASP.NET | names in any letter case, `%u0069` is an escape |
//! | .NET, Go `encoding/json` | letter case by Unicode: long s and the Kelvin sign are letters of ASCII |
//! | Spring | `!id` stands in for `id` |
//! | URL parsers | a second `?`, a byte-order mark and white space before the first name go |
//! | decoders of old | over-long UTF-8 is a byte of ASCII; bytes that are no UTF-8 are dropped |
//!
//! A name counts in one spelling: as configured, decoded once, in any ASCII letter case. Every other spelling that folds to the
//! same name is an alias, and a request with one is refused: one stack would read it, and another would not.

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

/// A value that every stack reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// Decoded once.
    pub bytes: Vec<u8>,
    /// How often it comes; where it is more than once, some stacks make a list of it.
    pub times: usize,
}

/// The value that every stack reads under `name` in a query or an urlencoded form, however often it comes; `None` where
/// no stack reads any.
///
/// # Errors
/// When a stack may read another value, or none, or one that does not decode.
pub fn value_of(text: &[u8], name: &str) -> Result<Option<Value>, Doubtful> {
    let value = sole_value(text.split(|byte| *byte == b'&'), name)?;
    if text.contains(&b';') && sole_value(text.split(|byte| matches!(byte, b'&' | b';')), name)? != value {
        return Err(Doubtful);
    }
    Ok(value)
}

fn sole_value<'t>(pairs: impl Iterator<Item = &'t [u8]>, name: &str) -> Result<Option<Value>, Doubtful> {
    let (mut found, mut times, mut count) = (None, 0, 0);
    let mut finder = Finder::new(name);
    for pair in pairs {
        count += 1;
        let (key, value) = parted(pair, name)?;
        match finder.spelling(key)? {
            Spelling::Other => continue,
            Spelling::Alias => return Err(Doubtful),
            Spelling::Own => times += 1,
        }
        // A second `=` is a part of the value to most, and of the name to some.
        if value.contains(&b'=') {
            return Err(Doubtful);
        }
        let value = decoded(value).ok_or(Doubtful)?;
        if times > MAX_TIMES || found.as_ref().is_some_and(|other| *other != value) {
            return Err(Doubtful);
        }
        found = Some(value);
    }
    if found.is_some() && count > MAX_PAIRS {
        return Err(Doubtful);
    }
    Ok(found.map(|bytes| Value { bytes, times }))
}

/// A pair's name and value as they came; doubtful where qs parts it elsewhere, and either name is the one looked for.
fn parted<'t>(pair: &'t [u8], name: &str) -> Result<(&'t [u8], &'t [u8]), Doubtful> {
    let at = |end: usize| (&pair[..end], pair.get(end + 1..).unwrap_or_default());
    let first = memchr::memchr(b'=', pair).unwrap_or(pair.len());
    if memchr::memchr2(b']', b'%', pair).is_none() {
        return Ok(at(first));
    }
    let bracket = |window: &[u8]| matches!(window, b"]=") || window.eq_ignore_ascii_case(b"%5d=");
    let by_qs = |width: usize| pair.windows(width).position(bracket).map(|at| at + width - 1);
    if let Some(end) = by_qs(2).into_iter().chain(by_qs(4)).min()
        && end != first
        && [at(first).0, at(end).0]
            .iter()
            .any(|key| spelling(key, name) != Spelling::Other)
    {
        return Err(Doubtful);
    }
    Ok(at(first))
}

/// A value without `+` and percent escapes; `None` for a malformed escape or an encoded control character.
#[must_use]
pub fn decoded(value: &[u8]) -> Option<Vec<u8>> {
    percent::decode(&spaced(value), true, |_| true).ok()
}

/// Looks through the names of one request for one name.
pub struct Finder<'n> {
    wanted: &'n str,
    odd: usize,
}

impl<'n> Finder<'n> {
    #[must_use]
    pub fn new(wanted: &'n str) -> Self {
        Self { wanted, odd: 0 }
    }

    /// As [`spelling`].
    ///
    /// # Errors
    /// When more names have to be folded than any ordinary request has: each costs work before any limit.
    pub fn spelling(&mut self, raw: &[u8]) -> Result<Spelling, Doubtful> {
        if let Some(spelling) = at_a_glance(raw, self.wanted) {
            return Ok(spelling);
        }
        self.odd += 1;
        if self.odd > MAX_ODD {
            return Err(Doubtful);
        }
        Ok(unfolded(raw, self.wanted))
    }

    /// The name differs by ASCII letter case alone.
    #[must_use]
    pub fn is_in_other_case(&self, raw: &[u8]) -> bool {
        raw.eq_ignore_ascii_case(self.wanted.as_bytes())
    }
}

/// How `raw`, as it stands in a query or form, goes with the decoded name `wanted`.
#[must_use]
pub fn spelling(raw: &[u8], wanted: &str) -> Spelling {
    at_a_glance(raw, wanted).unwrap_or_else(|| unfolded(raw, wanted))
}

/// The spelling, where letters and digits settle it; `None` where the name has to be folded.
///
/// PERF: a query of 32 KB has thousands of names and is read before any limit: nothing is allocated.
fn at_a_glance(raw: &[u8], wanted: &str) -> Option<Spelling> {
    if is_decoded_to(raw, wanted) {
        return Some(Spelling::Own);
    }
    let mut letters = wanted.bytes().filter(|byte| !is_sign(*byte));
    let (mut rest, mut bracketed) = (raw, false);
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = if first == b'%' { percent::escape(rest) } else { None };
        let byte = escaped.unwrap_or(first);
        rest = if escaped.is_some() { &rest[3..] } else { tail };
        let is_wide = first == b'%' && escaped.is_none() && matches!(tail.first(), Some(b'u' | b'U'));
        if is_wide || !byte.is_ascii() || byte == 0 || (escaped.is_some() && matches!(byte, b'%' | b'+')) {
            return None;
        }
        bracketed |= matches!(byte, b'[' | b']');
        if is_sign(byte) {
            continue;
        }
        match letters.next() {
            Some(letter) if letter.eq_ignore_ascii_case(&byte) => {}
            None if bracketed => return None,
            _ => return Some(Spelling::Other),
        }
    }
    let is_part = letters.next().is_some() && !wanted.contains(['[', ']']);
    is_part.then_some(Spelling::Other)
}

/// What folding takes away or makes something else of.
fn is_sign(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte.is_ascii_control() || b"+_.[]?!".contains(&byte)
}

fn unfolded(raw: &[u8], wanted: &str) -> Spelling {
    let mut bytes = raw.to_vec();
    let wanted = path_of(wanted.as_bytes());
    for _ in 0..MAX_DECODED {
        let again = percent::decode_leniently(&spaced(&bytes));
        let last = again == bytes;
        bytes = again;
        if readings(&bytes).iter().any(|reading| is_within(reading, &wanted)) {
            return Spelling::Alias;
        }
        if last {
            break;
        }
    }
    Spelling::Other
}

/// How a name of a JSON object goes with `wanted`. Stacks that compare without letter case do so by Unicode.
#[must_use]
pub fn json_spelling(name: &str, wanted: &str) -> Spelling {
    if name.eq_ignore_ascii_case(wanted) {
        return Spelling::Own;
    }
    let kept = name.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    let alike = |name: &str| letters::alike(&look_alikes::fold(name.as_bytes()));
    if alike(kept) == alike(wanted) {
        return Spelling::Alias;
    }
    Spelling::Other
}

/// Decoded once, the name is `wanted`.
fn is_decoded_to(raw: &[u8], wanted: &str) -> bool {
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

fn spaced(raw: &[u8]) -> Vec<u8> {
    raw.iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect()
}

/// A name in the form in which it is compared: its parts between brackets, each folded.
type Path = Vec<Vec<u8>>;

/// What stacks may read in a name whose escapes are decoded.
fn readings(name: &[u8]) -> Vec<Path> {
    let ended = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let without_nul: Vec<u8> = name.iter().copied().filter(|byte| *byte != 0).collect();
    let mut readings = Vec::new();
    for name in [ended, &without_nul] {
        let text = look_alikes::fold(name);
        let text: Vec<u8> = text.utf8_chunks().flat_map(|chunk| chunk.valid().bytes()).collect();
        readings.push(path_of(&text));
        readings.push(path_of(&signed(text.trim_ascii_start())));
        let is_open = |at: usize| !text[at..].contains(&b']');
        if text.iter().position(|byte| *byte == b'[').is_some_and(is_open) {
            readings.push(vec![folded(&unclosed(&text))]);
        }
    }
    readings
}

fn path_of(name: &[u8]) -> Path {
    let parts = name.split(|byte| matches!(byte, b'[' | b']')).map(folded);
    parts.filter(|part| !part.is_empty()).collect()
}

/// One is the other, or an array or object that holds it.
fn is_within(one: &Path, other: &Path) -> bool {
    let shorter = one.len().min(other.len());
    shorter > 0 && one[..shorter] == other[..shorter]
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

/// How often a request may say the same value.
const MAX_TIMES: usize = 16;

/// Pairs that every stack reads.
const MAX_PAIRS: usize = 1_000;

/// Names of a request that are folded.
const MAX_ODD: usize = 200;

/// Times that a name is decoded.
const MAX_DECODED: usize = 4;

#[cfg(test)]
mod tests;
