//! All patterns in one tree by segments, and those of one path by host, so that a request costs the same with one pattern or a
//! thousand.

use std::cmp::Ordering;

use super::by_host::ByHost;
use super::host::HostPattern;
use super::route::{Route, Segment};
use crate::names::letters;

/// How a path is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compare {
    /// Byte by byte: for rules that leave a path outside.
    Exact,
    /// In any case, without accents, any sign equal to any other, and without slash, dots and spaces at an end: for rules
    /// that protect, since some shops read paths so.
    Lenient,
}

#[derive(Clone, Default, Debug)]
struct Node {
    /// Sorted by literal.
    literals: Vec<(Vec<u8>, usize)>,
    variable: Option<usize>,
    exact: ByHost,
    rest: ByHost,
}

/// Patterns, each with a number of the caller's.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    compare: Compare,
}

impl Tree {
    pub(super) fn new(compare: Compare) -> Self {
        Self {
            nodes: vec![Node::default()],
            compare,
        }
    }

    /// `hosts` empty: every host.
    pub(super) fn insert(&mut self, route: &Route, hosts: &[HostPattern], id: usize) {
        let mut at = 0;
        for segment in self.kept(route) {
            at = match segment {
                Segment::Literal(bytes) => self.literal_child(at, &self.key(bytes)),
                Segment::Variable(_) => self.variable_child(at),
            };
        }
        let node = &mut self.nodes[at];
        let list = if route.rest() { &mut node.rest } else { &mut node.exact };
        list.insert(hosts, id);
    }

    /// Calls `hit` with the number of every pattern that matches `path` on `host`, in no particular order; with some more than once.
    pub(super) fn find(&self, host: &str, path: &[u8], hit: &mut impl FnMut(usize)) {
        let body = path.strip_prefix(b"/").unwrap_or(path);
        let body = match self.compare {
            Compare::Exact => body,
            Compare::Lenient => body.strip_suffix(b"/").unwrap_or(body),
        };
        let over = self.compare == Compare::Lenient && body.is_empty();
        self.walk(0, host, (!over).then_some(body), hit);
    }

    fn walk(&self, at: usize, host: &str, left: Option<&[u8]>, hit: &mut impl FnMut(usize)) {
        let node = &self.nodes[at];
        node.rest.find(host).for_each(&mut *hit);
        let Some(left) = left else {
            node.exact.find(host).for_each(hit);
            return;
        };
        let (segment, after) = match left.iter().position(|b| *b == b'/') {
            Some(end) => (&left[..end], Some(&left[end + 1..])),
            None => (left, None),
        };
        let alike = self.is_beyond(segment).then(|| letters::alike(segment));
        let wanted = alike.as_deref().unwrap_or(segment);
        if let Ok(found) = node.literals.binary_search_by(|(own, _)| self.order(own, wanted)) {
            self.walk(node.literals[found].1, host, after, hit);
        }
        if let (Some(child), false) = (node.variable, segment.is_empty()) {
            self.walk(child, host, after, hit);
        }
    }

    /// Leniently, the empty segment behind a slash at the end is none.
    fn kept<'r>(&self, route: &'r Route) -> &'r [Segment] {
        let segments = route.segments();
        match segments.split_last() {
            Some((Segment::Literal(last), front)) if self.compare == Compare::Lenient && last.is_empty() => front,
            _ => segments,
        }
    }

    fn key(&self, literal: &[u8]) -> Vec<u8> {
        match self.compare {
            Compare::Exact => literal.to_vec(),
            Compare::Lenient => folded(trimmed(&letters::alike(literal))).collect(),
        }
    }

    fn order(&self, own: &[u8], segment: &[u8]) -> Ordering {
        match self.compare {
            Compare::Exact => own.cmp(segment),
            Compare::Lenient => own.iter().copied().cmp(folded(trimmed(segment))),
        }
    }

    /// PERF: an ASCII segment is compared unchanged.
    fn is_beyond(&self, segment: &[u8]) -> bool {
        self.compare == Compare::Lenient && !segment.is_ascii()
    }

    fn literal_child(&mut self, at: usize, key: &[u8]) -> usize {
        match self.nodes[at]
            .literals
            .binary_search_by(|(own, _)| own.as_slice().cmp(key))
        {
            Ok(found) => self.nodes[at].literals[found].1,
            Err(gap) => {
                let child = self.add_node();
                self.nodes[at].literals.insert(gap, (key.to_vec(), child));
                child
            }
        }
    }

    fn variable_child(&mut self, at: usize) -> usize {
        if let Some(child) = self.nodes[at].variable {
            return child;
        }
        let child = self.add_node();
        self.nodes[at].variable = Some(child);
        child
    }

    fn add_node(&mut self) -> usize {
        self.nodes.push(Node::default());
        self.nodes.len() - 1
    }
}

