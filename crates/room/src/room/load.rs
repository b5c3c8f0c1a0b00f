//! Load control of a room: the source of its figures, and how its lines share the allowance.

use crate::codec::codec;
use crate::entry::commands::Who;
use crate::load::{Allowance, Load, LoadControl, LoadView, Outside, Report};
use crate::state::context::Context;
use ropeline_ids::{Clock, GateId, LineName};

/// The room's controller, in a room that has one.
#[derive(Debug, Default)]
pub(super) struct RoomLoad(Option<Box<Load>>);

codec! {
    struct RoomLoad(load);
}

impl RoomLoad {
    /// The calls that all lines together may make now.
    pub fn allowance(&self) -> Option<Allowance> {
        self.0.as_ref().map(|load| load.allowance)
    }

    pub fn view(&self) -> Option<LoadView> {
        self.0.as_ref().map(|load| load.view())
    }

    /// The line that called last.
    pub fn last(&self) -> Option<&LineName> {
        self.0.as_ref().map(|load| &load.last)
    }

    /// Takes a gate's report; false in a room without load control.
    pub fn take(&mut self, gate: GateId, report: &Report, load_control: Option<&LoadControl>, now: Clock) -> bool {
        let of = self.0.as_mut().zip(load_control);
        of.map(|(load, load_control)| load.take(gate, report, load_control.ttl_ms, now))
            .is_some()
    }

    /// A gate is gone: its report does not count any more.
    pub fn forget(&mut self, gate: GateId) -> bool {
        self.0.as_mut().map(|load| load.forget(gate)).is_some()
    }

    /// Takes outside figures of the shop, or their withdrawal. False for impossible figures, and in a room without load
    /// control.
    pub fn give(&mut self, figures: Option<Outside>, who: Option<&Who>, now: Clock) -> bool {
        let fits = figures.is_none_or(|figures| figures.fits());
        let Some(load) = self.0.as_mut().filter(|_| fits) else {
            return false;
        };
        match figures {
            Some(figures) => load.give(figures, who.map(Who::bounded), now),
            None => load.give_back(),
        }
        true
    }

    /// An entry begins: expired figures are dropped. True if the allowance changed.
    pub fn run(&mut self, load_control: Option<&LoadControl>, step_ms: u64, slots: u64, m: &Context) -> bool {
        let Some((load, load_control)) = self.0.as_mut().zip(load_control) else {
            return false;
        };
        let changed = load.run(load_control, step_ms, slots, (m.time, m.clock));
        load.allowance = load.allowance.at(step_ms, m.clock);
        changed
    }

    /// The room has a controller from now on, or none.
    pub fn settle(&mut self, load_control: Option<&LoadControl>, m: &Context) {
        match load_control {
            Some(_) if self.0.is_none() => self.0 = Some(Box::new(Load::new(m.time, m.clock))),
            Some(_) => {}
            None => self.0 = None,
        }
    }

    /// Takes back the rest of the allowance from a line, for the others. `outcomes` of earlier calls: how many visitors came,
    /// and how many did not.
    pub fn take_back(&mut self, line: &LineName, left: Option<Allowance>, outcomes: (u64, u64)) {
        let Some(load) = &mut self.0 else { return };
        let before = load.allowance;
        load.allowance = left.unwrap_or(before);
        let calls = before.calls().saturating_sub(load.allowance.calls());
        if calls > 0 {
            load.calls = load.calls.saturating_add(calls);
            load.last = line.clone();
        }
        load.share.note(outcomes.0, outcomes.1);
    }
}
