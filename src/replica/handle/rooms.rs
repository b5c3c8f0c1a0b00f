//! Other rooms than those that the gate was started with.

use tokio::time::timeout;

use super::Replica;
use crate::replica::CUT_OFF_AFTER;
use crate::replica::inbox::{Message, Unrecorded};
use crate::room::{RoomName, Settings, View};

impl Replica {
    /// Takes these for the configured rooms, as a start with them would: what differs goes to the log as soon as it takes
    /// anything, whatever an operator has set stays, and where other gates share the rooms none is removed. Resolves when the
    /// view has each of them with these settings, within two seconds; the word stands in any case.
    ///
    /// # Errors
    /// When the view lacks one of them, or its settings, for so long.
    pub async fn configure(&self, rooms: Vec<(RoomName, Settings)>) -> Result<(), Unrecorded> {
        let mut views = self.subscribe();
        self.send(Message::Configure(rooms.clone()))?;
        let is_so = |view: &View, name: &RoomName, settings: &Settings| {
            let able = settings.under(view.version).bounded();
            view.rooms.get(name).is_some_and(|room| room.configured.agrees(&able))
        };
        let all = views.wait_for(|view| rooms.iter().all(|(name, settings)| is_so(view, name, settings)));
        match timeout(CUT_OFF_AFTER, all).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Unrecorded::CutOff),
        }
    }
}
