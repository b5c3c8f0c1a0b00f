//! Use of a line's slots while visitors waited.

use ropeline_ids::Clock;

/// See the module.
#[derive(Debug, Default)]
pub(in crate::report) struct Usage {
    since: Clock,
    waiting: u64,
    slots: u64,
    capacity: u64,
    slot_ms: u128,
    capacity_ms: u128,
    pub most_slots: u64,
}

impl Usage {
    /// From here on this many wait and hold slots.
    pub fn pass(&mut self, clock: Clock, waiting: u64, slots: u64, capacity: u64) {
        let ms = u128::from(clock.since(self.since));
        if self.waiting > 0 {
            self.slot_ms += ms * u128::from(self.slots.min(self.capacity));
            self.capacity_ms += ms * u128::from(self.capacity);
        }
        self.most_slots = self.most_slots.max(slots);
        (self.since, self.waiting, self.slots, self.capacity) = (clock, waiting, slots, capacity);
    }

    /// To a tenth of a percent.
    pub fn percent(&self) -> Option<f64> {
        let tenths = (self.slot_ms * 1_000).checked_div(self.capacity_ms)?;
        u32::try_from(tenths).ok().map(|tenths| f64::from(tenths) / 10.0)
    }
}
