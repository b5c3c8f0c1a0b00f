//! The endpoint by which `ropeline probe` makes sure that an address is the operator's own gate.

use http::request::Parts;
use http::{Method, StatusCode};

use super::parameter::{not_found, parameter};
use crate::gate::request::visit::Visit;
use crate::gate::state::shared::Shared;
use crate::gate::verdict::answers::{Answer, json};
use crate::metrics::Outcome;
use crate::token::nonce;

/// `GET probe?nonce=NONCE`: 200 for a nonce that an admin listener with the same keys gave for this room, else 404.
pub fn probe(shared: &Shared, visit: &Visit, head: &Parts, room: Option<usize>) -> Answer {
    let nonce = parameter(head.uri.query().unwrap_or_default(), "nonce");
    let nonce = nonce.and_then(|nonce| String::from_utf8(nonce).ok());
    let knows =
        |at: usize, nonce: &str| nonce::is_good(&shared.keyring, &shared.rules[at].room.name, nonce, visit.wall);
    let genuine = room.zip(nonce).is_some_and(|(at, nonce)| knows(at, &nonce));
    if !genuine || head.method != Method::GET {
        return not_found(shared, visit);
    }
    let text = "{\"probe\":true}".to_owned();
    Answer::new(Outcome::Own, json(StatusCode::OK, "probe", "application/json", text))
}
