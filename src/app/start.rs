//! The three stages of a start: `bind` has the sockets, `open` the store, and `serve` lets visitors in.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::acme::Acme;
use crate::admin::{self, AdminServer, Handles, Readiness, Reloads, Upgrades};
use crate::config::{Config, Store, StoreKind};
use crate::crawlers::Crawlers;
use crate::gate::{Cores, GateParts, Shared};
use crate::logging::AccessLog;
use crate::metrics::Metrics;
use crate::proxy::{self, ServerSettings, Stats, UpstreamServers};
use crate::replica::{self, Charge, Condition, Replica};
use crate::room::{Additions, NEWEST, VERSION};
use crate::store::Log;
use crate::store::redis::{RedisLog, RedisUrl};
use crate::token::Keyring;

use super::error::StartError;
use super::front::Front;
use super::listeners::Listeners;
use super::parts::{self, admin_options, server_settings, upstream_settings, warn_of_few};
use super::reload::Live;
use super::running::Running;
use super::secured::Secured;
use super::service::{OpenStore, Service, open_embedded};
use super::upgrade::{Held, Inherited, Predecessor, TAKE_WITHIN};

/// All sockets of a gate, and the state that its listeners share.
pub struct Bound {
    sockets: Held,
    settings: ServerSettings,
    /// Number of visitors' listeners without TLS, which are the first ones.
    clear: usize,
    secured: Secured,
    admin: TcpListener,
    /// How many this process may open.
    descriptors: u64,
}

/// A store that was read, and the replica that answers from it.
pub struct Opened {
    replica: Replica,
    thread: OpenStore,
    /// The data folder, where there is one.
    folder: Option<PathBuf>,
    keyring: Keyring,
    access: Option<AccessLog>,
    origins: Vec<UpstreamServers>,
}

/// The operator's handles to a gate.
pub struct Operator {
    pub metrics: Metrics,
    pub reloads: Reloads,
    /// Where wishes for an upgrade go; `None` where there can be none.
    pub upgrades: Option<Upgrades>,
}

/// The first stage: takes over, binds or accepts from systemd every socket, so that a taken port is reported before anything is
/// written.
pub fn bind(config: &Config, former: Option<&mut Predecessor>) -> Result<Bound, StartError> {
    let descriptors = proxy::raise_descriptor_limit();
    let settings = server_settings(&config.server);
    let mut none = Inherited::default();
    let inherited = former.map_or(&mut none, |former| &mut former.sockets);
    let mut listeners = Listeners {
        settings: &settings,
        inherited,
    };
    let [clear, encrypted] = listeners.open(&config.server, &config.tls)?;
    let admin = listeners.admin(config.admin.listen)?;
    let secured = Secured::open(&config.tls, &encrypted)?;
    let mut sockets = Held::default();
    let count = clear.len();
    for one in clear {
        sockets.hold(one);
    }
    for mut one in encrypted {
        if let Some(tls) = &secured.tls {
            one.listener = one.listener.secured(Arc::clone(tls));
        }
        sockets.hold(one);
    }
    sockets
        .hold_admin(config.admin.listen, &admin)
        .map_err(|source| StartError::Listen {
            place: config.admin.listen.to_string(),
            source,
        })?;
    Ok(Bound {
        sockets,
        settings,
        clear: count,
        secured,
        admin,
        descriptors,
    })
}

