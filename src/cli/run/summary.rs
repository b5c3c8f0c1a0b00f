//! The last lines of a start: what is served where, and what to change first. At most ten, for the person at the terminal; the
//! log has the same in its line `serving`.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use crate::app::running::Running;
use crate::config::{Config, Room, StoreKind, Upstream};
use crate::proxy::Endpoint;
use crate::replica::{Condition, Replica};

use crate::cli::output::plain;

/// What the configuration says of a start; the addresses are known only when the listeners are open.
pub struct Summary {
    upstream: String,
    rooms: Vec<[String; 2]>,
    data: String,
    first: String,
}

/// Rooms that have a line of their own.
const ROOMS: usize = 2;
/// Routes of a room, and addresses of a listener, that are named.
const NAMED: usize = 3;

impl Summary {
    /// Of a configuration with this many warnings, read from `file` or made of the defaults.
    pub fn of(config: &Config, file: Option<&Path>, warnings: usize) -> Self {
        let servers = |upstream: &Upstream| some(upstream.servers.iter().map(|server| server.place.to_string()));
        let upstream = match &config.upstreams[..] {
            [] => "is asked by the proxy in front".to_owned(),
            [only] => format!("is in front of {}", servers(only)),
            several => format!(
                "is in front of {}",
                some(several.iter().filter_map(|one| one.name.clone()))
            ),
        };
        let shown = config.rooms.iter().take(ROOMS);
        let mut rooms: Vec<_> = shown
            .map(|room| [format!("room {}", room.name), limits(room)])
            .collect();
        let more = config.rooms.len() - rooms.len();
        if more > 0 {
            rooms.push([String::new(), format!("and {more} more rooms: ropeline rooms")]);
        }
        let data = match &config.store.kind {
            StoreKind::Embedded { folder } => format!("{}, for this gate alone", folder.display()),
            StoreKind::Redis(url) => format!("{url}, for any number of gates"),
        };
        Self {
            upstream,
            rooms,
            data,
            first: first(config, file, warnings),
        }
    }

    /// The lines, with the addresses of the listeners.
    pub fn text(&self, running: &Running) -> String {
        let mut rows = Vec::new();
        let visitors = |scheme: &str, endpoints: &[Endpoint]| some(endpoints.iter().map(|at| address(scheme, at)));
        if !running.endpoints().is_empty() {
            rows.push(["visitors".to_owned(), visitors("http", running.endpoints())]);
        }
        if !running.secured().is_empty() {
            rows.push(["over TLS".to_owned(), visitors("https", running.secured())]);
        }
        let admin = address("http", &Endpoint::Tcp(running.admin_address()));
        rows.push(["dashboard".to_owned(), admin]);
        rows.extend(self.rooms.clone());
        rows.push(["data".to_owned(), self.data.clone()]);
        rows.extend(opening(running.replica()).map(|text| ["opening".to_owned(), text]));
        rows.push(["first".to_owned(), self.first.clone()]);
        let widest = rows.iter().map(|[name, _]| name.chars().count()).max().unwrap_or(0);
        let version = env!("CARGO_PKG_VERSION");
        let mut text = format!("Ropeline {version} {}. Ctrl-C ends it.\n", plain(&self.upstream));
        for [name, value] in rows {
            let _ = writeln!(text, "  {name:<widest$}  {}", plain(&value));
        }
        text
    }
}

/// What to change first: without a file the capacity is a guess, and so it is with a file that does not set it.
fn first(config: &Config, file: Option<&Path>, warnings: usize) -> String {
    let Some(file) = file.map(Path::display) else {
        return "how many visitors the shop serves at once: `ropeline init` asks, and writes a file".to_owned();
    };
    let is_guessed = |room: &&Room| config.is_default(&room.place, "total_active_users");
    if let Some(room) = config.rooms.iter().find(is_guessed) {
        let name = &room.name;
        return format!("set total_active_users of {name}, how many visitors the shop serves at once, in {file}");
    }
    match warnings {
        0 => format!("nothing that stands out; `ropeline reload` applies changes of {file}"),
        1 => format!("look at the warning of `ropeline check {file}`"),
        more => format!("look at the {more} warnings of `ropeline check {file}`"),
    }
}

