//! Decides which visitors are called, and when: slots, rate, stock, mode, and the turns of the lanes. With active slots also which
//! sessions are parked, and who of those gets a slot again: first come, first served, before any visitor is called.

use std::collections::BTreeSet;

use crate::codec::codec;
use crate::entry::Hold;
use crate::entry::commands::CallOrder;
use crate::lane::record::{Call, EndedBy, Record, Session, Stay};
use crate::lane::slots::Moved;
use crate::line::Line;
use crate::line::deadlines::Due;
use crate::line::events::{opened, used};
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
    /// How many lines the room has.
    pub lines: u64,
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

    /// Slots that calls leave free.
    pub fn reserve(&self, settings: &Settings) -> u32 {
        let returns = self.calls.returns.as_ref().filter(|_| settings.active.is_some());
        returns.map_or(0, |returns| {
            returns.reserve.slots(settings.capacity, self.held().parked)
        })
    }

    /// Slots that a call may take.
    pub(super) fn free(&self, settings: &Settings) -> u64 {
        let free = self.held().free(settings.capacity);
        free.saturating_sub(u64::from(self.reserve(settings)))
    }

    /// When the reserve may be smaller, if it alone holds back a call.
    pub(super) fn reserve_due(&self, settings: &Settings) -> Option<Clock> {
        let blocked = self.free(settings) == 0 && self.held().free(settings.capacity) > 0;
        let returns = self.calls.returns.as_ref();
        returns.filter(|_| blocked).map(|returns| returns.reserve.next())
    }

    /// How many rights there may be more.
    pub fn rights_left(&self, settings: &Settings) -> u64 {
        settings
            .most_rights()
            .map_or(u64::MAX, |most| u64::from(most.saturating_sub(self.held().rights())))
    }

    /// Before the entry's sections.
    pub(super) fn count_returns(&mut self, settings: &Settings, now: Clock) {
        let (slots, parked) = (self.held().slots(), self.held().parked);
        if let Some(returns) = &mut self.calls.returns {
            returns.reserve.go_on(settings.capacity, (slots, parked), now);
        }
    }

    /// A request of a visitor whose session is parked or not known here: the visitor queues for a slot. A visitor with a slot
    /// keeps it.
    pub(super) fn ask(&mut self, id: LaneId, number: Number, rules: &Rules, m: &mut Context) -> bool {
        let Some(lane) = self.known_lane(id, number, rules, m) else {
            return false;
        };
        let Some(place) = lane.reclaim(number) else {
            return false;
        };
        let in_line = lane.is_in_line(place);
        let settings = rules.settings;
        let session = match lane.slots.get(place).copied() {
            Some(Record::Inside(session)) if session.is_parked() => used_in_line(session, settings, m),
            Some(Record::Inside(_)) => return self.renew(id, number, rules, m),
            // Its pass says so, and the slot is held.
            Some(Record::Called(_)) => return self.reopen(id, number, rules, m),
            _ if settings.active.is_none() => return self.reopen(id, number, rules, m),
            _ if self.rights_left(settings) == 0 => return false,
            Some(
                Record::Over {
                    end: EndedBy::Idling,
                    count,
                    ..
                }
                | Record::Missed { count, .. },
            ) => parked(count, settings, m),
            Some(Record::Spent { .. }) => parked(2, settings, m),
            None if in_line => parked(1, settings, m),
            _ => return false,
        };
        let asks = session.stay != Some(Stay::Asks);
        if let Some(lane) = self.lane(id) {
            lane.presence.take(place);
        }
        let stay = Some(Stay::Asks);
        self.keep((id, place), Record::Inside(Session { stay, ..session }));
        if asks {
            self.queue_up((id, number), m.clock);
        }
        self.revive((id, place), rules, m);
        true
    }

    fn queue_up(&mut self, who: (LaneId, Number), now: Clock) {
        let parked = usize::try_from(self.held().parked).unwrap_or(usize::MAX);
        let returns = self.calls.returns.get_or_insert_with(|| Box::new(Returns::new(now)));
        returns.queue.push_back(who);
        returns.reserve.ask();
        // Visitors who need no slot any more are removed only when the queue is longer than twice the parked sessions and 16.
        if returns.queue.len() > parked.saturating_mul(2).saturating_add(16) {
            let mut queue = std::mem::take(&mut returns.queue);
            let mut seen = BTreeSet::new();
            queue.retain(|who| self.asking(*who).is_some() && seen.insert(*who));
            if let Some(returns) = &mut self.calls.returns {
                returns.queue = queue;
            }
        }
    }

    /// The session of a visitor who queues for a slot.
    fn asking(&self, (id, number): (LaneId, Number)) -> Option<(Due, Session)> {
        let lane = self.lanes.get(usize::from(id.0))?;
        let place = lane.place(number)?;
        match lane.slots.get(place) {
            Some(Record::Inside(session)) if session.stay == Some(Stay::Asks) => Some(((id, place), *session)),
            _ => None,
        }
    }

    /// When visitors in this queue can be given free slots, if only a wait for other gates prevents it.
    pub(super) fn returns_due(&self, settings: &Settings, m: &Context) -> Option<Clock> {
        let returns = self.calls.returns.as_ref()?;
        let able = !returns.queue.is_empty() && self.held().free(settings.capacity) > 0;
        able.then_some(m.barred_until)
    }

    /// Gives free slots to visitors who return, in the order of the queue: before all calls, without a token of the rate, and
    /// also while the room calls nobody. Each takes a call of a controller's allowance, and gets the slot even if none is left.
    pub(super) fn take_back(&mut self, scope: &mut Scope, settings: &Settings, m: &Context) {
        // PERF: in nearly all lines this queue is empty.
        if self
            .calls
            .returns
            .as_ref()
            .is_none_or(|returns| returns.queue.is_empty())
            || m.is_barred()
        {
            return;
        }
        let mut free = self.held().free(settings.capacity);
        while free > 0 {
            let first = self
                .calls
                .returns
                .as_mut()
                .and_then(|returns| returns.queue.pop_front());
            let Some(first) = first else { break };
            let Some((due, session)) = self.asking(first) else {
                continue;
            };
            let back = Session {
                stay: Some(Stay::Back),
                renewed: m.clock,
                ..session
            };
            self.keep(due, Record::Inside(back));
            scope.allowance = scope.allowance.map(|allowance| allowance.spend(1));
            free -= 1;
        }
    }

    /// Parks what has not been used for too long, as far as the log has the notes of all gates.
    pub(super) fn park(&mut self, rules: &Rules, m: &Context) {
        let until = m.parks_until(rules.settings);
        while let Some(batch) = self.parkings.pop(until) {
            for due in batch {
                match self.parks(due) {
                    Some(at) if at <= until => self.park_one(due),
                    Some(at) => self.parkings.add(at, due),
                    None => {}
                }
            }
        }
    }

    fn park_one(&mut self, due: Due) {
        let record = self.lane(due.0).and_then(|lane| lane.slots.get(due.1).copied());
        if let Some(Record::Inside(session)) = record {
            let parked = Session {
                stay: Some(Stay::Parked),
                excess: false,
                ..session
            };
            self.keep(due, Record::Inside(parked));
        }
    }

    /// It is to be parked, and waits for the notes of a gate: that gate may have forwarded a request of it.
    pub(super) fn may_be_in_use(&self, due: Due, settings: &Settings, m: &Context) -> bool {
        let parks = self.parks(due);
        parks.is_some_and(|at| at <= m.clock && at > m.parks_until(settings))
    }

    /// When the record's session is parked, as the record itself says.
    pub(super) fn parks(&self, (id, place): Due) -> Option<Clock> {
        let lane = self.lanes.get(usize::from(id.0))?;
        lane.slots.get(place)?.parks(self.parks_after_ms)
    }

    /// When the first session is to be parked.
    pub fn parks_first(&mut self, until: Clock) -> Option<Clock> {
        let (lanes, after_ms) = (&self.lanes, self.parks_after_ms);
        let actual = |(id, place): Due| lanes.get(usize::from(id.0))?.slots.get(place)?.parks(after_ms);
        self.parkings.settle(until, actual);
        self.parkings.first()
    }

    /// The slot of a session that is in use is kept until a date.
    pub(super) fn hold(&mut self, hold: &Hold, rules: &Rules, m: &Context) -> bool {
        let Some(after_ms) = rules.settings.parks_after_ms() else {
            return false;
        };
        let Some(lane) = self.lane(hold.lane) else { return false };
        let Some(place) = lane.place(hold.number) else {
            return false;
        };
        let session = match lane.slots.get(place).copied() {
            Some(Record::Inside(session)) if !session.is_parked() && !session.ending => session,
            _ => return false,
        };
        let session = used(session, rules.settings, m);
        let until = m.clock.plus(hold.for_ms).min(session.ends_by);
        let renewed = Clock(until.0.saturating_sub(after_ms)).max(session.renewed);
        let expires = renewed.plus(rules.settings.hold_ms()).max(until).min(session.ends_by);
        let held = Session {
            renewed,
            expires: expires.max(session.expires),
            ..session
        };
        self.keep((hold.lane, place), Record::Inside(held));
        true
    }

    fn call_one(&mut self, index: usize, settings: &Settings, m: &Context) {
        let call = fresh_call(settings, m);
        let Some((place, call)) = self.lanes[index].call(call, settings, m.clock) else {
            return;
        };
        let id = u8::try_from(index).map(LaneId).expect("a line has at most eight lanes");
        self.forecast.of(settings, (id, place)).note_call(call.count);
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

/// A parked session of which a request has come: it lasts as long as after any request, wherever it stands in the queue.
fn used_in_line(session: Session, settings: &Settings, m: &Context) -> Session {
    let expires = m.clock.plus(settings.hold_ms()).min(session.ends_by);
    Session {
        expires: if session.ending {
            session.expires
        } else {
            expires.max(session.expires)
        },
        ..session
    }
}

/// A session that the room does not know, by its pass.
pub(super) fn parked(count: u8, settings: &Settings, m: &Context) -> Session {
    Session {
        carried: true,
        stay: Some(Stay::Parked),
        ..opened(count, false, settings, m)
    }
}
