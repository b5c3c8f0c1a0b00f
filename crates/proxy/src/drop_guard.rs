//! A value that is held until something else ends.

/// Anything that acts by being dropped.
pub(crate) trait DropGuard: Send {}

impl<T: Send> DropGuard for T {}
