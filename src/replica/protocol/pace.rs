//! When a live gate appends to the log: at once if a request waits for it, together with later items if none does, and no
//! more often than all gates can read.

use std::time::Duration;

use super::checkpoints::Checkpoints;
use super::context::Context;
use super::outgoing::Outgoing;
use super::schedules;
use crate::room::State;

/// The state that determines the pace of a live gate.
#[derive(Default)]
pub(super) struct Pace {
    /// The log had more than was read.
    more: bool,
    /// Since when marks and renewals have been waiting for company.
    company_since: Option<Duration>,
    /// The last batch had several items with a waiting request.
    crowded: bool,
}

impl Pace {
    /// Notes since when there is anything to say.
    pub fn look(&mut self, outgoing: &Outgoing, now: Duration) {
        if self.company_since.is_none() && outgoing.collector.keeps_company() {
            self.company_since = Some(now);
        }
    }

    /// A batch was cut that has this number of items with a waiting request.
    pub fn cut(&mut self, waiting: usize) {
        self.company_since = None;
        self.crowded = waiting > 1;
    }

    /// The log was read; it may have `more`.
    pub fn read(&mut self, more: bool) {
        self.more = more;
    }

    /// Uptime before which nothing is appended.
    pub fn soonest(&self, context: &Context, state: &State) -> Duration {
        let gates = u32::try_from(state.roster().count()).unwrap_or(u32::MAX);
        let apart = GATES_APART.saturating_mul(gates.saturating_mul(gates).saturating_sub(1));
        let crowd = if self.crowded { CROWD_APART } else { Duration::ZERO };
        context.reader.asked() + apart.min(APART_MOST).max(crowd)
    }

    /// Uptime at which the log is to be spoken to.
    pub fn due(&self, context: &Context, state: &State, checkpoints: &Checkpoints, now: Duration) -> Duration {
        // The next entry is available already.
        if self.more {
            return now;
        }
        let soonest = self.soonest(context, state);
        let at_once = context.configured.wants_comparison() || context.foreign_epoch(state, now).is_some();
        if at_once || is_urgent(context, state, checkpoints, now) {
            return soonest.max(now);
        }
        let tick = Duration::from_millis(state.tick_ms());
        let mut due = tick_due(context, state, tick);
        if let Some(departs) = self.company_departs(context, tick) {
            due = due.min(departs);
        }
        if !context.identity.alone() && !context.is_left_alone(state, now) {
            due = due.min(context.reader.asked() + tick.min(READ_EVERY));
        }
        due.max(soonest)
    }

    /// Whether a batch is due.
    pub fn has_something_to_say(
        &self,
        context: &Context,
        state: &State,
        checkpoints: &Checkpoints,
        now: Duration,
    ) -> bool {
        let tick = Duration::from_millis(state.tick_ms());
        let departs = self.company_departs(context, tick);
        is_urgent(context, state, checkpoints, now)
            || now >= tick_due(context, state, tick)
            || departs.is_some_and(|departs| now >= departs)
    }

    /// When marks and renewals go, if there are any; other gates' entries never hold them up.
    fn company_departs(&self, context: &Context, tick: Duration) -> Option<Duration> {
        self.company_since
            .map(|since| since.min(context.reader.heard()) + tick.min(COMPANY))
    }
}

fn is_urgent(context: &Context, state: &State, checkpoints: &Checkpoints, now: Duration) -> bool {
    context.outgoing.is_urgent()
        || context.leaving.wants_goodbye()
        || (checkpoints.is_urgent() && !context.is_left_alone(state, now))
}

/// When it is this gate's turn to append an empty entry, so that log time goes on; or when it must, to stay on the roster.
fn tick_due(context: &Context, state: &State, tick: Duration) -> Duration {
    let next = state.position().sequence + 1;
    let rank = state.rank(context.identity.gate(), next).unwrap_or(0);
    let rank = u32::try_from(rank).unwrap_or(u32::MAX);
    let turn = context.reader.heard() + schedules::until_turn(state, tick) + RANK_APART.saturating_mul(rank);
    turn.min(context.outgoing.spoke() + SILENT_MOST)
}

