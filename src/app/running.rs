//! A gate at work, and its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::acme::Acme;
use crate::admin::{AdminServer, Readiness};
use crate::gate::Cores;
use crate::proxy::{Drained, Endpoint};
use crate::replica::Replica;
use crate::time;
use crate::tls::Watch;
use ropeline_ids::GateId;

use super::service::Service;

/// A gate at work.
pub struct Running {
    pub(super) service: Arc<Service>,
    /// The visitors' listeners.
    pub(super) endpoints: Vec<Endpoint>,
    /// Number of listeners without TLS, which are the first ones.
    pub(super) clear: usize,
    pub(super) admin: AdminServer,
    pub(super) replica: Replica,
    pub(super) readiness: Readiness,
    /// Of the certificates' files.
    pub(super) _watch: Option<Watch>,
    pub(super) acme: Option<Acme>,
    pub(super) cores: Arc<Cores>,
}

impl Running {
    /// Where visitors come in, in the clear.
    #[must_use]
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints[..self.clear]
    }

    /// Where they come in over TLS.
    #[must_use]
    pub fn secured(&self) -> &[Endpoint] {
        &self.endpoints[self.clear..]
    }

    /// The part that an upgrade takes over.
    #[must_use]
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// The replica, which answers for visitors' places and takes the operator's changes.
    #[must_use]
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Where the operator's side is.
    #[must_use]
    pub fn admin_address(&self) -> SocketAddr {
        self.admin.address()
    }

    /// Its id in the log, for this life of the process.
    pub fn gate(&self) -> GateId {
        self.replica.gate()
    }

    /// As [`Running::stop`], for a process that has passed everything on: the next process has the operator's listener, so
    /// this one does not report that the gate is not ready.
    pub fn leave(self, patience: Duration) -> Drained {
        let Self {
            admin,
            service,
            cores,
            acme,
            ..
        } = self;
        acme.iter().for_each(Acme::stop);
        admin.stop();
        drain(&service, &cores, patience)
    }

    /// Readiness off, streams asked to come back, requests under way finished for at most `patience`, the log closed.
    pub fn stop(self, patience: Duration) -> Drained {
        self.readiness.draining();
        self.acme.iter().for_each(Acme::stop);
        let drained = drain(&self.service, &self.cores, patience);
        self.admin.stop();
        drained
    }
}

/// The rest of `patience` then is for a log that does not take this gate's last batch.
fn drain(service: &Service, cores: &Cores, patience: Duration) -> Drained {
    let began = time::uptime();
    let drained = service.stop(patience);
    flush(cores);
    service.close_store(patience.saturating_sub(time::uptime().saturating_sub(began)));
    drained
}

/// Writes the lines that are still in the queue of the access log in force.
fn flush(cores: &Cores) {
    let shared = cores.shared();
    if shared.access().is_some_and(|log| !log.flush(FLUSH_WITHIN)) {
        tracing::warn!("the access log takes its last lines too slowly: some are lost");
    }
}

/// How long an end waits for a slow disk, or for a pipe without a reader.
const FLUSH_WITHIN: Duration = Duration::from_secs(1);
