//! A draw in words: its promise, and its result for one visitor.

use super::catalogue::{Catalogue, fill};
use super::kind::DrawFacts;

/// Where the draw stands, for this visitor.
pub(super) fn text(draw: &DrawFacts<'_>, catalogue: &Catalogue) -> String {
    let (words, figures) = (&catalogue.words, draw.figures);
    let number = |value: u32| catalogue.number(value.into());
    let count = number(figures.count.unwrap_or(0));
    let text = match (figures.count, draw.entry) {
        (None, _) => fill(&words.draw_promised, &[("hash", &figures.commitment.to_string())]),
        (Some(_), None) => fill(&words.draw_behind, &[("count", &count)]),
        (Some(_), Some((n, None))) => fill(&words.draw_closed, &[("n", &number(n)), ("count", &count)]),
        (Some(_), Some((n, Some(place)))) => {
            let values = [("n", &*number(n)), ("count", &*count), ("place", &*number(place))];
            fill(&words.draw_made, &values)
        }
    };
    let more = match (&figures.beacon, figures.secret) {
        (None, _) => words.draw_alone.clone(),
        (Some(beacon), None) => fill(&words.draw_beacon, &[("beacon", beacon)]),
        (Some(_), Some(_)) => String::new(),
    };
    format!("{text} {more}").trim_end().to_owned()
}
