//! One line: what gates said of its visitors, and what follows for its order, waits and slots.

pub mod books;
pub mod ledger;
pub mod numbers;
pub mod order;
pub mod pieces;
pub mod usage;
pub mod visits;
