//! The log that a stopped gate left in its folder, as the ledger judges it.

use std::path::Path;

use ropeline::room::State;
use ropeline::store::Kept;

use crate::crowd::ledger::Ledger;

/// Reads and judges the log of a stopped gate.
pub fn read(folder: &Path, capacity: u64) -> Ledger {
    let kept = Kept::open(folder).unwrap();
    let mut ledger = Ledger::alone(capacity);
    let mut state: Option<State> = None;
    for file in kept.files() {
        let part = kept.part(file).unwrap();
        let base = part.base.position;
        let goes_on = state.as_ref().is_some_and(|state| state.position() == base);
        if !goes_on {
            let mut fresh = State::decode(&part.base.state).unwrap();
            ledger.new_life(&mut fresh);
            state = Some(fresh);
        }
        let state = state.as_mut().unwrap();
        let mut sequence = base.sequence;
        loop {
            let entries = part.read(sequence).unwrap();
            let Some(last) = entries.last() else { break };
            sequence = last.position.sequence;
            for entry in &entries {
                ledger.entry(state, entry);
            }
        }
    }
    ledger
}
