//! Whether people get to the page by which they sign in, and their form to the shop.

use http::Method;

use crate::config::room::identity::Source;
use crate::config::document::reader::Reader;
use crate::config::room::Room;
use crate::router::Brings;
use crate::config::room::trials::Trials;

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
