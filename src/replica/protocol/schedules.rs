//! Rooms with a schedule: an entry in time for each turn, and the next windows.

use std::time::Duration;

use crate::calendar::{AT_ONCE, Plan};
use crate::room::{Change, RoomName, Schedule, State, Wall};

/// How long after the last entry the next one is due: a tick, or less where a schedule turns before.
pub(super) fn until_turn(state: &State, tick: Duration) -> Duration {
    let turn = state.next_turn().zip(state.time());
    let turn = turn.map(|(at, time)| Duration::from_millis(at.since(time)));
    turn.map_or(tick, |turn| turn.min(tick))
}

/// The next windows of recurring schedules, before they run out. The rooms' present windows stay: another gate's calendar may
/// have been different.
pub(super) fn next_changes(state: &State) -> Vec<(RoomName, Change)> {
    let Some(time) = state.time() else { return Vec::new() };
    let lacking = state.schedules().filter(|(_, schedule)| runs_out(schedule, time));
    let next = lacking.filter_map(|(room, schedule)| Some((room.clone(), next_windows(schedule, time)?)));
    next.take(PLANNED_AT_ONCE).collect()
}

fn runs_out(schedule: &Schedule, time: Wall) -> bool {
    schedule.windows.iter().filter(|window| window.begins > time).count() < AHEAD
}

/// The windows that follow the present ones; `None` for a schedule that does not recur, or that this build cannot read.
fn next_windows(schedule: &Schedule, time: Wall) -> Option<Change> {
    let plan = Plan::parse(&schedule.rule).filter(Plan::recurs)?;
    let last = schedule.windows.last()?;
    let mut windows = plan.windows(time, AT_ONCE);
    windows.retain(|window| last.ends_before(window));
    let rule = schedule.rule.clone();
    (!windows.is_empty()).then_some(Change::Windows { rule, windows })
}

/// Least number of windows that a room has ahead of it.
const AHEAD: usize = 2;

/// Rooms that one look adds to.
const PLANNED_AT_ONCE: usize = 30;
