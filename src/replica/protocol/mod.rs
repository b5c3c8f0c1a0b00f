//! A gate's side of the log's protocol: the next call of the log, and the handling of its answer.
//!
//! This module reads no clock, socket or source of randomness: a thread carries out the calls (`worker`), and the simulation
//! does too, with faults. [`Protocol::next`] gives the next call of the log, [`Protocol::answer`] takes its result; at most
//! one call is open at a time. The gate is in one `Phase`. Each phase has its own file under `phases/` and fields of its own,
//! and ends with a `Transition` to another; `Protocol::enter` is the one place where phases change. State that outlives a
//! phase is in the `Context`, in parts that own their fields.

mod adoption;
mod checkpoints;
mod configured;
mod context;
mod draws;
mod foreign;
mod identity;
mod inputs;
mod leaving;
mod outgoing;
mod pace;
mod phases;
mod reader;
mod retry;
mod schedules;
mod setup;
mod step;
mod upkeep;

use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;
use std::time::Duration;

use self::configured::Configured;
use self::context::Context;
use self::identity::Identity;
use self::pace::IDLE;
use self::phases::beginning::Beginning;
use self::phases::catching_up::CatchingUp;
use self::phases::frozen::Frozen;
use self::phases::live::Live;
use self::phases::rootless::Rootless;
use self::phases::starting::Starting;
use self::phases::transition::{Restart, Transition, Turn};
use self::reader::Reader;
use self::step::{Asked, Saving};
use super::publish::{Condition, Shared};
use crate::room::{GateId, Position, State, View, Wall};
use crate::store::{Occasion, Unavailable};

pub use draws::reveal;
pub(super) use leaving::report_loss;
pub use setup::Setup;
pub(super) use setup::placeholder;
pub use step::{Answer, Ask, Step};

/// A gate's side of the log's protocol.
pub struct Protocol {
    context: Context,
    phase: Phase,
    /// The open call whose answer is awaited.
    asked: Option<Asked>,
    /// An entry that the operator wants passed over, until the store has taken that.
    skip: Option<Position>,
}

/// Where a gate stands with its log.
enum Phase {
    /// Before the first answer of the log.
    Starting(Box<Starting>),
    /// A state is brought up to the end of the log.
    CatchingUp(Box<CatchingUp>),
    /// A new log is to begin before anything else.
    Beginning(Box<Beginning>),
    /// The log has no root yet.
    Rootless(Box<Rootless>),
    /// The log is followed entry by entry.
    Live(Box<Live>),
    /// An entry cannot be applied.
    Frozen(Box<Frozen>),
    /// The log has gone on with a machine version that this binary lacks.
    Behind {
        version: u16,
    },
    Ended,
}

