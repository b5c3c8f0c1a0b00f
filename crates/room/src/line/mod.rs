//! One line: lanes that share capacity, rate and sessions, and what the clock does to them.
//!
//! A line is touched only by an entry that names it or at which something of it is due, so that ten thousand quiet lines
//! cost nothing. What is due follows from the state's bytes alone; the index of deadlines and the schedule built on it
//! may wake a line too early, which changes nothing, but never too late.

pub(crate) mod accounts;
pub(crate) mod calling;
pub(crate) mod counts;
pub(crate) mod deadlines;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod one_place;
pub(crate) mod pulse;
pub(crate) mod rate;
pub(crate) mod selling;
pub(crate) mod stock;
pub(crate) mod turns;
pub(crate) mod virtuals;

use std::sync::Arc;

use crate::line::accounts::Accounts;
pub(super) use crate::line::counts::Counts;

use crate::codec::{Read, Reader, Writer};
use crate::draw::Hash;
use crate::entry::commands::CallOrder;
use crate::lane::Lane;
use crate::lane::era::Eras;
use crate::lane::record::{EndedBy, Record, Session};
use crate::line::deadlines::{Deadlines, Due};
use crate::line::figures::Figures;
use crate::line::pulse::Pulse;
use crate::line::rate::Bucket;
use crate::line::stock::Tally;
use crate::line::turns::Turns;
use crate::load::Allowance;
use crate::settings::Settings;
use crate::state::context::Context;
use crate::state::past::Past;
use ropeline_ids::{Clock, Edition, Era, LaneId, Place, Wall};

#[derive(Debug)]
pub(super) struct Line {
    pub lanes: Vec<Lane>,
    pub figures: Figures,
    /// What of them was virtual visitors. Not among the line's bytes: the room writes it.
    pub rehearsed: Figures,
    pub bucket: Bucket,
    pub turns: Turns,
    pub pulse: Pulse,
    pub last_call: Option<Wall>,
    /// Not among the line's bytes: the room writes it.
    pub tally: Tally,
    /// When this generation began.
    generation: Clock,
    /// When somebody was last present, called, inside or numbered.
    busy: Clock,
    pub deadlines: Deadlines,
    /// Whose the tagged places are.
    pub accounts: Accounts,
    /// Where the room's schedule holds the line.
    pub scheduled: Option<Clock>,
    /// Visitors waiting and slots held, as the room last counted them.
    pub counted: Counts,
    /// Operators' calls of the entry under way with their revisions, and what they came to.
    pub ordered: Vec<(u64, CallOrder)>,
    pub answered: Vec<(u64, u32)>,
    /// Until when the room heals.
    pub heals_until: Clock,
    /// No turn is missed. The room says so.
    pub keeps_calls: bool,
    /// What the room's controller lets it call, if it has one: the room's own, which all of its lines share.
    pub allowance: Option<Allowance>,
    /// Those called who came, and who did not, as the room last counted them.
    pub noted: (u64, u64),
}

impl Line {
    pub fn new(settings: &Settings, past: &Past, now: Clock) -> Self {
        let mut line = Self {
            lanes: Vec::new(),
            figures: Figures::default(),
            rehearsed: Figures::default(),
            bucket: Bucket::full(settings, now),
            turns: Turns::default(),
            pulse: Pulse::default(),
            last_call: None,
            tally: Tally::default(),
            generation: now,
            busy: now,
            deadlines: Deadlines::default(),
            accounts: Accounts::default(),
            scheduled: None,
            counted: Counts::default(),
            ordered: Vec::new(),
            answered: Vec::new(),
            heals_until: Clock(0),
            keeps_calls: false,
            allowance: None,
            noted: (0, 0),
        };
        line.grow(settings, past);
        line
    }

    pub fn counts(&self) -> Counts {
        Counts {
            waiting: self.waiting(),
            slots: u64::from(self.slots()),
            sold: u64::from(self.is_empty() && !self.tally.winners().is_empty()),
        }
    }

    /// Nobody waits, is called or inside.
    fn is_empty(&self) -> bool {
        self.slots() == 0 && self.waiting() == 0
    }

