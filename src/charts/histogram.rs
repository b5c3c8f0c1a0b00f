//! Durations counted in bands of about one part in a hundred, so that any number of them takes a few kilobytes.
//!
//! Not hdrhistogram: a report keeps several of them for each of thousands of lines, and there each takes some 20 KB at this
//! precision, however few durations it holds.

use std::collections::BTreeMap;

use serde::Serialize;

use super::duration::secs;

/// Durations in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    bands: BTreeMap<u16, u64>,
    count: u64,
    sum: u128,
    most: u64,
}

/// A histogram's figures, in seconds; percentiles are right to one part in a hundred, `max` and `mean` exact.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Spread {
    pub count: u64,
    pub mean_secs: f64,
    pub p50_secs: f64,
    pub p90_secs: f64,
    pub p95_secs: f64,
    pub p99_secs: f64,
    pub max_secs: f64,
}

impl Histogram {
    pub fn add(&mut self, ms: u64) {
        *self.bands.entry(band(ms)).or_default() += 1;
        self.count += 1;
        self.sum += u128::from(ms);
        self.most = self.most.max(ms);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn spread(&self) -> Spread {
        let count = u128::from(self.count.max(1));
        let mean = u64::try_from(self.sum / count).unwrap_or(u64::MAX);
        Spread {
            count: self.count,
            mean_secs: secs(mean),
            p50_secs: secs(self.percentile(50)),
            p90_secs: secs(self.percentile(90)),
            p95_secs: secs(self.percentile(95)),
            p99_secs: secs(self.percentile(99)),
            max_secs: secs(self.most),
        }
    }

    /// The duration that `percent` of a hundred do not pass.
    pub fn percentile(&self, percent: u64) -> u64 {
        self.permille(percent * 10)
    }

    /// The duration that so many of a thousand do not pass.
    pub fn permille(&self, permille: u64) -> u64 {
        let wanted = (self.count * permille).div_ceil(1_000).max(1);
        let mut seen = 0;
        for (band, count) in &self.bands {
            seen += count;
            if seen >= wanted {
                return middle(*band).min(self.most);
            }
        }
        self.most
    }

    /// Counts in at most forty bars of a round width that reach to the 99th percentile, the rest in the last: (start in
    /// ms, count).
    pub fn bars(&self) -> Vec<(u64, u64)> {
        let reach = self.percentile(99);
        let fits = |width: &&u64| reach / **width < BARS;
        let width = WIDTHS.iter().find(fits).copied().unwrap_or(reach.max(1));
        let bars = reach / width + 1;
        let mut counted: Vec<(u64, u64)> = (0..bars).map(|bar| (bar * width, 0)).collect();
        for (band, count) in &self.bands {
            let bar = (middle(*band) / width).min(bars - 1);
            if let Some((_, sum)) = usize::try_from(bar).ok().and_then(|bar| counted.get_mut(bar)) {
                *sum += count;
            }
        }
        counted
    }
}

/// Below 64 exact; above, 64 bands for each doubling.
fn band(ms: u64) -> u16 {
    let Some(shift) = ms.checked_ilog2().filter(|log| *log >= BITS).map(|log| log - BITS) else {
        return u16::try_from(ms).unwrap_or(0);
    };
    u16::try_from((u64::from(shift) << BITS) + (ms >> shift)).unwrap_or(u16::MAX)
}

fn middle(band: u16) -> u64 {
    let Some(shift) = (band >> BITS).checked_sub(1) else {
        return u64::from(band);
    };
    let low = u64::from(band - (shift << BITS)) << shift;
    low + ((1 << shift) >> 1)
}

const BITS: u32 = 6;

/// Most bars of a picture, and how wide one may be, in milliseconds.
const BARS: u64 = 40;
const WIDTHS: [u64; 17] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000,
    3_600_000, 21_600_000,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_within_a_hundredth_of_all_it_holds() {
        for ms in (0..64).chain((6..50).flat_map(|bits| [1_u64 << bits, (1 << bits) + 12_345, (1 << bits) - 1])) {
            let told = middle(band(ms));
            assert!(told.abs_diff(ms) * 100 <= ms, "{ms} is told as {told}");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut histogram = Histogram::default();
        for ms in (1..=1_000).rev() {
            histogram.add(ms * 1_000);
        }
        let spread = histogram.spread();
        let near = |told: f64, is: f64| assert!((told - is).abs() <= is / 100.0, "{told} is not {is}");
        near(spread.p50_secs, 500.0);
        near(spread.p90_secs, 900.0);
        near(spread.p99_secs, 990.0);
        near(spread.mean_secs, 500.5);
        assert_eq!((spread.count, spread.max_secs), (1_000, 1_000.0));
        let bars = histogram.bars();
        assert_eq!(bars.iter().map(|(_, count)| count).sum::<u64>(), 1_000);
        assert_eq!((bars.len(), bars[1].0), (33, 30_000));
    }

    #[test]
    fn nothing_has_figures_of_nothing() {
        assert_eq!(Histogram::default().spread(), Spread::default());
    }
}
