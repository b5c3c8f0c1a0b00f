//! The numbers of one epoch of a lane, as the report keeps them: until when each is surely present, and which were called.
//!
//! Four bytes and two bits a number, in pages that are made when they are needed and thrown away when all their visitors have
//! left; the lowest number that is present is found without looking at absent ones.

use std::collections::BTreeMap;

use ropeline_ids::Clock;

/// See the module.
#[derive(Debug, Default)]
pub(in crate::report) struct Numbers {
    /// By number / 4,096; a page without a present visitor is not kept.
    present: BTreeMap<u32, Box<Page>>,
    taken: Bits,
    called: Bits,
}

#[derive(Debug)]
struct Page {
    /// No number of the page is present longer than this.
    latest: u32,
    until: [u32; PAGE],
}

#[derive(Debug, Default)]
struct Bits {
    pages: BTreeMap<u32, Box<[u64; PAGE / 64]>>,
}

impl Numbers {
    /// The numbers are surely present before `until`.
    pub fn see(&mut self, numbers: std::ops::Range<u32>, until: Clock) {
        let until = coarse(until);
        for n in numbers {
            let page = self.present.entry(page_of(n)).or_insert_with(|| {
                Box::new(Page {
                    latest: 0,
                    until: [0; PAGE],
                })
            });
            let seen = &mut page.until[within(n)];
            *seen = (*seen).max(until);
            page.latest = page.latest.max(until);
        }
    }

    /// Whether the number is surely present.
    pub fn is_present(&self, n: u32, now: Clock) -> bool {
        let page = self.present.get(&page_of(n));
        page.is_some_and(|page| page.until[within(n)] > ceiling(now))
    }

    pub fn is_taken(&self, n: u32) -> bool {
        self.taken.get(n)
    }

    /// Called at some time.
    pub fn was_called(&self, n: u32) -> bool {
        self.called.get(n)
    }

    /// Out of line: called, inside, or gone.
    pub fn take(&mut self, n: u32) {
        self.taken.set(n, true);
        if let Some(page) = self.present.get_mut(&page_of(n)) {
            page.until[within(n)] = 0;
        }
    }

    pub fn call(&mut self, n: u32) {
        self.take(n);
        self.called.set(n, true);
    }

    /// Back in line, but not present.
    pub fn untake(&mut self, n: u32) {
        self.taken.set(n, false);
    }

    /// Takes out all visitors: until when each is surely present, which are out of line, and which were called.
    pub fn take_all(&mut self) -> Known {
        let known = std::mem::take(self);
        let present = known.present.iter().flat_map(|(index, page)| {
            let of_page = (index * SIZE..).zip(&page.until);
            of_page.filter(|(_, until)| **until > 0).map(|(n, until)| (n, *until))
        });
        Known {
            present: present.collect(),
            taken: known.taken.all(),
            called: known.called.all(),
        }
    }

    /// Puts one back, at a number.
    pub fn put_present(&mut self, n: u32, until: u32) {
        self.see(n..n.saturating_add(1), Clock(u64::from(until) * 100));
    }

    pub fn put_taken(&mut self, n: u32) {
        self.taken.set(n, true);
    }

    pub fn put_called(&mut self, n: u32) {
        self.called.set(n, true);
    }

    /// No visitor is present until seen again.
    pub fn forget(&mut self) {
        self.present.clear();
    }

    /// The lowest number below `end` that is surely present.
    pub fn lowest(&mut self, end: u32, now: Clock) -> Option<u32> {
        let now = ceiling(now);
        while let Some(mut first) = self.present.first_entry() {
            let base = *first.key() * SIZE;
            if base >= end {
                return None;
            }
            let page = first.get_mut();
            if let Some(at) = page.until.iter().position(|until| *until > now) {
                let n = base + u32::try_from(at).unwrap_or(0);
                return (n < end).then_some(n);
            }
            // Time never goes back: a visitor who is absent now must be seen again first.
            first.remove();
        }
        None
    }
}

/// All visitors of an epoch, by number.
#[derive(Debug, Default)]
pub(in crate::report) struct Known {
    /// With tenths of a second.
    pub present: Vec<(u32, u32)>,
    pub taken: Vec<u32>,
    pub called: Vec<u32>,
}

impl Bits {
    fn all(&self) -> Vec<u32> {
        let pages = self
            .pages
            .keys()
            .flat_map(|index| index * SIZE..index.saturating_mul(SIZE).saturating_add(SIZE));
        pages.filter(|n| self.get(*n)).collect()
    }

    fn get(&self, n: u32) -> bool {
        let page = self.pages.get(&page_of(n));
        page.is_some_and(|page| page[within(n) / 64] >> (within(n) % 64) & 1 == 1)
    }

    fn set(&mut self, n: u32, on: bool) {
        if !on && !self.get(n) {
            return;
        }
        let page = self.pages.entry(page_of(n)).or_insert_with(|| Box::new([0; PAGE / 64]));
        let bit = 1 << (within(n) % 64);
        let word = &mut page[within(n) / 64];
        *word = if on { *word | bit } else { *word & !bit };
    }
}

/// Tenths of a second, rounded down: 13 years fit.
fn coarse(clock: Clock) -> u32 {
    u32::try_from(clock.0 / 100).unwrap_or(u32::MAX)
}

/// Rounded up, so that each counts as present at least as long as they are.
fn ceiling(clock: Clock) -> u32 {
    u32::try_from(clock.0.div_ceil(100)).unwrap_or(u32::MAX)
}

fn page_of(n: u32) -> u32 {
    n / SIZE
}

fn within(n: u32) -> usize {
    usize::try_from(n % SIZE).unwrap_or(0)
}

const PAGE: usize = 4_096;
const SIZE: u32 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_present_is_found_across_pages_and_never_one_too_long() {
        let mut numbers = Numbers::default();
        numbers.see(5..6, Clock(1_000));
        numbers.see(9_000..9_010, Clock(2_000));
        assert_eq!(numbers.lowest(u32::MAX, Clock(0)), Some(5));
        assert_eq!(numbers.lowest(5, Clock(0)), None);
        assert_eq!(numbers.lowest(u32::MAX, Clock(1_000)), Some(9_000));
        assert_eq!(numbers.lowest(9_000, Clock(1_000)), None);
        assert!(!numbers.is_present(9_009, Clock(1_901)), "rounded towards absence");
        numbers.see(5..6, Clock(3_000));
        assert_eq!(numbers.lowest(u32::MAX, Clock(2_000)), Some(5));
        numbers.forget();
        assert_eq!(numbers.lowest(u32::MAX, Clock(2_000)), None);
    }

    #[test]
    fn who_is_taken_is_not_present_and_stays_called() {
        let mut numbers = Numbers::default();
        numbers.see(0..3, Clock(1_000));
        numbers.call(0);
        numbers.take(1);
        assert_eq!(numbers.lowest(u32::MAX, Clock(0)), Some(2));
        numbers.untake(0);
        assert_eq!(numbers.lowest(u32::MAX, Clock(0)), Some(2), "back, but not seen");
        assert!(numbers.was_called(0) && !numbers.is_taken(0));
        assert!(!numbers.was_called(1) && numbers.is_taken(1));
    }
}
