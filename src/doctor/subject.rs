//! What is examined: parts of a configuration, and what a running gate knows besides.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use http::uri::PathAndQuery;
use ipnet::IpNet;
use tokio::sync::Mutex;

use crate::acme;
use crate::config::Places;
use crate::metrics::Sight;
use crate::proxy::UpstreamSettings;
use crate::store::redis::{self, RedisUrl};
use crate::tls::{Files, InForce};
use crate::token::{RequestSigner, SignerMark};
use ropeline_ids::GateId;

/// What a configuration has to be examined.
#[derive(Debug, Default)]
pub struct Subject {
    pub places: Places,
    /// Empty: the gate only answers proxies that ask.
    pub shops: Vec<Shop>,
    /// `None`: the store is a folder of this gate's own.
    pub store: Option<SharedStore>,
    /// Those of the listeners with TLS.
    pub certificates: Vec<Files>,
    /// Held while their files are read: a disk that hangs costs one thread, however often the doctor is asked.
    pub reading: Arc<Mutex<()>>,
    pub trusted: Vec<IpNet>,
    pub has_unix_listener: bool,
    pub load: Load,
}

/// The way to a shop.
#[derive(Debug)]
pub struct Shop {
    /// Its table in the configuration.
    pub place: String,
    pub settings: UpstreamSettings,
    /// The page that is asked for, and the host.
    pub path: PathAndQuery,
    pub host: Option<HeaderValue>,
    /// Good answers, where the operator has said which are.
    pub statuses: Option<RangeInclusive<u16>>,
    pub signer: Option<RequestSigner>,
}

impl Shop {
    /// The full name of one of its keys.
    pub fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    /// One of its servers, or another word, for people: the name of the upstream stands behind it, where it has one.
    pub fn at(&self, server: &str) -> String {
        match &self.settings.name {
            Some(name) => format!("{server} ({name})"),
            None => server.to_owned(),
        }
    }
}

/// A store that gates share.
#[derive(Clone, Debug)]
pub struct SharedStore {
    pub url: RedisUrl,
    pub options: redis::Options,
}

/// What the configuration lets come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    pub max_connections: usize,
    pub has_tls: bool,
    pub has_http2: bool,
    /// Of request bodies, in bytes.
    pub buffer_memory: u64,
}

/// What only a running gate knows.
#[derive(Debug)]
pub struct Running {
    /// Why the gate cannot do its work, or does it only in part.
    pub troubles: Vec<String>,
    /// When the last configuration was refused, if it was.
    pub refused_reload: Option<String>,
    pub sights: Vec<Sight>,
    pub me: GateId,
    /// The gates that share the rooms, with this one.
    pub gates: Vec<Gate>,
    /// The keys, the first signs.
    pub keys: Vec<SignerMark>,
    /// Certificates in force.
    pub certificates: Vec<InForce>,
    /// The hosts whose certificates the gates get themselves.
    pub acme: Arc<Vec<acme::Host>>,
}

/// A gate on the roster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gate {
    pub id: GateId,
    pub heard_ago: Duration,
}
