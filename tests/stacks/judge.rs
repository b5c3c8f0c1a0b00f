//! Where a stack reads another value than the gate did.

use super::case::{Answer, Case, Thing, unhex};
use super::gate::{Gate, Outcome};

/// The disagreement; none if the gate refused the request, or the stack did, or both read the same.
pub fn disagreement(gate: &Gate, case: &Case, outcome: &Outcome, answer: &Answer) -> Option<String> {
    let (Outcome::Forwarded { line, account, .. }, Answer::Read(readings)) = (outcome, answer) else {
        return None;
    };
    let own: Vec<_> = readings.iter().filter(|reading| reading.thing == case.thing).collect();
    let chose = match line {
        _ if case.thing.is_account() => account.is_some(),
        Some(line) => !line.is_empty(),
        // Outside the room: nothing was chosen, and nothing may be read.
        None => false,
    };
    if own.is_empty() {
        return (chose && !case.may_be_missed).then(|| "the gate chose, the stack reads nothing".to_owned());
    }
    let other = own.iter().find(|reading| {
        let text = String::from_utf8_lossy(&reading.value);
        if case.thing.is_account() {
            // An empty name names no account, to gate and shop.
            !spellings(case.thing, &text)
                .iter()
                .any(|text| gate.tag(case.thing, text) == *account)
        } else {
            line.as_deref() != Some(text.to_lowercase().as_str())
        }
    })?;
    let text = String::from_utf8_lossy(&other.value);
    let chosen = match line {
        _ if case.thing.is_account() => if account.is_some() { "another account" } else { "nobody" }.to_owned(),
        Some(line) => format!("{line:?}"),
        None => "no line".to_owned(),
    };
    Some(format!("{} reads {text:?}, the gate {chosen}", other.by))
}

/// A value as other stacks hand it on. Each differs from the others for every account alike, so none makes two of one account or one of
/// two: bytes read as Latin-1, as WSGI, Node.js and servlets read fields; a cookie's escapes decoded or not, for the gate takes one
/// spelling alone; and a cookie's `+` read as a space, which has no other spelling.
fn spellings(thing: Thing, text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    let latin = text
        .chars()
        .map(|letter| u8::try_from(u32::from(letter)).ok())
        .collect::<Option<Vec<u8>>>();
    all.extend(latin.and_then(|bytes| String::from_utf8(bytes).ok()));
    if thing == Thing::Sid {
        all.push(text.replace(' ', "+"));
        all.extend(decoded(text));
    }
    all
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next()?, bytes.next()?];
            out.extend(unhex(std::str::from_utf8(&digits).ok()?)?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}
