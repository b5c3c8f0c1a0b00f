//! `ropeline log`: shows the entries of the gates, one a line, from an archive, a data folder or a store.

mod store;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::Args;

use crate::archive::{History, Step, Stored};
use crate::dates::rfc3339;
use crate::report::{Source, describe, structured};
use crate::terminal::plain;
use ropeline_ids::{Position, RoomName};

use super::output::{Format, say};

/// Arguments of `ropeline log`.
#[derive(Debug, Args)]
#[command(after_help = "\
FROM is a folder of an archive, the data folder of a gate that is stopped (or a copy), or the store's URL as in [store]
url. Nothing is changed. Each printed line has the time, the position, the gate and the content of one entry. Numbers are
places in the order of arrival.

Examples:
  ropeline log /var/lib/ropeline/archive
  ropeline log redis://127.0.0.1:6379 --follow
  ropeline log rediss://redis.internal:6379 --ca-file /etc/ropeline/ca.pem
  ropeline log ropeline-data --room shop --format json

Exit codes: 0 done, 1 an entry cannot be read or the chain does not match, 64 wrong usage, 66 nothing to read")]
pub struct LogArgs {
    /// A folder or the store's URL
    #[arg(value_name = "FROM")]
    from_where: String,
    /// Start at this entry: epoch-sequence, as printed
    #[arg(long, value_name = "POSITION")]
    from: Option<String>,
    /// Only entries about this room
    #[arg(long, value_name = "NAME")]
    room: Option<String>,
    /// Print new entries as they come, until interrupted
    #[arg(long)]
    follow: bool,
    /// Text, or one JSON object a line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// With Redis: the prefix of its keys
    #[arg(long, default_value = "ropeline", value_name = "PREFIX")]
    prefix: String,
    /// Password of Redis, if the URL has none
    #[arg(
        long,
        env = "ROPELINE_STORE_PASSWORD",
        hide_env_values = true,
        value_name = "PASSWORD"
    )]
    password: Option<String>,
    /// With Redis over TLS: trusted certificate authorities, in PEM
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

/// How entries are shown.
struct Show {
    room: Option<RoomName>,
    format: Format,
    /// The last entry shown; earlier ones are skipped.
    last: Option<Position>,
    faults: u64,
}

/// Why nothing is shown: a sentence and the exit code.
type Failure = (String, u8);

/// Runs `ropeline log`.
#[must_use]
pub fn run(args: &LogArgs) -> ExitCode {
    match shown(args) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err((message, code)) => {
            eprintln!("ropeline log: {message}");
            ExitCode::from(code)
        }
    }
}

/// How many faults were met.
fn shown(args: &LogArgs) -> Result<u64, Failure> {
    let usage = |message: String| (message, EXIT_USAGE);
    let room = match &args.room {
        Some(name) => Some(RoomName::new(name).ok_or_else(|| usage(format!("{name:?} cannot be a room's name")))?),
        None => None,
    };
    let from = match &args.from {
        Some(text) => Some(position(text).ok_or_else(|| usage(format!("{text:?} is no position: 123-45")))?),
        None => None,
    };
    let mut show = Show {
        room,
        format: args.format,
        last: from.map(|from| Position {
            sequence: from.sequence.saturating_sub(1),
            ..from
        }),
        faults: 0,
    };
    if args.from_where.contains("://") {
        store::show(args, &mut show)?;
        return Ok(show.faults);
    }
    folder(args, &mut show)?;
    Ok(show.faults)
}

fn folder(args: &LogArgs, show: &mut Show) -> Result<(), Failure> {
    let folders = [PathBuf::from(&args.from_where)];
    let source = Source::open(&folders).map_err(|error| (error.to_string(), EXIT_NO_INPUT))?;
    let archive = matches!(source, Source::Archive(_));
    if args.follow && !archive {
        return Err((
            "a data folder cannot be followed while its gate has it: use its archive ([store] archive)".into(),
            EXIT_USAGE,
        ));
    }
    source.walk(&mut |step| show.step(step));
    if !args.follow {
        return Ok(());
    }
    loop {
        pause();
        let history = History::open(&folders).map_err(|error| (error.to_string(), EXIT_FAILED))?;
        let rest = match show.last {
            Some(last) => history.after(last),
            None => history,
        };
        rest.walk(&mut |step| show.step(step));
    }
}

impl Show {
    fn step(&mut self, step: Step<'_>) {
        match step {
            Step::Entry { stored, .. } => self.entry(stored),
            Step::Fault(fault) => self.fault(&fault.to_string()),
            Step::Begins { first, .. } if self.last.is_none_or(|last| last.epoch < first.epoch) => {
                self.note(&format!("log {} begins", first.epoch));
            }
            Step::Begins { .. } | Step::File { .. } | Step::Base { .. } => {}
        }
    }

    /// Shows an entry, unless it was shown before or is about other rooms.
    fn entry(&mut self, stored: &Stored) {
        let entry = &stored.entry;
        if self.last.is_some_and(|last| entry.position <= last) {
            return;
        }
        self.last = Some(entry.position);
        let only = self.room.as_ref().map(RoomName::as_str);
        let said = describe::batch(&entry.batch, only);
        if only.is_some() && !is_about(stored, only) {
            return;
        }
        if self.format == Format::Json {
            return say(&format!("{}\n", structured::entry(stored, only)));
        }
        let says = match () {
            () if stored.passed_over => format!("(passed over) {}", said.join("; ")),
            () if said.is_empty() => "-".to_owned(),
            () => said.join("; "),
        };
        let plain = plain(&says);
        say(&format!(
            "{}  {}  {}  {plain}\n",
            rfc3339(entry.time),
            entry.position,
            describe::gate(entry.gate)
        ));
    }

    fn fault(&mut self, fault: &str) {
        self.faults += 1;
        eprintln!("ropeline log: {fault}");
    }

    /// Something to know about the log, apart from its entries.
    fn note(&self, note: &str) {
        if self.format == Format::Text {
            say(&format!("# {note}\n"));
        }
    }
}

fn is_about(stored: &Stored, only: Option<&str>) -> bool {
    let batch = &stored.entry.batch;
    let rooms = batch.rooms.iter().map(|change| change.room.as_str());
    let sections = batch.sections.iter().map(|section| section.room.as_str());
    rooms.chain(sections).any(|room| Some(room) == only)
}

/// As positions are shown.
fn position(text: &str) -> Option<Position> {
    let (epoch, sequence) = text.split_once('-')?;
    Some(Position {
        epoch: epoch.parse().ok()?,
        sequence: sequence.parse().ok()?,
    })
}

/// Waits before looking again.
fn pause() {
    let (keep, nothing) = channel::<()>();
    // There is no sender: only the time ends it.
    let _ = nothing.recv_timeout(LOOK_EVERY);
    drop(keep);
}

const LOOK_EVERY: Duration = Duration::from_millis(500);

const EXIT_FAILED: u8 = 1;

/// As `sysexits.h` has them: `EX_USAGE`, `EX_NOINPUT`.
const EXIT_USAGE: u8 = 64;
const EXIT_NO_INPUT: u8 = 66;
