//! `ropeline simulate`: the operator's own room, run through a sale on virtual time.
//!
//! The rooms are the real ones: what virtual visitors do goes as entries, packed as a gate packs them, to the state machine
//! that gates apply, and what they see is read from its views. So there is no second copy of any rule of the line here; what
//! is made up is people ([`Crowd`]), when they come ([`Arrive`]), and how long they stay. All of it follows from a seed.

mod arrivals;
pub mod bill;
mod bills;
mod followed;
mod gate;
mod guesses;
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

pub use arrivals::Arrive;
pub use bills::Bill;
pub use followed::{Allowed, Followed};
pub use guesses::{Point, Trust};
pub use observed::Observed;
pub use outcome::Outcome;
pub use output::html::html;
pub use output::plot::calibration_picture;
pub use output::text::text;
pub use plan::{Crowd, Doing, MAX_VISITORS, Plan, Scripted, Stays, Upstream};
pub use run::{Progress, simulate};
pub use series::{Series, Step};
pub use serving::Served;
