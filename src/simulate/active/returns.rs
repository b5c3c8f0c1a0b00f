//! Requests of visitors without a slot: each asks for one and waits at the gate for as long as `return_wait`. After that its visitor
//! sees a page, which sends the request again by itself.

use std::collections::BTreeMap;

use fastrand::Rng;

use crate::charts::Histogram;

/// Visitors who ask for a slot.
#[derive(Debug)]
pub(in crate::simulate) struct Returns {
    wait_ms: u64,
    /// After an event that many answer, slots are free again so long after it.
    settles_ms: u64,
    rng: Rng,
    asking: BTreeMap<u32, Asking>,
    /// Until when visitors do not ask independently of each other, and whether one of them still waits.
    crowded_until: u64,
    is_crowded: bool,
    /// From the first request until one is forwarded: by itself, and with many others or after a silence.
    pub alone: Histogram,
    pub together: Histogram,
    /// Of the independent ones, those that waited for no longer than a second.
    pub quick: u64,
    /// How often the page was seen.
    pub pages: u64,
}

#[derive(Clone, Copy, Debug)]
struct Asking {
    since: u64,
    alone: bool,
    /// When the gate asks for the open request again; and when it gives up, or when the page tries again.
    again: u64,
    until: u64,
    is_open: bool,
}

impl Returns {
    pub fn new(wait_ms: u64, settles_ms: u64, seed: u64) -> Self {
        Self {
            wait_ms,
            settles_ms,
            rng: Rng::with_seed(seed ^ 0x2e70),
            asking: BTreeMap::new(),
            crowded_until: 0,
            is_crowded: false,
            alone: Histogram::default(),
            together: Histogram::default(),
            quick: 0,
            pages: 0,
        }
    }

    /// From now until `until`, and for as long as that shows, visitors do not ask independently.
    pub fn crowd(&mut self, until: u64) {
        self.crowded_until = self.crowded_until.max(until + self.settles_ms);
        self.is_crowded = true;
    }

    /// The visitor's request waits from now on.
    pub fn ask(&mut self, id: u32, now: u64) {
        let alone = !self.is_crowded;
        let asking = Asking {
            since: now,
            alone,
            again: now + AGAIN_MS,
            until: now + self.wait_ms,
            is_open: true,
        };
        self.asking.insert(id, asking);
    }

    pub fn asks(&self, id: u32) -> bool {
        self.asking.contains_key(&id)
    }

    /// Visitors whose request waits at the gate.
    pub fn open(&self) -> Vec<u32> {
        let open = self.asking.iter().filter(|(_, asking)| asking.is_open);
        open.map(|(id, _)| *id).collect()
    }

    /// When a request is to be sent or given up.
    pub fn due(&self) -> Option<u64> {
        let due = |asking: &Asking| {
            if asking.is_open {
                asking.again.min(asking.until)
            } else {
                asking.until
            }
        };
        self.asking.values().map(due).min()
    }

    /// Time passes: returns those for whom the gate asks (again) now. `has_reserve`: the slots are free that the room keeps for returns.
    pub fn advance(&mut self, now: u64, has_reserve: bool) -> Vec<u32> {
        let mut notes = Vec::new();
        for (id, asking) in &mut self.asking {
            if asking.is_open && asking.until <= now {
                asking.is_open = false;
                asking.until = now + self.rng.u64(PAGE_SECS) * 1_000;
                self.pages += 1;
            } else if !asking.is_open && asking.until <= now {
                (asking.is_open, asking.until) = (true, now + self.wait_ms);
                asking.again = now + AGAIN_MS;
                notes.push(*id);
            } else if asking.is_open && asking.again <= now {
                asking.again = now + AGAIN_MS;
                notes.push(*id);
            }
        }
        let is_over = has_reserve && now >= self.crowded_until;
        if self.is_crowded && is_over && self.asking.values().all(|asking| asking.alone) {
            self.is_crowded = false;
        }
        notes
    }

    /// The request is forwarded.
    pub fn forwarded(&mut self, id: u32, now: u64) {
        let Some(asking) = self.asking.remove(&id) else { return };
        let waited_ms = now - asking.since;
        if asking.alone {
            self.quick += u64::from(waited_ms <= QUICK_MS);
            self.alone.add(waited_ms);
        } else {
            self.together.add(waited_ms);
        }
    }

    /// The session is over.
    pub fn forget(&mut self, id: u32) {
        self.asking.remove(&id);
    }
}

/// How often the gate asks for a request that waits (`src/gate/verdict/returns.rs`).
const AGAIN_MS: u64 = 5_000;

/// When the page sends the request again, in seconds (there, too).
const PAGE_SECS: std::ops::RangeInclusive<u64> = 1..=3;

const QUICK_MS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn returns() -> Returns {
        Returns::new(10_000, 77_000, 1)
    }

    #[test]
    fn a_request_waits_with_a_note_every_five_seconds_and_the_page_sends_it_again() {
        let mut returns = returns();
        returns.ask(7, 0);
        assert_eq!((returns.due(), returns.advance(5_000, true)), (Some(5_000), vec![7]));
        assert!(returns.advance(10_000, true).is_empty() && returns.open().is_empty());
        let again = returns.due().expect("the page tries again");
        assert!((11_000..=13_000).contains(&again) && returns.pages == 1);
        assert_eq!((returns.advance(again, true), returns.open()), (vec![7], vec![7]));
        returns.forwarded(7, again + 500);
        assert_eq!((returns.alone.count(), returns.quick), (1, 0));
        assert!(!returns.asks(7));
    }

    #[test]
    fn returns_are_independent_again_once_slots_are_free_and_nobody_of_the_crowd_waits() {
        let mut returns = returns();
        returns.crowd(5_000);
        returns.ask(1, 1_000);
        returns.advance(83_000, true);
        returns.ask(2, 83_000);
        returns.forwarded(2, 83_000);
        assert_eq!(returns.together.count(), 1, "one of the crowd still waits");
        returns.forwarded(1, 84_000);
        returns.advance(84_000, false);
        returns.ask(3, 84_000);
        returns.forwarded(3, 86_000);
        assert_eq!(returns.together.count(), 3, "no slot is kept free yet");
        returns.advance(87_000, true);
        returns.ask(4, 87_000);
        returns.forwarded(4, 87_100);
        assert_eq!(
            (returns.together.count(), returns.alone.count(), returns.quick),
            (3, 1, 1)
        );
    }
}
