//! The state that all phases of a gate's life share: its identity, and the parts that read, append and publish.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::checkpoints::Checkpoints;
use super::configured::Configured;
use super::foreign::Foreign;
use super::identity::Identity;
use super::leaving::Leaving;
use super::outgoing::{Outgoing, Settled};
use super::reader::Reader;
use super::retry::Retry;
use crate::replica::publish::{Condition, Shared};
use crate::replica::recover::Applied;
use crate::room::{Effects, Encoded, IDLE_TICK_MS, State};
use crate::store::{Trouble, Unavailable};

/// Each part owns its fields; a phase reaches them by the methods of the part.
pub(super) struct Context {
    pub identity: Identity,
    pub reader: Reader,
    pub outgoing: Outgoing,
    pub configured: Configured,
    pub leaving: Leaving,
    pub retry: Retry,
    pub shared: Arc<Shared>,
    /// By the operator's word or the new key ([`Options`](crate::replica::Options)), until a log is there.
    first_start: bool,
    foreign: Foreign,
}

impl Context {
    pub fn new(identity: Identity, reader: Reader, configured: Configured, shared: Arc<Shared>) -> Self {
        Self {
            leaving: Leaving::new(identity.options().goodbye_within),
            first_start: identity.options().first_start || identity.options().new_key,
            identity,
            reader,
            configured,
            shared,
            outgoing: Outgoing::default(),
            retry: Retry::default(),
            foreign: Foreign::default(),
        }
    }

    /// A log that begins now is the first.
    pub fn is_first_start(&self) -> bool {
        self.first_start
    }

    /// The rooms of a log that begins from nothing.
    pub fn no_rooms(&self, epoch: u64) -> State {
        if self.first_start {
            return State::first(epoch);
        }
        tracing::info!(
            "the rooms begin with nobody: if a log was lost, visitors who are inside come back with their passes, so no room calls \
             before those have run out; if there was none, start with --first-start, or run `ropeline rooms end-healing ROOM`"
        );
        State::after_a_loss(epoch)
    }

    /// The log was there before this gate.
    pub fn finds_log(&mut self) {
        if self.first_start && self.identity.options().first_start {
            tracing::warn!("the store has a log, so this is no first start: run without --first-start from now on");
        }
        self.has_log();
    }

    /// There is a log: one that begins later in this life takes the place of this one.
    pub fn has_log(&mut self) {
        self.first_start = false;
    }

    /// The log failed: it is left alone for a moment.
    pub fn rest(&mut self, reason: &Unavailable, now: Duration) {
        self.shared.sent(now);
        if let Some(lasts) = self.shared.failing.failed(reason, now) {
            let seconds = lasts.as_secs();
            tracing::error!(%reason, seconds, "the log takes nothing: nobody is called until it does; those inside go on");
        }
        self.retry.failed(self.identity.random(), now);
    }

    /// The log gave an invalid answer.
    pub fn odd(&mut self, reason: &str, now: Duration) {
        self.shared.calls.fail(Trouble::Odd);
        self.rest(&Unavailable::new(Trouble::Odd, reason), now);
    }

    /// Applies the next entry and the effects of each: its time, its share of the log, and a checkpoint if one falls here.
    pub fn apply(
        &mut self,
        state: &mut State,
        entry: &Encoded,
        checkpoints: &mut Checkpoints,
        now: Duration,
    ) -> Applied {
        let applied = self.reader.apply(state, entry, now);
        if let Applied::Done(_) = applied {
            self.shared.counts.read();
            checkpoints.entry(entry, state, self.identity.alone());
        }
        applied
    }

    /// The batch under way is in the log: answers its waiting requests. A batch that the room skipped, because the gate had
    /// been silent for so long that it left the roster, is sent again.
    pub fn settle(&mut self, checkpoints: &mut Checkpoints, effects: &Effects, now: Duration) {
        let Some(lag) = self.outgoing.read_back(now) else {
            return;
        };
        self.shared.read_back(now);
        self.shared.counts.appended(lag);
        match self.outgoing.settle(effects, now) {
            None | Some(Settled::Again) => {}
            Some(Settled::Unknown) => self.odd("the rooms do not know this gate", now),
            Some(Settled::Taken(batch)) => {
                if batch.goodbye {
                    self.leaving.said_goodbye();
                }
                checkpoints.said(&batch);
            }
        }
    }

    /// Archives the entries that are in no file yet.
    pub fn close_archive(&mut self) {
        self.reader.close_archive(self.identity.options().goodbye_within);
    }

    /// The gate goes live on the log of `state`: the differences in the configured rooms are sent.
    pub fn configure(&mut self, state: &State) {
        let has_joined = self.outgoing.has_joined();
        let changes = self.configured.at_start(&self.identity, state, has_joined);
        self.outgoing.collector.configure(changes);
    }

    /// Publishes the rooms of `state`. A log begun from nothing lacks this gate's rooms until its own entry is read back:
    /// placeholders are shown meanwhile, so that no visitor is refused.
    pub fn publish(&self, state: &mut State, now: Duration) {
        if !(self.shows_placeholders() && self.configured.is_lacking(state)) {
            self.shared.publish(state.view(), now);
        }
    }

    /// Shows the rooms of `state`, if nothing but placeholders was shown so far.
    pub fn publish_first(&self, state: &mut State, now: Duration) {
        if self.shows_placeholders() {
            self.shared.publish(state.view(), now);
        }
    }

    /// How a gate with a live log stands to it: it lives on one only when that one's rooms are shown.
    pub fn live_condition(&self) -> Condition {
        if self.shows_placeholders() {
            Condition::Starting
        } else {
            Condition::Live
        }
    }

    /// The epoch above which a new log is to begin, since a genuine token is of it.
    pub fn foreign_epoch(&self, state: &State, now: Duration) -> Option<u64> {
        let highest = self.shared.foreign.load(Ordering::Relaxed);
        self.foreign.epoch(highest, state, self.reader.time(), now)
    }

    /// As [`Context::foreign_epoch`]; the log is begun.
    pub fn take_foreign_epoch(&mut self, state: &State, now: Duration) -> Option<u64> {
        let epoch = self.foreign_epoch(state, now)?;
        self.foreign.begins(now);
        Some(epoch)
    }

    /// All rooms of a shared log are empty, and no visitor has asked this gate for one for a while. The log is then read only
    /// when it is this gate's turn to append, or when a visitor comes.
    pub fn is_left_alone(&self, state: &State, now: Duration) -> bool {
        !self.identity.alone() && state.tick_ms() >= IDLE_TICK_MS && self.shared.attention.missed(now) >= AWAKE
    }

    /// It is this gate's turn to make the next entry if no gate has content for one. Gates that are left alone know of the
    /// others' entries only when they append: each of them is on turn then.
    pub fn is_on_turn(&self, state: &State, now: Duration) -> bool {
        self.is_left_alone(state, now) || state.rank(self.identity.gate(), state.position().sequence + 1) == Some(0)
    }

    /// No state of a log has been published yet, only the configured rooms without visitors.
    fn shows_placeholders(&self) -> bool {
        self.shared.load().position.epoch == 0
    }
}

/// How long after a visitor's last question a gate with empty rooms goes on reading its log often.
const AWAKE: Duration = Duration::from_secs(10);