    pub fn waiting(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.presence.waiting()).sum()
    }

    /// Called and inside.
    pub fn slots(&self) -> u32 {
        self.figures.called.saturating_add(self.figures.inside)
    }

    /// Those called who came, and who did not.
    pub fn outcomes(&self) -> (u64, u64) {
        (self.figures.claims, self.figures.no_shows)
    }

    /// Nobody waits in that lane, is called from it, or is inside.
    pub fn is_vacant(&self, at: usize) -> bool {
        let held = |record: &Record| matches!(record, Record::Called(_) | Record::Inside(_));
        self.lanes.get(at).is_none_or(|lane| {
            let mut records = lane.slots.iter();
            lane.presence.waiting() == 0 && !records.any(|(_, record)| held(record))
        })
    }

    pub fn lane(&mut self, lane: LaneId) -> Option<&mut Lane> {
        self.lanes.get_mut(usize::from(lane.0))
    }

    /// Gives the line the lanes that the settings name; lanes taken out of them stay until their visitors are gone.
    pub fn grow(&mut self, settings: &Settings, past: &Past) {
        while self.lanes.len() < settings.lane_weights.len() {
            self.lanes.push(Lane::new(past.era(), past.floor()));
        }
    }

    /// The settings change from `old` to `new`.
    pub fn resettle(&mut self, old: &Settings, new: &Settings, m: &Context) {
        self.grow(new, &m.past);
        // A turn under way counts calls by the old weights.
        if old.lane_weights != new.lane_weights {
            self.turns = Turns::default();
        }
        self.bucket = match old.rate_per_minute {
            Some(_) => self.bucket.at(old, m.clock).at(new, m.clock),
            None => Bucket::full(new, m.clock),
        };
    }

    /// Before the entry's sections: at most one generation turns, and newcomers of a while ago need a mark.
    pub fn advance(&mut self, settings: &Settings, m: &Context) {
        self.note_busy(m.clock);
        for lane in &mut self.lanes {
            lane.freshen(settings, m.clock);
        }
        if self.generation_due(settings).is_some_and(|due| due <= m.clock) {
            self.lanes.iter_mut().for_each(Lane::turn);
            self.generation = m.clock;
        } else if !self.has_marks() {
            // A generation begins with its first mark, so that a lone visitor's lasts as long as anybody's.
            self.generation = m.clock;
        }
    }

    /// After the entry's sections: expiry, calls, horizon.
    pub fn finish(&mut self, settings: &Settings, m: &mut Context) {
        self.expire(settings, m);
        self.call_ordered(settings, m);
        self.call(settings, m);
        for lane in &mut self.lanes {
            let gone = lane.follow(settings, m.holds(), m.clock);
            if !gone.is_empty() {
                Arc::make_mut(&mut m.past).raise(gone.into_iter());
            }
        }
        self.tidy_accounts();
        self.note_busy(m.clock);
    }

    /// A new sale begins; those called and inside stay. Says which eras are forgotten.
    pub fn begin_sale(&mut self, settings: &Settings, now: Clock) -> Vec<(Era, u32)> {
        self.note_busy(now);
        self.turns = Turns::default();
        self.begin_stock(settings);
        self.forget_accounts();
        self.lanes.iter_mut().flat_map(Lane::begin_sale).collect()
    }

    /// The line is closed for a draw, by [`Eras::close`] or [`Eras::close_lost`]: who came later stands behind.
    pub fn close_draw(&mut self, close: fn(&mut Eras, Place)) {
        for lane in &mut self.lanes {
            let horizon = lane.horizon();
            close(&mut lane.eras, horizon);
        }
    }

    /// Draws every lane by its key, which a lane and a count give. Nobody has to show anew in less than a generation that
    /// they are there.
    pub fn draw(&mut self, edition: Edition, key: impl Fn(LaneId, u32) -> Hash, now: Clock) {
        for (id, lane) in (0..).map(LaneId).zip(&mut self.lanes) {
            let count = lane.eras.draws.count(edition);
            lane.draw(edition, key(id, count));
        }
        self.generation = now;
        self.index();
    }

    /// Whoever has just joined is present by a mark from now on, for `firm_within` at least and for half of `grace` more at most.
    pub fn mark_newcomers(&mut self, settings: &Settings, now: Clock) {
        let any = self.lanes.iter().any(|lane| lane.presence.newcomers().next().is_some());
        // As in `advance`: a generation begins with its first mark.
        if any && !self.has_marks() {
            self.generation = now;
        }
        let long = self.generation.plus(settings.grace_ms / 2) >= now.plus(settings.firm_within_ms);
        for lane in &mut self.lanes {
            lane.presence.mark_newcomers(long);
        }
    }

    /// A new log begins.
    pub fn begin(&mut self, era: Era, now: Clock) {
        self.note_busy(now);
        for lane in &mut self.lanes {
            lane.begin(era);
        }
    }

    /// When the clock alone changes the line, if nobody says anything.
    pub fn next_due(&mut self, settings: &Settings, m: &Context, lasting: bool) -> Option<Clock> {
        let lanes = &self.lanes;
        self.deadlines.settle(m.clock, |due| actual(lanes, due));
        let of_lanes = self
            .lanes
            .iter()
            .filter_map(|lane| lane.next_due(settings, m.held_until))
            .min();
        let forgotten = if lasting { None } else { self.forget_due(settings, m) };
        let dues = [
            self.deadlines.first(),
            self.generation_due(settings),
            of_lanes,
            self.call_due(settings, m),
            forgotten,
        ];
        dues.into_iter().flatten().min()
    }

    /// Nobody is here, and nobody was for so long that nobody can come back.
    pub fn is_forgotten(&self, settings: &Settings, m: &Context) -> bool {
        self.forget_due(settings, m).is_some_and(|due| due <= m.clock)
    }

    /// For each era one past the highest number that the line may have issued.
    pub fn ends(&self) -> impl Iterator<Item = (Era, u32)> {
        self.lanes.iter().flat_map(|lane| lane.eras.ends())
    }

    fn forget_due(&self, settings: &Settings, m: &Context) -> Option<Clock> {
        // What was sold is sold, whoever comes back.
        let empty = self.is_empty() && self.tally.winners().is_empty();
        empty.then(|| self.busy.plus(settings.late_window_ms).max(m.held_until))
    }

    fn generation_due(&self, settings: &Settings) -> Option<Clock> {
        self.has_marks().then(|| self.generation.plus(settings.grace_ms / 2))
    }

    fn has_marks(&self) -> bool {
        self.lanes.iter().any(|lane| lane.presence.has_marks())
    }

    fn note_busy(&mut self, now: Clock) {
        if !self.is_empty() {
            self.busy = now;
        }
    }

    fn expire(&mut self, settings: &Settings, m: &Context) {
        while let Some(batch) = self.deadlines.pop(m.clock) {
            for due in batch {
                // The record decides, not the index: a renewal moved the one and not the other.
                if actual(&self.lanes, due).is_some_and(|at| at <= m.clock) {
                    self.expire_one(due, settings, m);
                }
                if let Some(at) = actual(&self.lanes, due) {
                    self.deadlines.add(at, due);
                }
            }
        }
    }

    fn expire_one(&mut self, (id, place): Due, settings: &Settings, m: &Context) {
        let Some(lane) = self.lane(id) else { return };
        match lane.slots.get(place).copied() {
            Some(Record::Called(call)) => self.miss((id, place), call, settings, m.clock),
            Some(Record::Inside(session)) => {
                let last = session.ending || session.expires >= session.ends_by;
                let end = if last { EndedBy::Word } else { EndedBy::Idling };
                self.close((id, place), &session, end, settings, m);
            }
            Some(Record::Over { .. }) => lane.forget(place),
            Some(Record::Missed { .. } | Record::Spent { .. }) | None => {}
        }
    }

    /// A session is over: its slot is free.
    pub fn close(&mut self, due: Due, session: &Session, end: EndedBy, settings: &Settings, m: &Context) {
        self.free_piece(due);
        self.count(due, |figures| {
            figures.inside -= 1;
            figures.excess -= u32::from(session.excess);
            figures.ends += 1;
        });
        self.leave_over(due, end, session.count, settings, m);
    }

    /// What remains of a number that holds no slot any more.
    pub fn leave_over(&mut self, due: Due, end: EndedBy, count: u8, settings: &Settings, m: &Context) {
        let until = m.clock.plus(settings.late_window_ms);
        if let Some(lane) = self.lane(due.0) {
            lane.presence.take(due.1);
        }
        self.keep(due, Record::Over { end, until, count });
    }

    /// Keeps a number's record. Its date is indexed if it comes before the one that the index has; a later one is found
    /// when that comes.
    pub fn keep(&mut self, due: Due, record: Record) {
        let indexed = actual(&self.lanes, due);
        if let Some(lane) = self.lane(due.0) {
            lane.slots.put(due.1, Some(record));
        }
        if let Some(at) = record.due().filter(|at| indexed.is_none_or(|indexed| *at < indexed)) {
            self.deadlines.add(at, due);
        }
    }

    pub fn write(&self, w: &mut Writer) {
        w.list(&self.lanes, |w, lane| lane.write(w));
        self.figures.write(w);
        self.bucket.write(w);
        self.turns.write(w);
        self.pulse.write(w);
        w.option(self.last_call, Writer::wall);
        w.clock(self.generation);
        w.clock(self.busy);
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let mut line = Self {
            lanes: r.list(60, Lane::read)?,
            figures: Figures::read(r)?,
            rehearsed: Figures::default(),
            bucket: Bucket::read(r)?,
            turns: Turns::read(r)?,
            pulse: Pulse::read(r)?,
            last_call: r.option(Reader::wall)?,
            tally: Tally::default(),
            generation: r.clock()?,
            busy: r.clock()?,
            deadlines: Deadlines::default(),
            accounts: Accounts::default(),
            scheduled: None,
            counted: Counts::default(),
            ordered: Vec::new(),
            answered: Vec::new(),
            heals_until: Clock(0),
            keeps_calls: false,
            allowance: None,
            noted: (0, 0),
        };
        line.noted = line.outcomes();
        line.index();
        Ok(line)
    }

    /// Works the index of deadlines out from the records.
    fn index(&mut self) {
        self.deadlines = Deadlines::default();
        for (id, lane) in (0..).map(LaneId).zip(&self.lanes) {
            let records = lane.slots.iter();
            for (place, at) in records.filter_map(|(place, record)| Some((place, record.due()?))) {
                self.deadlines.add(at, (id, place));
            }
        }
    }
}

/// When the clock changes the record, as the record itself says.
fn actual(lanes: &[Lane], (lane, place): Due) -> Option<Clock> {
    lanes.get(usize::from(lane.0))?.slots.get(place)?.due()
}
