//! The thread: collect, append, read back, apply, publish, answer; and begin a new log where the old one ended.
//!
//! At most one batch is under way, and it is sent again unchanged until it is read back; what comes in meanwhile goes with
//! the next. So a lone visitor waits one commit, and a stampede makes its own groups.

mod begin;
mod checkpoint;
mod exchange;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use super::collector::Collector;
use super::handle::Options;
use super::inbox::{Changing, Message};
use super::publish::Shared;
use super::recover::{Apply, Outcome, Recovered};
use super::rooms;
use super::waiters::Waiters;
use crate::log::{Append, Beginning, Log, Unavailable};
use crate::room::{Clock, GateId, RoomName, Settings, State, StateHash, Wall};
use crate::time;

/// All that the thread starts from.
pub(super) struct Start {
    pub log: Box<dyn Log>,
    pub gate: GateId,
    pub rooms: Vec<(RoomName, Settings)>,
    pub options: Options,
    pub recovered: Recovered,
    pub apply: Apply,
    pub messages: Receiver<Message>,
    pub shared: Arc<Shared>,
    /// Told when the first batch is read back.
    pub ready: SyncSender<()>,
}

pub(super) struct Worker {
    log: Box<dyn Log>,
    gate: GateId,
    options: Options,
    messages: Receiver<Message>,
    shared: Arc<Shared>,
    ready: SyncSender<()>,
    apply: Apply,
    state: State,
    collector: Collector,
    serial: u64,
    under_way: Option<UnderWay>,
    /// A new log to begin before anything else.
    beginning: Option<NewLog>,
    /// The next batch puts the gate on the roster; and it is the first of a log that this gate began.
    hello: bool,
    root: Option<StateHash>,
    /// Log time of the last entry, and uptime when it was read.
    time: Wall,
    heard: Duration,
    saved: Saved,
    backoff: Duration,
    /// Uptime until which a failing log is left alone.
    rest_until: Duration,
}

/// A batch that was sent, and is not read back.
struct UnderWay {
    append: Append,
    waiters: Waiters,
    /// Times that the room passed it over because the gate was not on its roster.
    ignored: u8,
}

struct NewLog {
    seen: u64,
    beginning: Beginning,
    incarnation: u64,
}

/// What a new log starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// The rooms as they are here.
    Rooms,
    /// Nothing; `new` when there was never anything.
    Nothing { new: bool },
}

/// Since the last snapshot.
#[derive(Default)]
struct Saved {
    clock: Clock,
    bytes: u64,
    /// More than time has passed.
    changed: bool,
    failing: bool,
}

/// What one turn of the loop came to.
enum Turn {
    Done,
    /// The log does not answer.
    Wait(Unavailable),
    Frozen,
}

impl Worker {
    /// The thread's whole life.
    pub fn run(start: Start) {
        let shared = Arc::clone(&start.shared);
        // A fault of ours must not take those inside with it: whatever panics here, the last view stands.
        if catch_unwind(AssertUnwindSafe(|| Self::live(start))).is_err() {
            tracing::error!("the replica's thread failed; the rooms stand still");
            shared.freeze();
        }
    }

    fn live(start: Start) {
        let Start {
            log,
            gate,
            rooms,
            options,
            recovered,
            apply,
            messages,
            shared,
            ready,
        } = start;
        let Recovered {
            state,
            outcome,
            incarnation,
            new,
            last_known,
            time,
        } = recovered;
        let from = if state.is_some() {
            From::Rooms
        } else {
            From::Nothing { new }
        };
        let mut worker = Self {
            log,
            gate,
            options,
            messages,
            shared,
            ready,
            apply,
            state: state.unwrap_or_else(|| State::empty(0, false)),
            collector: Collector::default(),
            serial: 0,
            under_way: None,
            beginning: None,
            hello: true,
            root: None,
            time,
            heard: time::uptime(),
            saved: Saved::default(),
            backoff: BACKOFF_FIRST,
            rest_until: Duration::ZERO,
        };
        worker.publish();
        if outcome == Outcome::Poisoned {
            return worker.stand_still();
        }
        for (room, change) in rooms::changes(&worker.state, &rooms) {
            // MAX_ROOMS is below what the collector takes.
            worker.collector.change(Changing {
                room,
                change,
                answer: None,
            });
        }
        if outcome != Outcome::Complete {
            worker.shared.sent();
            if let Err(reason) = worker.prepare(incarnation, last_known, from) {
                tracing::error!(%reason, "no new log can begin");
                return worker.stand_still();
            }
        }
        worker.work();
    }

