//! Machine versions that this binary runs.

/// The newest machine version that this binary runs.
pub const VERSION: u16 = 3;

/// The oldest one: without adopted eras.
pub const OLDEST: u16 = 1;

/// The first machine version with schedules.
pub const WITH_SCHEDULES: u16 = 3;
