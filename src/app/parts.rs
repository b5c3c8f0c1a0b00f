//! The parts of a gate, made from its configuration: at the start and at each reload.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::acme;
use crate::admin::{self, Entrance, May, Named, Token};
use crate::config::{Admin, Config, NamedToken, OnOutage, Server, Store, StoreKind, Upstream, UpstreamTls};
use crate::doctor::descriptors_needed;
use crate::proxy::{self, ServerSettings, UpstreamSettings};
use crate::room::{RoomName, Settings};
use crate::store::redis::{self, RedisVault};
use crate::store::{FolderVault, Vault};
use crate::token::{Key, KeyError, KeyId, Keyring, RequestSigner, Secret};

use super::error::StartError;
use super::own_key;
use super::subject::subject;

/// The rooms of the file, as the log has them. Of those that operators added it has its own word.
pub fn rooms(config: &Config) -> Vec<(RoomName, Settings)> {
    let rooms = config.rooms.iter().filter(|room| !room.added);
    rooms.map(|room| (room.name.clone(), room.settings.clone())).collect()
}

/// The keys of the configuration, or the gate's own, and whether they are of now. A gate without a data folder always has
/// configured keys.
pub fn keys(config: &Config, folder: Option<&Path>) -> Result<(Vec<Key>, bool), StartError> {
    let Some(folder) = folder.filter(|_| config.keys.is_empty()) else {
        return Ok((config.keys.clone(), false));
    };
    let own = own_key::load_or_make(folder)?;
    let path = own.path.display();
    if own.new {
        tracing::info!(%path, "no [tokens] keys are configured: made a key of this gate's own; keep it with the data folder");
    }
    let id = KeyId::new("own").expect("a plain word is a key id");
    let secret = Secret::new(own.secret);
    Ok((vec![Key { id, secret }], own.new))
}

/// The keys with the names of the installation, and whether they are of now, so that no ticket and no pass can be good yet.
pub fn keyring(config: &Config, folder: Option<&Path>) -> Result<(Keyring, bool), StartError> {
    let (keys, are_new) = keys(config, folder)?;
    Ok((Keyring::for_audiences(keys, &config.audiences)?, are_new))
}

/// What certificates are got by.
pub fn acme_settings(config: &Config, folder: Option<&Path>) -> Result<acme::Settings, StartError> {
    Ok(acme::Settings {
        acme: config.tls.acme.clone(),
        keys: keys(config, folder)?.0,
    })
}

/// Where what belongs to certificates is kept: beside the log.
pub fn vault(store: &Store) -> Result<Box<dyn Vault>, StartError> {
    Ok(match &store.kind {
        StoreKind::Redis(url) => Box::new(RedisVault::new(url, redis_options(store))?),
        StoreKind::Embedded { folder } => Box::new(FolderVault::new(folder)),
    })
}

/// How a shared store is reached.
pub fn redis_options(store: &Store) -> redis::Options {
    redis::Options {
        prefix: store.prefix.clone(),
        ca: store.ca_file.as_ref().map(|file| file.pem.clone()),
        ..redis::Options::default()
    }
}

/// The signers of the requests that are forwarded to each upstream.
pub fn signers(config: &Config) -> Result<Vec<Option<RequestSigner>>, KeyError> {
    config.upstreams.iter().map(signer).collect()
}

/// The signer of requests to an upstream, if there is one.
pub fn signer(upstream: &Upstream) -> Result<Option<RequestSigner>, KeyError> {
    upstream.signature_key.as_ref().map(RequestSigner::new).transpose()
}

/// The limits of visitors' connections.
pub fn server_settings(server: &Server) -> ServerSettings {
    ServerSettings {
        first_byte: server.first_byte_timeout,
        head: server.head_timeout,
        keep_alive: server.keep_alive,
        body_idle: server.body_timeout,
        body_rate: server.body_rate,
        write: server.write_timeout,
        head_bytes: server.max_head,
        body_bytes: server.max_body,
        connections: server.max_connections,
        connections_per_listener: server.max_connections,
        connections_per_client: server.max_connections_per_client,
        trusted: server.trusted_proxies.clone(),
        announced: server.proxy_protocol.clone(),
        backlog: server.backlog,
        h2c: server.h2c,
        ..ServerSettings::default()
    }
}

