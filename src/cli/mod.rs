//! The command line: one file or folder for each command. Commands that talk to a running gate are in `remote`.

mod check;
mod code;
mod config_file;
mod demo;
mod doctor;
mod help;
mod init;
mod keygen;
mod log;
mod output;
mod page;
mod probe;
mod rehearse;
mod remote;
mod replay;
mod report;
mod run;
mod schema;
mod simulate;
mod verify_draw;

use help::{completions, manual, version};
use remote::{draw, gates, healthcheck, reload, rooms, top, upgrade, upstreams, winners};

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  ropeline demo                                   a shop, a gate and a room for two
  ropeline run --upstream http://127.0.0.1:3000   the default settings
  ropeline run config.toml                        the settings of a file
  ropeline check config.toml                      every mistake of a configuration
  ropeline doctor config.toml                     what is wrong before a sale
  ropeline reload                                 apply the edited file
  ropeline top                                    watch the waiting lines
  ropeline simulate --visitors 20000              how a sale would run
  ropeline report archive                         whether a sale was fair";

/// A waiting room in front of your shop. The shop needs no change.
#[derive(Debug, Parser)]
#[command(name = "ropeline", version, long_version = version::WHOLE, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a gate in front of a shop
    Run(run::RunArgs),
    /// Check a configuration and list all its mistakes
    Check(check::CheckArgs),
    /// Say what is wrong before a sale, and what to write where
    Doctor(doctor::DoctorArgs),
    /// Ask for the settings that matter first, and write a configuration
    Init(init::InitArgs),
    /// Make a random secret for the configuration
    Keygen(keygen::KeygenArgs),
    /// Start a shop, a gate and a room for two on this machine
    Demo(demo::DemoArgs),
    /// Apply the edited configuration file without a restart
    Reload(reload::ReloadArgs),
    /// Show the rooms of a running gate, and change them
    Rooms(rooms::RoomsArgs),
    /// Watch the waiting lines in a terminal
    Top(top::TopArgs),
    /// Fill a room with virtual visitors, to practise a sale
    Rehearse(rehearse::RehearseArgs),
    /// Show the shop's servers as a running gate sees them
    Upstreams(upstreams::UpstreamsArgs),
    /// Show the gates that share the rooms, and their log
    Gates(gates::GatesArgs),
    /// Skip a log entry that stops the gates
    Skip(gates::SkipArgs),
    /// Replace the running gate with the binary at its path
    Upgrade(upgrade::UpgradeArgs),
    /// Compute in seconds how a sale in your room would run
    Simulate(simulate::SimulateArgs),
    /// Replay the stored log and check that it leads to the same state
    Replay(replay::ReplayArgs),
    /// Show the entries of the log, one a line
    Log(log::LogArgs),
    /// Verify an archive of the log and whether the order was fair
    Report(report::ReportArgs),
    /// Show a room's draw, and enter the beacon value that decides it
    Draw(draw::DrawArgs),
    /// List the visitors who bought from a room's stock
    Winners(winners::WinnersArgs),
    /// Recompute a draw from its published figures
    VerifyDraw(verify_draw::VerifyDrawArgs),
    /// Try known ways around the line on your own deployment
    Probe(probe::ProbeArgs),
    /// Issue access codes, and check one
    Code(code::CodeArgs),
    /// Preview every page that visitors can see
    Page(page::PageArgs),
    /// Check whether a running gate is ready, for containers
    Healthcheck(healthcheck::HealthcheckArgs),
    /// Print a JSON Schema of the configuration file
    Schema(schema::SchemaArgs),
    /// Print a shell's completion script
    Completions(completions::CompletionsArgs),
    /// Write a manual page for each command
    Manual(manual::ManualArgs),
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let matches = program().try_get_matches();
    let read =
        matches.and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut program())));
    let command = match read {
        Ok(cli) => cli.command,
        Err(error) => help::explained(error).exit(),
    };
    match command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Reload(args) => reload::run(&args),
        Command::Rooms(args) => rooms::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Rehearse(args) => rehearse::run(&args),
        Command::Upstreams(args) => upstreams::run(&args),
        Command::Gates(args) => gates::run(&args),
        Command::Skip(args) => gates::skip(&args),
        Command::Upgrade(args) => upgrade::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Draw(args) => draw::run(&args),
        Command::Winners(args) => winners::run(&args),
        Command::VerifyDraw(args) => verify_draw::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Code(args) => code::run(&args),
        Command::Page(args) => page::run(&args),
        Command::Healthcheck(args) => healthcheck::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args, program()),
        Command::Manual(args) => manual::run(&args, program()),
    }
}

fn program() -> clap::Command {
    help::grouped(Cli::command())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_holds_together() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_every_command_has_an_example() {
        let mut commands: Vec<_> = super::Cli::command().get_subcommands().cloned().collect();
        assert!(commands.len() > 20);
        while let Some(command) = commands.pop() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = format!("ropeline {}", command.get_name());
            let is_below = help.contains(&format!(" {} ", command.get_name())) || help.contains(&example);
            assert!(help.contains("ropeline ") && is_below, "{}: {help}", command.get_name());
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