impl Protocol {
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let shared = Arc::new(Shared::new(placeholder(&setup.rooms, Wall(0))));
        Self::sharing(setup, shared)
    }

    pub(in crate::replica) fn sharing(setup: Setup, shared: Arc<Shared>) -> Self {
        let Setup {
            gate,
            rooms,
            mut options,
            alone,
            apply,
            archiver,
            random,
        } = setup;
        let configured = Configured::new(rooms, options.keyring.take(), options.charge);
        let reader = Reader::new(apply, options.knows, archiver);
        let identity = Identity::new(gate, alone, options, random);
        Self {
            context: Context::new(identity, reader, configured, shared),
            phase: Phase::Starting(Box::default()),
            asked: None,
            skip: None,
        }
    }

    /// The step at uptime `now`. [`Step::Ask`] must be followed by one [`Protocol::answer`].
    pub fn next(&mut self, now: Duration) -> Step {
        debug_assert!(self.asked.is_none(), "one thing is asked at a time");
        if let Some(step) = self.leave_if_due(now) {
            return step;
        }
        if let Some(until) = self.context.retry.rests(now) {
            return Step::Wait(until);
        }
        if let Some(position) = self.skip {
            return self.ask(Asked::Skip, Ask::Skip(position));
        }
        let context = &mut self.context;
        let turn = match &mut self.phase {
            Phase::Starting(starting) => starting.next(now),
            Phase::CatchingUp(catching_up) => catching_up.next(),
            Phase::Beginning(beginning) => beginning.next(),
            Phase::Rootless(rootless) => rootless.next(context, now),
            Phase::Live(live) => live.next(context, now),
            Phase::Frozen(frozen) => frozen.next(context, now),
            Phase::Behind { .. } => Turn::Wait(now + IDLE),
            Phase::Ended => return Step::Ended,
        };
        match turn {
            Turn::Ask(asked, ask) => self.ask(asked, ask),
            Turn::Wait(until) => Step::Wait(until),
            Turn::Rest(until) => Step::Rest(until),
            Turn::BeginAbove(epoch) => {
                if let Phase::Live(live) = self.take_phase() {
                    self.enter(live.begin_above(epoch), now);
                }
                self.next(now)
            }
        }
    }

    /// Takes the result of the last [`Step::Ask`].
    pub fn answer(&mut self, now: Duration, answer: Result<Answer, Unavailable>) {
        let Some(asked) = self.asked.take() else { return };
        let answer = match answer {
            Ok(answer) => answer,
            Err(reason) => return self.unanswered(asked, &reason, now),
        };
        if !self.context.shared.failing.odd() {
            self.context.retry.reset();
        }
        self.context.retry.end_rest();
        self.answered(asked, answer, now);
        // A rest means that the answer was of no use.
        let of_use = self.context.retry.rests(now).is_none();
        let lives = matches!(self.phase, Phase::Live(_));
        if self.context.shared.failing.answered(of_use, lives) {
            tracing::info!("the log answers again");
        }
    }

    /// Begins to leave: waiting items are appended first. Ends with [`Step::Ended`], at the latest after
    /// [`Options::goodbye_within`](super::Options::goodbye_within), or after `patience` where that is longer and the log has
    /// not yet taken purchases, leaves or ended sessions.
    pub fn leave(&mut self, now: Duration, patience: Duration) {
        self.context.leaving.begin(now, patience);
        // The last words are tried at once.
        self.context.retry.end_rest();
    }

    /// Goes on after [`Protocol::leave`] has ended, from the log's present content, with a hello.
    pub fn come_back(&mut self, now: Duration) {
        let context = &mut self.context;
        context.leaving.end();
        context.outgoing.begin_anew();
        context.retry.end_rest();
        context.reader.reopen_archive();
        self.enter(Transition::Restart(Restart::default()), now);
    }

    /// The state that the published view is of; `None` while there is no such state.
    #[must_use]
    pub fn state(&self) -> Option<&State> {
        self.phase.state()
    }

    /// The state, when the gate lives on a log that has its root.
    #[must_use]
    pub fn live_state(&self) -> Option<&State> {
        match &self.phase {
            Phase::Live(live) => Some(live.state()),
            _ => None,
        }
    }

    /// The store is empty, and is asked again after a pause.
    pub(in crate::replica) fn asks_again(&self) -> bool {
        matches!(&self.phase, Phase::Starting(starting) if starting.finds_nothing())
    }

    /// The view in force.
    #[must_use]
    pub fn view(&self) -> Arc<View> {
        self.context.shared.load().share()
    }

    /// For how long the gate has been cut off at uptime `now`; `None` when it is not.
    #[must_use]
    pub fn cut_off(&self, now: Duration) -> Option<Duration> {
        self.context.shared.cut_off(|| now)
    }

    #[must_use]
    pub fn gate(&self) -> GateId {
        self.context.identity.gate()
    }

    #[must_use]
    pub fn condition(&self) -> Condition {
        self.context.shared.condition()
    }

    /// True once the first batch of this life was read back.
    #[must_use]
    pub fn has_joined(&self) -> bool {
        self.context.outgoing.has_joined()
    }

    /// Purchases, ends and leaves that the log has not taken: no later request repeats them.
    pub(in crate::replica) fn final_notes(&self) -> usize {
        self.context.outgoing.final_notes()
    }

    fn ask(&mut self, asked: Asked, ask: Ask) -> Step {
        self.asked = Some(asked);
        Step::Ask(ask)
    }

    fn take_phase(&mut self) -> Phase {
        std::mem::replace(&mut self.phase, Phase::Ended)
    }

    /// Gives an answer to the phase that made the call.
    fn answered(&mut self, asked: Asked, answer: Answer, now: Duration) {
        let phase = self.take_phase();
        let context = &mut self.context;
        let outcome = match (phase, asked, answer) {
            (Phase::Starting(starting), Asked::Load, Answer::Loaded(loaded)) => Break(starting.loaded(context, loaded)),
            (Phase::CatchingUp(catching_up), Asked::Exchange { .. }, Answer::Exchanged(exchanged)) => catching_up
                .read(context, exchanged, now)
                .map_continue(Phase::CatchingUp),
            (Phase::Beginning(beginning), Asked::Begin, Answer::Begun(begun)) => {
                Break(beginning.begun(context, begun, now))
            }
            (Phase::Rootless(rootless), Asked::Root(hash), Answer::Root(root)) => rootless
                .root_fetched(context, hash, root, now)
                .map_continue(Phase::Rootless),
            (Phase::Rootless(mut rootless), Asked::Save(Saving::Root(hash)), Answer::Saved) => {
                rootless.root_saved(hash);
                Continue(Phase::Rootless(rootless))
            }
            (Phase::Rootless(rootless), Asked::Exchange { appended }, Answer::Exchanged(exchanged)) => rootless
                .read(context, appended, exchanged, now)
                .map_continue(Phase::Rootless),
            (Phase::Live(live), Asked::Exchange { appended }, Answer::Exchanged(exchanged)) => {
                live.read(context, appended, exchanged, now).map_continue(Phase::Live)
            }
            (Phase::Live(mut live), Asked::Save(Saving::Checkpoint(sequence)), Answer::Saved) => {
                live.snapshot_saved(context, sequence);
                Continue(Phase::Live(live))
            }
            (Phase::Live(_), Asked::Save(Saving::Last), Answer::Saved) => Break(Transition::End),
            (Phase::Frozen(frozen), Asked::Skips, Answer::Skips(skips)) => {
                let mut outcome = frozen.skips_read(&skips);
                if let Continue(frozen) = &mut outcome {
                    self.skip = frozen.retry_skip().or(self.skip);
                }
                outcome.map_continue(Phase::Frozen)
            }
            (mut phase, Asked::Skip, Answer::Skipped) => {
                self.skip = None;
                if let Phase::Frozen(frozen) = &mut phase {
                    frozen.look_now();
                }
                Continue(phase)
            }
            (phase, ..) => {
                context.odd("an answer to another question", now);
                Continue(phase)
            }
        };
        match outcome {
            Continue(phase) => {
                self.phase = phase;
                self.show(now);
            }
            Break(transition) => self.enter(transition, now),
        }
    }

    fn unanswered(&mut self, asked: Asked, reason: &Unavailable, now: Duration) {
        let context = &mut self.context;
        context.shared.calls.fail(reason.trouble);
        match (&mut self.phase, asked) {
            (Phase::Live(live), Asked::Save(Saving::Checkpoint(_))) => {
                return live.snapshot_not_saved(context, reason, now);
            }
            (_, Asked::Save(Saving::Last)) => {
                tracing::warn!(%reason, "the last snapshot could not be saved; the next start begins a new log");
                return self.enter(Transition::End, now);
            }
            (phase, Asked::Skip) => {
                if let (Phase::Frozen(frozen), Some(position)) = (phase, self.skip.take()) {
                    frozen.skip_refused(position);
                }
            }
            (_, Asked::Load) if context.identity.alone() && !context.outgoing.has_joined() => {
                context.shared.fail(reason.clone());
            }
            _ => {}
        }
        context.rest(reason, now);
    }

    /// Begins the next phase: the one place where phases change. The condition that others see changes with them.
    fn enter(&mut self, transition: Transition, now: Duration) {
        let context = &mut self.context;
        self.phase = match transition {
            Transition::Restart(restart) => Phase::Starting(Box::new(Starting::new(restart))),
            Transition::AskAgain => Phase::Starting(Box::new(Starting::again(now))),
            Transition::CatchUp(origin) => Phase::CatchingUp(Box::new(CatchingUp::new(context, *origin))),
            Transition::Begin(new) => match Beginning::new(context, new) {
                Ok(beginning) => Phase::Beginning(Box::new(beginning)),
                Err(at) => Phase::Frozen(Box::new(Frozen::new(context, at, None, now))),
            },
            Transition::Follow { epoch, old } => Phase::Rootless(Box::new(Rootless::new(context, epoch, old, now))),
            Transition::Live(state, checkpoints) => {
                context.has_log();
                Phase::Live(Box::new(Live::new(*state, *checkpoints)))
            }
            Transition::Freeze(at, old) => Phase::Frozen(Box::new(Frozen::new(context, at, old, now))),
            Transition::FallBehind(version) => {
                tracing::error!(
                    version,
                    "the log goes on with a machine version that this binary lacks: upgrade this gate"
                );
                context.shared.freeze(now);
                Phase::Behind { version }
            }
            Transition::End => {
                context.close_archive();
                Phase::Ended
            }
        };
        self.show(now);
        // Only now: a visitor who is asked to come again may read the gate's condition at once.
        if matches!(self.phase, Phase::Frozen(_) | Phase::Behind { .. }) {
            self.context.outgoing.drop_all();
        }
    }

    /// Shows others how the gate stands to its log.
    fn show(&self, now: Duration) {
        let Some(condition) = self.phase.condition(&self.context) else {
            return;
        };
        let shared = &self.context.shared;
        // No log is to answer before there is one.
        if !matches!(condition, Condition::Live | Condition::Opening) {
            shared.sent(now);
        }
        shared.set_missing(match &self.phase {
            Phase::Rootless(rootless) => rootless.missing(),
            _ => Vec::new(),
        });
        shared.set_condition(condition);
    }

    /// The next step of a gate that leaves, where that is another than usual.
    fn leave_if_due(&mut self, now: Duration) -> Option<Step> {
        let context = &mut self.context;
        if !context.leaving.is_leaving() {
            return None;
        }
        let notes = context.outgoing.final_notes();
        if notes > 0 {
            context.leaving.wait_for_notes(now);
        }
        let over = context.leaving.is_over(now);
        let ends = self.phase.ends(context, notes);
        if ends || over {
            report_loss(notes, over && !ends);
            self.enter(Transition::End, now);
            return Some(Step::Ended);
        }
        let Phase::Live(live) = &self.phase else { return None };
        if !context.leaving.has_said_goodbye() {
            return None;
        }
        let snapshot = live.last_snapshot(context);
        let occasion = Occasion::Last;
        Some(self.ask(Asked::Save(Saving::Last), Ask::Save { snapshot, occasion }))
    }
}

