//! Readings in a file: forwarded requests, and each stack's readings of them, so that the gate can be compared with them
//! where no stack is installed.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::case::{Answer, Case, Reading, Thing, hex, unhex};

/// The readings of one run.
#[derive(Default)]
pub struct Kept {
    /// The stacks, with their versions.
    pub stacks: Vec<(String, String)>,
    pub rows: Vec<Row>,
}

/// A request, and its reading.
pub struct Row {
    pub case: Case,
    /// The forwarded bytes, which a stack's readings are of.
    pub forwarded: String,
    /// In the order of the stacks.
    pub answers: Vec<Answer>,
}

/// Shows whether the same bytes were forwarded again.
pub fn fingerprint(forwarded: &[u8]) -> String {
    hex(&Sha256::digest(forwarded)[..8])
}

impl Kept {
    /// As text: a line for each stack, then one for each request, with tabs between its parts.
    pub fn write(&self) -> String {
        let mut text = "# Written by scripts/stacks --keep: the thing read, whether a stack may read nothing of it, the request, a\n\
                        # fingerprint of what the gate forwarded, and what each stack read of that.\n"
            .to_owned();
        for (name, version) in &self.stacks {
            let _ = writeln!(text, "stack\t{name}\t{version}");
        }
        for row in &self.rows {
            let (thing, request) = (row.case.thing.name(), row.case.bytes.escape_ascii());
            let _ = write!(
                text,
                "{thing}\t{}\t{request}\t{}",
                u8::from(row.case.may_be_missed),
                row.forwarded
            );
            for answer in &row.answers {
                text.push('\t');
                text.push_str(&said(row.case.thing, answer));
            }
            text.push('\n');
        }
        text
    }

    /// # Errors
    /// The line that is not as [`Kept::write`] writes it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut kept = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut parts = line.split('\t');
            if let Some(version) = line.strip_prefix("stack\t") {
                let (name, version) = version.split_once('\t').ok_or(line)?;
                kept.stacks.push((name.to_owned(), version.to_owned()));
                continue;
            }
            kept.rows.push(row(&mut parts).ok_or(line)?);
        }
        Ok(kept)
    }
}

fn row<'t>(parts: &mut impl Iterator<Item = &'t str>) -> Option<Row> {
    let thing = Thing::of(parts.next()?)?;
    let case = Case {
        thing,
        may_be_missed: parts.next()? == "1",
        bytes: unescape(parts.next()?)?,
    };
    let forwarded = parts.next()?.to_owned();
    let answers = parts.map(|text| unsaid(thing, text)).collect::<Option<_>>()?;
    Some(Row {
        case,
        forwarded,
        answers,
    })
}

/// `refused`, or the readings of the thing that counts: `call=value`, the value in hexadecimal digits.
fn said(thing: Thing, answer: &Answer) -> String {
    let Answer::Read(readings) = answer else {
        return "refused".to_owned();
    };
    let own = readings.iter().filter(|reading| reading.thing == thing);
    let own: Vec<String> = own
        .map(|reading| format!("{}={}", reading.by, hex(&reading.value)))
        .collect();
    own.join(",")
}

fn unsaid(thing: Thing, text: &str) -> Option<Answer> {
    if text == "refused" {
        return Some(Answer::Refused(400));
    }
    let reading = |text: &str| {
        let (by, value) = text.split_once('=')?;
        Some(Reading {
            thing,
            by: by.to_owned(),
            value: unhex(value)?,
        })
    };
    let readings = text.split(',').filter(|text| !text.is_empty()).map(reading);
    Some(Answer::Read(readings.collect::<Option<_>>()?))
}

/// The bytes that [`slice::escape_ascii`] wrote.
pub fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let digits = [bytes.next()?, bytes.next()?];
                *unhex(std::str::from_utf8(&digits).ok()?)?.first()?
            }
            plain => plain,
        });
    }
    Some(out)
}
