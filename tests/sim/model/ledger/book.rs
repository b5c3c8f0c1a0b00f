//! The visitors' states by one history of the log: plain maps, independent rules, and a way back to an earlier entry.

use std::collections::{BTreeMap, BTreeSet};

use ropeline::room::{Claim, End, GateId, LineView, Number, PendingId, RehearsalId, RoomName, Tag, View};

use super::parked::{Gates, Parking, Stay};
use crate::rooms::{self, LANE};

/// A number as the reckoning has it, by the room's clock in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Person {
    pub is: Is,
    pub joined: Option<u64>,
    pub marked: Option<u64>,
    /// Turns missed.
    pub missed: u8,
}

impl Person {
    /// A visitor in line without any sign of life.
    pub const NEW: Self = Self {
        is: Is::Waiting,
        joined: None,
        marked: None,
        missed: 0,
    };
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Is {
    Waiting,
    Called {
        deadline: u64,
    },
    Inside {
        expires: u64,
        ends_by: u64,
        ending: bool,
        stay: Stay,
    },
    /// Idled out, or missed two turns: a pass from elsewhere may open it again.
    Lapsed,
    /// Left or ended.
    Over,
}

/// One history up to an entry.
#[derive(Clone, Default)]
pub struct Book {
    pub clock: u64,
    pub time: Option<u64>,
    pub calls: u64,
    pub people: BTreeMap<Number, Person>,
    /// Batches that counted.
    pub heard: BTreeSet<(GateId, u64)>,
    pub pending: BTreeMap<PendingId, Number>,
    /// The accounts of numbers that were given by account; a lost entry never changes a number's account.
    pub owners: BTreeMap<Number, Tag>,
    /// No visitor is called before, because a gate brings lost data back.
    pub adopting_until: u64,
    /// A gate's figures of its shop are valid until then.
    pub figures_until: u64,
    /// Numbers that the entry found to be over.
    pub ended: Vec<Number>,
    /// The completed visitors, and those whom the entry counted.
    pub sold: BTreeSet<Number>,
    pub just_sold: Vec<Number>,
    /// The rehearsal that is under way after the entry, and whose of it the numbers are.
    pub rehearsal: Option<RehearsalId>,
    pub virtuals: BTreeMap<Number, RehearsalId>,
    /// Slots and rights, in a room with active slots.
    pub parking: Parking,
    undo: Vec<(u64, Undo)>,
    sequence: u64,
}

#[derive(Clone)]
enum Undo {
    Person(Number, Option<Person>),
    Heard(GateId, u64),
    Pending(PendingId, Option<Number>),
    Sold(Number),
    Gates(Gates),
    Scalars([u64; 4], Option<u64>),
}

impl Book {
    /// The same history as it was after `sequence`, as the beginning of another.
    pub fn back_at(&self, sequence: u64) -> Self {
        let mut book = self.clone();
        while let Some((at, undo)) = book.undo.pop_if(|(at, _)| *at > sequence) {
            debug_assert!(at > sequence);
            match undo {
                Undo::Person(number, Some(person)) => _ = book.people.insert(number, person),
                Undo::Person(number, None) => _ = book.people.remove(&number),
                Undo::Heard(gate, serial) => _ = book.heard.remove(&(gate, serial)),
                Undo::Pending(id, Some(number)) => _ = book.pending.insert(id, number),
                Undo::Pending(id, None) => _ = book.pending.remove(&id),
                Undo::Sold(number) => _ = book.sold.remove(&number),
                Undo::Gates(gates) => book.parking.gates = gates,
                Undo::Scalars([clock, calls, adopting, figures], time) => {
                    (book.clock, book.calls, book.time) = (clock, calls, time);
                    (book.adopting_until, book.figures_until) = (adopting, figures);
                }
            }
        }
        book.undo.clear();
        book.parking.begin();
        book
    }

    /// An entry begins.
    pub fn turn_to(&mut self, sequence: u64) {
        self.sequence = sequence;
        self.turn_parking();
        let scalars = [self.clock, self.calls, self.adopting_until, self.figures_until];
        self.undo.push((sequence, Undo::Scalars(scalars, self.time)));
        if rooms::active().is_some() {
            self.undo.push((sequence, Undo::Gates(self.parking.gates.clone())));
        }
    }

    pub fn put(&mut self, number: Number, person: Person) {
        let before = self.people.insert(number, person);
        if person.is == Is::Over && before.is_none_or(|before| before.is != Is::Over) {
            self.ended.push(number);
        }
        self.undo.push((self.sequence, Undo::Person(number, before)));
    }

    /// False if the batch counted before.
    pub fn hear(&mut self, gate: GateId, serial: u64) -> bool {
        let new = self.heard.insert((gate, serial));
        if new {
            self.undo.push((self.sequence, Undo::Heard(gate, serial)));
        }
        new
    }

    pub fn number_pending(&mut self, id: PendingId, number: Number) {
        let before = self.pending.insert(id, number);
        self.undo.push((self.sequence, Undo::Pending(id, before)));
    }

    /// False for a visitor who has completed before.
    pub fn sell(&mut self, number: Number) -> bool {
        let new = self.sold.insert(number);
        if new {
            self.just_sold.push(number);
            self.undo.push((self.sequence, Undo::Sold(number)));
        }
        new
    }

    pub fn own(&mut self, number: Number, tag: Tag) {
        self.owners.insert(number, tag);
    }

    pub fn held(&self) -> usize {
        self.holders().count()
    }