/// The second stage: opens the store and reads the rooms. A process before this one serves visitors until it is asked for an
/// embedded store, so all other steps that may fail come first. `first_start` is the operator's word that no log was lost.
pub fn open(
    config: &Config,
    metrics: &Metrics,
    mut former: Option<&mut Predecessor>,
    first_start: bool,
) -> Result<Opened, StartError> {
    let takes_over = former.is_some();
    let access = config
        .logging
        .access
        .as_ref()
        .map(|target| AccessLog::open(target, config.logging.full_addresses, metrics.log_lines_dropped.clone()));
    let access = access.transpose().map_err(StartError::Access)?;
    let settings = config.upstreams.iter().map(upstream_settings);
    let origins = settings.map(UpstreamServers::start).collect::<Result<_, _>>()?;
    let folder = match &config.store.kind {
        StoreKind::Redis(_) => None,
        StoreKind::Embedded { folder } => Some(folder.clone()),
    };
    let known = takes_over.then(|| parts::keyring(config, folder.as_deref()));
    let known = known.transpose()?;
    let log = match &config.store.kind {
        StoreKind::Redis(url) => open_shared(&config.store, url)?,
        StoreKind::Embedded { folder } => {
            if let Some(former) = &mut former {
                former.ask_for_store()?;
            }
            open_embedded(folder, &config.store)?
        }
    };
    let (keyring, new) = known.map_or_else(|| parts::keyring(config, folder.as_deref()), Ok)?;
    if config.keys.is_empty() {
        tracing::info!("tickets and passes are signed with this gate's own key");
    }
    let options = replica::Options {
        first_start: first_start && !takes_over,
        new_key: new && !takes_over,
        ..replica_options(&config.store, keyring.clone(), takes_over)
    };
    let (replica, thread) = Replica::start(log, parts::rooms(config), options)?;
    let thread = OpenStore::new(thread);
    if takes_over {
        check_rooms(&replica)?;
    }
    Ok(Opened {
        replica,
        thread,
        folder,
        keyring,
        access,
        origins,
    })
}

impl Opened {
    /// The rooms that the store has and no file.
    pub fn additions(&self) -> Arc<Additions> {
        Arc::clone(&self.replica.view().additions)
    }
}

/// The third stage: the operator's listener first, so that a load balancer sees the gate become ready, then the visitors'.
/// Returns the gate with the parts of it that another configuration changes.
pub fn serve(
    config: &Config,
    bound: Bound,
    opened: Opened,
    operator: Operator,
    takes_over: bool,
) -> Result<(Running, Live), StartError> {
    let readiness = Readiness::new();
    if takes_over {
        // Both answer the operator now, and one of them serves.
        readiness.serving();
    }
    let stats = Arc::new(Stats::default());
    let acme = look_after_certificates(config, &bound.secured, opened.folder.as_deref())?;
    let admin = serve_admin(
        config,
        (&bound, acme.as_ref()),
        &opened,
        &operator,
        (&stats, &readiness),
    )?;
    let metrics = operator.metrics;
    let gate_parts = GateParts {
        keyring: opened.keyring,
        signers: parts::signers(config)?,
        replica: opened.replica.clone(),
        metrics: metrics.clone(),
        access: opened.access.clone(),
        crawlers: Crawlers::start(&config.crawlers, None, metrics.crawlers.clone())?,
        redirect: bound.secured.redirect(&config.tls),
        challenges: acme.as_ref().map(Acme::answers).unwrap_or_default(),
    };
    let shared = Shared::new(config, gate_parts, None)?;
    let cores = Arc::new(Cores::new(shared, opened.origins.clone(), Arc::clone(&stats)));
    let front = Front::new(Arc::clone(&cores), stats, config.server.threads, bound.settings);
    let listeners = bound.sockets.visitors().map_err(StartError::Threads)?;
    let endpoints = front.start(listeners).map_err(StartError::Threads)?;
    let service = Arc::new(Service::new(bound.sockets, front, config.store.clone(), opened.thread));
    let live = Live {
        service: Arc::clone(&service),
        cores: Arc::clone(&cores),
        origins: opened.origins,
        admin: admin.live(),
        replica: opened.replica.clone(),
        metrics,
        tls: bound.secured.tls,
        first_port: bound.secured.first_port,
        acme: acme.clone(),
        access: opened.access,
        folder: opened.folder,
    };
    warn_of_few(bound.descriptors, config.server.max_connections);
    readiness.serving();
    let running = Running {
        service,
        endpoints,
        clear: bound.clear,
        admin,
        replica: opened.replica,
        readiness,
        _watch: bound.secured.watch,
        acme,
        cores,
    };
    Ok((running, live))
}

