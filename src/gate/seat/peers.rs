//! What a genuine ticket or pass shows of the peer that brings it: whether `trusted_proxies` names the proxies in front.

use http::request::Parts;

use crate::gate::request::visit::Visit;
use crate::logging::Masked;
use crate::metrics::{Oddity, Peers};
use crate::proxy::last_forwarded_for;

use super::credentials::Credentials;
use super::reader::number_of;

/// Notes the peer of a visitor with a place. PERF: a visitor who comes directly costs one load.
pub fn note(peers: &Peers, shown: &Credentials, head: &Parts, visit: &Visit) {
    let number = shown.ticket().and_then(number_of);
    let Some(visitor) = number.or_else(|| shown.pass().map(|pass| pass.number)) else {
        return;
    };
    if visit.rehearsed.is_some() {
        return;
    }
    let (peer, now) = (visit.peer, visit.started);
    if visit.peer_trusted {
        if visit.client == peer {
            peers.note(peer, Oddity::Silent, (visitor, ()), now);
        }
        return;
    }
    let said = visit
        .noted
        .forwarded_for
        .then(|| last_forwarded_for(&head.headers))
        .flatten();
    let Some(client) = said else {
        peers.direct(peer, now);
        return;
    };
    if peers.note(peer, Oddity::Untrusted, (visitor, client), now) {
        tracing::warn!(
            network = %Masked(peer),
            "a proxy that trusted_proxies does not name brings many visitors: all of them count as one client; `ropeline doctor` \
             says what to write"
        );
    }
}
