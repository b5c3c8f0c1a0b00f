//! One line: the gates' reports of its visitors, and the resulting order, waits and slots.

pub mod books;
pub mod ledger;
pub mod numbers;
pub mod order;
pub mod pieces;
pub mod usage;
pub mod visits;
