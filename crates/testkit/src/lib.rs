//! Shared parts of the tests: gates, upstreams, stores, browsers and crowds, as real processes on real sockets.
//!
//! A gate is the built program, found by [`program`]:
//!
//! ```no_run
//! let said = std::process::Command::new(ropeline_testkit::program()).arg("--version").output();
//! assert!(said.expect("the gate starts").status.success());
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test's helpers may panic as its functions do"
)]
#![allow(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "a test sees what it leaves unused"
)]
#![allow(
    clippy::new_without_default,
    clippy::should_implement_trait,
    reason = "no code takes them by these traits"
)]

use std::ffi::OsString;
use std::path::PathBuf;

pub mod crowd;
pub mod harness;
pub mod page;

/// The gate's program: where Cargo says that it is, or beside the folder of the test program that asks, where Cargo puts both.
#[allow(clippy::disallowed_methods, reason = "Cargo's own variable, for tests")]
pub fn program() -> PathBuf {
    let beside = || {
        let test = std::env::current_exe().ok()?;
        Some(test.ancestors().nth(2)?.join("ropeline").into_os_string())
    };
    let found: Option<OsString> = std::env::var_os("CARGO_BIN_EXE_ropeline").or_else(beside);
    let program = PathBuf::from(found.expect("a test program knows where it lies"));
    assert!(program.is_file(), "no gate at {}: cargo build", program.display());
    program
}
