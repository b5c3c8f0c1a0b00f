//! Files that import each other in circles: the strongly connected sets of a graph (Tarjan, "Depth-first search and linear graph
//! algorithms", 1972).

use std::collections::{BTreeMap, BTreeSet};

/// For each node those it points to.
pub type Arrows = BTreeMap<usize, BTreeSet<usize>>;

/// Sets of more than one node of which each reaches each, the largest first.
#[must_use]
pub fn of(arrows: &Arrows) -> Vec<Vec<usize>> {
    let mut search = Search {
        arrows,
        seen: BTreeMap::new(),
        open: Vec::new(),
        found: Vec::new(),
    };
    for node in arrows.keys() {
        if !search.seen.contains_key(node) {
            search.visit(*node);
        }
    }
    search
        .found
        .sort_by_key(|set| (std::cmp::Reverse(set.len()), set.first().copied()));
    search.found
}

struct Search<'a> {
    arrows: &'a Arrows,
    /// When a node was met.
    seen: BTreeMap<usize, usize>,
    /// Nodes whose set is not complete.
    open: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// Returns the earliest open node that `node` reaches.
    fn visit(&mut self, node: usize) -> usize {
        let met = self.seen.len();
        self.seen.insert(node, met);
        self.open.push(node);
        let mut earliest = met;
        for next in self.arrows.get(&node).into_iter().flatten() {
            let reaches = match self.seen.get(next) {
                None => self.visit(*next),
                Some(met) if self.open.contains(next) => *met,
                Some(_) => continue,
            };
            earliest = earliest.min(reaches);
        }
        if earliest == met {
            let at = self.open.iter().position(|open| *open == node).unwrap_or_default();
            let mut set = self.open.split_off(at);
            if set.len() > 1 {
                set.sort_unstable();
                self.found.push(set);
            }
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_reach_each_other_are_found() {
        let arrows = |list: &[(usize, usize)]| {
            let mut arrows = Arrows::new();
            for (from, to) in list {
                arrows.entry(*from).or_default().insert(*to);
            }
            arrows
        };
        assert!(of(&arrows(&[(1, 2), (2, 3), (1, 3)])).is_empty());
        assert_eq!(of(&arrows(&[(1, 2), (2, 3), (3, 1), (3, 4)])), [vec![1, 2, 3]]);
        assert_eq!(
            of(&arrows(&[(1, 2), (2, 1), (2, 3), (3, 4), (4, 5), (5, 3)])),
            [vec![3, 4, 5], vec![1, 2]]
        );
    }
}
