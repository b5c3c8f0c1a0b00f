//! Checks of calls in a room with load control: only on valid figures, and few at once.

use ropeline::room::{Position, Settings};

use super::Ledger;
use super::book::Book;

/// How long what a gate has seen holds.
pub const TTL_MS: u64 = 10_000;

/// More are never called with one entry: nothing that gates say lets them grow above that within a run.
const MOST_AT_ONCE: u64 = 60;

impl Ledger {
    /// Visitors are only called on valid figures; operators' calls are left out of `made`.
    pub fn judge_load(&mut self, book: &Book, made: u64, at: Position, settings: &Settings) {
        if settings.load_control.is_none() || made == 0 {
            return;
        }
        if book.clock >= book.figures_until {
            let until = book.figures_until;
            self.fault(&format!(
                "{at:?}: {made} called at {} on figures that held until {until}",
                book.clock
            ));
        }
        if made > MOST_AT_ONCE {
            self.fault(&format!("{at:?}: {made} called at once"));
        }
    }
}
