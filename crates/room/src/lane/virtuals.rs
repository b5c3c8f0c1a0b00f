//! The virtual visitors of one lane, while their rehearsal is under way.

use crate::codec::codec;
use crate::lane::bits::Bits;

#[derive(Clone, Debug, Default)]
pub(crate) struct Virtuals {
    pub places: Bits,
    /// Turns that they missed.
    pub no_shows: u64,
}

codec! {
    struct Virtuals { places, no_shows };
}

impl Virtuals {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}
