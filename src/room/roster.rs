//! The gates that share the log: who may speak, and up to which batch each was heard.

use std::collections::BTreeMap;

use super::codec::{Read, Reader, Writer};
use super::entry::{Entry, Joined, Vote};
use super::entry_codec::{read_vote, write_vote};
use super::ids::{Clock, GateId};

/// A gate that appends nothing for this long is off the roster.
const SILENCE_MS: u64 = 15_000;

/// How long a gate that fell silent without goodbye holds every horizon: its visitors may still come back with it.
const HOLD_MS: u64 = 3_600_000;

/// Most gates on the roster, and most remembered as silent; a hundred are designed for.
const MAX_GATES: usize = 1_000;

/// A gate on the roster, as its last batch told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RosterGate {
    pub id: GateId,
    /// Of its last batch that counted.
    pub serial: u64,
    /// When it was last heard.
    pub heard: Clock,
    /// The highest machine version that it knows.
    pub knows: u16,
    /// The sequence that it had applied when it cut its last batch.
    pub applied: u64,
    /// How long its last exchange with the log took, in microseconds.
    pub lag_us: u32,
    /// Its last word on a checkpoint of this log.
    pub vote: Option<Vote>,
}

#[derive(Debug, Default)]
pub(super) struct Roster {
    gates: BTreeMap<GateId, Gate>,
    /// Gates that fell silent without goodbye, and when.
    silent: BTreeMap<GateId, Clock>,
}

#[derive(Debug)]
struct Gate {
    told: RosterGate,
    /// What the joins of its last batch were given.
    joined: Vec<Joined>,
    /// Heard in this log: false for a gate of the log before, until it speaks.
    here: bool,
}

impl Roster {
    /// Whether the entry's batch counts: of a gate on the roster, or its hello, and not a repeat.
    pub fn admit(&mut self, entry: &Entry, now: Clock) -> bool {
        let counts = self.admits(entry);
        if counts && !self.gates.contains_key(&entry.gate) {
            self.silent.remove(&entry.gate);
            self.gates.insert(entry.gate, Gate::new(entry.gate));
        }
        let Some(gate) = self.gates.get_mut(&entry.gate) else {
            return false;
        };
        // Heard is heard: a repeat keeps a gate on the roster, though its batch does not count.
        gate.told.heard = now;
        if counts {
            gate.tell(entry);
            gate.told.serial = entry.serial;
        }
        counts
    }

    /// What [`Roster::admit`] would say, without changing anything. Of a gate that only speaks nothing counts: its serial
    /// is not of the batches that go to rooms.
    pub fn admits(&self, entry: &Entry) -> bool {
        if entry.batch.spoke.is_some() {
            return false;
        }
        match self.gates.get(&entry.gate) {
            Some(gate) => entry.serial > gate.told.serial,
            None => entry.batch.hello && self.gates.len() < MAX_GATES,
        }
    }

    /// A gate speaks while the log has no root: it keeps the serial and the answers of the log before.
    pub fn speak(&mut self, entry: &Entry, now: Clock) {
        if entry.batch.spoke.is_some() && self.gates.len() < MAX_GATES {
            self.silent.remove(&entry.gate);
            self.gates.entry(entry.gate).or_insert_with(|| Gate::new(entry.gate));
        }
        if let Some(gate) = self.gates.get_mut(&entry.gate) {
            gate.told.heard = now;
            gate.tell(entry);
            gate.here |= entry.batch.spoke.is_some();
        }
    }

    /// Keeps what the gate's batch was given, for a gate that resumes from a snapshot.
    pub fn answer(&mut self, gate: GateId, joined: &[Joined]) {
        if let Some(gate) = self.gates.get_mut(&gate) {
            gate.joined = joined.to_vec();
        }
    }

    /// The serial of a gate's last batch, and what its joins were given.
    pub fn answered(&self, gate: GateId) -> Option<(u64, &[Joined])> {
        self.gates.get(&gate).map(|gate| (gate.told.serial, &*gate.joined))
    }

    pub fn goodbye(&mut self, gate: GateId) {
        self.gates.remove(&gate);
    }

    /// Takes gates off that have been silent for too long.
    pub fn sweep(&mut self, now: Clock) {
        self.drop_gates(|gate| now.since(gate.told.heard) > SILENCE_MS);
        self.silent.retain(|_, since| since.plus(HOLD_MS) > now);
    }

    /// A new log begins: everybody has to be heard again.
    pub fn begin(&mut self) {
        for gate in self.gates.values_mut() {
            gate.here = false;
            (gate.told.applied, gate.told.vote) = (0, None);
        }
    }

    /// The new log has its root: whoever was not heard by now is silent.
    pub fn close(&mut self) {
        self.drop_gates(|gate| !gate.here);
    }

