//! What a visitor sees, in real Chromium.

mod accounts;
mod browsers;
mod codes;
mod demo;
mod draw;
mod hall;
mod inside;
mod later;
mod line;
mod looks;
mod lot;
mod missed;
mod opening;
mod operator;
mod outage;
mod proof;
mod reading;
mod secure;
mod slowed;
mod stock;
mod worker;

use ropeline_testkit::harness;
