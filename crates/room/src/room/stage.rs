//! A room goes by its schedule: what turns when, and what that does to its lines.
//!
//! The schedule only decides which mode is in force and when an edition begins; everything else follows from these. It is
//! followed by the time of the log's entries and never back, so a clock that steps neither opens nor closes a room again.

use std::sync::Arc;

use super::Room;
use crate::entry::sale::BreaksDraw;
use crate::settings::schedule::{Phase, Schedule, Stage, Turn, Window};
use crate::settings::{Mode, Overrides, Settings};
use crate::state::context::Context;
use ropeline_ids::{Edition, Wall};

impl Room {
    /// What the configuration says now.
    pub fn configure(&mut self, mut settings: Settings, m: &mut Context) {
        settings.schedule = joined(self.configured.schedule.as_ref(), settings.schedule);
        // The opening is over: the visitors in line were promised a draw, and by this beacon.
        if self.sale.is_due() {
            settings.draw.clone_from(&self.configured.draw);
        }
        if self.breaks_draw(&settings, m.time) == Some(BreaksDraw::Opening) {
            settings.schedule.clone_from(&self.configured.schedule);
        }
        self.place_lanes(&mut settings, m);
        self.go_by(m, |room| {
            room.configured = Arc::new(settings);
            room.give_up_draw();
        });
    }

    /// Why the draw does not let the room take these settings.
    pub fn breaks_draw(&self, settings: &Settings, now: Wall) -> Option<BreaksDraw> {
        let draws = (self.configured.draw.as_ref(), settings.draw.as_ref());
        let schedule = self.overrides.schedule.as_ref().or(settings.schedule.as_ref());
        self.sale.takes(draws, schedule, now).err()
    }

    /// What the operator says now. False for what a gate brings back from before that was set here.
    pub fn override_with(&mut self, overrides: &Overrides, revision: u64, m: &mut Context) -> bool {
        let era = m.adopts.unwrap_or(m.past.era());
        let fresh = self.worded.is_none_or(|(last, _)| era >= last);
        if fresh {
            let mut overrides = overrides.clone();
            overrides.schedule = joined(self.overrides.schedule.as_ref(), overrides.schedule);
            self.worded = Some((era, revision));
            self.go_by(m, |room| room.overrides = overrides);
        }
        fresh
    }

    /// More windows of the rule that the room goes by; false if it goes by another.
    pub fn extend(&mut self, rule: &str, windows: &[Window], m: &Context) -> bool {
        let schedule = match &mut self.overrides.schedule {
            Some(schedule) => Some(schedule),
            None => Arc::make_mut(&mut self.configured).schedule.as_mut(),
        };
        let Some(schedule) = schedule.filter(|schedule| schedule.rule == rule) else {
            return false;
        };
        if schedule.add(windows) {
            self.settle(m);
        }
        true
    }

    /// Takes what is said of the room. A schedule of another rule than before is followed from now on: it turns no more
    /// what lies behind. But a sale that is on by it, where none was by the one before, has begun now, and one that is open
    /// by it has opened now. The sale that the edition is of goes on, however its end was moved, and also where the dates
    /// led elsewhere for a while.
    fn go_by(&mut self, m: &mut Context, take: impl FnOnce(&mut Self)) {
        let rule = |room: &Self| room.schedule().map(|schedule| schedule.rule.clone());
        let phase = |room: &Self| room.stage().map(|stage| stage.phase);
        let (before, was) = (rule(self), phase(self));
        take(self);
        if rule(self) != before {
            self.followed = self.schedule().map(|_| m.time);
            let goes_on = self.on().is_some_and(|sale| self.began == Some(sale));
            let is_promised = was != Some(Phase::Open) && self.sale.commitment.is_some();
            match (was, phase(self)) {
                // A line that formed before the dates led elsewhere, over the opening, is drawn now.
                (_, Some(Phase::Open)) if goes_on && is_promised => self.close_draw(m),
                (_, Some(Phase::Prequeue | Phase::Open)) if goes_on => {}
                (Some(Phase::Early | Phase::Closed), Some(Phase::Prequeue | Phase::Open)) => self.begin_edition(m),
                (Some(Phase::Prequeue), Some(Phase::Open) | None) => self.close_draw(m),
                _ => {}
            }
            self.put_off_late_draw();
        }
        self.settle(m);
    }

