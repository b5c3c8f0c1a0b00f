//! Rules of one line: who is called, who has which place, and what is shown.

mod accounts;
mod lanes;
mod pending;
mod rules;
mod stories;
mod views;
