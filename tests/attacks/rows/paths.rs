//! A path that some shop reads as a protected one: by a visitor who has no place, in a room that is full.

use crate::case::{Case, Fate, Row, attack, ordinary};

pub const ROW: Row = Row {
    room: "routes = [\"/seat\", \"/claim\"]",
    tables: "",
    cases: &CASES,
};

const fn read_as_seat(name: &'static str, target: &'static str) -> Case {
    attack(name, "GET", target).fate(Fate::Refused(400))
}

const CASES: [Case; 6] = [
    read_as_seat("a byte behind it that is no UTF-8", "/seat%ff"),
    read_as_seat("a byte before it that is no UTF-8", "/%80seat"),
    read_as_seat("a byte within it that is no UTF-8", "/se%c0at"),
    read_as_seat("half a surrogate pair", "/seat%ed%a0%80"),
    read_as_seat("half a letter, and a slash more", "//seat%e2%82"),
    ordinary("letters beyond ASCII", "GET", "/s%C3%A9ance"),
];
