//! The state that all handlers share.

use std::ops::Deref;
use std::sync::Arc;

use super::examination::Examination;
use super::history::History;
use super::live::Live;
use super::metrics::exposition::Exposition;
use super::options::{Handles, Options};
use super::readiness::Readiness;
use super::reloads::Reloads;
use crate::acme::Acme;
use crate::metrics::Metrics;
use crate::replica::Replica;
use crate::tls::Tls;
use ropeline_ids::RoomName;

/// State that handlers share; cheap to clone.
#[derive(Clone)]
pub struct Shared(Arc<Inner>);

pub struct Inner {
    pub replica: Replica,
    pub metrics: Metrics,
    pub readiness: Readiness,
    pub exposition: Exposition,
    pub live: Live,
    pub reloads: Reloads,
    pub history: History,
    /// `None`: no listener speaks TLS.
    pub tls: Option<Arc<Tls>>,
    /// `None`: the same.
    pub acme: Option<Acme>,
    /// The last examination; held while one is under way.
    pub examination: Arc<tokio::sync::Mutex<Examination>>,
    /// Held while a room is changed.
    pub changing: tokio::sync::Mutex<()>,
}

impl Deref for Shared {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Shared {
    pub fn new(handles: Handles, options: Options) -> Self {
        let history = History::new(options.sample_every);
        let live = Live::new(options, handles.keyring.clone(), handles.origins.clone());
        Self(Arc::new(Inner {
            exposition: Exposition::new(&handles, &live, crate::time::wall()),
            live,
            history,
            reloads: handles.reloads,
            replica: handles.replica,
            metrics: handles.metrics,
            readiness: handles.readiness,
            tls: handles.tls,
            acme: handles.acme,
            examination: Arc::default(),
            changing: tokio::sync::Mutex::default(),
        }))
    }

    pub fn configured_message(&self, room: &RoomName) -> Option<String> {
        self.live.load().options.messages.get(room).cloned()
    }
}
