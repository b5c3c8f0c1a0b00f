//! `ropeline run`: a gate in front of a shop, until it is told to stop.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use crate::admin::{Order, Reloads, Trigger};
use crate::config::{self, Config, Overrides, Upstream};
use crate::logging;
use crate::metrics::Metrics;
use crate::proxy::Endpoint;
use crate::report::describe;

use super::reload::{self, Source};
use super::running::Running;
use super::signals::{Hangup, Signals};
use super::start::{self, Operator, StartError};
use super::systemd::Supervisor;
use super::upgrade::{self, Desk, Former, Given, Program, Starter, wishes};
use super::{EXIT_CONFIG, say};

/// Arguments of `ropeline run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline run --upstream http://127.0.0.1:3000
  ropeline run --config /etc/ropeline/config.toml
  ropeline run --upstream http://127.0.0.1:3000 --listen 127.0.0.1:8080

Without --config the config.toml in this folder is used, if there is one and no --upstream is given.
Exit codes: 0 stopped as told, 1 cannot start, 70 a fault of the program: start it again, 78 the configuration has mistakes, or the store it names cannot be used")]
pub struct RunArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE", env = "ROPELINE_CONFIG")]
    config: Option<PathBuf>,
    /// The shop, such as <http://127.0.0.1:3000>; stands over the file's
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Where visitors come in; stands over the file's
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<String>,
    /// The operator's side; stands over the file's
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<String>,
}

impl RunArgs {
    fn file(&self) -> Option<&Path> {
        let default = Path::new("config.toml");
        match &self.config {
            Some(file) => Some(file),
            None if self.upstream.is_none() && default.exists() => Some(default),
            None => None,
        }
    }

    fn overrides(&self) -> Overrides {
        let mut overrides = Overrides::none();
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
    let mut former = match Former::find(config::environment) {
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
    say(&(config.describe() + "\n"));
    let metrics = Metrics::new();
    let options = logging::Options {
        format: config.log.format,
        filter: config.log.level.clone(),
    };
    let logging = match logging::init(&options, metrics.log_lines_dropped.clone()) {
        Ok(logging) => logging,
        Err(error) => return failed(&error),
    };
    for warning in &warnings {
        tracing::warn!(%warning, "something in the configuration is odd");
    }
    match until_told(config, metrics, (source, &logging), &mut former) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            upgrade::failed(former.as_mut(), &error.to_string());
            failed_for(error.as_ref())
        }
    }
}

