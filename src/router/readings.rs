//! Every way in which a server in common use would read a path.
//!
//! A server folds look-alikes, cuts at a decoded `?` or `#`, takes `\` for `/`, `//host` for an authority, drops
//! `;parameters` and `(S(session))` segments, merges slashes, drops bytes that are not UTF-8 and segments of dots only,
//! resolves dot segments: each of these or none, before and after it decodes. It decodes all escapes, all but slashes, or
//! none that were needless. Behind it another server may do the same again. The readings are all possible results; an
//! ordinary path has one and costs no allocation.

use crate::names::look_alikes::{fold, valid};
use crate::names::percent::{self, Fault};

/// Work that one path may ask for, in bytes gone through; a path that asks for more is an attack and refused.
///
/// SECURITY: it is done before any limit is looked at. Some 50 readings of a short path keep within it, or a
/// path of 4 KB with one.
const MAX_WORK: usize = 20 * 1024;

/// The cost of a reading besides its bytes: to allocate it and to compare it with the others.
const TRY_COST: usize = 64;

/// Times a path is decoded again to see whether it was encoded more than once; still more is refused.
const MAX_ROUNDS: usize = 3;

/// Why a path has no readings at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    Percent,
    Control,
    Excess,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed => Self::Percent,
            Fault::Control => Self::Control,
        }
    }
}

/// `None` for a plain path, which is its own only reading; else at least one reading, the path decoded once first.
pub(super) fn of(path: &[u8]) -> Result<Option<Vec<Vec<u8>>>, Refused> {
    if is_plain(path) {
        return Ok(None);
    }
    if path.iter().any(u8::is_ascii_control) {
        return Err(Refused::Control);
    }
    let mut set = Set::default();
    set.read(path)?;
    Ok(Some(set.readings))
}

/// No server would read it in another way: no unusual byte, no parenthesis and no dot at the beginning of a segment except a
/// dot before a letter, and no empty segment except behind the slash at the end. PERF: one pass.
fn is_plain(path: &[u8]) -> bool {
    let mut before = b'/';
    for (at, byte) in path.iter().enumerate() {
        let plain = match byte {
            b'/' => at == 0 || before != b'/',
            b'.' if before == b'/' => path.get(at + 1).is_some_and(|next| !matches!(next, b'.' | b'/')),
            b'(' => before != b'/',
            b'%' | b'\\' | b';' => false,
            byte => byte.is_ascii() && !byte.is_ascii_control(),
        };
        if !plain {
            return false;
        }
        before = *byte;
    }
    true
}

/// From one reading to another.
type Step = fn(&[u8]) -> Vec<u8>;

/// The changes that a server may make to a path besides decoding it, and the marks of which a path has at least one if that
/// changes it.
const STEPS: [(u8, Step); 10] = [
    (LOOK_ALIKE, fold),
    (INVALID, valid),
    (END, cut),
    (BACKSLASH, backslashes),
    (EMPTY, authority),
    (SEMICOLON, parameters),
    (PARENTHESIS, sessions),
    (EMPTY, merge),
    (DOT, dots),
    (DOT, without_dots_alone),
];

const LOOK_ALIKE: u8 = 1;
const END: u8 = 1 << 1;
const BACKSLASH: u8 = 1 << 2;
const EMPTY: u8 = 1 << 3;
const SEMICOLON: u8 = 1 << 4;
const DOT: u8 = 1 << 5;
const PARENTHESIS: u8 = 1 << 6;
const INVALID: u8 = 1 << 7;

/// The marks of a path: most steps change most readings in nothing and need not be tried.
fn marks(path: &[u8]) -> u8 {
    let mut marks = if std::str::from_utf8(path).is_ok() { 0 } else { INVALID };
    let mut before = b'/';
    for &byte in path.strip_prefix(b"/").unwrap_or(path) {
        marks |= match byte {
            0xC0..=0xC2 | 0xC5 | 0xCD | 0xE0 | 0xE2 | 0xEF | 0xF0 | 0xF8 | 0xFC => LOOK_ALIKE,
            b'?' | b'#' => END,
            b'\\' => BACKSLASH,
            b'/' if before == b'/' => EMPTY,
            b';' => SEMICOLON,
            b'.' | b' ' if before == b'/' => DOT,
            b'(' if before == b'/' => PARENTHESIS,
            _ => 0,
        };
        before = byte;
    }
    marks
}

/// The readings found yet, in the order they were found.
#[derive(Default)]
struct Set {
    readings: Vec<Vec<u8>>,
    /// How many of them the steps have been applied to.
    closed: usize,
    /// How many of them have been decoded again.
    decoded: usize,
    /// Done yet, in bytes.
    work: usize,
}

impl Set {
    fn read(&mut self, path: &[u8]) -> Result<(), Refused> {
        self.pay(3 * (path.len() + TRY_COST))?;
        self.add(percent::decode(path, true, |_| true)?);
        self.add(percent::decode(path, true, |b| !is_slash(b))?);
        self.add(percent::decode(path, true, |b| !may_stand_raw(b))?);
        self.close()?;
        for _ in 0..MAX_ROUNDS {
            if !self.decode_again()? {
                return Ok(());
            }
        }
        Err(Refused::Excess)
    }

    /// Must be called before work is done.
    fn pay(&mut self, work: usize) -> Result<(), Refused> {
        if work > MAX_WORK - self.work {
            return Err(Refused::Excess);
        }
        self.work += work;
        Ok(())
    }

    fn add(&mut self, reading: Vec<u8>) {
        if !self.readings.contains(&reading) {
            self.readings.push(reading);
        }
    }

