//! A log that is unusable at present: the reason, as a text for the gate's log, and its kind, for counting.

/// The log cannot be used just now, for the reason given; the call may or may not have been carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the log is unavailable: {reason}")]
pub struct Unavailable {
    pub trouble: Trouble,
    pub reason: String,
}

/// The kind of trouble, by the operator's remedy. `docs/reference/metrics.md` explains each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// No connection, or it was cut.
    Unreachable,
    /// No answer in time.
    Timeout,
    /// The server is not, or not now, the one that has the log.
    Elsewhere,
    /// Its memory is full.
    Full,
    /// It does not take the call: the user's rights, the password, a key of another type.
    Refused,
    /// It takes nothing for the moment, and says so.
    Declined,
    /// The data folder of an embedded log.
    Disk,
    /// It answers, and not as a log does.
    Odd,
}

impl Unavailable {
    #[must_use]
    pub fn new(trouble: Trouble, reason: impl Into<String>) -> Self {
        Self {
            trouble,
            reason: reason.into(),
        }
    }
}

impl Trouble {
    /// Every kind, in the order of its discriminant.
    pub const ALL: [Self; 8] = [
        Self::Unreachable,
        Self::Timeout,
        Self::Elsewhere,
        Self::Full,
        Self::Refused,
        Self::Declined,
        Self::Disk,
        Self::Odd,
    ];

    /// The label's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Elsewhere => "elsewhere",
            Self::Full => "full",
            Self::Refused => "refused",
            Self::Declined => "declined",
            Self::Disk => "disk",
            Self::Odd => "odd",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_counts_under_its_own_label() {
        for (at, trouble) in Trouble::ALL.into_iter().enumerate() {
            assert_eq!(trouble as usize, at, "{trouble:?}");
            let label = |other: &Trouble| other.as_str() == trouble.as_str();
            assert_eq!(
                Trouble::ALL.iter().filter(|other| label(other)).count(),
                1,
                "{trouble:?}"
            );
        }
    }
}
