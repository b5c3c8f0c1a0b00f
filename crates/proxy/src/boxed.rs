//! Futures that are made in the box they live in.

use std::pin::Pin;

/// PERF: `Box::pin(make())` makes it on the stack and copies it, for a request some seven kilobytes. Where a function gives the future out
/// it is copied still: make it here, from an `async` block.
#[inline]
pub fn boxed<F>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::into_pin(Box::write(Box::new_uninit(), make()))
}
