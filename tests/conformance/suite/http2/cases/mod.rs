//! All cases over HTTP/2, by subject.

#![allow(clippy::too_many_lines, reason = "tables")]

mod bodies;
mod frames;
mod messages;
mod packing;
mod settings;
mod smuggling;
mod sound;
mod states;

use super::case::Case;

/// Cases of one subject.
pub struct Section {
    pub title: &'static str,
    pub about: &'static str,
    pub cases: Vec<Case>,
}

pub fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "HTTP/2 frames and field blocks",
            about: "Sound frames, frames that break a rule, streams in the wrong state, settings, windows, and field blocks.",
            cases: [
                sound::all(),
                bodies::all(),
                frames::all(),
                states::all(),
                settings::all(),
                packing::all(),
            ]
            .into_iter()
            .flatten()
            .collect(),
        },
        Section {
            title: "HTTP/2 messages",
            about: "What becomes of a request on its way to HTTP/1.1: malformed ones must be refused, whatever hides in them.",
            cases: [messages::all(), smuggling::all()].into_iter().flatten().collect(),
        },
    ]
}
