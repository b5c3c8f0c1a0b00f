//! The TOML document as the tables of keys describe it: its values, everything that is wrong with them, and the values in force.

pub(in crate::config) mod added;
pub(in crate::config) mod describe;
pub(in crate::config) mod files;
mod mistake;
mod node;
mod notes;
mod overrides;
mod places;
mod reader;
mod render;
pub(in crate::config) mod secret;
mod section;
mod suggest;
pub(in crate::config) mod value;

pub(in crate::config) use mistake::count;
pub use mistake::{Mistake, Mistakes, Origin, Place};
pub(in crate::config) use node::{Node, Read};
pub(in crate::config) use notes::InForce;
pub use overrides::Overrides;
pub use places::Places;
pub(in crate::config) use reader::Reader;
pub(in crate::config) use section::Section;
