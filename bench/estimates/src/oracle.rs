//! The oracle: what one could tell who knows the pattern, but neither chance nor changes that are not made yet.
//!
//! It comes from the same pattern under other seeds. True waits are sorted into cells of lane, time since the first call, and
//! visitors ahead; a cell tells their tenth, fiftieth and ninetieth percentile.

use std::collections::BTreeMap;

use crate::looks::{EVERY, Kind, Look};
use crate::score::Told;

type Cell = (u8, u32, u32);

/// Waits by cell, in seconds.
#[derive(Default, Debug)]
pub struct Waits(BTreeMap<Cell, Vec<f32>>);

#[derive(Debug)]
pub struct Oracle(BTreeMap<Cell, Told>);

impl Waits {
    pub fn add(&mut self, looks: &[Look]) {
        for look in looks.iter().filter(|look| look.kind == Kind::Counts) {
            if let Some(wait) = look.wait {
                self.0.entry(cell(look)).or_default().push(wait as f32 / 1_000.0);
            }
        }
    }

    pub fn oracle(&self) -> Oracle {
        let cells = self.0.keys();
        Oracle(cells.map(|cell| (*cell, told(self.around(*cell)))).collect())
    }

    /// The waits of a cell; where they are few, with those of the cells around it.
    fn around(&self, (lane, time, place): Cell) -> Vec<f32> {
        let mut waits = Vec::new();
        for (later, further) in WIDER {
            waits.clear();
            for time in time.saturating_sub(later)..=time + later {
                let places = (lane, time, place.saturating_sub(further))..=(lane, time, place + further);
                waits.extend(self.0.range(places).flat_map(|(_, waits)| waits));
            }
            if waits.len() >= ENOUGH {
                break;
            }
        }
        waits
    }
}

impl Oracle {
    /// What the oracle tells at a look; of the nearest cell, where no other seed had a visitor there.
    pub fn told(&self, look: &Look) -> Option<Told> {
        let (lane, time, place) = cell(look);
        for (later, further) in WIDER {
            let near = (time.saturating_sub(later)..=time + later).flat_map(|at| {
                let places = (lane, at, place.saturating_sub(further))..=(lane, at, place + further);
                self.0.range(places)
            });
            let distance = |(_, at, ahead): Cell| at.abs_diff(time) + ahead.abs_diff(place);
            if let Some((_, told)) = near.min_by_key(|(cell, _)| distance(**cell)) {
                return Some(*told);
            }
        }
        None
    }
}

fn cell(look: &Look) -> Cell {
    (look.lane, (look.at / EVERY) as u32, place(look.ahead))
}

/// Each place by itself up to 16, then sixteen ranges for each doubling.
fn place(ahead: u32) -> u32 {
    if ahead < 16 {
        return ahead;
    }
    let doublings = ahead.ilog2() - 4;
    16 + doublings * 16 + (ahead >> doublings) - 16
}

fn told(mut waits: Vec<f32>) -> Told {
    waits.sort_by(f32::total_cmp);
    let percentile = |percent: usize| {
        let rank = (waits.len() * percent).div_ceil(100).max(1);
        waits.get(rank - 1).map_or(0.0, |wait| f64::from(*wait) * 1_000.0)
    };
    Told {
        low: percentile(10),
        middle: percentile(50),
        high: percentile(90),
    }
}

/// How far around a cell waits are looked for, in time and in places: first nowhere.
const WIDER: [(u32, u32); 7] = [(0, 0), (1, 0), (2, 1), (4, 1), (8, 2), (16, 3), (40, 6)];

/// Waits that a percentile is read from, as far as there are.
const ENOUGH: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at: u64, ahead: u32, wait: u64) -> Look {
        Look {
            person: 0,
            lane: 0,
            quarter: 0,
            at,
            ahead,
            told: None,
            wait: Some(wait),
            kind: Kind::Counts,
        }
    }

    #[test]
    fn a_cell_tells_the_tenth_the_fiftieth_and_the_ninetieth_of_a_hundred() {
        let mut waits = Waits::default();
        let looks: Vec<Look> = (1..=100).rev().map(|secs| look(30_000, 5, secs * 1_000)).collect();
        waits.add(&looks);
        let told = waits.oracle().told(&look(30_000, 5, 0)).unwrap();
        assert_eq!((told.low, told.middle, told.high), (10_000.0, 50_000.0, 90_000.0));
    }

    #[test]
    fn other_times_and_places_do_not_matter_where_there_are_enough() {
        let mut waits = Waits::default();
        for (at, ahead, wait) in [(0, 5, 1_000), (15_000, 5, 2_000), (0, 6, 3_000)] {
            waits.add(&vec![look(at, ahead, wait); 40]);
        }
        let oracle = waits.oracle();
        let middle = |at, ahead| oracle.told(&look(at, ahead, 0)).unwrap().middle;
        assert_eq!(
            (middle(0, 5), middle(15_000, 5), middle(0, 6)),
            (1_000.0, 2_000.0, 3_000.0)
        );
    }

    #[test]
    fn few_waits_are_joined_with_those_around_and_looks_of_changes_are_left_out() {
        let mut waits = Waits::default();
        waits.add(&vec![look(0, 5, 1_000); 10]);
        waits.add(&vec![look(15_000, 5, 9_000); 30]);
        let changed = Look {
            kind: Kind::Changed,
            ..look(0, 5, 99_000)
        };
        waits.add(&vec![changed; 40]);
        let told = waits.oracle().told(&look(0, 5, 0)).unwrap();
        assert_eq!((told.low, told.middle, told.high), (1_000.0, 9_000.0, 9_000.0));
    }

    #[test]
    fn an_empty_cell_tells_what_the_nearest_one_does_and_a_far_one_nothing() {
        let mut waits = Waits::default();
        waits.add(&vec![look(0, 5, 1_000); 40]);
        let oracle = waits.oracle();
        assert!(oracle.told(&look(45_000, 6, 0)).is_some());
        assert_eq!(oracle.told(&look(3_600_000, 5, 0)), None);
    }

    #[test]
    fn ranges_of_places_are_a_sixteenth_of_a_doubling_and_have_no_gaps() {
        assert_eq!(
            [0, 15, 16, 17, 31, 32, 33, 34].map(place),
            [0, 15, 16, 17, 31, 32, 32, 33]
        );
        for ahead in 0..100_000 {
            assert!(place(ahead + 1) - place(ahead) <= 1, "{ahead}");
        }
    }
}
