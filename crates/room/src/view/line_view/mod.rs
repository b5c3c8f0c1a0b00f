//! One line as the request path sees it.
//!
//! It is a copy of the line as of one entry, sharing every page that has not changed since, and answers by the same
//! rules: there is no second place that knows them.

pub(crate) mod estimate;
pub(crate) mod lanes;

pub use estimate::Estimate;
pub use lanes::LaneFigures;

use std::sync::Arc;

use crate::forecast::curve::Curve;
use crate::forecast::told::Shares;
use crate::lane::Lane;
use crate::lane::epoch::Found;
use crate::lane::record::{Call, Record, SLACK_MS, Session};
use crate::lane::slots::Slots;
use crate::line::Line;
use crate::line::figures::Figures;
use crate::line::pulse::Pulse;
use crate::line::rate::Bucket;
use crate::line::rules::Rules;
use crate::line::stock::Winners;
use crate::settings::{Mode, Settings};
use crate::state::context::Context;
use crate::state::past::{Past, Proof};
use crate::view::frame::Frame;
use crate::view::standing::{Called, Inside, Standing, Waiting};
use ropeline_ids::{CallId, Clock, Edition, Epoch, LaneId, Number, Place, Tag, Wall};

/// One line of a room; cheap to publish, since pages that did not change are shared with the picture before.
#[derive(Debug)]
pub struct LineView {
    pub edition: Edition,
    /// The clock of the last entry that touched the line.
    pub clock: Clock,
    pub figures: Figures,
    lanes: Vec<Lane>,
    bucket: Bucket,
    pulse: Pulse,
    curve: Option<Arc<Curve>>,
    told: Shares,
    last_call: Option<Wall>,
    settings: Arc<Settings>,
    past: Arc<Past>,
    quiet_until: Clock,
    keeps_calls: bool,
    winners: Arc<Winners>,
}

/// The virtual visitors of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rehearsed {
    pub waiting: u64,
    pub called: u64,
    pub inside: u64,
    /// Turns that they missed in this rehearsal.
    pub no_shows: u64,
}

impl LineView {
    pub(crate) fn new(line: &Line, edition: Edition, settings: &Arc<Settings>, rules: &Rules, m: &Context) -> Self {
        Self {
            edition,
            clock: m.clock,
            figures: Figures {
                waiting: line.waiting(),
                capacity: settings.capacity,
                stock: settings.stock,
                completed: line.tally().winners().count(),
                unfinished: settings
                    .stock
                    .map_or(0, |_| line.tally().unfinished(line.held().rights())),
                reserve: line.reserve(settings),
                max_sessions: settings.most_rights(),
                ..line.figures()
            },
            lanes: line.lanes().to_vec(),
            bucket: line.calls().bucket(),
            pulse: line.calls().pulse().clone(),
            curve: line.curve().cloned(),
            told: line.told(),
            last_call: line.calls().last(),
            settings: Arc::clone(settings),
            past: Arc::clone(&m.past),
            quiet_until: rules.quiet_until(m),
            keeps_calls: rules.keeps_calls,
            winners: Arc::clone(line.tally().winners()),
        }
    }

    /// Where `number` stands, with deadlines read at `now`. Total: any number of any epoch has an answer.
    ///
    /// A gate cut off from the log that goes on honouring sessions passes a `now` that is earlier by as much. `Unknown`
    /// waits for the log to be read further or for a mark to give the place back; a number that no mark can bring back
    /// is `Late`, here as far as the line knew when it was last touched ([`crate::View::standing`] knows all).
    #[must_use]
    pub fn standing(&self, lane: LaneId, number: Number, now: Clock) -> Standing {
        self.stands(lane, number, &self.past, now)
    }

