//! All cases, by subject.

#![allow(clippy::too_many_lines, reason = "tables")]

mod answers;
mod chunks;
mod codings;
mod fields;
mod hosts;
mod identity;
mod lengths;
mod lines;
mod oversized;
mod pairs;
mod paths;
mod spellings;
mod starts;
mod targets;
mod tunnels;
mod valid;

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
            title: "HTTP/1.1 messages",
            about: "Valid messages must pass intact; ambiguous and malformed ones must be refused, and the connection closed.",
            cases: messages(),
        },
        Section {
            title: "Paths, hosts and methods",
            about: "A route under `/seat` is protected (a room on hold; nginx: `location ^~ /seat { deny all; }`; HAProxy: \
                    `http-request deny if { path_beg /seat }`). The first of these cases must pass, no other may reach the shop. \
                    Where only some servers in common use would read the path so, a proxy that forwards it is lenient.",
            cases: [paths::all(), spellings::all()].into_iter().flatten().collect(),
        },
        Section {
            title: "Header hygiene",
            about: "Which fields reach the shop and the client.",
            cases: [fields::all(), identity::all(), answers::all()]
                .into_iter()
                .flatten()
                .collect(),
        },
        Section {
            title: "Tunnels",
            about: "Upgrades that are granted, refused and abused. The shop echoes in capitals and says DONE at the end.",
            cases: tunnels::all(),
        },
    ]
}

fn messages() -> Vec<Case> {
    let lists = [
        valid::all(),
        lengths::all(),
        codings::all(),
        chunks::all(),
        lines::all(),
        targets::all(),
        hosts::all(),
        starts::all(),
        pairs::all(),
        oversized::all(),
    ];
    lists.into_iter().flatten().collect()
}
