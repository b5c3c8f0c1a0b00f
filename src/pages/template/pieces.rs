//! The page of the line in pieces: minijinja's output, rendered once, cut at a visitor's own facts, and put together from the
//! pieces for the next visitors.
//!
//! Rendering is half of the cost of a join. A page consists of a visitor's own facts and of facts that many share
//! ([`crate::pages::content::Content::of`]), so where the shared facts are the same, the pieces are. They are checked when
//! they are made, against the page that was rendered whole.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;

use crate::pages::content::{Own, Piece};

/// Pages of this many kinds are kept for a room, of some 16 KB each; then it begins anew.
const MOST: usize = 16;

/// The pieces of a room's pages.
#[derive(Default, Debug)]
pub struct Pieces {
    kept: ArcSwap<HashMap<u64, Arc<Cut>>>,
    hasher: RandomState,
}

/// A page without a visitor's own things.
#[derive(Debug)]
struct Cut {
    /// The text before each of them, and its index.
    before: Vec<(String, usize)>,
    rest: String,
}

impl Pieces {
    /// The page for the shared facts `alike`, and a visitor's `own` facts. Rendered twice for new shared facts; later not at
    /// all.
    pub fn page<'a, E>(
        &self,
        alike: &impl Hash,
        own: &Own<Piece<'a>>,
        render: impl Fn(Own<Piece<'a>>) -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let key = self.hasher.hash_one((alike, own.shape()));
        if let Some(cut) = self.kept.load().get(&key) {
            return Ok(cut.page(own));
        }
        let mut marks = (FIRST_MARK..=LAST_MARK).map(|mark| Piece::Markup(mark.to_string()));
        let marked = render(own.map(|_| marks.next().unwrap_or_default()))?;
        let page = render(own.clone())?;
        let cut = Cut::of(&String::from_utf8_lossy(&marked));
        if cut.page(own) == page {
            self.keep(key, cut);
        }
        Ok(page)
    }

    /// How many pages are kept.
    #[cfg(test)]
    pub fn kinds(&self) -> usize {
        self.kept.load().len()
    }

    /// Where two cores keep something at once one of them does it in vain, and again for the next visitor.
    fn keep(&self, key: u64, cut: Cut) {
        let mut kept = HashMap::clone(&self.kept.load());
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, Arc::new(cut));
        self.kept.store(Arc::new(kept));
    }
}

impl Cut {
    fn of(marked: &str) -> Self {
        let (mut before, mut rest) = (Vec::new(), marked);
        while let Some(at) = rest.find(|c| (FIRST_MARK..=LAST_MARK).contains(&c)) {
            let (piece, behind) = rest.split_at(at);
            let mut behind = behind.chars();
            let mark = behind.next();
            let which = (FIRST_MARK..=LAST_MARK).position(|own| Some(own) == mark);
            before.push((piece.to_owned(), which.unwrap_or(usize::MAX)));
            rest = behind.as_str();
        }
        Self {
            before,
            rest: rest.to_owned(),
        }
    }

    fn page(&self, own: &Own<Piece<'_>>) -> Bytes {
        let mut pieces = Vec::with_capacity(32);
        own.map(|piece| pieces.push(piece));
        let fixed = self.before.iter().map(|(piece, _)| piece.len()).sum::<usize>();
        let mut page = String::with_capacity(fixed + self.rest.len() + OWN_BYTES);
        for (before, which) in &self.before {
            page.push_str(before);
            if let Some(piece) = pieces.get(*which) {
                piece.write(&mut page);
            }
        }
        page.push_str(&self.rest);
        Bytes::from(page)
    }
}

/// The mark of the first of a visitor's own facts, and the end of the range.
const FIRST_MARK: char = '\u{e000}';
const LAST_MARK: char = '\u{e01f}';

/// A visitor's own things rarely take more.
const OWN_BYTES: usize = 2_048;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Says `title` and `lang`, which is the same for everybody.
    fn page(pieces: &Pieces, title: &'static str, lang: &'static str) -> (String, u32) {
        let mut own = Own::default();
        own.title = Piece::of(title);
        let rendered = Cell::new(0);
        let render = |own: Own<Piece<'_>>| {
            rendered.set(rendered.get() + 1);
            let mut title = String::new();
            own.title.write(&mut title);
            Ok::<_, ()>(Bytes::from(format!("{lang}: {title}, {title}!")))
        };
        let page = pieces.page(&lang, &own, render).unwrap();
        (String::from_utf8(page.into()).unwrap(), rendered.get())
    }

    #[test]
    fn a_page_is_rendered_once_and_put_together_for_everybody_else() {
        let pieces = Pieces::default();
        assert_eq!(page(&pieces, "a", "en"), ("en: a, a!".to_owned(), 2));
        assert_eq!(
            page(&pieces, "b & c", "en"),
            ("en: b &amp; c, b &amp; c!".to_owned(), 0)
        );
        assert_eq!(
            page(&pieces, "a", "ko"),
            ("ko: a, a!".to_owned(), 2),
            "it says something else"
        );
        assert_eq!(page(&pieces, "d", "ko"), ("ko: d, d!".to_owned(), 0));
    }

    #[test]
    fn pieces_that_do_not_give_the_page_are_not_kept() {
        let pieces = Pieces::default();
        // Somebody's message has a mark in it.
        for _ in 0..2 {
            assert_eq!(page(&pieces, "a", "\u{e000}"), ("\u{e000}: a, a!".to_owned(), 2));
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let pieces = Pieces::default();
        let names: Vec<&'static str> = (0..40).map(|n| &*format!("lang-{n}").leak()).collect();
        for name in &names {
            page(&pieces, "a", name);
            assert!(pieces.kinds() <= MOST);
        }
        assert_eq!(page(&pieces, "b", names[39]).1, 0);
    }
}
