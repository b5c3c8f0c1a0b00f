//! The gates that share the log: who may speak, and up to which batch each was heard.

use std::collections::BTreeMap;

use super::codec::{Read, Reader, Writer};
use super::entry::{Entry, Joined};
use super::ids::{Clock, GateId};

/// A gate that appends nothing for this long is off the roster.
const SILENCE_MS: u64 = 15_000;

/// How long a gate that fell silent without goodbye holds every horizon: its visitors may still come back with it.
const HOLD_MS: u64 = 3_600_000;

/// Most gates on the roster, and most remembered as silent; a hundred are designed for.
const MAX_GATES: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Roster {
    gates: BTreeMap<GateId, Gate>,
    /// Gates that fell silent without goodbye, and when.
    silent: BTreeMap<GateId, Clock>,
}

#[derive(Debug)]
struct Gate {
    serial: u64,
    last: Clock,
    joined: Vec<Joined>,
}

impl Roster {
    /// Whether the entry's batch counts: of a gate on the roster, or its hello, and not a repeat.
    pub fn admit(&mut self, entry: &Entry, now: Clock) -> bool {
        if let Some(gate) = self.gates.get_mut(&entry.gate) {
            // Heard is heard: a repeat keeps a gate on the roster, though its batch does not count.
            gate.last = now;
            let new = entry.serial > gate.serial;
            gate.serial = gate.serial.max(entry.serial);
            return new;
        }
        let welcome = entry.batch.hello && self.gates.len() < MAX_GATES;
        if welcome {
            self.silent.remove(&entry.gate);
            self.gates.insert(
                entry.gate,
                Gate {
                    serial: entry.serial,
                    last: now,
                    joined: Vec::new(),
                },
            );
        }
        welcome
    }

    /// Keeps what the gate's batch was given, for a gate that resumes from a snapshot.
    pub fn answer(&mut self, gate: GateId, joined: &[Joined]) {
        if let Some(gate) = self.gates.get_mut(&gate) {
            gate.joined = joined.to_vec();
        }
    }

    /// The serial of a gate's last batch, and what its joins were given.
    pub fn answered(&self, gate: GateId) -> Option<(u64, &[Joined])> {
        self.gates.get(&gate).map(|gate| (gate.serial, &*gate.joined))
    }

    pub fn goodbye(&mut self, gate: GateId) {
        self.gates.remove(&gate);
    }

    /// Takes gates off that have been silent for too long.
    pub fn sweep(&mut self, now: Clock) {
        let silent = |gate: &Gate| now.since(gate.last) > SILENCE_MS;
        let gone: Vec<_> = self
            .gates
            .iter()
            .filter(|(_, gate)| silent(gate))
            .map(|(id, gate)| (*id, gate.last))
            .collect();
        for (id, since) in gone {
            self.gates.remove(&id);
            self.fall_silent(id, since);
        }
        self.silent.retain(|_, since| since.plus(HOLD_MS) > now);
    }

    /// A new log begins: everybody has to say hello again, and whoever does not is silent.
    pub fn begin(&mut self) {
        for (id, gate) in std::mem::take(&mut self.gates) {
            self.fall_silent(id, gate.last);
        }
    }

    /// Until when the silence of gates holds the horizons; the start of time if nothing does.
    pub fn held_until(&self) -> Clock {
        self.silent.values().max().map_or(Clock(0), |since| since.plus(HOLD_MS))
    }

    /// Gates on the roster, with the serial of the last batch and the clock it came at.
    pub fn gates(&self) -> impl Iterator<Item = (GateId, u64, Clock)> {
        self.gates.iter().map(|(id, gate)| (*id, gate.serial, gate.last))
    }

    fn fall_silent(&mut self, id: GateId, since: Clock) {
        self.silent.insert(id, since);
        if self.silent.len() > MAX_GATES
            && let Some(oldest) = self.silent.iter().min_by_key(|(_, since)| **since).map(|(id, _)| *id)
        {
            self.silent.remove(&oldest);
        }
    }

