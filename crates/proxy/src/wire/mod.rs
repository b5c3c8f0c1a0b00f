//! Parts that connections on both sides share: inspection of bytes, deadlines, and rates.

pub(crate) mod alarm;
pub(crate) mod bucket;
pub(crate) mod frame;
pub(crate) mod looked;
pub(crate) mod pace;