    pub(crate) fn stands(&self, lane: LaneId, number: Number, past: &Past, now: Clock) -> Standing {
        let Some(line_lane) = self.lane(lane) else {
            return Standing::Unknown;
        };
        let place = match line_lane.epochs.find(number) {
            Found::Issued(place) => place,
            Found::Gap(place) if line_lane.is_back(place) => place,
            Found::Gap(place) if !line_lane.is_void(place) => return Standing::Unknown,
            Found::Gap(_) | Found::Late => return Standing::Late,
            Found::Ahead => return Standing::Unknown,
            Found::Lost => return lost(past.prove(number, now)),
        };
        let count = |count| CallId { lane, number, count };
        match line_lane.slots.get(place) {
            Some(Record::Called(call)) if self.keeps_calls || now <= call.deadline => {
                Standing::Called(called(call, count(call.count)))
            }
            Some(Record::Called(call)) if call.count < 2 => late(call, waiting(line_lane, place, Some(call.at))),
            Some(Record::Inside(session)) if now <= session.expires || self.waits_for_gates(session, now) => {
                let inside = self.inside(session, count(session.count));
                Standing::Inside(Inside {
                    expires: session.expires.max(now),
                    ..inside
                })
            }
            Some(Record::Inside(_) | Record::Over { .. }) => Standing::Ended,
            Some(Record::Called(_) | Record::Spent { .. }) => Standing::Late,
            Some(Record::Missed { at, .. }) => waiting(line_lane, place, Some(*at)),
            None if line_lane.is_void(place) => Standing::Late,
            None if line_lane.presence.is_taken(place) => Standing::Ended,
            None => waiting(line_lane, place, None),
        }
    }

    /// True when a visitor who joined now would be called at once: mode auto, not healing, no visitor waiting, a slot, a rate
    /// token and a piece of the stock free. The room's controller, which limits all its lines together, is not considered.
    #[must_use]
    pub(crate) fn open(&self, now: Clock) -> bool {
        let held = self.figures.called.saturating_add(self.figures.inside);
        let able = self.settings.mode == Mode::Auto && now >= self.quiet_until;
        let rights = held.saturating_add(self.figures.parked);
        let has_right = self.figures.max_sessions.is_none_or(|most| rights < most);
        let held = held.saturating_add(self.figures.reserve);
        let free = held < self.figures.capacity && self.figures.waiting == 0 && self.figures.left() != Some(0);
        let free = free && has_right;
        able && free && self.bucket.at(&self.settings, now).tokens(&self.settings) > 0
    }

    /// The place of a number on the lane's axis, for finding it in a frame; `None` for a number the line does not know.
    /// Below 2^53, so that a browser can count in it.
    #[must_use]
    pub fn place(&self, lane: LaneId, number: Number) -> Option<u64> {
        self.lane(lane)?.place(number).map(|place| place.0)
    }

    /// How many are drawn in this edition, or to be drawn once the line is closed.
    #[must_use]
    pub fn drawn(&self, lane: LaneId) -> u32 {
        self.lane(lane).map_or(0, |lane| lane.epochs.draws.count(self.edition))
    }

    /// A visitor's number in this edition's draw, and the place that it gave them once it is made; both from 1 on. `None`
    /// for one who was not drawn.
    #[must_use]
    pub fn entry(&self, lane: LaneId, number: Number) -> Option<(u32, Option<u32>)> {
        let epochs = &self.lane(lane)?.epochs;
        let (Found::Issued(came) | Found::Gap(came)) = epochs.came(number) else {
            return None;
        };
        let (index, place) = epochs.draws.entry(self.edition, came)?;
        Some((index + 1, place.map(|place| place + 1)))
    }

    /// The draw of this edition is made in the lane.
    #[must_use]
    pub fn is_drawn(&self, lane: LaneId) -> bool {
        self.lane(lane)
            .is_some_and(|lane| lane.epochs.draws.is_made(self.edition))
    }

    /// The number that came at this one's present place: a different number where a draw has moved it. Calls use it.
    #[must_use]
    pub fn seat(&self, lane: LaneId, number: Number) -> Number {
        let moved = || {
            let epochs = &self.lane(lane)?.epochs;
            let (Found::Issued(came) | Found::Gap(came)) = epochs.came(number) else {
                return None;
            };
            let stands = epochs.draws.stands(came);
            if stands == came { None } else { epochs.came_at(stands) }
        };
        moved().unwrap_or(number)
    }

    /// The account of a number; `None` for a visitor without an account, and if the room has lost it.
    #[must_use]
    pub fn account(&self, lane: LaneId, number: Number) -> Option<Tag> {
        let lane = self.lane(lane)?;
        lane.tags.get(lane.place(number)?)
    }

    /// Numbers of accounts, live or over, by lane and place, each with its account. Cost: a look at each.
    pub fn accounts(&self) -> impl Iterator<Item = (LaneId, Number, Tag)> {
        let lanes = (0..).map(LaneId).zip(&self.lanes);
        lanes.flat_map(|(id, lane)| {
            let tags = lane.tags.iter_from(Place(0));
            tags.filter_map(move |(place, tag)| Some((id, lane.epochs.number(place)?, tag)))
        })
    }

