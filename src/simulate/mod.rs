//! `ropeline simulate`: the operator's own room, run through a sale on virtual time.
//!
//! The room is the real state machine: virtual visitors act through entries, packed as a gate packs them, and see its views. No
//! rule of the line is copied here. People ([`Crowd`]), arrivals ([`Arrive`]) and stays are made up, all from one seed.

mod active;
mod arrivals;
pub mod bill;
mod bills;
mod followed;
mod gate;
mod guesses;
mod hidden;
mod line;
mod observed;
mod outcome;
mod output;
mod people;
mod plan;
mod run;
mod series;
mod serving;
mod sessions;
pub mod shop;
mod visits;
mod wheel;

pub use active::pauses::Pauses;
pub use active::ways::{Returned, Slots, Way};
pub use arrivals::Arrive;
pub use bills::Bill;
pub use followed::{Allowed, Followed};
pub use guesses::{Point, Trust};
pub use hidden::{Claiming, Unseen};
pub use observed::Observed;
pub use outcome::Outcome;
pub use output::html::html;
pub use output::plot::calibration_picture;
pub use output::text::text;
pub use plan::{Crowd, Doing, IDLE_AFTER_MS, MAX_VISITORS, Plan, Scripted, ScriptedPauses, Stays, Upstream};
pub use run::{Progress, simulate, simulate_all};
pub use series::{Series, Step};
pub use serving::Served;
