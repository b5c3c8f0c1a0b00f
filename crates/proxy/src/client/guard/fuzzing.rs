//! The machine's law for the fuzzer: how bytes are cut up changes nothing.

use super::machine::{Machine, Refused};

/// Whether the verdict on `bytes` hangs on how they come: at once, each alone, or in pieces by chance of `seed`.
pub fn split_matters(bytes: &[u8], seed: u16) -> bool {
    let whole = fed(std::iter::once(bytes));
    fed(bytes.chunks(1)) != whole || fed(pieces(bytes, seed)) != whole
}

/// The bytes of a connection that passed, why the rest did not, and whether it waits for another protocol.
type Outcome = (Vec<u8>, Option<Refused>, bool);

fn fed<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Outcome {
    // Small, so that a short input can be too long.
    let mut machine = Machine::new(192);
    let (mut passed, mut waiting) = (Vec::new(), Vec::new());
    for piece in pieces {
        waiting.extend_from_slice(piece);
        let taken = machine.take(&waiting);
        passed.extend(waiting.drain(..taken.pass));
        if taken.refused.is_some() {
            return (passed, taken.refused, false);
        }
    }
    (passed, None, machine.waits_for_upgrade())
}

/// Pieces of 1 to 32 bytes.
fn pieces(mut bytes: &[u8], seed: u16) -> impl Iterator<Item = &[u8]> {
    let mut state = u32::from(seed) | 1;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = usize::from(state.to_be_bytes()[0] & 31) + 1;
        let (piece, rest) = bytes.split_at(length.min(bytes.len()));
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Whether these pieces, as read from a socket, all pass, when read `times` times.
#[must_use]
pub fn guard_passes(pieces: &[&[u8]], times: usize) -> bool {
    let mut machine = Machine::new(32 * 1024);
    let mut waiting = Vec::new();
    for piece in (0..times).flat_map(|_| pieces) {
        if waiting.is_empty() {
            let pass = std::hint::black_box(machine.take(piece)).pass;
            waiting.extend_from_slice(&piece[pass..]);
            continue;
        }
        waiting.extend_from_slice(piece);
        let pass = machine.take(&waiting).pass;
        waiting.drain(..pass);
    }
    waiting.is_empty() && machine.heads() == times as u64
}
