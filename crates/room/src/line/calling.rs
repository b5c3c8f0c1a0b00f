//! Decides which visitors are called, and when: slots, rate, stock, mode, and the turns of the lanes.

use crate::codec::codec;
use crate::entry::commands::CallOrder;
use crate::lane::record::{Call, Record};
use crate::lane::slots::Moved;
use crate::line::Line;
use crate::line::deadlines::Due;
use crate::line::pulse::Pulse;
use crate::line::rate::Bucket;
use crate::line::returns::Returns;
use crate::line::rules::Rules;
use crate::line::turns::Turns;
use crate::load::Allowance;
use crate::settings::{Mode, Settings};
use crate::state::context::Context;
use ropeline_ids::{Clock, LaneId, Number, Wall};

/// The state that a line's calls leave for the next ones: the rate's tokens, the turns of the lanes, and the recent pace.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    bucket: Bucket,
    turns: Turns,
    pulse: Pulse,
    last: Option<Wall>,
    /// In a line with active slots.
    pub returns: Option<Box<Returns>>,
}

codec! {
    struct Calls { bucket, turns, pulse } parts { last, returns };
}

/// The calls that the entry under way allows a line besides its rules; it lives no longer than the entry.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// How many calls the room's controller allows, if it has one; the rest is for the room's other lines.
    pub allowance: Option<Allowance>,
    /// Operators' calls with their revisions.
    pub orders: Vec<(u64, CallOrder)>,
    /// How many each of them has called.
    pub answered: Vec<(u64, u32)>,
}

impl Calls {
    pub fn new(settings: &Settings, now: Clock) -> Self {
        Self {
            bucket: Bucket::full(settings, now),
            turns: Turns::default(),
            pulse: Pulse::default(),
            last: None,
            returns: settings.active.map(|_| Box::new(Returns::new(now))),
        }
    }

    /// Without what is only counted or shown, for a form of the state.
    #[cfg(any(test, feature = "testing"))]
    pub fn forget_totals(&mut self, settings: &Settings, now: Clock) {
        let mut returns = self.returns.take();
        if let Some(returns) = &mut returns {
            returns.reserve.forget();
        }
        *self = Self {
            returns,
            ..Self::new(settings, now)
        };
    }

    pub fn bucket(&self) -> Bucket {
        self.bucket
    }

    pub fn pulse(&self) -> &Pulse {
        &self.pulse
    }

    /// When the line last called a visitor.
    pub fn last(&self) -> Option<Wall> {
        self.last
    }

    /// The settings change from `old` to `new`.
    pub fn resettle(&mut self, old: &Settings, new: &Settings, now: Clock) {
        // A turn under way counts calls by the old weights.
        if old.lane_weights != new.lane_weights {
            self.turns = Turns::default();
        }
        self.bucket = match old.rate_per_minute {
            Some(_) => self.bucket.at(old, now).at(new, now),
            None => Bucket::full(new, now),
        };
        if new.active.is_some() && self.returns.is_none() {
            self.returns = Some(Box::new(Returns::new(now)));
        }
    }

    /// A new sale begins: no lane has called in it.
    pub fn begin_sale(&mut self) {
        self.turns = Turns::default();
    }

    /// Notes that the line has now made `total` calls altogether.
    fn note(&mut self, total: u64, m: &Context) {
        self.pulse.beat(total, m.clock);
        self.last = Some(m.time);
    }
}

impl Line {
    /// Calls as many present visitors as slots, rate and stock allow, lowest place first within each lane.
    pub(super) fn call(&mut self, rules: &Rules, scope: &mut Scope, m: &Context) {
        let settings = rules.settings;
        if settings.mode != Mode::Auto || m.clock < rules.quiet_until(m) {
            return;
        }
        self.calls.bucket = self.calls.bucket.at(settings, m.clock);
        let allowed = scope.allowance.map_or(u64::MAX, Allowance::calls);
        let free = self.free(settings);
        let budget = self.calls.bucket.tokens(settings).min(free).min(allowed);
        let calls = self.call_up_to(budget, None, settings, m);
        if calls > 0 {
            self.calls.bucket = self.calls.bucket.spend(calls);
            scope.allowance = scope.allowance.map(|allowance| allowance.spend(calls));
        }
    }

    /// Calls by the lanes' turns, or of one lane; says how many. Nothing here frees a slot or brings a token, so the budget
    /// is counted once.
    fn call_up_to(&mut self, budget: u64, only: Option<LaneId>, settings: &Settings, m: &Context) -> u64 {
        let weights = self.weights(settings);
        let mut calls = 0;
        while calls < budget && self.reach(settings) > 0 {
            let lanes = &self.lanes;
            let waits = |lane: usize| lanes.get(lane).is_some_and(|lane| lane.presence.waiting() > 0);
            let next = match only.map(|lane| usize::from(lane.0)) {
                Some(lane) => Some(lane).filter(|lane| waits(*lane)),
                None => self.calls.turns.next(&weights, waits),
            };
            let Some(lane) = next else { break };
            self.call_one(lane, settings, m);
            calls += 1;
        }
        if calls > 0 {
            self.totals.calls += calls;
            self.calls.note(self.totals.calls, m);
        }
        calls
    }

