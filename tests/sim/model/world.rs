//! The world: virtual time, the queue of events, gates, visitors and the store.
//!
//! One thread, one source of randomness: the same seed gives the same run. Calls to the store are in `link`, visitors in
//! `visits`, faults in `faults`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ropeline::replica::protocol::{Answer, Ask, Step};
use ropeline::room::Number;
use ropeline::store::{Trouble, Unavailable};

use super::faults::{Fault, Traps};
use super::gate::Gate;
use super::link::Weather;
use super::observer;
use super::people::Person;
use super::store::Server;
use super::trace::Trace;
use crate::chance::Chance;

/// Microseconds since the world began.
pub type Time = u64;
pub const MILLI: Time = 1_000;
pub const SECOND: Time = 1_000_000;

/// Something that happens at a time.
pub enum Event {
    /// A gate of this slot and life wants to go on.
    Wake(usize, u64),
    /// A call reaches the server.
    Deliver {
        from: Caller,
        server: u64,
        ask: Box<Ask>,
    },
    /// Its answer reaches the gate, or is given up.
    Reply {
        to: Caller,
        answer: Result<Box<Answer>, ()>,
    },
    /// A visitor comes.
    Visit(usize, u64),
    /// A new visitor comes, and more after them.
    Arrive,
    /// The shop's answer to a request that completed passes the gate of this slot and life.
    Completed(usize, u64, Number),
    /// Something happens about codes.
    Desk(crate::codes::Word),
    /// Gates look at their shop.
    Look,
    Fault(Fault),
}

/// One call of one life of a gate.
#[derive(Clone, Copy)]
pub struct Caller {
    pub slot: usize,
    pub life: u64,
    pub call: u64,
}

struct Due(Time, u64, Event);

pub struct World {
    pub now: Time,
    queue: BinaryHeap<Reverse<Due>>,
    queued: u64,
    pub chance: Chance,
    pub trace: Trace,
    pub servers: Vec<Server>,
    pub slots: Vec<Slot>,
    pub people: Vec<Person>,
    pub given: std::collections::BTreeMap<Number, usize>,
    /// The buyers, by the shop's records.
    pub bought: std::collections::BTreeSet<Number>,
    /// Numbers whose visitors were done, whether or not every gate has heard of it.
    pub parted: std::collections::BTreeSet<Number>,
    pub slow_shop: bool,
    pub lives: u64,
    pub calls: u64,
    /// Visitors that operators have had let in: how often.
    pub orders: u64,
    /// Virtual visitors.
    pub troupe: crate::rehearsal::Troupe,
    pub desk: crate::codes::Desk,
    pub works: crate::added::Works,
    pub tally: Tally,
    pub faults: Vec<String>,
    /// New visitors come on average so often; none when 0.
    pub arrivals_every: Time,
    pub most_people: usize,
    /// Faults are over: all visitors want in, and no fault happens.
    pub calm: bool,
    pub excuse: Excuse,
    pub traps: Traps,
    /// The last server id given out.
    pub replications: u64,
}

/// Where a gate runs.
pub struct Slot {
    pub gate: Option<Gate>,
    pub weather: Weather,
    /// The host of the server that it reaches.
    pub server: u64,
    pub knows: u16,
}

/// Events that weaken a promise.
#[derive(Clone, Copy, Default)]
pub struct Excuse {
    /// Sessions may be more than the slots: two masters, or entries lost with every gate that had read them.
    pub excess: bool,
    /// Turns may be missed through no fault of the visitor: no gate could be reached for long.
    pub turns: bool,
    /// Numbers may be given twice: the store writes its log anew and hides it.
    pub numbers: bool,
}

