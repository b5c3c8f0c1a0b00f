//! What connections on both sides have in common: bytes that are looked at, deadlines, and how fast something may come.

pub(crate) mod alarm;
pub(crate) mod bucket;
pub(crate) mod frame;
pub(crate) mod looked;
pub(crate) mod pace;
