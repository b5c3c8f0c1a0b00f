//! An operator takes one visitor out of a line.

use crate::codec::codec;
use ropeline_ids::{LaneId, LineName, Number};

/// "This visitor is out": at once, whether they wait, are called or are inside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Eviction {
    pub line: LineName,
    pub lane: LaneId,
    pub number: Number,
}

codec! {
    struct Eviction { line, lane, number };
}