    /// Called a second time and late, whether the slot is still held or not; false once the number is forgotten.
    #[must_use]
    pub fn missed_second(&self, lane: LaneId, number: Number) -> bool {
        let record = self.lane(lane).and_then(|of| of.slots.get(of.place(number)?));
        matches!(
            record,
            Some(Record::Called(Call { count: 2.., .. }) | Record::Spent { .. })
        )
    }

    /// The epochs whose numbers the lane still recognises, oldest first.
    #[must_use]
    pub fn epochs(&self, lane: LaneId) -> Vec<Epoch> {
        self.lane(lane)
            .map_or_else(Vec::new, |lane| lane.epochs.known().collect())
    }

    /// The event stream's frame for one lane. At most 33 million places; trailing runs without visitors are cut.
    #[must_use]
    pub fn frame(&self, lane: LaneId) -> Frame {
        self.lane(lane)
            .map_or_else(|| Frame::empty(lane), |of| Frame::new(lane, of))
    }

    /// Numbers that were called, came in or were let in again since `before`, an earlier view of the line (`None`: all that
    /// hold a slot), by lane and place. Where each stands says which of these it was.
    #[must_use]
    pub fn seated_since(&self, before: Option<&Self>) -> Vec<CallId> {
        let nobody = Slots::default();
        let mut seated = Vec::new();
        for (id, lane) in (0..).map(LaneId).zip(&self.lanes) {
            let seen = before
                .and_then(|line| line.lane(id))
                .map_or(&nobody, |lane| &lane.slots);
            for (place, record) in lane.slots.changed_since(seen) {
                let (Record::Called(Call { count, .. }) | Record::Inside(Session { count, .. })) = record else {
                    continue;
                };
                seated.extend(lane.epochs.number(place).map(|number| CallId {
                    lane: id,
                    number,
                    count: *count,
                }));
            }
        }
        seated
    }

