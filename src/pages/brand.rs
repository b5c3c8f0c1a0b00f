//! The brand of a room's pages: the name of the event or shop, its logo, its accent colour and its links.
//!
//! Each part is a type that holds right values only. The configuration makes them, and the pages show them.

mod accent;
mod bitmap;
mod drawn;
mod link;
mod logo;
mod name;
mod svg;
mod unfit;

pub use accent::Accent;
pub use link::{Link, MAX_LINK};
pub use logo::{LIGHT_LOGO, Logo, MAX_LOGO};
pub use name::{BrandName, MAX_NAME, is_name};
pub use unfit::Unfit;

/// The brand of one room; no part is set by default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Brand {
    pub name: Option<BrandName>,
    pub logo: Option<Logo>,
    pub accent: Option<Accent>,
    pub help: Option<Link>,
    pub imprint: Option<Link>,
    pub privacy: Option<Link>,
}
