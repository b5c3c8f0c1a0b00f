//! Arrivals from an access log: the gate's JSON lines, or the common and combined formats.
//!
//! The first request of each address and browser is an arrival, and so is one after so long that a session would be over.
//! Unreadable lines are counted and reported. The file is read once, line by line, and only the times are kept.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use jiff::Timestamp;
use jiff::fmt::strtime;
use serde::Deserialize;

use crate::simulate::MAX_VISITORS;

/// The visitors in an access log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Replay {
    /// In milliseconds after the first, in order.
    pub arrivals: Vec<u64>,
    /// Requests read, and lines that could not be, with the first of these.
    pub requests: u64,
    pub unread: u64,
    pub first_unread: Option<u64>,
}

/// Reads a log. A visitor has left after `idle_ms` without a request.
///
/// # Errors
/// When the file cannot be read, holds no request, or more visitors than a simulation takes.
pub fn read(file: &Path, idle_ms: u64) -> Result<Replay, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let open = File::open(file).map_err(failed)?;
    let replay = of(&mut BufReader::new(open), idle_ms).map_err(failed)?;
    if replay.arrivals.is_empty() {
        let lines = replay.unread;
        return Err(format!(
            "{}: none of its {lines} lines is a request in the common or combined format, or in JSON with timestamp and client.address",
            file.display()
        ));
    }
    if replay.arrivals.len() > MAX_VISITORS as usize {
        return Err(format!("{}: more than {MAX_VISITORS} visitors", file.display()));
    }
    Ok(replay)
}

fn of(log: &mut dyn BufRead, idle_ms: u64) -> std::io::Result<Replay> {
    let mut replay = Replay::default();
    let idle_ms = i64::try_from(idle_ms).unwrap_or(i64::MAX);
    let keys = RandomState::new();
    // When each visitor was seen last.
    let mut seen: HashMap<u64, i64> = HashMap::new();
    let mut arrivals: Vec<i64> = Vec::new();
    let mut line = Vec::new();
    let mut number = 0;
    while next_line(log, &mut line)? {
        number += 1;
        if line.is_empty() {
            continue;
        }
        let Some(request) = std::str::from_utf8(&line).ok().and_then(Request::of) else {
            replay.unread += 1;
            replay.first_unread.get_or_insert(number);
            continue;
        };
        replay.requests += 1;
        if request.is_virtual {
            continue;
        }
        let who = keys.hash_one((&request.client, &request.agent));
        let last = seen.entry(who).or_insert(i64::MIN);
        // A line that is out of order begins nothing.
        if request.at_ms.saturating_sub(*last) > idle_ms {
            arrivals.push(request.at_ms);
        }
        *last = (*last).max(request.at_ms);
        if arrivals.len() > MAX_VISITORS as usize {
            break;
        }
    }
    arrivals.sort_unstable();
    let first = arrivals.first().copied().unwrap_or(0);
    replay.arrivals = arrivals.iter().map(|at| at.abs_diff(first)).collect();
    Ok(replay)
}

/// The next line without its end, up to the longest line; false at the end of the log.
fn next_line(log: &mut dyn BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let read = log.take(MAX_LINE).read_until(b'\n', line)?;
    if read as u64 == MAX_LINE && line.last() != Some(&b'\n') {
        // The rest of it is skipped.
        skip_line(log)?;
    }
    line.truncate(line.trim_ascii_end().len());
    Ok(read > 0)
}

fn skip_line(log: &mut dyn BufRead) -> std::io::Result<()> {
    loop {
        let bytes = log.fill_buf()?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(bytes.len(), |at| at + 1);
        let over = end.is_some() || used == 0;
        log.consume(used);
        if over {
            return Ok(());
        }
    }
}

/// One request of a log.
#[derive(PartialEq, Eq, Debug)]
struct Request {
    at_ms: i64,
    client: String,
    agent: String,
    /// Of a rehearsal.
    is_virtual: bool,
}

/// As the gate's own access log has it; the others' names are those that servers commonly use.
#[derive(Deserialize)]
struct Json {
    #[serde(alias = "time", alias = "@timestamp", alias = "ts")]
    timestamp: Time,
    #[serde(
        rename = "client.address",
        alias = "remote_addr",
        alias = "client_ip",
        alias = "remote_ip"
    )]
    client: String,
    #[serde(
        rename = "user_agent.original",
        alias = "http_user_agent",
        alias = "user_agent",
        default
    )]
    agent: Option<String>,
    #[serde(default)]
    outcome: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Time {
    Text(String),
    /// Seconds since 1970.
    Secs(f64),
}

