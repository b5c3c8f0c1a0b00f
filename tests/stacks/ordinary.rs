//! Requests as shops get them every day: the gate refuses none of them.

use super::case::{Case, Thing};
use super::kept::unescape;

/// The requests of a file: a line each, with tabs between method, target, fields and body.
///
/// # Errors
/// The line that has too few parts.
pub fn cases(text: &str) -> Result<Vec<Case>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| case(line).ok_or_else(|| line.to_owned())).collect()
}

fn case(line: &str) -> Option<Case> {
    let mut parts = line.split('\t');
    let (method, target) = (parts.next()?, parts.next()?);
    let (fields, body) = (unescape(parts.next()?)?, unescape(parts.next()?)?);
    let thing = match target.split(['/', '?']).nth(1)? {
        "event" => Thing::Event,
        "buy" => Thing::Id,
        "book" => Thing::EventId,
        "member" => Thing::User,
        "basket" => Thing::Sid,
        "enter" => Thing::Email,
        _ => return None,
    };
    let end: &[u8] = if fields.is_empty() { b"" } else { b"\r\n" };
    let length = if method == "GET" {
        String::new()
    } else {
        format!("Content-Length: {}\r\n", body.len())
    };
    let first = format!("{method} {target} HTTP/1.1\r\n{}", super::generate::PAGE);
    Some(Case {
        thing,
        may_be_missed: target.contains("ID=") || target.contains("Event_Id="),
        bytes: [first.as_bytes(), &fields, end, length.as_bytes(), b"\r\n", &body].concat(),
    })
}
