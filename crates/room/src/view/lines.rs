//! A room's published lines, sorted by name: an update copies one leaf, whatever the number of lines.

use std::ops::{Bound, Index};
use std::sync::Arc;

use crate::view::line_view::LineView;
use ropeline_ids::LineName;

/// Most lines of one leaf; a fuller one is cut in two.
const LEAF: usize = 64;

type Entry = (LineName, Arc<LineView>);

/// A sorted map from names to line views, cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// Sorted, and none is empty.
    leaves: Vec<Arc<Vec<Entry>>>,
    len: usize,
}

impl Lines {
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[must_use]
    pub fn get(&self, name: &LineName) -> Option<&Arc<LineView>> {
        let leaf = self.leaves.get(self.leaf_of(name))?;
        let at = leaf.binary_search_by(|(line, _)| line.cmp(name)).ok()?;
        leaf.get(at).map(|(_, view)| view)
    }

    /// In the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&LineName, &Arc<LineView>)> {
        self.leaves
            .iter()
            .flat_map(|leaf| leaf.iter())
            .map(|(name, view)| (name, view))
    }

    /// In the order of names, from `start` on.
    pub fn iter_from(&self, start: Bound<&LineName>) -> impl Iterator<Item = (&LineName, &Arc<LineView>)> {
        let first = match start {
            Bound::Included(name) | Bound::Excluded(name) => self.leaf_of(name),
            Bound::Unbounded => 0,
        };
        let before = move |name: &LineName| match start {
            Bound::Included(start) => name < start,
            Bound::Excluded(start) => name <= start,
            Bound::Unbounded => false,
        };
        let rest = self.leaves.iter().skip(first).flat_map(|leaf| leaf.iter());
        rest.map(|(name, view)| (name, view))
            .skip_while(move |(name, _)| before(name))
    }

    /// Lines that are new or changed since `before`, with their earlier views. Cost: a look at each leaf, and at the lines of
    /// those that changed.
    pub fn changed_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (&'a LineName, &'a Arc<LineView>, Option<&'a Arc<LineView>>)> {
        let shared = |leaf: &&Arc<Vec<Entry>>| {
            let other = leaf
                .first()
                .and_then(|(name, _)| before.leaves.get(before.leaf_of(name)));
            other.is_some_and(|other| Arc::ptr_eq(other, leaf))
        };
        let changed = self.leaves.iter().filter(move |leaf| !shared(leaf));
        changed.flat_map(|leaf| leaf.iter()).filter_map(|(name, view)| {
            let was = before.get(name);
            let same = was.is_some_and(|was| Arc::ptr_eq(was, view));
            (!same).then_some((name, view, was))
        })
    }

    pub fn keys(&self) -> impl Iterator<Item = &LineName> {
        self.iter().map(|(name, _)| name)
    }

    pub fn values(&self) -> impl Iterator<Item = &Arc<LineView>> {
        self.iter().map(|(_, view)| view)
    }

    pub(crate) fn put(&mut self, name: &LineName, view: Arc<LineView>) {
        if self.leaves.is_empty() {
            self.leaves.push(Arc::default());
        }
        let at = self.leaf_of(name);
        let leaf = Arc::make_mut(&mut self.leaves[at]);
        match leaf.binary_search_by(|(line, _)| line.cmp(name)) {
            Ok(i) => leaf[i].1 = view,
            Err(i) => {
                leaf.insert(i, (name.clone(), view));
                self.len += 1;
            }
        }
        if leaf.len() > LEAF {
            let rest = leaf.split_off(LEAF / 2);
            self.leaves.insert(at + 1, Arc::new(rest));
        }
    }

    pub(crate) fn remove(&mut self, name: &LineName) {
        let at = self.leaf_of(name);
        let Some(leaf) = self.leaves.get_mut(at) else { return };
        if let Ok(i) = leaf.binary_search_by(|(line, _)| line.cmp(name)) {
            Arc::make_mut(leaf).remove(i);
            self.len -= 1;
        }
        if leaf.is_empty() {
            self.leaves.remove(at);
        }
    }

    /// The leaf that holds the name, or would.
    fn leaf_of(&self, name: &LineName) -> usize {
        let after = self
            .leaves
            .partition_point(|leaf| leaf.first().is_some_and(|(first, _)| first <= name));
        after.saturating_sub(1)
    }
}

