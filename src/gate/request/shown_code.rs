//! The code that a request carries.

use http::HeaderName;
use http::request::Parts;

use super::cookies::Own;
use crate::gate::state::rules::Rules;

/// The query parameter of a link.
pub const PARAMETER: &str = "ropeline_code";
/// Apps carry their code in this instead.
pub const HEADER: HeaderName = HeaderName::from_static("ropeline-code");

/// The code that a request carries: an app's field, or the cookie that a link was exchanged for.
#[derive(Clone)]
pub struct ShownCode {
    /// The code, and the mark of the visitor who shows it.
    pub text: String,
    /// It may take the place away that the visitor has: an app asks for that, a person presses a button.
    pub confirmed: bool,
}

impl ShownCode {
    pub fn of(rules: &Rules, cookie: &str, head: &Parts, own: &Own<'_>) -> Option<Self> {
        // PERF: rooms without codes look for none.
        if !rules.takes_codes() {
            return None;
        }
        let field = head.headers.get(HEADER).and_then(|value| value.to_str().ok());
        if let Some(text) = field {
            let text = text.to_owned();
            return Some(Self { text, confirmed: true });
        }
        let kept = own.values(cookie).next()?;
        let text = kept.strip_suffix(CONFIRMED);
        Some(Self {
            text: text.unwrap_or(kept).to_owned(),
            confirmed: text.is_some(),
        })
    }
}

/// A code, and the mark of the visitor who shows it.
pub fn parted(text: &str) -> (&str, Option<&str>) {
    match text.split_once('.') {
        Some((code, mark)) => (code, Some(mark)),
        None => (text, None),
    }
}

/// Ends the cookie of a code that may take a place away. No mark holds a dot.
pub const CONFIRMED: &str = ".confirmed";
