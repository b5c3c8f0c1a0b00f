//! The events in the entries, judged by rules that are independent of the room's, on every history that the gates ever took
//! part in.
//!
//! The first gate to apply an entry passes it to the ledger. A [`Book`] per epoch computes joins, check-ins, calls and
//! sessions from the entries alone; the room's calls are read from its view. A new log's book goes on from the book of its
//! root. Every gate that applies the same entry must get the same hash.

mod accounts;
pub mod book;
mod known;
mod load;
pub mod parked;
mod stock;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ropeline::room::{Effects, Entry, GateId, LineView, Mode, Number, Position, Standing, State, StateHash, View};

use crate::rooms::{self, LANE};
use book::{Book, Is, Person};
use known::Known;

#[derive(Default)]
pub struct Ledger {
    /// The first are enough.
    pub faults: Vec<String>,
    pub entries: u64,
    pub calls: u64,
    pub beyond: u64,
    /// Slots that were given back, not used, and taken again.
    pub unused: u64,
    histories: BTreeMap<u64, History>,
    /// By position and nonce.
    hashes: BTreeMap<(Position, [u8; 8]), StateHash>,
    /// Numbers of all histories.
    issued: BTreeSet<Number>,
    /// The entries that the store took, for entries that are skipped.
    appended: BTreeMap<Position, Arc<Entry>>,
    /// Entries that may be passed over.
    pub skips: BTreeSet<Position>,
    /// A gate whose rooms are wrong was left alone with its log: the right state is unknown.
    pub blind: bool,
    /// The store may write its log anew under the same positions: only replicas are compared, entry by entry.
    pub rewritten: bool,
    pub rooms: Rooms,
    pub known: Known,
    /// The completed visitors of all histories.
    completions: BTreeSet<Number>,
    /// Operators' orders that were taken, by log and reason.
    pub orders: BTreeSet<(u64, String)>,
}

/// Whether some gate's rooms have been made wrong.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub enum Rooms {
    #[default]
    Right,
    WereWrong,
    AreWrong,
}

struct History {
    book: Book,
    root: Option<Position>,
    sequence: u64,
    /// A visitor in line, and how many were ahead.
    sample: Option<(Number, u64, Option<u64>)>,
    /// Turns that were missed so far.
    missed: u64,
}

/// Every so many entries the hashes of all gates are compared.
const COMPARE_EVERY: u64 = 4;

impl Ledger {
    /// The store has taken an entry.
    pub fn appended(&mut self, entry: &Arc<Entry>) {
        let before = self.appended.insert(entry.position, Arc::clone(entry));
        if let Some(other) = before.filter(|_| !self.rewritten) {
            self.fault(&format!("{:?} was there before, of {:?}", entry.position, other.gate));
        }
        if self.appended.len() > 4_096 {
            self.appended.pop_first();
        }
    }

    /// A gate has applied an entry; `root` is where the state that it began this log with stood.
    pub fn applied(
        &mut self,
        gate: GateId,
        before: &View,
        state: &mut State,
        entry: &Entry,
        effects: &Effects,
        root: Option<Position>,
    ) {
        let at = entry.position;
        if self.blind {
            return;
        }
        if at.sequence.is_multiple_of(COMPARE_EVERY) {
            let hash = state.hash();
            let first = *self.hashes.entry((at, entry.nonce)).or_insert(hash);
            if first != hash {
                self.fault(&format!("two gates differ at {at:?}"));
            }
            if self.hashes.len() > 4_096 {
                self.hashes.pop_first();
            }
        }
        if self.rewritten {
            return;
        }
        if at.sequence == 1 {
            self.begin(at.epoch, root);
            if self.blind {
                return;
            }
        }
        let Some(mut history) = self.histories.remove(&at.epoch) else {
            // A gate that read it from its beginning had wrong rooms.
            if self.rooms != Rooms::Right {
                self.blind = true;
                return;
            }
            return self.fault(&format!("{at:?} follows nothing that was seen"));
        };
        if at.sequence > history.sequence {
            self.entries += 1;
            self.pass_over(&mut history, at);
            if self.blind {
                return;
            }
            self.book(&mut history, before, state, entry, effects);
            history.sequence = at.sequence;
            for number in history.book.ended.drain(..) {
                self.known.end(number, at);
            }
            for number in history.book.just_sold.drain(..) {
                self.known.sell(number, at);
            }
        }
        self.known.reads(gate, at);
        self.histories.insert(at.epoch, history);
    }

