//! A value that cannot be part of a brand.

/// Why a value cannot be part of a brand, and a value that can.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfit {
    pub wrong: String,
    pub right: String,
}

impl Unfit {
    pub(super) fn new(wrong: impl Into<String>, right: impl Into<String>) -> Self {
        Self {
            wrong: wrong.into(),
            right: right.into(),
        }
    }
}
