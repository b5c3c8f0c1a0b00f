//! The naive lane: visitors in a sorted map, and every rule applied to each of them.
//!
//! It shares no code with the room. Numbers are ordered as pairs; there are no places, bitmaps, indexes or schedules.

use std::collections::BTreeMap;

use ropeline_room::{Number, Settings};

use super::Lore;

/// (epoch, n)
pub type Key = (u64, u64);

#[derive(Clone, Debug)]
pub struct Person {
    pub fresh_until: u64,
    /// The generation of the last mark.
    pub mark: Option<u64>,
    pub is: Is,
}

#[derive(Clone, Debug)]
pub enum Is {
    InLine,
    Missed {
        at: u64,
        count: u8,
    },
    Called {
        deadline: u64,
        at: u64,
        count: u8,
        /// Checked in after the deadline.
        back: bool,
    },
    Inside {
        expires: u64,
        ends_by: u64,
        renewed: u64,
        since: u64,
        carried: bool,
        count: u8,
        ending: bool,
        excess: bool,
    },
    Spent {
        at: u64,
    },
    /// Ended, and how is still remembered.
    Over {
        idled: bool,
        until: u64,
        count: u8,
    },
    /// Left, or ended long ago.
    Gone,
}

#[derive(Clone, Debug)]
pub struct Lane {
    pub people: BTreeMap<Key, Person>,
    /// Numbers issued of each epoch the lane knows; the last issues.
    pub ends: BTreeMap<u64, u64>,
    /// One past the highest number of each epoch that was issued or given back.
    pub given: BTreeMap<u64, u64>,
    /// The first number of each epoch that is not late from the beginning.
    pub firsts: BTreeMap<u64, u64>,
    /// Numbers below were passed by the horizon before it came down again.
    pub voids: BTreeMap<u64, u64>,
    /// Numbers of closed epochs that were not issued here are void below these.
    pub gone: BTreeMap<u64, u64>,
    pub horizon: Key,
    pub target: Key,
    pub head: Key,
    /// (ripens at, head)
    pub heads: Vec<(u64, Key)>,
    pub dropped: Option<u64>,
}

impl Lane {
    pub fn new(lore: &Lore) -> Self {
        let first = (lore.epoch(), u64::from(lore.floor()));
        let ends = BTreeMap::from([first]);
        Self {
            people: BTreeMap::new(),
            given: ends.clone(),
            ends,
            firsts: BTreeMap::from([first]),
            voids: BTreeMap::new(),
            gone: BTreeMap::new(),
            horizon: first,
            target: first,
            head: first,
            heads: Vec::new(),
            dropped: None,
        }
    }

    pub fn epoch(&self) -> u64 {
        *self.ends.last_key_value().unwrap().0
    }

    pub fn present(&self, key: Key, line: &Gen) -> bool {
        self.people.get(&key).is_some_and(|p| {
            let marked = p.mark.is_some_and(|mark| mark + 1 >= line.generation);
            match p.is {
                Is::InLine => marked || line.clock < p.fresh_until,
                Is::Missed { .. } => marked,
                _ => false,
            }
        })
    }

    pub fn lowest(&self, line: &Gen) -> Option<Key> {
        self.people.keys().copied().find(|key| self.present(*key, line))
    }

    pub fn waiting(&self, line: &Gen) -> u64 {
        self.people.keys().filter(|key| self.present(**key, line)).count() as u64
    }

    pub fn void(&self, key: Key) -> bool {
        let below = |floors: &BTreeMap<u64, u64>| floors.get(&key.0).is_some_and(|floor| key.1 < *floor);
        key < self.horizon || below(&self.voids) || (below(&self.gone) && !below(&self.ends))
    }

    pub fn find(&self, key: Key) -> Where {
        let below = |floors: &BTreeMap<u64, u64>| floors.get(&key.0).is_some_and(|floor| key.1 < *floor);
        if self.dropped.is_some_and(|dropped| key.0 <= dropped) || below(&self.firsts) {
            return Where::Late;
        }
        match self.ends.get(&key.0) {
            Some(end) if key.1 < *end => Where::Issued,
            Some(_) if key.0 == self.epoch() => Where::Ahead,
            Some(end) if key.1 >= end + (1 << 18) => Where::Late,
            Some(_) if self.people.contains_key(&key) => Where::Issued,
            Some(_) if !self.void(key) => Where::Gap,
            Some(_) => Where::Late,
            None if key.0 > self.epoch() => Where::Ahead,
            None => Where::Lost,
        }
    }

    pub fn pass(&mut self, to: Key) -> Vec<(u64, u64)> {
        self.horizon = to;
        let held = |p: &Person| matches!(p.is, Is::Called { .. } | Is::Inside { .. } | Is::Over { .. });
        self.people.retain(|key, p| *key >= to || held(p));
        self.people.range_mut(..to).for_each(|(_, person)| person.mark = None);
        let kept = self
            .people
            .iter()
            .find(|(_, p)| !matches!(p.is, Is::InLine | Is::Gone))
            .map_or(to, |(key, _)| *key);
        let kept = kept.min(to);
        let epochs: Vec<u64> = self.ends.keys().copied().collect();
        let gone = epochs
            .windows(2)
            .filter(|pair| pair[1] <= kept.0)
            .map(|pair| pair[0])
            .collect::<Vec<_>>();
        for epoch in &gone {
            self.ends.remove(epoch);
            self.dropped = Some(*epoch);
        }
        gone.iter().filter_map(|epoch| self.given.remove_entry(epoch)).collect()
    }
}

#[derive(PartialEq)]
pub enum Where {
    Issued,
    Gap,
    Late,
    Ahead,
    Lost,
}

/// The facts that decide presence.
pub struct Gen {
    pub generation: u64,
    pub clock: u64,
}

/// The entry's clock and what holds for all lines.
pub struct Now<'a> {
    pub clock: u64,
    pub time: u64,
    pub settings: &'a Settings,
    /// No visitor is called before.
    pub quiet_until: u64,
    /// The epoch that the entry brings back.
    pub adopts: Option<u64>,
    pub lore: &'a mut Lore,
}

pub fn number(key: Key) -> Number {
    Number {
        epoch: ropeline_room::Epoch(key.0),
        n: u32::try_from(key.1).unwrap(),
    }
}