/// The results of a run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    pub steps: u64,
    pub joined: u64,
    pub called: u64,
    pub inside: u64,
    pub done: u64,
    pub late: u64,
    pub lost_places: u64,
    pub thrown_out: u64,
    pub begun: u64,
    pub reloads: u64,
    pub answers_lost: u64,
    pub most_inside: u64,
    /// Most visitors called, inside and parked.
    pub most_rights: u64,
    /// Most visitors with a page of the shop in the last `session_duration`.
    pub most_sessions: u64,
    /// Longest that a mark waited at a gate, in microseconds.
    pub longest_mark: Time,
    /// Numbers in line that no visitor was ever given.
    pub ghosts: u64,
    /// Completions in the last log.
    pub sold: u64,
    /// Independent of the gates' counts.
    pub bought: u64,
    /// Requests that asked for a slot, those that got one in time, and visitors who were told to try again.
    pub asks: u64,
    pub returns: u64,
    pub later: u64,
    /// Slots that were held until a date.
    pub holds: u64,
}

impl World {
    pub fn new(seed: u64, gates: usize, knows: u16) -> Self {
        observer::reset();
        let slot = |_| Slot {
            gate: None,
            weather: Weather::default(),
            server: 0,
            knows,
        };
        Self {
            now: 0,
            queue: BinaryHeap::new(),
            queued: 0,
            chance: Chance::new(seed),
            trace: Trace::new(),
            servers: vec![Server::new(0, 1)],
            slots: (0..gates).map(slot).collect(),
            people: Vec::new(),
            given: std::collections::BTreeMap::new(),
            bought: std::collections::BTreeSet::new(),
            parted: std::collections::BTreeSet::new(),
            slow_shop: false,
            lives: 0,
            calls: 0,
            orders: 0,
            troupe: crate::rehearsal::Troupe::default(),
            desk: crate::codes::Desk::default(),
            works: crate::added::Works::default(),
            tally: Tally::default(),
            faults: Vec::new(),
            arrivals_every: 0,
            most_people: 0,
            calm: false,
            excuse: Excuse::default(),
            traps: Traps::default(),
            replications: 1,
        }
    }

    pub fn at(&mut self, time: Time, event: Event) {
        self.queued += 1;
        self.queue.push(Reverse(Due(time.max(self.now), self.queued, event)));
    }

    pub fn after(&mut self, time: Time, event: Event) {
        self.at(self.now + time, event);
    }

    /// Lets the world go on until `end`, or until it is found at fault.
    pub fn run_until(&mut self, end: Time) {
        while let Some(Reverse(Due(time, ..))) = self.queue.peek() {
            if *time > end || self.is_at_fault() {
                break;
            }
            let Some(Reverse(Due(time, _, event))) = self.queue.pop() else {
                break;
            };
            self.now = time;
            self.happen(event);
        }
        self.now = self.now.max(end);
    }

