//! `anteroom check`: every mistake of a configuration at once, templates included.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::config::{self, Overrides};

use super::{EXIT_CONFIG, say};

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
    let report = config::read(Some(&args.config), &Overrides::none());
    say(&report.to_string());
    if report.mistakes().is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_CONFIG)
    }
}
