//! `ropeline completions`: a shell's completion script, made from the definitions of the commands.

use std::process::ExitCode;

use clap::{Args, Command, ValueEnum};
use clap_complete::{aot, generate};

use crate::cli::output::say;

/// Arguments of `ropeline completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
The packages install these scripts; without a package, put the script where the shell looks for it.

Examples:
  ropeline completions bash >/usr/share/bash-completion/completions/ropeline
  ropeline completions zsh >/usr/local/share/zsh/site-functions/_ropeline
  ropeline completions fish >~/.config/fish/completions/ropeline.fish
  source <(ropeline completions bash)             for this shell only")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// The shells whose scripts are tested.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Runs `ropeline completions` for the command line `program`.
#[must_use]
pub fn run(args: &CompletionsArgs, mut program: Command) -> ExitCode {
    let shell = match args.shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut program, "ropeline", &mut script);
    say(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}
