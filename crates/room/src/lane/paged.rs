//! A sparse array that is cheap to copy: two levels of shared pieces. A change copies only the pieces that it touches.
//!
//! The room keeps bitmaps and slots in it and gives a clone to the published view. A piece is copied before a later change
//! (`Arc::make_mut`), the rest stays shared. Leaves without content are not kept, so equal contents are equal arrays, and
//! gaps between epochs are free.

use std::sync::Arc;

/// Leaves in one chunk.
pub(crate) const CHUNK: u64 = 64;

/// A piece that counts its own content; one that counts 0 is the same as none.
pub(crate) trait Leaf: Clone + Default {
    fn count(&self) -> u16;
}

#[derive(Clone, Debug)]
pub(crate) struct Paged<L> {
    chunks: Vec<Slot<L>>,
    total: u64,
}

/// Index and total stand beside the pointer, so that ranks are summed without following it.
#[derive(Clone, Debug)]
struct Slot<L> {
    index: u64,
    total: u32,
    chunk: Arc<Chunk<L>>,
}

#[derive(Clone, Debug)]
struct Chunk<L> {
    counts: [u16; 64],
    leaves: [Option<Arc<L>>; 64],
}

impl<L> Default for Paged<L> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            total: 0,
        }
    }
}

impl<L: Leaf> Paged<L> {
    /// Content of all leaves.
    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn get(&self, leaf: u64) -> Option<&L> {
        let i = self.find(leaf).ok()?;
        self.chunks[i].chunk.leaves[within(leaf)].as_deref()
    }

    /// Changes one leaf, which is made if it is missing and dropped if it is empty afterwards. Cost: a search, and a copy of
    /// the shared pieces.
    pub fn change<R>(&mut self, leaf: u64, change: impl FnOnce(&mut L) -> R) -> R {
        let i = self.find(leaf).unwrap_or_else(|i| {
            self.chunks.insert(
                i,
                Slot {
                    index: leaf / CHUNK,
                    total: 0,
                    chunk: Arc::new(Chunk::empty()),
                },
            );
            i
        });
        let slot = &mut self.chunks[i];
        let chunk = Arc::make_mut(&mut slot.chunk);
        let at = within(leaf);
        let shared = chunk.leaves[at].get_or_insert_with(Arc::default);
        let result = change(Arc::make_mut(shared));
        // Empty leaves are not kept: equal contents must have equal bytes, regardless of their history.
        let (before, after) = (chunk.counts[at], shared.count());
        chunk.counts[at] = after;
        if after == 0 {
            chunk.leaves[at] = None;
        }
        slot.total = slot.total - u32::from(before) + u32::from(after);
        self.total = self.total - u64::from(before) + u64::from(after);
        if slot.total == 0 {
            self.chunks.remove(i);
        }
        result
    }

    /// Content of the leaves before `leaf`. Cost: an addition per chunk and per leaf of one chunk.
    pub fn count_before(&self, leaf: u64) -> u64 {
        let (full, rest) = match self.find(leaf) {
            Ok(i) => (
                i,
                self.chunks[i].chunk.counts[..within(leaf)]
                    .iter()
                    .map(|count| u64::from(*count))
                    .sum(),
            ),
            Err(i) => (i, 0),
        };
        self.chunks[..full]
            .iter()
            .map(|slot| u64::from(slot.total))
            .sum::<u64>()
            + rest
    }

    /// The first leaf with content at or after `leaf`.
    pub fn first_from(&self, leaf: u64) -> Option<(u64, &L)> {
        let (start, from) = match self.find(leaf) {
            Ok(i) => (i, within(leaf)),
            Err(i) => (i, 0),
        };
        let first = self.chunks.get(start).and_then(|slot| slot.first_from(from));
        first.or_else(|| {
            self.chunks
                .get(start.saturating_add(1))
                .and_then(|slot| slot.first_from(0))
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &L)> {
        self.chunks.iter().flat_map(Slot::iter)
    }

    /// Leaves that are not the very ones that `before` holds. Cost: a look at each chunk, and at each leaf of those that
    /// changed since `before` was cloned.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = (u64, &'a L)> {
        let shared = |slot: &&Slot<L>| match before.find(slot.index * CHUNK) {
            Ok(i) => Arc::ptr_eq(&before.chunks[i].chunk, &slot.chunk),
            Err(_) => false,
        };
        let changed = self.chunks.iter().filter(move |slot| !shared(slot));
        changed
            .flat_map(Slot::iter)
            .filter(|(index, leaf)| !before.get(*index).is_some_and(|other| std::ptr::eq(other, *leaf)))
    }

    /// Leaves from `leaf` on, in order.
    pub fn iter_from(&self, leaf: u64) -> impl Iterator<Item = (u64, &L)> {
        let start = self.find(leaf).unwrap_or_else(|i| i);
        self.chunks[start..]
            .iter()
            .flat_map(Slot::iter)
            .skip_while(move |(index, _)| *index < leaf)
    }

    /// Forgets every leaf before `leaf`.
    pub fn drop_before(&mut self, leaf: u64) {
        let whole = self.chunks.partition_point(|slot| slot.index < leaf / CHUNK);
        let gone: u64 = self.chunks.drain(..whole).map(|slot| u64::from(slot.total)).sum();
        self.total -= gone;
        while let Some((index, _)) = self.first_from(0).filter(|(index, _)| *index < leaf) {
            self.change(index, |content| *content = L::default());
        }
    }

    fn find(&self, leaf: u64) -> Result<usize, usize> {
        let chunk = leaf / CHUNK;
        match self.chunks.last() {
            Some(last) if last.index == chunk => Ok(self.chunks.len() - 1),
            Some(last) if last.index > chunk => self.chunks.binary_search_by_key(&chunk, |slot| slot.index),
            _ => Err(self.chunks.len()),
        }
    }
}

impl<L> Slot<L> {
    fn first_from(&self, at: usize) -> Option<(u64, &L)> {
        let found = at + self.chunk.counts.get(at..)?.iter().position(|count| *count > 0)?;
        let leaf = self.chunk.leaves[found].as_deref()?;
        Some((self.leaf_index(found), leaf))
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &L)> {
        let leaves = self.chunk.leaves.iter().enumerate();
        leaves.filter_map(|(at, leaf)| leaf.as_deref().map(|leaf| (self.leaf_index(at), leaf)))
    }

