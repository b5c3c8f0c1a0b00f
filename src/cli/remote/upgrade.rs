//! `ropeline upgrade`: tells a running gate to hand over to the binary that lies at its path by now.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::admin::api;
use crate::cli::output::plain;
use crate::cli::remote::{self, AdminArgs, show};

/// Arguments of `ropeline upgrade`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct UpgradeArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Print the admin API's JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
The running gate starts the binary that lies at its own path by now, with its own arguments and environment, hands it its
listening sockets and the embedded store, and drains when that one serves. Nobody is turned away, nobody loses a place. The
configuration is read anew. If the new process does not come to serve within [server] upgrade_deadline, it is ended, the gate
goes on as before, and this command says why (exit code 1). SIGUSR2 to the gate does the same.

Going back is an upgrade to the older binary. Whoever starts the gate must follow MAINPID (Type=notify under systemd): in a
container, and under what watches the old process, an upgrade is refused; replace the container, or restart the gate.

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
        show(&upgraded, args.json, |upgraded: &api::Upgraded| {
            let warnings = upgraded
                .warnings
                .iter()
                .map(|warning| format!("warning: {}\n", plain(warning)));
            format!(
                "The process {} serves, version {}; the one before finishes what is under way.\n{}",
                upgraded.pid,
                plain(&upgraded.version),
                warnings.collect::<String>()
            )
        })
    })
}
