//! Operators' dates and the instants that they mean: the only module that knows time zones and summer time.
//!
//! A room's schedule is given by a rule ([`Plan`]), one line of text in the log. A gate computes the windows of the rule from
//! it, and any gate can compute the next ones; the rooms themselves only see instants. The time zones are compiled into the
//! binary, so that gates of one build agree on any machine.

mod moment;
mod plan;

pub use moment::{FORMS, Moment, Unread};
pub use plan::{AT_ONCE, KEYS, Odd, Plan};
