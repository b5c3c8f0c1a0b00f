//! What the shop's answer does to the session of its request.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;

use crate::proxy::SessionWord;
use crate::replica::Note;
use crate::room::{Edition, Visitor};

use super::super::Shared;
use super::super::decide::PassState;
use super::super::method;
use super::super::rules::Ending;
use super::super::seat::{Seat, Worth};
use super::Session;

/// A session that is over, whose pass a request shows that is forwarded by another right.
pub struct Former {
    visitor: Visitor,
    edition: Edition,
}

impl Seat<'_> {
    /// The session of the pass that the request shows, if it is over, and not another account's.
    pub fn former(&self, worth: &Worth) -> Option<Former> {
        let over = worth.pass.as_ref().filter(|shown| shown.state == PassState::Void);
        let pass = &over.filter(|_| !self.is_foreign(worth))?.pass;
        Some(Former {
            visitor: self.visitor(pass.lane, pass.number),
            edition: pass.edition,
        })
    }
}

/// The session of a request whose answer may end it, or say that its visitor has bought.
#[derive(Clone)]
pub struct Endable {
    visitor: Arc<Visitor>,
    edition: Edition,
    /// Bits of the `ends_on` rules that the request meets.
    met: u32,
    /// The request is not forwarded by it.
    was_over: bool,
}

impl Endable {
    pub fn of(session: &Session<'_>, met: u32) -> Self {
        Self {
            visitor: Arc::clone(&session.visitor),
            edition: session.edition,
            met,
            was_over: false,
        }
    }

    /// Of a session that is over: a completion counts, and nothing else is left to be said of it.
    pub fn over(former: Former, met: u32) -> Self {
        Self {
            visitor: Arc::new(former.visitor),
            edition: former.edition,
            met,
            was_over: true,
        }
    }

    /// Whether the answer is waited for though the visitor does not, where a server has the request. Who presses "pay" twice, or
    /// closes the page, breaks off the request, and the shop has sold all the same. In a room that sells nothing by stock, and of what
    /// only reads, only an answer that a rule of `ends_on` or `completes_on` looks at can matter so much.
    pub fn is_detachable(&self, head: &Parts, shared: &Shared) -> bool {
        let is_read = || head.method.is_safe() && !method::is_claimed(head);
        self.met != 0 || (shared.sells(&self.visitor.room) && !is_read())
    }

    pub fn visitor(&self) -> &Arc<Visitor> {
        &self.visitor
    }

    /// It has ended since the request was judged, which may not be sent again by it.
    pub fn is_over(&self, shared: &Shared) -> bool {
        !self.was_over && shared.is_over(&self.visitor, self.edition)
    }

    /// Tells the log that the shop has ended the session, if it has.
    pub fn note(&self, shared: &Shared, status: StatusCode, word: Option<&SessionWord>) {
        let Some(at) = shared.room_named(self.visitor.room.as_str()) else {
            return;
        };
        let rules = &shared.rules[at];
        let (after_ms, edition) = (rules.room.end_grace_ms, self.edition);
        let note = match rules.ends(self.met, status).max(word.and_then(said)) {
            Some(Ending::End) if self.was_over => return,
            Some(Ending::End) => Note::End { after_ms },
            Some(Ending::Complete) => Note::Complete { edition, after_ms },
            None => return,
        };
        shared.replica.insist((*self.visitor).clone(), note);
    }
}

/// The shop's own word, which needs no configured route.
fn said(word: &SessionWord) -> Option<Ending> {
    let word = word.0.as_bytes().trim_ascii();
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
        let says = |word: &'static str| said(&SessionWord(HeaderValue::from_static(word)));
        assert_eq!(
            (says("END"), says(" Complete ")),
            (Some(Ending::End), Some(Ending::Complete))
        );
        assert_eq!((says("ended"), says("")), (None, None));
    }
}
