//! Ten million waiting visitors, in two ways: a line in which all are present, and one with gaps all over it.

use ropeline::room::Settings;

use super::gate::{Gate, LANE, named, only};

/// How the line looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Everybody came, stayed, and has checked in: all bits are alike.
    Compact,
    /// One of ten has left, anywhere; of the others half have checked in during this generation, and all in the one before.
    Spread,
}

/// A room with so many numbers issued.
pub fn fill(visitors: u32, shape: Shape) -> Gate {
    let mut gate = Gate::new(Settings::default());
    gate.hold(0);
    for start in (0..visitors).step_by(100_000) {
        let joins = vec![(LANE, 100_000.min(visitors - start))];
        gate.say(100, vec![sized(&joins)]);
    }
    for _ in 0..2 {
        mark(&mut gate, visitors, |_| true);
        gate.wait(125);
    }
    if shape == Shape::Compact {
        mark(&mut gate, visitors, |_| true);
    } else {
        for start in (0..visitors).step_by(PIECE) {
            let leaves = named(piece(start, visitors).filter(|n| has_left(*n)));
            gate.say(1, vec![leaving(leaves)]);
        }
        mark(&mut gate, visitors, |n| !has_left(n) && chance(n, 2) < HALF);
    }
    gate
}

/// Checks in all that `says` names.
fn mark(gate: &mut Gate, visitors: u32, says: impl Fn(u32) -> bool) {
    for start in (0..visitors).step_by(PIECE) {
        let marks = named(piece(start, visitors).filter(|n| says(*n)));
        gate.say(1, vec![ropeline::room::Section { marks, ..only() }]);
    }
}

/// How many wait in the end.
pub fn waiting(visitors: u32, shape: Shape) -> u64 {
    match shape {
        Shape::Compact => visitors.into(),
        Shape::Spread => ahead(visitors),
    }
}

/// How many wait before a number, in a spread line.
pub fn ahead(n: u32) -> u64 {
    (0..n).map(|before| u64::from(!has_left(before))).sum()
}

/// Whether a number has left, in a spread line.
pub fn has_left(n: u32) -> bool {
    chance(n, 1) < TENTH
}

/// A number's own chance, of 65,536, and another for each purpose.
fn chance(n: u32, purpose: u32) -> u32 {
    let mixed = (n ^ purpose.wrapping_mul(0x5bd1_e995)).wrapping_mul(0x9e37_79b1);
    (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b) >> 16
}

fn piece(start: u32, visitors: u32) -> std::ops::Range<u32> {
    start..visitors.min(start.saturating_add(400_000))
}

fn sized(joins: &[(ropeline::room::LaneId, u32)]) -> ropeline::room::Section {
    ropeline::room::Section {
        joins: joins.to_vec(),
        ..only()
    }
}

fn leaving(leaves: Vec<(ropeline::room::LaneId, ropeline::room::Number)>) -> ropeline::room::Section {
    ropeline::room::Section { leaves, ..only() }
}

/// Numbers in one entry: more than a log takes, since nothing of a log is measured here.
const PIECE: usize = 400_000;

const TENTH: u32 = 6_554;
const HALF: u32 = 32_768;
