//! How a gate takes part in a log: what it asks of it next, and what it makes of the answer.
//!
//! Nothing here reads a clock, a socket or a source of randomness: a thread carries out what is asked (`worker`), and so
//! does the simulation, with faults. A gate loads and catches up (`starting`), lives on a log that has a root (`live`),
//! takes part in finding one when a new log begins (`rootless`), agrees on checkpoints (`checkpoint`), and leaves
//! (`leaving`). What it cannot apply it stands before (`still`). At most one thing is asked at a time, and at most one
//! batch is under way, sent again unchanged until it is read back.

mod begin;
mod checkpoint;
mod configured;
mod draws;
mod leaving;
mod live;
mod pace;
mod queue;
mod rootless;
mod schedules;
mod setup;
mod shown;
mod starting;
mod still;
mod upkeep;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use self::pace::IDLE;
use super::collector::Collector;
use super::options::{Charge, Options};
use super::publish::{Condition, Shared};
use super::recover::Apply;
use super::waiters::Waiters;
use crate::archive::Archiver;
use crate::room::{Batch, GateId, Position, RoomName, Settings, State, StateHash, View, Wall};
use crate::store::{Append, Beginning, Begun, Exchanged, Loaded, Occasion, Skips, Snapshot, Trouble, Unavailable};

pub use draws::reveal;
pub(super) use leaving::tell_loss;
pub use setup::Setup;
pub(super) use setup::placeholder;

/// A gate's side of the log's protocol.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a wish of its own, not a state of one machine"
)]
pub struct Protocol {
    gate: GateId,
    rooms: Vec<(RoomName, Settings)>,
    charge: Charge,
    /// Once the log is read to its end, the configured rooms are to be compared with it.
    compare: bool,
    options: Options,
    alone: bool,
    apply: Apply,
    random: Box<dyn FnMut() -> u64 + Send>,
    archiver: Option<Archiver>,
    pub(super) shared: Arc<Shared>,
    phase: Phase,
    /// What was asked last, while its answer is awaited.
    asked: Option<Asked>,
    collector: Collector,
    serial: u64,
    under_way: Option<UnderWay>,
    /// Batches that bring back what the rooms have lost; they go before anything else.
    outbox: VecDeque<(Batch, Waiters)>,
    /// The state that they are of, until all is read back: a log that begins anew meanwhile lacks the rest.
    lost: Option<State>,
    /// When the last log was begun for a token of a foreign era.
    foreign_at: Option<Duration>,
    /// The next batch puts the gate on the roster.
    hello: bool,
    /// Entries that are passed over.
    skips: Vec<Position>,
    /// An entry that the operator wants passed over, and a machine version that is to be in force.
    skip: Option<Position>,
    raise: Option<u16>,
    /// The operator does not wait for silent gates.
    root_now: bool,
    checkpoint: checkpoint::Checkpoint,
    /// Log time of the last entry; uptime when it was read, and when the log was last asked.
    time: Wall,
    heard: Duration,
    exchanged: Duration,
    /// The log had more than was read.
    more: bool,
    /// When a batch of this gate was last read back.
    spoke: Duration,
    /// Since when marks and renewals have been waiting for company.
    company_since: Option<Duration>,
    /// The last batch had several whom somebody waits for.
    crowded: bool,
    /// How long the last batch took to be read back.
    lag: Duration,
    backoff: Duration,
    /// Uptime until which a failing log is left alone.
    rest_until: Duration,
    leaving: Option<leaving::Leaving>,
    /// The first batch of this life was read back.
    joined: bool,
    /// When this gate last said what comes next in a schedule.
    planned: Option<Duration>,
    /// When it last said a word on a draw.
    drew: Option<Duration>,
}

/// What is to be done next.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and only handed on")]
pub enum Step {
    /// Carry this out and tell the answer.
    Ask(Ask),
    /// Come again at this uptime, or as soon as there is word from a visitor.
    Wait(Duration),
    /// Come again at this uptime: no word brings it sooner.
    Rest(Duration),
    Ended,
}

/// What a gate asks of its log; [`crate::store::Log`] says what each means.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and only handed on")]
pub enum Ask {
    Load,
    Root(StateHash),
    Exchange { at: Position, append: Option<Append> },
    Save { snapshot: Snapshot, occasion: Occasion },
    Begin { seen: u64, beginning: Beginning },
    Skip(Position),
    Skips,
}

