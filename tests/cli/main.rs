//! The program as an operator runs it: the real binary, its arguments, its words, its exit codes, and what its visitors
//! meet while it starts, stops, and runs out of disk.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod added;
mod added_twice;
mod audience;
mod audit;
mod bad_input;
mod check;
mod code_waits;
mod codes;
mod codes_shared;
mod commands;
mod crawlers;
mod demo;
mod drain;
mod draw;
mod failing;
mod folder;
mod foreign;
mod fresh;
mod gate;
mod gates;
#[path = "../harness/mod.rs"]
#[allow(dead_code, reason = "each test binary uses a part of it")]
mod harness;
mod healing;
mod idle;
mod lanes;
mod listeners;
mod logs;
mod outage;
mod probe;
mod program;
mod proofs;
mod rehearse;
mod rehearse_people;
mod rehearse_shared;
mod rehearse_ways;
mod reload;
mod replay;
mod rooms;
mod run;
mod schedule;
mod shop;
mod single_use;
mod sockets;
mod store;
mod systemd;
mod tls;
mod top;
mod upgrade;
mod visitor;

use std::time::Duration;

/// How long anything may take before a test gives up. Far above what it takes, since the machine may be busy.
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
