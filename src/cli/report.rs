//! `ropeline report`: verifies a log's archive, runs it through the rooms again, and says whether it was fair.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::report::{Findings, Options, Progress, Sought, audit, html, text, verdict};
use crate::room::{Chain, LineName, RoomName};
use crate::token::Reference;

use super::output::{ReportFormat, say};

/// Arguments of `ropeline report`.
#[derive(Debug, Args)]
#[command(after_help = "\
FOLDER is where gates archive ([store] archive), or the data folder of one gate that is stopped, or a copy of it. If gates archive into separate folders, give all of the folders. Nothing is changed.

Examples:
  ropeline report /var/lib/ropeline/archive
  ropeline report gate-1 gate-2 gate-3 --format html --output sale.html
  ropeline report archive --room main --visitor K7D-4D2-R1
  ropeline report archive --expect 5f1c…      the hash that a gate or an earlier report showed
  ropeline report archive --from 9ab0…        older files were deleted: the hash before the first remaining entry

Exit codes: 0 complete and fair, 1 something is wrong (the last line says what), or operators intervened and --strict is given,
64 wrong usage, 66 nothing to read")]
pub struct ReportArgs {
    /// Folders of one log
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Report on this room only
    #[arg(long, value_name = "NAME")]
    room: Option<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// Write to a file instead of the terminal
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A hash that must be in the history, from `ropeline gates` or an earlier report
    #[arg(long, value_name = "HASH")]
    expect: Option<String>,
    /// The hash before the first entry, where older files were deleted; an earlier report has it
    #[arg(long, value_name = "HASH")]
    from: Option<String>,
    /// What became of the visitor with this reference of the page: instead of the report, or in HTML and JSON with it
    #[arg(long, value_name = "REFERENCE", requires = "room")]
    visitor: Option<String>,
    /// With --visitor: the name of the line, if the room has several
    #[arg(long, value_name = "LINE", requires = "visitor")]
    line: Option<String>,
    /// Exit with 1 also where operators intervened: evictions, calls beyond the capacity, visitors let past, …
    #[arg(long)]
    strict: bool,
}

/// Runs `ropeline report`.
#[must_use]
pub fn run(args: &ReportArgs) -> ExitCode {
    let options = match options(args) {
        Ok(options) => options,
        Err(mistake) => return failed(&mistake, EXIT_USAGE),
    };
    let terminal = std::io::stderr().is_terminal();
    let outcome = audit(&args.folders, &options, &mut |progress| show(progress, terminal));
    if terminal {
        eprint!("\r\x1b[K");
    }
    let findings = match outcome {
        Ok(findings) => findings,
        Err(error) => return failed(&error.to_string(), EXIT_NO_INPUT),
    };
    if let Err(error) = put(args, &findings) {
        return failed(&error, EXIT_CANNOT_CREATE);
    }
    let by_hand = args.strict && !findings.verdict.interventions.is_empty();
    if findings.verdict.whole && findings.verdict.fair && !by_hand {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn options(args: &ReportArgs) -> Result<Options, String> {
    let room = match &args.room {
        Some(name) => Some(RoomName::new(name).ok_or_else(|| format!("{name:?} cannot be a room's name"))?),
        None => None,
    };
    let visitor = room.clone().map(|room| sought(args, room)).transpose()?.flatten();
    Ok(Options {
        room,
        visitor,
        expect: hash(args.expect.as_deref())?,
        from: hash(args.from.as_deref())?,
    })
}

fn sought(args: &ReportArgs, room: RoomName) -> Result<Option<Sought>, String> {
    let Some(visitor) = &args.visitor else { return Ok(None) };
    let reference = Reference::parse(visitor)
        .ok_or_else(|| format!("{visitor:?} is no reference as the waiting page shows it: ask again"))?;
    let line = match &args.line {
        Some(name) => LineName::new(name).ok_or_else(|| format!("{name:?} can name no line"))?,
        None => LineName::ONLY,
    };
    Ok(Some(Sought { room, line, reference }))
}

fn hash(given: Option<&str>) -> Result<Option<Chain>, String> {
    let parsed = |hash| Chain::parse(hash).ok_or_else(|| format!("{hash:?} is no hash: 64 hexadecimal digits"));
    given.map(parsed).transpose()
}

fn put(args: &ReportArgs, findings: &Findings) -> Result<(), String> {
    let form = match args.format {
        ReportFormat::Text => text(findings),
        ReportFormat::Json => serde_json::to_string_pretty(findings).map_err(|error| error.to_string())? + "\n",
        ReportFormat::Html => html(findings),
    };
    let Some(file) = &args.output else {
        say(&form);
        return Ok(());
    };
    std::fs::write(file, form).map_err(|error| format!("{}: {error}", file.display()))?;
    say(&format!("{}\n{}\n", file.display(), verdict(findings)));
    Ok(())
}

fn show(progress: &Progress<'_>, terminal: bool) {
    if terminal {
        eprint!(
            "\r\x1b[Kfile {} of {}, {} entries",
            progress.index + 1,
            progress.of,
            progress.entries
        );
        // A terminal that cannot be written to has no reader.
        let _ = std::io::stderr().flush();
    }
}

fn failed(message: &str, code: u8) -> ExitCode {
    eprintln!("ropeline report: {message}");
    ExitCode::from(code)
}

/// As `sysexits.h` has them: `EX_USAGE`, `EX_NOINPUT`, `EX_CANTCREAT`.
const EXIT_USAGE: u8 = 64;
const EXIT_NO_INPUT: u8 = 66;
const EXIT_CANNOT_CREATE: u8 = 73;
