//! What a gate does for rooms that go by a schedule: an entry in time for each turn, the windows that come next, and the
//! machine version that schedules need.

use std::time::Duration;

use super::Protocol;
use crate::calendar::{AT_ONCE, Plan};
use crate::replica::options::Charge;
use crate::room::{Change, RoomName, Schedule, Settings, State, Wall};

/// How long after the last entry the next one is due: a tick, or less where a schedule turns before.
pub(super) fn until_turn(state: &State, tick: Duration) -> Duration {
    let turn = state.next_turn().zip(state.time());
    let turn = turn.map(|(at, time)| Duration::from_millis(at.since(time)));
    turn.map_or(tick, |turn| turn.min(tick))
}

impl Protocol {
    /// Says which windows come next in schedules that recur, before they run out, when it is this gate's turn. What the
    /// rooms have stands: another gate's calendar may have been another one.
    pub(super) fn plan_ahead(&mut self, now: Duration) {
        let Some(state) = self.live_state() else { return };
        let recently = self.planned.is_some_and(|last| now < last + PLAN_AGAIN);
        let Some(time) = state.time().filter(|_| self.is_on_turn(state, now) && !recently) else {
            return;
        };
        let lacking = state.schedules().filter(|(_, schedule)| runs_out(schedule, time));
        let next = lacking.filter_map(|(room, schedule)| Some((room.clone(), next_windows(schedule, time)?)));
        let next: Vec<(RoomName, Change)> = next.take(PLANNED_AT_ONCE).collect();
        if next.is_empty() {
            return;
        }
        self.planned = Some(now);
        self.say_of_rooms(next);
    }

    /// The machine version that this gate's configuration needs, where nobody else has to know it too: an older binary would
    /// not take that configuration anyway.
    pub(super) fn needed(&self) -> Option<u16> {
        let has_the_say = self.alone && self.charge == Charge::Own;
        let state = self.live_state().filter(|_| has_the_say)?;
        let needed = self.rooms.iter().any(|(_, settings)| lacks(settings, state));
        needed
            .then_some(self.options.knows)
            .filter(|knows| *knows > state.version())
    }

    /// The rooms run a later machine version: what they could not have before is said now.
    pub(super) fn configure_since(&mut self, version: u16, state: &State) {
        if self.charge == Charge::Before {
            return;
        }
        let was = |room: &RoomName, settings: &Settings| {
            let known = state.configured(room);
            known.is_some_and(|known| known.agrees(&settings.under(version)) && !known.agrees(settings))
        };
        let able = self.rooms.iter().filter(|(room, settings)| was(room, settings));
        let changes = able.map(|(room, settings)| (room.clone(), Change::Configure(settings.under(state.version()))));
        self.collector.configure(changes.collect());
    }

    pub(super) fn warn_of_schedules(&self, state: &State) {
        let lacking = self.rooms.iter().filter(|(_, settings)| lacks(settings, state));
        for (room, settings) in lacking {
            if settings.schedule.is_none() {
                tracing::warn!(
                    %room,
                    version = state.version(),
                    "the rooms run a machine version without named lanes and draws, which a gate of an older build may need: \
                     everybody stands in one lane until all gates know the next one and it is in force (ropeline gates)"
                );
                continue;
            }
            tracing::warn!(
                %room,
                version = state.version(),
                "the rooms run a machine version without schedules, which a gate of an older build may need: this room is \
                 closed until all gates know the next one and it is in force (ropeline gates)"
            );
        }
    }
}

/// The settings say what rooms of the version in force cannot have.
fn lacks(settings: &Settings, state: &State) -> bool {
    !settings.agrees(&settings.under(state.version()))
}

fn runs_out(schedule: &Schedule, time: Wall) -> bool {
    schedule.windows.iter().filter(|window| window.begins > time).count() < AHEAD
}

/// What follows the windows that there are; `None` for a schedule that does not recur, or that this build cannot read.
fn next_windows(schedule: &Schedule, time: Wall) -> Option<Change> {
    let plan = Plan::parse(&schedule.rule).filter(Plan::recurs)?;
    let last = schedule.windows.last()?;
    let mut windows = plan.windows(time, AT_ONCE);
    windows.retain(|window| last.ends_before(window));
    let rule = schedule.rule.clone();
    (!windows.is_empty()).then_some(Change::Windows { rule, windows })
}

/// Windows that a room has ahead of it, at least.
const AHEAD: usize = 2;

/// Rooms that one look adds to, and the shortest time to the next.
const PLANNED_AT_ONCE: usize = 30;
const PLAN_AGAIN: Duration = Duration::from_secs(2);
