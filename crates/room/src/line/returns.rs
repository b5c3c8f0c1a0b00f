//! Those of a line with active slots who ask for a slot, and the slots that are kept for the next ones. `calling` parks sessions
//! and gives slots back.

use std::collections::VecDeque;

use crate::codec::codec;
use crate::line::reserve::Reserve;
use ropeline_ids::{Clock, LaneId, Number};

/// Those who ask for a slot, and what is kept for the next ones.
#[derive(Clone, Debug)]
pub(crate) struct Returns {
    /// In the order in which they asked. Some may be over, or back by now.
    pub queue: VecDeque<(LaneId, Number)>,
    pub reserve: Reserve,
}

codec! {
    struct Returns { queue, reserve };
}

impl Returns {
    pub fn new(now: Clock) -> Self {
        Self {
            queue: VecDeque::new(),
            reserve: Reserve::new(now),
        }
    }
}
