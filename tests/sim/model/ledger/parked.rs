//! Active slots by the entries: who is parked, and who was given a slot again.
//!
//! As with calls, the view says whom the room has parked or given a slot. The entries say who may be: whose activity is long ago
//! and of whom every gate has had its say, and who asked first.

use std::collections::BTreeMap;

use ropeline::room::{Clock, Effects, Entry, GateId, Hold, Inside, LineView, Number, Position, Standing, View};

use super::book::{Book, Is, Person};
use super::{LANE, Ledger};
use crate::rooms;

/// What a session does with its slot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stay {
    /// Has one. The last activity that was noted; later than the clock, for a slot that is held until a date.
    Active {
        noted: u64,
    },
    Parked,
    /// Parked, and asked for a slot after so many others.
    Asks {
        turn: u64,
    },
    /// Has a slot again since then, and has not used it.
    Back {
        since: u64,
    },
}

/// Of one history: the gates, and counts around the entry.
#[derive(Clone, Default)]
pub struct Parking {
    /// Visitors who have asked.
    turns: u64,
    /// Slots that sessions took by a gate's word in the entry, free or not.
    pub forced: u32,
    /// Slots and rights before the entry.
    slots: usize,
    rights: usize,
    pub gates: Gates,
    /// The clock at every entry of this log.
    clocks: BTreeMap<u64, u64>,
}

/// What the entries say of the gates.
#[derive(Clone, Default)]
pub struct Gates {
    /// When each was last heard.
    heard: BTreeMap<GateId, u64>,
    /// The same of gates of the logs before, until this log has its root.
    before: BTreeMap<GateId, u64>,
    /// The clock at the last entry that each had read when it last sent all its notes.
    noted: BTreeMap<GateId, u64>,
    /// When each was last heard that left without a goodbye and is not back.
    silent: BTreeMap<GateId, u64>,
    /// When the roster was another one.
    changed: Option<u64>,
}

/// A session that had a slot before an entry.
struct Holder {
    at: Position,
    number: Number,
    /// When it is to be parked.
    due: Option<u64>,
    /// What was to be parked by then can be, as far as the gates of the roster have sent their notes.
    until: u64,
}

impl Stay {
    pub fn has_slot(self) -> bool {
        matches!(self, Self::Active { .. } | Self::Back { .. })
    }

    pub fn used(self, clock: u64) -> Self {
        let noted = match self {
            Self::Active { noted } => noted.max(clock),
            _ => clock,
        };
        Self::Active { noted }
    }

    /// When the session is to be parked.
    fn parks_at(self) -> Option<u64> {
        match self {
            Self::Active { noted } => Some(noted + after_ms()?),
            Self::Back { since } => Some(since + BACK_MS + LAG_MS),
            Self::Parked | Self::Asks { .. } => None,
        }
    }
}

/// From the last activity that is noted until the session is parked: a request within a quarter of `idle_after` of it, or a
/// tenth of the session, is not noted.
fn after_ms() -> Option<u64> {
    let idle_ms = rooms::active()?.idle_after_ms;
    let step_ms = (idle_ms / 4).min(rooms::settings().session_ms / 10);
    Some(idle_ms + step_ms + LAG_MS)
}

impl Parking {
    /// Another log begins: every gate is to be heard in it before its root.
    pub fn begin(&mut self) {
        self.clocks.clear();
        let gates = &mut self.gates;
        gates.before.append(&mut gates.heard);
        gates.noted.clear();
        gates.changed = None;
    }

    /// A gate forwards no request of a session from [`LAG_MS`] before it is parked.
    fn parks_until(&self, roster: impl Iterator<Item = GateId>, clock: u64) -> u64 {
        let noted = |gate: GateId| self.gates.noted.get(&gate).copied();
        let noted = roster.map(noted).min().flatten();
        noted.map_or(0, |noted| clock.min(noted + LAG_MS))
    }

    /// A gate that was lost lately may have forwarded requests of which nobody has heard.
    fn misses_gate(&self, clock: u64) -> bool {
        self.gates.silent.values().any(|since| clock < since + silence_ms())
    }
}

impl Book {
    /// An entry begins.
    pub fn turn_parking(&mut self) {
        if rooms::active().is_some() {
            (self.parking.slots, self.parking.rights) = (self.held(), self.rights());
            self.parking.forced = 0;
        }
    }

    /// The session is to be parked, and a gate that has not sent its notes may have forwarded a request of it.
    pub fn may_be_in_use(&self, stay: Stay, until: u64) -> bool {
        let parks = stay.parks_at().filter(|at| *at <= self.clock);
        parks.is_some_and(|at| at > until || self.parking.misses_gate(self.clock))
    }

