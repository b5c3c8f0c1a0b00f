//! The bill: a sale's cost for the store and the gates, from the events per second and measured unit costs.
//!
//! How often gates speak follows from the protocol (`replica/protocol/pace.rs`), not from a measurement. A gate with something
//! urgent to say (a join, a claim) speaks at once, but not sooner after it began its last exchange than the round trip and
//! `apart` = min((G² - 1) · 20 µs, 200 ms), at least 8 ms where its last batch had several who wait to be let in line. With `u`
//! urgent words a second at a gate, of which `j` joins, that is
//!
//! ```text
//! b = max(apart, trip),   c = max(b, 8 ms),   several in s = 1 - e^(-j·s) · (1 + j·s),   until s = s + e^(-u·s) / u
//! p          = several in b / (several in b + 1 - several in c), the share of entries that follow such a batch
//! urgent     = 1 / (p · until c + (1 - p) · until b)
//! in company = 1 / (250 ms + 1/m), with m marks a second
//! ```
//!
//! exchanges a second of a gate, whichever is more, and one in five seconds where there are several gates; of all together at
//! least one a tick: 250 ms with a line, 1 s with sessions alone, else 4 s. Each appends an entry that all G gates read, and a
//! gate of several that has nothing to say still asks for the others' words. Then, with all gates alike, E exchanges and R such
//! questions a second in all:
//!
//! ```text
//! commands a second     = E · k + R · 3
//! the store's processor = E · (c + r · G)
//! bytes out of it       = E · G · (entry + envelope),  bytes into it = E · (entry + request) + R · request
//! a gate's processor    = its requests · their costs + E · (an entry applied); and streams · a quiet second
//! ```
//!
//! `bench/crowd` measures the unit costs, and compares the formula with runs of one and of several gates.

use crate::charts::float;
use crate::room::IDLE_TICK_MS;

/// Events per second, all gates together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Load {
    pub gates: f64,
    pub joins: f64,
    /// Other urgent words: claims, ends.
    pub words: f64,
    pub marks: f64,
    pub waiting: f64,
    /// Visitors called or inside.
    pub slots: f64,
    /// Requests forwarded, and pages and statuses of who waits.
    pub forwarded: f64,
    pub asked: f64,
    pub streams: f64,
}

/// The cost of a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    pub exchanges: f64,
    pub commands: f64,
    pub cpu: f64,
    pub bytes_in: f64,
    pub bytes_out: f64,
}

/// Unit costs of the store.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Units {
    pub trip_secs: f64,
    pub commands: f64,
    pub exchange_secs: f64,
    pub read_secs: f64,
    pub request_bytes: f64,
    pub envelope_bytes: f64,
}

impl Default for Units {
    /// As `scripts/size bill` measured them on a Redis, but for the round trip, which is one over a network, and the processor.
    fn default() -> Self {
        Self {
            trip_secs: 1e-3,
            commands: 6.0,
            exchange_secs: 0.0,
            read_secs: 0.0,
            request_bytes: 330.0,
            envelope_bytes: 250.0,
        }
    }
}

/// A gate's processor time for a request, an entry and a quiet second of a stream, in seconds: measured by scripts/bench,
/// `replica_load` and `crowd streams`.
const JOIN_SECS: f64 = 45e-6;
const FORWARDED_SECS: f64 = 18.8e-6;
const ASKED_SECS: f64 = 9.9e-6;
const ENTRY_SECS: f64 = 10e-6;
pub(super) const STREAM_SECS: f64 = 5.5e-6;
/// On the gate that says it: on the others a mark takes some 0.2 µs to apply, which is left out.
const WORD_SECS: f64 = 2e-6;

/// Bytes of an entry apart from those about visitors.
const HEAD_BYTES: f64 = 40.0;

/// Of the protocol (`replica/protocol/pace.rs`), in seconds.
const APART_SECS: f64 = 20e-6;
const APART_MOST_SECS: f64 = 0.2;
const CROWD_APART_SECS: f64 = 8e-3;
const COMPANY_SECS: f64 = 0.25;
const SILENT_MOST_SECS: f64 = 5.0;
const READ_EVERY_SECS: f64 = 0.5;

/// A read without new entries: the script, and the keys that it reads.
const READ_COMMANDS: f64 = 3.0;

impl Load {
    /// Exchanges that append an entry, a second, all gates together.
    #[must_use]
    pub fn exchanges(&self, trip_secs: f64) -> f64 {
        let marks = self.marks / self.gates;
        let in_company = if marks > 0.0 {
            1.0 / (COMPANY_SECS + 1.0 / marks)
        } else {
            0.0
        };
        let alone = if self.gates > 1.0 { 1.0 / SILENT_MOST_SECS } else { 0.0 };
        let each = self.urgent(trip_secs).max(in_company).max(alone);
        (self.gates * each).max(1.0 / self.tick_secs())
    }

    /// Exchanges a second of a gate for events that a request waits for.
    fn urgent(&self, trip_secs: f64) -> f64 {
        let (joins, urgent) = (self.joins / self.gates, (self.joins + self.words) / self.gates);
        if urgent <= 0.0 {
            return 0.0;
        }
        let apart = (APART_SECS * (self.gates * self.gates - 1.0)).min(APART_MOST_SECS);
        let base = apart.max(trip_secs);
        let crowded = base.max(CROWD_APART_SECS);
        // Whether several joined decides how long the next entry is off, and so how likely it is that several join again.
        let several = |step: f64| 1.0 - (-joins * step).exp() * (1.0 + joins * step);
        // Where nothing came meanwhile it waits for the next.
        let until_next = |step: f64| step + (-urgent * step).exp() / urgent;
        let begun = several(base);
        let of_crowds = begun / (begun + 1.0 - several(crowded));
        1.0 / (of_crowds * until_next(crowded) + (1.0 - of_crowds) * until_next(base))
    }

