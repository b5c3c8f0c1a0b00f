//! Who is called, and when: slots, rate, stock, mode, and whose turn it is between lanes.

use super::Line;
use crate::lane::record::{Call, Record};
use crate::line::deadlines::Due;
use crate::load::Allowance;
use crate::settings::{Mode, Settings};
use crate::state::context::Context;
use ropeline_ids::{Clock, LaneId, Number};

impl Line {
    /// Nobody is called before but by an operator.
    pub fn quiet_until(&self, m: &Context) -> Clock {
        self.heals_until.max(m.quiet_until())
    }

    /// Calls as many present visitors as slots, rate and stock allow, lowest place first within each lane.
    pub fn call(&mut self, settings: &Settings, m: &Context) {
        if settings.mode != Mode::Auto || m.clock < self.quiet_until(m) {
            return;
        }
        self.bucket = self.bucket.at(settings, m.clock);
        let allowed = self.allowance.map_or(u64::MAX, Allowance::calls);
        let budget = self.bucket.tokens(settings).min(self.free(settings)).min(allowed);
        let calls = self.call_up_to(budget, None, settings, m);
        if calls > 0 {
            self.bucket = self.bucket.spend(calls);
            self.allowance = self.allowance.map(|allowance| allowance.spend(calls));
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
                None => self.turns.next(&weights, waits),
            };
            let Some(lane) = next else { break };
            self.call_one(lane, settings, m);
            calls += 1;
        }
        if calls > 0 {
            self.figures.calls += calls;
            self.pulse.beat(self.figures.calls, m.clock);
            self.last_call = Some(m.time);
        }
        calls
    }

    /// Calls whom an operator lets in now: above the rate, which goes on as if nothing was, above the capacity where that
    /// was said, and while the room heals.
    pub fn call_ordered(&mut self, settings: &Settings, m: &Context) {
        for (revision, order) in std::mem::take(&mut self.ordered) {
            let able = !m.is_barred() && matches!(settings.mode, Mode::Auto | Mode::Hold);
            let free = if order.beyond { u64::MAX } else { self.free(settings) };
            let budget = u64::from(order.count).min(free);
            let calls = if able {
                self.call_up_to(budget, order.lane, settings, m)
            } else {
                0
            };
            self.answered.push((revision, u32::try_from(calls).unwrap_or(u32::MAX)));
        }
    }

    /// When somebody can be called, if somebody waits and only the clock stands in the way.
    pub fn call_due(&self, settings: &Settings, m: &Context) -> Option<Clock> {
        let able =
            settings.mode == Mode::Auto && self.free(settings) > 0 && self.reach(settings) > 0 && self.waiting() > 0;
        let allowed = match self.allowance {
            Some(allowance) => allowance.next(settings.call_every_ms)?,
            None => Clock(0),
        };
        let token = self.bucket.next_token(settings).filter(|_| able);
        token.map(|due| due.max(self.quiet_until(m)).max(allowed))
    }

    /// Slots free under the capacity; none while there are more sessions than that.
    fn free(&self, settings: &Settings) -> u64 {
        u64::from(settings.capacity.saturating_sub(self.slots()))
    }

    /// A lane that is no longer configured weighs 1 until it is empty.
    fn weights(&self, settings: &Settings) -> Vec<u16> {
        let configured = settings.lane_weights.iter().copied();
        configured.chain(std::iter::repeat(1)).take(self.lanes.len()).collect()
    }

    /// Calls a visitor who waits, or has just joined, past all others: above the capacity and the rate. The call takes a slot, and no token
    /// of the rate. The order of the others stays as it was.
    pub fn call_past(&mut self, id: LaneId, number: Number, settings: &Settings, m: &Context) {
        let deadline = m.clock.plus(settings.claim_deadline_ms);
        let call = Call {
            deadline,
            at: m.time,
            count: 1,
            back: false,
        };
        let Some(lane) = self.lane(id) else { return };
        let Some((place, call)) = lane.place(number).map(|place| (place, lane.call_at(place, call))) else {
            return;
        };
        self.figures.called += 1;
        self.figures.bypasses += 1;
        self.hold_piece((id, place));
        self.deadlines.add(call.due(), (id, place));
    }

    /// A called visitor has not come in time; unless nobody could.
    pub fn miss(&mut self, due: Due, call: Call, settings: &Settings, now: Clock) {
        if self.keeps_calls {
            self.call_until(due, call, settings, now);
            return;
        }
        if let Some(lane) = self.lane(due.0) {
            lane.miss(due.1, call);
        }
        self.free_piece(due);
        self.count(due, |figures| {
            figures.called -= 1;
            figures.no_shows += 1;
        });
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
        let deadline = m.clock.plus(settings.claim_deadline_ms);
        let call = Call {
            deadline,
            at: m.time,
            count: 1,
            back: false,
        };
        let Some(place) = self.lanes[index].call(call, settings, m.clock) else {
            return;
        };
        let id = u8::try_from(index).map(LaneId).expect("a line has at most eight lanes");
        self.count((id, place), |figures| figures.called += 1);
        self.count_virtual_call((id, place));
        self.hold_piece((id, place));
        // Lanes have names from machine version 3 on; before, nothing is written of what each has called.
        if settings.lanes.len() > 1 {
            let pulse = &mut self.lanes[index].pulse;
            pulse.beat(pulse.total() + 1, m.clock);
        }
        self.deadlines.add(call.due(), (id, place));
    }
}
