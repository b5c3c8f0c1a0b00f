//! The facts that decide on the paths that a room leaves outside.

/// The content of a request, as far as it decides on the paths that a room leaves outside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Brings {
    Nothing,
    /// `Cookie` or `Authorization`.
    Credentials,
    /// A body, an upgrade, or the name of another method.
    More,
    /// A request that no exception takes: used to find the room behind.
    Everything,
}

/// A path of a room that is left outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outside {
    /// The room that would have it otherwise.
    pub room: usize,
}