/// A store that refuses will refuse again: a supervisor should not start the gate over and over.
fn failed_for(error: &(dyn std::error::Error + 'static)) -> ExitCode {
    let code = failed(error);
    match error.downcast_ref() {
        Some(StartError::Store(_)) => ExitCode::from(EXIT_CONFIG),
        _ if error.is::<Fallen>() => ExitCode::from(EXIT_SOFTWARE),
        _ => code,
    }
}

/// Nothing of the gate goes on but its last view: with another start it has its rooms again, from the log.
#[derive(Debug, thiserror::Error)]
#[error("ended by a fault of the program, which the lines above tell; start it again")]
struct Fallen;

fn upstream(config: &Config) -> String {
    let name = |upstream: &Upstream| {
        let servers = upstream.servers.iter().map(|server| server.place.to_string());
        servers.collect::<Vec<String>>().join(", ")
    };
    config
        .upstream
        .as_ref()
        .map_or_else(|| "none, forward-auth only".to_owned(), name)
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("ropeline: {error}");
    ExitCode::FAILURE
}

/// Starts, waits for SIGTERM or SIGINT, drains; so too when the rooms stand still by a fault of the program. A second signal
/// ends at once.
fn until_told(
    config: Config,
    metrics: Metrics,
    (mut source, logging): (Source, &logging::Logging),
    former: &mut Option<Former>,
) -> Result<(), Box<dyn std::error::Error>> {
    let program = Program::own()?;
    let starter = former.is_none().then(|| Starter::find(config::environment));
    let mut signals = Signals::catch()?;
    let hangup = signals.catch_hangup()?;
    let entered = signals.enter();
    let (upgrades, wishes) = wishes()?;
    drop(entered);
    let supervisor = Arc::new(Supervisor::find(config::environment));
    let (reloads, orders) = Reloads::new();
    if let Some(former) = former.as_ref() {
        former.check_store(&config.store)?;
    }
    let bound = start::bind(&config, former.as_mut())?;
    let opened = start::open(&config, &metrics, former.as_mut())?;
    // Before a visitor comes in: the paths of rooms that only the store has are not to be open for a moment.
    let config = source.with_rooms(&opened.additions(), &reloads).unwrap_or(config);
    let operator = Operator {
        metrics: metrics.clone(),
        reloads: reloads.clone(),
        upgrades: Some(upgrades),
    };
    let (running, live) = start::serve(&config, bound, opened, operator, former.is_some())?;
    let (patience, deadline, shop) = (
        reload::Patience::of(&config),
        config.server.upgrade_deadline,
        upstream(&config),
    );
    let told = (reloads.clone(), Arc::clone(&supervisor));
    let reloader = reload::look_after(source, config, live, logging.filter(), told, orders, patience.clone())?;
    let former = former
        .take()
        .map(|former| former.ready(&running.service().sockets()))
        .transpose()?;
    let list = |endpoints: &[Endpoint]| endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let secured = Some(list(running.secured())).filter(|list| !list.is_empty());
    tracing::info!(
        listen = %list(running.endpoints()),
        tls = secured,
        admin = %running.admin_address(),
        upstream = %shop,
        version = env!("CARGO_PKG_VERSION"),
        gate = %describe::gate(running.gate()),
        "serving"
    );
    supervisor.ready();
    // It waits for nothing else.
    let _ = reloader.send(());
    let given = Given {
        program,
        starter,
        service: Arc::clone(running.service()),
        drain: patience.clone(),
        deadline,
        supervisor: Arc::clone(&supervisor),
        replica: running.replica().clone(),
    };
    let takes_over = upgrade::takes_over(running.replica().clone(), former.clone());
    let mut desk = Desk::new(given, wishes, former, metrics);
    let falls = running.replica().falls();
    let looks = reload::look_at_rooms(running.replica().clone(), reloads.clone());
    let told = signals.wait_or(async {
        tokio::select! {
            () = falls => {}
            () = watched(&supervisor, &running) => {}
            () = desk.handed_over() => {}
            () = hung_up(hangup, &reloads) => {}
            () = looks => {}
            () = takes_over => {}
        }
    });
    let patience = patience.end();
    if let Some(next) = desk.close() {
        tracing::info!(
            seconds = patience.as_secs(),
            "handed over: draining; a signal ends at once"
        );
        signals.end_at_once();
        let pid = next.pid;
        let _line = next.leave(&supervisor, logging.flusher());
        let drained = running.leave(patience);
        tracing::info!(cut = drained.cut, next = pid, "stopped");
        return Ok(());
    }
    supervisor.stopping();
    let why = if told {
        "told to stop"
    } else {
        "nothing but a restart helps"
    };
    tracing::info!(
        seconds = patience.as_secs(),
        "{why}: draining; another signal, a second later or more, ends at once"
    );
    signals.end_at_once();
    let drained = running.stop(patience);
    tracing::info!(cut = drained.cut, "stopped");
    if told { Ok(()) } else { Err(Fallen.into()) }
}

/// Orders a reload for every SIGHUP. Never ends.
async fn hung_up(mut hangup: Hangup, reloads: &Reloads) {
    loop {
        hangup.comes().await;
        let order = Order {
            trigger: Trigger::Signal,
            answer: None,
        };
        // A queue that is full ends with an order as good as this.
        let _ = reloads.order(order);
    }
}

/// Tells the watchdog, twice within the time it waits, that all threads that serve visitors still turn. Never ends.
async fn watched(supervisor: &Supervisor, running: &Running) {
    let Some(patience) = supervisor.watchdog() else {
        return std::future::pending().await;
    };
    let mut beat = tokio::time::interval(patience / 2);
    loop {
        beat.tick().await;
        running.service().front.turns().await;
        supervisor.alive();
    }
}

/// As `sysexits.h` has it, `EX_SOFTWARE`: not what the operator did, and worth another start.
const EXIT_SOFTWARE: u8 = 70;
