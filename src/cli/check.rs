//! `anteroom check`: every mistake of a configuration at once, templates included.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::config::{self, Config, Overrides, Report};
use crate::waiting::{Language, Pages};

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
    for (key, wrong, right) in report.config().map(pages).unwrap_or_default() {
        report.refuse(&key, wrong, right);
    }
    report
}

/// What is wrong with the rooms' pages: key, what, and what would be right.
fn pages(config: &Config) -> Vec<(String, String, String)> {
    let mut wrong = Vec::new();
    for (at, room) in config.rooms.iter().enumerate() {
        if let Some(template) = &room.page.template
            && let Err(error) = Pages::new(Some(&template.text))
        {
            let what = format!("{}: {error}", template.path.display());
            wrong.push((
                format!("room[{at}].page.template"),
                what,
                "a template as in docs/page.md".to_owned(),
            ));
        }
        let known: Vec<&str> = Language::all().map(Language::tag).collect();
        for tag in room
            .page
            .languages
            .iter()
            .filter(|tag| Language::from_tag(tag).is_none())
        {
            let right = format!("one of {}", known.join(", "));
            wrong.push((
                format!("room[{at}].page.languages"),
                format!("there is no language {tag:?}"),
                right,
            ));
        }
    }
    wrong
}