    /// Holders of a slot.
    pub fn holders(&self) -> impl Iterator<Item = (&Number, &Person)> {
        let held = |person: &Person| match person.is {
            Is::Called { .. } => true,
            Is::Inside { stay, .. } => stay.has_slot(),
            _ => false,
        };
        self.people.iter().filter(move |(_, person)| held(person))
    }

    /// Joined or marked so lately that the room must count on them.
    pub fn is_surely_present(&self, person: &Person) -> bool {
        let settings = rooms::settings();
        let within = |since: Option<u64>, span| since.is_some_and(|since| self.clock - since < span);
        let firm = within(person.joined, settings.firm_within_ms);
        person.is == Is::Waiting && (firm || within(person.marked, settings.grace_ms / 2))
    }

    pub fn leave(&mut self, number: Number) {
        if let Some(person) = self.people.get(&number).copied() {
            self.put(number, Person { is: Is::Over, ..person });
        }
    }

    /// A gate says that the number was used up in a history that was lost. A session that is open here runs out by itself.
    pub fn use_up(&mut self, number: Number, is: Is) {
        let person = self.people.get(&number).copied().unwrap_or(Person::NEW);
        let called = matches!(person.is, Is::Called { .. }) && is == Is::Over;
        if person.is == Is::Waiting || called {
            self.put(number, Person { is, ..person });
        }
    }

    pub fn end(&mut self, end: &End) {
        if let Some(person) = self.people.get(&end.number).copied()
            && matches!(person.is, Is::Called { .. })
        {
            self.open(end.number, person);
        }
        if let Some(person) = self.people.get(&end.number).copied()
            && let Is::Inside {
                expires, ends_by, stay, ..
            } = person.is
        {
            let is = Is::Inside {
                expires: expires.min(self.clock + end.after_ms),
                ends_by,
                ending: true,
                stay,
            };
            self.put(end.number, Person { is, ..person });
        }
    }

    pub fn claim(&mut self, claim: &Claim) {
        if let Some(person) = self.people.get(&claim.number).copied() {
            match person.is {
                Is::Called { .. } => self.open(claim.number, person),
                Is::Inside { .. } => self.renew(claim.number),
                _ => {}
            }
        }
    }

    pub fn open(&mut self, number: Number, person: Person) {
        let settings = rooms::settings();
        let ends_by = self.clock + settings.session_max_ms;
        let is = Is::Inside {
            expires: (self.clock + settings.hold_ms()).min(ends_by),
            ends_by,
            ending: false,
            stay: Stay::Active { noted: self.clock },
        };
        self.put(number, Person { is, ..person });
    }

    /// The session is in use: it has a slot, whatever it had before.
    pub fn renew(&mut self, number: Number) {
        let Some(person) = self.people.get(&number).copied() else {
            return;
        };
        let Is::Inside {
            expires,
            ends_by,
            ending,
            stay,
        } = person.is
        else {
            return;
        };
        self.parking.forced += u32::from(!stay.has_slot());
        let longer = (self.clock + rooms::settings().hold_ms()).min(ends_by).max(expires);
        let is = Is::Inside {
            expires: if ending { expires } else { longer },
            ends_by,
            ending,
            stay: stay.used(self.clock),
        };
        self.put(number, Person { is, ..person });
    }

    /// Ends everything whose time is over. A session that is in use as far as one can know lasts as of a request now.
    pub fn expire(&mut self, parks_until: u64) {
        let (mut changed, mut lasting) = (Vec::new(), Vec::new());
        for (number, person) in &self.people {
            let is = match person.is {
                Is::Called { deadline, .. } if deadline + SLACK_MS <= self.clock => {
                    if person.missed == 0 {
                        Is::Waiting
                    } else {
                        Is::Lapsed
                    }
                }
                Is::Inside {
                    expires, ending: true, ..
                } if expires <= self.clock => Is::Over,
                Is::Inside {
                    expires,
                    ends_by,
                    ending,
                    stay,
                } if expires + SLACK_MS <= self.clock => {
                    if expires >= ends_by {
                        Is::Over
                    } else if self.may_be_in_use(stay, parks_until) {
                        let expires = (self.clock + rooms::settings().hold_ms()).min(ends_by);
                        let is = Is::Inside {
                            expires,
                            ends_by,
                            ending,
                            stay,
                        };
                        lasting.push((*number, Person { is, ..*person }));
                        continue;
                    } else {
                        Is::Lapsed
                    }
                }
                _ => continue,
            };
            changed.push((*number, Person { is, ..*person }));
        }
        for (number, person) in lasting {
            self.put(number, person);
        }
        for (number, person) in changed {
            let missed = u8::from(matches!(self.people[&number].is, Is::Called { .. }));
            let person = Person {
                joined: None,
                marked: None,
                missed: person.missed + missed,
                ..person
            };
            self.put(number, person);
        }
    }
}

/// Everybody in the order in which they are to be called.
pub fn in_order<'a>(book: &'a Book, line: &LineView) -> Vec<(&'a Number, &'a Person)> {
    let mut people: Vec<_> = book.people.iter().collect();
    if line.drawn(LANE) > 0 {
        people.sort_by_key(|(number, _)| line.place(LANE, **number));
    }
    people
}

/// No visitor is called in a room: data was lost, or is being brought back.
pub fn is_quiet(view: &View, room: &RoomName) -> bool {
    view.rooms.get(room).is_some_and(|room| view.healing_of(room).is_some())
}

/// Slots outlive their passes by this.
const SLACK_MS: u64 = 2_000;
