//! The inputs of the admin listener: parts of the process that it reads and changes, and its settings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::http::access::Entrance;
use super::readiness::Readiness;
use super::reloads::Reloads;
use super::upgrades::Upgrades;
use crate::acme::Acme;
use crate::doctor::Subject;
use crate::metrics::Metrics;
use crate::proxy::{Stats, UpstreamServers};
use crate::replica::Replica;
use crate::tls::Tls;
use crate::token::Keyring;
use ropeline_ids::RoomName;

/// The parts of the gate that the admin listener reads and changes.
#[derive(Clone, Debug)]
pub struct Handles {
    pub replica: Replica,
    pub metrics: Metrics,
    pub proxy: Arc<Stats>,
    /// In the configuration's order.
    pub origins: Vec<UpstreamServers>,
    pub readiness: Readiness,
    /// `None`: no listener speaks TLS.
    pub tls: Option<Arc<Tls>>,
    /// `None`: as before.
    pub acme: Option<Acme>,
    /// The keys by which session names are checked.
    pub keyring: Keyring,
    /// The queue of orders for a reload.
    pub reloads: Reloads,
}

/// How the admin listener behaves.
#[derive(Clone, Debug)]
pub struct Options {
    pub entrance: Entrance,
    /// The messages of the configuration, shown where no operator has set another.
    pub messages: BTreeMap<RoomName, String>,
    /// The rooms in force at this gate, and whether an operator added each; `None`: all rooms, none of them added.
    pub from: Option<BTreeMap<RoomName, bool>>,
    /// The names of the rooms' upstreams, where those have names.
    pub upstreams: BTreeMap<RoomName, String>,
    /// Rooms that let everybody past their line while the gate is cut off.
    pub open_in_outage: BTreeSet<RoomName>,
    /// How much longer a room's sessions go on while the gate is cut off, in milliseconds.
    pub outage_extension_ms: BTreeMap<RoomName, u64>,
    /// How long a connection may stay silent before and in a request's head, in a body, and in taking an answer.
    pub patience: Duration,
    /// How often the rooms' figures are noted for plots.
    pub sample_every: Duration,
    /// What the doctor examines of the configuration.
    pub examined: Arc<Subject>,
    /// `None`: the process is not to be replaced by another in place.
    pub upgrades: Option<Upgrades>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            entrance: Entrance::default(),
            messages: BTreeMap::new(),
            from: None,
            upstreams: BTreeMap::new(),
            open_in_outage: BTreeSet::new(),
            outage_extension_ms: BTreeMap::new(),
            patience: Duration::from_secs(10),
            sample_every: Duration::from_secs(10),
            examined: Arc::default(),
            upgrades: None,
        }
    }
}
