//! The rules that a room gives to its lines.

use crate::settings::Settings;
use crate::state::context::Context;
use ropeline_ids::Clock;

/// The settings in force, and the facts that follow from the room's state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub settings: &'a Settings,
    /// The room heals until then.
    pub heals_until: Clock,
    /// No turn counts as missed, because no visitor can come in.
    pub keeps_calls: bool,
}

impl Rules<'_> {
    /// Before this time only an operator's command calls visitors.
    pub fn quiet_until(&self, m: &Context) -> Clock {
        self.heals_until.max(m.barred_until)
    }
}