    /// Does what was due by now, in its order. A rehearsal that was over before has no part in it.
    pub fn follow(&mut self, m: &mut Context) {
        self.lapse(m);
        self.close_late_draw(m);
        // PERF: every entry passes all rooms, and in nearly all of them nothing turns.
        while let Some((at, turn)) = self.turn.filter(|(at, _)| *at <= m.time) {
            self.followed = Some(at);
            match turn {
                Turn::Begins => self.begin_edition(m),
                // Whoever has joined is called by the lowest place: the order of arrival, unless they are to be drawn.
                Turn::Opens => self.open_draw(at, m),
                Turn::Closes => {}
            }
            self.settle(m);
        }
        self.close_lost_draw(m);
        self.lapse(m);
    }

    /// When the schedule turns next, or its line is closed for a late draw.
    pub fn next_turn(&self) -> Option<Wall> {
        let turn = self.turn.map(|(at, _)| at);
        turn.into_iter().chain(self.sale.late.map(|late| late.at)).min()
    }

    pub fn schedule(&self) -> Option<&Schedule> {
        let own = self.overrides.schedule.as_ref();
        own.or(self.configured.schedule.as_ref())
    }

    pub(super) fn stage(&self) -> Option<Stage> {
        self.schedule()?.stage(self.followed?)
    }

    /// The sale that is on by the schedule: when it began, and when it opens.
    fn on(&self) -> Option<(Wall, Wall)> {
        let Stage { phase, window, .. } = self.stage()?;
        matches!(phase, Phase::Prequeue | Phase::Open).then_some((window.begins, window.opens))
    }

    /// When it may be told who has won in the sale that began last.
    pub(super) fn results(&self) -> Option<Wall> {
        self.schedule()?.results(self.followed?)
    }

    /// As the operator set it.
    pub(super) fn mode(&self) -> Mode {
        self.overrides.mode.unwrap_or(self.configured.mode)
    }

    /// Works out what is in force, and what turns next.
    pub(super) fn enforce(&mut self) {
        let mut settings = self.overrides.over(&self.configured);
        if let Some(stage) = self.stage() {
            settings.mode = settings.mode.during(stage.phase);
        }
        // By somebody's word in a sale that is on. With a sale the calls run out.
        let is_on = self.stage().is_none_or(|stage| stage.phase == Phase::Open);
        self.keeps_calls = is_on && !self.mode().lets_called_in();
        // Nobody is called by an order that is not there yet.
        if self.sale.has_no_order() {
            settings.mode = settings.mode.during(Phase::Prequeue);
        }
        // Nobody who reads the settings in force goes by the dates.
        settings.schedule = None;
        self.settings = Arc::new(settings);
        self.began = self.on().or(self.began);
        self.turn = self
            .schedule()
            .zip(self.followed)
            .and_then(|(schedule, at)| schedule.next(at));
    }

    /// Whoever waits waits no more, and tickets so far are worth nothing; sessions and calls of the edition before go on as
    /// they are and run out.
    fn begin_edition(&mut self, m: &mut Context) {
        self.edition = Edition(self.edition.0.saturating_add(1));
        self.forget_sale();
        self.pending.clear();
        let settings = self.overrides.over(&self.configured);
        let gone = self
            .lines
            .values_mut()
            .flat_map(|line| line.begin_sale(&settings, m.clock))
            .collect::<Vec<_>>();
        Arc::make_mut(&mut m.past).raise(gone.into_iter());
    }
}

/// A schedule of the same rule stays as it is, so that gates whose calendars differ do not take turns.
fn joined(before: Option<&Schedule>, new: Option<Schedule>) -> Option<Schedule> {
    let new = new?;
    let Some(before) = before.filter(|before| before.rule == new.rule) else {
        return Some(new);
    };
    let mut kept = before.clone();
    kept.add(&new.windows);
    Some(kept)
}
