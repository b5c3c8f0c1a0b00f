//! The parts for a new configuration, made before anything changes, so that nothing can fail halfway.

use rustls::ServerConfig;

use crate::acme::{self, Acme};
use crate::app::error::StartError;
use crate::app::parts::{self, upstream_settings};
use crate::app::secured::{SecuredError, redirect};
use crate::config::Config;
use crate::crawlers::Crawlers;
use crate::gate::{GateParts, Shared};
use crate::logging::{AccessLog, Turn};
use crate::proxy::UpstreamServers;
use crate::time;
use crate::tls::Renewal;
use crate::token::Keyring;

use super::live::Live;

/// A complete configuration: it can be put in force without a failure.
pub(super) struct Prepared {
    pub(super) shared: Shared,
    pub(super) keyring: Keyring,
    pub(super) origins: Vec<UpstreamServers>,
    pub(super) tls: Option<(Renewal, ServerConfig)>,
    pub(super) acme: acme::Settings,
    pub(super) access: Access,
}

/// The access log that is to be.
pub(super) enum Access {
    None,
    Opened(AccessLog),
    /// The one there is, written to this from now on.
    Turned(Turn),
}

impl Prepared {
    pub(super) fn make(live: &Live, config: &Config) -> Result<Self, StartError> {
        let (keyring, _) = parts::keyring(config, live.folder.as_deref())?;
        let gate_parts = GateParts {
            keyring: keyring.clone(),
            signers: parts::signers(config)?,
            replica: live.replica.clone(),
            metrics: live.metrics.clone(),
            access: None,
            crawlers: crawlers(live, config)?,
            redirect: live.tls.as_ref().and_then(|_| redirect(&config.tls, live.first_port)),
            challenges: live.acme.as_ref().map(Acme::answers).unwrap_or_default(),
        };
        Ok(Self {
            shared: Shared::new(config, gate_parts, Some(&live.cores.shared()))?,
            keyring,
            tls: tls(live, config)?,
            acme: parts::acme_settings(config, live.folder.as_deref())?,
            access: access(live, config)?,
            origins: origins(live, config)?,
        })
    }
}

fn tls(live: &Live, config: &Config) -> Result<Option<(Renewal, ServerConfig)>, SecuredError> {
    let Some(tls) = &live.tls else { return Ok(None) };
    let renewal = tls.certificates().prepare(&config.tls.certificates, time::wall())?;
    Ok(Some((renewal, tls.prepare(config.tls.min_version, config.tls.http2)?)))
}

fn access(live: &Live, config: &Config) -> Result<Access, StartError> {
    let Some(target) = &config.logging.access else {
        return Ok(Access::None);
    };
    let dropped = live.metrics.log_lines_dropped.clone();
    let access = match &live.access {
        Some(_) => AccessLog::prepare(target).map(Access::Turned),
        None => AccessLog::open(target, config.logging.full_addresses, dropped).map(Access::Opened),
    };
    access.map_err(StartError::Access)
}

/// The present ones if their settings and their resolver are unchanged; otherwise new ones that take over their knowledge.
fn crawlers(live: &Live, config: &Config) -> Result<Crawlers, StartError> {
    let in_force = &live.cores.shared().crawlers;
    if in_force.are_of(&config.crawlers) {
        return Ok(in_force.clone());
    }
    let metrics = live.metrics.crawlers.clone();
    Ok(Crawlers::start(&config.crawlers, Some(in_force), metrics)?)
}

/// Those in force where nothing about them is otherwise: they keep their connections.
fn origins(live: &Live, config: &Config) -> Result<Vec<UpstreamServers>, StartError> {
    let origins = |settings| match live.origins.iter().find(|own| own.are_of(&settings)) {
        Some(own) => Ok(own.clone()),
        None => Ok(UpstreamServers::prepare(settings)?),
    };
    config.upstreams.iter().map(upstream_settings).map(origins).collect()
}
