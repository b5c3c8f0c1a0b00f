//! What operators and the configuration leave for the log: changes of rooms, other rooms, keys, machine versions.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, timeout};

use super::Replica;
use crate::replica::inbox::{Changing, Message, NoEnd, Unrecorded};
use crate::replica::{CUT_OFF_AFTER, Charge};
use crate::room::{Additions, Change, Position, RoomName, Settings, View, Who};
use crate::token::Keyring;

impl Replica {
    /// Changes a room; resolves with the room's new revision once that is durable and in the view, within two seconds.
    ///
    /// `over` is the room's revision that the change was made of: if the room has another by then it is not taken, and the
    /// answer is `Stale`. A change made of none is said again until it is taken.
    pub async fn change(&self, room: RoomName, change: Change, over: Option<u64>) -> Result<u64, Unrecorded> {
        self.order(room, change, over, None).await
    }

    /// As [`Replica::change`], with whose word it is.
    pub async fn order(
        &self,
        room: RoomName,
        change: Change,
        over: Option<u64>,
        who: Option<Who>,
    ) -> Result<u64, Unrecorded> {
        let (changing, done) = Changing::asked(room, change, over, who);
        self.send(Message::Change(Box::new(changing)))?;
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
            let able = settings.bounded();
            view.rooms.get(name).is_some_and(|room| room.configured.agrees(&able))
        };
        let all = views.wait_for(|view| rooms.iter().all(|(name, settings)| is_so(view, name, settings)));
        match timeout(CUT_OFF_AFTER, all).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Unrecorded::CutOff),
        }
    }

    /// How far this gate is in charge of its rooms from here on. What differs in the log goes there as soon as that takes
    /// anything. Resolves when the word is left; a gate whose rooms stand still has none.
    pub async fn set_charge(&self, charge: Charge) {
        while self.send(Message::Charge(charge)) == Err(Unrecorded::Full) {
            sleep(AGAIN).await;
        }
    }

    /// Has the entry at `position` passed over by every gate. A frozen gate looks every three seconds.
    ///
    /// # Errors
    /// When the thread has ended, or too much is waiting.
    pub fn skip(&self, position: Position) -> Result<(), Unrecorded> {
        self.inbox
            .try_send(Message::Skip(position))
            .map_err(|_| Unrecorded::Full)
    }

    /// Has the rooms run machine version `version` from now on, if all gates on the roster know it.
    ///
    /// # Errors
    /// When the thread has ended, or too much is waiting.
    pub fn raise(&self, version: u16) -> Result<(), Unrecorded> {
        self.send(Message::Raise(version))
    }

    /// Ends the wait for silent gates while a new log has no root.
    ///
    /// # Errors
    /// Where nobody is waited for, not yet, or where another gate has read further; and when the thread does not answer.
    pub async fn root_now(&self) -> Result<(), NoEnd> {
        let (answer, done) = oneshot::channel();
        let asked = self.inbox.try_send(Message::RootNow(answer));
        asked.map_err(|_| NoEnd::Unanswered)?;
        match timeout(CUT_OFF_AFTER, done).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(NoEnd::Unanswered),
        }
    }

    /// Has the configured rooms compared with the log once more: somebody who was to take over, and did not, may have said
    /// other things of them.
    pub async fn compare_rooms(&self) {
        self.set_charge(Charge::Before).await;
    }
}

/// When a word that there was no room for is tried again.
const AGAIN: Duration = Duration::from_millis(50);
