//! `ropeline healthcheck`: asks a running gate's `/readyz`, for containers that have no other program.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use crate::cli::output::{Format, say};
use crate::cli::remote::client::{Client, DEFAULT_ADMIN, Failure};
use crate::cli::remote::run_to_code;

/// Arguments of `ropeline healthcheck`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline healthcheck
  ropeline healthcheck --admin http://gate-2:9925 || echo 'not ready'
  ropeline healthcheck --format json | jq -r '.reasons[], .degraded[]'

It needs no token. Exit codes: 0 ready, 1 not ready, or no answer within 3 s")]
pub struct HealthcheckArgs {
    /// The gate's admin listener
    #[arg(long, value_name = "URL", default_value = DEFAULT_ADMIN, env = "ROPELINE_HEALTHCHECK")]
    admin: String,
    /// Text, or the JSON of `/readyz`
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The part of the gate's report that decides.
#[derive(Deserialize)]
struct Health {
    ok: bool,
}

const PATIENCE: Duration = Duration::from_secs(3);

/// Runs `ropeline healthcheck`: exit code 0 when ready, 1 otherwise.
#[must_use]
pub fn run(args: &HealthcheckArgs) -> ExitCode {
    run_to_code("healthcheck", execute(args))
}

async fn execute(args: &HealthcheckArgs) -> Result<ExitCode, Failure> {
    let client = Client::new(&args.admin, None)?;
    let answer = client.get_whatever_its_status(PATIENCE, "/readyz").await?;
    let Ok(Health { ok }) = answer.parse() else {
        return Err(Failure::Foreign(format!(
            "what answers at {} is no gate's admin listener; right: the address of [server] admin_listen",
            args.admin
        )));
    };
    let report = answer.pretty();
    match args.format {
        Format::Json => say(&report),
        Format::Text if !ok => eprint!("not ready: {report}"),
        Format::Text => {}
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