    /// Called, active and parked.
    fn rights(&self) -> usize {
        let held = |person: &&Person| matches!(person.is, Is::Called { .. } | Is::Inside { .. });
        self.people.values().filter(held).count()
    }

    fn parked(&self) -> usize {
        self.rights() - self.held()
    }

    /// Most that calls leave free for visitors who return.
    pub fn kept(&self, capacity: u32) -> u32 {
        let parked = u32::try_from(self.parked()).unwrap_or(u32::MAX);
        rooms::active().map_or(0, |_| (capacity / 10).min(parked))
    }

    pub fn has_rights_left(&self, capacity: u32) -> bool {
        most_rights(capacity).is_none_or(|most| self.rights() < most)
    }

    /// A gate says that it went on with the session. One that is brought back from another log comes without a slot.
    pub fn reopen(&mut self, number: Number, person: Person, adopts: bool) {
        self.open(number, person);
        if matches!(person.is, Is::Called { .. }) {
            return;
        }
        if adopts && rooms::active().is_some() {
            self.stays(number, Stay::Parked);
        } else {
            self.parking.forced += 1;
        }
    }

    /// The slot of a session that has one is held for so long.
    pub fn hold(&mut self, hold: &Hold) {
        let Some(Is::Inside {
            stay, ending: false, ..
        }) = self.is(hold.number)
        else {
            return;
        };
        let Some(after_ms) = after_ms().filter(|_| stay.has_slot()) else {
            return;
        };
        self.renew(hold.number);
        let Some(person) = self.people.get(&hold.number).copied() else {
            return;
        };
        if let Is::Inside {
            expires,
            ends_by,
            ending,
            stay: Stay::Active { noted },
        } = person.is
        {
            let until = (self.clock + hold.for_ms).min(ends_by);
            let noted = noted.max(until.saturating_sub(after_ms));
            let lasts = (noted + rooms::settings().hold_ms()).max(until).min(ends_by);
            let is = Is::Inside {
                expires: expires.max(lasts),
                ends_by,
                ending,
                stay: Stay::Active { noted },
            };
            self.put(hold.number, Person { is, ..person });
        }
    }

    /// A request asks for a slot; `opened`: the room has the session after the entry.
    pub fn ask(&mut self, number: Number, opened: bool) -> Result<(), &'static str> {
        let person = self.people.get(&number).copied().unwrap_or(Person::NEW);
        match person.is {
            Is::Called { .. } => self.open(number, person),
            Is::Inside { stay, .. } if stay.has_slot() => self.renew(number),
            Is::Inside { stay, .. } => {
                // It lasts as long as after any request.
                let forced = self.parking.forced;
                self.renew(number);
                self.parking.forced = forced;
                let turn = self.turn(stay);
                self.stays(number, turn);
            }
            _ if !opened => {}
            Is::Over => return Err("was over and is open again"),
            Is::Waiting | Is::Lapsed => {
                self.open(number, person);
                let turn = self.turn(Stay::Parked);
                self.stays(number, turn);
            }
        }
        Ok(())
    }

    /// Who asks again keeps the turn.
    fn turn(&mut self, stay: Stay) -> Stay {
        if matches!(stay, Stay::Asks { .. }) {
            return stay;
        }
        self.parking.turns += 1;
        Stay::Asks {
            turn: self.parking.turns,
        }
    }

    fn is(&self, number: Number) -> Option<Is> {
        self.people.get(&number).map(|person| person.is)
    }

    fn stays(&mut self, number: Number, stay: Stay) {
        if let Some(person) = self.people.get(&number).copied()
            && let Is::Inside {
                expires,
                ends_by,
                ending,
                ..
            } = person.is
        {
            let is = Is::Inside {
                expires,
                ends_by,
                ending,
                stay,
            };
            self.put(number, Person { is, ..person });
        }
    }

    fn first_who_asks(&self) -> Option<(u64, Number)> {
        let asks = |(number, person): (&Number, &Person)| match person.is {
            Is::Inside {
                stay: Stay::Asks { turn },
                ..
            } => Some((turn, *number)),
            _ => None,
        };
        self.people.iter().filter_map(asks).min()
    }
}

/// Called, active and parked, at most.
fn most_rights(capacity: u32) -> Option<usize> {
    let usual = capacity.saturating_mul(3);
    rooms::active().map(|active| active.max_sessions.unwrap_or(usual) as usize)
}

