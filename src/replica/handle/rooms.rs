//! Operators' words about rooms, and other rooms than those that the gate was started with.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, timeout};

use super::Replica;
use crate::replica::inbox::{Changing, Message, Unrecorded};
use crate::replica::{CUT_OFF_AFTER, Charge};
use crate::room::{Additions, Change, RoomName, Settings, View, Who};
use crate::token::Keyring;

impl Replica {
    /// As [`Replica::change`], with whose word it is.
    pub async fn order(
        &self,
        room: RoomName,
        change: Change,
        over: Option<u64>,
        who: Option<Who>,
    ) -> Result<u64, Unrecorded> {
        let (answer, done) = oneshot::channel();
        self.send(Message::Change(Box::new(Changing {
            room,
            change,
            over,
            who,
            answer: Some(answer),
            beaten: 0,
        })))?;
        self.wait(done).await?
    }

    /// Takes these keys for what it makes the secrets of draws from; when too much is waiting it keeps those it has.
    pub fn set_keys(&self, keyring: Keyring) {
        let _ = self.send(Message::Keys(keyring));
    }

    /// Told whenever the rooms that operators added are others.
    #[must_use]
    pub fn additions(&self) -> watch::Receiver<Arc<Additions>> {
        self.shared.additions()
    }

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

    /// From here on this gate has the say so far about its rooms: what differs in the log goes there as soon as that takes
    /// anything. Resolves when the word is left; a gate whose rooms stand still has none.
    pub async fn has_the_say(&self, charge: Charge) {
        while self.send(Message::Charge(charge)) == Err(Unrecorded::Full) {
            sleep(AGAIN).await;
        }
    }

    /// Has the configured rooms compared with the log once more: somebody who was to take over, and did not, may have said
    /// other things of them.
    pub async fn compare_rooms(&self) {
        self.has_the_say(Charge::Before).await;
    }
}

/// When a word that there was no room for is tried again.
const AGAIN: Duration = Duration::from_millis(50);
