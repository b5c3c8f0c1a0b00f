//! What a check is.

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

impl Check {
    /// One that looks at the same things, whichever process runs it.
    pub const fn new(name: &'static str, run: for<'a> fn(&'a Look<'a>) -> Checking<'a>) -> Self {
        Self {
            name,
            run,
            of_process: false,
        }
    }

    /// One that looks at its own process.
    pub const fn of_process(name: &'static str, run: for<'a> fn(&'a Look<'a>) -> Checking<'a>) -> Self {
        Self {
            of_process: true,
            ..Self::new(name, run)
        }
    }
}
