//! Outcomes of codes and of crawler checks, as labels.

/// A code was accepted, or why it was not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeFate {
    Accepted,
    /// Not genuine.
    Unknown,
    OtherRoom,
    NotYet,
    Expired,
    /// The lane that it leads to is not there, or takes no codes.
    NoLane,
    /// The room takes no codes that lead past its line.
    NoBypass,
    /// Another visitor has used it.
    Spent,
    /// The room admits no visitor by it at present, or it cannot be checked.
    NotNow,
    /// Records that would tell whether it was used are lost.
    InDoubt,
    /// It took effect in the log.
    Used,
}

impl CodeFate {
    pub const ALL: [Self; 11] = [
        Self::Accepted,
        Self::Unknown,
        Self::OtherRoom,
        Self::NotYet,
        Self::Expired,
        Self::NoLane,
        Self::NoBypass,
        Self::Spent,
        Self::NotNow,
        Self::InDoubt,
        Self::Used,
    ];

    /// Its label in metrics, in logs and on answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "code_accepted",
            Self::Unknown => "code_unknown",
            Self::OtherRoom => "code_other_room",
            Self::NotYet => "code_not_yet",
            Self::Expired => "code_expired",
            Self::NoLane => "code_no_lane",
            Self::NoBypass => "code_no_bypass",
            Self::Spent => "code_spent",
            Self::NotNow => "code_not_now",
            Self::InDoubt => "code_in_doubt",
            Self::Used => "code_used",
        }
    }
}

/// The result of a lookup of an address that claims to be a crawler's.
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
