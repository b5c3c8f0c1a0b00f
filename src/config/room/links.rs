//! Checks that visitors in line reach the pages that the waiting page links to.

use http::Method;

use crate::config::document::Reader;
use crate::config::room::Room;
use crate::config::room::trials::Trials;
use crate::pages::brand::Link;
use crate::router::Brings;

/// Warns of links to pages that wait in a room.
pub(in crate::config) fn check(reader: &Reader<'_>, rooms: &[Room], trials: &Trials<'_>) {
    for room in rooms {
        let brand = &room.page.brand;
        for (name, link) in [
            ("help", &brand.help),
            ("imprint", &brand.imprint),
            ("privacy", &brand.privacy),
        ] {
            let target = link.as_ref().and_then(Link::on_this_host);
            let behind = target.and_then(|target| {
                let behind = trials.waits(room, &Method::GET, Brings::Nothing, target)?;
                Some((target, &behind.name))
            });
            let Some((target, behind)) = behind else { continue };
            let page = match target.split_once('?') {
                Some((path, _)) => format!("{path}?*"),
                None => target.to_owned(),
            };
            reader.warning(
                &format!("{}.page.{name}", room.place),
                format!("\"{target}\" lies in the room \"{behind}\": whoever waits sees the waiting page there"),
                format!("\"{page}\" in that room's except"),
            );
        }
    }
}
