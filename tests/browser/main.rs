//! The visitor's view, in real Chromium.

mod accounts;
mod active;
mod browsers;
mod codes;
mod demo;
mod firefox;
mod hall;
mod inside;
mod languages;
mod later;
mod line;
mod looks;
mod missed;
mod operator;
mod outage;
mod page;
mod proof;
mod reading;
mod sales;
mod secure;
mod slowed;
mod worker;

use ropeline_testkit::harness;
