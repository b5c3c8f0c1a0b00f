//! The parts of a configuration that the doctor examines.

use std::sync::Arc;

use http::HeaderValue;
use http::uri::PathAndQuery;

use crate::config::{Config, Listen, StoreKind, Upstream};
use crate::doctor::{Load, SharedStore, Shop, Subject};

use super::parts::{redis_options, signer, upstream_settings};

/// What the doctor examines of this configuration.
#[must_use]
pub fn subject(config: &Config) -> Subject {
    let unix = |listen: &Listen| matches!(listen, Listen::Unix(_));
    Subject {
        places: config.places.clone(),
        shops: config
            .upstreams
            .iter()
            .enumerate()
            .map(|one| shop(config, one))
            .collect(),
        store: match &config.store.kind {
            StoreKind::Embedded { .. } => None,
            StoreKind::Redis(url) => Some(SharedStore {
                url: url.clone(),
                options: redis_options(&config.store),
            }),
        },
        certificates: config.tls.certificates.clone(),
        reading: Arc::default(),
        trusted: config.server.trusted_proxies.clone(),
        has_unix_listener: config.server.listen.iter().any(unix),
        load: Load {
            max_connections: config.server.max_connections,
            has_tls: !config.tls.listen.is_empty(),
            has_http2: config.tls.http2,
            buffer_memory: config
                .upstreams
                .iter()
                .map(|upstream| upstream.uploads.buffer_memory)
                .sum(),
        },
    }
}

fn shop(config: &Config, (at, upstream): (usize, &Upstream)) -> Shop {
    let check = upstream.check.as_ref();
    Shop {
        place: upstream.place.clone(),
        settings: upstream_settings(upstream),
        path: check.map_or(PathAndQuery::from_static("/"), |check| check.path.clone()),
        host: upstream
            .host
            .clone()
            .or_else(|| check.and_then(|check| check.host.clone()))
            .or_else(|| host_of_visitors(config, (at, upstream))),
        statuses: check.map(|check| check.statuses.clone()),
        // `check` has refused a key that no signer can be made of.
        signer: signer(upstream).ok().flatten(),
    }
}

/// The first host of the upstream or of a room that is one host: what the shop is asked for by visitors.
fn host_of_visitors(config: &Config, (at, upstream): (usize, &Upstream)) -> Option<HeaderValue> {
    let rooms = config.rooms.iter().filter(|room| room.upstream == at);
    let of_rooms = rooms.flat_map(|room| &room.hosts);
    let mut hosts = upstream.hosts.iter().chain(of_rooms).map(ToString::to_string);
    let host = hosts.find(|host| !host.contains('*'))?;
    HeaderValue::try_from(host).ok()
}
