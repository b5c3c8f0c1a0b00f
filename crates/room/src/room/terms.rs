//! What a room is set to: by its configuration, by its operators, and what of both is in force.

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
    /// Configured settings with the overrides applied, and the mode that this comes to in the schedule's phase.
    in_force: Arc<Settings>,
    /// No turn is missed: an operator, or the configuration, lets nobody in whose turn it is. It follows from the rest.
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

    /// As the operator set it.
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

    /// Without what the schedule makes of it.
    pub fn overridden(&self) -> Settings {
        self.overrides.over(&self.configured)
    }

    /// The schedule that the room would go by with these settings.
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

    /// Notes by which log the overrides are set. False for what a gate brings back from before that was set here.
    pub fn word(&mut self, epoch: Epoch, revision: u64) -> bool {
        let fresh = self.worded.is_none_or(|(last, _)| epoch >= last);
        if fresh {
            self.worded = Some((epoch, revision));
        }
        fresh
    }

    /// More windows of the rule that the room goes by, and whether any is new; `None` if it goes by another.
    pub fn extend(&mut self, rule: &str, windows: &[Window]) -> Option<bool> {
        let schedule = match &mut self.overrides.schedule {
            Some(schedule) => Some(schedule),
            None => Arc::make_mut(&mut self.configured).schedule.as_mut(),
        };
        let schedule = schedule.filter(|schedule| schedule.rule == rule)?;
        Some(schedule.add(windows))
    }

    /// Works out what is in force at a stage of the schedule; `undrawn` where the order to call by is not there yet.
    pub fn enforce(&mut self, stage: Option<&Stage>, undrawn: bool) {
        let mut settings = self.overridden();
        if let Some(stage) = stage {
            settings.mode = settings.mode.during(stage.phase);
        }
        // By somebody's word in a sale that is on. With a sale the calls run out.
        let is_on = stage.is_none_or(|stage| stage.phase == Phase::Open);
        self.keeps_calls = is_on && !self.mode().lets_called_in();
        // Nobody is called by an order that is not there yet.
        if undrawn {
            settings.mode = settings.mode.during(Phase::Prequeue);
        }
        // Nobody who reads the settings in force goes by the dates.
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
