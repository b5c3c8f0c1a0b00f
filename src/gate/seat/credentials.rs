//! The credentials of a request: tokens, account, code, and the browser's capabilities. They are read once; `worth` decides
//! what they entitle to.

use http::request::Parts;

use crate::metrics::Metrics;
use crate::pages::{Kept, Reload};
use crate::token::{Keyring, Pass, SignedBy, Ticket};
use ropeline_ids::{LineName, RehearsalId, Tag};

use super::cookie_writer::CookieWriter;
use super::told_wait;
use crate::gate::request::account::Named;
use crate::gate::request::cookies::Own;
use crate::gate::request::headers::{PASS_HEADER, TICKET_HEADER};
use crate::gate::request::kind::is_link_from_elsewhere;
use crate::gate::request::rehearsal_mark;
use crate::gate::request::shown_code::ShownCode;
use crate::gate::request::visit::Visit;
use crate::gate::state::known_tokens::{KnownPass, Memory, Tokens};
use crate::gate::state::rules::Rules;

/// The credentials of a request for one line.
#[derive(Clone)]
pub struct Credentials {
    tokens: Tokens,
    account: Named,
    /// Where the room takes any.
    code: Option<ShownCode>,
    browser: Browser,
    /// The visitor is a virtual one of this rehearsal.
    rehearsal: Option<RehearsalId>,
}

/// How the visitor's program works.
#[derive(Clone, Copy)]
struct Browser {
    /// The tokens came in headers: an app that keeps them itself.
    is_app: bool,
    /// How the page without a script is reloaded.
    reload: Reload,
    /// The wait that a visitor without a script was shown.
    told: Kept,
    /// A link of another site leads here, from where browsers hold strict cookies back.
    held_back: bool,
}

impl Credentials {
    /// Reads the genuine tokens that a request carries for this line, and its other credentials. Tokens that are not genuine
    /// are counted.
    #[must_use]
    pub fn read(
        (keyring, metrics): (&Keyring, &Metrics),
        (rules, line, cookies): (&Rules, &LineName, &CookieWriter<'_>),
        (head, visit): (&Parts, &Visit),
        account: Named,
    ) -> Self {
        let rehearsal = visit.rehearsed.map(|rehearsed| rehearsed.id);
        let names = cookies.names();
        let fields = [TICKET_HEADER, PASS_HEADER].map(|name| visit.noted.own.then(|| head.headers.get(name)).flatten());
        let is_app = fields.iter().any(Option::is_some);
        let own = Own::of(&head.headers);
        let [ticket, pass] = fields.map(|field| field.and_then(|value| value.to_str().ok()).into_iter());
        let tickets = ticket.chain(own.tokens(&names.ticket));
        let passes = pass.chain(own.tokens(&names.pass));
        let (some_ticket, some_pass) = (tickets.clone().next().is_some(), passes.clone().next().is_some());
        let place = (&rules.room.name, line);
        // SECURITY: many visitors share a proxy's connection.
        let nothing = Memory::default();
        let memory = if visit.peer_trusted {
            &nothing
        } else {
            visit.hop.memory()
        };
        let tokens = match rehearsal {
            None => memory.tokens(keyring, place, tickets, passes),
            Some(id) => rehearsal_mark::tokens(keyring, id, place, tickets, passes),
        };
        if some_ticket && tokens.ticket.is_none() {
            metrics.tickets_refused.inc();
        }
        if some_pass && tokens.pass.is_none() {
            metrics.passes_refused.inc();
        }
        let marks = own.values(&names.reload).find_map(Reload::marked);
        let reload = marks.unwrap_or_default();
        Self {
            tokens,
            account,
            code: ShownCode::of(rules, &names.code, head, &own).filter(|_| rehearsal.is_none()),
            browser: Browser {
                is_app,
                reload,
                told: told_wait::read(names, reload, &own),
                held_back: cookies.are_strict() && is_link_from_elsewhere(&head.headers),
            },
            rehearsal,
        }
    }

    /// The same visitor, with tokens just made by the key that signs.
    #[must_use]
    pub fn with(&self, ticket: Ticket, pass: Option<Pass>) -> Self {
        Self {
            tokens: Tokens {
                ticket: Some((ticket, SignedBy::FIRST)),
                pass: pass.map(|pass| (pass, SignedBy::FIRST)),
                known: None,
            },
            ..self.clone()
        }
    }

    /// The account that the visitor signs in as.
    pub fn sign_in(&mut self, tags: Vec<Tag>) {
        self.account.tags = tags;
    }

    /// The genuine ticket.
    #[must_use]
    pub fn ticket(&self) -> Option<&Ticket> {
        self.tokens.ticket.as_ref().map(|(ticket, _)| ticket)
    }

    /// The genuine pass.
    #[must_use]
    pub fn pass(&self) -> Option<&Pass> {
        self.tokens.pass.as_ref().map(|(pass, _)| pass)
    }

    /// Facts of the pass from requests before.
    #[must_use]
    pub fn known_pass(&self) -> Option<&KnownPass> {
        self.tokens.known.as_deref()
    }

    /// Which signers of the ring made the ticket and the pass.
    #[must_use]
    pub fn signers(&self) -> [SignedBy; 2] {
        let ticket = self.tokens.ticket.as_ref().map(|(_, by)| *by);
        let pass = self.tokens.pass.as_ref().map(|(_, by)| *by);
        [ticket, pass].map(|by| by.unwrap_or(SignedBy::FIRST))
    }

    /// The tags of the account that the request names, first the one by the key which signs.
    #[must_use]
    pub fn tags(&self) -> &[Tag] {
        &self.account.tags
    }

    /// The configured lane that the account's token leads to.
    #[must_use]
    pub fn claimed_lane(&self) -> Option<usize> {
        self.account.lane
    }

    /// The upstream may read another account in the request than the gate.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.account.doubtful
    }

    /// A code as it was shown, with the mark of the visitor who shows it.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_ref().map(|code| code.text.as_str())
    }

    /// The visitor has confirmed that the code may replace their present place.
    #[must_use]
    pub fn confirms_code(&self) -> bool {
        self.code.as_ref().is_some_and(|code| code.confirmed)
    }

    /// An app, which keeps its tokens itself.
    #[must_use]
    pub fn is_app(&self) -> bool {
        self.browser.is_app
    }

    /// How the visitor's page without a script is reloaded.
    #[must_use]
    pub fn reload(&self) -> Reload {
        self.browser.reload
    }

    /// The wait that a visitor without a script was shown.
    #[must_use]
    pub fn told(&self) -> Kept {
        self.browser.told
    }

    /// The browser may hold the gate's cookies back, since a link of another site leads here.
    #[must_use]
    pub fn may_be_held_back(&self) -> bool {
        self.browser.held_back
    }

    /// The rehearsal of its virtual visitor.
    #[must_use]
    pub fn rehearsal(&self) -> Option<RehearsalId> {
        self.rehearsal
    }
}
