//! `ropeline check`: every mistake of a configuration at once, templates included.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::config::{self, Config, Mistake, Origin, Report};
use crate::crawlers;
use crate::time;

use super::config_file::{ConfigFile, of_environment};
use super::output::{EXIT_CONFIG, Format, say};

/// Arguments of `ropeline check`.
#[derive(Debug, Args)]
#[command(after_help = "\
--format json prints one array, for editors and pipelines. Each item has `severity` (mistake, warning or note), `file`, `line` and
`column` from 1 (null where the file as a whole is meant), `key`, `message` and `remedy`.

Examples:
  ropeline check                                  the config.toml in this folder
  ropeline check /etc/ropeline/config.toml && ropeline reload
  ropeline check --format json | jq -r '.[] | \"\\(.file):\\(.line): \\(.message)\"'

Exit codes: 0 nothing wrong (warnings may be printed), 78 mistakes, or a sale that is over")]
pub struct CheckArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// Accept sales that are over, as a gate that is restarted must
    #[arg(long)]
    starting: bool,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// All that is found, the mistakes first.
struct Checked<'a> {
    report: &'a Report,
    notes: Vec<Note>,
    /// The tables of rooms whose sale is over.
    over: Vec<&'a str>,
    /// The name servers that are asked for the names of crawlers' addresses.
    resolvers: Result<Vec<SocketAddr>, crawlers::StartError>,
}

/// Something that an operator may mean, so that it is no warning.
struct Note {
    key: String,
    message: String,
    /// What else to write.
    other: &'static str,
}

/// An item of the JSON.
#[derive(Serialize)]
struct Finding<'a> {
    severity: &'static str,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    key: &'a str,
    message: &'a str,
    remedy: &'a str,
}

/// Runs `ropeline check`.
#[must_use]
pub fn run(args: &CheckArgs) -> ExitCode {
    let file = args.config.or_default();
    let report = config::read(Some(file), &of_environment());
    let config = report.config();
    let checked = Checked {
        report: &report,
        notes: config.map(notes).unwrap_or_default(),
        over: config.filter(|_| !args.starting).map(over).unwrap_or_default(),
        resolvers: config.map_or(Ok(Vec::new()), |config| crawlers::resolvers(&config.crawlers)),
    };
    match args.format {
        Format::Text => say(&checked.text()),
        Format::Json => say(&checked.json(&file.display().to_string())),
    }
    if checked.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_CONFIG)
    }
}

impl Checked<'_> {
    fn is_good(&self) -> bool {
        self.report.mistakes().is_empty() && self.resolvers.is_ok() && self.over.is_empty()
    }

    fn text(&self) -> String {
        let mut text = self.report.to_string();
        for Note { key, message, other } in &self.notes {
            let _ = writeln!(text, "note: {key}: {message}; unless it is meant: {other}");
        }
        match &self.resolvers {
            Ok(resolvers) if resolvers.is_empty() => {}
            Ok(resolvers) => {
                let configured = self
                    .report
                    .config()
                    .is_some_and(|config| !config.crawlers.resolvers.is_empty());
                let from = if configured {
                    "[crawlers] resolvers"
                } else {
                    "/etc/resolv.conf"
                };
                let list: Vec<String> = resolvers.iter().map(ToString::to_string).collect();
                let _ = writeln!(text, "crawlers are looked up at {}, as {from} says", list.join(", "));
            }
            Err(error) => _ = writeln!(text, "{error}"),
        }
        if !self.over.is_empty() {
            text += "refused: a sale is over (--starting lets that pass)\n";
        }
        text
    }

    fn json(&self, file: &str) -> String {
        let of = |severity| move |mistake| Finding::placed(file, severity, mistake);
        let named = self.resolvers.as_ref().err().map(ToString::to_string);
        let mut findings: Vec<Finding<'_>> = self.report.mistakes().iter().map(of("mistake")).collect();
        for room in &self.over {
            let words = (*room, "the sale is over", "other dates, or --starting");
            findings.push(Finding::whole(file, "mistake", words));
        }
        if let Some(error) = &named {
            let words = ("crawlers.resolvers", error.as_str(), "addresses of name servers");
            findings.push(Finding::whole(file, "mistake", words));
        }
        findings.extend(self.report.warnings().iter().map(of("warning")));
        for Note { key, message, other } in &self.notes {
            findings.push(Finding::whole(file, "note", (key, message, other)));
        }
        format!("{}\n", serde_json::to_string_pretty(&findings).unwrap_or_default())
    }
}

impl<'a> Finding<'a> {
    /// About a key, at no place: its message, and the remedy.
    fn whole(file: &'a str, severity: &'static str, (key, message, remedy): (&'a str, &'a str, &'a str)) -> Self {
        Self {
            severity,
            file,
            line: None,
            column: None,
            key,
            message,
            remedy,
        }
    }

    fn placed(file: &'a str, severity: &'static str, mistake: &'a Mistake) -> Self {
        let place = match mistake.origin {
            Origin::File(place) => Some(place),
            _ => None,
        };
        Self {
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            ..Self::whole(file, severity, (&mistake.key, &mistake.wrong, &mistake.right))
        }
    }
}

/// Exceptions from the line that take more than reads of files, and rooms that have none at all.
fn notes(config: &Config) -> Vec<Note> {
    let mut notes = Vec::new();
    for room in &config.rooms {
        let note = |message: String, other: &'static str| {
            let key = format!("{}.except", room.place);
            Note { key, message, other }
        };
        if room.holds_everything() {
            let message = "static files wait too, so mails, caches and pages of other sites cannot load them";
            let other = "except = [\"/static/*\", …] with the paths of your assets";
            notes.push(note(message.to_owned(), other));
        }
        for entry in room.except.iter().filter(|entry| entry.is_wide()) {
            let message = format!("{entry} lets more past the line than reads of files");
            notes.push(note(message, "a narrower entry"));
        }
    }
    notes
}

/// The rooms whose dates lie behind: right after a sale, and of no use before one.
fn over(config: &Config) -> Vec<&str> {
    let now = time::wall();
    let is_over = |room: &&config::Room| {
        let schedule = room.settings.schedule.as_ref();
        schedule.is_some_and(|schedule| schedule.is_over(now))
    };
    config.rooms.iter().filter(is_over).map(|room| &*room.place).collect()
}
