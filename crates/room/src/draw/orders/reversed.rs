//! The order for tests: the last to arrive is called first.

use crate::draw::orders::Arrangement;

#[derive(Debug)]
pub struct Reversed {
    pub count: u32,
}

impl Arrangement for Reversed {
    fn count(&self) -> u32 {
        self.count
    }

    fn place(&self, number: u32) -> Option<u32> {
        self.count.checked_sub(number)?.checked_sub(1)
    }

    fn number(&self, place: u32) -> Option<u32> {
        self.place(place)
    }
}
