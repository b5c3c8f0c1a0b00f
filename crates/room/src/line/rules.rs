//! What a room prescribes to its lines.

use crate::settings::Settings;
use crate::state::context::Context;
use ropeline_ids::Clock;

/// The settings in force, and what follows from the room's state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub settings: &'a Settings,
    /// The room heals until then.
    pub heals_until: Clock,
    /// No turn is missed: nobody can come in.
    pub keeps_calls: bool,
}

impl Rules<'_> {
    /// Nobody is called before but by an operator.
    pub fn quiet_until(&self, m: &Context) -> Clock {
        self.heals_until.max(m.quiet_until())
    }
}
