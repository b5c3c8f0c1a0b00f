//! The link between a gate and the store: calls that are lost, late, applied twice, or whose answer is lost.

use std::fmt;

use ropeline::replica::protocol::{Answer, Ask};
use ropeline::room::Entry;
use ropeline::store::Occasion;

use super::observer;
use super::world::{Caller, Event, MILLI, SECOND, Time, World};

/// How a link behaves; chances in a thousand.
#[derive(Clone, Copy)]
pub struct Weather {
    /// No call gets through.
    pub cut: bool,
    pub request_lost: u64,
    pub reply_lost: u64,
    pub twice: u64,
    /// The call takes seconds.
    pub slow: u64,
    /// One way, at least and at most.
    pub delay: (Time, Time),
}

impl Default for Weather {
    fn default() -> Self {
        Self {
            cut: false,
            request_lost: 0,
            reply_lost: 0,
            twice: 0,
            slow: 0,
            delay: (100, 2 * MILLI),
        }
    }
}

impl Weather {
    /// Calls get lost and repeated often enough to matter in every run.
    pub fn rough() -> Self {
        Self {
            request_lost: 8,
            reply_lost: 8,
            twice: 15,
            slow: 4,
            delay: (200, 20 * MILLI),
            ..Self::default()
        }
    }
}

impl World {
    /// Sends a gate's call on its way.
    pub fn send(&mut self, slot: usize, ask: Ask) {
        self.calls += 1;
        let call = self.calls;
        let Slotted { life, server, weather } = self.slotted(slot, call);
        let from = Caller { slot, life, call };
        if matches!(ask, Ask::Load) {
            self.tally.reloads += 1;
        }
        if matches!(ask, Ask::Save { .. }) {
            observer::with(|watch| {
                let may_be_wrong = [&watch.twisted, &watch.set_aside];
                watch.wrong_is_saved |= may_be_wrong.iter().any(|gates| gates.contains(&watch.acting));
            });
        }
        self.only_what_is_confirmed_is_saved(slot, &ask);
        if let Ask::Begin { seen, .. } = &ask {
            self.note(format_args!("gate {slot} would begin a log after {seen}"));
        }
        self.after(
            TIMEOUT,
            Event::Reply {
                to: from,
                answer: Err(()),
            },
        );
        if weather.cut || self.chance.hits(weather.request_lost) {
            return;
        }
        let mut delay = self.chance.within(weather.delay.0, weather.delay.1);
        if self.chance.hits(weather.slow) {
            delay += self.chance.within(SECOND / 2, 3 * SECOND);
        }
        if self.chance.hits(weather.twice) {
            let again = delay + self.chance.within(0, 4 * SECOND);
            let ask = Box::new(ask.clone());
            self.after(again, Event::Deliver { from, server, ask });
        }
        let ask = Box::new(ask);
        self.after(delay, Event::Deliver { from, server, ask });
    }

    fn slotted(&mut self, slot: usize, call: u64) -> Slotted {
        let of = &mut self.slots[slot];
        let gate = of.gate.as_mut().expect("a gate that asks is there");
        gate.in_flight = Some(call);
        Slotted {
            life: gate.life,
            server: of.server,
            weather: of.weather,
        }
    }

    /// The call has reached the server, whether or not the gate still waits for its answer.
    pub fn delivered(&mut self, from: Caller, host: u64, ask: Ask) {
        let now = self.now;
        let weather = self.slots[from.slot].weather;
        // A master that is dropped takes its connections with it.
        let Some(server) = self.servers.iter().position(|server| server.host == host) else {
            return;
        };
        let asleep = self.servers[server].asleep_until;
        if asleep > now {
            let ask = Box::new(ask);
            return self.at(
                asleep,
                Event::Deliver {
                    from,
                    server: host,
                    ask,
                },
            );
        }
        if weather.cut {
            return;
        }
        let full = self.servers[server].full_until > now && saves(&ask, Occasion::Checkpoint);
        if self.servers[server].down || full {
            return self.after(
                MILLI,
                Event::Reply {
                    to: from,
                    answer: Err(()),
                },
            );
        }
        if self.is_trapped(&from, &ask) {
            return;
        }
        let answer = self.carry_out(&from, server, ask);
        if self.chance.hits(weather.reply_lost) {
            return;
        }
        let delay = self.chance.within(weather.delay.0, weather.delay.1);
        let answer = Ok(Box::new(answer));
        self.after(delay, Event::Reply { to: from, answer });
    }

