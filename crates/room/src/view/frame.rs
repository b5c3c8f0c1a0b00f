//! Where a lane's visitors stand, as one text for all of them.

use crate::lane::Lane;
use crate::lane::bits::PAGE;
use ropeline_ids::{LaneId, Place};

/// Bytes of a frame's exact part, and runs counted after it: 33 million places. Who stands further back asks for a status.
const FRAME_WORDS: u64 = 64;
const FRAME_RUNS: usize = 8_192;

/// One frame for everybody on a line's event stream: every visitor finds their own place in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub lane: LaneId,
    /// The place of bit 0 of `bits`: the lane's lowest present place, rounded down to a multiple of 64.
    pub base: u64,
    /// Present places, exact, for up to 4,096 places from `base`; bit i of byte i / 8 is place `base` + i; trailing zero bytes cut.
    pub bits: Vec<u8>,
    /// Present places in each run of 4,096 after those.
    pub counts: Vec<u16>,
}

impl Frame {
    /// Of a lane that the line does not have.
    pub(crate) fn empty(lane: LaneId) -> Self {
        Self {
            lane,
            base: 0,
            bits: Vec::new(),
            counts: Vec::new(),
        }
    }

    pub(crate) fn new(lane: LaneId, of: &Lane) -> Self {
        let next = of.epochs.next();
        let base = of.presence.lowest().unwrap_or(next).0 / 64 * 64;
        Self {
            lane,
            base,
            bits: exact(of, base),
            counts: runs(of, Place(base + PAGE), next),
        }
    }
}

/// The bits of [base, base + 4,096), lowest first, without trailing zero bytes.
fn exact(lane: &Lane, base: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in 0..FRAME_WORDS {
        bytes.extend_from_slice(&lane.presence.present().word(Place(base + word * 64)).to_le_bytes());
    }
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(used);
    bytes
}

/// How many are present in each run of 4,096 places from `from` on.
fn runs(lane: &Lane, from: Place, next: Place) -> Vec<u16> {
    let mut counts = Vec::new();
    let mut below = lane.presence.ahead(from);
    let mut at = from;
    // A lost epoch may lie 2^51 places ahead of the rest: the bound on runs is what ends the frame there.
    while at < next && counts.len() < FRAME_RUNS && below < lane.presence.waiting() {
        at = Place(at.0 + PAGE);
        let up_to = lane.presence.ahead(at);
        counts.push(u16::try_from(up_to - below).expect("a run has 4,096 places"));
        below = up_to;
    }
    let used = counts.iter().rposition(|count| *count != 0).map_or(0, |last| last + 1);
    counts.truncate(used);
    counts
}