    /// Until when the silence of gates holds the horizons; the start of time if nothing does.
    pub fn held_until(&self) -> Clock {
        self.silent.values().max().map_or(Clock(0), |since| since.plus(HOLD_MS))
    }

    /// Gates on the roster of this log, in order of id.
    pub fn gates(&self) -> impl Iterator<Item = &RosterGate> {
        self.gates.values().filter(|gate| gate.here).map(|gate| &gate.told)
    }

    /// Whether every gate on the roster, and there is one, knows a machine version; `or` is a gate that may say something
    /// else, and what.
    pub fn knows(&self, version: u16, or: Option<(GateId, u16)>) -> bool {
        let known = |gate: &RosterGate| {
            or.filter(|(id, _)| *id == gate.id)
                .map_or(gate.knows, |(_, knows)| knows)
        };
        let mut gates = self.gates().map(known).chain(or.map(|(_, knows)| knows)).peekable();
        gates.peek().is_some() && gates.all(|knows| knows >= version)
    }

    fn drop_gates(&mut self, goes: impl Fn(&Gate) -> bool) {
        let gone = self.gates.values().filter(|gate| goes(gate));
        for (id, since) in gone.map(|gate| (gate.told.id, gate.told.heard)).collect::<Vec<_>>() {
            self.gates.remove(&id);
            self.fall_silent(id, since);
        }
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
        for gate in self.gates.values() {
            gate.write(w);
        }
        w.count(self.silent.len());
        for (id, since) in &self.silent {
            w.u64(id.0);
            w.clock(*since);
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let gates = r.list(42, Gate::read)?;
        let silent = r.list(16, |r| Ok((GateId(r.u64()?), r.clock()?)))?;
        if gates.len() > MAX_GATES || silent.len() > MAX_GATES {
            return r.wrong();
        }
        Ok(Self {
            gates: gates.into_iter().map(|gate| (gate.told.id, gate)).collect(),
            silent: silent.into_iter().collect(),
        })
    }
}

impl Gate {
    fn new(id: GateId) -> Self {
        Self {
            told: RosterGate {
                id,
                serial: 0,
                heard: Clock(0),
                knows: 0,
                applied: 0,
                lag_us: 0,
                vote: None,
            },
            joined: Vec::new(),
            here: true,
        }
    }

    /// What the gate says of itself.
    fn tell(&mut self, entry: &Entry) {
        let Entry { batch, .. } = entry;
        if batch.hello || batch.spoke.is_some() {
            self.told.knows = batch.knows;
        }
        (self.told.applied, self.told.lag_us) = (batch.applied, batch.lag_us);
        self.told.vote = batch.vote.or(self.told.vote);
    }

    fn write(&self, w: &mut Writer) {
        w.u64(self.told.id.0);
        w.u64(self.told.serial);
        w.clock(self.told.heard);
        w.u16(self.told.knows);
        w.u64(self.told.applied);
        w.u32(self.told.lag_us);
        w.option(self.told.vote, write_vote);
        w.list(&self.joined, write_joined);
        w.flag(self.here);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            told: RosterGate {
                id: GateId(r.u64()?),
                serial: r.u64()?,
                heard: r.clock()?,
                knows: r.u16()?,
                applied: r.u64()?,
                lag_us: r.u32()?,
                vote: r.option(read_vote)?,
            },
            joined: r.list(8, read_joined)?,
            here: r.flag()?,
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
    use crate::room::entry::{Batch, Spoke, VERSION};
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
    fn a_new_log_takes_off_whoever_it_has_not_heard_when_it_gets_its_root() {
        let mut roster = Roster::default();
        for gate in [1, 2] {
            roster.admit(&entry(gate, 7, true), Clock(50));
        }
        roster.begin();
        assert_eq!((roster.gates().count(), roster.held_until()), (0, Clock(0)));
        let mut spoke = entry(2, 9, false);
        spoke.batch.spoke = Some(Spoke::default());
        roster.speak(&spoke, Clock(60));
        roster.close();
        assert_eq!((roster.gates().count(), roster.held_until()), (1, Clock(3_600_050)));
        assert_eq!(roster.answered(GateId(2)).map(|(serial, _)| serial), Some(7));
        assert!(
            !roster.admit(&spoke, Clock(70)),
            "a word that came too late is no batch"
        );
        assert!(roster.admit(&entry(2, 8, false), Clock(70)));
    }

    #[test]
    fn what_all_know_is_known_and_nobody_knows_nothing() {
        let mut roster = Roster::default();
        assert!(!roster.knows(1, None));
        for (gate, knows) in [(1, 2), (2, 3)] {
            let mut hello = entry(gate, 1, true);
            hello.batch.knows = knows;
            roster.admit(&hello, Clock(0));
        }
        assert!(roster.knows(2, None) && !roster.knows(3, None));
        assert!(roster.knows(3, Some((GateId(1), 3))) && !roster.knows(2, Some((GateId(9), 1))));
    }
}
