//! Rules of one line: calls, places, and published figures.

mod accounts;
mod lanes;
mod pending;
mod rules;
mod stories;
mod views;
