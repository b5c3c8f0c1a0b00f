//! What becomes of a code, and of a crawler's address.

/// A code was accepted, or why it was not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeFate {
    Accepted,
    /// Not genuine.
    Unknown,
    OtherRoom,
    NotYet,
    Expired,
    /// The lane that it leads to is not there, or takes no codes.
    NoLane,
}

impl CodeFate {
    pub const ALL: [Self; 6] = [
        Self::Accepted,
        Self::Unknown,
        Self::OtherRoom,
        Self::NotYet,
        Self::Expired,
        Self::NoLane,
    ];

    /// The word for it, in metrics, in logs and on answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "code_accepted",
            Self::Unknown => "code_unknown",
            Self::OtherRoom => "code_other_room",
            Self::NotYet => "code_not_yet",
            Self::Expired => "code_expired",
            Self::NoLane => "code_no_lane",
        }
    }
}

/// What a lookup of an address found that says to be a crawler's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LookupFate {
    Verified,
    Refuted,
    /// No answer, or none that says anything.
    Failed,
    /// It was not begun: too many wait.
    Dropped,
}

impl LookupFate {
    pub const ALL: [Self; 4] = [Self::Verified, Self::Refuted, Self::Failed, Self::Dropped];

    /// The label's value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Refuted => "refuted",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}
