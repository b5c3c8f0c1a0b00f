//! Active slots: sessions that are parked, and their way back.
//!
//! Each session inside has a right. One that is in use has a slot too, and gives it away when it is parked. A request of a
//! parked session asks for a slot; slots go to those who ask before any visitor is called, first come, first served.

use std::collections::VecDeque;

use crate::codec::codec;
use crate::entry::Hold;
use crate::lane::record::{EndedBy, Record, Session, Stay};
use crate::line::Line;
use crate::line::calling::Scope;
use crate::line::deadlines::Due;
use crate::line::events::{opened, used};
use crate::line::reserve::Reserve;
use crate::line::rules::Rules;
use crate::settings::Settings;
use crate::state::context::Context;
use ropeline_ids::{Clock, LaneId, Number};

/// Those who ask for a slot, and what is kept for the next ones.
#[derive(Clone, Debug)]
pub(crate) struct Returns {
    /// In the order in which they asked. Some may be over, or back by now.
    queue: VecDeque<(LaneId, Number)>,
    pub reserve: Reserve,
}

codec! {
    struct Returns { queue, reserve };
}

impl Returns {
    pub fn new(now: Clock) -> Self {
        Self {
            queue: VecDeque::new(),
            reserve: Reserve::new(now),
        }
    }
}

impl Line {
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
        let parked = self.held().parked;
        if let Some(returns) = &mut self.calls.returns {
            returns.reserve.go_on(settings.capacity, parked, now);
        }
    }

    /// A visitor whose session is parked, or not known here, has a request, and asks for a slot. Who has one goes on.
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
        // Those who are over are left where they stand, as long as they are not most of the queue.
        if returns.queue.len() > parked.saturating_mul(2).saturating_add(16) {
            let mut queue = std::mem::take(&mut returns.queue);
            let mut seen = std::collections::BTreeSet::new();
            queue.retain(|who| self.asking(*who).is_some() && seen.insert(*who));
            if let Some(returns) = &mut self.calls.returns {
                returns.queue = queue;
            }
        }
    }

    /// The session of one who asks.
    fn asking(&self, (id, number): (LaneId, Number)) -> Option<(Due, Session)> {
        let lane = self.lanes.get(usize::from(id.0))?;
        let place = lane.place(number)?;
        match lane.slots.get(place) {
            Some(Record::Inside(session)) if session.stay == Some(Stay::Asks) => Some(((id, place), *session)),
            _ => None,
        }
    }

    /// When those who ask can be given free slots, if only a wait for other gates prevents it.
    pub(super) fn returns_due(&self, settings: &Settings, m: &Context) -> Option<Clock> {
        let returns = self.calls.returns.as_ref()?;
        let able = !returns.queue.is_empty() && self.held().free(settings.capacity) > 0;
        able.then_some(m.barred_until)
    }

    /// Gives free slots to those who ask: before all calls, without a token of the rate, and also where nobody is called.
    /// A controller's allowance is used up by it, and does not refuse it.
    pub(super) fn take_back(&mut self, scope: &mut Scope, settings: &Settings, m: &Context) {
        // PERF: nearly all lines have nobody who asks.
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

    /// Parks what has not been used for too long, as far as all gates have been heard.
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
        let held = Session {
            renewed: session.renewed.max(Clock(until.0.saturating_sub(after_ms))),
            expires: session.expires.max(until),
            ..session
        };
        self.keep((hold.lane, place), Record::Inside(held));
        true
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
