//! `ropeline upgrade`: replaces a running gate with the binary at its path.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::admin::api;
use crate::cli::output::{Format, plain};
use crate::cli::remote::{self, AdminArgs, show};

/// Arguments of `ropeline upgrade`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct UpgradeArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Text, or the admin API's JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const HELP: &str = "\
The running gate starts the binary at its own path, with the same arguments and environment, and hands it the listening
sockets. The new process reads the configuration. No request is refused, and every visitor keeps their place.

With an embedded store the old process stops accepting. It waits up to 10 seconds for answers to begin and up to 3 for
them to end, and closes the store; the new one opens it. Visitors who come meanwhile wait, usually for about a second.
Longer transfers go on until [server] drain_deadline. With Redis nobody waits.

If the new process fails, or takes longer than [server] upgrade_deadline, the old one goes on, and this command prints the
reason (exit code 1). SIGUSR2 to the gate does the same as this command. To go back, upgrade to the older binary.

The supervisor must follow MAINPID (systemd: Type=notify). In a container the upgrade is refused: replace the container.

Examples:
  install -m 755 ropeline-new /usr/local/bin/ropeline.next
  mv /usr/local/bin/ropeline.next /usr/local/bin/ropeline && ropeline check /etc/ropeline/config.toml
  ropeline upgrade
  ropeline upgrade --admin http://10.0.0.5:9925 --token-file /etc/ropeline/token";

/// Runs `ropeline upgrade`.
#[must_use]
pub fn run(args: &UpgradeArgs) -> ExitCode {
    remote::run("upgrade", async {
        let upgraded = args
            .admin
            .client()?
            .post_patiently("/api/v1/upgrade", &json!({}))
            .await?;
        show(&upgraded, args.format, |upgraded: &api::Upgraded| {
            let warnings = upgraded
                .warnings
                .iter()
                .map(|warning| format!("warning: {}\n", plain(warning)));
            format!(
                "Process {} serves now, version {}; the old process finishes its requests.\n{}",
                upgraded.pid,
                plain(&upgraded.version),
                warnings.collect::<String>()
            )
        })
    })
}
