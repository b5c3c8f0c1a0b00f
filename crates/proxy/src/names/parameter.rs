//! Names of parameters in queries and forms.
//!
//! How stacks read a name, and therefore the folds that are applied here:
//!
//! | stack | rule |
//! | --- | --- |
//! | all | percent escapes and `+` are decoded once; behind a proxy that decodes, twice |
//! | PHP | leading spaces go, a NUL ends the name, `.`, space and a `[` without `]` become `_`, `id[]` is an array `id` |
//! | Rack 2, qs (Express 4) | brackets around a name or behind it make an array or an object of that name |
//! | qs | a pair is parted at `]=` before it is parted at `=`; with `allowDots` a dot is a bracket (koa-bodyparser) |
//! | `CherryPy` | a `%` that begins no escape goes |
//! | cpp-httplib | `=` before a name goes |
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

use super::percent;
use super::spelling::{Doubtful, Finder, Spelling, spaced};

/// A value that every stack reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// Decoded once.
    pub bytes: Vec<u8>,
    /// How often it occurs; if more than once, some stacks make a list of it.
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

/// As [`value_of`], in a query. SECURITY: it is read before any limit, once for each name that matters.
///
/// # Errors
/// The error is also returned for any query with more pairs than every stack reads, whatever it contains.
pub fn value_in_query(query: &str, name: &str) -> Result<Option<Value>, Doubtful> {
    let mut separators = memchr::memchr2_iter(b'&', b';', query.as_bytes());
    if separators.nth(MAX_PAIRS - 1).is_some() {
        return Err(Doubtful);
    }
    value_of(query.as_bytes(), name)
}

fn sole_value<'t>(pairs: impl Iterator<Item = &'t [u8]>, name: &str) -> Result<Option<Value>, Doubtful> {
    let (mut found, mut times, mut count, mut empty) = (None, 0, 0, 0);
    let mut finder = Finder::new(name);
    for pair in pairs {
        count += 1;
        if pair.is_empty() {
            empty += 1;
            // No browser and no library writes any.
            if empty > MAX_PAIRS {
                return Err(Doubtful);
            }
            continue;
        }
        if led_by_equals(pair, &mut finder)? {
            return Err(Doubtful);
        }
        let (key, value) = parted(pair, &mut finder)?;
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

/// A pair's raw name and value; doubtful if qs splits it elsewhere, and either name is the one looked for.
fn parted<'t>(pair: &'t [u8], finder: &mut Finder<'_>) -> Result<(&'t [u8], &'t [u8]), Doubtful> {
    let at = |end: usize| (&pair[..end], pair.get(end + 1..).unwrap_or_default());
    let first = memchr::memchr(b'=', pair).unwrap_or(pair.len());
    if memchr::memchr2(b']', b'%', pair).is_none() {
        return Ok(at(first));
    }
    let bracket = |window: &[u8]| matches!(window, b"]=") || window.eq_ignore_ascii_case(b"%5d=");
    let by_qs = |width: usize| pair.windows(width).position(bracket).map(|at| at + width - 1);
    if let Some(end) = by_qs(2).into_iter().chain(by_qs(4)).min()
        && end != first
    {
        for key in [at(first).0, at(end).0] {
            if finder.spelling(key)? != Spelling::Other {
                return Err(Doubtful);
            }
        }
    }
    Ok(at(first))
}

/// Whether the name looked for stands behind a `=` at the beginning of a pair.
fn led_by_equals(pair: &[u8], finder: &mut Finder<'_>) -> Result<bool, Doubtful> {
    let behind = without_equals(pair);
    if behind.len() == pair.len() {
        return Ok(false);
    }
    let (key, _) = parted(behind, finder)?;
    Ok(finder.spelling(key)? != Spelling::Other)
}

/// A pair without `=` at its beginning.
pub(super) fn without_equals(pair: &[u8]) -> &[u8] {
    &pair[pair.iter().take_while(|byte| **byte == b'=').count()..]
}

/// A value without `+` and percent escapes; `None` for a malformed escape or an encoded control character.
#[must_use]
pub fn decoded(value: &[u8]) -> Option<Vec<u8>> {
    percent::decode(&spaced(value), true, |_| true).ok()
}

/// How often a request may say the same value.
const MAX_TIMES: usize = 16;

/// Pairs that every stack reads.
const MAX_PAIRS: usize = 1_000;

#[cfg(test)]
mod tests;
