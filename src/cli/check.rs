//! `ropeline check`: every mistake of a configuration at once, templates included.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::config::{self, Config, Overrides};
use crate::crawlers;
use crate::time;

use super::output::{EXIT_CONFIG, say};

/// Arguments of `ropeline check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline check                  the config.toml in this folder
  ropeline check /etc/ropeline/config.toml && systemctl restart ropeline
  ropeline check --schema > config.schema.json

Exit codes: 0 nothing wrong (warnings may be printed), 78 mistakes, or a sale that is over")]
pub struct CheckArgs {
    /// The configuration file
    #[arg(default_value = "config.toml")]
    config: PathBuf,
    /// Accept sales that are over, as a gate that is restarted must
    #[arg(long)]
    starting: bool,
    /// Print a JSON Schema of the configuration, for an editor, and check nothing
    #[arg(long)]
    schema: bool,
}

/// Runs `ropeline check`.
#[must_use]
pub fn run(args: &CheckArgs) -> ExitCode {
    if args.schema {
        say(&format!("{:#}\n", config::schema()));
        return ExitCode::SUCCESS;
    }
    let report = config::read(Some(&args.config), &Overrides::none());
    say(&report.to_string());
    report.config().into_iter().for_each(name_wide_exceptions);
    let named = report.config().map_or(Ok(()), name_resolvers);
    if let Err(error) = &named {
        say(&format!("{error}\n"));
    }
    let over = !args.starting && report.config().is_some_and(is_over);
    if over {
        say("refused: a sale is over (--starting lets that pass)\n");
    }
    if report.mistakes().is_empty() && named.is_ok() && !over {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_CONFIG)
    }
}

/// Lists exceptions from the line that take more than reads of files. They may be meant, so it is no warning.
fn name_wide_exceptions(config: &Config) {
    for room in &config.rooms {
        for wide in room.except.iter().filter(|entry| entry.is_wide()) {
            say(&format!(
                "note: {}.except: {wide} lets more past the line than reads of files\n",
                room.place
            ));
        }
    }
}

/// Says whom this machine would ask for the names of crawlers' addresses.
fn name_resolvers(config: &Config) -> Result<(), crawlers::StartError> {
    let resolvers = crawlers::resolvers(&config.crawlers)?;
    if resolvers.is_empty() {
        return Ok(());
    }
    let from = if config.crawlers.resolvers.is_empty() {
        "as /etc/resolv.conf says"
    } else {
        "as [crawlers] resolvers says"
    };
    let list: Vec<String> = resolvers.iter().map(ToString::to_string).collect();
    say(&format!("crawlers are looked up at {}, {from}\n", list.join(", ")));
    Ok(())
}

/// The dates of a room lie behind: right after a sale, and of no use before one.
fn is_over(config: &Config) -> bool {
    let now = time::wall();
    let schedules = config.rooms.iter().filter_map(|room| room.settings.schedule.as_ref());
    schedules.into_iter().any(|schedule| schedule.is_over(now))
}
