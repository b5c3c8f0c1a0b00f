//! The bill: what a sale costs the store and the gates, from what happens in a second and unit costs that were measured.
//!
//! How often gates speak follows from the protocol, not from a measurement. A gate with something urgent to say (a join, a
//! claim) speaks at once, but not sooner after it began its last exchange than the round trip and
//! `apart` = min((G² - 1) · 20 µs, 200 ms), at least 4 ms where a batch has several whom somebody waits for; with
//! marks alone it waits 250 ms for company. With `u` urgent words a second at a gate that is
//!
//! ```text
//! exchanges a second of a gate = max(4, 1 / (max(apart, trip) + 1/u))
//! ```
//!
//! and each exchange appends an entry that all G gates read. Then, with all gates alike and E exchanges a second in all:
//!
//! ```text
//! commands a second     = E · k
//! the store's processor = E · (c + r · G)
//! bytes out of it       = E · G · (entry + envelope),  bytes into it = E · (entry + request)
//! a gate's processor    = its requests · their costs + E · (an entry applied) + streams · a quiet second
//! ```
//!
//! `examples/crowd` measures the unit costs, and holds what the formula says to runs of one and of several gates.

use serde::Serialize;

use super::series::{Series, Step};

/// What happens in a second, all gates together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Load {
    pub gates: f64,
    pub joins: f64,
    /// Other urgent words: claims, ends.
    pub words: f64,
    pub marks: f64,
    pub waiting: f64,
    /// Requests forwarded, and pages and statuses of who waits.
    pub forwarded: f64,
    pub asked: f64,
    pub streams: f64,
}

/// What a second costs.
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

/// What a simulated sale would cost with so many gates, in its busiest step and in all. Processor time of the store is
/// not told: it was lost in the noise where it was measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Bill {
    pub gates: u32,
    /// The most of each, a second.
    pub entries: f64,
    pub commands: f64,
    pub store_in_bytes: f64,
    pub store_out_bytes: f64,
    /// Processors that one gate needs.
    pub gate_cores: f64,
    /// Over the whole sale.
    pub all_entries: f64,
    pub all_store_out_bytes: f64,
}

impl Default for Units {
    /// As `scripts/size bill` measured them on a Redis, but for a quick round trip.
    fn default() -> Self {
        Self {
            trip_secs: 1e-3,
            commands: 6.0,
            exchange_secs: 0.0,
            read_secs: 0.0,
            request_bytes: 840.0,
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
const STREAM_SECS: f64 = 18.6e-6;
const WORD_SECS: f64 = 2e-6;

/// What an entry holds besides what was said of visitors.
const HEAD_BYTES: f64 = 40.0;

/// Of the protocol (`replica/protocol/pace.rs`), in seconds.
const APART_SECS: f64 = 20e-6;
const APART_MOST_SECS: f64 = 0.2;
const CROWD_APART_SECS: f64 = 4e-3;
const QUIET_SECS: f64 = 0.25;

impl Load {
    /// Exchanges a second, all gates together.
    #[must_use]
    pub fn exchanges(&self, trip_secs: f64) -> f64 {
        let urgent = (self.joins + self.words) / self.gates;
        let apart = (APART_SECS * (self.gates * self.gates - 1.0)).min(APART_MOST_SECS);
        let step = apart.max(trip_secs);
        // Several who are waited for in one batch.
        let step = if urgent * step > 1.0 {
            step.max(CROWD_APART_SECS)
        } else {
            step
        };
        self.gates * (1.0 / (step + 1.0 / urgent)).max(1.0 / QUIET_SECS)
    }

    /// Bytes of an entry's own: its marks, by how far apart they lie, and whatever else is said.
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
        let entry = self.entry_bytes(exchanges);
        Cost {
            exchanges,
            commands: exchanges * units.commands,
            cpu: exchanges * (units.exchange_secs + units.read_secs * self.gates),
            bytes_in: exchanges * (entry + units.request_bytes),
            bytes_out: exchanges * self.gates * (entry + units.envelope_bytes),
        }
    }

    /// Cores that one gate needs.
    #[must_use]
    pub fn gate_cores(&self, exchanges: f64) -> f64 {
        let of_visitors = self.joins * JOIN_SECS
            + self.forwarded * FORWARDED_SECS
            + self.asked * ASKED_SECS
            + self.streams * STREAM_SECS
            + (self.marks + self.words) * WORD_SECS;
        of_visitors / self.gates + exchanges * ENTRY_SECS
    }

    /// Of a step of a simulation: everybody in line has an event stream.
    fn of(step: &Step, gates: u32, secs: f64) -> Self {
        Self {
            gates: gates.into(),
            joins: count(step.joins) / secs,
            words: count(step.words) / secs,
            marks: count(step.marks) / secs,
            waiting: count(step.waiting),
            forwarded: count(step.requests) / secs,
            asked: 0.0,
            streams: count(step.waiting),
        }
    }
}

impl Bill {
    /// What a simulated sale would cost.
    pub(super) fn of(series: &Series, gates: u32) -> Self {
        let (units, secs) = (Units::default(), count(series.step_ms.max(1)) / 1_000.0);
        let mut bill = Self {
            gates,
            entries: 0.0,
            commands: 0.0,
            store_in_bytes: 0.0,
            store_out_bytes: 0.0,
            gate_cores: 0.0,
            all_entries: 0.0,
            all_store_out_bytes: 0.0,
        };
        for step in &series.steps {
            let load = Load::of(step, gates, secs);
            let cost = load.costs(&units);
            bill.entries = bill.entries.max(cost.exchanges);
            bill.commands = bill.commands.max(cost.commands);
            bill.store_in_bytes = bill.store_in_bytes.max(cost.bytes_in);
            bill.store_out_bytes = bill.store_out_bytes.max(cost.bytes_out);
            bill.gate_cores = bill.gate_cores.max(load.gate_cores(cost.exchanges));
            bill.all_entries += cost.exchanges * secs;
            bill.all_store_out_bytes += cost.bytes_out * secs;
        }
        bill
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn count(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_that_have_little_to_say_speak_four_times_a_second() {
        for gates in [1.0, 10.0] {
            let quiet = Load {
                gates,
                ..Load::default()
            };
            assert!((quiet.exchanges(1e-3) - 4.0 * gates).abs() < 1e-9);
        }
    }

    #[test]
    fn a_crowd_is_told_in_few_entries_and_many_gates_keep_apart() {
        let crowd = |gates: f64| Load {
            gates,
            joins: 20_000.0,
            ..Load::default()
        };
        let each = |gates: f64| crowd(gates).exchanges(1e-3) / gates;
        assert!((240.0..=250.0).contains(&each(1.0)), "{}", each(1.0));
        assert!((4.8..=5.0).contains(&each(100.0)), "{}", each(100.0));
    }

    #[test]
    fn a_bill_has_the_busiest_step_and_the_sum_of_all() {
        let step = |joins| Step {
            joins,
            ..Step::default()
        };
        let series = Series {
            step_ms: 10_000,
            steps: vec![step(0), step(200_000), step(0)],
        };
        let bill = Bill::of(&series, 1);
        assert!(
            (240.0..=250.0).contains(&bill.entries) && bill.commands > 1_400.0,
            "{bill:?}"
        );
        assert!((bill.all_entries - (bill.entries + 8.0) * 10.0).abs() < 1.0, "{bill:?}");
        assert!(bill.gate_cores > 0.9 && bill.store_out_bytes > 60_000.0, "{bill:?}");
    }
}
