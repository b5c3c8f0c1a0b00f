//! The configuration: everything an operator sets, read once, checked whole, and turned into types that cannot be wrong.
//!
//! [`check`] reports every error and warning of a text at once, with key, line and correction; [`Config::load`] gives the
//! configuration or all errors. The defaults are in [`keys`]. Only this module reads the environment.

mod configuration;
mod differences;
mod document;
pub mod keys;
mod read;
mod report;
mod room;
mod schema;
mod server;
mod upstream;

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
#[cfg(test)]
mod tests;

pub use configuration::Config;
pub use differences::Difference;
pub use document::added::AddedRoom;
pub use document::files::NamedFile;
pub use document::secret::NamedToken;
pub use document::value::duration_of;
pub use document::{Mistake, Mistakes, Origin, Overrides, Place, Places};
pub(crate) use read::environment;
pub use read::{Document, check, read};
pub use report::Report;
pub use room::active::{Active, HoldSlot};
pub use room::identity::{Identities, Missing, Source};
pub use room::lanes::Lane;
pub use room::page::{Page, Template};
pub use room::proof::Proof;
pub use room::{EndsOn, OnOutage, Room};
pub use schema::schema;
pub use server::acme::{Acme, ChallengeKind, ExternalAccount};
pub use server::crawlers::{Crawler, Crawlers};
pub use server::forward_auth::Asker;
pub use server::limit::{Limit, OwnLimits, Rate};
pub use server::listen::Listen;
pub use server::logging::LoggingConfig;
pub use server::store::{CaFile, Store, StoreKind};
pub use server::tls::Tls;
pub use server::{Admin, OPERATOR, Server};
pub use upstream::Upstream;
pub use upstream::tls::Tls as UpstreamTls;
pub use upstream::unadmitted::Unadmitted;
