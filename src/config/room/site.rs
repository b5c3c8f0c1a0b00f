//! Checks over all rooms: duplicate names, and rules that can never act.

use crate::config::document::Reader;
use crate::config::room::Room;
use crate::config::room::identity::Identities;
use crate::config::room::trials::Trials;
use crate::config::room::{links, sign_in};
use crate::router::{NEVER_QUEUED, PerSource, Route};

pub(in crate::config) fn check(reader: &Reader<'_>, rooms: &[Room]) {
    let trials = Trials::new(rooms);
    for (at, room) in rooms.iter().enumerate() {
        let path = &room.place;
        names(reader, path, room, &rooms[..at]);
        routes(reader, path, room);
        inside(reader, path, (at, room), &trials);
        reachable(reader, path, at, &trials);
    }
    sign_in::check(reader, rooms, &trials);
    links::check(reader, rooms, &trials);
}

/// Cookies are distinguished by names: a room's lines add a dash and ten characters to it.
fn names(reader: &Reader<'_>, path: &str, room: &Room, earlier: &[Room]) {
    let name = room.name.as_str();
    if earlier.iter().any(|other| other.name == room.name) {
        reader.mistake(
            &format!("{path}.name"),
            format!("another room is called \"{name}\""),
            "a name of its own for each",
        );
    }
    let like_line = |a: &Room, b: &Room| {
        let rest = b
            .name
            .as_str()
            .strip_prefix(a.name.as_str())
            .and_then(|rest| rest.strip_prefix('-'));
        a.per.is_some() && rest.is_some_and(|rest| rest.len() == 10)
    };
    if let Some(other) = earlier
        .iter()
        .find(|other| like_line(other, room) || like_line(room, other))
    {
        let wrong = format!(
            "cookies of \"{name}\" could be taken for those of a line of \"{}\"",
            other.name
        );
        reader.mistake(
            &format!("{path}.name"),
            wrong,
            "a name that is not the other with a dash and ten characters",
        );
    }
}

fn routes(reader: &Reader<'_>, path: &str, room: &Room) {
    let key = format!("{path}.routes");
    if room.routes.is_empty() && !reader.has_mistake(&key) {
        reader.mistake(
            &key,
            "a room without routes protects nothing",
            "at least one route, such as [\"/*\"]",
        );
    }
    let lists = [
        ("routes", &room.routes),
        ("except", &room.except),
        ("return_routes", &room.return_routes),
    ];
    for (name, list) in lists {
        for route in list.iter().filter(|route| route.is_own()) {
            let wrong = format!("{route} is the gate's own and never forwarded");
            reader.mistake(&format!("{path}.{name}"), wrong, "a route of the shop");
        }
        for (at, route) in list.iter().enumerate() {
            if list[..at].iter().any(|other| other.covers(route)) {
                let wrong = format!("{route} adds nothing to the routes before it");
                reader.warning(&format!("{path}.{name}"), wrong, "the list without it");
            }
        }
    }
    let never = never_queued();
    for route in room
        .routes
        .iter()
        .filter(|route| never.iter().any(|never| never.covers(route)))
    {
        reader.mistake(&key, format!("{route} is never queued"), "routes that people wait for");
    }
    if !room.routes.is_empty()
        && room
            .routes
            .iter()
            .all(|route| room.except.iter().any(|out| out.leaves_out(route)))
    {
        let wrong = "except lets everything in routes through, so nothing is protected";
        reader.mistake(&format!("{path}.except"), wrong, "only what nobody can wait for");
    }
}

/// Entries that must lie within the room's routes to have an effect.
fn inside(reader: &Reader<'_>, path: &str, (at, room): (usize, &Room), trials: &Trials<'_>) {
    let within = |route: &Route| room.routes.iter().any(|own| own.overlaps(route));
    let answers = |completes: bool| {
        let rules = room.ends_on.iter().filter(move |rule| rule.completes == completes);
        rules.map(|rule| rule.route.clone()).collect::<Vec<Route>>()
    };
    let form = room.identity.as_ref().and_then(|of| of.form().cloned());
    let active = room.active.as_ref();
    let holds = active.into_iter().flat_map(|active| &active.hold_slot);
    let lists = [
        ("return_routes", room.return_routes.clone()),
        ("ends_on", answers(false)),
        ("completes_on", answers(true)),
        ("identity.on", form.into_iter().collect()),
        ("hold_slot", holds.map(|rule| rule.route.clone()).collect()),
        (
            "background",
            active.map_or_else(Vec::new, |active| active.background.clone()),
        ),
    ];
    for (name, list) in &lists {
        let key = format!("{path}.{name}");
        for route in list {
            if !within(route) {
                let wrong = format!("{route} lies outside the room, so it never acts");
                reader.mistake(&key, wrong, "a route within the room's routes");
            } else if *name == "identity.on" && room.return_routes.iter().any(|own| own.covers(route)) {
                let wrong = format!("{route} is one of return_routes too, which join nobody");
                reader.mistake(&key, wrong, "one of the two");
            } else if room.except.iter().any(|out| out.leaves_out(route)) {
                reader.mistake(
                    &key,
                    format!("{route} is let through by except, so it never acts"),
                    "one of the two",
                );
            } else if !(*name == "return_routes" && route.is_own()) {
                trials.rule(reader, &key, (at, route));
            }
        }
    }
    for route in room.except.iter().filter(|route| !within(route) && !route.is_own()) {
        let wrong = format!("{route} lies outside the room anyway");
        reader.warning(&format!("{path}.except"), wrong, "only paths within the room's routes");
    }
    for route in room.except.iter().filter(|route| within(route)) {
        trials.exception(reader, &format!("{path}.except"), (at, route));
    }
    if let Some(per) = &room.per
        && let PerSource::Path(name) = &per.source
    {
        for route in room
            .return_routes
            .iter()
            .chain(room.ends_on.iter().map(|rule| &rule.route))
            .chain(room.identity.as_ref().and_then(Identities::form))
            .filter(|route| within(route) && route.variable(name).is_none())
        {
            let wrong = format!("{route} may name no line");
            reader.warning(path, wrong, format!("{{{name}}} in it, as in the room's routes"));
        }
    }
}

fn reachable(reader: &Reader<'_>, path: &str, at: usize, trials: &Trials<'_>) {
    if let Some(first) = trials.taker(at) {
        let wrong = format!(
            "nobody reaches this room: \"{}\" before it takes all its routes",
            first.name
        );
        let right = if first.added {
            "other routes for the one that is added: those are asked before the file's"
        } else {
            "this room put before the other in the file"
        };
        reader.mistake(&format!("{path}.routes"), wrong, right);
    }
}

fn never_queued() -> Vec<Route> {
    NEVER_QUEUED
        .iter()
        .filter_map(|pattern| Route::parse(pattern).ok())
        .collect()
}
