//! Whose a request is: the account that it names, and whether the place that it shows is that account's.
//!
//! A ticket or pass of an account counts under that account alone: not under another, and not under none, where each request
//! can name it. A visitor whose token has run out keeps the place in line, and is let in once signed in again.

use std::borrow::Cow;

use http::header::{AUTHORIZATION, COOKIE};
use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};

use crate::config::{Identities, Missing, Source};
use crate::identity::{Identity, MAX_IDENTITY};
use crate::metrics::Outcome;
use crate::names;
use crate::names::spelling::Doubtful;
use crate::room::{Tag, View, Visitor, WITH_SCHEDULES};
use crate::token::{Ticket, TicketPlace};
use crate::waiting::PageKind;

use super::answers::{Answer, Refusal};
use super::decide::{PassState, TicketState};
use super::rules::Rules;
use super::seat::{Seat, Worth};
use super::shared::Shared;
use super::visit::Visit;
use super::who::{PassWorth, TicketWorth};

/// Whom a request names.
#[derive(Default)]
pub struct Named {
    /// The tags of the account; none where it names nobody, or the room knows no accounts yet.
    pub tags: Vec<Tag>,
    /// The lane that the account's token says it stands in, by its index in the room's configuration.
    pub lane: Option<usize>,
    /// The shop may read another account than the gate, or one where the gate reads none.
    pub doubtful: bool,
}

/// What a request's head says of its visitor.
#[must_use]
pub fn named(shared: &Shared, rules: &Rules, head: &Parts, visit: &Visit) -> Named {
    let Some(identities) = rules.room.identity.as_ref().filter(|_| visit.rehearsed.is_none()) else {
        return Named::default();
    };
    let Ok(said) = said(identities, head, visit) else {
        return Named {
            doubtful: true,
            ..Named::default()
        };
    };
    let (identity, claim) = said.unzip();
    let tags = tags_of(shared, rules, identity);
    // SECURITY: a token that names no account would stand there as often as it is shared.
    let claim = claim.flatten().filter(|_| !tags.is_empty());
    let of = |claim: String| rules.room.lanes.iter().position(|lane| lane.claims.contains(&claim));
    Named {
        lane: claim.and_then(of),
        tags,
        doubtful: false,
    }
}

/// The tags of an account; none of nobody, and before the room's machine knows of accounts.
pub(super) fn tags_of(shared: &Shared, rules: &Rules, identity: Option<Identity>) -> Vec<Tag> {
    // Before the machine knows of accounts they cannot be kept.
    let kept = || shared.replica.load().version >= WITH_SCHEDULES;
    match identity {
        Some(identity) if kept() => shared.keyring.account_tags(&rules.room.name, &identity),
        _ => Vec::new(),
    }
}

/// Who a request's head says it is, and what a token's claim says of the lane.
fn said(identities: &Identities, head: &Parts, visit: &Visit) -> Result<Option<(Identity, Option<String>)>, Doubtful> {
    let text = match &identities.source {
        // SECURITY: anybody else would say whatever they like.
        Source::Header(name) if visit.peer_trusted => plain(header(head, name)?)?.map(Cow::Borrowed),
        Source::Header(_) | Source::Field { .. } => None,
        Source::Cookie(name) | Source::Jwt { cookie: Some(name), .. } => cookie(head, name)?,
        Source::Jwt { cookie: None, .. } => header(head, &AUTHORIZATION)?.and_then(bearer).map(Cow::Borrowed),
    };
    let Some(text) = text else { return Ok(None) };
    if let Source::Jwt { verifier, .. } = &identities.source {
        let claims = verifier.verify(&text, visit.wall).ok();
        let named = claims.and_then(|claims| {
            let lane = identities.lane_claim.as_ref().and_then(|name| claims.text(name));
            Some((verifier.account(&claims)?, lane))
        });
        return Ok(named);
    }
    // The shop would hear of an account that the gate does not know.
    if text.len() > MAX_IDENTITY {
        return Err(Doubtful);
    }
    Ok(Identity::new(&text).map(|identity| (identity, None)))
}

