//! Logs: one event a line, as text for a person at a terminal or as JSON for a machine, times in RFC 3339 UTC.
//!
//! Lines go through a bounded queue to a thread of their own ([`Lines`]), so a full pipe never delays a request: lines beyond
//! the bound are dropped and counted. No token or cookie is ever logged, and at info an address only [`Masked`]. The access
//! log is separate ([`AccessLog`]) and off unless configured.

mod access;
mod lines;

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{EnvFilter, Registry, reload};

pub use access::{Access, AccessLog, AccessTarget, Turn};
pub use lines::{Line, Lines};

/// How log lines look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// Text on a terminal, JSON otherwise.
    #[default]
    Auto,
    Text,
    Json,
}

/// The events to log, and their form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    pub format: Format,
    /// A level (`info`) or directives by module (`info,ropeline_proxy=debug`). `h2` and `hickory_*` log where they are named.
    pub filter: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: Format::Auto,
            filter: "info".to_owned(),
        }
    }
}

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    #[error("the log filter {filter:?} is no level and no list of target=level: {reason}")]
    Filter { filter: String, reason: String },
    #[error("the log's thread cannot be started")]
    Thread(#[from] io::Error),
    #[error("logging is already set up")]
    Twice,
}

/// True when `filter` can be used in [`Options`]; says why not otherwise.
///
/// # Errors
/// [`InitError::Filter`] with the reason in words.
pub fn check_filter(filter: &str) -> Result<(), InitError> {
    parse_filter(filter).map(drop)
}

/// Keeps the log's thread: dropped last in `main`, it writes the lines that are still queued.
#[derive(Debug)]
#[must_use = "lines still queued are lost when this is not kept until the end"]
pub struct Logging {
    lines: Lines,
    filter: Filter,
}

/// How much is logged, to be changed while the process runs; clones are the same.
#[derive(Clone, Debug)]
pub struct Filter(reload::Handle<EnvFilter, Registry>);

impl Filter {
    /// Logs by another filter from now on.
    ///
    /// # Errors
    /// When the filter is wrong.
    pub fn set(&self, filter: &str) -> Result<(), InitError> {
        let filter = parse_filter(filter)?;
        // It fails only where the subscriber is gone, and then there is no log.
        let _ = self.0.reload(filter);
        Ok(())
    }
}

impl Logging {
    /// The filter in force, to be changed.
    #[must_use]
    pub fn filter(&self) -> Filter {
        self.filter.clone()
    }

    /// Writes the lines queued so far, for a process that ends elsewhere than in `main`.
    pub fn flusher(&self) -> impl FnOnce() + Send + use<> {
        let lines = self.lines.clone();
        move || {
            let _ = lines.flush(FLUSH_WITHIN);
        }
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        let _ = self.lines.flush(FLUSH_WITHIN);
    }
}

/// Starts logging to standard error for the whole process; `dropped` counts the lines that did not fit the queue.
///
/// # Errors
/// When the filter is wrong, the thread cannot be started, or logging was started before.
pub fn init(options: &Options, dropped: Counter) -> Result<Logging, InitError> {
    let filter = parse_filter(&options.filter)?;
    let terminal = io::stderr().is_terminal();
    let lines = Lines::start(Box::new(io::stderr()), dropped)?;
    let json = match options.format {
        Format::Auto => !terminal,
        Format::Text => false,
        Format::Json => true,
    };
    let (subscriber, filter) = subscriber(filter, json, terminal, lines.clone());
    tracing::subscriber::set_global_default(subscriber).map_err(|_| InitError::Twice)?;
    Ok(Logging { lines, filter })
}

type Subscriber = Box<dyn tracing::Subscriber + Send + Sync>;

fn subscriber(filter: EnvFilter, json: bool, terminal: bool, lines: Lines) -> (Subscriber, Filter) {
    let (filter, handle) = reload::Layer::new(filter);
    (layered(filter, json, terminal, lines), Filter(handle))
}

fn layered(filter: reload::Layer<EnvFilter, Registry>, json: bool, terminal: bool, lines: Lines) -> Subscriber {
    let layer = tracing_subscriber::fmt::layer()
        .with_timer(Utc)
        .with_writer(Events(lines));
    let registry = tracing_subscriber::registry().with(filter);
    if json {
        return Box::new(registry.with(layer.json().flatten_event(true).with_current_span(false)));
    }
    if terminal {
        // Colours by the library's default, which honours NO_COLOR.
        return Box::new(registry.with(layer));
    }
    Box::new(registry.with(layer.with_ansi(false)))
}

/// The filter as it was given, with [`UNASKED`] before it: a later directive of the same target takes its place, and a longer
/// target goes first.
fn parse_filter(filter: &str) -> Result<EnvFilter, InitError> {
    let asked = if filter.is_empty() { "error" } else { filter };
    // A single word that is not a level would be a module of that name, and nothing else would be logged.
    let odd = asked.split(',').map(str::trim).find(|one| {
        let is_word = !one.contains(['=', ':', '[']);
        is_word && one.parse::<LevelFilter>().is_err()
    });
    if let Some(odd) = odd {
        return Err(InitError::Filter {
            filter: filter.to_owned(),
            reason: format!("\"{odd}\" is none of off, error, warn, info, debug and trace"),
        });
    }
    EnvFilter::builder()
        .parse(format!("{UNASKED},{asked}"))
        .map_err(|error| InitError::Filter {
            filter: filter.to_owned(),
            reason: error.to_string(),
        })
}