/// The log's answer to an [`Ask`] of the same name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Loaded(Loaded),
    Root(Option<Snapshot>),
    Exchanged(Exchanged),
    Saved,
    Begun(Begun),
    Skipped,
    Skips(Skips),
}

/// What an answer is to, as far as it does not carry that itself.
enum Asked {
    Load,
    Root(StateHash),
    /// The append, if any, is acknowledged by the answer.
    Exchange {
        appended: bool,
    },
    Save(Saving),
    Begin,
    Skip,
    Skips,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Saving {
    Checkpoint(u64),
    Root(StateHash),
    Last,
}

enum Phase {
    /// Nothing is known of the log.
    Starting(Box<starting::Starting>),
    /// A state is brought up to the end of the log.
    CatchingUp(Box<starting::CatchingUp>),
    /// A new log is to begin before anything else.
    Beginning(Box<begin::NewLog>),
    /// The log has no root yet.
    Rootless(Box<rootless::Healing>),
    Live(Box<State>),
    /// The entry at `at` cannot be applied.
    Frozen {
        at: Position,
        old: Option<Box<State>>,
        /// The store did not take the operator's word on it yet.
        unsaid: bool,
    },
    /// The log has gone on with a machine version that this binary lacks.
    Behind {
        version: u16,
    },
    Ended,
}

/// A batch that was cut, and is not read back.
struct UnderWay {
    append: Append,
    waiters: Waiters,
    /// The log that it was cut for: in another it says hello again, under a serial of its own.
    incarnation: u64,
    since: Duration,
    /// The log has it; it is only to be read.
    acknowledged: bool,
    /// Times that the room passed it over because the gate was not on its roster.
    ignored: u8,
}

impl Protocol {
    /// What to do at uptime `now`. After [`Step::Ask`] comes one [`Protocol::answer`].
    pub fn next(&mut self, now: Duration) -> Step {
        debug_assert!(self.asked.is_none(), "one thing is asked at a time");
        if let Some(step) = self.leave_taking(now) {
            return step;
        }
        if self.rest_until > now {
            return Step::Wait(self.rest_until);
        }
        if let Some(position) = self.skip {
            return self.ask(Asked::Skip, Ask::Skip(position));
        }
        match &self.phase {
            Phase::Starting(starting) if starting.again > now => Step::Wait(starting.again),
            Phase::Starting(_) => self.ask(Asked::Load, Ask::Load),
            Phase::CatchingUp(_) => self.read_on(now),
            Phase::Beginning(_) => self.ask_to_begin(now),
            Phase::Rootless(_) => self.find_root(now),
            Phase::Live(_) => self.live(now),
            Phase::Frozen { .. } => self.look_for_skip(now),
            Phase::Behind { .. } => Step::Wait(now + IDLE),
            Phase::Ended => Step::Ended,
        }
    }

    /// What became of the last [`Step::Ask`].
    pub fn answer(&mut self, now: Duration, answer: Result<Answer, Unavailable>) {
        let Some(asked) = self.asked.take() else { return };
        let answer = match answer {
            Ok(answer) => answer,
            Err(reason) => return self.unanswered(&asked, &reason, now),
        };
        if !self.shared.failing.odd() {
            self.backoff = BACKOFF_FIRST;
        }
        self.rest_until = Duration::ZERO;
        match (asked, answer) {
            (Asked::Load, Answer::Loaded(loaded)) => self.loaded(loaded, now),
            (Asked::Root(hash), Answer::Root(snapshot)) => self.root_fetched(hash, snapshot, now),
            (Asked::Exchange { appended }, Answer::Exchanged(exchanged)) => self.exchanged(appended, exchanged, now),
            (Asked::Save(saving), Answer::Saved) => self.snapshot_saved(saving),
            (Asked::Begin, Answer::Begun(begun)) => self.begun(begun, now),
            (Asked::Skip, Answer::Skipped) => self.skip_noted(now),
            (Asked::Skips, Answer::Skips(skips)) => self.skips_read(&skips, now),
            _ => self.odd("an answer to another question", now),
        }
        // A rest means that the answer was of no use.
        let (of_use, lives) = (self.rest_until <= now, matches!(self.phase, Phase::Live(_)));
        if self.shared.failing.answered(of_use, lives) {
            tracing::info!("the log answers again");
        }
    }

