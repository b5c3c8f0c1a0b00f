//! The result of a simulation.

use serde::Serialize;

use crate::charts::{Spread, secs};
use crate::room::{Figures, Section};

use super::active::ways::Way;
use super::bills::Bill;
use super::followed::Followed;
use super::gate::Gate;
use super::guesses::{Point, Trust};
use super::hidden::Unseen;
use super::plan::Plan;
use super::series::Series;
use super::serving::Served;

/// Counted while a simulation runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub counts: Counts,
    pub gave_up: u64,
    pub turned_away: u64,
    pub thrown_out: u64,
    pub late: u64,
    pub sold_out_in_line: u64,
    pub closed_in_line: u64,
    /// Visitors who join anew with the next entry.
    pub again: Vec<u32>,
    peak_waiting: u64,
    /// While a visitor waits and can be called: time, and time by slots held, slots of sessions, people busy inside, and slots.
    line_ms: u64,
    held: u128,
    inside: u128,
    busy: u128,
    slots: u128,
    /// By the definition of `active::usage`.
    used: u128,
    /// No more visitors may be called meanwhile, since all rights are taken; and the most slots that are free then.
    pub rights_full_ms: u64,
    pub rights_full_free: u32,
    /// The most sessions above the capacity, and for how long there are any.
    pub above: u64,
    pub above_ms: u64,
}

/// Totals that a series has by step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Requests of the shop.
    pub requests: u64,
    /// The gate's notes: marks and renewals, and all others but joins.
    pub marks: u64,
    pub words: u64,
}

impl Tally {
    /// The gate says this with its next entry.
    pub fn says(&mut self, said: &Section) {
        self.counts.marks += (said.marks.len() + said.renewals.len()) as u64;
        let words = [
            said.claims.len(),
            said.completions.len(),
            said.leaves.len(),
            said.ends.len(),
            said.holds.len(),
            said.returns.len(),
        ];
        self.counts.words += words.iter().sum::<usize>() as u64;
    }

    /// Time has passed with these figures at its end, in which visitors used slots for `used_ms` altogether.
    pub fn pass(&mut self, figures: &Figures, calls: bool, (busy, ms): (u64, u64), used_ms: u128) {
        self.peak_waiting = self.peak_waiting.max(figures.waiting);
        if figures.waiting > 0 && calls {
            let held = u64::from(figures.called) + u64::from(figures.inside);
            self.line_ms += ms;
            self.held += u128::from(held) * u128::from(ms);
            self.busy += u128::from(busy.min(held)) * u128::from(ms);
            self.inside += u128::from(figures.inside) * u128::from(ms);
            self.slots += u128::from(figures.capacity) * u128::from(ms);
            self.used += used_ms.min(u128::from(held) * u128::from(ms));
            let rights = held + u64::from(figures.parked);
            let free = u64::from(figures.capacity).saturating_sub(held + u64::from(figures.reserve));
            if free > 0 && figures.max_sessions.is_some_and(|most| rights >= u64::from(most)) {
                self.rights_full_ms += ms;
                self.rights_full_free = self.rights_full_free.max(u32::try_from(free).unwrap_or(u32::MAX));
            }
        }
    }

    /// The shop counts so many sessions, for so long.
    pub fn counts(&mut self, sessions: u64, capacity: u32, ms: u64) {
        let above = sessions.saturating_sub(u64::from(capacity));
        self.above = self.above.max(above);
        self.above_ms += if above > 0 { ms } else { 0 };
    }

    /// The share of the slots with a busy visitor while there was a line.
    pub fn used(&self) -> f64 {
        share(self.used, self.slots)
    }
}

