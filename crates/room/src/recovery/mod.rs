//! Going on after a log was lost.

pub(crate) mod adopting;
pub(crate) mod codes_cutoff;
pub(crate) mod healing;
pub(crate) mod merge;
pub(crate) mod packer;