impl Phase {
    /// The state that the published view is of.
    fn state(&self) -> Option<&State> {
        match self {
            Self::Live(live) => Some(live.state()),
            Self::Rootless(rootless) => rootless.state(),
            Self::Beginning(beginning) => beginning.state(),
            Self::Starting(_) | Self::CatchingUp(_) | Self::Frozen(_) | Self::Behind { .. } | Self::Ended => None,
        }
    }

    /// The gate's condition towards its log; `None` at the end, when the last published condition stays.
    fn condition(&self, context: &Context) -> Option<Condition> {
        Some(match self {
            // When they are read anew in the middle of a life, the rooms are as they were a moment ago.
            Self::Starting(_) | Self::CatchingUp(_) if context.outgoing.has_joined() => context.shared.condition(),
            Self::Starting(starting) if starting.finds_nothing() => Condition::Opening,
            Self::Starting(_) | Self::CatchingUp(_) => Condition::Starting,
            Self::Beginning(beginning) => beginning.condition(),
            Self::Rootless(rootless) => rootless.condition(),
            Self::Live(_) => context.live_condition(),
            Self::Frozen(frozen) => frozen.condition(),
            Self::Behind { version } => Condition::Behind { version: *version },
            Self::Ended => return None,
        })
    }

    /// A gate that leaves, with this many final notes, is done here.
    fn ends(&self, context: &Context, final_notes: usize) -> bool {
        let alone = context.identity.alone();
        match self {
            Self::Ended | Self::Frozen(_) | Self::Behind { .. } => true,
            Self::Starting(_) => !alone && final_notes == 0,
            Self::Rootless(rootless) => rootless.has_left(),
            Self::Live(_) => context.leaving.has_said_goodbye() && !alone,
            Self::CatchingUp(_) | Self::Beginning(_) => false,
        }
    }
}
