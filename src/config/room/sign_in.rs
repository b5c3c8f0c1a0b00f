//! Checks that a room's source of accounts can work, and that visitors reach the page where they sign in.

use http::Method;

use crate::config::document::Reader;
use crate::config::room::Room;
use crate::config::room::identity::{Missing, Source};
use crate::config::room::trials::Trials;
use crate::config::server::Server;
use crate::router::Brings;

/// Warns of a page to sign in that waits in a room, and of a form that is sent to its path where that does.
pub(in crate::config) fn check(reader: &Reader<'_>, rooms: &[Room], trials: &Trials<'_>) {
    for room in rooms {
        let Some(sign_in) = room.identity.as_ref().and_then(|identity| identity.sign_in.as_deref()) else {
            continue;
        };
        let waits = |method: &Method, brings| trials.waits(room, method, brings, sign_in).map(|behind| &behind.name);
        let key = format!("{}.identity.sign_in", room.place);
        let (path, page) = match sign_in.split_once('?') {
            Some((path, _)) => (path, format!("{path}?*")),
            None => (sign_in, sign_in.to_owned()),
        };
        // The form that names the account may be the room's own.
        let own_form = matches!(
            room.identity.as_ref().map(|identity| &identity.source),
            Some(Source::Field { .. })
        );
        if let Some(behind) = waits(&Method::GET, Brings::Credentials) {
            let wrong = format!(
                "\"{sign_in}\" lies in the room \"{behind}\": visitors who are sent there to sign in are sent there again"
            );
            let right = format!("\"{page}\" and \"POST {path}\" in that room's except");
            reader.warning(&key, wrong, right);
        } else if let Some(behind) = waits(&Method::POST, Brings::More).filter(|_| !own_form) {
            let wrong = format!("a form of that page that is sent to \"{sign_in}\" waits in the room \"{behind}\"");
            let right = format!("\"POST {path}\" in that room's except, unless people sign in elsewhere");
            reader.warning(&key, wrong, right);
        }
    }
}

/// The requirements of a source of accounts on the rest of the configuration.
pub(in crate::config) fn sources(reader: &Reader<'_>, server: &Server, rooms: &[Room], asked: bool) {
    for room in rooms {
        let key = format!("{}.identity.from", room.place);
        let refuses = room.identity.as_ref().is_some_and(|of| of.missing == Missing::Refuse);
        match room.identity.as_ref().map(|identity| &identity.source) {
            Some(Source::Header(name)) if server.trusted_proxies.is_empty() => {
                let wrong = format!("{name} is believed from trusted proxies only, and there is none");
                reader.mistake(&key, wrong, "server.trusted_proxies with the proxy that sets it");
            }
            Some(Source::Field { .. }) if room.proof.is_some() && refuses => {
                let wrong = "with a proof of work nobody could join by a form: its page asks for the proof and has no form to send then";
                reader.mistake(&key, wrong, "missing = \"join\", another source, or no proof_of_work");
            }
            Some(Source::Field { .. }) if asked => {
                let wrong = "a proxy that asks does not send the form, which is refused there";
                reader.warning(&key, wrong, "another source");
            }
            _ => {}
        }
    }
}
