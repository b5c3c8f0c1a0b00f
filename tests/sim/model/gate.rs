//! A gate of the simulation: the real protocol, its link to the store, and its requests' view of the rooms.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ropeline::replica::protocol::{Protocol, Setup};
use ropeline::replica::{Arrival, JoinOutcome, Note, Options, Unrecorded};
use ropeline::room::{Clock, GateId, Number, View, Visitor, Wall};
use tokio::sync::oneshot::Receiver;

use super::judge;
use super::observer;
use super::rooms;
use super::world::Time;
use crate::chance::Chance;

/// One life of a gate's process.
pub struct Gate {
    pub protocol: Protocol,
    /// Distinguishes the lives in the same slot.
    pub life: u64,
    /// The world's time at its uptime 0.
    born: Time,
    /// The call that it waits for.
    pub in_flight: Option<u64>,
    /// When it wants to be asked again.
    pub wake: Option<Time>,
    pub paused_until: Time,
    pub view: Arc<View>,
    view_at: Time,
    /// Visitors who wait for a number.
    pub joiners: Vec<Joiner>,
    /// Visitors who wait for the result of a code.
    pub shown: Vec<crate::codes::Showing>,
    /// Marks that it received and that are not in the log, and since when.
    pub marks: BTreeMap<Number, Time>,
    /// Unknown visitors whose number is being asked for.
    pub asking: Vec<Asking>,
    /// Requests that wait for a slot: the visitor and the visit.
    pub returning: Vec<(usize, u64)>,
    /// Holds that are not in the log.
    pub holding: Vec<Holding>,
    /// Results of calls for which operators wait.
    pub told: Vec<Receiver<Result<u64, Unrecorded>>>,
    /// Its process ends after the goodbye.
    pub leaving: bool,
}

/// A visitor who waits for a number.
pub struct Joiner {
    pub visitor: usize,
    pub answer: Receiver<JoinOutcome>,
    pub arrival: Arrival,
}

/// A visitor with a number that the gate does not know, until their mark is read back; or (`claims`) a called one, until the
/// claim is.
pub struct Asking {
    pub visitor: usize,
    pub visit: u64,
    pub claims: bool,
    pub recorded: Receiver<()>,
}

/// A visitor whose slot is to be held until then.
pub struct Holding {
    pub visitor: usize,
    pub number: Number,
    pub until: Time,
    pub recorded: Receiver<()>,
}

impl Gate {
    pub fn start((life, knows, first_start): (u64, u16, bool), (now, wall): (Time, Wall), chance: &mut Chance) -> Self {
        let mut own = chance.branch();
        let gate = GateId(own.next());
        let protocol = Protocol::new(Setup {
            gate,
            rooms: rooms::configured(wall),
            options: Options {
                knows,
                first_start,
                keyring: Some(judge::KEYRING.clone()),
                ..Options::default()
            },
            alone: false,
            archiver: None,
            apply: observer::apply,
            random: Box::new(move || own.next()),
        });
        let view = protocol.view();
        Self {
            protocol,
            life,
            born: now,
            in_flight: None,
            wake: None,
            paused_until: 0,
            view,
            view_at: now,
            joiners: Vec::new(),
            shown: Vec::new(),
            asking: Vec::new(),
            returning: Vec::new(),
            holding: Vec::new(),
            marks: BTreeMap::new(),
            told: Vec::new(),
            leaving: false,
        }
    }

    pub fn id(&self) -> GateId {
        self.protocol.gate()
    }

    pub fn uptime(&self, now: Time) -> Duration {
        Duration::from_micros(now - self.born)
    }

    /// The world's time at an uptime, not before it.
    pub fn at(&self, uptime: Duration) -> Time {
        self.born + Time::try_from(uptime.as_nanos().div_ceil(1_000)).unwrap_or(Time::MAX / 2)
    }

    /// Takes the newest view; true if it is another one.
    pub fn look(&mut self, now: Time) -> bool {
        let view = self.protocol.view();
        let new = !Arc::ptr_eq(&view, &self.view);
        if new {
            self.view = view;
            self.view_at = now;
        }
        new
    }

    /// The rooms' clock, plus the time since the view was published.
    pub fn clock(&self, now: Time) -> Clock {
        self.view.clock.plus((now - self.view_at) / 1_000)
    }

    /// Takes down what a visitor does at this time.
    pub fn note(&mut self, visitor: Visitor, note: Note, now: Time) {
        self.protocol.note(visitor, note, self.uptime(now));
    }

    /// As [`Self::note`]; resolves once the word is read back.
    pub fn record(&mut self, visitor: Visitor, note: Note, now: Time) -> Receiver<()> {
        self.protocol.record(visitor, note, self.uptime(now))
    }

    pub fn cut_off(&self, now: Time) -> bool {
        self.protocol.cut_off(self.uptime(now)).is_some()
    }
}
