//! The text that the pages of many visitors begin with: rendered once, and compressed once.
//!
//! Rendering is half of the cost of a join. A page of a line consists of facts that many visitors share, and behind them of one
//! visitor's own ([`crate::pages::script::end`]), which the page's script shows. So where the shared facts are the same, the
//! beginning is.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use bytes::Bytes;

use crate::pages::content::BLANK;
use crate::pages::packed::{Coding, Codings, Packed, worker};

/// Beginnings of this many kinds are kept for a room: six in each of 27 languages, and some more. Each takes some 25 KB with both
/// codings, all of them at most 5 MB. Then the room begins anew.
const MOST: usize = 192;

/// The beginnings of a room's pages.
#[derive(Default, Debug)]
pub struct Beginnings {
    kept: ArcSwap<HashMap<u64, Arc<Beginning>>>,
    hasher: RandomState,
}

#[derive(Debug)]
pub struct Beginning {
    text: String,
    packed: OnceLock<Option<Packed>>,
    /// The worker has it, or is to have it.
    taken: AtomicBool,
}

impl Beginnings {
    /// The page of the shared facts `alike` that ends with `end`; the beginning is rendered for new shared facts only.
    pub fn page<E>(
        &self,
        alike: &impl Hash,
        (codings, end): (Codings, &str),
        render: impl FnOnce() -> Result<String, E>,
    ) -> Result<(Bytes, Coding), E> {
        let key = self.hasher.hash_one(alike);
        if let Some(beginning) = self.kept.load().get(&key) {
            beginning.compress();
            return Ok(beginning.page(codings, end));
        }
        let beginning = Arc::new(Beginning::of(render()?));
        self.keep(key, &beginning);
        Ok(beginning.page(codings, end))
    }

    /// How many are kept.
    #[cfg(test)]
    pub fn kinds(&self) -> usize {
        self.kept.load().len()
    }

    /// Where two cores keep something at once, one of them does it in vain, and again for the next visitor.
    fn keep(&self, key: u64, beginning: &Arc<Beginning>) {
        let mut kept = HashMap::clone(&self.kept.load());
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, Arc::clone(beginning));
        self.kept.store(Arc::new(kept));
        beginning.compress();
    }
}

impl Beginning {
    fn of(rendered: String) -> Self {
        let text = match rendered.rsplit_once(BLANK) {
            Some((text, _)) => text.replace(BLANK, ""),
            None => rendered,
        };
        Self {
            text,
            packed: OnceLock::new(),
            taken: AtomicBool::new(false),
        }
    }

    /// Has it compressed once. Where too much waits already, its pages are compressed one by one, and the next one tries again.
    fn compress(self: &Arc<Self>) {
        if self.taken.swap(true, Ordering::Relaxed) {
            return;
        }
        let beginning = Arc::clone(self);
        let taken = worker::run(move || {
            let packed = beginning.packed.get_or_init(|| Packed::new(&beginning.text));
            if packed.is_none() {
                tracing::warn!("a page could not be compressed beforehand: it is sent as gzip only");
            }
        });
        self.taken.store(taken, Ordering::Relaxed);
    }

    /// The page, or the page as it is while the beginning is not compressed yet.
    fn page(&self, codings: Codings, end: &str) -> (Bytes, Coding) {
        let coding = codings.best(true);
        let packed = self.packed.get().and_then(Option::as_ref);
        if let Some(page) = packed.and_then(|packed| packed.page(coding, end)) {
            return (page, coding);
        }
        let page = [self.text.as_str(), end].concat();
        (Bytes::from(page), Coding::Identity)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::pages::packed::tests::read;

    /// Says `lang`, which is the same for everybody, and `end`.
    fn page(beginnings: &Beginnings, lang: &str, end: &str, accepted: &str) -> (String, Coding, u32) {
        let rendered = Cell::new(0);
        let render = || {
            rendered.set(rendered.get() + 1);
            Ok::<_, ()>(format!("{lang}: <b>{BLANK}</b>, {BLANK}!"))
        };
        let (page, coding) = beginnings.page(&lang, (Codings::of(accepted), end), render).unwrap();
        (String::from_utf8(read(coding, &page)).unwrap(), coding, rendered.get())
    }

    /// The same once it is compressed. Other tests may fill the worker's queue, and then the page asks again.
    fn compressed(beginnings: &Beginnings, lang: &str, end: &str, accepted: &str) -> (String, Coding, u32) {
        let ask = |_| {
            worker::settle();
            page(beginnings, lang, end, accepted)
        };
        let mut asked = (0..TRIES).map(ask);
        let found = asked.find(|(_, coding, _)| *coding != Coding::Identity);
        found.expect("the worker takes it")
    }

    const TRIES: u32 = 1_000;

    #[test]
    fn a_beginning_is_rendered_once_and_compressed_for_everybody_else() {
        let beginnings = Beginnings::default();
        let whole = |text: &str, coding, rendered| (text.to_owned(), coding, rendered);
        assert_eq!(
            page(&beginnings, "en", "a", ""),
            whole("en: <b></b>, a", Coding::Identity, 1)
        );
        assert_eq!(
            page(&beginnings, "ko", "a", ""),
            whole("ko: <b></b>, a", Coding::Identity, 1)
        );
        assert_eq!(
            compressed(&beginnings, "en", "b", "br"),
            whole("en: <b></b>, b", Coding::Brotli, 0)
        );
        assert_eq!(
            compressed(&beginnings, "ko", "c", "gzip"),
            whole("ko: <b></b>, c", Coding::Gzip, 0)
        );
        assert_eq!(
            page(&beginnings, "ko", "d", ""),
            whole("ko: <b></b>, d", Coding::Identity, 0)
        );
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let beginnings = Beginnings::default();
        for name in 0..3 * MOST {
            page(&beginnings, &name.to_string(), "a", "");
            assert!(beginnings.kinds() <= MOST);
        }
        assert_eq!(page(&beginnings, &(3 * MOST - 1).to_string(), "b", "").2, 0);
    }
}