    /// Adds the results of the steps for every reading, in any order and as often as they change something.
    fn close(&mut self) -> Result<(), Refused> {
        while self.closed < self.readings.len() {
            let len = self.readings[self.closed].len();
            self.pay(len)?;
            let marks = marks(&self.readings[self.closed]);
            for (mark, step) in STEPS {
                if marks & mark != 0 {
                    self.pay(len + TRY_COST)?;
                    self.add(step(&self.readings[self.closed]));
                }
            }
            self.closed += 1;
        }
        Ok(())
    }

    /// Adds the readings of a further server; false if there are no new ones.
    fn decode_again(&mut self) -> Result<bool, Refused> {
        let before = self.readings.len();
        for at in self.decoded..before {
            if !self.readings[at].contains(&b'%') {
                continue;
            }
            self.pay(2 * (self.readings[at].len() + TRY_COST))?;
            let whole = percent::decode(&self.readings[at], false, |_| true)?;
            let kept = percent::decode(&self.readings[at], false, |b| !is_slash(b))?;
            self.add(whole);
            self.add(kept);
        }
        self.decoded = before;
        self.close()?;
        Ok(self.readings.len() > before)
    }
}

fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// Bytes that need no encoding, or that mean something else when they are not encoded: a server that compares paths
/// without decoding sees another path. Spaces and letters beyond ASCII can only come encoded.
fn may_stand_raw(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}')
}

/// A decoded `?` or `#` ends the path for a server that decodes before it splits.
fn cut(path: &[u8]) -> Vec<u8> {
    let end = path.iter().position(|b| matches!(b, b'?' | b'#')).unwrap_or(path.len());
    path[..end].to_vec()
}

fn backslashes(path: &[u8]) -> Vec<u8> {
    path.iter().map(|b| if *b == b'\\' { b'/' } else { *b }).collect()
}

/// `//host/path` is a URL without a scheme to every URL parser (WHATWG URL, relative slash state).
fn authority(path: &[u8]) -> Vec<u8> {
    if !path.starts_with(b"//") {
        return path.to_vec();
    }
    let slashes = path.iter().take_while(|b| **b == b'/').count();
    let after = &path[slashes..];
    match after.iter().position(|b| *b == b'/') {
        Some(at) => after[at..].to_vec(),
        None => b"/".to_vec(),
    }
}

/// `/a;x=1/b` is `/a/b` to servlet containers.
fn parameters(path: &[u8]) -> Vec<u8> {
    let stripped = path.split(|b| *b == b'/').map(|segment| {
        let end = segment.iter().position(|b| *b == b';').unwrap_or(segment.len());
        &segment[..end]
    });
    stripped.collect::<Vec<_>>().join(&b'/')
}

/// ASP.NET takes `/(S(id))`, `/(A(id)F(id))` and the like out of a path, whether it keeps sessions there or not, and also where the
/// segment goes on behind it: `/a/(S(x))b` is `/ab` (Microsoft Learn, `SessionStateSection.Cookieless`; CVE-2023-36899).
fn sessions(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(byte) = rest.first() {
        if let Some(behind) = rest.strip_prefix(b"/(").and_then(behind_sessions) {
            rest = behind;
        } else {
            out.push(*byte);
            rest = &rest[1..];
        }
    }
    if out.first() != Some(&b'/') {
        out.insert(0, b'/');
    }
    out
}

/// Whether some server may take a session out of the path.
pub(super) fn names_a_session(path: &str) -> bool {
    // PERF: hardly any path has a parenthesis.
    path.contains('(')
        && path
            .match_indices("/(")
            .any(|(at, opens)| behind_sessions(&path.as_bytes()[at + opens.len()..]).is_some())
}

/// The text behind `L(id)`, once or more often, and a last `)`; none for anything else.
fn behind_sessions(mut path: &[u8]) -> Option<&[u8]> {
    loop {
        let [_letter, b'(', id @ ..] = path else { return None };
        let end = id.iter().position(|b| matches!(b, b')' | b'/'))?;
        path = id[end..].strip_prefix(b")")?;
        if let Some(behind) = path.strip_prefix(b")") {
            return Some(behind);
        }
    }
}

fn merge(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    for byte in path {
        if *byte != b'/' || out.last() != Some(&b'/') {
            out.push(*byte);
        }
    }
    out
}

/// RFC 3986, section 5.2.4; a path that climbs above the root stays there.
fn dots(path: &[u8]) -> Vec<u8> {
    let body = path.strip_prefix(b"/").unwrap_or(path);
    let segments: Vec<&[u8]> = body.split(|b| *b == b'/').collect();
    let last = segments.len() - 1;
    let mut kept: Vec<&[u8]> = Vec::with_capacity(segments.len());
    for (at, segment) in segments.into_iter().enumerate() {
        match segment {
            b"." => {}
            b".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
        if at == last && matches!(segment, b"." | b"..") {
            kept.push(b"");
        }
    }
    let mut out = vec![b'/'];
    out.extend(kept.join(&b'/'));
    out
}

/// Without segments of more dots than two, or of spaces: `CivetWeb` and Windows file systems drop these at the end of a segment.
fn without_dots_alone(path: &[u8]) -> Vec<u8> {
    let stays = |segment: &&[u8]| {
        let dropped = segment.iter().all(|byte| matches!(byte, b'.' | b' '));
        segment.is_empty() || matches!(*segment, b"." | b"..") || !dropped
    };
    let left = path.split(|byte| *byte == b'/').filter(stays);
    let mut out = left.collect::<Vec<_>>().join(&b'/');
    if out.first() != Some(&b'/') {
        out.insert(0, b'/');
    }
    out
}

#[cfg(test)]
mod tests;
