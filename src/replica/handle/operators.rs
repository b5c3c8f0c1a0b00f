//! Items of operators and of the configuration for the log: changes of rooms, replaced rooms, keys, machine versions.

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
    /// `over` is the room's revision on which the change is based: if the room has another one when it is applied, the answer
    /// is `Stale`. A change without a base is sent again until it is taken.
    pub async fn change(&self, room: RoomName, change: Change, over: Option<u64>) -> Result<u64, Unrecorded> {
        self.order(room, change, over, None).await
    }

    /// As [`Replica::change`], with the operator's name.
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

    /// Sets the keys from which the secrets of draws are made; when the queue is full, it keeps the present ones.
    pub fn set_keys(&self, keyring: Keyring) {
        let _ = self.send(Message::Keys(keyring));
    }

    /// Notified whenever the set of rooms that operators added changes.
    #[must_use]
    pub fn additions(&self) -> watch::Receiver<Arc<Additions>> {
        self.shared.additions()
    }

    /// Replaces the configured rooms, as a restart would. Differences are appended as soon as the log accepts entries.
    /// Operators' settings stay, and where other gates share the rooms none is removed. Resolves when the view has each room
    /// with these settings, within two seconds; the change stays in force after that time too.
    ///
    /// # Errors
    /// Fails if the view still lacks a room or its settings after that time.
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

    /// Sets how far this gate is in charge of its rooms from now on. Differences go to the log as soon as it accepts entries.
    /// Resolves when the message is queued; a frozen gate takes none.
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
    /// Fails when no gate is awaited, when it is too early, when another gate has read further, and when the thread does not
    /// answer.
    pub async fn root_now(&self) -> Result<(), NoEnd> {
        let (answer, done) = oneshot::channel();
        let asked = self.inbox.try_send(Message::RootNow(answer));
        asked.map_err(|_| NoEnd::Unanswered)?;
        match timeout(CUT_OFF_AFTER, done).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(NoEnd::Unanswered),
        }
    }

    /// Has the configured rooms compared with the log once more: a successor that failed to take over may have changed them.
    pub async fn compare_rooms(&self) {
        self.set_charge(Charge::Before).await;
    }
}

/// Pause before a message that found the queue full is sent again.
const AGAIN: Duration = Duration::from_millis(50);
