//! Putting a gate together from its configuration, and taking it down again.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::admin::{self, AdminServer, Handles, Readiness, Reloads};
use crate::config::{Config, Store, StoreKind};
use crate::crawlers::Crawlers;
use crate::gate::{Cores, GateParts, Shared};
use crate::log::redis::{self, RedisLog, RedisUrl};
use crate::log::{Log, OpenError};
use crate::logging::AccessLog;
use crate::metrics::Metrics;
use crate::proxy::{self, Drained, Endpoint, Listener, Origins, OriginsError, ServerSettings, Stats};
use crate::replica::{self, Charge, Condition, Replica, ReplicaThread};
use crate::room::{Additions, GateId, VERSION};
use crate::time;
use crate::tls::Watch;
use crate::token::{KeyError, Keyring};
use crate::waiting::TemplateError;

use super::own_key::OwnKeyError;
use super::parts::{self, admin_options, server_settings, upstream_settings};
use super::reload::Live;
use super::secured::{Secured, SecuredError};
use super::systemd::PassedError;
use super::upgrade::{HandedError, Succession};

/// Why a gate cannot start; each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot listen on {place}: {source}{}", hint(source))]
    Listen { place: String, source: io::Error },
    #[error(transparent)]
    Passed(#[from] PassedError),
    #[error(transparent)]
    Log(#[from] OpenError),
    #[error("[store] url: {0}")]
    Store(#[from] redis::OpenError),
    #[error(transparent)]
    Replica(#[from] replica::StartError),
    #[error(transparent)]
    Origins(#[from] OriginsError),
    #[error(transparent)]
    OwnKey(#[from] OwnKeyError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the page template cannot be used: {0}")]
    Template(#[from] TemplateError),
    #[error("the access log cannot be opened: {0}")]
    Access(io::Error),
    #[error(transparent)]
    Crawlers(#[from] crate::crawlers::StartError),
    #[error(transparent)]
    Admin(#[from] admin::StartError),
    #[error("[tls] {0}")]
    Tls(#[from] SecuredError),
    #[error("the system gives no threads: {0}")]
    Threads(io::Error),
    #[error(transparent)]
    Handed(#[from] HandedError),
    #[error("an upgrade to this version would stop the rooms: {0}")]
    Still(&'static str),
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; something listens there already: stop it, or set [server] listen",
        io::ErrorKind::PermissionDenied => "; ports below 1024 need the right to bind them (CAP_NET_BIND_SERVICE)",
        io::ErrorKind::AddrNotAvailable => "; no interface of this machine has that address",
        _ => "",
    }
}

/// A gate at work.
pub struct Running {
    server: proxy::Server,
    admin: AdminServer,
    handle: Replica,
    replica: ReplicaThread,
    readiness: Readiness,
    /// So many of the server's endpoints, the first ones, are in the clear.
    clear: usize,
    /// Of the certificates' files.
    _watch: Option<Watch>,
    cores: Arc<Cores>,
}

impl Running {
    /// Where visitors come in, in the clear.
    #[must_use]
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.server.endpoints()[..self.clear]
    }

    /// Where they come in over TLS.
    #[must_use]
    pub fn secured(&self) -> &[Endpoint] {
        &self.server.endpoints()[self.clear..]
    }

    /// The addresses of those over TCP, in the clear or not.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        self.server.addresses()
    }

    /// Resolves when every thread that serves visitors has turned once more.
    pub fn turns(&self) -> impl Future<Output = ()> + use<> {
        self.server.turns()
    }

    /// What visitors' places are asked of, and the operator's words told.
    #[must_use]
    pub fn replica(&self) -> &Replica {
        &self.handle
    }

    /// Where the operator's side is.
    #[must_use]
    pub fn admin_address(&self) -> SocketAddr {
        self.admin.address()
    }

    /// Its id in the log, for this life of the process.
    pub fn gate(&self) -> GateId {
        self.handle.gate()
    }

    /// Resolves when the rooms stand still by a fault of the program, and only a restart helps; never otherwise.
    pub fn falls(&self) -> impl Future<Output = ()> + use<> {
        self.handle.falls()
    }

    /// As [`Running::stop`], for a process that has handed over: the operator's side is the next one's, so that nobody is told
    /// here that the gate is not ready.
    pub fn leave(self, patience: Duration) -> Drained {
        self.admin.stop();
        drain(self.server, &self.cores, self.replica, patience)
    }

    /// Readiness off, streams told to come back, requests under way finished for at most `patience`, the log closed.
    pub fn stop(self, patience: Duration) -> Drained {
        self.readiness.draining();
        let drained = drain(self.server, &self.cores, self.replica, patience);
        self.admin.stop();
        drained
    }
}

/// What is left of `patience` then is for a log that does not take what this gate was told last.
fn drain(server: proxy::Server, cores: &Cores, replica: ReplicaThread, patience: Duration) -> Drained {
    let began = time::uptime();
    let drained = server.drain(patience);
    flush(cores);
    replica.stop_within(patience.saturating_sub(time::uptime().saturating_sub(began)));
    drained
}

/// Writes what the access log in force still has in its queue.
fn flush(cores: &Cores) {
    let shared = cores.shared();
    if shared.access().is_some_and(|log| !log.flush(FLUSH_WITHIN)) {
        tracing::warn!("the access log takes its last lines too slowly: some are lost");
    }
}

/// How long an end waits for a slow disk, or for a pipe that nobody reads.
const FLUSH_WITHIN: Duration = Duration::from_secs(1);

/// Starts a gate: listeners first, so that a taken port is told before anything is written; the admin listener before the
/// visitors', so that a load balancer sees it become ready. What the process before hands over is taken from `succession`, and
/// what the one after is to have is left in it. `with_rooms` is told which rooms the log has that are in no file, and gives the
/// configuration with those. With the gate comes what of it another configuration changes.
pub fn start(
    config: &Config,
    metrics: Metrics,
    reloads: Reloads,
    succession: &mut Succession,
    with_rooms: &mut dyn FnMut(&Arc<Additions>) -> Option<Config>,
) -> Result<(Running, Live), StartError> {
    let descriptors = proxy::raise_descriptor_limit();
    let settings = server_settings(&config.server);
    succession.check_store(&config.store)?;
    let [listeners, secured] = succession.listeners((&config.server, &config.tls), &settings)?;
    let secured = Secured::open(&config.tls, secured)?;
    let admin_listener = succession.admin_listener(&config.admin, &settings)?;
    let (log, folder) = open_log(&config.store, succession)?;
    let keyring = parts::keyring(config, folder.as_deref())?;
    if config.keys.is_empty() {
        tracing::info!("tickets and passes are signed with this gate's own key");
    }
    let access = config
        .log
        .access
        .as_ref()
        .map(|target| AccessLog::open(target, config.log.full_addresses, metrics.log_lines_dropped.clone()));
    let access = access.transpose().map_err(StartError::Access)?;
    let origins = Origins::start(upstream_settings(config.upstream.as_ref()))?;
    let (replica, thread) = Replica::start(
        log,
        parts::rooms(config),
        replica_options(&config.store, keyring.clone(), succession.former.is_some()),
    )?;
    if succession.former.is_some() {
        check_rooms(&replica)?;
    }
    // Before anybody comes in: their paths are not to be open for a moment.
    let composed = with_rooms(&replica.view().additions);
    let config = composed.as_ref().unwrap_or(config);

    let readiness = Readiness::new();
    if succession.former.is_some() {
        // Both answer the operator now, and one of them serves.
        readiness.serving();
    }
    let stats = Arc::new(Stats::default());
    let handles = Handles {
        replica: replica.clone(),
        metrics: metrics.clone(),
        proxy: Arc::clone(&stats),
        origins: origins.clone(),
        readiness: readiness.clone(),
        tls: secured.tls.clone(),
        keyring: keyring.clone(),
        reloads,
    };
    let admin_options = admin::Options {
        upgrades: succession.upgrades.clone(),
        ..admin_options(config)
    };
    let admin = admin::serve(admin_listener, handles, admin_options)?;
    let gate_parts = GateParts {
        keyring,
        signer: parts::signer(config)?,
        replica: replica.clone(),
        metrics: metrics.clone(),
        access: access.clone(),
        crawlers: Crawlers::start(&config.crawlers, None, metrics.crawlers.clone())?,
        redirect: secured.redirect(&config.tls),
    };
    let shared = Shared::new(config, gate_parts, None)?;
    let has_shop = config.upstream.is_some();
    let cores = Arc::new(Cores::new(
        shared,
        has_shop.then(|| origins.clone()),
        Arc::clone(&stats),
    ));
    let clear = listeners.len();
    let listeners = listeners.into_iter().chain(secured.listeners).collect();
    let server = serve(config, listeners, &settings, stats, Arc::clone(&cores)).map_err(StartError::Threads)?;
    let live = Live {
        bounds: server.bounds(),
        cores: Arc::clone(&cores),
        origins,
        admin: admin.live(),
        replica: replica.clone(),
        metrics,
        tls: secured.tls,
        first_port: secured.first_port,
        access,
        folder,
    };
    warn_of_few(descriptors, config.server.max_connections);
    readiness.serving();
    let running = Running {
        server,
        admin,
        handle: replica,
        replica: thread,
        readiness,
        clear,
        _watch: secured.watch,
        cores,
    };
    Ok((running, live))
}

/// A forwarded request takes two descriptors; too few turn visitors away before `max_connections` does.
pub fn warn_of_few(descriptors: u64, max_connections: usize) {
    let needed = u64::try_from(max_connections).unwrap_or(u64::MAX).saturating_mul(2);
    if descriptors < needed {
        tracing::warn!(
            descriptors,
            max_connections,
            "this process may open fewer descriptors than max_connections can need: raise the hard limit (LimitNOFILE, \
             ulimit -Hn) or lower max_connections"
        );
    }
}

/// A gate whose rooms would stand still, or that has read nothing of them, takes over from none that lets them go on.
fn check_rooms(replica: &Replica) -> Result<(), StartError> {
    match replica.condition() {
        Condition::Starting => Err(StartError::Still(
            "the store has not let it read the rooms, which the gate that runs has in memory; upgrade when the store answers",
        )),
        Condition::Behind { .. } => Err(StartError::Still(
            "the log runs a machine version that it lacks; upgrade to a later one",
        )),
        Condition::Frozen { .. } => Err(StartError::Still("it cannot apply an entry of the log")),
        _ => Ok(()),
    }
}

/// Whoever comes after another gate has time to read the log, since that one serves meanwhile.
fn replica_options(store: &Store, keyring: Keyring, comes_after: bool) -> replica::Options {
    let options = replica::Options::default();
    replica::Options {
        read_within: if comes_after { READ_WITHIN } else { options.read_within },
        charge: if comes_after { Charge::Before } else { Charge::Own },
        knows: store.machine_version.unwrap_or(VERSION),
        archive: store.archive.clone(),
        keyring: Some(keyring),
        ..options
    }
}

/// Less than an upgrade may take.
const READ_WITHIN: Duration = Duration::from_secs(15);

/// The log, and the data folder where there is one.
fn open_log(store: &Store, succession: &mut Succession) -> Result<(Box<dyn Log>, Option<PathBuf>), StartError> {
    match &store.kind {
        StoreKind::Redis(url) => Ok((Box::new(open_shared(store, url)?), None)),
        StoreKind::Embedded { folder } => {
            let log = succession.embedded(folder, store)?;
            Ok((Box::new(log), Some(folder.clone())))
        }
    }
}

/// A store that does not answer is no reason not to start: pages are shown, and it is tried again.
fn open_shared(store: &Store, url: &RedisUrl) -> Result<RedisLog, StartError> {
    let options = redis::Options {
        prefix: store.prefix.clone(),
        ca: store.ca_file.as_ref().map(|file| file.pem.clone()),
        ..redis::Options::default()
    };
    Ok(RedisLog::open(url, options)?)
}

fn serve(
    config: &Config,
    listeners: Vec<Listener>,
    settings: &ServerSettings,
    stats: Arc<Stats>,
    cores: Arc<Cores>,
) -> io::Result<proxy::Server> {
    let count = config.server.threads.map_or_else(processors, NonZeroUsize::get);
    proxy::serve(listeners, count, settings, stats, move |index| {
        let core = cores.join(index);
        move |conn, request| core.gate().handle(conn, request)
    })
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
