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

use super::check::Check;

/// Every check. A new one is a file here and a line below.
pub const CHECKS: [Check; 10] = [
    Check::new("gate", gate::check),
    Check::new("shop", shop::check),
    Check::new("back-door", back_door::check),
    Check::new("forwarded-for", forwarded_for::check),
    Check::new("store", store::check),
    Check::new("keys", keys::check),
    Check::new("clocks", clocks::check),
    Check::new("certificates", certificates::check),
    Check::of_process("open-files", open_files::check),
    Check::of_process("memory", memory::check),
];
