//! A room that follows what its shop can take: where its figures come from, and how its lines share what is allowed.

use std::collections::BTreeSet;

use super::Room;
use crate::entry::commands::Who;
use crate::line::Line;
use crate::load::{Load, Outside, Report};
use crate::state::context::Context;
use ropeline_ids::{Clock, GateId, LineName};

impl Room {
    /// What a gate saw; nothing in a room that does not go by it.
    pub fn take_report(&mut self, gate: GateId, report: &Report, now: Clock) {
        if let Some((load, load_control)) = self.load.as_mut().zip(self.settings.load_control) {
            load.take(gate, report, load_control.ttl_ms, now);
            self.picture = None;
        }
    }

    /// A gate is gone: what it saw says nothing any more.
    pub fn forget_reports(&mut self, gate: GateId) {
        if let Some(load) = &mut self.load {
            load.forget(gate);
            self.picture = None;
        }
    }

    /// What somebody says of the shop, or that they say no more. False for what cannot be, and in a room that does not go
    /// by it.
    pub fn give_load(&mut self, figures: Option<Outside>, who: Option<&Who>, now: Clock) -> bool {
        let Some(load) = self
            .load
            .as_mut()
            .filter(|_| figures.is_none_or(|figures| figures.fits()))
        else {
            return false;
        };
        match figures {
            Some(figures) => load.give(figures, who.map(Who::bounded), now),
            None => load.give_back(),
        }
        self.picture = None;
        true
    }

    /// An entry begins: what holds no longer is dropped, and another number may be allowed.
    pub(super) fn run_load(&mut self, m: &Context) {
        let Some((load, load_control)) = self.load.as_mut().zip(self.settings.load_control) else {
            return;
        };
        let step_ms = self.settings.call_every_ms;
        let changed = load.run(&load_control, step_ms, self.counts.slots, (m.time, m.clock));
        load.allowance = load.allowance.at(step_ms, m.clock);
        if changed {
            // What is told of each line does not hang on it.
            self.plan_all(m);
            self.picture = None;
        }
    }

    /// The room goes by a controller from now on, or no longer.
    pub(super) fn settle_load(&mut self, m: &Context) {
        match self.settings.load_control {
            Some(_) if self.load.is_none() => self.load = Some(Box::new(Load::new(m.time, m.clock))),
            Some(_) => {}
            None => {
                self.load = None;
                self.lines.values_mut().for_each(|line| line.allowance = None);
            }
        }
    }

    /// The lines that the entry touches. Where they share what a controller allows, those behind the one that called last
    /// come first.
    pub(super) fn in_turn(&mut self) -> Vec<LineName> {
        let mut active: BTreeSet<LineName> = std::mem::take(&mut self.active);
        let Some(load) = &self.load else {
            return active.into_iter().collect();
        };
        let mut behind = active.split_off(&load.last);
        let last = behind.take(&load.last);
        behind.into_iter().chain(active).chain(last).collect()
    }
}

impl Load {
    /// The line works with what the room allows; what it has called is gone from that.
    pub fn lend(&mut self, line: &mut Line, name: &LineName, work: impl FnOnce(&mut Line)) {
        let before = self.allowance;
        line.allowance = Some(before);
        work(line);
        self.allowance = line.allowance.unwrap_or(before);
        let calls = before.calls().saturating_sub(self.allowance.calls());
        if calls > 0 {
            self.calls = self.calls.saturating_add(calls);
            self.last = name.clone();
        }
        let ((came, missed), noted) = (line.outcomes(), line.noted);
        self.share
            .note(came.saturating_sub(noted.0), missed.saturating_sub(noted.1));
    }
}
