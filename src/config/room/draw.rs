//! The order in which visitors of the prequeue are called: by arrival, or by a draw.

use crate::config::document::value::{text, wrong};
use crate::config::document::{Node, Read, Section};
use crate::config::keys::Form;
use crate::draw::{ARRIVAL, AdmissionOrder, MAX_BEACON_NAME};
use crate::room::{Drawing, Schedule};

/// How the room draws, if it does.
pub(in crate::config) fn drawing(section: &Section<'_>, schedule: Option<&Schedule>) -> Option<Drawing> {
    let orders = AdmissionOrder::all().map(|order| (order.name(), Some(order)));
    let methods: Vec<(&str, Option<AdmissionOrder>)> = std::iter::once((ARRIVAL, None)).chain(orders).collect();
    let order = section.word("queueing_method", &methods);
    let beacon = section.get_as("draw_beacon", beacon);
    let Some(order) = order else {
        if beacon.is_some() {
            let wrong = "nothing is drawn, so this says nothing";
            section.warning(
                "draw_beacon",
                wrong,
                "queueing_method = \"random\" with it, or left out",
            );
        }
        return None;
    };
    if section.has_mistake("draw_beacon") {
        return None;
    }
    let forms = schedule.is_some_and(|schedule| schedule.windows.iter().any(|window| window.begins < window.opens));
    let over = ["prequeue_from", "opens_at", "closes_at", "results_at"].map(|key| section.has_mistake(key));
    if !forms && !over.contains(&true) {
        let wrong = "a draw is among visitors who joined before an opening, and here nobody can join before";
        section.mistake(
            "queueing_method",
            wrong.to_owned(),
            "\"fifo\", or prequeue_from and opens_at with it",
        );
        return None;
    }
    if beacon.is_none() {
        let wrong = "without a beacon a draw proves that nothing was changed later, not that it was impartial";
        section.warning(
            "draw_beacon",
            wrong,
            "the name of a public value that is known only after the opening",
        );
    }
    Some(Drawing { order, beacon })
}

fn beacon(node: &Node<'_>, form: &Form) -> Read<String> {
    let name = text(node, form)?;
    if !(1..=MAX_BEACON_NAME).contains(&name.len()) || name.chars().any(char::is_control) {
        let what = format!("a beacon's name has 1 to {MAX_BEACON_NAME} bytes, and no control characters");
        return wrong(node, what, form);
    }
    Ok(name.to_owned())
}
