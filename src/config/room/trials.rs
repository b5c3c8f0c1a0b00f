//! Sample requests for a rule, put to the router: a rule acts only on requests that belong to its room.

use http::Method;

use crate::config::document::Reader;
use crate::config::room::Room;
use crate::room::Mode;
use crate::router::{ANY_UUID, Brings, Route, Router, Target};

/// Rooms, with the router over them.
pub(in crate::config) struct Trials<'r> {
    rooms: &'r [Room],
    router: Router,
}

/// Where a request ends up.
#[derive(Clone, Copy)]
enum End<'r> {
    Here,
    /// Left outside by a room, and taken by no other.
    Outside,
    Room(&'r Room),
    /// Below the gate's own prefix.
    Own,
    /// In no room, or readings differ: the sample tells nothing.
    Unclear,
}

/// A request that a rule is for.
struct Sample {
    method: Method,
    host: String,
    target: String,
}

impl<'r> Trials<'r> {
    pub fn new(rooms: &'r [Room]) -> Self {
        let routes: Vec<_> = rooms.iter().map(|room| room.routes_for(&[], &[])).collect();
        let router = Router::new(&routes, &[]);
        Self { rooms, router }
    }

    /// The room in which a path waits for any of a room's hosts, unless that is off.
    pub fn waits(&self, room: &Room, method: &Method, brings: Brings, target: &str) -> Option<&'r Room> {
        let at = |host: String| {
            let target = Target::parse(&host, target).ok()?;
            let found = self.router.route(method, &target, brings).ok()?.room?;
            self.rooms
                .get(found.index)
                .filter(|behind| behind.settings.mode != Mode::Off)
        };
        hosts(room).find_map(at)
    }

    /// A rule that never applies is a mistake, and one that does not apply to some of its requests is a warning.
    pub fn rule(&self, reader: &Reader<'_>, key: &str, (at, route): (usize, &Route)) {
        let ends: Vec<_> = self.rooms.get(at).map_or_else(Vec::new, |room| {
            let samples = samples(route, room, &["", "?o=3"]);
            samples.map(|sample| (self.end(at, &sample), sample)).collect()
        });
        let acts = ends.iter().any(|(end, _)| matches!(end, End::Here | End::Unclear));
        for (end, sample) in &ends {
            let Sample { method, host, target } = sample;
            let (wrong, right) = match end {
                End::Here | End::Unclear => continue,
                End::Outside => ("is let through by except".to_owned(), "one of the two"),
                End::Own => ("is the gate's own".to_owned(), "a route of the shop"),
                End::Room(other) => (
                    format!("is taken by the room \"{}\"", other.name),
                    "it in that room, or this room put before the other",
                ),
            };
            if acts {
                reader.warning(
                    key,
                    format!("{method} {target} on {host} {wrong}: there {route} does not act"),
                    right,
                );
            } else {
                reader.mistake(key, format!("{route} {wrong}, so it never acts"), right);
            }
            return;
        }
    }

    /// Paths that a room leaves outside, and another room takes.
    pub fn exception(&self, reader: &Reader<'_>, key: &str, (at, route): (usize, &Route)) {
        let Some(room) = self.rooms.get(at) else { return };
        let other = samples(route, room, &[""]).find_map(|sample| match self.end(at, &sample) {
            End::Room(other) if other.settings.mode != Mode::Off => Some(other),
            _ => None,
        });
        if let Some(other) = other {
            let wrong = format!(
                "{route} is let through by this room alone: the room \"{}\" protects it",
                other.name
            );
            reader.warning(key, wrong, "it in that room's except too, unless it is to wait there");
        }
    }

    /// The room that takes the requests of this one, where none reaches it.
    pub fn taker(&self, at: usize) -> Option<&'r Room> {
        let room = self.rooms.get(at)?;
        let mut taker = None;
        for route in &room.routes {
            for sample in samples(route, room, &[""]) {
                match self.end(at, &sample) {
                    End::Room(other) => taker = taker.or(Some(other)),
                    _ => return None,
                }
            }
        }
        taker
    }

    fn end(&self, at: usize, sample: &Sample) -> End<'r> {
        let reads = matches!(sample.method, Method::GET | Method::HEAD);
        // A visitor inside shows a pass.
        let brings = if reads { Brings::Credentials } else { Brings::More };
        let routed = Target::parse(&sample.host, &sample.target)
            .ok()
            .and_then(|target| self.router.route(&sample.method, &target, brings).ok());
        match routed {
            Some(routed) if routed.own => End::Own,
            Some(routed) => match routed
                .room
                .and_then(|found| Some((found.index, self.rooms.get(found.index)?)))
            {
                Some((index, _)) if index == at => End::Here,
                Some((_, other)) => End::Room(other),
                None if routed.outside.is_some() => End::Outside,
                None => End::Unclear,
            },
            None => End::Unclear,
        }
    }
}

/// One for each of a route's methods (or a read and a form), the room's hosts, and these queries. A variable has a value of the room's.
fn samples(route: &Route, room: &Room, queries: &[&str]) -> impl Iterator<Item = Sample> {
    let methods = match route.methods() {
        [] => vec![Method::GET, Method::POST],
        some => some.to_vec(),
    };
    let allowed = room
        .per
        .as_ref()
        .and_then(|per| per.allow.iter().find(|name| name.as_str() != ANY_UUID));
    let value = allowed.map_or("a", |name| name.as_str());
    let written = path_of(route);
    let path: Vec<&str> = written
        .split('/')
        .map(|segment| match segment {
            "*" => "a",
            variable if variable.starts_with('{') => value,
            literal => literal,
        })
        .collect();
    let path = path.join("/");
    let targets: Vec<String> = queries.iter().map(|query| format!("{path}{query}")).collect();
    let hosts: Vec<String> = hosts(room).collect();
    methods.into_iter().flat_map(move |method| {
        let targets = targets.clone();
        hosts.clone().into_iter().flat_map(move |host| {
            let method = method.clone();
            targets.clone().into_iter().map(move |target| Sample {
                method: method.clone(),
                host: host.clone(),
                target,
            })
        })
    })
}

/// A route's path, as written.
fn path_of(route: &Route) -> String {
    let text = route.to_string();
    let path = text.find('/').map_or("", |at| &text[at..]);
    path.strip_suffix("?*").unwrap_or(path).to_owned()
}

/// A host for each that a room names, or one that no room does.
fn hosts(room: &Room) -> impl Iterator<Item = String> {
    let named = room.hosts.iter().map(|host| host.to_string().replace("*.", "any."));
    named.chain(room.hosts.is_empty().then(|| "any.example".to_owned()))
}
