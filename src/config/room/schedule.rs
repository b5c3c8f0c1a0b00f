//! The schedule of a room: its four dates, made a rule with its next windows.

use crate::calendar::{KEYS, Moment, Plan};
use crate::config::document::value::{text, wrong};
use crate::config::document::{Node, Read, Section};
use crate::config::keys::Form;
use crate::room::{MAX_RULE, Schedule};
use crate::time;

/// The schedule that a room's four dates make; `None` without any, or with a mistake in them.
pub(in crate::config) fn schedule(section: &Section<'_>) -> Option<Schedule> {
    let dates = KEYS.map(|key| section.get_as(key, moment));
    if KEYS.iter().any(|key| section.has_mistake(key)) {
        return None;
    }
    let plan = Plan::new(dates)?;
    let now = time::wall();
    if let Err(odd) = plan.check(now) {
        section.mistake(odd.key, odd.wrong, odd.right);
        return None;
    }
    let schedule = plan.schedule(now);
    let bytes = schedule.rule.len();
    if bytes > MAX_RULE {
        section.mistake("opens_at", format!("the dates have {bytes} bytes"), "shorter ones");
        return None;
    }
    // No mistake: a gate that starts again after its sale must start.
    if schedule.is_over(now) {
        let wrong = "the sale is over, so the room is closed";
        section.warning("closes_at", wrong, "a later date, or none of the four");
    }
    Some(schedule)
}

fn moment(node: &Node<'_>, form: &Form) -> Read<Moment> {
    let text = text(node, form)?;
    Moment::parse(text).or_else(|unread| {
        let (what, right) = unread.in_words(text);
        wrong(node, what, right)
    })
}
