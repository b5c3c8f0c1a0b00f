//! The page of the line in pieces: what minijinja made of it once, cut where a visitor's own things stand, and put together for the
//! next from the pieces.
//!
//! Rendering is half of what a join costs. Which pieces are a visitor's is told by all that the page says besides the visitor's own, so
//! that nothing need be known here of what that is: where the room says something else, the pieces are others. They are proved
//! when they are made, by the page that was rendered whole.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;

use super::content::{Content, MARKS, Own};

/// Pages of so many kinds are kept for a room, of some 14 KB each; then it begins anew.
const MOST: usize = 16;

/// The pieces of a room's pages.
#[derive(Default, Debug)]
pub(super) struct Pieces {
    kept: ArcSwap<HashMap<u64, Arc<Cut>>>,
    hasher: RandomState,
}

/// A page without a visitor's own things.
#[derive(Debug)]
struct Cut {
    /// What stands before each of them, and which it is.
    before: Vec<(String, usize)>,
    rest: String,
}

impl Pieces {
    /// The page that says `content`, which can be had `again`. Rendered twice where none like it was; later not at all.
    pub fn page<'a, E>(
        &self,
        mut content: Content<'a>,
        again: impl Fn() -> Content<'a>,
        render: impl Fn(&Content<'a>) -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let own = content.take_own();
        let key = self.hasher.hash_one(&content);
        if let Some(cut) = self.kept.load().get(&key) {
            return Ok(cut.page(&own));
        }
        let page = render(&again())?;
        let cut = Cut::of(&String::from_utf8_lossy(&render(&content)?));
        if cut.page(&own) == page {
            self.keep(key, cut);
        }
        Ok(page)
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
        while let Some(at) = rest.find(MARKS) {
            let (piece, behind) = rest.split_at(at);
            let mut behind = behind.chars();
            let mark = behind.next();
            let which = MARKS.iter().position(|own| Some(*own) == mark);
            before.push((piece.to_owned(), which.unwrap_or(MARKS.len())));
            rest = behind.as_str();
        }
        Self {
            before,
            rest: rest.to_owned(),
        }
    }

    fn page(&self, own: &Own) -> Bytes {
        let own = |which: &usize| own.0.get(*which).map_or("", String::as_str);
        let length = self.before.iter().map(|(piece, which)| piece.len() + own(which).len());
        let mut page = String::with_capacity(length.sum::<usize>() + self.rest.len());
        for (piece, which) in &self.before {
            page.push_str(piece);
            page.push_str(own(which));
        }
        page.push_str(&self.rest);
        Bytes::from(page)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Says `title` and `lead`, of which the lead is the same for everybody.
    fn page(pieces: &Pieces, title: &str, lang: &'static str) -> (String, u32) {
        let say = || {
            let mut content = Content::default();
            content.title = title.to_owned();
            content.lang = lang;
            content
        };
        let rendered = Cell::new(0);
        let render = |content: &Content<'_>| {
            rendered.set(rendered.get() + 1);
            let title = content.title.replace('&', "&amp;");
            Ok::<_, ()>(Bytes::from(format!("{}: {title}, {title}!", content.lang)))
        };
        let page = pieces.page(say(), say, render).unwrap();
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
            assert!(pieces.kept.load().len() <= MOST);
        }
        assert_eq!(page(&pieces, "b", names[39]).1, 0);
    }
}
