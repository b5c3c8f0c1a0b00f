//! The operator's page.

/// Its paths, which are open to whoever reaches the listener: they hold no figure of any room.
pub(super) const PAGE: [&str; 0] = [];