impl Ledger {
    /// Finds those whom the entry parked, and those to whom it gave a slot again.
    pub(super) fn park(
        &mut self,
        book: &mut Book,
        entry: &Entry,
        effects: &Effects,
        before: &View,
        (view, line): (&View, &LineView),
    ) {
        if rooms::active().is_none() {
            return;
        }
        let at = entry.position;
        let until = book.parks_until(entry, effects, before);
        let mut granted = Vec::new();
        let sessions = book.people.iter().filter_map(|(number, person)| match person.is {
            Is::Inside {
                expires, stay, ending, ..
            } => Some((*number, expires, stay, ending)),
            _ => None,
        });
        for (number, expires, stay, ending) in sessions.collect::<Vec<_>>() {
            // Its pass is over two seconds before it is.
            let clock = line.clock.min(Clock(expires));
            let Standing::Inside(Inside { parked, .. }) = line.standing(LANE, number, clock) else {
                continue;
            };
            let due = stay.parks_at().filter(|_| !ending);
            let holder = Holder { at, number, due, until };
            match (stay.has_slot(), parked) {
                (true, true) => {
                    self.judge_parked(book, &holder);
                    self.unused += u64::from(matches!(stay, Stay::Back { .. }));
                    book.stays(number, Stay::Parked);
                }
                (false, false) => {
                    granted.push((number, stay));
                    book.stays(number, Stay::Back { since: book.clock });
                }
                (true, false) => self.judge_overdue(book, &holder),
                (false, true) => {}
            }
        }
        self.judge_granted(book, entry, &granted, before, (view, line));
        book.sweeps_gates(entry, before, view);
    }

    /// Nobody is parked before the time, nor before every gate has been heard of it.
    fn judge_parked(&mut self, book: &Book, holder: &Holder) {
        let Holder { at, number, due, until } = *holder;
        let clock = book.clock;
        if due.is_none_or(|due| due > until) || book.parking.misses_gate(clock) {
            let silent = &book.parking.gates.silent;
            self.fault(&format!(
                "{at:?}: {number:?} is parked at {clock} and was to be at {due:?}; that is so until {until}, without {silent:?}"
            ));
        }
    }

    /// Whoever is to be parked is, once all gates have been heard, unless one of them was lost lately.
    fn judge_overdue(&mut self, book: &Book, holder: &Holder) {
        let Holder { at, number, due, until } = *holder;
        let clock = book.clock;
        let is_settled = book
            .parking
            .gates
            .changed
            .is_some_and(|since| since + silence_ms() <= clock);
        if let Some(due) = due.filter(|due| is_settled && *due <= until) {
            self.fault(&format!(
                "{at:?}: {number:?} was to be parked at {due} and has a slot at {clock}; that is so until {until}"
            ));
        }
    }

    /// Slots go to those who asked, the first ones first, and none stays free while somebody asks.
    fn judge_granted(
        &mut self,
        book: &Book,
        entry: &Entry,
        granted: &[(Number, Stay)],
        before: &View,
        (view, line): (&View, &LineView),
    ) {
        let (at, capacity, held) = (entry.position, line.figures.capacity, book.held());
        let first = book.first_who_asks();
        let adopting = book.clock < book.adopting_until || entry.batch.adopt.is_some();
        let able = before.rooted && !before.alarm && !adopting;
        for (number, stay) in granted {
            let Stay::Asks { turn } = *stay else {
                self.fault(&format!("{at:?}: {number:?} was given a slot and has not asked"));
                continue;
            };
            if let Some((lower, other)) = first.filter(|(lower, _)| *lower < turn) {
                self.fault(&format!(
                    "{at:?}: {number:?} was given a slot and asked after {other:?}, {turn} after {lower}"
                ));
            }
            if held > capacity as usize || !able {
                self.fault(&format!(
                    "{at:?}: {number:?} was given a slot, {held} of {capacity} are held, able: {able}"
                ));
            }
        }
        let still_able = able && view.adopting.is_none() && !view.alarm && view.rooted;
        if let Some((_, other)) = first.filter(|_| still_able && held < capacity as usize) {
            self.fault(&format!(
                "{at:?}: {held} of {capacity} slots are held, and {other:?} asks for one"
            ));
        }
    }