    fn begin(&mut self, epoch: u64, root: Option<Position>) {
        if let Some(history) = self.histories.get(&epoch) {
            if history.root != root {
                let other = history.root;
                self.fault(&format!("log {epoch} begins from {other:?} and from {root:?}"));
            }
            return;
        }
        if self.rooms == Rooms::AreWrong {
            // It may have been the one that gave the log its root.
            self.blind = true;
            return;
        }
        if let Some(at) = root {
            self.skip_to(at);
        }
        let book = match root {
            Some(at) if at != Position::default() => match self.histories.get(&at.epoch) {
                Some(history) if history.sequence >= at.sequence => history.book.back_at(at.sequence),
                _ if self.rooms != Rooms::Right => {
                    self.blind = true;
                    return;
                }
                _ => return self.fault(&format!("log {epoch} begins from {at:?}, which nobody has read")),
            },
            _ => Book::default(),
        };
        let history = History {
            book,
            root,
            sequence: 0,
            sample: None,
            missed: 0,
        };
        self.histories.insert(epoch, history);
    }

    /// A log begins from a gate that has skipped all entries behind those that were read.
    fn skip_to(&mut self, at: Position) {
        let Some(mut history) = self.histories.remove(&at.epoch) else {
            return;
        };
        let is_skipped = |sequence| self.skips.contains(&Position { sequence, ..at });
        if (history.sequence + 1..=at.sequence).all(is_skipped) {
            let next = at.sequence + 1;
            self.pass_over(&mut history, Position { sequence: next, ..at });
            history.sequence = history.sequence.max(at.sequence);
        }
        self.histories.insert(at.epoch, history);
    }

    /// Entries that were skipped: no time passes with them.
    fn pass_over(&mut self, history: &mut History, to: Position) {
        for sequence in history.sequence + 1..to.sequence {
            let at = Position { sequence, ..to };
            match self.appended.get(&at) {
                Some(entry) if self.skips.contains(&at) => {
                    history.book.turn_to(sequence);
                    history.book.time = Some(entry.time.0);
                }
                _ if self.rooms != Rooms::Right => self.blind = true,
                _ => self.fault(&format!("{at:?} was left out")),
            }
        }
    }

    fn book(&mut self, history: &mut History, before: &View, state: &mut State, entry: &Entry, effects: &Effects) {
        let at = entry.position;
        let book = &mut history.book;
        book.turn_to(at.sequence);
        if before.rooted {
            pass(book, entry.time.0);
        } else {
            book.time = Some(entry.time.0);
        }
        if effects.clock.0 != book.clock {
            let expected = book.clock;
            self.fault(&format!("{at:?}: the clock is {:?} and not {expected}", effects.clock));
            history.book.clock = effects.clock.0;
        }
        let view = state.view();
        let line = rooms::line(&view);
        history.book.rehearse(&view);
        if !effects.ignored && before.rooted {
            self.known.hear(entry);
            self.said(&mut history.book, entry, effects, line.map(AsRef::as_ref));
        }
        history.book.hears_gate(entry, effects, before);
        let parks_until = history.book.parks_until(entry, effects, before);
        history.book.expire(parks_until);
        let Some(line) = line else { return };
        self.park(&mut history.book, entry, effects, before, (&view, line));
        let calls = history.book.calls;
        self.call(&mut history.book, at, line);
        let made = history.book.calls - calls;
        self.calls += made;
        self.judge(&history.book, made, (entry, effects), before, (&view, line));
        if !effects.ignored && before.rooted {
            self.sample(history, entry, &view, line);
        }
    }