impl Request {
    fn of(line: &str) -> Option<Self> {
        if line.starts_with('{') {
            return Self::of_json(line);
        }
        Self::of_common(line)
    }

    fn of_json(line: &str) -> Option<Self> {
        let json: Json = serde_json::from_str(line).ok()?;
        let at_ms = match json.timestamp {
            Time::Text(text) => text.parse::<Timestamp>().ok()?.as_millisecond(),
            #[expect(clippy::cast_possible_truncation, reason = "of a date")]
            Time::Secs(secs) => (secs * 1_000.0) as i64,
        };
        Some(Self {
            at_ms,
            client: json.client,
            agent: json.agent.unwrap_or_default(),
            is_virtual: json.outcome.as_deref() == Some("rehearsed"),
        })
    }

    /// `address ident user [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326 "referer" "agent"`.
    fn of_common(line: &str) -> Option<Self> {
        let client = line.split(' ').next().filter(|client| !client.is_empty())?;
        let (_, rest) = line.split_once('[')?;
        let (time, rest) = rest.split_once(']')?;
        let at_ms = strtime::parse("%d/%b/%Y:%H:%M:%S %z", time)
            .ok()?
            .to_timestamp()
            .ok()?
            .as_millisecond();
        rest.trim_start().strip_prefix('"')?;
        let mut quoted = rest.split('"').skip(5);
        Some(Self {
            at_ms,
            client: client.to_owned(),
            agent: quoted.next().unwrap_or_default().to_owned(),
            is_virtual: false,
        })
    }
}

/// Longest line that is read whole.
const MAX_LINE: u64 = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Replay {
        of(&mut text.as_bytes(), 300_000).unwrap()
    }

    const COMBINED: &str = "\
192.0.2.1 - - [10/Oct/2026:13:55:36 +0200] \"GET / HTTP/1.1\" 200 2326 \"-\" \"Firefox\"
192.0.2.1 - - [10/Oct/2026:13:55:39 +0200] \"GET /a HTTP/1.1\" 200 2326 \"-\" \"Firefox\"
192.0.2.1 - - [10/Oct/2026:13:55:40 +0200] \"GET / HTTP/1.1\" 200 2326 \"-\" \"Chrome\"
2001:db8::1 - anna [10/Oct/2026:11:56:36 +0000] \"GET / HTTP/1.1\" 503 12
192.0.2.1 - - [10/Oct/2026:14:05:36 +0200] \"GET / HTTP/1.1\" 200 2326 \"-\" \"Firefox\"
";

    #[test]
    fn each_browser_comes_once_until_its_session_would_be_over() {
        let replay = read_text(COMBINED);
        assert_eq!(replay.arrivals, [0, 4_000, 60_000, 600_000]);
        assert_eq!((replay.requests, replay.unread), (5, 0));
    }

    #[test]
    fn the_gates_own_log_is_read_and_so_are_other_servers_json_lines() {
        let replay = read_text(
            "{\"timestamp\":\"2026-10-10T11:55:36.250Z\",\"client.address\":\"192.0.2.0/24\",\"user_agent.original\":\"a\"}\n\
             {\"timestamp\":\"2026-10-10T11:55:36.500Z\",\"client.address\":\"192.0.2.0/24\",\"outcome\":\"rehearsed\"}\n\
             {\"ts\":1791633337.0,\"remote_ip\":\"192.0.2.9\",\"status\":200}\n",
        );
        assert_eq!((replay.arrivals, replay.unread), (vec![0, 750], 0));
    }

    #[test]
    fn what_cannot_be_read_is_counted_whatever_it_is() {
        let long = "x".repeat(200_000);
        let replay = read_text(&format!(
            "{COMBINED}\nnonsense\n{long}\n{{\"a\":\n- - [x] \"\n{COMBINED}"
        ));
        assert_eq!((replay.unread, replay.first_unread), (4, Some(7)));
        assert_eq!((replay.requests, replay.arrivals.len()), (10, 4), "none twice at once");
        assert_eq!(of(&mut &b"\xff\xfe\n"[..], 1).unwrap().unread, 1);
        assert!(read_text("").arrivals.is_empty());
    }
}
