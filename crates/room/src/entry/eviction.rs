//! An operator takes one visitor out of a line.

use crate::codec::{Read, Reader, Writer};
use ropeline_ids::{LaneId, LineName, Number};

/// "This visitor is out": at once, whether they wait, are called or are inside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Eviction {
    pub line: LineName,
    pub lane: LaneId,
    pub number: Number,
}

impl Eviction {
    pub(crate) fn write(&self, w: &mut Writer) {
        w.text(self.line.as_str());
        w.u8(self.lane.0);
        w.number(self.number);
    }

    pub(crate) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            line: r.line_name()?,
            lane: r.lane()?,
            number: r.number()?,
        })
    }
}
