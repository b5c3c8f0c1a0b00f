//! `anteroom check`: every mistake of a configuration at once, templates included.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::config::{self, Config, Overrides, Report};
use crate::waiting::Pages;

use super::EXIT_CONFIG;

/// Arguments of `anteroom check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  anteroom check                  the config.toml in this folder
  anteroom check /etc/anteroom/config.toml && systemctl restart anteroom

Exit codes: 0 nothing wrong (warnings may be printed), 78 mistakes")]
pub struct CheckArgs {
    /// The configuration file
    #[arg(default_value = "config.toml")]
    config: PathBuf,
}

/// Runs `anteroom check`.
#[must_use]
pub fn run(args: &CheckArgs) -> ExitCode {
    let report = read(Some(&args.config), &Overrides::none());
    print!("{report}");
    if report.mistakes().is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_CONFIG)
    }
}

/// Reads a configuration and tries everything in it that the reader of the file alone cannot judge.
#[must_use]
pub fn read(path: Option<&Path>, overrides: &Overrides) -> Report {
    let mut report = config::read(path, overrides);
    for (key, wrong, right) in report.config().map(templates).unwrap_or_default() {
        report.refuse(&key, wrong, right);
    }
    report
}

/// What is wrong with the rooms' templates: key, what, and what would be right.
fn templates(config: &Config) -> Vec<(String, String, &'static str)> {
    let rooms = config.rooms.iter().enumerate();
    rooms
        .filter_map(|(at, room)| {
            let template = room.page.template.as_ref()?;
            let error = Pages::new(Some(&template.text)).err()?;
            let wrong = format!("{}: {error}", template.path.display());
            Some((
                format!("room[{at}].page.template"),
                wrong,
                "a template as in docs/page.md",
            ))
        })
        .collect()
}
