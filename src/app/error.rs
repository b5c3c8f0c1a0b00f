//! The reasons why a gate cannot start.

use std::io;

use crate::admin;
use crate::pages::TemplateError;
use crate::proxy::UpstreamError;
use crate::replica;
use crate::store::OpenError;
use crate::store::redis;
use crate::token::KeyError;

use super::own_key::OwnKeyError;
use super::secured::SecuredError;
use super::systemd::PassedError;
use super::upgrade::TakeOverError;

/// Why a gate cannot start, each with the correction.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot listen on {place}: {source}{}", hint(source))]
    Listen { place: String, source: io::Error },
    #[error(transparent)]
    Passed(#[from] PassedError),
    #[error(transparent)]
    Log(#[from] OpenError),
    #[error("[store] url: {0}")]
    Store(#[from] redis::OpenError),
    #[error(transparent)]
    Replica(#[from] replica::StartError),
    #[error(transparent)]
    UpstreamServers(#[from] UpstreamError),
    #[error(transparent)]
    OwnKey(#[from] OwnKeyError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the page template cannot be used: {0}")]
    Template(#[from] TemplateError),
    #[error("the access log cannot be opened: {0}")]
    Access(io::Error),
    #[error(transparent)]
    Crawlers(#[from] crate::crawlers::StartError),
    #[error(transparent)]
    Admin(#[from] admin::StartError),
    #[error("[tls] {0}")]
    Tls(#[from] SecuredError),
    #[error("the system gives no threads: {0}")]
    Threads(io::Error),
    #[error(transparent)]
    Handed(#[from] TakeOverError),
    #[error("an upgrade to this version would stop the rooms: {0}")]
    Still(&'static str),
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; something listens there already, such as another gate: stop it, or set [server] listen or admin_listen"
        }
        io::ErrorKind::PermissionDenied => "; ports below 1024 need the right to bind them (CAP_NET_BIND_SERVICE)",
        io::ErrorKind::AddrNotAvailable => "; no interface of this machine has that address",
        _ => "",
    }
}
