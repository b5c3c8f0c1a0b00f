//! The handle that requests and operators hold, and the start and end of the thread behind it.

mod operators;
mod visitors;
mod woken;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::CUT_OFF_AFTER;
use super::calls::Calls;
use super::failing::Failure;
use super::inbox::{INBOX, Message, Unrecorded};
use super::options::{Charge, Options};
use super::protocol::{Protocol, Setup, placeholder};
use super::publish::{Condition, Shared, Stats, ViewGuard};
use super::worker::Worker;
use crate::archive::{self, Archiver};
use crate::room::{Clock, Edition, Effects, Encoded, Epoch, GateId, Reported, RoomName, Settings, State, View};
use crate::store::{Log, Unavailable};
use crate::time;

/// A handle to the replica; cheap to clone, usable from any thread. It shows and answers only with durable state.
#[derive(Clone)]
pub struct Replica {
    inbox: SyncSender<Message>,
    shared: Arc<Shared>,
    gate: GateId,
    knows: u16,
    archive: Arc<archive::Counts>,
}

/// The replica's thread. Dropped without [`ReplicaThread::stop`], it ends without a goodbye, as a crash would.
pub struct ReplicaThread {
    inbox: SyncSender<Message>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    released: Receiver<()>,
    /// `None` at the end: the thread waits for no other log then.
    logs: Option<SyncSender<Box<dyn Log>>>,
}

/// Why a replica cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Log(#[from] Unavailable),
    #[error("the system has no randomness to give: {0}")]
    Randomness(getrandom::Error),
    #[error("the replica's thread cannot be started: {0}")]
    Thread(std::io::Error),
    #[error("{0} rooms are more than the {MAX_ROOMS} that a gate takes")]
    TooManyRooms(usize),
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replica")
            .field("position", &self.load().position)
            .finish_non_exhaustive()
    }
}

impl Replica {
    /// Restores the rooms from the log, appends a hello and the differences in the configured rooms, and goes on from there.
    /// Blocks until that is read back, for two seconds at most: if the log takes no entry, the gate starts cut off, with the
    /// state that it could read.
    pub fn start(
        log: Box<dyn Log>,
        rooms: Vec<(RoomName, Settings)>,
        options: Options,
    ) -> Result<(Self, ReplicaThread), StartError> {
        Self::start_with(log, rooms, options, State::apply)
    }

    /// As [`Replica::start`], with another function than [`State::apply`], for tests of panics in it.
    pub fn start_with(
        log: Box<dyn Log>,
        rooms: Vec<(RoomName, Settings)>,
        options: Options,
        apply: fn(&mut State, &Encoded) -> Effects,
    ) -> Result<(Self, ReplicaThread), StartError> {
        if rooms.len() > MAX_ROOMS {
            return Err(StartError::TooManyRooms(rooms.len()));
        }
        let gate = GateId(getrandom::u64().map_err(StartError::Randomness)?);
        let (knows, read_within) = (options.knows, options.read_within);
        // A gate that takes over waits: the one before has the rooms, and begins the log with them.
        let early = options.charge == Charge::Own;
        let archive = options
            .archive
            .as_ref()
            .map(|folder| archive::Options::new(folder.clone(), gate));
        let archiver = archive.map(|options| Archiver::start(&options)).transpose();
        let archiver = archiver.map_err(StartError::Thread)?;
        let archive = archiver.as_ref().map(Archiver::counts).unwrap_or_default();
        let shared = Arc::new(Shared::new(placeholder(&rooms, time::wall())));
        let (inbox, messages) = sync_channel(INBOX);
        let (ready, started) = sync_channel(1);
        let alone = log.alone();
        let (release, released) = sync_channel(1);
        let (logs, given) = sync_channel(1);
        let setup = Setup {
            gate,
            rooms,
            options,
            alone,
            apply,
            archiver,
            random: Box::new(random),
        };
        let worker = Worker {
            protocol: Protocol::sharing(setup, Arc::clone(&shared)),
            messages,
            shared: Arc::clone(&shared),
            ready,
            early,
            released: release,
            logs: given,
        };
        let thread = thread::Builder::new()
            .name("replica".into())
            .spawn(move || worker.run(log));
        let thread = ReplicaThread {
            inbox: inbox.clone(),
            shared: Arc::clone(&shared),
            thread: Some(thread.map_err(StartError::Thread)?),
            released,
            logs: Some(logs),
        };
        // An answer that does not come in time is the cut-off case; the thread goes on trying.
        let _ = started.recv_timeout(read_within);
        if let Some(reason) = shared.failed() {
            return Err(StartError::Log(reason.clone()));
        }
        let handle = Self {
            inbox,
            shared,
            gate,
            knows,
            archive,
        };
        Ok((handle, thread))
    }

    /// Counts of the entries that this gate archives; all zeros if it archives none.
    #[must_use]
    pub fn archive(&self) -> &archive::Counts {
        &self.archive
    }

    /// The view in force, for the length of one request.
    #[must_use]
    pub fn load(&self) -> ViewGuard {
        self.shared.load()
    }

    /// The view in force, to keep.
    #[must_use]
    pub fn view(&self) -> Arc<View> {
        self.load().share()
    }

    /// The rooms' clock now, for reading deadlines.
    #[must_use]
    pub fn now(&self) -> Clock {
        self.load().now()
    }

