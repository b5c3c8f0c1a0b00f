//! Reading a configuration: from a text, a file or the defaults to all that is wrong with it, or to [`Config`].

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use toml::de::DeTable;

use super::configuration::Config;
use super::document::added::{AddedRoom, AddedTable};
use super::document::{Mistake, Mistakes, Origin, Overrides, Places, Reader, files};
use super::report::Report;
use super::{room, server, upstream};

/// Largest configuration file, in bytes.
const MAX_FILE: u64 = 1 << 20;

impl Config {
    /// Reads a file, or the defaults without one, and sets `overrides` over it.
    pub fn load(path: Option<&Path>, overrides: &Overrides) -> Result<Self, Mistakes> {
        read(path, overrides).finish().map(|(config, _)| config)
    }
}

/// Reads `text`, called `path` in messages, and returns all mistakes and warnings.
#[must_use]
pub fn check(text: &str, path: &str) -> Report {
    report((Some(text), path), (&Overrides::none(), &[]), &environment)
}

/// Reads a file, or the defaults without one, with `overrides` set over it.
#[must_use]
pub fn read(path: Option<&Path>, overrides: &Overrides) -> Report {
    Document::open(path).read(overrides, &[])
}

/// A file's content when it was opened, for reading it more than once.
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

/// As TOML with best effort: mistakes of syntax are reported together with the others.
pub(super) fn report(
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
    let syntax: Vec<Mistake> = errors.iter().map(|error| Mistake::of_syntax(text, error)).collect();
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
            places: Places::new(path, notes.origins),
            ..config
        });
    }
    report
}

/// `None` only with a mistake noted.
fn assemble(reader: &Reader<'_>) -> Option<Config> {
    let (server, admin) = server::server(reader);
    let tls = server::tls::read(reader, &server, &admin);
    let forward_auth = server::forward_auth::read(reader, &server);
    let upstreams = upstream::read(reader, &server, !forward_auth.is_empty());
    let keys = server::tokens::keys(reader);
    let audiences = server::tokens::audiences(reader, &keys);
    let store = server::store::store(reader, &keys);
    let rooms = room::rooms(reader, &upstreams);
    let limits = server::limit::limits(reader, &upstreams, &rooms);
    let own_limits = server::limit::own(reader, &rooms);
    let crawlers = server::crawlers::crawlers(reader);
    let logging = server::logging::logging(reader);
    room::site::check(reader, &rooms);
    upstream::several::warn_of_hosts(reader, &upstreams, &rooms);
    room::sign_in::sources(reader, &server, &rooms, !forward_auth.is_empty());
    if !forward_auth.is_empty() {
        server::forward_auth::refuse_active(reader, &rooms);
    }
    if upstreams.is_empty() {
        server::forward_auth::check(reader, &rooms);
    }
    if upstreams.is_empty() && forward_auth.is_empty() {
        return None;
    }
    for upstream in &upstreams {
        upstream::check_key(reader, upstream, &keys);
    }
    Some(Config {
        server,
        admin,
        tls,
        upstreams,
        forward_auth,
        store,
        keys,
        audiences,
        rooms,
        limits,
        own_limits,
        crawlers,
        logging,
        places: Places::default(),
        in_force: Vec::new(),
    })
}

/// If the syntax is broken, a key that seems to be missing may only be unread, and one in a broken line may be another: such
/// mistakes and warnings are left out.
fn written(mut mistakes: Vec<Mistake>, syntax: &[Mistake]) -> Vec<Mistake> {
    if !syntax.is_empty() {
        let line = |origin: &Origin| match origin {
            Origin::File(place) => Some(place.line),
            _ => None,
        };
        let broken =
            |origin: &Origin| line(origin).is_some_and(|at| syntax.iter().any(|error| line(&error.origin) == Some(at)));
        mistakes.retain(|mistake| mistake.origin != Origin::Defaults && !broken(&mistake.origin));
    }
    mistakes
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
