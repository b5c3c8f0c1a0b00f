//! The access log: one JSON object a line for each request that was answered; off unless configured.
//!
//! Field names follow OpenTelemetry's conventions for HTTP where those exist. The query is left out, since links carry
//! secrets there; so are cookies and tokens. The address is masked unless the operator configures the full one.

use std::fs::OpenOptions;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::metrics::counter::Counter;
use serde::Serialize;

use super::{Lines, Masked};
use crate::metrics::Outcome;
use ropeline_ids::RoomName;

/// Where the access log goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccessTarget {
    Stdout,
    /// Appended to; made if missing.
    File(PathBuf),
}

/// One request and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    pub id: &'a str,
    /// Of a `traceparent`, if the request came with a good one.
    pub trace: Option<&'a str>,
    pub client: IpAddr,
    pub method: &'a Method,
    /// The target's path; a query is cut off.
    pub path: &'a str,
    pub status: StatusCode,
    /// From the request's head to the end of the answer's head.
    pub duration: Duration,
    /// Of that, from asking the upstream to the head of its answer.
    pub upstream: Option<Duration>,
    /// The name of the upstream that the host belongs to, where it has one.
    pub upstream_name: Option<&'a str>,
    pub room: Option<&'a RoomName>,
    pub outcome: Outcome,
    pub user_agent: Option<&'a str>,
}

/// A handle to the access log; cheap to clone.
#[derive(Clone, Debug)]
pub struct AccessLog {
    lines: Lines,
    full_addresses: bool,
}

impl AccessLog {
    /// Opens the target; `dropped` counts lines that did not fit the queue.
    ///
    /// # Errors
    /// When the file cannot be opened for appending, or the system gives no thread.
    pub fn open(target: &AccessTarget, full_addresses: bool, dropped: Counter) -> io::Result<Self> {
        Ok(Self {
            lines: Lines::start(out(target)?, dropped)?,
            full_addresses,
        })
    }

    /// Opens a target to which this log may [turn](Self::turn); a file that was moved away is made anew.
    ///
    /// # Errors
    /// When the file cannot be opened for appending.
    pub fn prepare(target: &AccessTarget) -> io::Result<Turn> {
        out(target).map(Turn)
    }

    /// The same log at another place, or with other settings; lines of requests that began before go there too.
    #[must_use]
    pub fn turn(&self, turn: Turn, full_addresses: bool) -> Self {
        self.lines.turn(turn.0);
        Self {
            lines: self.lines.clone(),
            full_addresses,
        }
    }

    /// Queues one line; never waits.
    pub fn record(&self, access: &Access<'_>) {
        let record = Record::new(access, self.full_addresses);
        // Strings and numbers only: there is nothing in a record that JSON cannot hold.
        if let Ok(line) = serde_json::to_vec(&record) {
            self.lines.send(line);
        }
    }

    /// Waits until everything recorded so far is written, at most `within`; false when it took longer.
    #[must_use]
    pub fn flush(&self, within: Duration) -> bool {
        self.lines.flush(within)
    }
}

/// An open target.
pub struct Turn(Box<dyn io::Write + Send>);

fn out(target: &AccessTarget) -> io::Result<Box<dyn io::Write + Send>> {
    Ok(match target {
        AccessTarget::Stdout => Box::new(io::stdout()),
        AccessTarget::File(path) => Box::new(append(path)?),
    })
}

fn append(path: &Path) -> io::Result<std::fs::File> {
    OpenOptions::new().append(true).create(true).open(path)
}

#[derive(Serialize)]
struct Record<'a> {
    timestamp: String,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
    #[serde(rename = "client.address")]
    client: String,
    #[serde(rename = "http.request.method")]
    method: &'a str,
    #[serde(rename = "url.path")]
    path: &'a str,
    #[serde(rename = "http.response.status_code")]
    status: u16,
    duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    room: Option<&'a str>,
    outcome: &'static str,
    #[serde(rename = "user_agent.original", skip_serializing_if = "Option::is_none")]
    user_agent: Option<&'a str>,
}

