//! The log's archive: a folder of files that hold every entry once, chained by hashes, for whoever wants to know later.
//!
//! Each gate that is given a folder hands what it applies to an [`Archiver`]; where gates share the folder, the one whose
//! turn it is files a range, and another does if it has not. A file is written whole, under another name first, and never
//! touched again, so that a mounted object store will do. `docs/guides/audit.md` has the format; `ropeline report` reads it.

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