/// Why no visitor is called yet, after a start from nothing.
fn opening(replica: &Replica) -> Option<String> {
    let view = replica.view();
    let starts = matches!(replica.condition(), Condition::Opening | Condition::Live);
    let opens = starts && view.rooms.values().any(|room| view.is_opening(room));
    let text = "the store is empty: calls begin once passes of a lost log have run out; none was lost: --first-start";
    opens.then(|| text.to_owned())
}

fn limits(room: &Room) -> String {
    let routes = some(room.routes.iter().map(ToString::to_string));
    let rate = room.settings.rate_per_minute;
    let rate = rate.map_or_else(String::new, |rate| format!(", at most {rate} called a minute"));
    format!("{routes}: at most {} inside at once{rate}", room.settings.capacity)
}

/// A listener as a browser on this machine reaches it.
fn address(scheme: &str, endpoint: &Endpoint) -> String {
    let Endpoint::Tcp(at) = endpoint else {
        return endpoint.to_string();
    };
    let local = match at.ip() {
        ip if !ip.is_unspecified() => return format!("{scheme}://{at}/"),
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    let local = SocketAddr::new(local, at.port());
    format!("{scheme}://{local}/ and every other address of this machine")
}

/// The first of a list, with a word for the rest.
fn some(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    let more = all.len().saturating_sub(NAMED);
    let named = all[..all.len() - more].join(", ");
    if more > 0 {
        return format!("{named} and {more} more");
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn summary(text: &str, file: bool) -> Summary {
        let (config, warnings) = config::check(text, "here").finish().expect("a good configuration");
        Summary::of(&config, file.then(|| Path::new("shop.toml")), warnings.len())
    }

    #[test]
    fn what_to_change_first_is_the_capacity_until_it_is_set_then_what_check_warns_of() {
        let shop = "[upstream]\nurl = \"http://127.0.0.1:3000\"\n[[room]]\nname = \"sale\"\nroutes = [\"/sale/*\"]\n";
        let first = |text: &str, file| summary(text, file).first;
        assert!(first(shop, false).contains("ropeline init"));
        let unset = first(shop, true);
        assert!(
            unset.contains("total_active_users of sale") && unset.contains("shop.toml"),
            "{unset}"
        );
        let set = format!("{shop}total_active_users = 30\n");
        assert!(
            first(&set, true).contains("nothing that stands out"),
            "{}",
            first(&set, true)
        );
        let odd = format!("{set}claim_deadline = \"6 min\"\n");
        assert!(
            first(&odd, true).contains("ropeline check shop.toml"),
            "{}",
            first(&odd, true)
        );
    }

    #[test]
    fn many_rooms_and_routes_are_counted_and_not_listed() {
        let mut text = "[upstream]\nurl = \"http://127.0.0.1:3000\"\n".to_owned();
        for n in 0..9 {
            let _ = write!(
                text,
                "[[room]]\nname = \"room-{n}\"\nhosts = [\"{n}.example\"]\nnew_users_per_minute = 60\n"
            );
            text += "routes = [\"/a\", \"/b\", \"/c\", \"/d\", \"/e\"]\n";
        }
        let rooms = summary(&text, true).rooms;
        assert_eq!(rooms.len(), ROOMS + 1);
        assert_eq!(
            rooms[0][1],
            "/a, /b, /c and 2 more: at most 100 inside at once, at most 60 called a minute"
        );
        assert!(rooms[ROOMS][1].starts_with("and 7 more rooms"), "{rooms:?}");
    }

    #[test]
    fn a_listener_on_every_address_is_shown_by_one_that_a_browser_can_open() {
        let at = |text: &str| address("http", &Endpoint::Tcp(text.parse().unwrap()));
        assert_eq!(at("127.0.0.1:8080"), "http://127.0.0.1:8080/");
        assert!(at("0.0.0.0:80").starts_with("http://127.0.0.1:80/ and "));
        assert!(at("[::]:80").starts_with("http://[::1]:80/ and "));
    }
}
