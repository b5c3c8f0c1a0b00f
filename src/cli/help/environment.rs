//! The environment variables that stand for options, as the definitions of the commands have them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::cli::config_file::LISTEN;

/// What a variable stands for.
#[derive(Debug)]
pub struct Variable {
    /// With its dashes.
    pub option: String,
    pub about: String,
    /// Those that have the option, such as `code list-spent`.
    pub commands: Vec<String>,
}

/// All variables by name.
pub fn variables(program: &Command) -> BTreeMap<String, Variable> {
    // Read by hand, since the file has precedence over it.
    let listen = Variable {
        option: "--listen".to_owned(),
        about: "Addresses for visitors, if the file names none".to_owned(),
        commands: ["check", "doctor", "run"].map(str::to_owned).to_vec(),
    };
    let mut variables = BTreeMap::from([(LISTEN.to_owned(), listen)]);
    for command in program.get_subcommands() {
        gather(command, command.get_name(), &mut variables);
    }
    for variable in variables.values_mut() {
        variable.commands.sort();
    }
    variables
}

fn gather(command: &Command, path: &str, variables: &mut BTreeMap<String, Variable>) {
    for argument in command.get_arguments() {
        let Some(name) = argument.get_env().and_then(|name| name.to_str()) else {
            continue;
        };
        let variable = variables
            .entry(name.to_owned())
            .or_insert_with(|| Variable::of(argument));
        variable.commands.push(path.to_owned());
    }
    for below in command.get_subcommands() {
        gather(below, &format!("{path} {}", below.get_name()), variables);
    }
}

impl Variable {
    fn of(argument: &Arg) -> Self {
        let option = argument.get_long().unwrap_or_default();
        Self {
            option: format!("--{option}"),
            about: argument.get_help().map(ToString::to_string).unwrap_or_default(),
            commands: Vec::new(),
        }
    }
}

/// The variables as a section of the help.
pub fn section(program: &Command) -> String {
    let mut text = "Environment, where the command line has not the option:".to_owned();
    for (name, variable) in variables(program) {
        let _ = write!(text, "\n  {name:<WIDTH$}  {:<13}  {}", variable.option, variable.about);
    }
    text
}

/// The longest name of a variable.
const WIDTH: usize = 23;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory as _;

    const PAGE: &str = include_str!("../../../docs/reference/commands.md");

    #[test]
    fn the_page_has_the_variables_of_the_commands() {
        let mut table = "| variable | option | | commands |\n| --- | --- | --- | --- |\n".to_owned();
        for (
            name,
            Variable {
                option,
                about,
                commands,
            },
        ) in variables(&Cli::command())
        {
            let _ = writeln!(table, "| `{name}` | `{option}` | {about} | {} |", commands.join(", "));
        }
        assert!(
            PAGE.contains(&table),
            "docs/reference/commands.md needs this table:\n{table}"
        );
    }
}