    /// The state that the published view is of; `None` while there is no such state.
    #[must_use]
    pub fn state(&self) -> Option<&State> {
        match &self.phase {
            Phase::Live(state) => Some(state),
            Phase::Rootless(healing) => healing.old.as_ref(),
            Phase::Beginning(new) => new.state.as_ref(),
            _ => None,
        }
    }

    /// The state, when the gate lives on a log that has its root.
    #[must_use]
    pub fn live_state(&self) -> Option<&State> {
        match &self.phase {
            Phase::Live(state) => Some(state),
            _ => None,
        }
    }

    /// The view in force.
    #[must_use]
    pub fn view(&self) -> Arc<View> {
        self.shared.load().share()
    }

    /// For how long the gate has been cut off at uptime `now`; `None` when it is not.
    #[must_use]
    pub fn cut_off(&self, now: Duration) -> Option<Duration> {
        self.shared.cut_off(|| now)
    }

    #[must_use]
    pub fn gate(&self) -> GateId {
        self.gate
    }

    #[must_use]
    pub fn condition(&self) -> Condition {
        self.shared.condition()
    }

    /// True once the first batch of this life was read back.
    #[must_use]
    pub fn has_joined(&self) -> bool {
        self.joined
    }

    fn ask(&mut self, asked: Asked, ask: Ask) -> Step {
        self.asked = Some(asked);
        Step::Ask(ask)
    }

    /// The one place where phases change: the condition that others see changes with them.
    fn enter(&mut self, phase: Phase, now: Duration) {
        self.phase = phase;
        self.show_what_was(now);
        if matches!(self.phase, Phase::Ended) {
            return;
        }
        if !matches!(self.phase, Phase::Live(_)) {
            self.shared.sent(now);
        }
        self.shared.set_missing(match &self.phase {
            Phase::Rootless(healing) => healing.missing(),
            _ => Vec::new(),
        });
        self.show_condition();
    }

    fn take_phase(&mut self) -> Phase {
        std::mem::replace(&mut self.phase, Phase::Ended)
    }

    fn exchanged(&mut self, appended: bool, exchanged: Exchanged, now: Duration) {
        match &self.phase {
            Phase::CatchingUp(_) => self.caught_up_by(exchanged, now),
            Phase::Rootless(_) => self.rootless_read(appended, exchanged, now),
            Phase::Live(_) => self.live_read(appended, exchanged, now),
            _ => {}
        }
    }

    fn unanswered(&mut self, asked: &Asked, reason: &Unavailable, now: Duration) {
        self.shared.calls.fail(reason.trouble);
        if let Asked::Save(saving) = asked
            && self.not_saved(*saving, reason, now)
        {
            return;
        }
        if matches!(asked, Asked::Skip) {
            self.skip_not_noted();
        }
        if matches!(asked, Asked::Load) && self.alone && !self.joined {
            self.shared.fail(reason.clone());
        }
        self.rest(reason, now);
    }

    /// The log answered what it should not have.
    fn odd(&mut self, reason: &str, now: Duration) {
        self.shared.calls.fail(Trouble::Odd);
        self.rest(&Unavailable::new(Trouble::Odd, reason), now);
    }

    /// The log failed: leave it alone for a moment, and longer each time, up to a second; not in step with other gates.
    fn rest(&mut self, reason: &Unavailable, now: Duration) {
        self.shared.sent(now);
        if let Some(lasts) = self.shared.failing.failed(reason, now) {
            let seconds = lasts.as_secs();
            tracing::error!(%reason, seconds, "the log takes nothing: nobody is called until it does; those inside go on");
        }
        let half = self.backoff / 2;
        let jitter = u32::try_from((self.random)() % 1_024).unwrap_or(0);
        self.rest_until = now + half + half * jitter / 1_024;
        self.backoff = (self.backoff * 2).min(BACKOFF_MOST);
    }
}

/// First and longest pause before a failing log is tried again.
const BACKOFF_FIRST: Duration = Duration::from_millis(20);
const BACKOFF_MOST: Duration = Duration::from_secs(1);
