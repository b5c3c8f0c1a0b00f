//! The HTTP layer: listener, access, routes, request bodies, queries and refusals.

pub mod access;
pub mod body;
pub mod caller;
pub mod openapi;
pub mod problem;
pub mod query;
pub mod router;
pub mod routes;
pub mod serve;
pub mod static_files;
