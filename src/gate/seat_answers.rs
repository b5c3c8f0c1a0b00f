//! What a seat gives: words to the log, cookies to the visitor, and the refusals that need nothing else.

use http::{HeaderValue, StatusCode};

use crate::metrics::Outcome;
use crate::replica::Note;
use crate::room::{Mode, Visitor};
use crate::token::{Pass, Ticket};
use crate::waiting::PageKind;

use super::answers::{Answer, Refusal};
use super::line_page::jitter;
use super::seat::{Seat, Worth};
use super::visit::Visit;

impl Seat<'_> {
    /// Tells the log what was seen, if there is anything to tell.
    pub fn note(&self, note: Option<Note>, visitor: Option<Visitor>) {
        if let (Some(note), Some(visitor)) = (note, visitor) {
            self.shared.replica.note(visitor, note);
        }
    }

    /// Asks the room to give a lost place back to the ticket that proves it.
    pub async fn give_back(&self) {
        let Some(visitor) = self.ticket_visitor() else { return };
        self.shared.replica.foreign_era(visitor.number.era);
        // What cannot be recorded now shows in the standing, which is read again.
        let _ = self.shared.replica.record(visitor, Note::Mark).await;
    }

    #[must_use]
    pub fn session_ms(&self) -> u64 {
        self.rules.room.settings.session_ms
    }

    #[must_use]
    pub fn set_ticket(&self, ticket: &Ticket) -> HeaderValue {
        self.policy
            .set_ticket(&self.names.ticket, self.shared.keyring.sign_ticket(ticket))
    }

    #[must_use]
    pub fn set_pass(&self, pass: &Pass) -> HeaderValue {
        self.policy
            .set_pass(&self.names.pass, self.shared.keyring.sign_pass(pass))
    }

    #[must_use]
    pub fn clear_ticket(&self) -> HeaderValue {
        self.policy.clear(&self.names.ticket)
    }

    #[must_use]
    pub fn clear_pass(&self) -> HeaderValue {
        self.policy.clear(&self.names.pass)
    }

    /// The page that says the room is closed.
    #[must_use]
    pub fn closed(&self, visit: &Visit) -> Answer {
        let view = self.shared.replica.load();
        let room_view = view.rooms.get(&self.rules.room.name);
        let refusal = Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "closed",
            PageKind::Closed,
            Outcome::Closed,
        );
        let message = room_view.and_then(|room| self.rules.message(room));
        let retry_after_secs = Some(CLOSED_RETRY_SECS);
        let room = Some(self.rules.room.name.as_str());
        Refusal {
            retry_after_secs,
            room,
            message,
            ..refusal
        }
        .answer(&self.rules.pages, visit)
    }

    /// 503 for what waits for nobody: when to try again, and why.
    #[must_use]
    pub fn not_now(&self, visit: &Visit, worth: &Worth) -> Answer {
        let word = match worth.mode {
            Mode::Closed => "closed",
            _ => "waiting",
        };
        let refusal = Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            word,
            PageKind::Unavailable,
            Outcome::TurnedAway,
        );
        let retry = RETRY_SECS + u32::from(jitter() % RETRY_SPREAD_SECS);
        let room = Some(self.rules.room.name.as_str());
        Refusal {
            retry_after_secs: Some(retry),
            room,
            ..refusal
        }
        .answer(&self.rules.pages, visit)
    }
}

/// When a program that was turned away should ask again, spread so that they do not all come at once.
const RETRY_SECS: u32 = 10;
const RETRY_SPREAD_SECS: u16 = 10;

/// A closed room rarely opens within the minute.
const CLOSED_RETRY_SECS: u32 = 60;
