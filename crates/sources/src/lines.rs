//! Lines of code: those that hold more than blanks and comments, in items that are not for tests.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Item};

use crate::tree::{Tree, attributes, is_for_tests, lines_of};

/// Lines of code of a crate.
///
/// # Panics
/// Never: each text has been parsed.
#[must_use]
pub fn of(tree: &Tree) -> usize {
    tree.files.iter().map(|file| of_text(&file.text, &file.syntax)).sum()
}

fn of_text(text: &str, syntax: &syn::File) -> usize {
    let tokens: TokenStream = text.parse().expect("a parsed file consists of tokens");
    let mut lines = BTreeSet::new();
    add(tokens, &mut lines);
    let mut tests = Tests(BTreeSet::new());
    tests.visit_file(syntax);
    lines.difference(&tests.0).count()
}

/// The lines on which tokens stand that are no comments.
fn add(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if is_sign(&token, '#') {
            let mut rest = tokens.clone();
            if rest.peek().is_some_and(|token| is_sign(token, '!')) {
                rest.next();
            }
            if rest.next().is_some_and(|token| is_doc(&token)) {
                tokens = rest;
                continue;
            }
        }
        match token {
            TokenTree::Group(group) => {
                lines.insert(group.span_open().start().line);
                lines.insert(group.span_close().end().line);
                add(group.stream(), lines);
            }
            other => lines.extend(other.span().start().line..=other.span().end().line),
        }
    }
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// `[doc = "..."]`, as which a comment on an item is read.
fn is_doc(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(word)) if word == "doc")
}

/// The lines of items for tests.
struct Tests(BTreeSet<usize>);

impl Tests {
    fn note(&mut self, item: &impl syn::spanned::Spanned, attributes: &[Attribute]) -> bool {
        let is_test = is_for_tests(attributes);
        if is_test {
            self.0.extend(lines_of(item));
        }
        is_test
    }
}

impl<'ast> Visit<'ast> for Tests {
    fn visit_item(&mut self, item: &'ast Item) {
        if !self.note(item, attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !self.note(item, &item.attrs) {
            syn::visit::visit_impl_item_fn(self, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_tests_are_no_code() {
        let text = "//! Of the module.\n\n/// Of a type.\n#[derive(Debug)]\npub struct Type {\n    // Why.\n    part: u8, /* so */\n}\n\n\
                    const TEXT: &str = \"\n// no comment\n\";\n\n#[cfg(test)]\nmod tests {\n    fn one() {}\n}\n\nimpl Type {\n    \
                    #[cfg(test)]\n    fn two() {}\n}\n";
        let syntax = syn::parse_file(text).expect("Rust");
        assert_eq!(of_text(text, &syntax), 9);
    }
}
