//! The configuration of the admin listener, which a reload replaces.

use std::fmt;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use super::options::Options;
use crate::proxy::UpstreamServers;
use crate::token::Keyring;

/// The settings in force; clones are the same.
#[derive(Clone)]
pub struct Live(Arc<ArcSwap<Configured>>);

pub struct Configured {
    pub options: Options,
    pub keyring: Keyring,
    pub origins: Vec<UpstreamServers>,
}

impl Live {
    pub(super) fn new(options: Options, keyring: Keyring, origins: Vec<UpstreamServers>) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(Configured {
            options,
            keyring,
            origins,
        })))
    }

    pub(super) fn load(&self) -> Guard<Arc<Configured>> {
        self.0.load()
    }

    /// Puts other options in force, for new requests. Parts that no configuration sets stay: the listener's timeouts, and the
    /// upgrader.
    pub fn set(&self, options: Options, keyring: Keyring, origins: Vec<UpstreamServers>) {
        let before = self.load();
        let configured = Configured {
            options: Options {
                patience: before.options.patience,
                upgrades: before.options.upgrades.clone(),
                ..options
            },
            keyring,
            origins,
        };
        self.0.store(Arc::new(configured));
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").finish_non_exhaustive()
    }
}