    /// Takes down what visitors and gates said.
    fn said(&mut self, book: &mut Book, entry: &Entry, effects: &Effects, line: Option<&LineView>) {
        let (at, adopts) = (entry.position, entry.batch.adopt);
        if !book.hear(entry.gate, entry.serial) {
            self.fault(&format!(
                "{at:?}: batch {} of {:?} counts again",
                entry.serial, entry.gate
            ));
        }
        if let Some(adopt) = adopts {
            // If several gates bring it back, the first that is done ends it: too soon, but never too late.
            let until = book
                .adopting_until
                .max(book.clock + if book.adopting_until > book.clock { 0 } else { ADOPT_MS });
            book.adopting_until = if adopt.done { 0 } else { until };
        }
        if !entry.batch.load.is_empty() {
            book.figures_until = book.clock + load::TTL_MS;
        }
        let standing = |number: Number| line.map(|line| line.standing(LANE, number, line.clock));
        for section in book.heard(entry, effects) {
            section.leaves.iter().for_each(|(_, number)| book.leave(*number));
            section.ends.iter().for_each(|end| book.end(end));
            for done in &section.completions {
                self.completed(book, done, adopts.is_some());
            }
            section.claims.iter().for_each(|claim| book.claim(claim));
            let used = [(&section.taken, Is::Over), (&section.spent, Is::Lapsed)];
            for (numbers, is) in used.into_iter().filter(|_| adopts.is_some()) {
                for (_, number) in numbers {
                    book.use_up(*number, is);
                }
            }
            for (_, number) in &section.reopens {
                self.known(at, *number);
                // Whether the room lets them: it knows what ended and what the horizon has passed.
                let opened = matches!(standing(*number), Some(Standing::Inside(_)));
                let person = book.people.get(number).copied().unwrap_or(Person::NEW);
                if opened && !matches!(person.is, Is::Inside { .. }) {
                    if person.is == Is::Over {
                        self.fault(&format!("{at:?}: {number:?} was over and is open again"));
                    }
                    book.reopen(*number, person, adopts.is_some());
                }
            }
            section.renewals.iter().for_each(|(_, number)| book.renew(*number));
            section.holds.iter().for_each(|hold| book.hold(hold));
            for (_, number) in &section.returns {
                self.known(at, *number);
                let opened = matches!(standing(*number), Some(Standing::Inside(_)));
                if let Err(what) = book.ask(*number, opened) {
                    self.fault(&format!("{at:?}: {number:?} {what}"));
                }
            }
            for (_, number) in &section.marks {
                self.known(at, *number);
                let person = book.people.get(number).copied().unwrap_or(Person::NEW);
                // Numbers that the horizon has passed take no marks.
                let late = matches!(standing(*number), Some(Standing::Late));
                if person.is == Is::Waiting && !late {
                    let marked = Some(book.clock);
                    book.put(*number, Person { marked, ..person });
                }
            }
        }
        self.joined(book, entry, effects);
        self.accounts(book, entry, effects, line);
    }

    fn issue(&mut self, book: &mut Book, at: Position, number: Number) {
        if number.epoch.0 != at.epoch {
            self.fault(&format!("{at:?} issues {number:?} of another epoch"));
        }
        if !self.issued.insert(number) {
            self.fault(&format!("{at:?} issues {number:?} twice"));
        }
        if book.people.last_key_value().is_some_and(|(last, _)| *last > number) {
            self.fault(&format!("{at:?} issues {number:?} before another"));
        }
        let joined = Some(book.clock);
        book.put(number, Person { joined, ..Person::NEW });
    }

    fn known(&mut self, at: Position, number: Number) {
        if !self.issued.contains(&number) {
            self.fault(&format!("{at:?} speaks of {number:?}, which nobody was given"));
        }
    }

    /// Finds the visitors whom the entry called, lowest first, and those whom it passed over.
    fn call(&mut self, book: &mut Book, at: Position, line: &LineView) {
        let Some(made) = line.figures.calls.checked_sub(book.calls) else {
            return self.fault(&format!("{at:?}: calls were taken back"));
        };
        book.calls = line.figures.calls;
        if made == 0 {
            return;
        }
        let (mut found, mut passed_over) = (Vec::new(), None);
        for (number, person) in book::in_order(book, line) {
            if found.len() as u64 == made {
                break;
            }
            let held = matches!(person.is, Is::Called { .. } | Is::Inside { .. });
            match line.standing(LANE, *number, line.clock) {
                Standing::Called(called) if !held => found.push((*number, called, passed_over, *person)),
                Standing::Waiting(_) if book.is_surely_present(person) => {
                    passed_over = passed_over.or(Some(*number));
                }
                _ => {}
            }
        }
        if (found.len() as u64) < made {
            let found = found.len();
            self.fault(&format!("{at:?}: {made} calls were made and {found} found"));
        }
        for (number, called, passed_over, person) in found {
            if let Some(lower) = passed_over {
                self.fault(&format!(
                    "{at:?}: {number:?} was called before {lower:?}, who was present"
                ));
            }
            if person.is == Is::Over {
                self.fault(&format!("{at:?}: {number:?} was over and is called"));
            }
            if let Some((gate, since)) = self.known.is_over(number, at.epoch)
                && self.rooms == Rooms::Right
            {
                self.fault(&format!(
                    "{at:?}: {number:?} is called, and was over at {since:?}, as {gate:?} knew"
                ));
            }
            let deadline = called.deadline.0;
            if deadline != book.clock + rooms::settings().claim_deadline_ms {
                self.fault(&format!(
                    "{at:?}: {number:?} is called until {deadline} at {}",
                    book.clock
                ));
            }
            book.put(
                number,
                Person {
                    is: Is::Called { deadline },
                    ..person
                },
            );
        }
    }

