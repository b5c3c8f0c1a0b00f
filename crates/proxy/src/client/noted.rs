//! Which fields a request came with, noted in the one pass over its head that checks it.

/// Whether each of these fields was there. PERF: a look at this costs less than to search the head for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Noted {
    pub connection: bool,
    pub expect: bool,
    pub forwarded_for: bool,
    pub te: bool,
    pub upgrade: bool,
    pub via: bool,
    /// Any field whose name begins with `ropeline-`.
    pub own: bool,
}

impl Noted {
    /// For a request that was not looked at: each may be there.
    pub const UNKNOWN: Self = Self {
        connection: true,
        expect: true,
        forwarded_for: true,
        te: true,
        upgrade: true,
        via: true,
        own: true,
    };

    pub(crate) const NOTHING: Self = Self {
        connection: false,
        expect: false,
        forwarded_for: false,
        te: false,
        upgrade: false,
        via: false,
        own: false,
    };
}

/// Prefix of field names that only the gate may send.
pub(crate) const OWN_PREFIX: &str = "ropeline-";
