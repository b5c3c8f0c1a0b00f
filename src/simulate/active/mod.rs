//! Visits with pauses, and rooms in which only active sessions hold slots: pauses, requests that ask for a slot, how the slots
//! are used, and what that says to the operator.

pub mod advice;
pub mod pauses;
pub(super) mod returns;
pub(super) mod usage;
pub mod ways;