/// A field's value. Of two lines, even equal ones, some shops make a list.
fn header<'a>(head: &'a Parts, name: &HeaderName) -> Result<Option<&'a str>, Doubtful> {
    let mut lines = head.headers.get_all(name).iter();
    match (lines.next(), lines.next()) {
        (None, _) => Ok(None),
        (Some(line), None) => std::str::from_utf8(line.as_bytes()).map(Some).map_err(|_| Doubtful),
        (Some(_), Some(_)) => Err(Doubtful),
    }
}

/// SECURITY: `CherryPy` decodes words as mail writes them (RFC 2047, section 2: `=?utf-8?q?ann?=`), and most do not.
fn plain(text: Option<&str>) -> Result<Option<&str>, Doubtful> {
    match text {
        Some(text) if text.contains("=?") => Err(Doubtful),
        text => Ok(text),
    }
}

fn cookie<'a>(head: &'a Parts, name: &str) -> Result<Option<Cow<'a, str>>, Doubtful> {
    let lines = head.headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
    names::cookie::value_of(lines, name)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_ascii())
}

impl Seat<'_> {
    /// Nobody joins here without an account, and the request names none.
    #[must_use]
    pub fn is_nameless(&self) -> bool {
        let refuses = |identities: &Identities| identities.missing == Missing::Refuse;
        let kept = || self.shared.replica.load().version >= WITH_SCHEDULES;
        let named = self.rehearsal.is_some() || !self.joins_as().is_empty();
        !named && self.rules.room.identity.as_ref().is_some_and(refuses) && kept()
    }

    /// What the tokens show is another account's.
    #[must_use]
    pub fn is_foreign(&self, worth: &Worth) -> bool {
        let other = |tag: Tag| !self.tags.contains(&tag);
        !self.tags.is_empty() && self.owners(worth).into_iter().flatten().any(other)
    }

    /// The tokens show a place that counts only under its account, and the request names none.
    #[must_use]
    pub fn lacks_account(&self, worth: &Worth) -> bool {
        let Some(identities) = self
            .rules
            .room
            .identity
            .as_ref()
            .filter(|identities| identities.binds())
        else {
            return false;
        };
        if self.rehearsal.is_some() || !self.tags.is_empty() || self.shared.replica.load().version < WITH_SCHEDULES {
            return false;
        }
        match identities.missing {
            Missing::Refuse => live_pass(worth).is_some() || live_ticket(worth).is_some(),
            Missing::Join => self.owners(worth).iter().any(Option::is_some),
        }
    }

    /// The tokens would let their account in now, and the request names none. Whoever only waits goes on waiting.
    #[must_use]
    pub fn must_sign_in(&self, worth: &Worth) -> bool {
        let seated = matches!(
            worth.ticket(),
            TicketState::Called | TicketState::Inside | TicketState::Pending(_)
        );
        (seated || worth.pass() == PassState::Valid) && self.lacks_account(worth)
    }

    /// Whose the pass and the ticket are, as far as they count.
    fn owners(&self, worth: &Worth) -> [Option<Tag>; 2] {
        let pass = live_pass(worth).and_then(|pass| self.account(&self.visitor(pass.pass.lane, pass.pass.number)));
        // The room first: it has the tag by the key that signs as soon as the account has come by it, by whichever browser.
        let by_room = || self.account(&self.ticket_visitor()?);
        let of_ticket = |live: &TicketWorth| by_room().or(live.ticket.identity);
        [pass, live_ticket(worth).and_then(of_ticket)]
    }

    /// Tells the log whose the numbers are that a request of an account shows, where it does not know; whoever joined before
    /// it was known who they are has that place from now on. SECURITY: only after [`Seat::is_foreign`].
    pub async fn own(&self, visit: &Visit, worth: Worth) -> Worth {
        if self.tags.is_empty() {
            return worth;
        }
        if let Some(pass) = worth.pass.as_ref().filter(|pass| pass.state == PassState::Valid) {
            let visitor = self.visitor(pass.pass.lane, pass.pass.number);
            if pass.pass.edition == worth.edition && self.account(&visitor) != self.tags.first().copied() {
                self.shared.replica.bind(visitor, self.tags.clone());
            }
        }
        let shown = matches!(
            worth.ticket(),
            TicketState::Waiting | TicketState::Called | TicketState::Inside
        );
        let ticket = worth.ticket.as_ref().map(|ticket| &ticket.ticket);
        let ticket = ticket.filter(|ticket| shown && ticket.edition == worth.edition);
        let (Some(ticket), Some(visitor)) = (ticket, self.ticket_visitor()) else {
            return worth;
        };
        match self.account(&visitor) {
            owner if owner == self.tags.first().copied() => worth,
            None if ticket.identity.is_none() => {
                let _ = self.shared.replica.bound(visitor, self.tags.clone()).await;
                self.worth(visit).unwrap_or(worth)
            }
            _ => {
                self.shared.replica.bind(visitor, self.tags.clone());
                worth
            }
        }
    }

    /// The tags of a visitor who joins. A ticket without a number keeps its account, where requests need not name it.
    #[must_use]
    pub fn joins_as(&self) -> Vec<Tag> {
        let pending = |ticket: &&Ticket| matches!(ticket.place, TicketPlace::Pending(_));
        let binds = || self.rules.room.identity.as_ref().is_some_and(Identities::binds);
        let kept = || self.ticket().filter(pending).filter(|_| !binds())?.identity;
        if self.tags.is_empty() {
            kept().into_iter().collect()
        } else {
            self.tags.clone()
        }
    }

    /// 403: the place is another account's. The page has a button that puts the tokens away.
    #[must_use]
    pub fn not_yours(&self, visit: &Visit) -> Answer {
        let button = self.own_url("afresh", visit.here());
        let refusal = Refusal::new(
            StatusCode::FORBIDDEN,
            "ticket_owner",
            PageKind::TicketOwner,
            Outcome::TurnedAway,
        );
        Refusal {
            room: Some(self.rules.room.name.as_str()),
            button_url: Some(&button),
            ..refusal
        }
        .answer(&self.rules.pages, visit)
    }

    /// 403: sign in first. What was sent is not kept. Where nobody needs an account, the page has the button that puts an
    /// account's place away.
    #[must_use]
    pub fn sign_in(&self, visit: &Visit) -> Answer {
        let identities = self.rules.room.identity.as_ref();
        if identities.is_some_and(|identities| identities.missing == Missing::Join) {
            return self.not_yours(visit);
        }
        let refusal = Refusal::new(StatusCode::FORBIDDEN, "sign_in", PageKind::SignIn, Outcome::TurnedAway);
        Refusal {
            room: Some(self.rules.room.name.as_str()),
            sign_in: identities.and_then(|identities| identities.sign_in.as_deref()),
            ..refusal
        }
        .answer(&self.rules.pages, visit)
    }

    /// Whose a number is, as far as the room knows.
    pub(super) fn account(&self, visitor: &Visitor) -> Option<Tag> {
        account(&self.shared.replica.load(), visitor)
    }
}

/// Whose a number is in a view.
#[must_use]
pub fn account(view: &View, visitor: &Visitor) -> Option<Tag> {
    let line = view.rooms.get(&visitor.room)?.line(&visitor.line)?;
    line.account(visitor.lane, visitor.number)
}

fn live_pass(worth: &Worth) -> Option<&PassWorth> {
    worth.pass.as_ref().filter(|pass| pass.state == PassState::Valid)
}

/// The ticket, where it stands for a place.
pub fn live_ticket(worth: &Worth) -> Option<&TicketWorth> {
    let is_live = |state| {
        matches!(
            state,
            TicketState::Waiting
                | TicketState::Called
                | TicketState::Inside
                | TicketState::Pending(_)
                | TicketState::Unknown
        )
    };
    worth.ticket.as_ref().filter(|ticket| is_live(ticket.state))
}

#[cfg(test)]
mod tests;
