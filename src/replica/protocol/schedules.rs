//! Rooms that go by a schedule: an entry in time for each turn, and the windows that come next.

use std::time::Duration;

use crate::calendar::{AT_ONCE, Plan};
use crate::room::{Change, RoomName, Schedule, State, Wall};

/// How long after the last entry the next one is due: a tick, or less where a schedule turns before.
pub(super) fn until_turn(state: &State, tick: Duration) -> Duration {
    let turn = state.next_turn().zip(state.time());
    let turn = turn.map(|(at, time)| Duration::from_millis(at.since(time)));
    turn.map_or(tick, |turn| turn.min(tick))
}

/// The windows that come next in schedules that recur, before they run out. What the rooms have stands: another gate's calendar
/// may have been another one.
pub(super) fn next_changes(state: &State) -> Vec<(RoomName, Change)> {
    let Some(time) = state.time() else { return Vec::new() };
    let lacking = state.schedules().filter(|(_, schedule)| runs_out(schedule, time));
    let next = lacking.filter_map(|(room, schedule)| Some((room.clone(), next_windows(schedule, time)?)));
    next.take(PLANNED_AT_ONCE).collect()
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

/// Rooms that one look adds to.
const PLANNED_AT_ONCE: usize = 30;
