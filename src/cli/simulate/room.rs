//! The simulated room, its starting time, and the visitors of each lane.

use super::words::ShareOf;
use super::{SimulateArgs, Ways};
use crate::config::{Config, Room};
use crate::room::{ActiveSlots, MAX_LANES, Settings, Wall};
use crate::simulate::IDLE_AFTER_MS;

/// The room that is meant.
pub(super) fn room<'a>(args: &SimulateArgs, config: &'a Config) -> Result<&'a Room, String> {
    let Some(name) = &args.room else {
        return config.rooms.first().ok_or_else(|| "there is no room".to_owned());
    };
    let found = config.rooms.iter().find(|room| room.name.as_str() == name);
    let names = || {
        config
            .rooms
            .iter()
            .map(|room| room.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    found.ok_or_else(|| format!("there is no room {name:?}: one of {}", names()))
}

/// The room with the other value of `slots`; `None` where it cannot have that, or is not to be compared.
pub(super) fn other_way(args: &SimulateArgs, config: &Config, room: &Room) -> Option<Settings> {
    if args.slots == Ways::AsConfigured || !config.forward_auth.is_empty() {
        return None;
    }
    let is_active = room.settings.active.is_some();
    let active = (!is_active).then_some(ActiveSlots {
        idle_after_ms: IDLE_AFTER_MS,
        max_sessions: None,
    });
    let other = Settings {
        active,
        ..room.settings.clone()
    };
    // As `ropeline check` has it.
    let lasts = other
        .parks_after_ms()
        .is_none_or(|parks_after_ms| other.session_ms > parks_after_ms);
    lasts.then_some(other)
}

/// For how long the slot is kept during a payment.
pub(super) fn longest_hold(room: &Room) -> Option<u64> {
    let rules = room.active.iter().flat_map(|active| &active.hold_slot);
    rules.map(|rule| rule.for_ms).max()
}

/// Of a thousand, how many come to each lane after the first.
pub(super) fn lanes(args: &SimulateArgs, settings: &Settings) -> Result<Vec<u16>, String> {
    let mut shares = vec![0; settings.lane_weights.len().clamp(1, MAX_LANES) - 1];
    let twice = |name: &str| args.lane.iter().filter(|share| share.name == name).count() > 1;
    if let Some(ShareOf { name, .. }) = args.lane.iter().find(|share| twice(&share.name)) {
        return Err(format!("--lane is given twice for {name:?}"));
    }
    for ShareOf { name, share } in &args.lane {
        let lane = settings.lanes.iter().position(|lane| lane.name == *name);
        let of = lane.and_then(|lane| shares.get_mut(lane.checked_sub(1)?));
        let names: Vec<_> = settings.lanes.iter().skip(1).map(|lane| lane.name.as_str()).collect();
        let Some(of) = of else {
            return Err(format!(
                "{name:?} is no lane that codes lead to: one of [{}]",
                names.join(", ")
            ));
        };
        *of = *share;
    }
    if shares.iter().map(|share| u32::from(*share)).sum::<u32>() > 1_000 {
        return Err("the lanes have more than everybody: together at most 100 %".to_owned());
    }
    Ok(shares)
}

/// A room with a schedule from the beginning of the sale that is on, or of the next; another at any time.
pub(super) fn start(settings: &Settings, now: Wall) -> Result<Wall, String> {
    let Some(schedule) = &settings.schedule else {
        return Ok(Wall(ANY_TIME_MS));
    };
    let begun = schedule.windows.iter().rfind(|window| window.begins < now);
    let is_on = begun.filter(|window| window.closes.is_none_or(|closes| closes > now));
    let next = schedule.windows.iter().find(|window| window.begins >= now);
    let first = is_on.or(next).map(|window| window.begins);
    first.ok_or_else(|| "the room's schedule has no beginning ahead: give it a date in the future".to_owned())
}

/// `return_wait` as a configuration has it by default.
pub(super) const RETURN_WAIT_MS: u64 = 10_000;

/// The beginning of 2026: the figures do not depend on it.
const ANY_TIME_MS: u64 = 1_767_225_600_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Schedule, Window};

    #[test]
    fn a_sale_that_is_on_is_run_from_its_beginning_and_else_the_next() {
        let window = |begins, closes: Option<u64>| Window {
            begins: Wall(begins),
            opens: Wall(begins + 10),
            closes: closes.map(Wall),
            results: None,
        };
        let of = |windows| Settings {
            schedule: Some(Schedule {
                rule: "a rule".to_owned(),
                windows,
            }),
            ..Settings::default()
        };
        let twice = of(vec![window(1_000, Some(2_000)), window(3_000, None)]);
        for (now, from) in [
            (500, 1_000),
            (1_000, 1_000),
            (1_500, 1_000),
            (2_000, 3_000),
            (9_000, 3_000),
        ] {
            assert_eq!(start(&twice, Wall(now)), Ok(Wall(from)), "at {now}");
        }
        let over = of(vec![window(1_000, Some(2_000))]);
        assert!(start(&over, Wall(2_000)).unwrap_err().contains("a date in the future"));
        assert_eq!(start(&Settings::default(), Wall(5)), Ok(Wall(ANY_TIME_MS)));
    }
}
