//! Whether people get to the page by which they sign in, and their form to the shop.

use http::Method;

use super::identity::{Identities, Source};
use super::reader::Reader;
use super::room::Room;
use super::routes::{Brings, RoomRoutes, Router, Target};
use crate::room::Mode;

/// Warns of a page to sign in that lies in a room, and of its form where that does. A form elsewhere is not known here.
pub(super) fn check(reader: &Reader<'_>, rooms: &[Room]) {
    let paths = rooms
        .iter()
        .filter_map(|room| Some((room, room.identity.as_ref()?.sign_in.as_deref()?)));
    let mut router = None;
    for (room, sign_in) in paths {
        let host = room
            .hosts
            .first()
            .map_or("shop.example".to_owned(), ToString::to_string);
        let host = host.replace("*.", "www.");
        let Ok(target) = Target::parse(&host, sign_in) else {
            continue;
        };
        let router = router.get_or_insert_with(|| router_of(rooms));
        let waits = |method: &Method, brings| {
            let found = router.route(method, &target, brings).ok()?.room?;
            let behind = rooms.get(found.index)?;
            (behind.settings.mode != Mode::Off).then_some(behind.name.clone())
        };
        let key = format!("{}.identity.sign_in", room.place);
        if let Some(behind) = waits(&Method::GET, Brings::Credentials) {
            let wrong = format!(
                "\"{sign_in}\" lies in the room \"{behind}\": whoever is sent there to sign in is told so again"
            );
            reader.warning(
                &key,
                wrong,
                format!("except = [\"{sign_in}\", \"POST {sign_in}\"] in that room"),
            );
        } else if !by_form(room)
            && let Some(behind) = waits(&Method::POST, Brings::More)
        {
            let wrong =
                format!("a form that is sent to \"{sign_in}\" lies in the room \"{behind}\", so nobody signs in by it");
            let right = format!(
                "\"POST {sign_in}\" in except as well, or nothing where the form goes elsewhere outside the room"
            );
            reader.warning(&key, wrong, right);
        }
    }
}

/// The form that names the account is the room's own.
fn by_form(room: &Room) -> bool {
    let source = room.identity.as_ref().map(|identity| &identity.source);
    matches!(source, Some(Source::Field { .. }))
}

fn router_of(rooms: &[Room]) -> Router {
    let routes = rooms.iter().map(|room| RoomRoutes {
        hosts: &room.hosts,
        routes: &room.routes,
        except: &room.except,
        return_routes: &room.return_routes,
        ends_on: &[],
        names: room.identity.as_ref().and_then(Identities::form),
        per: room.per.as_ref(),
    });
    Router::new(&routes.collect::<Vec<_>>(), &[])
}
