//! Dates of operators and the instants that they stand for: the one place that knows time zones and summer time.
//!
//! A room's schedule is given by a rule ([`Plan`]), one line of text that stands in the log. A gate works the windows of the
//! rule out from it, and any gate can work out the next ones; the rooms themselves only ever see instants. The time zones
//! are those that the binary was built with, so that gates of one build agree on any machine.

mod moment;
mod plan;

pub use moment::{FORMS, Moment, Unread};
pub use plan::{AT_ONCE, KEYS, Odd, Plan};
