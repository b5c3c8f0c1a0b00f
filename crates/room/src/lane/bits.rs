//! A bitmap over places, paged, with ranks: the base of a line's positions.
//!
//! A page is 4,096 bits; pages without a bit are not kept. Counting the bits below a place costs additions over chunks
//! and pages and at most 64 words, under a microsecond at ten million.

#[cfg(test)]
mod tests;

use std::iter::successors;
use std::ops::Range;

use crate::codec::{Codec, Read, Reader, Writer};
use crate::lane::paged::{Leaf, Paged};
use ropeline_ids::Place;

/// Places in one page.
pub(crate) const PAGE: u64 = 4_096;

/// A page's bits, lowest place first.
pub(crate) type Words = [u64; 64];

#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    pages: Paged<Page>,
}

#[derive(Clone, Debug)]
struct Page {
    words: Words,
    ones: u16,
}

impl Bits {
    pub fn total(&self) -> u64 {
        self.pages.total()
    }

    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    pub fn get(&self, place: Place) -> bool {
        self.pages
            .get(place.0 / PAGE)
            .is_some_and(|page| page.words[word(place)] & mask(place) != 0)
    }

    /// False if the bit was set already.
    pub fn set(&mut self, place: Place) -> bool {
        // PERF: the check first keeps an unchanged page shared with the view.
        !self.get(place)
            && self
                .pages
                .change(place.0 / PAGE, |page| page.put(word(place), mask(place), 0))
    }

    /// False if the bit was not set.
    pub fn clear(&mut self, place: Place) -> bool {
        self.get(place)
            && self
                .pages
                .change(place.0 / PAGE, |page| page.put(word(place), 0, mask(place)))
    }

    /// Sets the bits of [from, to).
    pub fn set_range(&mut self, from: Place, to: Place) {
        for index in pages_of(from, to) {
            let range = range_words(index, from, to);
            self.change_page(index, |words| or(words, &range));
        }
    }

    /// In [from, to), keeps only bits that one of `marks` has too.
    pub fn keep_marked(&mut self, from: Place, to: Place, marks: [&Bits; 2]) {
        let pages: Vec<u64> = self
            .pages
            .iter_from(from.0 / PAGE)
            .map(|(i, _)| i)
            .take_while(|i| *i <= to.0 / PAGE)
            .collect();
        for index in pages {
            let mut keep = range_words(index, from, to).map(|word| !word);
            for words in marks.into_iter().filter_map(|bits| bits.page(index)) {
                keep = or(&keep, words);
            }
            let now = self.page(index).map_or([0; 64], |words| and(words, &keep));
            self.replace_page(index, &now);
        }
    }

    /// Moves the bits of ranges to other places of the same ranges. Cost: a sort of the bits that are set there.
    pub fn permute(&mut self, ranges: impl Iterator<Item = Range<Place>>, to: impl Fn(Place) -> Place) {
        let none = Self::default();
        let mut moved = Vec::new();
        for range in ranges {
            moved.extend(self.ones(range.start, range.end).map(&to));
            self.keep_marked(range.start, range.end, [&none, &none]);
        }
        moved.sort_unstable();
        for page in moved.chunk_by(|a, b| a.0 / PAGE == b.0 / PAGE) {
            let mut words = [0; 64];
            for place in page {
                words[word(*place)] |= mask(*place);
            }
            self.change_page(page[0].0 / PAGE, |before| or(before, &words));
        }
    }

    /// Bits set below `place`.
    pub fn count_below(&self, place: Place) -> u64 {
        let page = place.0 / PAGE;
        let whole = self.pages.count_before(page);
        let Some(words) = self.page(page) else { return whole };
        let last = words[word(place)] & (mask(place) - 1);
        let ones: u32 = words[..word(place)].iter().map(|word| word.count_ones()).sum();
        whole + u64::from(ones + last.count_ones())
    }

    /// Bits that both have.
    pub fn common(&self, other: &Self) -> u64 {
        let both = |(index, words): (u64, &Words)| {
            let both = other.page(index).map_or([0; 64], |others| and(words, others));
            both.iter().map(|word| u64::from(word.count_ones())).sum::<u64>()
        };
        self.pages().map(both).sum()
    }

    /// The lowest bit at or above `place`.
    pub fn first_from(&self, place: Place) -> Option<Place> {
        let page = place.0 / PAGE;
        let here = self.page(page).and_then(|words| first_bit(words, place.0 % PAGE));
        if let Some(bit) = here {
            return Some(Place(page * PAGE + bit));
        }
        let (index, page) = self.pages.first_from(page + 1)?;
        first_bit(&page.words, 0).map(|bit| Place(index * PAGE + bit))
    }

    /// The places of [from, to) whose bits are set.
    pub fn ones(&self, from: Place, to: Place) -> impl Iterator<Item = Place> {
        let pages = self.pages.iter_from(from.0 / PAGE);
        let pages = pages.take_while(move |(index, _)| index * PAGE < to.0);
        let places =
            pages.flat_map(|(index, page)| bits_of(&page.words).map(move |bit| Place(index * PAGE + u64::from(bit))));
        places.filter(move |place| (from..to).contains(place))
    }

    /// Clears every bit below `place`; pages that end there are dropped whole.
    pub fn drop_below(&mut self, place: Place) {
        let boundary = place.0 / PAGE;
        self.pages.drop_before(boundary);
        if let Some(words) = self.page(boundary) {
            let below = range_words(boundary, Place(boundary * PAGE), place).map(|word| !word);
            let kept = and(words, &below);
            self.replace_page(boundary, &kept);
        }
    }

