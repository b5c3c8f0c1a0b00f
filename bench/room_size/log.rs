//! The size of a minute of a log in which ten million check in: their marks, as gates cut them into batches.

use ropeline::room::{Batch, Section};

use super::gate::{named, only};
use super::scattered;

/// Times a second that a gate speaks when there are marks alone, and how many a batch takes (`replica/collector`).
const SPEAKS: u32 = 4;
const MOST_MARKS: usize = 13_000;

/// The store's bytes for an entry's other fields.
const ENVELOPE_BYTES: usize = 100;

/// Bytes of the busiest minute in which all check in once within `secs`, at `gates` gates.
pub fn minute(visitors: u32, gates: u32, secs: u32) -> usize {
    let slices = secs * SPEAKS * gates;
    // All slices are alike: one is cut, and counts for the others of the minute.
    let mut numbers: Vec<u32> = (0..visitors / slices).map(|i| scattered(i, visitors)).collect();
    numbers.sort_unstable();
    let bytes: usize = numbers.chunks(MOST_MARKS).map(entry_bytes).sum();
    let slices = slices * 60 / secs.max(60);
    bytes * usize::try_from(slices).expect("a count")
}

fn entry_bytes(numbers: &[u32]) -> usize {
    let section = Section {
        marks: named(numbers.iter().copied()),
        ..only()
    };
    let batch = Batch {
        sections: vec![section],
        ..Batch::default()
    };
    batch.encode().len() + ENVELOPE_BYTES
}
