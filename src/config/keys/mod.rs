//! Every key there is, declared once: its name, the form and bounds of its value, its default and its text.
//!
//! The reader takes bounds and defaults from here, so that `config.toml`, `docs/reference/configuration.md`, the JSON Schema and the
//! gate cannot disagree: the schema and the page's tables are made from these tables, and a test holds `config.toml` against them.

mod acme;
mod crawlers;
mod form;
mod key;
mod limits;
mod load_control;
mod renamed;
mod room;
mod server;
mod store;
mod tls;
mod upstream;
mod visitors;

pub use form::{Form, span};
pub use key::{Brackets, Key, Preset, Table};
pub use renamed::present_name;

/// All tables, in the order in which people read them.
pub static TABLES: [Table; 18] = [
    server::SERVER,
    tls::TLS,
    acme::ACME,
    upstream::UPSTREAM,
    server::FORWARD_AUTH,
    store::STORE,
    store::TOKENS,
    room::ROOM,
    visitors::PAGE,
    visitors::PROOF,
    load_control::LOAD_CONTROL,
    visitors::IDENTITY,
    visitors::LANE,
    limits::LIMIT,
    limits::LIMITS,
    crawlers::CRAWLER,
    crawlers::CRAWLERS,
    server::LOG,
];

/// The table of this full name.
#[must_use]
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// The tables right below `parent` (`""` for the document), by their names without the parent's.
pub fn below(parent: &str) -> impl Iterator<Item = (&'static str, &'static Table)> {
    TABLES
        .iter()
        .filter_map(move |table| match table.name.rsplit_once('.') {
            Some((above, name)) => (above == parent).then_some((name, table)),
            None => parent.is_empty().then_some((table.name, table)),
        })
}
