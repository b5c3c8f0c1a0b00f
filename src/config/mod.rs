//! The configuration: everything an operator sets, read once, checked whole, and turned into types that cannot be wrong.

pub mod routes;
