//! The virtual visitors of one lane, while their rehearsal is under way.

use crate::codec::{Read, Reader, Writer};
use crate::lane::bits::Bits;

#[derive(Clone, Debug, Default)]
pub(crate) struct Virtuals {
    pub places: Bits,
    /// Turns that they missed.
    pub no_shows: u64,
}

impl Virtuals {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn write(&self, w: &mut Writer) {
        self.places.write(w);
        w.var(self.no_shows);
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            places: Bits::read(r)?,
            no_shows: r.var()?,
        })
    }
}
