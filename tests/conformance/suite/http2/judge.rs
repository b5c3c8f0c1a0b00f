//! Verdicts on cases over HTTP/2.

use std::fmt::Write;

use super::case::{Case, Expect};
use super::client::Heard;
use super::wire::PROTOCOL;
use crate::suite::case::Check;
use crate::suite::judge::{Facts, Outcome, Verdict};

/// Whether h2spec would be content, by the rules of its own: any close will do, and an answer is no refusal.
pub fn keeps_list(case: &Case, heard: &Heard, is_right: bool) -> bool {
    let ended = |codes: &[u32]| {
        let named = heard.resets().chain(heard.goaway).any(|code| codes.contains(&code));
        heard.closed || named
    };
    match case.expect {
        Expect::Malformed => ended(&[PROTOCOL]),
        Expect::Stream(codes) | Expect::Connection(codes) => ended(codes),
        _ => is_right,
    }
}

pub fn judge(case: &Case, heard: &Heard, facts: &Facts<'_>) -> Outcome {
    let (verdict, fault) = match facts.ambiguous() {
        Some(why) => (Verdict::Wrong, Some(format!("forwarded with an ambiguous {why}"))),
        None => match &case.expect {
            Expect::Passes(checks) => passes(case, heard, facts, checks),
            Expect::Either(checks) => match malformed(heard, facts) {
                right @ (Verdict::Right, _) => right,
                _ => passes(case, heard, facts, checks),
            },
            Expect::Malformed => malformed(heard, facts),
            Expect::Stream(codes) => ended(heard, codes, &heard.resets().chain(heard.goaway).collect::<Vec<_>>()),
            Expect::Connection(codes) => ended(heard, codes, heard.goaway.as_slice()),
            Expect::Alive => if_right(is_alive(heard), "the connection or a stream is ended"),
            Expect::Harmless => {
                let ended = heard.closed && heard.goaway.is_none_or(|code| code == 0);
                if_right(is_alive(heard) || ended, "answered as a fault")
            }
            Expect::Bytes(count) => if_right(heard.bytes() == *count, "more bytes, or fewer"),
        },
    };
    Outcome {
        verdict,
        tells: tells(heard, facts),
        fault,
    }
}

fn if_right(is_right: bool, fault: &str) -> (Verdict, Option<String>) {
    if is_right {
        (Verdict::Right, None)
    } else {
        (Verdict::Wrong, Some(fault.into()))
    }
}

fn is_alive(heard: &Heard) -> bool {
    let stands = |code: u32| code != 0;
    heard.pongs > 0 && !heard.closed && heard.goaway.is_none() && !heard.resets().any(stands)
}

fn ended(heard: &Heard, codes: &[u32], told: &[u32]) -> (Verdict, Option<String>) {
    let is_any = heard.closed || heard.goaway.is_some() || heard.resets().next().is_some();
    let is_named = told.iter().any(|code| codes.contains(code));
    // Closed without a word is as good as one (RFC 9113, section 5.4.1).
    if is_named || heard.closed && told.is_empty() && heard.resets().next().is_none() {
        return (Verdict::Right, None);
    }
    if !is_any {
        return (Verdict::Wrong, Some("goes on as if nothing were".into()));
    }
    (Verdict::Lenient, Some(format!("ended otherwise than with {codes:?}")))
}

fn malformed(heard: &Heard, facts: &Facts<'_>) -> (Verdict, Option<String>) {
    if !facts.messages.is_empty() {
        return (Verdict::Lenient, Some("forwarded".into()));
    }
    let statuses: Vec<u16> = heard.streams.values().filter_map(|told| told.status).collect();
    let is_refused = statuses.iter().all(|status| *status >= 400);
    let is_ended = heard.is_failed() || heard.resets().next().is_some();
    match (is_refused, is_ended || !statuses.is_empty()) {
        (false, _) => (Verdict::Wrong, Some("answered as if it were sound".into())),
        (true, true) => (Verdict::Right, None),
        (true, false) => (Verdict::Lenient, Some("waits".into())),
    }
}

fn passes(case: &Case, heard: &Heard, facts: &Facts<'_>, checks: &[Check]) -> (Verdict, Option<String>) {
    if heard.is_failed() {
        return (Verdict::Wrong, Some("the connection is ended".into()));
    }
    let mut checks = checks.to_vec();
    if !checks
        .iter()
        .any(|check| matches!(check, Check::Times(_) | Check::AnyTimes))
    {
        checks.push(Check::Times(case.streams.len()));
    }
    if !checks.iter().any(|check| matches!(check, Check::Status(_))) {
        checks.push(Check::Status(200));
    }
    let failed = checks.iter().find(|check| match check {
        Check::Times(times) => facts.messages.len() != *times,
        Check::Status(status) => {
            let of = |stream: &u32| heard.streams.get(stream).and_then(|told| told.status);
            !case.streams.iter().all(|stream| of(stream) == Some(*status))
        }
        check => !facts.holds(**check),
    });
    match failed {
        None => (Verdict::Right, None),
        Some(check) => (Verdict::Wrong, Some(format!("not {check:?}"))),
    }
}

/// Names of error codes (RFC 9113, section 7).
const CODES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

pub fn named(code: u32) -> &'static str {
    let at = usize::try_from(code).unwrap_or(usize::MAX);
    CODES.get(at).copied().unwrap_or("an unknown code")
}

/// A short text of the shop's requests, or of the client's answer.
fn tells(heard: &Heard, facts: &Facts<'_>) -> String {
    let mut words = facts.forwarded();
    if words.len() > 3 {
        words = vec![format!("{} requests", words.len())];
    }
    if let Some(code) = heard.goaway {
        words.push(format!("GOAWAY {}", named(code)));
    } else if let Some(code) = heard.resets().next() {
        words.push(format!("RST_STREAM {}", named(code)));
    } else if heard.closed {
        words.push("closed".into());
    }
    if words.is_empty() {
        let status = heard.streams.values().find_map(|told| told.status);
        words.push(status.map_or_else(|| "goes on".into(), |status| status.to_string()));
    }
    words.join(", ")
}

/// The part that must be the same for another delivery.
pub fn gist(heard: &Heard, facts: &Facts<'_>) -> String {
    let mut gist = facts.gist();
    for (stream, told) in &heard.streams {
        let _ = write!(gist, " {stream}: {:?} {:?}", told.status, told.reset);
    }
    let _ = write!(gist, " {:?}", heard.goaway);
    gist
}