    /// Virtual visitors of the rehearsal under way who have joined.
    #[must_use]
    pub fn virtual_joins(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.virtuals.places.total()).sum()
    }

    /// Number of virtual visitors in line.
    #[must_use]
    pub fn virtual_waiting(&self) -> u64 {
        let waiting = |lane: &Lane| lane.virtuals.places.common(lane.presence.present());
        self.lanes.iter().map(waiting).sum()
    }

    /// What of the figures is virtual visitors'. Costs a look at every record of theirs.
    #[must_use]
    pub fn rehearsed(&self) -> Rehearsed {
        let mut found = Rehearsed {
            waiting: self.virtual_waiting(),
            no_shows: self.lanes.iter().map(|lane| lane.virtuals.no_shows).sum(),
            ..Rehearsed::default()
        };
        for lane in self.lanes.iter().filter(|lane| !lane.virtuals.is_empty()) {
            for (_, record) in lane.slots.iter().filter(|(place, _)| lane.virtuals.places.get(*place)) {
                found.called += u64::from(matches!(record, Record::Called(_)));
                found.inside += u64::from(matches!(record, Record::Inside(_)));
            }
        }
        found
    }

    /// The numbers that were virtual visitors' in `before`, an earlier view of the line, and are nobody's here: their rehearsal
    /// is over, and all of them were sent off. By lane and place.
    #[must_use]
    pub fn sent_off_since(&self, before: Option<&Self>) -> Vec<(LaneId, Number)> {
        let mut gone = Vec::new();
        for (id, was) in (0..).map(LaneId).zip(before.iter().flat_map(|line| &line.lanes)) {
            // PERF: nearly always there are none.
            if was.virtuals.is_empty() || self.lane(id).is_some_and(|lane| !lane.virtuals.is_empty()) {
                continue;
            }
            let places = was.virtuals.places.ones(Place(0), Place(u64::MAX));
            gone.extend(places.filter_map(|place| Some((id, was.epochs.number(place)?))));
        }
        gone
    }

    /// When the line last called a visitor.
    #[must_use]
    pub fn last_call(&self) -> Option<Wall> {
        self.last_call
    }

    /// How often it was a visitor's turn in the five minutes before `now`, to within five seconds. Counts calls, all lanes together: a
    /// visitor who is called a second time counts again.
    #[must_use]
    pub fn calls_lately(&self, now: Clock) -> u64 {
        self.pulse.lately(now)
    }

    /// The visitors who have completed in this edition, in order.
    #[must_use]
    pub fn winners(&self) -> &Winners {
        &self.winners
    }

    /// The pieces that are neither sold nor held are enough for a visitor with `ahead` present visitors before them in the
    /// lane; true without a stock. Otherwise a piece is left for them only if a visitor before them does not buy.
    #[must_use]
    pub fn is_reachable(&self, lane: LaneId, ahead: u64) -> bool {
        let left = self.figures.left();
        left.is_none_or(|left| self.calls_until(lane, ahead) <= u64::from(left))
    }

    /// Whether a visitor of this edition has completed; `None` for a visitor who may still complete, or who is not known to
    /// have been inside, which a genuine pass proves (`passed`).
    #[must_use]
    pub fn outcome(&self, lane: LaneId, number: Number, passed: bool) -> Option<bool> {
        self.figures.stock?;
        if self.winners.has(lane, number) {
            return Some(true);
        }
        let of = self.lane(lane)?;
        let Found::Issued(place) = of.epochs.find(number) else {
            return None;
        };
        match of.slots.get(place) {
            Some(Record::Called(_) | Record::Inside(_)) => None,
            Some(Record::Over { .. }) => Some(false),
            // A visitor who missed the turn was never inside, unless a pass shows that they were: the room may have missed
            // it.
            Some(Record::Missed { .. } | Record::Spent { .. }) | None => passed.then_some(false),
        }
    }

    fn lane(&self, lane: LaneId) -> Option<&Lane> {
        self.lanes.get(usize::from(lane.0))
    }

    /// It was to be parked, and waits for the notes of a gate: it does not end meanwhile.
    fn waits_for_gates(&self, session: &Session, now: Clock) -> bool {
        let parks = session.parks(self.settings.parks_after_ms());
        session.expires < session.ends_by && parks.is_some_and(|at| at <= now)
    }

    /// Until when a request of the session goes on without asking: two seconds before it is parked.
    fn unasked_until(&self, session: &Session) -> Clock {
        if session.is_parked() {
            return Clock(0);
        }
        let parks = session.parks(self.settings.parks_after_ms());
        parks.map_or(Clock(u64::MAX), |at| Clock(at.0.saturating_sub(SLACK_MS)))
    }

    /// The last noted activity, as the end of the session has it. It is earlier than `renewed` where `session_duration` has grown since:
    /// a request is noted all the same if the session would end less than `session_ms` after it.
    fn noted(&self, session: &Session) -> Clock {
        if session.expires >= session.ends_by {
            return session.renewed;
        }
        let by_end = session.expires.0.saturating_sub(self.settings.hold_ms());
        session.renewed.min(Clock(by_end))
    }

    fn inside(&self, session: &Session, call: CallId) -> Inside {
        // With active slots a note is more than a longer session: without one it is parked.
        let is_parked_else = self.settings.active.is_some();
        let stretches = !session.ending && (is_parked_else || session.expires < session.ends_by);
        Inside {
            call,
            expires: session.expires,
            ends_by: session.ends_by,
            since: session.since,
            carried: session.carried,
            parked: session.is_parked(),
            unasked_until: self.unasked_until(session),
            renews_from: if session.stay.is_some() {
                Clock(0)
            } else if stretches {
                self.noted(session).plus(self.settings.renewal_ms())
            } else {
                Clock(u64::MAX)
            },
            ending: session.ending,
        }
    }
}

/// The standing of a number of an epoch that the line does not know.
pub(crate) fn lost(proof: Proof) -> Standing {
    if proof == Proof::Late {
        Standing::Late
    } else {
        Standing::Unknown
    }
}

fn waiting(lane: &Lane, place: Place, missed_at: Option<Wall>) -> Standing {
    let presence = &lane.presence;
    if lane.is_void(place) {
        return Standing::Late;
    }
    Standing::Waiting(Waiting {
        ahead: presence.ahead(place),
        present: presence.is_present(place),
        mark_due: !presence.is_marked(place) || !presence.is_present(place),
        missed_at,
    })
}

/// A visitor who comes back while the slot is still held needs no second check-in.
fn late(call: &Call, standing: Standing) -> Standing {
    match standing {
        Standing::Waiting(waiting) => Standing::Waiting(Waiting {
            mark_due: waiting.mark_due && !call.back,
            ..waiting
        }),
        other => other,
    }
}

fn called(call: &Call, id: CallId) -> Called {
    Called {
        call: id,
        deadline: call.deadline,
        called_at: call.at,
    }
}
