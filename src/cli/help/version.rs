//! What this binary was built from; `build.rs` notes it.

/// The day of the commit, or `unknown`.
pub const DATE: &str = env!("ROPELINE_BUILD_DATE");

/// As `ropeline --version` prints it, behind the name.
pub const WHOLE: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit   ",
    env!("ROPELINE_BUILD_COMMIT"),
    "\ndate     ",
    env!("ROPELINE_BUILD_DATE"),
    "\ntarget   ",
    env!("ROPELINE_BUILD_TARGET"),
    "\nprofile  ",
    env!("ROPELINE_BUILD_PROFILE"),
);