    fn work(mut self) {
        loop {
            if self.shared.abandon.load(Ordering::Acquire) {
                return;
            }
            if self.shared.stop.load(Ordering::Acquire) {
                return self.say_goodbye();
            }
            let now = time::uptime();
            if !self.collect(self.due(now).saturating_sub(now)) {
                return;
            }
            match self.turn(false) {
                Turn::Done => {}
                Turn::Wait(reason) => self.rest(&reason),
                Turn::Frozen => return self.stand_still(),
            }
        }
    }

    /// Takes what has come in, or comes in within `wait`. False when everybody else is gone.
    fn collect(&mut self, wait: Duration) -> bool {
        if !wait.is_zero() {
            match self.messages.recv_timeout(wait) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        for _ in 0..TAKE_MAX {
            let Ok(message) = self.messages.try_recv() else { break };
            self.take(message);
        }
        true
    }

    /// Uptime at which the log is to be spoken to.
    fn due(&self, now: Duration) -> Duration {
        if self.rest_until > now {
            return self.rest_until;
        }
        let waiting = self.under_way.is_some() || self.beginning.is_some() || self.hello || self.collector.is_urgent();
        if waiting || self.foreign().is_some() {
            return now;
        }
        let tick = Duration::from_millis(self.state.tick_ms());
        // PERF: marks and renewals come one by one, hundreds a second; a commit for each would wear out a disk.
        self.heard
            + if self.collector.is_empty() {
                tick
            } else {
                tick.min(COMPANY)
            }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Join(join) => self.collector.join(*join),
            Message::Note(noted) => {
                if !self.collector.note(*noted) {
                    self.shared.counts.notes_dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
            Message::Change(change) => self.collector.change(*change),
            Message::Bypassed(past) => self.collector.bypassed(*past),
            Message::Wake => {}
        }
    }

    /// Speaks to the log if it is time to.
    fn turn(&mut self, goodbye: bool) -> Turn {
        let now = time::uptime();
        let due = if goodbye { self.rest_until } else { self.due(now) };
        if due > now {
            return Turn::Done;
        }
        match self.speak(goodbye) {
            Ok(turn) => turn,
            Err(reason) => Turn::Wait(reason),
        }
    }

    fn publish(&mut self) {
        let view = self.state.view();
        self.shared.publish(view);
    }

    /// The log failed: leave it alone for a moment, and longer each time, up to a second.
    fn rest(&mut self, reason: &Unavailable) {
        self.shared.counts.failures.fetch_add(1, Ordering::Relaxed);
        if self.backoff == BACKOFF_FIRST {
            tracing::error!(%reason, "the log takes nothing: nobody is called until it does; those inside go on");
        }
        self.rest_until = time::uptime() + self.backoff;
        self.backoff = (self.backoff * 2).min(BACKOFF_MOST);
    }

    fn recovered(&mut self) {
        if self.backoff > BACKOFF_FIRST {
            tracing::info!("the log answers again");
        }
        self.backoff = BACKOFF_FIRST;
        self.rest_until = Duration::ZERO;
    }
}

/// First and longest pause before a failing log is tried again.
const BACKOFF_FIRST: Duration = Duration::from_millis(20);
const BACKOFF_MOST: Duration = Duration::from_secs(1);

/// Longest that marks and renewals wait after the last entry for company, or for the tick if that is sooner.
const COMPANY: Duration = Duration::from_millis(250);

/// Most messages taken between two looks at the log.
const TAKE_MAX: usize = 65_536;
