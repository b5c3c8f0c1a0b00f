//! How many somebody holds.

/// How many a line or a room holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Crowd {
    pub waiting: u64,
    pub slots: u64,
    /// Lines without anybody that are kept for what they have sold.
    pub sold: u64,
}

impl Crowd {
    pub fn plus(self, other: Self) -> Self {
        Self {
            waiting: self.waiting + other.waiting,
            slots: self.slots + other.slots,
            sold: self.sold + other.sold,
        }
    }

    pub fn less(self, other: Self) -> Self {
        Self {
            waiting: self.waiting - other.waiting,
            slots: self.slots - other.slots,
            sold: self.sold - other.sold,
        }
    }
}
