//! `ropeline code`: makes codes that lead to a lane or past the line, and checks one: offline, with the keys alone. A running
//! gate lists which single-use codes are spent.

mod spent;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::config_file::ConfigFile;
use super::output::{EXIT_CONFIG, Format, ListFormat, say};
use crate::app::parts;
use crate::calendar::Moment;
use crate::config::{self, Config, Overrides, Room, StoreKind};
use crate::dates::rfc3339;
use crate::store::Embedded;
use crate::time;
use crate::token::{Code, CodeDate, Grant, Keyring};
use ropeline_ids::{CodeId, LineName, RoomName, Wall};

/// Arguments of `ropeline code`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CodeArgs {
    /// The configuration file of the gates
    #[arg(long, default_value = ConfigFile::DEFAULT, global = true, value_name = "FILE", env = "ROPELINE_CONFIG")]
    config: PathBuf,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ropeline code issue --room sale --grants lane:press --expires 2026-12-01T13:00:00+09:00
  ropeline code issue --room sale --grants lane:press --count 50 --format csv >codes.csv
  ropeline code issue --room sale --grants bypass --single-use --expires 2026-12-01T15:00:00+09:00
  ropeline code check AQRvd24…
  ropeline code list-spent --room sale

Put a code into a link as ?ropeline_code=CODE. Anybody who has the link can use it until it expires; a single-use code works once.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Issue codes
    #[command(
        after_help = "Examples:\n  ropeline code issue --room sale --grants lane:press --count 50 --format csv >codes.csv"
    )]
    Issue(IssueArgs),
    /// Show what a code grants, and whether it is valid
    #[command(after_help = "Examples:\n  ropeline code check AQRvd24…")]
    Check {
        /// The code
        code: String,
        /// Format of the output
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// List the single-use codes that were used, from a running gate
    #[command(after_help = "Examples:\n  ropeline code list-spent --room sale")]
    ListSpent(spent::SpentArgs),
}

