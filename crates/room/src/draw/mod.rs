//! A draw that anyone can check: visitors who joined before an opening are ordered by a keyed permutation.
//!
//! `facts` makes the published fingerprints and the key; `orders` has the orders themselves; `figures` reads published
//! figures and reports faults in them. `docs/reference/draw.md` specifies every byte, so that a draw can be checked without
//! this code. The module is pure and does not know rooms.
#![deny(clippy::as_conversions, clippy::float_arithmetic, clippy::unwrap_used)]

mod facts;
mod figures;
pub(crate) mod orders;

pub use facts::{Beacon, Draw, MAX_BEACON_NAME, is_beacon_value};
pub use figures::{Fault, Figures, FiguresError, MAX_FIGURES_BYTES, Published};
pub use orders::{ARRIVAL, AdmissionOrder, Arrangement, METHODS, Permutation};
pub use ropeline_ids::Hash;

#[cfg(test)]
mod tests;
