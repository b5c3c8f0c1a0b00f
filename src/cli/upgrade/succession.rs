//! A process among those before and after it: what it is handed at its start, and what it will hand on.

use std::net::TcpListener;
use std::path::Path;

use super::former::{Former, HandedError};
use super::sockets::{Held, Inherited};
use tokio::sync::watch;

use crate::admin::Upgrades;
use crate::cli::listeners::Sockets;
use crate::cli::start::StartError;
use crate::config::{Admin, Server, Store, Tls};
use crate::log::{Embedded, Hand, Options, Relay};
use crate::proxy::{Listener, ServerSettings};

/// Filled while a gate starts.
#[derive(Debug, Default)]
pub struct Succession {
    /// The process before, if this one takes over.
    pub former: Option<Former>,
    /// Where the admin API sends wishes for an upgrade; `None` where there can be none.
    pub upgrades: Option<Upgrades>,
    pub held: Held,
    /// Of an embedded log.
    pub log: Option<Hand>,
}

impl Succession {
    /// The visitors' listeners, those in the clear apart from those for TLS.
    pub fn listeners(
        &mut self,
        (server, tls): (&Server, &Tls),
        settings: &ServerSettings,
    ) -> Result<[Vec<Listener>; 2], StartError> {
        let mut none = Inherited::default();
        let mut sockets = Sockets {
            settings,
            inherited: self.former.as_mut().map_or(&mut none, |former| &mut former.sockets),
            held: &mut self.held,
        };
        sockets.open(server, tls)
    }

    /// The operator's listener.
    pub fn admin_listener(&mut self, admin: &Admin, settings: &ServerSettings) -> Result<TcpListener, StartError> {
        let inherited = self.former.as_mut().map(|former| former.sockets.admin(admin.listen));
        let listener = match inherited.transpose() {
            Ok(Some(Some(listener))) => Ok(listener),
            Ok(_) => settings.bind(admin.listen),
            Err(error) => Err(error),
        };
        let held = listener.and_then(|listener| {
            self.held.hold_admin(admin.listen, &listener)?;
            Ok(listener)
        });
        held.map_err(|source| StartError::Listen {
            place: admin.listen.to_string(),
            source,
        })
    }

    /// Whether the rooms are where those of the process before are.
    pub fn check_store(&self, store: &Store) -> Result<(), HandedError> {
        self.former.as_ref().map_or(Ok(()), |former| former.check_store(store))
    }

    /// The embedded log, opened anew or taken over.
    pub fn embedded(&mut self, folder: &Path, store: &Store) -> Result<Relay, StartError> {
        let options = Options {
            keep: store.log_keep,
            ..Options::default()
        };
        let log = match &mut self.former {
            Some(former) => former.open_log(folder, options)?,
            None => Relay::of(Embedded::open(folder, options)?),
        };
        self.log = Some(log.hand());
        Ok(log)
    }

    /// Has the process before leave the field; with what tells when it has ended.
    pub fn take_over(&mut self) -> Result<Option<watch::Receiver<bool>>, HandedError> {
        let former = self.former.take();
        former.map(|former| former.ready(&self.held)).transpose()
    }

    /// Says why this process does not take over, where it was to.
    pub fn failed(&mut self, reason: &str) {
        if let Some(former) = &mut self.former {
            former.failed(reason);
        }
    }
}
