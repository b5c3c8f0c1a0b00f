//! The settings of a room: the configured ones, the operators' overrides, and the result in force.

use std::sync::Arc;

use crate::codec::codec;
use crate::entry::sale::Drawing;
use crate::settings::schedule::{Phase, Schedule, Stage, Window};
use crate::settings::{Mode, Overrides, Settings};
use ropeline_ids::Epoch;

#[derive(Debug)]
pub(super) struct Terms {
    configured: Arc<Settings>,
    overrides: Overrides,
    /// The epoch whose log last set them, and at which revision.
    worded: Option<(Epoch, u64)>,
    /// Configured settings with the overrides applied, and the resulting mode in the schedule's phase.
    in_force: Arc<Settings>,
    /// No turn counts as missed: an operator, or the configuration, admits no called visitor. It follows from the other
    /// fields.
    keeps_calls: bool,
}

codec! {
    struct Terms { configured, overrides, worded } derived { in_force, keeps_calls };
}

impl Terms {
    pub fn new(configured: Settings) -> Self {
        Self {
            in_force: Arc::new(configured.clone()),
            configured: Arc::new(configured),
            overrides: Overrides::default(),
            worded: None,
            keeps_calls: false,
        }
    }

    pub fn configured(&self) -> &Arc<Settings> {
        &self.configured
    }

    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// The epoch whose log last set the overrides, and at which revision.
    pub fn worded(&self) -> Option<(Epoch, u64)> {
        self.worded
    }

    pub fn in_force(&self) -> &Arc<Settings> {
        &self.in_force
    }

    pub fn keeps_calls(&self) -> bool {
        self.keeps_calls
    }

    /// The mode that the operator set.
    pub fn mode(&self) -> Mode {
        self.overrides.mode.unwrap_or(self.configured.mode)
    }

    pub fn schedule(&self) -> Option<&Schedule> {
        let own = self.overrides.schedule.as_ref();
        own.or(self.configured.schedule.as_ref())
    }

    pub fn drawing(&self) -> Option<&Drawing> {
        self.configured.draw.as_ref()
    }

    pub fn draws(&self) -> bool {
        self.configured.draw.is_some()
    }

    /// The settings with overrides, without the effect of the schedule.
    pub fn overridden(&self) -> Settings {
        self.overrides.over(&self.configured)
    }

    /// The schedule that the room would follow with these settings.
    pub fn schedule_with<'a>(&'a self, settings: &'a Settings) -> Option<&'a Schedule> {
        self.overrides.schedule.as_ref().or(settings.schedule.as_ref())
    }

    pub fn configure(&mut self, settings: Settings) {
        self.configured = Arc::new(settings);
    }

    pub fn override_with(&mut self, overrides: &Overrides) {
        let mut overrides = overrides.clone();
        overrides.schedule = joined(self.overrides.schedule.as_ref(), overrides.schedule);
        self.overrides = overrides;
    }

    /// Records the log in which the overrides are set. False for older ones that a gate brings back.
    pub fn word(&mut self, epoch: Epoch, revision: u64) -> bool {
        let fresh = self.worded.is_none_or(|(last, _)| epoch >= last);
        if fresh {
            self.worded = Some((epoch, revision));
        }
        fresh
    }

    /// Adds windows of the rule that the room follows, and returns whether any is new; `None` if it follows another.
    pub fn extend(&mut self, rule: &str, windows: &[Window]) -> Option<bool> {
        let schedule = match &mut self.overrides.schedule {
            Some(schedule) => Some(schedule),
            None => Arc::make_mut(&mut self.configured).schedule.as_mut(),
        };
        let schedule = schedule.filter(|schedule| schedule.rule == rule)?;
        Some(schedule.add(windows))
    }

    /// Computes the settings in force at a stage of the schedule; `undrawn` while the order of calls is not drawn.
    pub fn enforce(&mut self, stage: Option<&Stage>, undrawn: bool) {
        let mut settings = self.overridden();
        if let Some(stage) = stage {
            settings.mode = settings.mode.during(stage.phase);
        }
        // By somebody's word in a sale that is on. With a sale the calls run out.
        let is_on = stage.is_none_or(|stage| stage.phase == Phase::Open);
        self.keeps_calls = is_on && !self.mode().lets_called_in();
        // No visitor is called before the order is drawn.
        if undrawn {
            settings.mode = settings.mode.during(Phase::Prequeue);
        }
        // The dates are removed, because no reader of the settings in force uses them.
        settings.schedule = None;
        self.in_force = Arc::new(settings);
    }
}

/// A schedule of the same rule stays as it is, so that gates whose calendars differ do not take turns.
pub(super) fn joined(before: Option<&Schedule>, new: Option<Schedule>) -> Option<Schedule> {
    let new = new?;
    let Some(before) = before.filter(|before| before.rule == new.rule) else {
        return Some(new);
    };
    let mut kept = before.clone();
    kept.add(&new.windows);
    Some(kept)
}
