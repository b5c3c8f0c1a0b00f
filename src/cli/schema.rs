//! `ropeline schema`: a JSON Schema of the configuration file, for editors.

use std::process::ExitCode;

use clap::Args;

use crate::config;

use super::output::say;

/// Arguments of `ropeline schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
An editor completes keys and marks mistakes by it (docs/reference/configuration.md). What depends on several keys or on other
files, only `ropeline check` knows.

Examples:
  ropeline schema >config.schema.json
  sed -i '1i #:schema ./config.schema.json' config.toml      for Taplo, and VS Code with Even Better TOML")]
pub struct SchemaArgs;

/// Runs `ropeline schema`.
#[must_use]
pub fn run(_: &SchemaArgs) -> ExitCode {
    say(&format!("{:#}\n", config::schema()));
    ExitCode::SUCCESS
}