    /// No visitor is called beyond the capacity or while calls are stopped; and none waits while one may be called.
    fn judge(
        &mut self,
        book: &Book,
        made: u64,
        (entry, effects): (&Entry, &Effects),
        before: &View,
        (view, line): (&View, &LineView),
    ) {
        let (at, figures) = (entry.position, &line.figures);
        let settings = &view.rooms[&rooms::room()].settings;
        let (slots, capacity) = (figures.called + figures.inside, figures.capacity);
        let held = book.held();
        if held != slots as usize {
            let other = book.holders().find(|(number, _)| {
                let standing = line.standing(LANE, **number, line.clock);
                !matches!(standing, Standing::Called(_) | Standing::Inside(_))
            });
            let other = other.map(|(number, person)| (number, person.is, line.standing(LANE, *number, line.clock)));
            let clock = book.clock;
            self.fault(&format!(
                "{at:?}: {slots} slots are held, and {held} by the entries, such as {other:?} at {clock}"
            ));
        }
        let (ordered, beyond) = self.ordered(entry, effects);
        // Votes are counted after the calls: an entry that raises an alarm, or ends one, has called as before it.
        let heard = before.rooted && !before.alarm;
        let able = heard && !book::is_quiet(view, &rooms::room());
        let may_call = able && settings.mode == Mode::Auto;
        let adopting = book.clock < book.adopting_until || entry.batch.adopt.is_some();
        if made > 0 {
            if made > beyond && (slots > capacity || held > capacity as usize) {
                self.fault(&format!(
                    "{at:?}: {made} called into {slots} ({held}) of {capacity} slots"
                ));
            }
            self.beyond += u64::from(slots.saturating_sub(capacity)).min(made);
            // An operator is heard while a room heals.
            let told =
                heard && view.adopting.is_none() && matches!(settings.mode, Mode::Auto | Mode::Hold) && made <= ordered;
            if !(may_call || told) || adopting {
                self.fault(&format!("{at:?}: {made} called while nobody may be"));
            }
        }
        self.judge_stock(book, made, at, line);
        self.judge_slots(book, made.saturating_sub(ordered), at, line);
        let reach = figures.left() != Some(0) && book.has_rights_left(capacity);
        self.judge_load(book, made.saturating_sub(ordered), at, settings);
        let all_are_called = settings.load_control.is_none();
        if may_call
            && !adopting
            && slots + book.kept(capacity) < capacity
            && figures.waiting > 0
            && reach
            && all_are_called
        {
            self.fault(&format!("{at:?}: a slot stays free while {} wait", figures.waiting));
        }
        let kept = |(number, person): &(&Number, &Person)| {
            book.is_surely_present(person)
                && !matches!(line.standing(LANE, **number, line.clock), Standing::Waiting(w) if w.present)
        };
        if at.sequence.is_multiple_of(16)
            && let Some((number, person)) = book.people.iter().find(kept)
        {
            let standing = line.standing(LANE, *number, line.clock);
            self.fault(&format!(
                "{at:?}: {number:?} is {person:?} at {} and {standing:?}",
                book.clock
            ));
        }
    }

    /// A position grows only by visitors with lower places who come back.
    fn sample(&mut self, history: &mut History, entry: &Entry, view: &View, line: &LineView) {
        let place = |number| line.place(LANE, number);
        let ahead = |number| match line.standing(LANE, number, line.clock) {
            Standing::Waiting(waiting) if waiting.present => Some(waiting.ahead),
            _ => None,
        };
        if let Some((number, before, at)) = history.sample
            && at == place(number)
            && let Some(now) = ahead(number)
        {
            let lower = |section: &ropeline::room::Section| {
                let came = section.marks.iter().filter(|(_, other)| place(*other) < at);
                came.count() as u64
            };
            // A visitor who checked in after the deadline comes back when the turn is missed.
            let missed = line.figures.no_shows.saturating_sub(history.missed);
            let came: u64 = entry.batch.sections.iter().map(lower).sum::<u64>() + missed;
            if now > before + came && !book::is_quiet(view, &rooms::room()) {
                let at = entry.position;
                self.fault(&format!(
                    "{at:?}: {number:?} had {before} ahead and has {now}, {came} came back"
                ));
            }
            history.sample = Some((number, now, at));
            history.missed = line.figures.no_shows;
            return;
        }
        history.missed = line.figures.no_shows;
        let waiting = history
            .book
            .people
            .iter()
            .rev()
            .find(|(_, person)| person.is == Is::Waiting);
        history.sample = waiting.and_then(|(number, _)| Some((*number, ahead(*number)?, place(*number))));
    }

    pub fn fault(&mut self, what: &str) {
        if self.faults.len() < 20 && !self.blind {
            self.faults.push(what.to_owned());
        }
    }
}

/// The clock goes on with an entry, at most five seconds.
fn pass(book: &mut Book, time: u64) {
    book.clock += time.saturating_sub(book.time.unwrap_or(time)).min(5_000);
    book.time = Some(time);
}

/// How long an adoption holds the calls if it is not finished.
const ADOPT_MS: u64 = 5_000;