/// Too few descriptors turn visitors away before `max_connections` does.
pub fn warn_of_few(descriptors: u64, max_connections: usize) {
    if descriptors < descriptors_needed(max_connections) {
        tracing::warn!(
            descriptors,
            max_connections,
            "this process may open fewer descriptors than max_connections can need: raise the hard limit (LimitNOFILE, \
             ulimit -Hn) or lower max_connections"
        );
    }
}

/// An upstream's servers and the way to them.
pub fn upstream_settings(upstream: &Upstream) -> UpstreamSettings {
    UpstreamSettings {
        name: upstream.name.as_deref().map(Arc::from),
        resolve_every: upstream.resolve_every,
        host: upstream.host.clone(),
        connect: upstream.connect_timeout,
        response: upstream.response_timeout,
        total: upstream.total_timeout,
        body_idle: upstream.body_timeout,
        write: upstream.write_timeout,
        tunnel_idle: upstream.tunnel_timeout,
        idle: upstream.keep_alive,
        request_buffer: upstream.uploads.request_buffer,
        buffer_memory: upstream.uploads.buffer_memory,
        streaming: upstream.uploads.streaming,
        bound: upstream.bound,
        retries: upstream.retries,
        retry_budget: upstream.retry_budget,
        failures: upstream.failures,
        check: upstream.check.clone(),
        tls: Some(tls_of(&upstream.tls)),
        http2: upstream.http2,
        ..UpstreamSettings::at(upstream.servers.clone())
    }
}

fn tls_of(tls: &UpstreamTls) -> proxy::UpstreamTls {
    proxy::UpstreamTls {
        authorities: tls.ca_file.as_ref().map(|file| file.pem.clone()),
        name: tls.server_name.clone(),
        own: tls.client.as_ref().map(|(chain, key)| (chain.pem.clone(), key.clone())),
    }
}

/// How the admin listener behaves.
pub fn admin_options(config: &Config) -> admin::Options {
    let Admin {
        token,
        tokens,
        verify_token,
        ..
    } = &config.admin;
    let named = |own: &NamedToken| Named {
        name: own.name.clone(),
        token: Token::new(own.token.expose()),
        may: if own.changes { May::Change } else { May::Read },
    };
    let bearer = |secret: &Option<Secret>| secret.as_ref().map(|secret| Token::new(secret.expose()));
    let messages = config
        .rooms
        .iter()
        .filter_map(|room| Some((room.name.clone(), room.message.as_ref()?.for_browser("en").1.to_owned())));
    let open = config.rooms.iter().filter(|room| room.on_outage == OnOutage::Open);
    admin::Options {
        examined: Arc::new(subject(config)),
        open_in_outage: open.map(|room| room.name.clone()).collect(),
        entrance: Entrance {
            token: bearer(token),
            named: tokens.iter().map(named).collect(),
            verify_token: bearer(verify_token),
        },
        messages: messages.collect(),
        from: Some(
            config
                .rooms
                .iter()
                .map(|room| (room.name.clone(), room.added))
                .collect(),
        ),
        upstreams: upstreams_of_rooms(config),
        outage_extension_ms: config
            .rooms
            .iter()
            .map(|room| (room.name.clone(), room.outage_extension_ms))
            .collect(),
        ..admin::Options::default()
    }
}

/// The names of the rooms' upstreams, where those have names.
fn upstreams_of_rooms(config: &Config) -> BTreeMap<RoomName, String> {
    let named = config.rooms.iter().filter_map(|room| {
        let upstream = config.upstreams.get(room.upstream)?;
        Some((room.name.clone(), upstream.name.clone()?))
    });
    named.collect()
}
