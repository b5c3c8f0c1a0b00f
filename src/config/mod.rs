//! The configuration: everything an operator sets, read once, checked whole, and turned into types that cannot be wrong.
//!
//! [`check`] tells every mistake and oddity of a text at once, with key, line and what would be right; [`Config::load`]
//! gives the configuration or all mistakes. What holds when nothing is set stands in [`keys`]. Only this module reads the
//! environment.

mod added;
mod admission;
mod crawlers;
mod describe;
mod differences;
mod draw;
mod files;
mod forward_auth;
mod gate;
mod identity;
pub mod keys;
mod lanes;
mod limit;
mod listen;
mod mistake;
mod notes;
mod overrides;
mod pace;
mod page;
mod proof;
mod reader;
mod render;
mod room;
mod schedule;
mod schema;
mod secret;
mod shop_http2;
mod shop_tls;
mod sign_in;
mod site;
mod stock;
mod store;
mod suggest;
mod tls;
mod trials;
mod unadmitted;
mod uploads;
mod upstream;
mod value;

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use toml::de::{DeTable, Error};

pub use added::AddedRoom;
pub use crawlers::{Crawler, Crawlers};
pub use differences::Difference;
pub use files::NamedFile;
pub use forward_auth::Asker;
pub use gate::{Admin, LogConfig, NamedToken, OPERATOR, Server};
pub use identity::{Identities, Missing, Source};
pub use lanes::Lane;
pub use limit::{Limit, OwnLimits, Rate};
pub use listen::Listen;
pub use mistake::{Mistake, Mistakes, Origin, Report};
pub use overrides::Overrides;
pub use page::{Page, Template};
pub use proof::Proof;
pub use room::{EndsOn, OnOutage, Room};
pub use schema::schema;
pub use shop_tls::Tls as UpstreamTls;
pub use store::{CaFile, Store, StoreKind};
pub use tls::Tls;
pub use unadmitted::Unadmitted;
pub use upstream::Upstream;

/// Milliseconds of a duration as the configuration's keys take them; for arguments.
#[must_use]
pub fn duration_of(text: &str) -> Option<u64> {
    value::parse_duration(text)
}

use crate::token::{Audience, Key};
use added::AddedTable;
use notes::{InForce, line};
use reader::Reader;
use crate::router::{RoomRoutes, Router};

/// Largest configuration file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Everything an operator sets. Made by reading only, so it holds no wrong value.
#[derive(Clone, Debug)]
pub struct Config {
    pub server: Server,
    pub admin: Admin,
    pub tls: Tls,
    /// `None`: the gate only answers the proxies of `forward_auth`.
    pub upstream: Option<Upstream>,
    /// The proxies that may ask; empty: none.
    pub forward_auth: Vec<Asker>,
    pub store: Store,
    /// Empty: the gate makes a key of its own.
    pub keys: Vec<Key>,
    /// Whom tokens are for; empty: the keys as they are.
    pub audiences: Vec<Audience>,
    /// At least one; the first that takes a request has it.
    pub rooms: Vec<Room>,
    pub limits: Vec<Limit>,
    pub own_limits: OwnLimits,
    pub crawlers: Crawlers,
    pub log: LogConfig,
    in_force: Vec<InForce>,
}

impl Config {
    /// Reads a file, or the defaults without one, and sets `overrides` over it.
    pub fn load(path: Option<&Path>, overrides: &Overrides) -> Result<Self, Mistakes> {
        read(path, overrides).finish().map(|(config, _)| config)
    }

    /// The values in force as TOML, secrets masked; for people.
    #[must_use]
    pub fn describe(&self) -> String {
        describe::describe(&self.in_force)
    }

    /// The router over all rooms and limits; its room and limit numbers are places in [`Config::rooms`] and
    /// [`Config::limits`].
    #[must_use]
    pub fn router(&self) -> Router {
        let ends: Vec<Vec<_>> = self
            .rooms
            .iter()
            .map(|room| room.ends_on.iter().map(|rule| rule.route.clone()).collect())
            .collect();
        let rooms: Vec<RoomRoutes<'_>> = self
            .rooms
            .iter()
            .zip(&ends)
            .map(|(room, ends_on)| room.routes_for(ends_on))
            .collect();
        let limits: Vec<_> = self
            .limits
            .iter()
            .map(|limit| (&limit.hosts[..], &limit.routes[..]))
            .collect();
        let streamed = self
            .upstream
            .as_ref()
            .map(|upstream| &upstream.uploads.stream_routes[..]);
        Router::new(&rooms, &limits).streaming(streamed.unwrap_or_default())
    }
}

/// Reads `text`, called `path` in messages, and tells everything that is wrong or odd.
#[must_use]
pub fn check(text: &str, path: &str) -> Report {
    report((Some(text), path), (&Overrides::none(), &[]), &environment)
}

/// Reads a file, or the defaults without one, with `overrides` set over it.
#[must_use]
pub fn read(path: Option<&Path>, overrides: &Overrides) -> Report {
    Document::open(path).read(overrides, &[])
}

/// What a file held when it was opened, for reading it more than once.
#[derive(Clone, Debug)]
pub struct Document {
    name: String,
    /// `None`: there is no file, and the defaults hold.
    text: Option<Result<String, String>>,
}

