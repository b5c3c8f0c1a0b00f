//! How many elements of an SVG a browser draws, with each one counted as often as it is repeated.
//!
//! An element is drawn again at each reference to it, and a referenced element may have references itself: nine levels of ten are
//! a thousand million. References in attributes count. One in a style sheet is not followed.

use std::collections::HashMap;

use roxmltree::{Document, Node};

/// Most elements that a logo draws.
const MAX_DRAWN: u64 = 10_000;

/// Most references from one to the next; a drawing program makes three or four.
const MAX_DEPTH: usize = 16;

/// Refuses a picture that draws more elements than a logo needs, or that refers to itself in a circle.
pub(super) fn refuse_many(document: &Document<'_>) -> Result<(), String> {
    let mut named: HashMap<&str, Vec<Node<'_, '_>>> = HashMap::new();
    for node in document.descendants().filter(Node::is_element) {
        if let Some(id) = node.attribute("id") {
            named.entry(id).or_default().push(node);
        }
    }
    let mut counts = Counts {
        named,
        known: HashMap::new(),
        depth: 0,
    };
    match counts.below(document.root_element())? {
        drawn if drawn > MAX_DRAWN => Err(format!("draws more than {MAX_DRAWN} elements by its references")),
        _ => Ok(()),
    }
}

struct Counts<'a> {
    named: HashMap<&'a str, Vec<Node<'a, 'a>>>,
    /// What a reference to an id draws; none while it is being counted.
    known: HashMap<String, Option<u64>>,
    depth: usize,
}

impl Counts<'_> {
    /// An element and everything in it.
    fn below(&mut self, root: Node<'_, '_>) -> Result<u64, String> {
        let mut drawn: u64 = 0;
        for node in root.descendants().filter(Node::is_element) {
            drawn = drawn.saturating_add(1);
            for attribute in node.attributes() {
                for id in references(attribute.name(), attribute.value()) {
                    drawn = drawn.saturating_add(self.of(id)?);
                }
            }
        }
        Ok(drawn)
    }

    /// The elements with an id, and everything in them.
    fn of(&mut self, id: &str) -> Result<u64, String> {
        match self.known.get(id) {
            Some(Some(drawn)) => return Ok(*drawn),
            Some(None) => return Err(format!("refers to #{id:.30} within #{id:.30}")),
            None => {}
        }
        if self.depth == MAX_DEPTH {
            return Err(format!("has more than {MAX_DEPTH} references from one to the next"));
        }
        self.depth += 1;
        self.known.insert(id.to_owned(), None);
        let mut drawn: u64 = 0;
        for node in self.named.get(id).cloned().unwrap_or_default() {
            drawn = drawn.saturating_add(self.below(node)?);
        }
        self.known.insert(id.to_owned(), Some(drawn));
        self.depth -= 1;
        Ok(drawn)
    }
}

/// The ids that an attribute refers to, as `href` or as `url(#…)`.
fn references<'v>(name: &str, value: &'v str) -> Vec<&'v str> {
    if name.eq_ignore_ascii_case("href") {
        return value.trim().strip_prefix('#').into_iter().collect();
    }
    let lower = value.to_ascii_lowercase();
    let targets = lower
        .match_indices("url(")
        .map(|(at, open)| value[at + open.len()..].trim_start_matches([' ', '\t', '\n', '\r', '"', '\'']));
    targets
        .filter_map(|target| {
            target
                .strip_prefix('#')?
                .split([')', '"', '\'', ' ', '\t', '\n', '\r'])
                .next()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn judged(content: &str) -> Result<(), String> {
        let file = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">{content}</svg>"
        );
        refuse_many(&Document::parse(&file).unwrap())
    }

    /// Groups of ten references, each to the group before, down to a rectangle.
    fn levels(most: u32, reference: impl Fn(u32) -> String) -> String {
        let group = |level: u32| format!("<g id=\"l{}\">{}</g>", level + 1, reference(level).repeat(10));
        format!("<rect id=\"l0\"/>{}", (0..most).map(group).collect::<String>())
    }

    #[test]
    fn references_of_references_are_counted_with_all_that_they_repeat() {
        for reference in [
            "<use href=\"#l@\"/>",
            "<use xlink:href=\" #l@\"/>",
            "<rect mask=\"url(#l@)\"/>",
            "<rect style=\"fill:red;clip-path:URL( '#l@' )\"/>",
        ] {
            let of = |level: u32| reference.replace('@', &level.to_string());
            assert_eq!(judged(&levels(2, of)), Ok(()), "{reference}");
            let found = judged(&levels(9, of)).expect_err(reference);
            assert!(found.contains("more than 10000 elements"), "{found}");
        }
    }

    #[test]
    fn a_circle_of_references_is_refused() {
        for circle in [
            "<g id=\"a\"><use href=\"#a\"/></g>",
            "<g id=\"a\"><use href=\"#b\"/></g><g id=\"b\"><rect mask=\"url(#a)\"/></g>",
        ] {
            assert!(judged(circle).unwrap_err().contains(" within #"), "{circle}");
        }
        assert_eq!(judged("<use href=\"#nothing\"/>"), Ok(()));
    }

    #[test]
    fn a_long_chain_of_references_costs_no_stack() {
        let mut chain = String::new();
        for n in 0..900 {
            let _ = write!(chain, "<g id=\"{n}\" mask=\"url(#{})\"/>", n + 1);
        }
        let found = judged(&chain).unwrap_err();
        assert!(found.contains("more than 16 references"), "{found}");
    }
}
