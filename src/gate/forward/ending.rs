//! What the shop's answer does to the session of its request.

use std::sync::Arc;

use http::{Method, Response};

use crate::proxy::{Body, ForwardError, SessionWord};
use crate::replica::Note;
use crate::room::{Edition, Visitor};

use super::super::Shared;
use super::super::rules::Ending;
use super::Session;

/// The session of a request whose answer may end it.
pub struct Endable {
    visitor: Arc<Visitor>,
    edition: Edition,
    /// Bits of the `ends_on` rules that the request meets.
    met: u32,
}

impl Endable {
    pub fn of(session: &Session<'_>) -> Option<Self> {
        Some(Self {
            visitor: Arc::clone(&session.visitor),
            edition: session.edition,
            met: session.named?,
        })
    }

    /// Whether the answer is waited for though the visitor does not. Who presses "pay" twice, or closes the page, breaks off the
    /// request, and the shop has sold all the same. What only reads is broken off, so that the shop need not go on with it.
    pub fn outlives(&self, method: &Method) -> bool {
        self.met != 0 || !method.is_safe()
    }

    pub fn is_over(&self, shared: &Shared) -> bool {
        shared.is_over(&self.visitor, self.edition)
    }

    fn ending(&self, shared: &Shared, response: &Response<Body>) -> Option<Note> {
        let rules = &shared.rules[shared.room_named(self.visitor.room.as_str())?];
        let (after_ms, edition) = (rules.room.end_grace_ms, self.edition);
        match rules.ends(self.met, response.status()).max(said(response))? {
            Ending::End => Some(Note::End { after_ms }),
            Ending::Complete => Some(Note::Complete { edition, after_ms }),
        }
    }
}

/// Tells the log that the shop has ended the session, if it has.
pub fn note_ending(endable: Option<&Endable>, shared: &Shared, result: &Result<Response<Body>, ForwardError>) {
    if let (Some(endable), Ok(response)) = (endable, result)
        && let Some(note) = endable.ending(shared, response)
    {
        shared.replica.insist((*endable.visitor).clone(), note);
    }
}

/// The shop's own word, which needs no configured route.
fn said(response: &Response<Body>) -> Option<Ending> {
    let word = response.extensions().get::<SessionWord>()?.0.as_bytes().trim_ascii();
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    if is(b"complete") {
        Some(Ending::Complete)
    } else {
        is(b"end").then_some(Ending::End)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_shops_word_ends_a_session_whatever_its_case() {
        let says = |word: &'static str| {
            let mut response = Response::new(Body::empty());
            response
                .extensions_mut()
                .insert(SessionWord(HeaderValue::from_static(word)));
            said(&response)
        };
        assert_eq!(
            (says("END"), says(" Complete ")),
            (Some(Ending::End), Some(Ending::Complete))
        );
        assert_eq!((says("ended"), says("")), (None, None));
        assert_eq!(said(&Response::new(Body::empty())), None);
    }
}
