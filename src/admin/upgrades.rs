//! Requests for a live upgrade, which the application carries out.

use tokio::sync::{mpsc, oneshot};

pub use super::api::Upgraded;

/// A request for an upgrade, to be answered with its result.
pub type Wish = oneshot::Sender<Result<Upgraded, String>>;

/// Where wishes go; cheap to clone.
#[derive(Clone, Debug)]
pub struct Upgrades(pub mpsc::Sender<Wish>);

impl Upgrades {
    #[must_use]
    pub fn new(wishes: mpsc::Sender<Wish>) -> Self {
        Self(wishes)
    }
}