impl<'a> Record<'a> {
    fn new(access: &Access<'a>, full_addresses: bool) -> Self {
        let client = access.client.to_canonical();
        Self {
            timestamp: super::timestamp(),
            request_id: access.id,
            trace_id: access.trace,
            client: if full_addresses {
                client.to_string()
            } else {
                Masked(client).to_string()
            },
            method: access.method.as_str(),
            path: prefix(access.path.split('?').next().unwrap_or_default(), MAX_PATH),
            status: access.status.as_u16(),
            duration_ms: millis(access.duration),
            upstream_ms: access.upstream.map(millis),
            upstream: access.upstream_name,
            room: access.room.map(RoomName::as_str),
            outcome: access.outcome.as_str(),
            user_agent: access.user_agent.map(|agent| prefix(agent, MAX_AGENT)),
        }
    }
}

/// Milliseconds with three decimals.
fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// At most `max` bytes of `text`, cut between characters: a line cut anywhere else would be no JSON.
fn prefix(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

/// Longest path and browser name in a line; escaped six-fold they still fit [`super::lines::MAX_LINE`].
const MAX_PATH: usize = 1_000;
const MAX_AGENT: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn record(log: &AccessLog, path: &str) {
        log.record(&Access {
            id: "6f1c9d1e-25a4",
            trace: Some("4bf92f3577b34da6a3ce929d0e0e4736"),
            client: "203.0.113.77".parse().expect("an address"),
            method: &Method::POST,
            path,
            status: StatusCode::OK,
            duration: Duration::from_micros(1_234),
            upstream: None,
            upstream_name: Some("shop"),
            room: Some(&RoomName::new("main").expect("a name")),
            outcome: Outcome::Inside,
            user_agent: Some("Mozilla/5.0 \"quoted\""),
        });
    }

    fn written(path: &str, full_addresses: bool) -> serde_json::Value {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("access.log");
        let log =
            AccessLog::open(&AccessTarget::File(file.clone()), full_addresses, Counter::default()).expect("opens");
        record(&log, path);
        assert!(log.flush(Duration::from_secs(30)), "the writer answers");
        let text = std::fs::read_to_string(file).expect("readable");
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).expect("JSON")
    }

    #[test]
    fn a_line_has_the_documented_fields_and_no_query() {
        let line = written("/seats/4?token=secret", false);
        assert_eq!(line["url.path"], "/seats/4");
        assert_eq!(line["client.address"], "203.0.113.0");
        assert_eq!(line["outcome"], "inside");
        assert_eq!(line["upstream"], "shop");
        assert_eq!(line["duration_ms"], 1.234);
        assert!(!line.to_string().contains("secret"), "{line}");
        assert_eq!(written("/", true)["client.address"], "203.0.113.77");
    }

    #[test]
    fn a_file_that_was_moved_away_is_made_anew_and_no_line_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, moved) = (folder.path().join("access.log"), folder.path().join("access.log.1"));
        let target = AccessTarget::File(file.clone());
        let log = AccessLog::open(&target, false, Counter::default()).expect("opens");
        let begun_before = log.clone();
        record(&log, "/one");
        assert!(log.flush(Duration::from_secs(30)), "the writer answers");
        std::fs::rename(&file, &moved).expect("moved");
        record(&log, "/two");
        let log = log.turn(AccessLog::prepare(&target).expect("opens"), true);
        record(&log, "/three");
        record(&begun_before, "/four");
        assert!(log.flush(Duration::from_secs(30)), "the writer answers");
        let paths = |file| {
            let text = std::fs::read_to_string(file).expect("readable");
            let path = |line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["url.path"].to_string();
            text.lines().map(path).collect::<Vec<_>>()
        };
        let (old, new) = (paths(&moved), paths(&file));
        assert_eq!(
            [old, new.clone()].concat(),
            ["\"/one\"", "\"/two\"", "\"/three\"", "\"/four\""]
        );
        assert_eq!(new[new.len() - 2..], ["\"/three\"", "\"/four\""]);
    }

    #[test]
    fn an_endless_path_is_cut_and_the_line_is_still_json() {
        let line = written(&"/\u{e9}\u{1}".repeat(40_000), false);
        assert!(line["url.path"].as_str().expect("a path").len() <= MAX_PATH);
    }
}
