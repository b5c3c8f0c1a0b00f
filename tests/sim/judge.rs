//! What a gate makes of a visitor's tokens, from its own view alone: `gate::who` and `gate::decide` in a small form, for
//! tickets and passes that need no signature.

use anteroom::replica::Note;
use anteroom::room::{CallId, Clock, Number, PendingId, SLACK_MS, Standing, View};

use super::rooms;

/// A ticket as the visitor carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ticket {
    Numbered(Number),
    Pending(PendingId),
}

/// A pass; its date is the wall's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    pub number: Number,
    pub call: CallId,
    pub expires_at: u64,
}

/// A gate's eyes at one moment.
pub struct Eyes<'a> {
    pub view: &'a View,
    /// The view's clock with what has passed since.
    pub now: Clock,
    /// Wall time in milliseconds.
    pub wall: u64,
    pub cut_off: bool,
}

/// What a ticket is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worth {
    Waiting,
    Called,
    Late,
    Ended,
    Unknown,
}

impl Eyes<'_> {
    /// Whether the pass lets its visitor in, with what the log should learn.
    pub fn pass(&self, pass: &Pass) -> (bool, Option<Note>) {
        match self.standing(pass.number) {
            Standing::Inside(inside) if inside.call == pass.call && self.alive(inside.expires) => {
                let claim = (!inside.carried).then_some(Note::Claim { carried: true });
                (true, claim.or(inside.renewal_due.then_some(Note::Renew)))
            }
            Standing::Called(called) if called.call == pass.call && self.alive(called.deadline) => {
                (true, Some(Note::Claim { carried: true }))
            }
            Standing::Waiting(waiting) if waiting.missed_at.is_none() && pass.expires_at > self.wall => {
                (true, Some(Note::Reopen))
            }
            Standing::Unknown if pass.expires_at > self.wall => (true, Some(Note::Reopen)),
            _ => (false, None),
        }
    }

    pub fn ticket(&self, number: Number) -> (Worth, Option<Note>) {
        match self.standing(number) {
            Standing::Waiting(waiting) => (Worth::Waiting, waiting.mark_due.then_some(Note::Mark)),
            Standing::Called(called) if self.alive(called.deadline) => {
                let claim = (!called.at_join).then_some(Note::Claim { carried: false });
                (Worth::Called, claim)
            }
            Standing::Called(_) => (Worth::Waiting, None),
            Standing::Inside(inside) if !inside.carried && self.alive(inside.expires) => (Worth::Called, None),
            Standing::Inside(_) | Standing::Ended => (Worth::Ended, None),
            Standing::Late => (Worth::Late, None),
            Standing::Unknown => (Worth::Unknown, Some(Note::Mark)),
        }
    }

    /// The pass that a number's standing entitles its ticket to.
    pub fn pass_for(&self, number: Number) -> Option<Pass> {
        let (call, until) = match self.standing(number) {
            Standing::Called(called) => (called.call, called.deadline),
            Standing::Inside(inside) if !inside.carried => (inside.call, inside.expires),
            _ => return None,
        };
        Some(Pass {
            number,
            call,
            expires_at: self.wall + until.since(self.now),
        })
    }

    /// The pass with its session's present date.
    pub fn renewed(&self, pass: &Pass) -> Pass {
        match self.standing(pass.number) {
            Standing::Inside(inside) => Pass {
                expires_at: self.wall + inside.expires.since(self.now),
                ..*pass
            },
            _ => *pass,
        }
    }

    /// Present visitors ahead of one who waits.
    pub fn ahead(&self, number: Number) -> Option<u64> {
        match self.standing(number) {
            Standing::Waiting(waiting) => Some(waiting.ahead),
            _ => None,
        }
    }

    pub fn standing(&self, number: Number) -> Standing {
        self.view.standing(&rooms::visitor(number), self.view.clock)
    }

    fn alive(&self, expires: Clock) -> bool {
        let extension = if self.cut_off { rooms::OUTAGE_EXTENSION_MS } else { 0 };
        self.now <= expires.plus(SLACK_MS + extension)
    }
}
