//! How a room follows what its shop can take.

use super::reader::{Node, Read, Section};
use super::value::{both, duration_ms, fields, number, one_of};
use crate::room::{Admission, Bounds, Controller, Linear, MAX_REQUESTS, TTL_MS};

/// What the file may name.
#[derive(Clone, Copy)]
enum By {
    Linear,
    Adaptive,
}

pub(super) fn admission(section: &Section<'_>) -> Option<Admission> {
    let by = section.get("by", |node| {
        one_of(node, &[("linear", By::Linear), ("adaptive", By::Adaptive)])
    });
    let ttl_ms = section.need("ttl", |node| duration_ms(node, TTL_MS));
    let linear = linear(section);
    let p95_ms = section.need("p95", |node| duration_ms(node, 10..=60_000));
    let errors = section.need("errors", |node| number(node, 1..=1_000));
    let bounds = Bounds {
        p95_ms: u32::try_from(p95_ms).unwrap_or(u32::MAX),
        errors_permille: u16::try_from(errors).unwrap_or(1_000),
    };
    let by = match by? {
        By::Linear => Controller::Linear(linear),
        By::Adaptive => Controller::Adaptive(bounds),
    };
    Some(Admission { by, ttl_ms })
}

fn linear(section: &Section<'_>) -> Linear {
    let (most, least) = section.need("calls", |node| {
        pair(node, ["most", "least"], 1_000_000, "{ most = 50, least = 1 }")
    });
    let (from, until) = section.need("requests", |node| {
        pair(node, ["few", "many"], MAX_REQUESTS, "{ few = 0, many = 100 }")
    });
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

fn pair(node: &Node<'_>, names: [&str; 2], most: u32, right: &str) -> Read<(u32, u32)> {
    let [first, second] = fields(node, names, right)?;
    both(number(first, 0..=most), number(second, 0..=most))
}
