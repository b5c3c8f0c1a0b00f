//! The `Set-Cookie` values of one line of a room, for one visitor.

use std::borrow::Cow;

use cookie::SameSite;
use http::HeaderValue;

use crate::pages::Kept;
use crate::token::{Keyring, Pass, Ticket};
use ropeline_ids::{LineName, RehearsalId};

use super::told_wait;
use crate::gate::request::cookies::Policy;
use crate::gate::state::rules::{Names, Rules};

/// Writes the cookies of a line.
#[derive(Clone)]
pub struct CookieWriter<'a> {
    keyring: &'a Keyring,
    policy: &'a Policy,
    names: Cow<'a, Names>,
    /// Tokens of its virtual visitors are of kinds that nothing else reads.
    rehearsal: Option<RehearsalId>,
}

impl<'a> CookieWriter<'a> {
    /// For a visitor on an encrypted connection (`secure`) or not.
    #[must_use]
    pub fn new(
        keyring: &'a Keyring,
        rules: &'a Rules,
        line: &LineName,
        (secure, rehearsal): (bool, Option<RehearsalId>),
    ) -> Self {
        let (policy, names) = rules.cookies(secure, rehearsal, line);
        Self {
            keyring,
            policy,
            names,
            rehearsal,
        }
    }

    /// The full names of the cookies.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Browsers hold the cookies back from links of other sites.
    #[must_use]
    pub fn are_strict(&self) -> bool {
        self.policy.same_site == SameSite::Strict
    }

    /// Browsers send the cookies from frames in other sites' pages.
    #[must_use]
    pub fn reach_frames(&self) -> bool {
        self.policy.same_site == SameSite::None
    }

    /// The ticket as text.
    #[must_use]
    pub fn sign_ticket(&self, ticket: &Ticket) -> String {
        ticket.sign_for(self.keyring, self.rehearsal)
    }

    /// The pass as text.
    #[must_use]
    pub fn sign_pass(&self, pass: &Pass) -> String {
        pass.sign_for(self.keyring, self.rehearsal)
    }

    #[must_use]
    pub fn set_ticket(&self, ticket: &Ticket) -> HeaderValue {
        self.policy.set_ticket(&self.names.ticket, self.sign_ticket(ticket))
    }

    /// As [`Self::set_ticket`], for as long as a pass.
    #[must_use]
    pub fn set_ticket_inside(&self, ticket: &Ticket) -> HeaderValue {
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

    /// A code, until the browser is closed.
    #[must_use]
    pub fn set_code(&self, code: &str) -> HeaderValue {
        self.policy.set_for_now(&self.names.code, code)
    }

    #[must_use]
    pub fn clear_code(&self) -> HeaderValue {
        self.policy.clear(&self.names.code)
    }

    /// How the page without a script is reloaded: `off` or `bare`.
    #[must_use]
    pub fn set_reload(&self, how: &str) -> HeaderValue {
        self.policy.set_for_now(&self.names.reload, how)
    }

    #[must_use]
    pub fn clear_reload(&self) -> HeaderValue {
        self.policy.clear(&self.names.reload)
    }

    /// The wait that a visitor without a script was shown.
    #[must_use]
    pub fn set_told(&self, kept: Kept) -> HeaderValue {
        self.policy.set_for_now(&self.names.told, &told_wait::text(kept))
    }

    /// How often a form was sent again.
    #[must_use]
    pub fn set_tries(&self, tries: u8) -> HeaderValue {
        self.policy.set_tries(&self.names.tries, tries)
    }

    #[must_use]
    pub fn clear_tries(&self) -> HeaderValue {
        self.policy.clear(&self.names.tries)
    }

    #[must_use]
    pub fn clear_told(&self) -> HeaderValue {
        self.policy.clear(&self.names.told)
    }
}
