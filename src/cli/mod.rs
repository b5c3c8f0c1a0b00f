//! The command line.

mod check;
mod code;
mod demo;
mod log;
mod output;
mod page;
mod probe;
mod rehearse;
pub mod remote;
mod replay;
mod report;
mod run;
mod simulate;
mod verify_draw;

use remote::{draw, gates, healthcheck, reload, rooms, top, upgrade, upstreams, winners};

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  ropeline demo                                     try it: a shop, a gate, a room of two
  ropeline run --upstream http://127.0.0.1:3000     a room with the default values over a whole shop
  ropeline run --config config.toml                 everything as you set it
  ropeline check config.toml                        every mistake at once, before a sale
  ropeline reload                                   take what the file now says, without losing anybody
  ropeline top                                      see the lines while they move";

/// A waiting room in front of a shop that nobody has to change.
#[derive(Debug, Parser)]
#[command(name = "ropeline", version, about, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Stand in front of a shop
    Run(run::RunArgs),
    /// Tell every mistake of a configuration at once
    Check(check::CheckArgs),
    /// A shop, a gate and a room of two on this machine, to try it out
    Demo(demo::DemoArgs),
    /// Take what the configuration file now says, without losing anybody
    Reload(reload::ReloadArgs),
    /// Look at the rooms of a running gate, and change them
    Rooms(rooms::RoomsArgs),
    /// See every line while it moves, in a terminal
    Top(top::TopArgs),
    /// Fill a room with virtual visitors, to practise a sale
    Rehearse(rehearse::RehearseArgs),
    /// Look at the shop's servers as a running gate sees them, and take one out
    Upstreams(upstreams::UpstreamsArgs),
    /// Look at the gates that share the rooms, and at their log
    Gates(gates::GatesArgs),
    /// Have every gate pass over an entry of the log that freezes it
    Skip(gates::SkipArgs),
    /// Have a running gate hand over to the binary that lies at its path by now
    Upgrade(upgrade::UpgradeArgs),
    /// Run your own room through a sale on virtual time, before the sale
    Simulate(simulate::SimulateArgs),
    /// Run the kept log again and prove that it gives the same rooms
    Replay(replay::ReplayArgs),
    /// Show what gates said, one entry a line
    Log(log::LogArgs),
    /// Verify a log's archive and say whether it was fair
    Report(report::ReportArgs),
    /// See how far a room's draw has come, and give its beacon's value
    Draw(draw::DrawArgs),
    /// List who has bought of a room's stock
    Winners(winners::WinnersArgs),
    /// Work a draw out again from its published figures
    VerifyDraw(verify_draw::VerifyDrawArgs),
    /// Try known ways round the line on your own deployment
    Probe(probe::ProbeArgs),
    /// Make codes that lead to a lane, and say what one is worth
    Code(code::CodeArgs),
    /// Show every page that visitors can see, before they do
    Page(page::PageArgs),
    /// Ask a running gate whether it is ready; for containers
    Healthcheck(healthcheck::HealthcheckArgs),
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::run(&args),
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
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_holds_together() {
        super::Cli::command().debug_assert();
    }
}
