//! What a seat gives: words to the log, cookies to the visitor, and the refusals that need nothing else.

use http::header::REFRESH;
use http::{HeaderValue, StatusCode};

use crate::metrics::Outcome;
use crate::replica::{Note, Unrecorded};
use crate::room::{Mode, Stage, Visitor, pace};
use crate::token::{Pass, Ticket};
use crate::waiting::{PageKind, percent_encode};

use super::answers::{Answer, Refusal};
use super::decide::TicketState;
use super::kind::Kind;
use super::line_page::{self, CLOSED_RETRY_SECS, jitter};
use super::pages::Pages;
use super::seat::{Seat, Worth};
use super::visit::Visit;
use super::who::PassWorth;

impl Seat<'_> {
    /// Tells the log what was seen, if there is anything to tell.
    pub fn note(&self, note: Option<Note>, visitor: Option<Visitor>) {
        if let (Some(note), Some(visitor)) = (note, visitor) {
            self.shared.replica.note(visitor, note);
        }
    }

    /// Renews the session of a shown pass if that is due: its request has come, though its body has not.
    pub fn renew(&self, shown: &PassWorth) {
        if shown.note == Some(Note::Renew) {
            self.note(shown.note, Some(self.visitor(shown.pass.lane, shown.pass.number)));
        }
    }

    /// Asks the room to give a lost place back to the ticket that proves it. Only its answer makes the ticket void: while
    /// the log cannot be asked, the visitor keeps it.
    pub async fn give_back(&self, visit: &Visit, worth: Worth) -> Worth {
        let Some(visitor) = self.ticket_visitor().filter(|_| worth.ticket() == TicketState::Unknown) else {
            return worth;
        };
        self.shared.replica.foreign_era(visitor.number.era);
        // Of an era above the rooms' own: it is their log that is behind, and the next one stands above it.
        let ahead = visitor.number.era.0 > self.shared.replica.load().position.incarnation;
        if ahead || self.shared.replica.cut_off().is_some() {
            return worth;
        }
        if let Some(ticket) = self.ticket() {
            self.shared.replica.foreign_edition(&visitor.room, ticket.edition);
        }
        match self.shared.replica.record(visitor, Note::Mark).await {
            Ok(()) | Err(Unrecorded::Refused | Unrecorded::Stale) => {
                self.worth(visit).map_or(worth, Worth::without_unknown)
            }
            Err(Unrecorded::CutOff | Unrecorded::Full) => worth,
        }
    }

    /// Where a button of a page posts to, to come back to `here`.
    #[must_use]
    pub fn own_url(&self, action: &str, here: &str) -> String {
        let (room, to) = (&self.rules.room.name, percent_encode(here));
        let line = Some(self.line.as_str()).filter(|_| !self.line.is_only());
        let line = line.map(|line| format!("&line={}", percent_encode(line)));
        format!("/.ropeline/rooms/{room}/{action}?to={to}{}", line.unwrap_or_default())
    }

    /// A page whose link leads to the same address, and brings the cookies that were held back. That of a plain link goes on by
    /// itself: the gate's own page leads there then, so what comes is of the same origin. A form is never sent again, and
    /// in a frame cookies would be held back from the next request too.
    #[must_use]
    pub fn same_site_link(&self, visit: &Visit) -> Answer {
        let mut answer = same_site_link(&self.rules.pages, visit);
        if visit.kind == Kind::Navigation {
            let secs = HeaderValue::from(GO_ON_SECS);
            answer.response.headers_mut().insert(REFRESH, secs);
        }
        answer
    }

    #[must_use]
    pub fn session_ms(&self) -> u64 {
        self.rules.room.settings.session_ms
    }

    /// The ticket as text: of a virtual visitor one that is a ticket nowhere else.
    #[must_use]
    pub fn sign_ticket(&self, ticket: &Ticket) -> String {
        let keyring = &self.shared.keyring;
        match self.rehearsal {
            None => keyring.sign_ticket(ticket),
            Some(id) => keyring.sign_virtual_ticket(id, ticket),
        }
    }

    /// The pass as text, as [`Seat::sign_ticket`].
    #[must_use]
    pub fn sign_pass(&self, pass: &Pass) -> String {
        let keyring = &self.shared.keyring;
        match self.rehearsal {
            None => keyring.sign_pass(pass),
            Some(id) => keyring.sign_virtual_pass(id, pass),
        }
    }

    #[must_use]
    pub fn set_ticket(&self, ticket: &Ticket) -> HeaderValue {
        self.policy.set_ticket(&self.names.ticket, self.sign_ticket(ticket))
    }

    /// As [`Seat::set_ticket`], for a visitor who is let in at once.
    #[must_use]
    pub fn set_ticket_inside(&self, ticket: &Ticket) -> HeaderValue {
        if self.shared.sells(&self.rules.room.name) {
            // It shows who has won, when that is told.
            return self.set_ticket(ticket);
        }
        self.policy
            .set_ticket_inside(&self.names.ticket, self.sign_ticket(ticket))
    }

    #[must_use]
    pub fn set_pass(&self, pass: &Pass) -> HeaderValue {
        self.policy.set_pass(&self.names.pass, self.sign_pass(pass))
    }

    #[must_use]
    pub fn clear_ticket(&self) -> HeaderValue {
        self.policy.clear(&self.names.ticket)
    }

    #[must_use]
    pub fn clear_pass(&self) -> HeaderValue {
        self.policy.clear(&self.names.pass)
    }

    /// The answer to who is not numbered: the room is closed, or can have no more lines.
    #[must_use]
    pub fn refused(&self, visit: &Visit) -> Answer {
        // Sold while the visitor joined.
        if let Some(worth) = self.worth(visit).filter(|worth| worth.sold_out) {
            return self.sold_out(visit, &worth);
        }
        if self.line.is_only() {
            return self.closed(visit);
        }
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let refusal = Refusal::new(status, "too_many_lines", PageKind::TooManyLines, Outcome::TurnedAway);
        Refusal {
            retry_after_secs: Some(CLOSED_RETRY_SECS),
            ..refusal
        }
        .answer(&self.rules.pages, visit)
    }

    /// The answer to who comes with a pass that is in use from other networks: the visitor there goes on.
    #[must_use]
    pub fn shared_out(&self, visit: &Visit) -> Answer {
        let status = StatusCode::FORBIDDEN;
        Refusal::new(status, "pass_shared", PageKind::PassShared, Outcome::Limited).answer(&self.rules.pages, visit)
    }

    /// Where the room stands before its next sale.
    fn early(&self) -> Option<Stage> {
        let view = self.shared.replica.load();
        view.rooms.get(&self.rules.room.name).and_then(|room| room.early())
    }

    /// The answer of a closed room, or of one that is not open yet; to a person a page that stays, and moves on when it
    /// opens.
    #[must_use]
    pub fn closed(&self, visit: &Visit) -> Answer {
        if visit.kind.is_navigation() {
            return line_page::closed(self, visit);
        }
        let early = self.early();
        let (word, retry_after_secs) = match early {
            Some(stage) => ("early", early_secs(&stage, visit)),
            None => ("closed", CLOSED_RETRY_SECS),
        };
        let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, word, PageKind::Closed, Outcome::Closed);
        Refusal {
            retry_after_secs: Some(retry_after_secs),
            room: Some(self.rules.room.name.as_str()),
            ..refusal
        }
        .answer(&self.rules.pages, visit)
    }

    /// The answer of a line that has sold everything; to a person a page that stays, and moves on if there is more.
    #[must_use]
    pub fn sold_out(&self, visit: &Visit, worth: &Worth) -> Answer {
        if visit.kind.is_navigation() {
            return line_page::sold_out(self, visit, worth);
        }
        self.not_now(visit, worth)
    }

    /// 503 for what waits for nobody: when to try again, and why.
    #[must_use]
    pub fn not_now(&self, visit: &Visit, worth: &Worth) -> Answer {
        let word = match worth.mode {
            _ if worth.early.is_some() => "early",
            _ if worth.sold_out => "sold_out",
            Mode::Closed => "closed",
            _ => "waiting",
        };
        let refusal = Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            word,
            PageKind::Unavailable,
            Outcome::TurnedAway,
        );
        let retry = worth.early.map_or_else(soon, |stage| early_secs(&stage, visit));
        let room = Some(self.rules.room.name.as_str());
        Refusal {
            retry_after_secs: Some(retry),
            room,
            ..refusal
        }
        .answer(&self.rules.pages, visit)
    }

    /// Another site's request that must do nothing here: a page with a link of this site, or 403 for a script.
    #[must_use]
    pub fn cross_site(&self, visit: &Visit) -> Answer {
        if visit.kind.is_navigation() {
            return same_site_link(&self.rules.pages, visit);
        }
        let refusal = Refusal::new(
            StatusCode::FORBIDDEN,
            "cross_site",
            PageKind::BadRequest,
            Outcome::TurnedAway,
        );
        refusal.answer(&self.rules.pages, visit)
    }

    /// 503 for a script whose visitor is in line: what it sent was not delivered.
    #[must_use]
    pub fn in_line_word(&self, outcome: Outcome, visit: &Visit) -> Answer {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Refusal {
            retry_after_secs: Some(soon()),
            room: Some(self.rules.room.name.as_str()),
            ..Refusal::new(status, "waiting", PageKind::Unavailable, outcome)
        }
        .answer(&self.rules.pages, visit)
    }
}

/// When to come again who waits for nothing that has a date.
fn soon() -> u32 {
    RETRY_SECS + u32::from(jitter() % RETRY_SPREAD_SECS)
}

/// A page with a link that leads here from this site.
pub fn same_site_link(pages: &Pages, visit: &Visit) -> Answer {
    Refusal::new(StatusCode::OK, "same_site", PageKind::SameSiteLink, Outcome::SameSite).answer(pages, visit)
}

/// When to come again who comes before a sale.
fn early_secs(stage: &Stage, visit: &Visit) -> u32 {
    let ms = pace::early_ms(stage.window.begins.since(visit.wall), jitter());
    u32::try_from(ms.div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// When a program that was turned away should ask again, spread so that they do not all come at once.
const RETRY_SECS: u32 = 10;
const RETRY_SPREAD_SECS: u16 = 10;

/// When the page of a link from another site goes on by itself. Browsers keep no such page in their history, and one that named
/// another site again would not ask without a pause.
const GO_ON_SECS: u32 = 1;
