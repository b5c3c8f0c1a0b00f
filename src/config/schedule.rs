//! When a room is open, as the operator says it: dates to a rule and to its next windows.

use super::reader::{Node, Read, Section};
use super::value::{text, wrong};
use crate::calendar::{KEYS, Moment, Plan, Unread, closest_zone};
use crate::room::{MAX_RULE, Schedule};
use crate::time;

/// Windows that a configuration brings; the gates add to them in time.
const WINDOWS: usize = 4;

/// The schedule that a room's four dates make; `None` without any, or with a mistake in them.
pub(super) fn schedule(section: &Section<'_>) -> Option<Schedule> {
    let dates = KEYS.map(|key| section.get(key, moment));
    if KEYS.iter().any(|key| section.has_mistake(key)) {
        return None;
    }
    let plan = Plan::new(dates)?;
    let now = time::wall();
    if let Err(odd) = plan.check(now) {
        section.mistake(odd.key, odd.wrong, odd.right);
        return None;
    }
    let rule = plan.to_string();
    if rule.len() > MAX_RULE {
        section.mistake(
            "opens_at",
            format!("the dates have {} bytes", rule.len()),
            "shorter ones",
        );
        return None;
    }
    let windows = plan.windows(now, WINDOWS);
    // No mistake: a gate that starts again after its sale must start.
    if windows
        .iter()
        .all(|window| window.closes.is_some_and(|closes| closes <= now))
    {
        let wrong = "the sale is over, so the room is closed";
        section.warning("closes_at", wrong, "a later date, or none of the four");
    }
    Some(Schedule { rule, windows })
}

fn moment(node: &Node<'_>) -> Read<Moment> {
    let text = text(node, RIGHT)?;
    match Moment::parse(text) {
        Ok(moment) => Ok(moment),
        Err(Unread::Form) => wrong(node, format!("\"{text}\" is no date"), RIGHT),
        Err(Unread::Range) => wrong(node, format!("\"{text}\" is too far off"), RIGHT),
        Err(Unread::Skipped { zone }) => {
            let what = format!("there is no such time in {zone}: the clocks jump over it that night");
            wrong(node, what, "an earlier or a later time")
        }
        Err(Unread::Zone(zone)) => {
            let close = closest_zone(&zone);
            let right = close.map_or_else(
                || "a zone of the tz database, such as \"Asia/Seoul\" or \"UTC\"".to_owned(),
                |close| format!("did you mean \"{close}\"?"),
            );
            wrong(node, format!("there is no time zone \"{zone}\""), right)
        }
    }
}

const RIGHT: &str = "\"2026-12-01T13:00:00+09:00\", \"2026-12-01 13:00 Asia/Seoul\", \"daily 13:00 Asia/Seoul\" or \"weekly mon,thu \
                     13:00 Asia/Seoul\"";