/// As case makes no difference, nor which sign stands there: `CherryPy` and `TurboGears` take `/check-out` and `/check.out` for `/check_out`,
/// and a space comes as `+` in a form.
fn folded(segment: &[u8]) -> impl Iterator<Item = u8> {
    segment.iter().map(|byte| match byte {
        b' ' => b'_',
        byte if byte.is_ascii_punctuation() => b'_',
        byte => byte.to_ascii_lowercase(),
    })
}

/// Without dots and spaces at the end, which Windows file systems drop, and the sign for a space; `.` and `..` stay
/// unchanged.
pub(super) fn trimmed(segment: &[u8]) -> &[u8] {
    let end = segment
        .iter()
        .rposition(|b| !matches!(b, b'.' | b' ' | b'+'))
        .map_or(0, |last| last + 1);
    if end == 0 { segment } else { &segment[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(compare: Compare, patterns: &[&str], path: &str) -> Vec<usize> {
        let mut tree = Tree::new(compare);
        for (id, pattern) in patterns.iter().enumerate() {
            tree.insert(&Route::parse(pattern).expect("pattern"), &[], id);
        }
        let mut found = Vec::new();
        tree.find("shop.example", path.as_bytes(), &mut |id| found.push(id));
        found.sort_unstable();
        found
    }

    #[test]
    fn every_pattern_that_matches_is_found() {
        let patterns = ["/*", "/shop/*", "/shop", "/shop/{id}", "/shop/cart", "/"];
        assert_eq!(hits(Compare::Exact, &patterns, "/"), [0, 5]);
        assert_eq!(hits(Compare::Exact, &patterns, "/shop"), [0, 1, 2]);
        assert_eq!(hits(Compare::Exact, &patterns, "/shop/"), [0, 1]);
        assert_eq!(hits(Compare::Exact, &patterns, "/shop/cart"), [0, 1, 3, 4]);
        assert_eq!(hits(Compare::Exact, &patterns, "/shop/x/y"), [0, 1]);
        assert_eq!(hits(Compare::Exact, &patterns, "/shopping"), [0]);
    }

    #[test]
    fn leniently_a_sign_is_any_sign() {
        let patterns = ["/check_out", "/check-out/{id}"];
        for path in [
            "/check_out",
            "/check-out",
            "/check.out",
            "/Check+out",
            "/check!out",
            "/check out",
        ] {
            assert_eq!(hits(Compare::Lenient, &patterns, path), [0], "{path}");
            assert_eq!(hits(Compare::Lenient, &patterns, &format!("{path}/7")), [1], "{path}");
        }
        for path in ["/checkout", "/check--out", "/check", "/check/out"] {
            assert!(hits(Compare::Lenient, &patterns, path).is_empty(), "{path}");
        }
        assert!(hits(Compare::Exact, &patterns, "/check-out").is_empty());
    }

    #[test]
    fn leniently_case_and_ends_do_not_matter() {
        let patterns = ["/Shop/cart", "/shop/{id}", "/"];
        for path in [
            "/shop/cart",
            "/SHOP/Cart/",
            "/shop/cart.",
            "/shop./cart%20".replace("%20", " ").as_str(),
            "/shop/cart+",
            "/ſhop/Ⅽart".replace('Ⅽ', "c").as_str(),
            "/shóp/cart\u{3000}",
        ] {
            assert_eq!(hits(Compare::Lenient, &patterns, path), [0, 1], "{path}");
        }
        assert_eq!(hits(Compare::Lenient, &patterns, "/"), [2]);
        assert_eq!(hits(Compare::Exact, &patterns, "/shop/cart/"), Vec::<usize>::new());
    }
}