    /// The 64 bits that `place` is one of, lowest place first.
    pub fn word(&self, place: Place) -> u64 {
        self.page(place.0 / PAGE).map_or(0, |words| words[word(place)])
    }

    /// The pages that have a bit, in order.
    pub fn pages(&self) -> impl Iterator<Item = (u64, &Words)> {
        self.pages.iter().map(|(index, page)| (index, &page.words))
    }

    pub fn page(&self, index: u64) -> Option<&Words> {
        self.pages.get(index).map(|page| &page.words)
    }

    pub fn change_page(&mut self, index: u64, change: impl FnOnce(&Words) -> Words) {
        let words = change(self.page(index).unwrap_or(&[0; 64]));
        self.replace_page(index, &words);
    }

    /// PERF: an unchanged page stays shared with the published view.
    fn replace_page(&mut self, index: u64, words: &Words) {
        if self.page(index).unwrap_or(&[0; 64]) != words {
            self.pages.change(index, |page| page.replace(words));
        }
    }
}

impl Codec for Bits {
    fn write(&self, w: &mut Writer) {
        w.count(self.pages().count());
        for (index, words) in self.pages() {
            w.var(index);
            write_page(w, words);
        }
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut bits = Self::default();
        for _ in 0..r.count()? {
            let index = r.var()?;
            if index > u64::MAX / PAGE {
                return r.wrong();
            }
            let words = read_page(r)?;
            bits.replace_page(index, &words);
        }
        Ok(bits)
    }
}

impl Page {
    fn put(&mut self, word: usize, set: u64, clear: u64) -> bool {
        let before = self.words[word];
        let after = (before | set) & !clear;
        self.words[word] = after;
        if after.count_ones() > before.count_ones() {
            self.ones += 1;
        } else if after != before {
            self.ones -= 1;
        }
        after != before
    }

    fn replace(&mut self, words: &Words) {
        self.words = *words;
        let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
        self.ones = u16::try_from(ones).expect("a page has 4,096 bits");
    }
}

impl Default for Page {
    fn default() -> Self {
        Self {
            words: [0; 64],
            ones: 0,
        }
    }
}

impl Leaf for Page {
    fn count(&self) -> u16 {
        self.ones
    }
}

/// The words of page `index` with the bits of [from, to) set.
pub(crate) fn range_words(index: u64, from: Place, to: Place) -> Words {
    let start = index * PAGE;
    let ones_below = |place: Place, at: u64| match place.0.saturating_sub(at) {
        0 => 0,
        bits @ 1..64 => (1 << bits) - 1,
        _ => u64::MAX,
    };
    let mut at = start;
    std::array::from_fn(|_| {
        let word = ones_below(to, at) & !ones_below(from, at);
        at += 64;
        word
    })
}

pub(crate) fn or(a: &Words, b: &Words) -> Words {
    std::array::from_fn(|i| a[i] | b[i])
}

pub(crate) fn and(a: &Words, b: &Words) -> Words {
    std::array::from_fn(|i| a[i] & b[i])
}

pub(crate) fn without(a: &Words, b: &Words) -> Words {
    std::array::from_fn(|i| a[i] & !b[i])
}

/// The pages that [from, to) touches.
pub(crate) fn pages_of(from: Place, to: Place) -> std::ops::Range<u64> {
    if to <= from {
        0..0
    } else {
        from.0 / PAGE..(to.0 - 1) / PAGE + 1
    }
}

fn word(place: Place) -> usize {
    usize::try_from(place.0 % PAGE / 64).expect("a page has 64 words")
}

fn mask(place: Place) -> u64 {
    1 << (place.0 % 64)
}

fn first_bit(words: &Words, from: u64) -> Option<u64> {
    let mut at = from / 64 * 64;
    let mut cut = u64::MAX << (from % 64);
    for word in &words[usize::try_from(from / 64).ok()?..] {
        if word & cut != 0 {
            return Some(at + u64::from((word & cut).trailing_zeros()));
        }
        at += 64;
        cut = u64::MAX;
    }
    None
}

const FULL: u8 = 0;
const RAW: u8 = 1;
const FEW: u8 = 2;

/// Fewest bits that are cheaper as a bitmap than as a list.
const MANY: usize = 256;

fn write_page(w: &mut Writer, words: &Words) {
    if words.iter().all(|word| *word == u64::MAX) {
        return w.u8(FULL);
    }
    let few: Vec<u16> = bits_of(words).take(MANY).collect();
    if few.len() < MANY {
        w.u8(FEW);
        return w.put(&few);
    }
    w.u8(RAW);
    for word in words {
        w.raw(&word.to_le_bytes());
    }
}

/// The bits that are set, lowest first.
fn bits_of(words: &Words) -> impl Iterator<Item = u16> {
    // PERF: from one to the next, since most pages of a snapshot hold a few.
    let without_lowest = |left: &u64| Some(left & left.wrapping_sub(1));
    (0_u16..).step_by(64).zip(words).flat_map(move |(base, word)| {
        let lefts = successors(Some(*word), without_lowest).take_while(|left| *left != 0);
        lefts.map(move |left| base + u16::try_from(left.trailing_zeros()).expect("a word has 64 bits"))
    })
}

fn read_page(r: &mut Reader) -> Read<Words> {
    let mut words = [0; 64];
    match r.u8()? {
        FULL => words = [u64::MAX; 64],
        RAW => {
            for word in &mut words {
                *word = u64::from_le_bytes(r.get()?);
            }
        }
        FEW => {
            for bit in r.get::<Vec<u16>>()? {
                let Some(word) = words.get_mut(usize::from(bit / 64)) else {
                    return r.wrong();
                };
                *word |= 1 << (bit % 64);
            }
        }
        _ => return r.wrong(),
    }
    Ok(words)
}
