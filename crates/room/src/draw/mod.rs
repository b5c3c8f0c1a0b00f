//! A draw that anyone can check: who joined before an opening stands in an order that a keyed permutation gives.
//!
//! `facts` makes the fingerprints that are published and the key; `permutation` is the order itself; `figures` reads what
//! was published and says what does not fit. `docs/reference/draw.md` specifies every byte, so that nobody has to read this. Pure, and
//! without knowledge of rooms: how a room uses it is the room's.
#![deny(clippy::as_conversions, clippy::float_arithmetic, clippy::unwrap_used)]

mod facts;
mod figures;
mod permutation;

pub use facts::{Beacon, Draw, MAX_BEACON_NAME, is_beacon_value};
pub use figures::{FORM, Fault, Figures, FiguresError, MAX_FIGURES_BYTES, Published};
pub use permutation::Permutation;
pub use ropeline_ids::Hash;

#[cfg(test)]
mod tests;
