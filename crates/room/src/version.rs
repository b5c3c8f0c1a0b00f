//! Machine versions that this binary runs.

/// The newest one in use, and the one that a new log begins with.
pub const VERSION: u16 = 2;

/// From this one on a room can have active slots.
pub const ACTIVE_SLOTS: u16 = 2;

/// From this one on an entry that a gate wrote before it had read the log's root is no report of what it knows of earlier logs.
pub(crate) const REPORTS_BEHIND_THE_ROOT: u16 = 2;

/// The oldest one.
pub const OLDEST: u16 = 1;

/// The newest one that is read. Tests have one more, with the same rules: there has to be one to which a log can be raised.
pub const NEWEST: u16 = if cfg!(any(test, feature = "testing")) {
    VERSION + 1
} else {
    VERSION
};
