//! Other rooms than those that the gate was started with.

use tokio::time::timeout;

use super::Replica;
use crate::replica::CUT_OFF_AFTER;
use crate::replica::inbox::{Message, Unrecorded};
use crate::room::{RoomName, Settings};

impl Replica {
    /// Takes these for the configured rooms, as a start with them would: what differs goes to the log as soon as it takes
    /// anything, whatever an operator has set stays, and where other gates share the rooms none is removed. Resolves when the
    /// view has a room of each name, within two seconds; the word stands in any case.
    ///
    /// # Errors
    /// When the view lacks one of them for so long.
    pub async fn configure(&self, rooms: Vec<(RoomName, Settings)>) -> Result<(), Unrecorded> {
        let names: Vec<RoomName> = rooms.iter().map(|(name, _)| name.clone()).collect();
        let mut views = self.subscribe();
        self.send(Message::Configure(rooms))?;
        let all = views.wait_for(|view| names.iter().all(|name| view.rooms.contains_key(name)));
        match timeout(CUT_OFF_AFTER, all).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Unrecorded::CutOff),
        }
    }
}
