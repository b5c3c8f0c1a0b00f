//! What a replica of a lost history has to bring back: batches for the log that the rooms go on in.

use super::entry::{Adopt, Batch};
use super::ids::Era;
use super::state::State;

impl State {
    /// What the rooms of `now` lack of this state's eras, for a gate whose history went further than theirs; empty when
    /// there is nothing. The last batch is marked as done.
    #[must_use]
    pub fn adoption(&self, now: &Self) -> Vec<Batch> {
        let mut batches: Vec<Batch> = self.further(now).map(adopt).collect();
        if let Some(adopt) = batches.last_mut().and_then(|batch| batch.adopt.as_mut()) {
            adopt.done = true;
        }
        batches
    }

    /// Eras of which this state has read more than `now`, with their ends and floors.
    fn further(&self, now: &Self) -> impl Iterator<Item = (Era, u64, u32)> {
        let issuing = Era(now.position.incarnation);
        self.moment
            .past
            .ends(self.position.sequence)
            .filter(move |(era, end, _)| *era < issuing && now.ended_at(*era).is_none_or(|known| known < *end))
    }
}

fn adopt((era, sequence, floor): (Era, u64, u32)) -> Batch {
    Batch {
        adopt: Some(Adopt {
            era,
            sequence,
            floor,
            done: false,
        }),
        ..Batch::default()
    }
}
