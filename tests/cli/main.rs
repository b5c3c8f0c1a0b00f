//! The program as an operator runs it: the real binary, its arguments, output and exit codes, and the visitors' view while it
//! starts, stops, and runs out of disk.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod codes;
mod commands;
mod doctor;
mod gate;
mod program;
mod rehearse;
mod reload;
mod rooms;
mod run;
mod several;
mod shop;
mod store;
mod upgrade;
mod visitor;

use ropeline_testkit::harness;
use std::time::Duration;

/// How long any step may take before a test gives up. Far above its normal duration, since the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(90);

/// Asks until there is an answer; panics with `what` when none came.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = ropeline::time::uptime() + PATIENCE;
    while ropeline::time::uptime() < end {
        if let Some(answer) = ask() {
            return answer;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    panic!("never came: {what}");
}