    fn carry_out(&mut self, from: &Caller, server: usize, ask: Ask) -> Answer {
        let now = self.now;
        let reads = self.slots[from.slot].knows;
        let server = &mut self.servers[server];
        let (answer, added) = match ask {
            Ask::Load => (Answer::Loaded(server.load(now)), None),
            Ask::Root(hash) => (Answer::Root(server.root(&hash)), None),
            Ask::Exchange { at, append } => {
                let (exchanged, added) = server.exchange(at, append.as_ref(), reads, now);
                (Answer::Exchanged(exchanged), added)
            }
            Ask::Save { snapshot, occasion } => {
                server.save(snapshot, occasion, now);
                (Answer::Saved, None)
            }
            Ask::Begin { seen, beginning } => {
                let (begun, added) = server.begin(seen, &beginning, now);
                (Answer::Begun(begun), added)
            }
            Ask::Skip(position) => {
                server.skip(position, now);
                observer::with(|watch| watch.ledger.skips.insert(position));
                (Answer::Skipped, None)
            }
            Ask::Skips => (Answer::Skips(server.skips()), None),
        };
        if let Some(entry) = added {
            observer::with(|watch| watch.ledger.appended(&entry));
            if entry.position.sequence == 1 {
                self.tally.begun += 1;
                self.note(format_args!(
                    "log {} begins, by gate {}",
                    entry.position.epoch, from.slot
                ));
            }
            self.note(format_args!("{}", Shown(&entry)));
            self.marks_are_in(&entry);
            self.poison_is_due(&entry);
        }
        answer
    }
}

impl World {
    /// A starting gate builds on a kept snapshot, so it has to be the state of most gates.
    fn only_what_is_confirmed_is_saved(&mut self, slot: usize, ask: &Ask) {
        let Ask::Save { snapshot, .. } = ask else { return };
        if !saves(ask, Occasion::Checkpoint) {
            return;
        }
        let gate = self.slots[slot].gate.as_ref();
        let confirmed = gate.and_then(|gate| gate.protocol.live_state()?.confirmed());
        if confirmed != Some((snapshot.position.sequence, snapshot.hash())) {
            self.fault(format_args!(
                "gate {slot} saves {:?}, which is not confirmed",
                snapshot.position
            ));
        }
    }

    /// How long marks waited until they were in the log.
    fn marks_are_in(&mut self, entry: &Entry) {
        let gates = self.slots.iter_mut().filter_map(|slot| slot.gate.as_mut());
        let Some(gate) = gates.into_iter().find(|gate| gate.id() == entry.gate) else {
            return;
        };
        for (_, number) in entry.batch.sections.iter().flat_map(|section| &section.marks) {
            if let Some(since) = gate.marks.remove(number) {
                self.tally.longest_mark = self.tally.longest_mark.max(self.now - since);
            }
        }
    }
}

/// True for the call in which a gate saves a snapshot on such an occasion.
pub fn saves(ask: &Ask, on: Occasion) -> bool {
    matches!(ask, Ask::Save { occasion, .. } if *occasion == on)
}

/// An entry in a few words.
struct Shown<'a>(&'a Entry);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, batch) = (self.0.position, &self.0.batch);
        write!(
            f,
            "{}-{} of {:x}/{}",
            at.epoch, at.sequence, self.0.gate.0, self.0.serial
        )?;
        let flags = [
            (batch.hello, "hello"),
            (batch.goodbye, "goodbye"),
            (batch.spoke.is_some(), "spoke"),
            (batch.root.is_some(), "root"),
            (batch.vote.is_some(), "vote"),
            (batch.saved.is_some(), "saved"),
            (batch.raise.is_some(), "raise"),
            (batch.adopt.is_some(), "adopt"),
            (!batch.rooms.is_empty(), "rooms"),
        ];
        for (_, word) in flags.iter().filter(|(is, _)| *is) {
            write!(f, " {word}")?;
        }
        for section in &batch.sections {
            let said = [
                &section.leaves,
                &section.reopens,
                &section.renewals,
                &section.marks,
                &section.taken,
            ];
            write!(f, " {:?}", said.map(Vec::len))?;
            write!(f, " claims {} joins {:?}", section.claims.len(), section.joins)?;
        }
        Ok(())
    }
}

struct Slotted {
    life: u64,
    server: u64,
    weather: Weather,
}

/// A call without an answer is given up after this.
const TIMEOUT: Time = 3 * SECOND;