/// A simulation's figures. The same plan gives the same bytes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Outcome {
    /// Of the form of these figures: rises when one of them is renamed, goes, or means something else.
    pub version: u32,
    pub room: String,
    pub arrive: String,
    pub visitors: u32,
    pub bots: u64,
    pub seed: u64,
    /// Virtual time, and whether everybody had come and gone by then.
    pub took_secs: f64,
    pub finished: bool,
    /// Visitors who had not come by then.
    pub never_came: u64,
    pub joins: u64,
    pub calls: u64,
    pub claims: u64,
    pub no_shows: u64,
    /// Gave up while waiting.
    pub gave_up: u64,
    /// Came back too late, or were in line when the next sale began, and joined anew.
    pub late: u64,
    /// Found the room closed or sold out.
    pub turned_away: u64,
    /// Were in line when all was sold, or when the room closed.
    pub sold_out_in_line: u64,
    pub closed_in_line: u64,
    /// Were inside when their session ended.
    pub thrown_out: u64,
    pub completed: u32,
    /// Visitors still in line at the end.
    pub still_waiting: u64,
    pub peak_waiting: u64,
    /// Most simultaneous visitors with a request to the shop in the last `session_duration` whose sessions were not ended.
    pub most_sessions: u64,
    /// How long there was a visitor in line who could be called.
    pub line_secs: f64,
    /// Shares of the slots meanwhile: held, in a session, and with a visitor busy inside.
    pub held: f64,
    pub in_session: f64,
    pub utilisation: f64,
    /// From joining to the call, and to coming in; bots apart.
    pub waits: Spread,
    pub waits_to_door: Spread,
    pub estimates: Trust,
    /// Some of the looks, for a plot.
    #[serde(skip)]
    pub points: Vec<Point>,
    /// The shop's requests, and their results in a shop with a limit.
    pub requests: u64,
    pub upstream: Option<Served>,
    /// How the room followed its shop, where it does.
    #[serde(rename = "admission")]
    pub load_control: Option<Followed>,
    /// Facts that the figures leave out.
    pub notes: Vec<String>,
    pub entries: u64,
    pub events: u64,
    /// The cost with each of the requested numbers of gates.
    pub bills: Vec<Bill>,
    /// Turns of visitors in a hidden tab, by each way to claim them; none without such visitors.
    pub unseen: Vec<Unseen>,
    /// As the room is configured, and with slots given away in the other way.
    pub ways: Vec<Way>,
    pub advice: Vec<String>,
    pub over_time: Series,
}

impl Outcome {
    pub(super) fn of(
        plan: &Plan,
        gate: &Gate,
        (tally, most_sessions, bots, never_came): (&Tally, u64, u64, u64),
        (upstream, load_control, bills, unseen): (Option<Served>, Option<Followed>, Vec<Bill>, Vec<Unseen>),
        (waits, waits_to_door): (Spread, Spread),
        (estimates, points, over_time): (Trust, Vec<Point>, Series),
        (way, now): (Way, u64),
    ) -> Self {
        let figures = gate.line().map(|line| line.figures).unwrap_or_default();
        Self {
            version: FORM,
            room: plan.room.as_str().to_owned(),
            arrive: plan.arrive.to_string(),
            visitors: plan.visitors,
            bots,
            seed: plan.seed,
            took_secs: secs(now),
            finished: now < plan.most_ms,
            never_came,
            joins: figures.joins,
            calls: figures.calls,
            claims: figures.claims,
            no_shows: figures.no_shows,
            gave_up: tally.gave_up,
            late: tally.late,
            turned_away: tally.turned_away,
            sold_out_in_line: tally.sold_out_in_line,
            closed_in_line: tally.closed_in_line,
            thrown_out: tally.thrown_out,
            completed: figures.completed,
            still_waiting: figures.waiting,
            peak_waiting: tally.peak_waiting,
            most_sessions,
            line_secs: secs(tally.line_ms),
            held: share(tally.held, tally.slots),
            in_session: share(tally.inside, tally.slots),
            utilisation: if plan.settings.active.is_some() || plan.has_pauses() {
                way.busy
            } else {
                share(tally.busy, tally.slots)
            },
            waits,
            waits_to_door,
            estimates,
            points,
            requests: tally.counts.requests,
            upstream,
            load_control,
            notes: plan.notes.clone(),
            entries: gate.entries,
            events: gate.events,
            bills,
            unseen,
            ways: vec![way],
            advice: Vec::new(),
            over_time,
        }
    }
}

/// The version of the form.
const FORM: u32 = 1;

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
pub(super) fn share(part: u128, whole: u128) -> f64 {
    let share = part as f64 / whole.max(1) as f64;
    (share * 10_000.0).round() / 10_000.0
}
