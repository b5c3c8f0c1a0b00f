//! `ropeline replay`: runs the kept log again and says whether it gives the rooms that were written down.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::replica::{Progress, Report, replay};

use super::output::{Format, say};

/// Arguments of `ropeline replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
The gate must be stopped, or the folder be a copy. Nothing is changed.

Examples:
  ropeline replay
  cp -r ropeline-data /tmp/copy && ropeline replay /tmp/copy

Exit codes: 0 the log leads to the same state, 1 it leads to another state or cannot be read")]
pub struct ReplayArgs {
    /// The data folder
    #[arg(default_value = "ropeline-data")]
    folder: PathBuf,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Runs `ropeline replay`.
#[must_use]
pub fn run(args: &ReplayArgs) -> ExitCode {
    let terminal = std::io::stderr().is_terminal();
    let outcome = replay(&args.folder, &mut |progress| show(progress, terminal));
    if terminal {
        eprint!("\r\x1b[K");
    }
    match outcome {
        Ok(report) => {
            say(&match args.format {
                Format::Text => text(&report),
                Format::Json => format!("{:#}\n", structured(&report)),
            });
            if report.proved() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("ropeline replay: {error}");
            ExitCode::FAILURE
        }
    }
}

fn show(progress: &Progress<'_>, terminal: bool) {
    if terminal {
        eprint!(
            "\r\x1b[Kpart {} of {}, {} entries",
            progress.part, progress.parts, progress.entries
        );
        // A terminal that cannot be written to has no reader.
        let _ = std::io::stderr().flush();
    }
}

fn text(report: &Report) -> String {
    let mut text = format!(
        "entries      {}\njoins        {}\nskipped      {}\nepochs       {}\nfiles        {}\nsnapshots    {} as written\n\
         position     {}-{}\nstate        {}\ntook         {:.2} s\n",
        report.entries,
        report.joins,
        report.skipped,
        report.epochs,
        report.parts,
        report.snapshots_matched,
        report.position.epoch,
        report.position.sequence,
        hex(&report.hash),
        report.took.as_secs_f64(),
    );
    for gap in &report.gaps {
        text += "gap          history is missing before ";
        text += &gap.file;
        text += "\n";
    }
    for fault in &report.faults {
        text += "fault        ";
        text += &fault.to_string();
        text += "\n";
    }
    text += if report.proved() {
        "the log gives the same rooms again\n"
    } else {
        "the log does NOT give the same rooms\n"
    };
    text
}

/// The same facts by name.
fn structured(report: &Report) -> Value {
    json!({
        "same": report.proved(),
        "entries": report.entries,
        "joins": report.joins,
        "skipped": report.skipped,
        "epochs": report.epochs,
        "files": report.parts,
        "snapshots": report.snapshots_matched,
        "position": format!("{}-{}", report.position.epoch, report.position.sequence),
        "state": hex(&report.hash),
        "gaps": report.gaps.iter().map(|gap| &gap.file).collect::<Vec<_>>(),
        "faults": report.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('?');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