/// Shows the certificates that the store has before the first visitor comes, and gets those that it has not. `None`: no listener
/// speaks TLS.
fn look_after_certificates(
    config: &Config,
    secured: &Secured,
    folder: Option<&Path>,
) -> Result<Option<Acme>, StartError> {
    let Some(tls) = &secured.tls else { return Ok(None) };
    let settings = parts::acme_settings(config, folder)?;
    let started = Acme::start(Arc::clone(tls.certificates()), parts::vault(&config.store)?, settings);
    started.map(Some).map_err(StartError::Threads)
}

fn serve_admin(
    config: &Config,
    (bound, acme): (&Bound, Option<&Acme>),
    opened: &Opened,
    operator: &Operator,
    (stats, readiness): (&Arc<Stats>, &Readiness),
) -> Result<AdminServer, StartError> {
    let listener = bound.admin.try_clone().map_err(StartError::Threads)?;
    let handles = Handles {
        replica: opened.replica.clone(),
        metrics: operator.metrics.clone(),
        proxy: Arc::clone(stats),
        origins: opened.origins.clone(),
        readiness: readiness.clone(),
        tls: bound.secured.tls.clone(),
        acme: acme.cloned(),
        keyring: opened.keyring.clone(),
        reloads: operator.reloads.clone(),
    };
    let options = admin::Options {
        upgrades: operator.upgrades.clone(),
        ..admin_options(config)
    };
    Ok(admin::serve(listener, handles, options)?)
}

/// A gate whose rooms are frozen, or that has read none of them, does not take over from a process whose rooms go on.
fn check_rooms(replica: &Replica) -> Result<(), StartError> {
    match replica.condition() {
        Condition::Starting | Condition::Opening => Err(StartError::Still(
            "the store has not let it read the rooms, which the gate that runs has in memory; upgrade when the store answers",
        )),
        Condition::Behind { .. } => Err(StartError::Still(
            "the log runs a machine version that it lacks; upgrade to a later one",
        )),
        Condition::Frozen { .. } => Err(StartError::Still("it cannot apply an entry of the log")),
        _ => Ok(()),
    }
}

/// A gate that takes over from another has time to read a shared log, since that one serves meanwhile.
fn replica_options(store: &Store, keyring: Keyring, comes_after: bool) -> replica::Options {
    let options = replica::Options::default();
    replica::Options {
        read_within: match &store.kind {
            StoreKind::Redis(_) if comes_after => READ_WITHIN,
            StoreKind::Embedded { .. } if comes_after => TAKE_WITHIN.mul_f32(0.8),
            _ => options.read_within,
        },
        charge: if comes_after { Charge::Before } else { Charge::Own },
        knows: highest_version(store.machine_version),
        archive: store.archive.clone(),
        keyring: Some(keyring),
        ..options
    }
}

/// Less than an upgrade may take.
const READ_WITHIN: Duration = Duration::from_secs(15);

/// A store that does not answer is no reason not to start: pages are shown, and it is tried again.
fn open_shared(store: &Store, url: &RedisUrl) -> Result<Box<dyn Log>, StartError> {
    Ok(Box::new(RedisLog::open(url, parts::redis_options(store))?))
}

/// The highest machine version that this gate may bring into force: the operator's, as far as the binary knows it.
fn highest_version(set: Option<u16>) -> u16 {
    set.map_or(VERSION, |set| set.min(NEWEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_holds_a_gate_back_or_lets_it_on_as_far_as_it_knows() {
        // Tests know one version more than is in use.
        assert_eq!(NEWEST, VERSION + 1);
        let set = [None, Some(VERSION), Some(NEWEST), Some(NEWEST + 7)];
        assert_eq!(set.map(highest_version), [VERSION, VERSION, NEWEST, NEWEST]);
    }
}
