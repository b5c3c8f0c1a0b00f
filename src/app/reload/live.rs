//! The parts of a running gate that a reload replaces, all of them at once.

use std::path::PathBuf;
use std::sync::Arc;

use crate::acme::Acme;
use crate::admin;
use crate::app::error::StartError;
use crate::app::parts::{admin_options, server_settings};
use crate::app::service::Service;
use crate::config::{Config, StoreKind};
use crate::gate::{Cores, Odd};
use crate::logging::{AccessLog, Filter};
use crate::metrics::Metrics;
use crate::proxy::UpstreamServers;
use crate::replica::{Replica, Unrecorded};
use crate::room::{RoomName, Settings};
use crate::time;
use crate::tls::Tls;

use super::prepared::{Access, Prepared};

/// Handles to a gate at work; clones are the same gate.
#[derive(Clone)]
pub struct Live {
    pub service: Arc<Service>,
    pub cores: Arc<Cores>,
    pub origins: Vec<UpstreamServers>,
    pub admin: admin::Live,
    pub replica: Replica,
    pub metrics: Metrics,
    /// `None`: no listener has TLS.
    pub tls: Option<Arc<Tls>>,
    /// Of the listeners with TLS.
    pub first_port: Option<u16>,
    /// `None`: as before.
    pub acme: Option<Acme>,
    pub access: Option<AccessLog>,
    /// The log's own, where it has one.
    pub folder: Option<PathBuf>,
}

/// Why there are no other rooms.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoRooms {
    #[error(
        "[[room]]: a room that is new has to be in the rooms' log before visitors come, and the log has not taken {0} in time: try again when the store answers"
    )]
    NotTaken(String),
    #[error("[[room]]: the rooms cannot be told of their settings now ({0}): try again")]
    NotTold(Unrecorded),
}

impl Live {
    /// Makes everything that another configuration needs, beside the one in force. Changes nothing.
    pub(super) fn prepare(&self, config: &Config) -> Result<Prepared, StartError> {
        Prepared::make(self, config)
    }

    /// Gives the rooms their settings, and waits for new ones: no visitor is to meet a room that is not there. Removed rooms
    /// are still there after it. Where it fails everything is as before.
    pub(super) async fn make_rooms(
        &self,
        old: Vec<(RoomName, Settings)>,
        new: Vec<(RoomName, Settings)>,
    ) -> Result<(), NoRooms> {
        let is_in = |name: &RoomName, rooms: &[(RoomName, Settings)]| rooms.iter().any(|(other, _)| other == name);
        let added: Vec<&RoomName> = new
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !is_in(name, &old))
            .collect();
        let added = added.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let gone = old.iter().filter(|(name, _)| !is_in(name, &new)).cloned();
        let both = new.iter().cloned().chain(gone).collect();
        match self.replica.configure(both).await {
            Ok(()) => Ok(()),
            // The change is queued, and goes to the log when it accepts entries again, as after a start.
            Err(Unrecorded::CutOff) if added.is_empty() && !self.replica.frozen() => Ok(()),
            Err(Unrecorded::CutOff) if !added.is_empty() => {
                let _ = self.replica.configure(old).await;
                Err(NoRooms::NotTaken(added))
            }
            Err(reason) => Err(NoRooms::NotTold(reason)),
        }
    }

    /// Drops the rooms that are no longer configured, once no visitor can reach them.
    pub(super) async fn keep_rooms(&self, new: Vec<(RoomName, Settings)>) {
        let view = self.replica.view();
        let is_kept = |name: &RoomName| new.iter().any(|(kept, _)| kept == name);
        if view.rooms.keys().any(|name| !is_kept(name)) {
            // The change stays in force in any case.
            let _ = self.replica.configure(new).await;
        }
    }

    /// Puts the prepared parts in force: certificates first, so that no visitor is sent to a listener that cannot serve them.
    /// Returns the oddities of the change of keys, if they change.
    pub(super) fn take(&mut self, config: &Config, prepared: Prepared, filter: &Filter) -> Vec<Odd> {
        let Prepared {
            mut shared,
            keyring,
            origins,
            tls,
            acme,
            access,
        } = prepared;
        if let (Some(own), Some((renewal, spoken))) = (&self.tls, tls) {
            own.certificates().take(renewal);
            own.speak(spoken);
        }
        if let Some(own) = &self.acme {
            own.set(acme);
        }
        self.access = match (access, self.access.take()) {
            (Access::None, _) => None,
            (Access::Opened(log), _) => Some(log),
            (Access::Turned(turn), before) => before.map(|log| log.turn(turn, config.logging.full_addresses)),
        };
        shared.log_to(self.access.clone());
        // It was checked with everything else.
        let _ = filter.set(&config.logging.level);
        self.service.front.bind_by(server_settings(&config.server));
        // They have servers from then on.
        UpstreamServers::replace(&self.origins, &origins);
        let mut odd = shared.take_keys(time::wall());
        // A gate that is alone accepts all that it signs.
        odd.retain(|odd| matches!(odd, Odd::Gone { .. }) || matches!(config.store.kind, StoreKind::Redis(_)));
        self.cores.replace(shared, origins.clone());
        let upstreams = config.upstreams.iter();
        let names: Vec<&str> = upstreams.map(|one| one.name.as_deref().unwrap_or_default()).collect();
        self.metrics.keep_upstreams(&names);
        self.replica.set_keys(keyring.clone());
        self.admin.set(admin_options(config), keyring, origins.clone());
        self.origins = origins;
        odd
    }
}