impl Document {
    /// No file.
    #[must_use]
    pub fn none() -> Self {
        Self::open(None)
    }

    #[must_use]
    pub fn open(path: Option<&Path>) -> Self {
        Self {
            name: path.map_or_else(|| "defaults".to_owned(), |path| path.display().to_string()),
            text: path.map(text_of),
        }
    }

    /// Reads it with the rooms that were added at run time, in the order in which they are to be asked: all of them before the
    /// file's own.
    #[must_use]
    pub fn read(&self, overrides: &Overrides, added: &[AddedRoom]) -> Report {
        let text = match &self.text {
            Some(Err(reason)) => return unreadable(self.name.clone(), reason.clone()),
            Some(Ok(text)) => Some(text.as_str()),
            None => None,
        };
        report((text, &self.name), (overrides, added), &environment)
    }
}

/// As TOML with best effort: mistakes of syntax are told together with the others.
fn report(
    (text, path): (Option<&str>, &str),
    (overrides, added): (&Overrides, &[AddedRoom]),
    env: &dyn Fn(&str) -> Option<String>,
) -> Report {
    let (root, errors) = text.map(DeTable::parse_recoverable).unzip();
    let (root, errors) = (root.as_ref().map(toml::Spanned::get_ref), errors.unwrap_or_default());
    let text = text.unwrap_or_default();
    let added: Vec<AddedTable<'_>> = added.iter().filter_map(AddedTable::parse).collect();
    let reader = Reader::new(text, (root, &added), overrides.list(), env);
    let config = assemble(&reader);
    let notes = reader.into_notes();
    let syntax: Vec<Mistake> = errors.iter().map(|error| syntax(text, error)).collect();
    let mut report = Report {
        path: path.to_owned(),
        files: files::named(root, &added),
        config: None,
        mistakes: written(notes.mistakes, &syntax),
        warnings: written(notes.warnings, &syntax),
    };
    report.mistakes.extend(syntax);
    report.mistakes.sort_by(|a, b| a.origin.cmp(&b.origin));
    report.warnings.sort_by(|a, b| a.origin.cmp(&b.origin));
    if report.mistakes.is_empty() {
        report.config = config.map(|config| Config {
            in_force: notes.in_force,
            ..config
        });
    }
    report
}

/// `None` only with a mistake noted.
fn assemble(reader: &Reader<'_>) -> Option<Config> {
    let (server, admin) = gate::server(reader);
    let tls = tls::read(reader, &server, &admin);
    let forward_auth = forward_auth::read(reader, &server);
    let upstream = upstream::read(reader, &server, !forward_auth.is_empty());
    let keys = gate::keys(reader);
    let audiences = gate::audiences(reader, &keys);
    let store = store::store(reader, &keys);
    let rooms = room::rooms(reader);
    let limits = limit::limits(reader);
    let own_limits = limit::own(reader, &rooms);
    let crawlers = crawlers::crawlers(reader);
    let log = gate::log(reader);
    site::check(reader, &rooms, &limits);
    identity::check(reader, &server, &rooms, !forward_auth.is_empty());
    if upstream.is_none() {
        forward_auth::check(reader, &rooms);
    }
    if upstream.is_none() && forward_auth.is_empty() {
        return None;
    }
    if let Some(upstream) = &upstream {
        upstream::check_key(reader, upstream, &keys);
    }
    Some(Config {
        server,
        admin,
        tls,
        upstream,
        forward_auth,
        store,
        keys,
        audiences,
        rooms,
        limits,
        own_limits,
        crawlers,
        log,
        in_force: Vec::new(),
    })
}

/// Where the syntax is broken, what seems to be missing may only be unread, and what seems to stand in a broken line may
/// be something else: such mistakes and warnings are left out.
fn written(mut mistakes: Vec<Mistake>, syntax: &[Mistake]) -> Vec<Mistake> {
    if !syntax.is_empty() {
        let broken = |origin: &Origin| syntax.iter().any(|error| error.origin == *origin);
        mistakes.retain(|mistake| mistake.origin != Origin::Defaults && !broken(&mistake.origin));
    }
    mistakes
}

fn syntax(text: &str, error: &Error) -> Mistake {
    let at = error.span().map_or(0, |span| span.start);
    Mistake {
        origin: Origin::Line(line(text, at)),
        key: String::new(),
        wrong: format!("this is no TOML: {}", error.message()),
        right: "lines of key = value below [table], texts in double quotes".to_owned(),
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|e| format!("the file cannot be opened ({e})"))?;
    let mut text = String::new();
    file.take(MAX_FILE + 1)
        .read_to_string(&mut text)
        .map_err(|e| format!("the file cannot be read ({e})"))?;
    if text.len() as u64 > MAX_FILE {
        return Err(format!("the file is longer than {MAX_FILE} bytes"));
    }
    Ok(text)
}

fn unreadable(path: String, wrong: String) -> Report {
    let right = "a TOML file that the gate may read, such as the config.toml that comes with it".to_owned();
    let mistake = Mistake {
        origin: Origin::Defaults,
        key: String::new(),
        wrong,
        right,
    };
    Report {
        path,
        files: Vec::new(),
        config: None,
        mistakes: vec![mistake],
        warnings: Vec::new(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this module reads the environment, nothing else does"
)]
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests;
