//! Certificates whose key somebody else may have, until they are revoked. They lie in the store, so a failure or the end of a gate
//! leaves none out: it is tried again, after longer and longer pauses.

use std::sync::mpsc::Receiver;

use super::{Word, Worker};
use crate::acme::client::Client;
use crate::acme::order::{self, Blame, Failure};
use crate::acme::plan::{self, Pause};
use crate::acme::record::{Account, Certificate, Owed};
use crate::config::Acme;
use crate::dates;
use crate::time;

impl Worker {
    /// Notes that a certificate is to be revoked; a first try follows at once, and counts as failed until it has ended.
    pub(super) fn owe(&mut self, host: &str, old: Certificate, acme: &Acme) -> Owed {
        let owed = Owed {
            host: host.to_owned(),
            expires: old.dates().expires,
            chain: old.chain,
            directory: old.directory,
            pause: self.pause(None, host, acme, &unfinished()),
        };
        self.known.state.owed.push(owed.clone());
        owed
    }

    /// The next that is to be tried again.
    pub(super) fn owed(&self) -> Option<Owed> {
        self.client.as_ref()?;
        let (now, state) = (time::wall(), &self.known.state);
        let is_paused = |pause: &Pause| now < pause.until;
        if state.attempts.authority.as_ref().is_some_and(is_paused) {
            return None;
        }
        state.owed.iter().find(|owed| !is_paused(&owed.pause)).cloned()
    }

    /// Tries again, with the lease. That it was begun is written first, as with an order.
    pub(super) fn revoke_again(&mut self, owed: Owed, heard: &Receiver<Word>) {
        let Some((acme, client)) = self.acme.clone().zip(self.client.clone()) else {
            return;
        };
        if owed.expires <= time::wall() {
            self.settle(&owed, &acme);
            return;
        }
        let begun = Owed {
            pause: self.pause(Some(&owed.pause), &owed.host, &acme, &unfinished()),
            ..owed
        };
        self.put(&begun);
        if self.is_written(&[]) {
            self.revoke(&begun, &acme, &client.anew(), heard);
        }
    }

    /// Has it revoked, and notes what became of it.
    pub(super) fn revoke(&mut self, owed: &Owed, acme: &Acme, client: &Client, heard: &Receiver<Word>) {
        let (host, tries) = (&owed.host, owed.pause.failures);
        let Err(failure) = self.revoked(owed, acme, client, heard) else {
            tracing::info!(host, "the certificate that was replaced is revoked");
            self.settle(owed, acme);
            return;
        };
        let reason = &failure.said;
        if failure.blame == Blame::Gate {
            tracing::warn!(host, reason, "a revocation was left unfinished; it is tried again");
        } else if tries >= MOST_TRIES {
            tracing::error!(
                host,
                reason,
                tries,
                "the certificate that was replaced is not revoked; right: revoke it at the authority by hand"
            );
            self.settle(owed, acme);
        } else {
            let before = (tries > 1).then(|| Pause {
                failures: tries - 1,
                ..owed.pause.clone()
            });
            let pause = self.pause(before.as_ref(), host, acme, &failure);
            tracing::warn!(
                host,
                reason,
                tries,
                again = dates::rfc3339(pause.until),
                "the certificate that was replaced is not revoked yet; it is tried again"
            );
            self.put(&Owed { pause, ..owed.clone() });
            self.known.is_ahead |= !self.is_written(&[]);
        }
    }

    fn revoked(&mut self, owed: &Owed, acme: &Acme, client: &Client, heard: &Receiver<Word>) -> Result<(), Failure> {
        let is_of_it = |former: &Account| former.directory == owed.directory;
        if let Some(former) = self.known.state.former.clone().filter(is_of_it) {
            let is_last = self.known.state.owed.len() <= 1 && !self.has_leaked(acme);
            let revoked = order::revoke_by_former(client.clone(), former, (owed.chain.clone(), is_last));
            return self.guarded(heard, revoked);
        }
        if owed.directory != acme.directory {
            return Err(Failure::new(
                Blame::Host,
                "it is of an authority that is no longer in [tls.acme]",
            ));
        }
        let account = self.account(acme, client, heard)?;
        self.guarded(heard, order::revoke(client, &account, &owed.chain))
    }

    /// Some certificate is not replaced yet.
    fn has_leaked(&self, acme: &Acme) -> bool {
        let now = time::wall();
        let is_leaked = |held: &Certificate| plan::is_replaced(acme.replace_before, held.issued, now);
        self.known.certificates.values().any(is_leaked)
    }

    /// Nothing is owed of it any more, nor is the former account needed after the last.
    fn settle(&mut self, owed: &Owed, acme: &Acme) {
        self.known.state.owed.retain(|other| other.chain != owed.chain);
        if self.known.state.owed.is_empty() && !self.has_leaked(acme) {
            self.known.state.former = None;
        }
        self.known.is_ahead |= !self.is_written(&[]);
    }

    fn put(&mut self, owed: &Owed) {
        let mut all = self.known.state.owed.iter_mut();
        if let Some(other) = all.find(|other| other.chain == owed.chain) {
            other.pause = owed.pause.clone();
        }
    }
}

fn unfinished() -> Failure {
    Failure::new(Blame::Gate, "the revocation was not finished")
}

/// Over some thirty hours, with the default of `retry`.
const MOST_TRIES: u32 = 8;
