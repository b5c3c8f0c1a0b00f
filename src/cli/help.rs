//! The help of the whole program: its commands in groups, and the present names of options that have another name now.

pub mod completions;
mod environment;
pub mod manual;
pub mod version;

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// The commands by what they are for, each in one group.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Run a gate", &["run", "demo", "reload", "upgrade", "healthcheck"]),
    (
        "Watch and change a running gate",
        &["rooms", "top", "gates", "upstreams", "draw", "winners", "skip"],
    ),
    (
        "Prepare a sale",
        &[
            "init", "keygen", "check", "doctor", "page", "code", "simulate", "rehearse", "probe",
        ],
    ),
    ("Prove that it was fair", &["log", "replay", "report", "verify-draw"]),
];

/// For the shell and the editor, below the groups.
const TOOLS: (&str, &[&str]) = ("Set up shell and editor", &["completions", "manual", "schema"]);

/// Options of earlier builds, with what does the same.
const RENAMED: [(&str, &str); 2] = [("--json", "--format json"), ("--schema", "ropeline schema")];

/// The same command line, with its commands listed by groups.
pub fn grouped(program: Command) -> Command {
    let mut lists = String::new();
    for (group, names) in GROUPS.iter().chain([&TOOLS]) {
        let _ = writeln!(lists, "{group}:");
        for name in *names {
            let about = program.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(lists, "  {name:<WIDTH$}  {about}");
        }
        lists.push('\n');
    }
    let environment = environment::section(&program);
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{lists}Options:\n{{options}}\n\n{environment}{{after-help}}"
    ))
}

/// Says what a renamed option is called now.
pub fn explained(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    if let Some((_, now)) = RENAMED.iter().find(|(before, _)| before == option) {
        let tip = StyledStr::from(format!("{option} is {now} now"));
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// The longest name of a command.
const WIDTH: usize = 11;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_is_in_one_group() {
        let program = Cli::command();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .chain([&TOOLS])
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        listed.sort_unstable();
        let mut commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        commands.sort_unstable();
        assert_eq!(listed, commands, "GROUPS in src/cli/help.rs lists each command once");
        assert_eq!(listed.iter().map(|name| name.len()).max(), Some(WIDTH));
    }

    #[test]
    fn the_list_of_commands_fits_a_terminal() {
        let help = grouped(Cli::command()).render_help().to_string();
        assert!(help.contains("\nProve that it was fair:\n  log          "), "{help}");
        for line in help.lines().take_while(|line| *line != "Options:") {
            assert!(line.chars().count() <= 80, "{line:?}");
        }
    }
}
