//! Bytes that must not be printed.

use std::fmt;

use subtle::ConstantTimeEq as _;

/// A key's bytes: prints masked, and is overwritten when dropped.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes themselves: only to key a MAC or to write the gate's own key file.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl PartialEq for Secret {
    /// SECURITY: in constant time, for secrets of one length.
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(masked)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // Keeps the compiler from removing a write that is never read.
        std::hint::black_box(&mut self.0);
    }
}