    pub fn is_at_fault(&self) -> bool {
        !self.faults.is_empty() || observer::with(|watch| !watch.ledger.faults.is_empty())
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Wake(slot, life) => self.woken(slot, life),
            Event::Deliver { from, server, ask } => self.delivered(from, server, *ask),
            Event::Reply { to, answer } => self.replied(to, answer),
            Event::Visit(person, visit) => self.visited(person, visit),
            Event::Arrive => self.arrival(),
            Event::Completed(slot, life, number) => self.completed(slot, life, number),
            Event::Desk(word) => self.at_desk(word),
            Event::Look => self.look_at_shop(),
            Event::Fault(fault) => self.strike(fault),
        }
    }

    pub fn start_gate(&mut self, slot: usize) {
        self.lives += 1;
        let knows = self.slots[slot].knows;
        let wall = self.servers[0].wall(self.now);
        // The gates of the beginning know that no log was before; those that come later know nothing.
        let first = self.lives <= u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        let gate = Gate::start((self.lives, knows, first), (self.now, wall), &mut self.chance);
        self.note(format_args!("gate {slot} starts as {:x}", gate.id().0));
        self.slots[slot].gate = Some(gate);
        self.go_on(slot);
    }

    /// The process is gone, with all waiting requests.
    pub fn crash_gate(&mut self, slot: usize) {
        let Some(gate) = self.slots[slot].gate.take() else {
            return;
        };
        self.note(format_args!("gate {slot} dies"));
        let id = gate.id();
        observer::with(|watch| (watch.to_twist.remove(&id), watch.twisted.remove(&id)));
        self.shown_in_vain(gate.shown);
        self.forgets_lately(slot, gate.asking);
        self.hangs_up(gate.returning);
        for joiner in gate.joiners {
            self.people[joiner.visitor].is = super::people::Is::Outside;
            self.come_again(joiner.visitor, 500 * MILLI, 3 * SECOND);
        }
    }

    fn woken(&mut self, slot: usize, life: u64) {
        let now = self.now;
        let Some(gate) = self.slots[slot].gate.as_mut().filter(|gate| gate.life == life) else {
            return;
        };
        if gate.wake.is_some_and(|wake| wake <= now) && gate.paused_until <= now {
            gate.wake = None;
            self.go_on(slot);
        }
    }

    /// Runs the gate's steps until it waits.
    pub fn go_on(&mut self, slot: usize) {
        for _ in 0..STEPS_MOST {
            let now = self.now;
            let Some(gate) = self.slots[slot].gate.as_mut() else {
                return;
            };
            if gate.in_flight.is_some() || gate.paused_until > now {
                return;
            }
            let id = gate.id();
            observer::with(|watch| watch.acting = id);
            let step = gate.protocol.next(gate.uptime(now));
            match step {
                Step::Ask(ask) => return self.send(slot, ask),
                Step::Wait(until) | Step::Rest(until) => {
                    let at = gate.at(until);
                    if at <= now {
                        continue;
                    }
                    return self.wake_at(slot, at);
                }
                Step::Ended => {
                    self.note(format_args!("gate {slot} has ended"));
                    return self.crash_gate(slot);
                }
            }
        }
        self.fault(format_args!("gate {slot} turns in a circle"));
    }

    pub fn wake_at(&mut self, slot: usize, at: Time) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        if gate.wake.is_some_and(|wake| wake <= at && wake > self.now) {
            return;
        }
        gate.wake = Some(at);
        let life = gate.life;
        self.at(at, Event::Wake(slot, life));
    }

    fn replied(&mut self, to: Caller, answer: Result<Box<Answer>, ()>) {
        let now = self.now;
        let gate = self.slots[to.slot].gate.as_mut();
        let Some(gate) = gate.filter(|gate| gate.life == to.life && gate.in_flight == Some(to.call)) else {
            return;
        };
        if gate.paused_until > now {
            let until = gate.paused_until;
            return self.at(until, Event::Reply { to, answer });
        }
        gate.in_flight = None;
        let (id, answer) = (
            gate.id(),
            answer
                .map(|answer| *answer)
                .map_err(|()| Unavailable::new(Trouble::Timeout, "lost")),
        );
        observer::with(|watch| {
            watch.acting = id;
            match &answer {
                Ok(Answer::Root(Some(root))) => {
                    watch.roots.insert(id, root.position);
                    watch.takes_rooms_from_store();
                }
                // A gate for which there is no snapshot goes on with the rooms that it had.
                Ok(Answer::Loaded(loaded)) if !loaded.snapshots.is_empty() => {
                    watch.ledger.known.forgets(id);
                    watch.takes_rooms_from_store();
                }
                _ => {}
            }
        });
        let lost = answer.is_err();
        gate.protocol.answer(gate.uptime(now), answer);
        if gate.protocol.live_state().is_some() {
            observer::with(|watch| watch.set_aside.remove(&id));
        }
        let changed = gate.look(now);
        let at = gate.view.position;
        self.tally.answers_lost += u64::from(lost);
        if changed {
            self.note(format_args!("gate {} at {}-{}", to.slot, at.epoch, at.sequence));
            self.told(to.slot);
            self.nobody_goes_on_too_long(to.slot);
        }
        self.go_on(to.slot);
    }

    pub fn note(&mut self, what: std::fmt::Arguments<'_>) {
        self.trace.note(self.now, what);
    }

    /// A promise is broken.
    pub fn fault(&mut self, what: std::fmt::Arguments<'_>) {
        self.note(what);
        if self.faults.len() < 20 {
            let at = self.now / MILLI;
            self.faults.push(format!("at {at} ms: {what}"));
        }
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

/// A gate that has taken so many steps without waiting takes them for ever.
const STEPS_MOST: u32 = 100;
