//! The life of a gate's process: it starts, serves until a signal stops it or another process has taken over, and drains.

use std::io;
use std::sync::Arc;

use crate::admin::{Order, Reloads, Trigger};
use crate::config::{self, Config, Upstream};
use crate::logging::Logging;
use crate::metrics::Metrics;
use crate::proxy::Endpoint;
use crate::report::describe;

use super::error::StartError;
use super::reload::{self, Patience, Source};
use super::running::Running;
use super::signals::{Hangup, Signals};
use super::start::{self, Operator};
use super::systemd::Supervisor;
use super::upgrade::{self, Given, Parent, Predecessor, Program, Successor, Upgrader, wishes};

/// Why a process has not ended well.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    System(#[from] io::Error),
    /// The rooms have stopped; another start reads them from the store.
    #[error("ended by a fault of the program, which the lines above tell; start it again")]
    Fallen,
}

/// Starts, waits for SIGTERM or SIGINT, drains; so too when the rooms have stopped by a fault of the program. A second signal
/// ends at once. `greet` is called when visitors are served and the log lines of the start are written. For `first_start` see
/// [`start::open`].
pub fn run(
    config: Config,
    metrics: Metrics,
    (mut source, logging): (Source, &Logging),
    (former, first_start): (&mut Option<Predecessor>, bool),
    greet: impl FnOnce(&Running),
) -> Result<(), RunError> {
    let program = Program::own()?;
    let starter = former.is_none().then(|| Parent::find(config::environment));
    let mut signals = Signals::catch()?;
    let hangup = signals.catch_hangup()?;
    let entered = signals.enter();
    let (upgrades, wishes) = wishes()?;
    drop(entered);
    let supervisor = Arc::new(Supervisor::find(config::environment));
    let (reloads, orders) = Reloads::new();
    if let Some(former) = former.as_ref() {
        former.check_store(&config.store).map_err(StartError::from)?;
    }
    let bound = start::bind(&config, former.as_mut())?;
    let opened = start::open(&config, &metrics, former.as_mut(), first_start)?;
    // Before a visitor comes in: the paths of rooms that only the store has are not to be open for a moment.
    let config = source.with_rooms(&opened.additions(), &reloads).unwrap_or(config);
    let operator = Operator {
        metrics: metrics.clone(),
        reloads: reloads.clone(),
        upgrades: Some(upgrades),
    };
    let (running, live) = start::serve(&config, bound, opened, operator, former.is_some())?;
    let given = Given {
        program,
        starter,
        service: Arc::clone(running.service()),
        drain: Patience::of(&config),
        deadline: config.server.upgrade_deadline,
        supervisor: Arc::clone(&supervisor),
        replica: running.replica().clone(),
    };
    let (patience, upstream) = (given.drain.clone(), upstream(&config));
    let told = (reloads.clone(), Arc::clone(&supervisor));
    let reloader = reload::look_after(source, config, live, logging.filter(), told, orders, patience.clone())?;
    let former = former.take().map(|former| former.ready(&running.service().sockets()));
    let former = former.transpose().map_err(StartError::from)?;
    say_serving(&running, &upstream);
    supervisor.ready();
    // It waits only for this.
    let _ = reloader.send(());
    logging.flusher()();
    greet(&running);
    let mut desk = Upgrader::new(given, wishes, former.clone(), metrics);
    let looks = reload::look_at_rooms(running.replica().clone(), reloads.clone());
    let told = signals.wait_or(async {
        tokio::select! {
            () = running.replica().falls() => {}
            () = watched(&supervisor, &running) => {}
            () = desk.handed_over() => {}
            () = hung_up(hangup, &reloads) => {}
            () = looks => {}
            () = upgrade::takes_over(running.replica().clone(), former) => {}
        }
    });
    if let Some(next) = desk.close() {
        leave(running, signals, next, (&supervisor, logging), &patience);
        return Ok(());
    }
    stop(running, signals, told, &supervisor, &patience);
    if told { Ok(()) } else { Err(RunError::Fallen) }
}

/// Another process serves: finishes the requests under way.
fn leave(
    running: Running,
    signals: Signals,
    next: Successor,
    (supervisor, logging): (&Supervisor, &Logging),
    patience: &Patience,
) {
    let patience = patience.end();
    tracing::info!(
        seconds = patience.as_secs(),
        "handed over: draining; a signal ends at once"
    );
    signals.end_at_once();
    let pid = next.pid;
    let _line = next.leave(supervisor, logging.flusher());
    let drained = running.leave(patience);
    tracing::info!(cut = drained.cut, next = pid, "stopped");
}

/// No process serves after this one.
fn stop(running: Running, signals: Signals, told: bool, supervisor: &Supervisor, patience: &Patience) {
    let patience = patience.end();
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
}

fn say_serving(running: &Running, upstream: &str) {
    let list = |endpoints: &[Endpoint]| endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let secured = Some(list(running.secured())).filter(|list| !list.is_empty());
    tracing::info!(
        listen = %list(running.endpoints()),
        tls = secured,
        admin = %running.admin_address(),
        upstream,
        version = env!("CARGO_PKG_VERSION"),
        gate = %describe::gate(running.gate()),
        "serving"
    );
}

fn upstream(config: &Config) -> String {
    let servers = |upstream: &Upstream| {
        let servers = upstream.servers.iter().map(|server| server.place.to_string());
        let servers = servers.collect::<Vec<String>>().join(", ");
        match &upstream.name {
            Some(name) => format!("{name}: {servers}"),
            None => servers,
        }
    };
    match &config.upstreams[..] {
        [] => "none, forward-auth only".to_owned(),
        some => some.iter().map(servers).collect::<Vec<String>>().join("; "),
    }
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
