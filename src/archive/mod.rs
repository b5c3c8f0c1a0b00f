//! The archive of the log: files that hold every entry once, linked by a hash chain, for audits.
//!
//! A gate with a folder passes its entries to an [`Archiver`]. Gates that share a folder take turns to write a range, and another
//! gate writes a range that is overdue. Files are never changed, so a mounted object store will do. `docs/guides/audit.md` has the format; `ropeline report` reads it.

mod archiver;
mod course;
mod cutter;
mod filer;
mod folder;
mod history;
mod segment;
mod step;

pub use archiver::{Archiver, Counts, Options};
pub use course::{Course, Link};
pub use folder::{Filed, Folder, Name};
pub use history::History;
pub use segment::{Damaged, Segment, Stored};
pub use step::{Fault, Step};