    /// Notified of every view published after the call.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Arc<View>> {
        self.shared.subscribe()
    }

    /// Queues the gate's figures of its upstream, for each room with load control.
    pub fn report(&self, reports: Vec<Reported>) {
        let _ = self.inbox.try_send(Message::Load(reports));
    }

    /// Tells of a genuine token of `epoch`; one above the rooms' own begins a new log above it.
    pub fn foreign_epoch(&self, epoch: Epoch) {
        if epoch.0 <= self.load().position.epoch || epoch.0 <= self.shared.foreign.fetch_max(epoch.0, Ordering::Relaxed)
        {
            return;
        }
        let _ = self.inbox.try_send(Message::Wake);
    }

    /// Reports a genuine token of `edition`. A room with a lower edition has lost a reset, and takes that edition before the
    /// visitor's next note.
    pub fn foreign_edition(&self, room: &RoomName, edition: Edition) {
        if self.load().rooms.get(room).is_some_and(|room| room.edition < edition) {
            let _ = self.send(Message::Edition(Box::new((room.clone(), edition))));
        }
    }

    /// This gate, for this life of the process.
    #[must_use]
    pub fn gate(&self) -> GateId {
        self.gate
    }

    /// The highest machine version that this gate agrees to.
    #[must_use]
    pub fn knows(&self) -> u16 {
        self.knows
    }

    /// The gates that are waited for while a new log has no root.
    #[must_use]
    pub fn missing(&self) -> Vec<GateId> {
        self.shared.missing()
    }

    /// How the gate stands to its log.
    #[must_use]
    pub fn condition(&self) -> Condition {
        self.shared.condition()
    }

    /// For how long the gate has been cut off from its log (or frozen); `None` when it is not.
    #[must_use]
    pub fn cut_off(&self) -> Option<Duration> {
        self.shared.cut_off(time::uptime)
    }

    /// For how long the log has given no answer of use, and why; `None` where it answers. Unlike [`Replica::cut_off`] in
    /// every condition, and only when it is the log that fails.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.shared.failing.lasting(time::uptime())
    }

    /// True once applying an entry has panicked: the view stays as it is, no visitor is called, and the gate is not ready.
    #[must_use]
    pub fn frozen(&self) -> bool {
        self.shared.frozen()
    }

    /// True once the replica's thread has ended by a fault: the rooms stand still until the process is started again.
    #[must_use]
    pub fn fallen(&self) -> bool {
        *self.shared.fallen().borrow()
    }

    /// Resolves when [`Replica::fallen`] turns true, and never otherwise.
    pub fn falls(&self) -> impl Future<Output = ()> + use<> {
        let mut fallen = self.shared.fallen();
        async move {
            if fallen.wait_for(|fallen| *fallen).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// How the store answers this gate.
    #[must_use]
    pub fn calls(&self) -> &Calls {
        &self.shared.calls
    }

    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    fn send(&self, message: Message) -> Result<(), Unrecorded> {
        if self.frozen() {
            return Err(Unrecorded::CutOff);
        }
        self.inbox.try_send(message).map_err(|refused| match refused {
            TrySendError::Full(_) => Unrecorded::Full,
            TrySendError::Disconnected(_) => Unrecorded::CutOff,
        })
    }

    async fn wait<T>(&self, done: oneshot::Receiver<T>) -> Result<T, Unrecorded> {
        match timeout(CUT_OFF_AFTER, done).await {
            Ok(Ok(answer)) => Ok(answer),
            // Dropped by the thread: frozen, stopping, or no room for it.
            Ok(Err(_)) if self.cut_off().is_none() => Err(Unrecorded::Full),
            Ok(Err(_)) | Err(_) => Err(Unrecorded::CutOff),
        }
    }
}

impl ReplicaThread {
    /// Says goodbye, writes the last snapshot and ends the thread; blocks until then. Waiting items are appended first. If
    /// the log does not answer, it gives up after [`Options::goodbye_within`].
    pub fn stop(self) {
        self.stop_within(Duration::ZERO);
    }

    /// As [`ReplicaThread::stop`], but it gives up no sooner than after `patience` while it holds purchases, ends or leaves of people.
    pub fn stop_within(mut self, patience: Duration) {
        let patience_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        self.shared.patience_ms.store(patience_ms, Ordering::Release);
        self.shared.stop.store(true, Ordering::Release);
        self.end();
    }

    /// Says goodbye and closes the log as [`ReplicaThread::stop`] does, and keeps the thread: the handles show the last view,
    /// and visitors' items wait until [`ReplicaThread::resume`].
    pub fn release(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        let _ = self.inbox.try_send(Message::Wake);
        // A thread that has ended by a fault has closed it too.
        let _ = self.released.recv();
        self.shared.stop.store(false, Ordering::Release);
    }

    /// Goes on with this log after [`ReplicaThread::release`].
    pub fn resume(&mut self, log: Box<dyn Log>) {
        if let Some(logs) = &self.logs {
            let _ = logs.try_send(log);
        }
    }

    fn end(&mut self) {
        self.logs = None;
        // A full queue needs no waking.
        let _ = self.inbox.try_send(Message::Wake);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for ReplicaThread {
    fn drop(&mut self) {
        self.shared.abandon.store(true, Ordering::Release);
        self.end();
    }
}

/// Randomness for nonces and jitter. A system without any was refused at the start; should it run out later, a nonce that
/// comes twice still stands between two others.
fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

/// Most rooms of one gate.
const MAX_ROOMS: usize = 1_000;

#[cfg(test)]
mod tests;
