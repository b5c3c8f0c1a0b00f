//! How many visitors wait and how many slots are held, of a line or of all lines of a room.

/// How many a line or a room holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    pub waiting: u64,
    pub slots: u64,
    /// Called, inside and parked.
    pub rights: u64,
    /// Lines without visitors that are kept for the count of their sales.
    pub sold: u64,
}

impl Counts {
    pub fn plus(self, other: Self) -> Self {
        Self {
            waiting: self.waiting + other.waiting,
            slots: self.slots + other.slots,
            rights: self.rights + other.rights,
            sold: self.sold + other.sold,
        }
    }

    pub fn less(self, other: Self) -> Self {
        Self {
            waiting: self.waiting - other.waiting,
            slots: self.slots - other.slots,
            rights: self.rights - other.rights,
            sold: self.sold - other.sold,
        }
    }
}