    pub fn write(&self, w: &mut Writer) {
        w.count(self.gates.len());
        for (id, gate) in &self.gates {
            w.u64(id.0);
            w.u64(gate.serial);
            w.clock(gate.last);
            w.list(&gate.joined, write_joined);
        }
        w.count(self.silent.len());
        for (id, since) in &self.silent {
            w.u64(id.0);
            w.clock(*since);
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let gates = r.list(25, |r| {
            let id = GateId(r.u64()?);
            Ok((
                id,
                Gate {
                    serial: r.u64()?,
                    last: r.clock()?,
                    joined: r.list(8, read_joined)?,
                },
            ))
        })?;
        let silent = r.list(16, |r| Ok((GateId(r.u64()?), r.clock()?)))?;
        Ok(Self {
            gates: gates.into_iter().collect(),
            silent: silent.into_iter().collect(),
        })
    }
}

fn write_joined(w: &mut Writer, joined: &Joined) {
    w.text(joined.room.as_str());
    w.text(joined.line.as_str());
    w.u8(joined.lane.0);
    w.option(joined.first, Writer::number);
    w.u32(joined.count);
}

fn read_joined(r: &mut Reader) -> Read<Joined> {
    Ok(Joined {
        room: r.room_name()?,
        line: r.line_name()?,
        lane: r.lane()?,
        first: r.option(Reader::number)?,
        count: r.u32()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::entry::{Batch, VERSION};
    use crate::room::ids::{Position, Wall};

    fn entry(gate: u64, serial: u64, hello: bool) -> Entry {
        Entry {
            position: Position::default(),
            gate: GateId(gate),
            serial,
            previous: [0; 8],
            nonce: [0; 8],
            time: Wall(0),
            version: VERSION,
            batch: Batch {
                hello,
                ..Batch::default()
            },
        }
    }

    #[test]
    fn only_gates_that_said_hello_are_heard_and_each_batch_once() {
        let mut roster = Roster::default();
        assert!(!roster.admit(&entry(1, 1, false), Clock(0)));
        assert!(roster.admit(&entry(1, 1, true), Clock(0)));
        assert!(!roster.admit(&entry(1, 1, true), Clock(0)));
        assert!(roster.admit(&entry(1, 2, false), Clock(0)));
        assert!(!roster.admit(&entry(1, 1, false), Clock(0)));
        roster.goodbye(GateId(1));
        assert!(!roster.admit(&entry(1, 3, false), Clock(0)));
    }

    #[test]
    fn a_silent_gate_is_off_after_fifteen_seconds_and_holds_for_an_hour() {
        let mut roster = Roster::default();
        roster.admit(&entry(1, 1, true), Clock(1_000));
        roster.sweep(Clock(16_000));
        assert_eq!((roster.gates().count(), roster.held_until()), (1, Clock(0)));
        roster.sweep(Clock(16_001));
        assert_eq!((roster.gates().count(), roster.held_until()), (0, Clock(3_601_000)));
        roster.sweep(Clock(3_601_000));
        assert_eq!(roster.held_until(), Clock(0));
    }

    #[test]
    fn a_gate_that_says_goodbye_or_comes_back_holds_nothing() {
        let mut roster = Roster::default();
        for gate in [1, 2] {
            roster.admit(&entry(gate, 1, true), Clock(0));
        }
        roster.goodbye(GateId(1));
        roster.sweep(Clock(20_000));
        assert!(roster.held_until() > Clock(20_000));
        assert!(roster.admit(&entry(2, 2, true), Clock(20_000)));
        assert_eq!(roster.held_until(), Clock(0));
    }

    #[test]
    fn a_new_log_takes_everybody_off() {
        let mut roster = Roster::default();
        roster.admit(&entry(1, 1, true), Clock(50));
        roster.begin();
        assert_eq!((roster.gates().count(), roster.held_until()), (0, Clock(3_600_050)));
    }
}
