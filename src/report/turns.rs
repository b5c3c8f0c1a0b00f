//! Turns that were missed.

use super::ledger::{Happened, Ledger, stands};
use super::visits::{Missed, Who};
use crate::room::{Clock, LineView, Standing};

impl Ledger {
    /// Whoever checks in after the deadline has missed the turn, and may be called again at once.
    pub(super) fn miss_late(&mut self, who: Who, happened: &Happened<'_>) {
        let Some(count) = self.visits.late_call(who, happened.now.clock) else {
            return;
        };
        let missed = match stands(happened, who.0, who.1) {
            Standing::Called(called) => called.call.count > count,
            Standing::Waiting(_) => true,
            _ => false,
        };
        if missed {
            self.visits.leave(who, happened.now);
            self.missed(Missed { who, spent: false }, happened.view);
        }
    }

    fn missed(&mut self, missed: Missed, view: &LineView) {
        let Missed {
            who: (lane, number),
            spent,
        } = missed;
        self.tally.no_shows += 1;
        self.tally.places_spent += u64::from(spent);
        if !spent {
            self.order(lane).untake(view.seat(lane, number));
        }
    }

    pub(super) fn expire(&mut self, clock: Clock, view: &LineView) {
        for missed in self.visits.expire(clock) {
            self.missed(missed, view);
        }
    }
}
