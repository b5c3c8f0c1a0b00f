//! `ropeline run`: runs a gate in front of a shop until a signal stops it.

mod summary;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use crate::app::error::StartError;
use crate::app::lifecycle::{self, RunError};
use crate::app::reload::Source;
use crate::app::running::Running;
use crate::app::upgrade::{self, Predecessor};
use crate::config::{self, Overrides};
use crate::logging;
use crate::metrics::Metrics;

use super::config_file::{ConfigFile, of_environment};
use super::output::{EXIT_CONFIG, say};
use summary::Summary;

/// Arguments of `ropeline run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline run --upstream http://127.0.0.1:3000
  ropeline run /etc/ropeline/config.toml
  ropeline run /etc/ropeline/config.toml --first-start       the rooms' very first start
  ropeline run --upstream http://127.0.0.1:3000 --listen 0.0.0.0:8080      reachable from other machines

Without FILE and --upstream, config.toml in the current folder is used if it exists.
Visitors are served at 127.0.0.1:8080, unless --listen, [server] listen in the file or ROPELINE_LISTEN says otherwise, in
this order.

Exit codes: 0 stopped on request, 1 cannot start, 70 internal error (start it again), 78 mistake in the configuration, or the store or systemd's sockets cannot be used")]
pub struct RunArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// The shop's URL, such as <http://127.0.0.1:3000>; overrides the file
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Address for visitors, such as 0.0.0.0:8080 for every address of this machine; overrides the file
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<String>,
    /// Address of the admin listener; overrides the file
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<String>,
    /// Where the store is empty, call visitors at once: it is the first start of these rooms, or nobody can be inside any more.
    /// Without it they are called once the passes of a log that may have been lost have run out
    #[arg(long)]
    first_start: bool,
    /// Print every setting in force before the start
    #[arg(long)]
    print_config: bool,
}

impl RunArgs {
    fn file(&self) -> Option<&Path> {
        if self.upstream.is_some() {
            return self.config.named();
        }
        self.config.or_present()
    }

    fn overrides(&self) -> Overrides {
        let mut overrides = of_environment();
        if let Some(url) = &self.upstream {
            overrides = overrides.text("upstream.url", "--upstream", url);
        }
        if !self.listen.is_empty() {
            overrides = overrides.texts("server.listen", "--listen", &self.listen);
        }
        if let Some(address) = &self.admin_listen {
            overrides = overrides.text("server.admin_listen", "--admin-listen", address);
        }
        overrides
    }
}

/// Runs `ropeline run`.
#[must_use]
pub fn run(args: &RunArgs) -> ExitCode {
    let mut former = match Predecessor::find(config::environment) {
        Ok(former) => former,
        Err(error) => return failed(&error),
    };
    let mut source = Source::new(args.file().map(Path::to_owned), args.overrides());
    let (config, warnings) = match source.read().finish() {
        Ok(read) => read,
        Err(mistakes) => {
            eprintln!("{mistakes}");
            upgrade::failed(former.as_mut(), &mistakes.to_string());
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    if args.print_config {
        say(&(config.describe() + "\n"));
    }
    let summary = Summary::of(&config, args.file(), warnings.len());
    let metrics = Metrics::new();
    let options = logging::Options {
        format: config.logging.format,
        filter: config.logging.level.clone(),
    };
    let logging = match logging::init(&options, metrics.log_lines_dropped.clone()) {
        Ok(logging) => logging,
        Err(error) => return failed(&error),
    };
    for warning in &warnings {
        tracing::warn!(%warning, "something in the configuration is odd");
    }
    let greet = |running: &Running| say(&summary.text(running));
    match lifecycle::run(
        config,
        metrics,
        (source, &logging),
        (&mut former, args.first_start),
        greet,
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            upgrade::failed(former.as_mut(), &error.to_string());
            failed_for(&error)
        }
    }
}

/// A store that refuses will refuse again, and a supervisor that passes other sockets passes them again: it should not start the
/// gate over and over.
fn failed_for(error: &RunError) -> ExitCode {
    let code = failed(error);
    match error {
        RunError::Start(StartError::Store(_) | StartError::Passed(_)) => ExitCode::from(EXIT_CONFIG),
        RunError::Fallen => ExitCode::from(EXIT_SOFTWARE),
        _ => code,
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("ropeline: {error}");
    ExitCode::FAILURE
}

/// `EX_SOFTWARE` of `sysexits.h`: not the operator's mistake, and worth another start.
const EXIT_SOFTWARE: u8 = 70;