    fn leaf_index(&self, at: usize) -> u64 {
        self.index * CHUNK + u64::try_from(at).expect("a chunk has 64 leaves")
    }
}

impl<L> Chunk<L> {
    fn empty() -> Self {
        Self {
            counts: [0; 64],
            leaves: std::array::from_fn(|_| None),
        }
    }
}

fn within(leaf: u64) -> usize {
    usize::try_from(leaf % CHUNK).expect("a chunk has 64 leaves")
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Leaf for u16 {
        fn count(&self) -> u16 {
            *self
        }
    }

    fn filled(leaves: &[(u64, u16)]) -> Paged<u16> {
        let mut paged = Paged::default();
        for (leaf, content) in leaves {
            paged.change(*leaf, |c| *c = *content);
        }
        paged
    }

    #[test]
    fn counts_add_up_over_leaves_chunks_and_gaps() {
        let paged = filled(&[(3, 5), (63, 2), (64, 7), (1 << 40, 1)]);
        assert_eq!(paged.total(), 15);
        for (leaf, before) in [
            (0, 0),
            (4, 5),
            (63, 5),
            (64, 7),
            (65, 14),
            (1 << 39, 14),
            (u64::MAX, 15),
        ] {
            assert_eq!(paged.count_before(leaf), before, "{leaf}");
        }
    }

    #[test]
    fn the_first_leaf_is_found_within_and_across_chunks() {
        let paged = filled(&[(3, 5), (200, 2)]);
        let first = |leaf| paged.first_from(leaf).map(|(index, _)| index);
        assert_eq!(
            [first(0), first(3), first(4), first(100), first(201)],
            [Some(3), Some(3), Some(200), Some(200), None]
        );
        assert_eq!(paged.iter_from(4).map(|(index, _)| index).collect::<Vec<_>>(), [200]);
    }

    #[test]
    fn empty_leaves_and_chunks_are_not_kept() {
        let mut paged = filled(&[(3, 5)]);
        paged.change(3, |c| *c = 0);
        assert!(paged.chunks.is_empty());
        assert_eq!((paged.total(), paged.get(3)), (0, None));
    }

    #[test]
    fn a_clone_keeps_what_it_saw() {
        let mut paged = filled(&[(3, 5), (4, 1)]);
        let before = paged.clone();
        paged.change(3, |c| *c = 9);
        assert_eq!((before.get(3), paged.get(3)), (Some(&5), Some(&9)));
        assert_eq!((before.total(), paged.total()), (6, 10));
    }

    #[test]
    fn only_what_changed_since_a_clone_is_listed() {
        let mut paged = filled(&[(3, 5), (4, 1), (200, 1)]);
        let before = paged.clone();
        paged.change(4, |c| *c = 2);
        paged.change(1 << 40, |c| *c = 3);
        let changed = |before| paged.changed_since(before).map(|(index, _)| index).collect::<Vec<_>>();
        assert_eq!(changed(&before), [4, 1 << 40]);
        assert!(changed(&paged).is_empty());
        assert_eq!(changed(&Paged::default()), [3, 4, 200, 1 << 40]);
    }

    #[test]
    fn dropping_forgets_whole_chunks_and_single_leaves() {
        let mut paged = filled(&[(1, 1), (64, 2), (70, 4), (200, 8)]);
        paged.drop_before(70);
        assert_eq!(paged.iter().map(|(index, _)| index).collect::<Vec<_>>(), [70, 200]);
        assert_eq!(paged.total(), 12);
    }
}
