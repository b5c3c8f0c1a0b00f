//! What of a page is one visitor's own, and may be taken out of what others are told too.

use std::hash::{Hash, Hasher};

use minijinja::value::Value;
use serde::Serialize;

use super::Content;
use crate::waiting::text::escape;

/// The words of a page's language, which another field names.
#[derive(Serialize, Default)]
#[serde(transparent)]
pub(in crate::waiting) struct Words(pub Value);

impl Hash for Words {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// What stands where the first, the second thing of a visitor's own was.
pub(in crate::waiting) const MARKS: [char; 16] = [
    '\u{e000}', '\u{e001}', '\u{e002}', '\u{e003}', '\u{e004}', '\u{e005}', '\u{e006}', '\u{e007}', '\u{e008}',
    '\u{e009}', '\u{e00a}', '\u{e00b}', '\u{e00c}', '\u{e00d}', '\u{e00e}', '\u{e00f}',
];

/// A visitor's own things as they stand in the markup.
#[derive(Default)]
pub(in crate::waiting) struct Own(pub Vec<String>);

impl Own {
    /// Keeps one, and gives the mark that stands for it.
    fn take(&mut self, markup: String) -> String {
        self.0.push(markup);
        MARKS[self.0.len() - 1].to_string()
    }
}

impl Content<'_> {
    /// Takes out what is the visitor's own. What is left is the same for everybody to whom the page says the same: which of these
    /// things there are, too, and whether a position is long.
    pub(in crate::waiting) fn take_own(&mut self) -> Own {
        let mut own = Own::default();
        let texts = [&mut self.title, &mut self.check_url, &mut self.reload_url];
        let perhaps = [
            &mut self.position_text,
            &mut self.ahead_text,
            &mut self.estimate_text,
            &mut self.reload_text,
            &mut self.reload_stop_url,
            &mut self.reload_start_url,
        ];
        for text in texts.into_iter().chain(perhaps.into_iter().flatten()) {
            *text = own.take(escape(text));
        }
        for markup in [&mut self.updated, &mut self.data].into_iter().flatten() {
            let taken = std::mem::take(&mut markup.0);
            markup.0 = own.take(taken);
        }
        for number in [&mut self.progress, &mut self.reload_secs].into_iter().flatten() {
            *number = Value::from_safe_string(own.take(number.to_string()));
        }
        for text in [
            Some(&mut self.request_id),
            Some(&mut self.here),
            self.reference.as_mut(),
        ] {
            let Some(text) = text else { continue };
            own.take(escape(text));
            *text = STANDING[own.0.len() - 1];
        }
        self.position = self
            .position
            .map(|position| if position > SHORT { SHORT + 1 } else { 1 });
        own
    }
}

/// [`MARKS`] as texts.
const STANDING: [&str; MARKS.len()] = [
    "\u{e000}", "\u{e001}", "\u{e002}", "\u{e003}", "\u{e004}", "\u{e005}", "\u{e006}", "\u{e007}", "\u{e008}",
    "\u{e009}", "\u{e00a}", "\u{e00b}", "\u{e00c}", "\u{e00d}", "\u{e00e}", "\u{e00f}",
];
/// The largest position that the page shows in large digits.
const SHORT: u64 = 99_999;