#[derive(Debug, Args)]
struct IssueArgs {
    /// The room's name
    #[arg(long)]
    room: String,
    /// lane:NAME for a lane with code = true, or bypass where the room allows it
    #[arg(long, value_name = "GRANT")]
    grants: String,
    /// Valid for this line of the room only
    #[arg(long)]
    line: Option<String>,
    /// Valid for one visitor; needs --expires
    #[arg(long)]
    single_use: bool,
    /// How many codes to issue
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Start of validity, as 2026-12-01T13:00:00+09:00 or 2026-12-01 13:00 Asia/Seoul
    #[arg(long, value_name = "DATE")]
    starts: Option<String>,
    /// End of validity
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

/// Runs `ropeline code`.
#[must_use]
pub fn run(args: &CodeArgs) -> ExitCode {
    let done = match &args.command {
        Command::Issue(issue) => keys(&args.config).and_then(|(config, keyring)| made(issue, &config, &keyring)),
        Command::ListSpent(args) => return spent::run(args),
        Command::Check { code, format } => {
            keys(&args.config).and_then(|(config, keyring)| judged((code, *format), &config, &keyring))
        }
    };
    match done {
        Ok((text, good)) => {
            say(&text);
            if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err((text, code)) => {
            eprintln!("ropeline code: {text}");
            code
        }
    }
}

pub(super) type Done<T> = Result<T, (String, ExitCode)>;

fn wrong(text: String) -> (String, ExitCode) {
    (text, ExitCode::FAILURE)
}

/// The configuration and its keys, or those in the data folder; offline.
pub(super) fn keys(path: &std::path::Path) -> Done<(Config, Keyring)> {
    keys_with(path, &[])
}

/// The same with rooms that were added at run time.
pub(super) fn keys_with(path: &std::path::Path, added: &[config::AddedRoom]) -> Done<(Config, Keyring)> {
    let unusable = |text: String| (text, ExitCode::from(EXIT_CONFIG));
    let report = config::Document::open(Some(path)).read(&Overrides::none(), added);
    let text = report.to_string();
    let (config, _) = report.finish().map_err(|_| unusable(text))?;
    let folder = match &config.store.kind {
        StoreKind::Embedded { folder } => Some(folder.clone()),
        StoreKind::Redis(_) => None,
    };
    // SECURITY: a key made here would be another than the gate's, and its codes worth nothing.
    if config.keys.is_empty() && folder.as_ref().is_none_or(|folder| !folder.join("token.key").exists()) {
        return Err(unusable(
            "there is no key yet: set [tokens] keys, or start the gate once".to_owned(),
        ));
    }
    let (keyring, _) = parts::keyring(&config, folder.as_deref()).map_err(|error| unusable(error.to_string()))?;
    Ok((config, keyring))
}

fn made(args: &IssueArgs, config: &Config, keyring: &Keyring) -> Done<(String, bool)> {
    let (room, grant) = grant(args, config)?;
    let line = match &args.line {
        None => LineName::ONLY,
        Some(name) => LineName::new(name).ok_or_else(|| wrong(format!("\"{name}\" can name no line")))?,
    };
    if !line.is_only() && room.per.is_none() {
        return Err(wrong(format!("the room {} has one line, without a name", room.name)));
    }
    let (starts, expires) = (date(args.starts.as_deref())?, date(args.expires.as_deref())?);
    let now = time::wall();
    if expires.is_some_and(|expires| expires <= now.max(starts.unwrap_or_default())) {
        return Err(wrong(
            "a code that expires before it can be used, or has expired, is worth nothing".to_owned(),
        ));
    }
    if args.single_use && expires.is_none() {
        return Err(wrong(
            "--single-use needs --expires: the gates remember what was used for so long".to_owned(),
        ));
    }
    if args.single_use
        && let StoreKind::Embedded { folder } = &config.store.kind
        && !Embedded::was_opened(folder)
    {
        // It may be another machine than the gate's.
        eprintln!(
            "ropeline code: no gate has run with {} yet: single-use codes from before its first start are not good there",
            folder.display()
        );
    }
    let mut codes = Vec::new();
    for _ in 0..args.count {
        let mut id = [0; 6];
        getrandom::fill(&mut id).map_err(|_| wrong("the operating system gives no random bytes".to_owned()))?;
        let code = Code {
            id: CodeId(id),
            starts,
            expires,
            grant: grant.clone(),
            single: args.single_use,
            issued: now,
        };
        let text = code.sign(keyring, &room.name, &line);
        codes.push((
            text.ok_or_else(|| wrong("the lane's name is too long".to_owned()))?,
            code,
        ));
    }
    Ok((listed(&codes, &room.name, &line, args.format), true))
}

/// The room, and the rights that codes give there.
fn grant<'c>(args: &IssueArgs, config: &'c Config) -> Done<(&'c Room, Grant)> {
    let room = config.rooms.iter().find(|room| room.name.as_str() == args.room);
    let room = room.ok_or_else(|| wrong(format!("there is no room \"{}\" in the configuration", args.room)))?;
    if args.grants == "bypass" {
        return if room.settings.takes_bypass() {
            Ok((room, Grant::Bypass))
        } else {
            Err(wrong(format!(
                "the room {} lets nobody past its line by codes: it has no bypass_codes",
                room.name
            )))
        };
    }
    let form = || {
        wrong(format!(
            "\"{}\" grants nothing; right: lane:NAME, or bypass",
            args.grants
        ))
    };
    let name = args.grants.strip_prefix("lane:").ok_or_else(form)?;
    match room.lanes.iter().find(|lane| lane.name == name) {
        Some(lane) if lane.code => Ok((room, Grant::Lane(name.to_owned()))),
        Some(_) => Err(wrong(format!(
            "the lane \"{name}\" takes no codes: it has no code = true"
        ))),
        None => Err(wrong(format!("the room {} has no lane \"{name}\"", room.name))),
    }
}

/// To the second.
fn date(text: Option<&str>) -> Done<Option<Wall>> {
    let Some(text) = text else { return Ok(None) };
    let read = Moment::parse(text).map_err(|unread| {
        let (what, right) = unread.in_words(text);
        wrong(format!("{what}; right: {right}"))
    })?;
    let at = read
        .once()
        .ok_or_else(|| wrong(format!("\"{text}\" comes again and again: a code has one date")))?;
    Ok(Some(Wall(at.0 / 1_000 * 1_000)))
}

fn listed(codes: &[(String, Code)], room: &RoomName, line: &LineName, format: ListFormat) -> String {
    let date = |at: Option<Wall>| at.map(rfc3339).unwrap_or_default();
    let mut out = String::new();
    match format {
        ListFormat::Text => codes.iter().for_each(|(text, _)| _ = writeln!(out, "{text}")),
        ListFormat::Csv => {
            let _ = writeln!(out, "code,id,room,grants,single_use,starts,expires");
            for (text, code) in codes {
                let (starts, expires) = (date(code.starts), date(code.expires));
                let _ = writeln!(
                    out,
                    "{text},{},{room},{},{},{starts},{expires}",
                    code.id, code.grant, code.single
                );
            }
        }
        ListFormat::Json => {
            let rows = codes.iter().map(|(text, code)| {
                json!({
                    "code": text, "id": code.id.to_string(), "room": room.as_str(), "line": line.as_str(),
                    "grants": code.grant.to_string(), "single_use": code.single,
                    "starts": code.starts.map(rfc3339), "expires": code.expires.map(rfc3339),
                })
            });
            let rows: Vec<_> = rows.collect();
            let _ = writeln!(out, "{}", serde_json::to_string_pretty(&rows).unwrap_or_default());
        }
    }
    out
}

/// The validity of a code by this configuration; a line's code is found for lines that the configuration names.
fn judged((text, format): (&str, Format), config: &Config, keyring: &Keyring) -> Done<(String, bool)> {
    let only = LineName::ONLY;
    let found = config.rooms.iter().find_map(|room| {
        let lines = room.per.iter().flat_map(|per| &per.allow);
        let mut lines = std::iter::once(&only).chain(lines);
        lines.find_map(|line| Some((room, Code::read(keyring, &room.name, line, text)?)))
    });
    let Some((room, code)) = found else {
        return Err(wrong(
            "this is no code by the keys and for the rooms of this configuration".to_owned(),
        ));
    };
    let leads = match &code.grant {
        Grant::Lane(name) => room.lanes.iter().any(|lane| lane.code && lane.name == *name),
        Grant::Bypass => room.settings.takes_bypass(),
    };
    let (good, word) = match code.date(time::wall()) {
        _ if !leads => (
            false,
            "worth nothing: the lane is not there or takes no codes, or the room has no bypass_codes".to_owned(),
        ),
        CodeDate::Good if code.single => (true, "good, unless it was used: the gates know (list-spent)".to_owned()),
        CodeDate::Good => (true, "good".to_owned()),
        CodeDate::NotYet(_) => (false, "not yet good".to_owned()),
        CodeDate::Over => (false, "expired".to_owned()),
    };
    if format == Format::Json {
        let told = json!({
            "id": code.id.to_string(), "room": room.name.as_str(), "grants": code.grant.to_string(), "single_use": code.single,
            "starts": code.starts.map(rfc3339), "expires": code.expires.map(rfc3339), "good": good, "now": word,
        });
        return Ok((format!("{told:#}\n"), good));
    }
    let date = |at: Option<Wall>, none: &str| at.map_or_else(|| none.to_owned(), rfc3339);
    let text = format!(
        "code      {}\nroom      {}\ngrants    {}\nfor       {}\nstarts    {}\nexpires   {}\nnow       {word}\n",
        code.id,
        room.name,
        code.grant,
        if code.single { "one visitor" } else { "as many as come" },
        date(code.starts, "at once"),
        date(code.expires, "never"),
    );
    Ok((text, good))
}
