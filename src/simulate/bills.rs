//! The cost of a simulated sale: by second, for the busiest one and in all.

use serde::Serialize;

use super::bill::{Load, Units};
use super::series::Step;
use crate::charts::float;

/// The cost of a simulated sale with a number of gates, in its busiest second and in total. Processor time of the store is
/// left out: where it was measured, it was lost in the noise.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Bill {
    pub gates: u32,
    /// The most of each in a second.
    pub entries: f64,
    pub commands: f64,
    pub store_in_bytes: f64,
    pub store_out_bytes: f64,
    /// Processors that one gate needs; and more for the event streams of everybody in line, at most.
    pub gate_cores: f64,
    pub stream_cores: f64,
    /// Over the whole sale.
    pub all_entries: f64,
    pub all_store_out_bytes: f64,
}

impl Bill {
    /// Adds seconds with this load.
    fn add(&mut self, step: &Step, secs: f64) {
        let load = Load::of(step, self.gates);
        let cost = load.costs(&Units::default());
        self.entries = self.entries.max(cost.exchanges);
        self.commands = self.commands.max(cost.commands);
        self.store_in_bytes = self.store_in_bytes.max(cost.bytes_in);
        self.store_out_bytes = self.store_out_bytes.max(cost.bytes_out);
        self.gate_cores = self.gate_cores.max(load.gate_cores(cost.exchanges));
        self.stream_cores = self.stream_cores.max(load.stream_cores());
        self.all_entries += cost.exchanges * secs;
        self.all_store_out_bytes += cost.bytes_out * secs;
    }
}

impl Load {
    /// Of a second: everybody in line has an event stream.
    fn of(step: &Step, gates: u32) -> Self {
        Self {
            gates: gates.into(),
            joins: float(step.joins),
            words: float(step.words),
            marks: float(step.marks),
            waiting: float(step.waiting),
            slots: float(step.slots),
            forwarded: float(step.requests),
            asked: 0.0,
            streams: float(step.waiting),
        }
    }
}

/// Gathers events second by second, with any steps of a series.
pub(super) struct Bills {
    /// The present second, and its events.
    second: u64,
    step: Step,
    /// Visitors who wait and hold slots now.
    last: Step,
    dearest: Vec<Bill>,
}

impl Bills {
    pub fn of(gates: &[u32]) -> Self {
        let none = |gates: &u32| Bill {
            gates: *gates,
            ..Bill::default()
        };
        Self {
            second: 0,
            step: Step::default(),
            last: Step::default(),
            dearest: gates.iter().map(none).collect(),
        }
    }

    /// This happened in the time that ends now.
    pub fn note(&mut self, now: u64, new: &Step) {
        let second = now.saturating_sub(1) / 1_000;
        let turned = second.saturating_sub(self.second);
        if turned > 0 {
            self.turn(1.0);
        }
        if turned > 1 {
            self.turn(float(turned - 1));
        }
        self.second += turned;
        self.step = self.step.and(new);
        self.last = Step {
            waiting: new.waiting,
            slots: new.slots,
            ..Step::default()
        };
    }

    pub fn end(mut self) -> Vec<Bill> {
        self.turn(1.0);
        self.dearest
    }

    /// Adds seconds with the present load; the next one begins without events.
    fn turn(&mut self, secs: f64) {
        let step = std::mem::replace(&mut self.step, self.last);
        self.dearest.iter_mut().for_each(|bill| bill.add(&step, secs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill(notes: &[(u64, Step)]) -> Bill {
        let mut bills = Bills::of(&[1]);
        for (now, step) in notes {
            bills.note(*now, step);
        }
        bills.end()[0]
    }

    #[test]
    fn the_busiest_second_counts_however_short_it_is_in_a_long_sale() {
        let joins = |joins| Step {
            joins,
            ..Step::default()
        };
        let sale = bill(&[(500, joins(8_000)), (1_000, joins(8_000)), (100_000, joins(0))]);
        // 45 µs for each who joins, and 125 entries.
        assert!((0.72..0.73).contains(&sale.gate_cores), "{sale:?}");
        assert!(
            (124.5..125.5).contains(&sale.entries) && sale.commands > 745.0,
            "{sale:?}"
        );
        // Then there is no visitor for 99 seconds.
        assert!((sale.all_entries - sale.entries - 99.0 / 4.8).abs() < 0.01, "{sale:?}");
    }

    #[test]
    fn who_waits_goes_on_waiting_until_another_word_of_it() {
        let waiting = |waiting| Step {
            waiting,
            ..Step::default()
        };
        let sale = bill(&[(1_000, waiting(10_000)), (11_000, waiting(0)), (20_000, waiting(0))]);
        assert!((sale.stream_cores - 10_000.0 * 5.5e-6).abs() < 1e-9, "{sale:?}");
        // Eleven seconds with a line, and nine without.
        assert!((sale.all_entries - 11.0 * 4.0 - 9.0 / 4.8).abs() < 0.01, "{sale:?}");
    }
}