    /// Questions a second that gates of several ask with nothing to say.
    fn reads(&self, exchanges: f64) -> f64 {
        // Gates with empty rooms read when they speak.
        let idle = self.waiting <= 0.0 && self.slots <= 0.0;
        let every = if idle { SILENT_MOST_SECS } else { READ_EVERY_SECS };
        let asked = self.gates / self.tick_secs().min(every);
        if self.gates > 1.0 {
            (asked - exchanges).max(0.0)
        } else {
            0.0
        }
    }

    /// As `State::tick_ms`.
    fn tick_secs(&self) -> f64 {
        match () {
            () if self.waiting > 0.0 => 0.25,
            () if self.slots > 0.0 => 1.0,
            () => float(IDLE_TICK_MS) / 1_000.0,
        }
    }

    /// Bytes of an entry's own: its marks, by how far apart they lie, and all the rest.
    #[must_use]
    pub fn entry_bytes(&self, exchanges: f64) -> f64 {
        let marks = self.marks / exchanges;
        let gap = self.waiting / marks.max(1.0);
        let each = match gap {
            gap if gap < 8.0 => gap / 8.0,
            gap if gap < 90.0 => 1.0,
            gap if gap < 11_000.0 => 2.0,
            _ => 3.0,
        };
        HEAD_BYTES + marks * each + self.words / exchanges * 15.0
    }

    #[must_use]
    pub fn costs(&self, units: &Units) -> Cost {
        let exchanges = self.exchanges(units.trip_secs);
        let (entry, reads) = (self.entry_bytes(exchanges), self.reads(exchanges));
        Cost {
            exchanges,
            commands: exchanges * units.commands + reads * READ_COMMANDS,
            cpu: exchanges * (units.exchange_secs + units.read_secs * self.gates),
            bytes_in: exchanges * (entry + units.request_bytes) + reads * units.request_bytes,
            bytes_out: exchanges * self.gates * (entry + units.envelope_bytes),
        }
    }

    /// Cores that one gate needs, streams apart.
    #[must_use]
    pub fn gate_cores(&self, exchanges: f64) -> f64 {
        let of_visitors = self.joins * JOIN_SECS
            + self.forwarded * FORWARDED_SECS
            + self.asked * ASKED_SECS
            + (self.marks + self.words) * WORD_SECS;
        of_visitors / self.gates + exchanges * ENTRY_SECS
    }

    /// Cores that one gate needs for its streams, at most.
    #[must_use]
    pub fn stream_cores(&self) -> f64 {
        self.streams * STREAM_SECS / self.gates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries per second of each of `gates` gates.
    fn each(gates: f64, load: Load) -> f64 {
        Load { gates, ..load }.exchanges(1e-3) / gates
    }

    #[test]
    fn gates_that_have_little_to_say_share_the_tick_and_show_that_they_are_there() {
        let quiet = Load::default();
        let (inside, line) = (
            Load { slots: 5.0, ..quiet },
            Load {
                waiting: 300.0,
                ..quiet
            },
        );
        for (load, alone) in [(quiet, 1.0 / 4.8), (inside, 1.0), (line, 4.0)] {
            assert!((each(1.0, load) - alone).abs() < 1e-9, "{load:?}");
            assert!((each(100.0, load) - 0.2).abs() < 1e-9, "{load:?}");
        }
        // They still read each other's entries.
        let cost = Load { gates: 100.0, ..line }.costs(&Units::default());
        assert!((cost.exchanges - 20.0).abs() < 1e-9, "{cost:?}");
        assert!((1_200.0..1_300.0).contains(&cost.commands), "{cost:?}");
    }

    #[test]
    fn marks_wait_for_company_where_a_gate_has_any() {
        let marks = |marks: f64| {
            each(
                10.0,
                Load {
                    marks,
                    waiting: 1e6,
                    ..Load::default()
                },
            )
        };
        for (of_a_gate, entries) in [(0.8, 0.67), (7.0, 2.55), (1_000.0, 3.98)] {
            let found = marks(of_a_gate * 10.0);
            assert!((found - entries).abs() < 0.02, "{of_a_gate}: {found}");
        }
    }

    #[test]
    fn a_crowd_is_told_in_few_entries_and_many_gates_keep_apart() {
        let crowd = |gates| {
            each(
                gates,
                Load {
                    joins: 20_000.0,
                    ..Load::default()
                },
            )
        };
        assert!((124.5..=125.1).contains(&crowd(1.0)), "{}", crowd(1.0));
        assert!((4.8..=5.01).contains(&crowd(100.0)), "{}", crowd(100.0));
    }

    /// Found by a simulation of the protocol's pace, by chance as people come.
    #[test]
    fn where_several_join_at_once_the_pace_falls_by_and_by() {
        for (joins, entries) in [
            (20.0, 20.0),
            (300.0, 250.0),
            (500.0, 198.0),
            (900.0, 128.0),
            (1_100.0, 125.0),
            (2_000.0, 125.0),
        ] {
            let found = each(
                1.0,
                Load {
                    joins,
                    ..Load::default()
                },
            );
            assert!((found / entries - 1.0).abs() < 0.02, "{joins}: {found}");
        }
        // No visitor waits in line for the report of a claim: those keep no more than the round trip apart.
        let claims = each(
            1.0,
            Load {
                words: 2_000.0,
                ..Load::default()
            },
        );
        assert!((900.0..1_000.0).contains(&claims), "{claims}");
    }
}