    /// Calls the visitors whom an operator admits now: above the rate, which goes on unchanged, above the capacity if ordered
    /// so, and while the room heals.
    pub(super) fn call_ordered(&mut self, rules: &Rules, scope: &mut Scope, m: &Context) {
        let settings = rules.settings;
        for (revision, order) in &scope.orders {
            let able = !m.is_barred() && matches!(settings.mode, Mode::Auto | Mode::Hold);
            let free = if order.beyond {
                u64::MAX
            } else {
                self.held().free(settings.capacity)
            };
            let budget = u64::from(order.count).min(free);
            let calls = if able {
                self.call_up_to(budget, order.lane, settings, m)
            } else {
                0
            };
            scope
                .answered
                .push((*revision, u32::try_from(calls).unwrap_or(u32::MAX)));
        }
    }

    /// When the next call can be made, if a visitor waits and only the clock prevents it.
    pub(super) fn call_due(&self, rules: &Rules, allowance: Option<Allowance>, m: &Context) -> Option<Clock> {
        let settings = rules.settings;
        let able =
            settings.mode == Mode::Auto && self.free(settings) > 0 && self.reach(settings) > 0 && self.waiting() > 0;
        let allowed = match allowance {
            Some(allowance) => allowance.next(settings.call_every_ms)?,
            None => Clock(0),
        };
        let token = self.calls.bucket.next_token(settings).filter(|_| able);
        token.map(|due| due.max(rules.quiet_until(m)).max(allowed))
    }

    /// A lane that is no longer configured weighs 1 until it is empty.
    fn weights(&self, settings: &Settings) -> Vec<u16> {
        let configured = settings.lane_weights.iter().copied();
        configured.chain(std::iter::repeat(1)).take(self.lanes.len()).collect()
    }

    /// Calls a visitor who waits, or has just joined, past all others: above the capacity and the rate. The call takes a slot, and no token
    /// of the rate. The order of the others stays as it was.
    pub fn call_past(&mut self, id: LaneId, number: Number, settings: &Settings, m: &Context) {
        let call = fresh_call(settings, m);
        let Some(lane) = self.lane(id) else { return };
        let Some((place, call)) = lane.place(number).map(|place| (place, lane.call_at(place, call))) else {
            return;
        };
        self.totals.bypasses += 1;
        self.take_slot((id, place), call);
    }

    /// A called visitor has not come in time. While no called visitor can come in, the call is extended instead.
    pub(super) fn miss(&mut self, due: Due, call: Call, rules: &Rules, now: Clock) {
        if rules.keeps_calls {
            self.call_until(due, call, rules.settings, now);
            return;
        }
        if let Some(lane) = self.lane(due.0) {
            let moved = lane.miss(due.1, call);
            self.tally.follow(moved, &self.lanes, due);
        }
        self.totals.no_shows += 1;
    }

    /// All who are called can come in again: each has the whole time for it.
    pub fn renew_calls(&mut self, settings: &Settings, now: Clock) {
        let lanes = (0..).map(LaneId).zip(&self.lanes);
        let records = lanes.flat_map(|(id, lane)| lane.slots.iter().map(move |(place, record)| ((id, place), record)));
        let called = records.filter_map(|(due, record)| match record {
            Record::Called(call) => Some((due, *call)),
            _ => None,
        });
        for (due, call) in called.collect::<Vec<_>>() {
            self.call_until(due, call, settings, now);
        }
    }

    /// The turn is missed `claim_deadline` from now.
    fn call_until(&mut self, due: Due, call: Call, settings: &Settings, now: Clock) {
        let deadline = call.deadline.max(now.plus(settings.claim_deadline_ms));
        self.keep(
            due,
            Record::Called(Call {
                deadline,
                back: false,
                ..call
            }),
        );
    }

    fn call_one(&mut self, index: usize, settings: &Settings, m: &Context) {
        let call = fresh_call(settings, m);
        let Some((place, call)) = self.lanes[index].call(call, settings, m.clock) else {
            return;
        };
        let id = u8::try_from(index).map(LaneId).expect("a line has at most eight lanes");
        // The calls of each of several lanes.
        if settings.lanes.len() > 1 {
            let pulse = &mut self.lanes[index].pulse;
            pulse.beat(pulse.total() + 1, m.clock);
        }
        self.take_slot((id, place), call);
    }

    /// Counts a call that was just made.
    fn take_slot(&mut self, due: Due, call: Call) {
        self.tally.follow(Moved::In, &self.lanes, due);
        self.deadlines.add(call.due(), due);
    }
}

/// A visitor's first call, made now.
fn fresh_call(settings: &Settings, m: &Context) -> Call {
    Call {
        deadline: m.clock.plus(settings.claim_deadline_ms),
        at: m.time,
        count: 1,
        back: false,
    }
}
