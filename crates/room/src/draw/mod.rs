//! A draw that anyone can check: who joined before an opening stands in an order that a keyed permutation gives.
//!
//! `facts` makes the fingerprints that are published and the key; `orders` has the orders themselves; `figures` reads what
//! was published and says what does not fit. `docs/reference/draw.md` specifies every byte, so that nobody has to read this. Pure, and
//! without knowledge of rooms: how a room uses it is the room's.
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
