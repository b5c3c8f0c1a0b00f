//! The checks, each in a file of its own.

pub mod back_door;
mod certificates;
mod clocks;
mod forwarded_for;
mod gate;
mod keys;
mod memory;
pub mod open_files;
mod shop;
mod store;

use std::pin::Pin;

use super::finding::Finding;
use super::look::Look;

/// A check under way.
pub type Checking<'a> = Pin<Box<dyn Future<Output = Vec<Finding>> + 'a>>;

/// A check.
pub struct Check {
    /// As findings name it.
    pub name: &'static str,
    pub run: for<'a> fn(&'a Look<'a>) -> Checking<'a>,
    /// It looks at the process that runs it, so of a running gate only its own findings count.
    pub of_process: bool,
}

/// Every check. A new one is a file here and a line below.
pub const CHECKS: [Check; 10] = [
    of_all("gate", gate::check),
    of_all("shop", shop::check),
    of_all("back-door", back_door::check),
    of_all("forwarded-for", forwarded_for::check),
    of_all("store", store::check),
    of_all("keys", keys::check),
    of_all("clocks", clocks::check),
    of_all("certificates", certificates::check),
    of_process("open-files", open_files::check),
    of_process("memory", memory::check),
];

const fn of_all(name: &'static str, run: for<'a> fn(&'a Look<'a>) -> Checking<'a>) -> Check {
    Check {
        name,
        run,
        of_process: false,
    }
}

const fn of_process(name: &'static str, run: for<'a> fn(&'a Look<'a>) -> Checking<'a>) -> Check {
    Check {
        of_process: true,
        ..of_all(name, run)
    }
}
