//! Load control: how a room follows the load of the upstream.

use crate::config::document::Section;
use crate::config::document::value::{one_of, pair};
use crate::room::{Bounds, Controller, Linear, LoadControl};

/// The sources that the file may name.
#[derive(Clone, Copy)]
enum By {
    Linear,
    Adaptive,
}

pub(in crate::config) fn load_control(section: &Section<'_>) -> Option<LoadControl> {
    let words = [("linear", By::Linear), ("adaptive", By::Adaptive)];
    let by = section.get_as("by", |node, form| one_of(node, form, &words));
    let ttl_ms = section.need("ttl");
    let linear = linear(section);
    let bounds = Bounds {
        p95_ms: u32::try_from(section.need::<u64>("p95")).unwrap_or(u32::MAX),
        errors_permille: section.need("errors"),
    };
    let by = match by? {
        By::Linear => Controller::Linear(linear),
        By::Adaptive => Controller::Adaptive(bounds),
    };
    Some(LoadControl { by, ttl_ms })
}

fn linear(section: &Section<'_>) -> Linear {
    let (most, least) = section.need_as("calls", pair);
    let (from, until) = section.need_as("requests", pair);
    if most <= least {
        let wrong = "as many would be called whatever the shop has to do";
        section.mistake("calls", wrong, "least below most");
    }
    if from >= until {
        section.mistake("requests", "the calls could not fall evenly", "few below many");
    }
    Linear {
        most,
        least,
        from,
        until,
    }
}