/// Gates that share a log keep this far apart, times the square of their number: a hundred take 200 ms.
const GATES_APART: Duration = Duration::from_micros(20);
const APART_MOST: Duration = Duration::from_millis(200);

/// Distance between entries after one that had several items with waiting requests.
// PERF: every gate reads and applies each entry. Where joins come faster than the log answers, a few large entries cost a
// fraction of many small ones, and the wait is too short to notice.
const CROWD_APART: Duration = Duration::from_millis(8);

/// A gate with nothing to ask looks up now and then …
pub(super) const IDLE: Duration = Duration::from_secs(1);

/// … and one that no word could have speak sooner as often as this.
pub(super) const REST_MOST: Duration = CROWD_APART;

/// How much later each rank of the roster ticks, so that one of them does it.
const RANK_APART: Duration = Duration::from_millis(20);

/// Longest that a gate appends nothing: a third of the silence that takes it off the roster.
const SILENT_MOST: Duration = Duration::from_secs(5);

/// Longest that a gate with nothing to say leaves the others' words unread.
const READ_EVERY: Duration = Duration::from_millis(500);

/// Longest that marks and renewals wait after the last entry for company, or for the tick if that is sooner.
// PERF: they come one by one, hundreds a second; a commit for each would wear out a disk.
const COMPANY: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::super::{Protocol, Setup, Step};
    use super::*;
    use crate::replica::inbox::{Arrival, JoinOutcome};
    use crate::replica::worker::carry_out;
    use crate::replica::{Condition, Options};
    use crate::room::{GateId, LaneId, LineName, RoomName, Settings};
    use crate::store::{self, Embedded};

    fn comes(gate: &mut Protocol) -> oneshot::Receiver<JoinOutcome> {
        let main = RoomName::new("main").unwrap();
        gate.join(main, LineName::ONLY, LaneId(0), Arrival::first()).unwrap()
    }

    /// The gate's next step: false if it waits, in any way that ends at once.
    fn step(gate: &mut Protocol, log: &mut Embedded, now: &mut Duration) -> bool {
        match gate.next(*now) {
            Step::Ask(ask) => gate.answer(*now, carry_out(log, ask)),
            Step::Wait(until) | Step::Rest(until) => {
                *now = until;
                return false;
            }
            Step::Ended => panic!("it ended"),
        }
        true
    }

    #[test]
    fn a_crowd_is_not_listened_to_before_its_next_entry_may_go() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Embedded::open(folder.path(), store::Options::default()).unwrap();
        let mut gate = Protocol::new(Setup {
            gate: GateId(7),
            rooms: vec![(RoomName::new("main").unwrap(), Settings::default())],
            options: Options::default(),
            alone: true,
            apply: crate::room::State::apply,
            archiver: None,
            random: Box::new(|| 5),
        });
        let mut now = Duration::ZERO;
        while gate.condition() != Condition::Live || gate.view().rooms.is_empty() {
            step(&mut gate, &mut log, &mut now);
        }
        // The first entries of a gate alone go before.
        while step(&mut gate, &mut log, &mut now) {}
        let mut heard = Vec::new();
        // One by one they go at once.
        for _ in 0..2 {
            heard.push(comes(&mut gate));
            assert!(step(&mut gate, &mut log, &mut now));
        }
        heard.extend([comes(&mut gate), comes(&mut gate)]);
        assert!(step(&mut gate, &mut log, &mut now));
        assert!(matches!(gate.next(now), Step::Rest(until) if until == now + CROWD_APART));
        heard.push(comes(&mut gate));
        assert!(matches!(gate.next(now), Step::Rest(until) if until == now + CROWD_APART));
        assert!(step(&mut gate, &mut log, &mut { now + CROWD_APART }));
        for outcome in &mut heard {
            assert!(matches!(outcome.try_recv(), Ok(JoinOutcome::Numbered(..))));
        }
        assert!(matches!(gate.next(now + CROWD_APART), Step::Wait(_)), "nobody is left");
    }
}