impl Index<&LineName> for Lines {
    type Output = Arc<LineView>;

    /// # Panics
    /// When there is no such line.
    fn index(&self, name: &LineName) -> &Self::Output {
        self.get(name).expect("a line of that name")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Line;
    use crate::line::rules::Rules;
    use crate::settings::Settings;
    use crate::state::context::Context;
    use crate::state::past::Past;
    use ropeline_ids::{Clock, Edition, Epoch, Wall};

    /// A view that is recognised by its edition.
    fn view(edition: u32) -> Arc<LineView> {
        let past = Arc::new(Past::new(Epoch(1)));
        let settings = Arc::new(Settings::default());
        let line = Line::new(&settings, &past, Clock(0));
        let context = Context::new((Clock(0), Wall(0)), false, past);
        let rules = Rules {
            settings: &settings,
            heals_until: Clock(0),
            keeps_calls: false,
        };
        Arc::new(LineView::new(&line, Edition(edition), &settings, &rules, &context))
    }

    fn name(i: u32) -> LineName {
        LineName::new(&format!("{i:05}")).unwrap()
    }

    fn filled(names: impl Iterator<Item = u32>) -> Lines {
        let mut lines = Lines::default();
        for i in names {
            lines.put(&name(i), view(i));
        }
        lines
    }

    fn editions<'a>(lines: impl Iterator<Item = (&'a LineName, &'a Arc<LineView>)>) -> Vec<u32> {
        lines.map(|(_, view)| view.edition.0).collect()
    }

    #[test]
    fn lines_are_kept_in_order_whatever_order_they_come_in() {
        let lines = filled((0..1_000).map(|i| i * 617 % 1_000));
        assert_eq!(editions(lines.iter()), (0..1_000).collect::<Vec<_>>());
        assert_eq!((lines.len(), lines.is_empty()), (1_000, false));
        assert!((0..1_000).all(|i| lines[&name(i)].edition.0 == i));
        assert!(lines.get(&name(1_000)).is_none());
        assert!(lines.leaves.iter().all(|leaf| (1..=LEAF).contains(&leaf.len())));
    }

    #[test]
    fn a_line_put_again_is_replaced_and_a_removed_one_gone() {
        let mut lines = filled(0..200);
        lines.put(&name(7), view(7_000));
        for i in (0..200).filter(|i| *i != 7) {
            lines.remove(&name(i));
            lines.remove(&name(i));
        }
        assert_eq!(
            (editions(lines.iter()), lines.len(), lines.leaves.len()),
            (vec![7_000], 1, 1)
        );
        lines.remove(&name(7));
        assert!(lines.is_empty() && lines.get(&name(7)).is_none());
    }

    #[test]
    fn a_page_goes_on_behind_a_name_whether_or_not_it_is_there() {
        let lines = filled((0..200).filter(|i| i % 2 == 0));
        let from = |start: Bound<&LineName>| editions(lines.iter_from(start).take(2));
        assert_eq!(from(Bound::Unbounded), [0, 2]);
        assert_eq!(from(Bound::Included(&name(100))), [100, 102]);
        assert_eq!(from(Bound::Excluded(&name(100))), [102, 104]);
        assert_eq!(from(Bound::Excluded(&name(101))), [102, 104]);
        assert!(from(Bound::Excluded(&name(198))).is_empty());
    }

    #[test]
    fn an_update_leaves_other_leaves_shared() {
        let mut lines = filled(0..1_000);
        let seen = lines.clone();
        lines.put(&name(500), view(1));
        let copied = lines
            .leaves
            .iter()
            .zip(&seen.leaves)
            .filter(|(a, b)| !Arc::ptr_eq(a, b))
            .count();
        assert_eq!((copied, seen[&name(500)].edition.0), (1, 500));
        lines.put(&name(2_000), view(2));
        let changed: Vec<_> = lines
            .changed_since(&seen)
            .map(|(name, view, was)| (name.clone(), view.edition.0, was.map(|was| was.edition.0)))
            .collect();
        assert_eq!(changed, [(name(500), 1, Some(500)), (name(2_000), 2, None)]);
        assert_eq!(lines.changed_since(&lines).count(), 0);
    }
}
