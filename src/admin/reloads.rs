//! The queue of configuration reloads, and the result of the last one.
//!
//! The application takes orders off the queue and carries them out one after the other. Each reads the file only then, so
//! that no outdated configuration is taken.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::api;
use super::room_order::RoomOrder;
use crate::dates::rfc3339;
use crate::time;
use ropeline_ids::Wall;

/// The trigger of a reload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// SIGHUP.
    Signal,
    /// An operator, through the admin listener.
    Command,
    /// The file has become another.
    File,
}

/// Orders that are carried out one after the other.
pub enum Task {
    Reload(Order),
    /// Operators added or removed rooms, here or at another gate.
    Rooms,
    Room(RoomOrder),
}

/// An order to read the file again.
pub struct Order {
    pub trigger: Trigger,
    /// Receives the result.
    pub answer: Option<oneshot::Sender<api::Reload>>,
}

/// The queue of orders, and their results; clones are the same.
#[derive(Clone)]
pub struct Reloads(Arc<Inner>);

struct Inner {
    tasks: SyncSender<Task>,
    taken: AtomicU64,
    refused: AtomicU64,
    told: Mutex<LastReload>,
    untaken: Mutex<Vec<api::Untaken>>,
}

struct LastReload {
    last: api::Reload,
    in_force_since: Wall,
}

/// The order is not taken: the queue is full, or the receiver is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotNow;

impl Reloads {
    /// The queue, and the receiver for the application.
    #[must_use]
    pub fn new() -> (Self, Receiver<Task>) {
        let (tasks, queue) = sync_channel(MOST_ORDERS);
        let in_force_since = time::wall();
        let last = api::Reload {
            result: "none".to_owned(),
            ..api::Reload::default()
        };
        let inner = Inner {
            tasks,
            taken: AtomicU64::default(),
            refused: AtomicU64::default(),
            told: Mutex::new(LastReload { last, in_force_since }),
            untaken: Mutex::default(),
        };
        (Self(Arc::new(inner)), queue)
    }

    /// Leaves an order, and does not wait.
    pub fn order(&self, order: Order) -> Result<(), NotNow> {
        self.leave(Task::Reload(order))
    }

    /// As [`Reloads::order`], for a room.
    pub fn order_room(&self, order: RoomOrder) -> Result<(), NotNow> {
        self.leave(Task::Room(order))
    }

    /// Says that the rooms which operators added are others. A full queue is no harm: they are looked at in any case.
    pub fn look_at_rooms(&self) {
        let _ = self.leave(Task::Rooms);
    }

    fn leave(&self, task: Task) -> Result<(), NotNow> {
        self.0.tasks.try_send(task).map_err(|_| NotNow)
    }

    /// Keeps which rooms of the log are not in force here, and why.
    pub fn tell_untaken(&self, untaken: Vec<api::Untaken>) {
        *self.0.untaken.lock().unwrap_or_else(PoisonError::into_inner) = untaken;
    }

    #[must_use]
    pub fn untaken(&self) -> Vec<api::Untaken> {
        self.0.untaken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the result of an order: the changes, or the mistakes. Returns it in the API's form.
    pub fn tell(
        &self,
        trigger: Trigger,
        outcome: Result<Vec<String>, Vec<String>>,
        warnings: Vec<String>,
    ) -> api::Reload {
        let now = time::wall();
        let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        let count = if outcome.is_ok() {
            &self.0.taken
        } else {
            &self.0.refused
        };
        count.fetch_add(1, Ordering::Relaxed);
        if outcome.is_ok() {
            told.in_force_since = now;
        }
        told.last = api::Reload {
            result: if outcome.is_ok() { TAKEN } else { REFUSED }.to_owned(),
            trigger: Some(trigger.to_string()),
            at: Some(rfc3339(now)),
            in_force_since: String::new(),
            changed: outcome.as_ref().cloned().unwrap_or_default(),
            mistakes: outcome.err().unwrap_or_default(),
            warnings,
        };
        told.shown()
    }

    /// The result of the last one.
    #[must_use]
    pub fn last(&self) -> api::Reload {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner).shown()
    }

    /// How many were taken, and how many refused.
    pub(super) fn counts(&self) -> [(&'static str, u64); 2] {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        [(TAKEN, read(&self.0.taken)), (REFUSED, read(&self.0.refused))]
    }

    pub fn in_force_since(&self) -> Wall {
        self.0
            .told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .in_force_since
    }

    /// When the last one was refused; `None` where it was taken, or where there was none.
    #[must_use]
    pub fn refused_at(&self) -> Option<String> {
        let last = self.last();
        last.at.filter(|_| last.result == REFUSED)
    }
}

impl LastReload {
    fn shown(&self) -> api::Reload {
        api::Reload {
            in_force_since: rfc3339(self.in_force_since),
            ..self.last.clone()
        }
    }
}

impl fmt::Debug for Reloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloads").finish_non_exhaustive()
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Signal => "signal",
            Self::Command => "command",
            Self::File => "file",
        })
    }
}

/// Results, as the API and the metrics name them.
pub const TAKEN: &str = "taken";
pub const REFUSED: &str = "refused";

/// Orders that may wait; each of them is as good as the last.
const MOST_ORDERS: usize = 8;