/// SECURITY: libraries that write down whole addresses (`hickory_*`), or a line for each connection that a stranger breaks (`h2`).
const UNASKED: &str = "hickory=off,h2=off";

/// RFC 3339 in UTC with milliseconds.
struct Utc;

impl FormatTime for Utc {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", timestamp())
    }
}

/// Now as RFC 3339 in UTC with milliseconds, for log lines.
#[must_use]
pub fn timestamp() -> String {
    crate::dates::rfc3339(crate::time::wall())
}

/// Gives each event a separate [`Line`].
struct Events(Lines);

impl<'a> MakeWriter<'a> for Events {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        self.0.line()
    }
}

/// An address without its last part: IPv4 by /24, IPv6 by /48; IPv4 mapped into IPv6 counts as IPv4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masked(pub IpAddr);

impl fmt::Display for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.to_canonical() {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                write!(f, "{}", Ipv4Addr::new(a, b, c, 0))
            }
            IpAddr::V6(address) => {
                let [a, b, c, ..] = address.segments();
                write!(f, "{}", Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
            }
        }
    }
}

/// How long the end of the process waits for queued lines.
const FLUSH_WITHIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::lines::tests::Sink;
    use super::*;

    fn logged(json: bool, event: impl FnOnce()) -> String {
        logged_by("info", json, event)
    }

    fn logged_by(filter: &str, json: bool, event: impl FnOnce()) -> String {
        let sink = Sink::default();
        let lines = Lines::start(Box::new(sink.clone()), Counter::default()).expect("a thread");
        let filter = parse_filter(filter).expect("a filter");
        tracing::subscriber::with_default(subscriber(filter, json, false, lines.clone()).0, event);
        assert!(lines.flush(Duration::from_secs(30)), "the writer answers");
        sink.text()
    }

    #[test]
    fn a_json_line_has_time_level_message_and_fields() {
        let text = logged(true, || tracing::info!(room = "main", revision = 3, "room changed"));
        let line: serde_json::Value = serde_json::from_str(&text).expect("one JSON object");
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["message"], "room changed");
        assert_eq!((&line["room"], &line["revision"]), (&"main".into(), &3.into()));
        let time = line["timestamp"].as_str().expect("a time");
        assert!(
            time.ends_with('Z') && time.len() == "2026-01-01T00:00:00.000Z".len(),
            "{time}"
        );
    }

    #[test]
    fn what_a_visitor_sent_cannot_start_a_second_line() {
        for json in [false, true] {
            let evil = "x\r\n2026-01-01 INFO all is well \u{1b}[2J";
            let text = logged(json, || tracing::info!(path = %evil, "{evil}"));
            assert_eq!(text.lines().count(), 1, "{text:?}");
            assert!(!text.contains(['\r', '\u{1b}']), "{text:?}");
        }
    }

    #[test]
    fn events_below_the_level_are_not_written() {
        assert_eq!(logged(false, || tracing::debug!("secretive")), "");
    }

    #[test]
    fn libraries_that_strangers_can_make_talk_do_so_only_where_they_are_named() {
        let told = |filter: &str| {
            let text = logged_by(filter, false, || {
                tracing::warn!(target: "h2::proto::streams::recv", "of h2");
                tracing::error!(target: "hickory_net::udp::udp_client_stream", "of udp");
                tracing::error!(target: "hickory_resolver::name_server_pool", "of names");
                tracing::error!("of ours");
            });
            ["of h2", "of udp", "of names", "of ours"].map(|line| text.contains(line))
        };
        for general in ["info", "trace", "", "debug,ropeline_proxy=trace"] {
            assert_eq!(told(general), [false, false, false, true], "{general:?}");
        }
        assert_eq!(told("info,h2=warn"), [true, false, false, true]);
        assert_eq!(told("h2::proto=debug,info"), [true, false, false, true]);
        assert_eq!(told("hickory_net=info,info"), [false, true, false, true]);
        assert_eq!(told("hickory=error"), [false, true, true, false]);
        assert_eq!(told("warn,h2=error"), [false, false, false, true]);
    }

    #[test]
    fn a_wrong_filter_is_refused_in_words() {
        let error = check_filter("ropeline=loud").expect_err("no such level");
        assert!(error.to_string().contains("ropeline=loud"), "{error}");
        assert!(!error.to_string().contains("h2"), "{error}");
        assert!(check_filter("info,ropeline_proxy=debug").is_ok());
        for word in ["warning", "info,verbose", "7x"] {
            assert!(check_filter(word).is_err(), "{word}");
        }
        for level in ["WARN", "off", "debug,h2=info", "ropeline::gate"] {
            assert!(check_filter(level).is_ok(), "{level}");
        }
    }

    #[test]
    fn a_masked_address_names_a_network_not_a_person() {
        let masked = |text: &str| Masked(text.parse().expect("an address")).to_string();
        assert_eq!(masked("203.0.113.77"), "203.0.113.0");
        assert_eq!(masked("::ffff:203.0.113.77"), "203.0.113.0");
        assert_eq!(masked("2001:db8:1:2:3:4:5:6"), "2001:db8:1::");
    }
}