    /// Slots above the capacity are only those that gates' words took; nobody gets a right beyond the most, and no call takes a
    /// slot that a visitor asks for, or the last one where some are parked.
    pub(super) fn judge_slots(&mut self, book: &Book, made: u64, at: Position, line: &LineView) {
        let capacity = line.figures.capacity;
        let Some(most) = most_rights(capacity) else { return };
        let (slots, rights, parked) = (book.held(), book.rights(), book.parked());
        let Parking {
            slots: slots_before,
            rights: rights_before,
            forced,
            ..
        } = book.parking;
        if slots > slots_before.max(capacity as usize) + forced as usize {
            self.fault(&format!(
                "{at:?}: {slots} of {capacity} slots are held, {slots_before} before and {forced} by gates' words"
            ));
        }
        if rights > rights_before.max(most) {
            self.fault(&format!(
                "{at:?}: {rights} have a right, {rights_before} before, and {most} may"
            ));
        }
        if line.figures.parked as usize != parked {
            let figure = line.figures.parked;
            self.fault(&format!("{at:?}: {figure} are parked, and {parked} by the entries"));
        }
        if made == 0 {
            return;
        }
        if let Some((_, other)) = book.first_who_asks() {
            self.fault(&format!("{at:?}: {made} called while {other:?} asks for a slot"));
        }
        let kept = book.kept(capacity).min(1);
        if slots + kept as usize > capacity as usize {
            self.fault(&format!(
                "{at:?}: {made} called into {slots} of {capacity} slots while {parked} are parked"
            ));
        }
    }
}

impl Book {
    /// The entry's gate is heard.
    pub fn hears_gate(&mut self, entry: &Entry, effects: &Effects, before: &View) {
        self.parking.clocks.insert(entry.position.sequence, self.clock);
        let on_roster = before.roster.iter().any(|gate| gate.id == entry.gate);
        let is_new = before.rooted && !effects.ignored;
        if on_roster || is_new || !before.rooted {
            self.parking.gates.heard.insert(entry.gate, self.clock);
        }
        if entry.batch.spoke.is_some() || entry.batch.goodbye {
            self.parking.gates.before.remove(&entry.gate);
        }
        if entry.batch.spoke.is_some() {
            self.parking.gates.silent.remove(&entry.gate);
        }
        if is_new {
            // It is back, and has said what it did meanwhile.
            self.parking.gates.silent.remove(&entry.gate);
            // No time passes with an entry that was skipped.
            let read = self.parking.clocks.range(..=entry.batch.applied).next_back();
            if let Some((_, read)) = read.filter(|_| entry.batch.notes_until.is_some()) {
                let noted = self.parking.gates.noted.entry(entry.gate).or_default();
                *noted = (*read).max(*noted);
            }
        }
    }

    /// What was to be parked by then can be when this entry is applied.
    pub fn parks_until(&self, entry: &Entry, effects: &Effects, before: &View) -> u64 {
        self.parking.parks_until(roster(entry, effects, before), self.clock)
    }

    /// Gates leave the roster.
    fn sweeps_gates(&mut self, entry: &Entry, before: &View, view: &View) {
        let is_on = |view: &View, id: GateId| view.roster.iter().any(|gate| gate.id == id);
        let gone = before.roster.iter().filter(|gate| !is_on(view, gate.id));
        let mut is_changed = view.roster.iter().any(|gate| !is_on(before, gate.id));
        for gate in gone {
            is_changed = true;
            self.parking.gates.noted.remove(&gate.id);
            let says_goodbye = entry.batch.goodbye && entry.gate == gate.id;
            let last = self.parking.gates.heard.remove(&gate.id);
            if let Some(at) = last.filter(|_| !says_goodbye && before.rooted) {
                self.parking.gates.silent.insert(gate.id, at);
            }
        }
        if view.rooted {
            let gone = std::mem::take(&mut self.parking.gates.before).into_iter();
            self.parking
                .gates
                .silent
                .extend(gone.filter(|(gate, _)| !is_on(view, *gate)));
        }
        if is_changed || self.parking.gates.changed.is_none() {
            self.parking.gates.changed = Some(self.clock);
        }
    }
}

/// The gates of the roster when the entry is applied.
fn roster<'a>(entry: &'a Entry, effects: &'a Effects, before: &'a View) -> impl Iterator<Item = GateId> + 'a {
    let new = (before.rooted && !effects.ignored).then_some(entry.gate);
    before.roster.iter().map(|gate| gate.id).chain(new)
}

/// After a gate that left without a goodbye was last heard, nobody is parked for so long.
fn silence_ms() -> u64 {
    let idle_ms = rooms::active().map_or(0, |active| active.idle_after_ms);
    SILENCE_MS + idle_ms + LAG_MS
}

/// A gate that is not heard for so long is off the roster.
const SILENCE_MS: u64 = 15_000;
/// As much a gate's clock may be behind.
const LAG_MS: u64 = 2_000;
/// A slot that is given back is to be used within this.
const BACK_MS: u64 = 10_000;
