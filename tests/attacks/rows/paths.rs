//! A path that some shop reads as a protected one: by a visitor without a place, in a room that is full.

use crate::case::{Case, Fate, Row, attack, ordinary};

pub const ROW: Row = Row {
    room: "routes = [\"/seat\", \"/check_out\", \"/claim\"]",
    tables: "",
    cases: &CASES,
};

const fn refused(name: &'static str, target: &'static str) -> Case {
    attack(name, "GET", target).fate(Fate::Refused(400))
}

const CASES: [Case; 14] = [
    refused("a byte behind it that is no UTF-8", "/seat%ff"),
    refused("a byte before it that is no UTF-8", "/%80seat"),
    refused("a byte within it that is no UTF-8", "/se%c0at"),
    refused("half a surrogate pair", "/seat%ed%a0%80"),
    refused("half a letter, and a slash more", "//seat%e2%82"),
    refused("a segment of dots alone", "/.../seat"),
    refused("one of more dots, and an empty one", "/....//seat"),
    refused("one of escaped dots", "/%2e%2e%2e/seat"),
    ordinary("a name that begins with dots", "GET", "/...seat"),
    attack("a dash for an underscore", "GET", "/check-out"),
    attack("a dot for an underscore", "GET", "/check.out"),
    refused("an escaped sign for an underscore", "/check%2Dout"),
    ordinary("no sign at all", "GET", "/checkout"),
    ordinary("letters beyond ASCII", "GET", "/s%C3%A9ance"),
];
