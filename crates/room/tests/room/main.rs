//! The room as a whole: laws over random histories, stories of single rules, and its bytes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod accounts;
mod additions;
mod adopting;
mod adoption;
mod agreement;
mod brought_codes;
mod bypass;
mod bytes;
mod chain;
mod code_worlds;
mod codes;
mod draw;
mod draw_later;
mod draw_promise;
mod editions;
mod eras;
mod fork;
mod gates;
mod hands;
mod history;
mod house;
mod known;
mod lanes;
mod laws;
mod life;
mod load;
mod load_faults;
mod load_hangs;
mod lost_codes;
mod lost_draw;
mod model;
mod pending;
mod rehearsal;
mod rehearsal_lost;
mod rehearsal_sale;
mod run;
mod schedule;
mod shared;
mod silent_opening;
mod stock;
mod stock_lost;
mod stories;
mod support;
mod views;
