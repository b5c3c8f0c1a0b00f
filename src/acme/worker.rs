//! The thread: looks at the store once a second, shows what it finds there, orders what is due, and has revoked what is to be.

mod revocations;

use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use arc_swap::ArcSwap;
use instant_acme::Account;
use tokio::runtime::Runtime;

use super::answers::{Answers, over_tls};
use super::client::Client;
use super::known::Known;
use super::order::{self, Blame, Failure, Issued};
use super::plan::{self, Patience, Pause};
use super::record::{self, Certificate, Challenge};
use super::records::{Glance, Records};
use super::seal::Sealer;
use super::{Host, Settings};
use crate::config;
use crate::dates;
use crate::store::{LEASE, Unavailable, Vault};
use crate::time;
use crate::tls::{Certificates, Pair};
use ropeline_ids::Wall;

/// To the thread.
#[derive(Debug)]
pub enum Word {
    Set(Box<Settings>),
    Stop,
}

/// Where others see what the thread knows.
pub type Shown = (Arc<Certificates>, Arc<Answers>, Arc<ArcSwap<Vec<Host>>>);

pub struct Worker {
    certificates: Arc<Certificates>,
    answers: Arc<Answers>,
    hosts: Arc<ArcSwap<Vec<Host>>>,
    records: Records,
    runtime: Arc<Runtime>,
    /// `None`: no authority is asked.
    acme: Option<Arc<config::Acme>>,
    client: Option<Client>,
    known: Known,
    pairs: BTreeMap<String, (String, Arc<Pair>)>,
    /// The last; `None`: everything is to be read.
    glance: Option<Glance>,
    challenges: Vec<Challenge>,
    /// Looks in a row at which the store had nothing.
    empty_looks: u32,
    is_away: bool,
    /// The settings are new: pauses of other ones do not count.
    is_changed: bool,
    /// Uptime of the last time that the lease was surely kept.
    leased: Duration,
    /// Came during an order.
    next: Option<Box<Settings>>,
    is_stopped: bool,
}

impl Worker {
    pub fn new((certificates, answers, hosts): Shown, vault: Box<dyn Vault>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            certificates,
            answers,
            hosts,
            records: Records::new(vault),
            runtime: Arc::new(runtime),
            acme: None,
            client: None,
            known: Known::default(),
            pairs: BTreeMap::new(),
            glance: None,
            challenges: Vec::new(),
            empty_looks: 0,
            is_away: false,
            is_changed: true,
            leased: Duration::ZERO,
            next: None,
            is_stopped: false,
        })
    }

    pub fn run(mut self, heard: &Receiver<Word>) {
        while !self.is_stopped {
            let word = match self.next.take() {
                Some(settings) => Ok(Word::Set(settings)),
                None if self.acme.is_some() => heard.recv_timeout(POLL),
                None => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match word {
                Ok(Word::Set(settings)) => self.set(*settings),
                Ok(Word::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(unavailable) = self.turn(heard) {
                        tracing::debug!(%unavailable, "certificates cannot be looked after now");
                    }
                }
            }
        }
    }

    /// Goes on by these settings, and shows what the store has for them.
    pub fn set(&mut self, settings: Settings) {
        self.records.set_sealer(Sealer::new(&settings.keys));
        self.acme = settings.acme.map(Arc::new);
        self.glance = None;
        self.is_changed = true;
        let acme = self.acme.clone();
        let is_kept = |host: &String| acme.as_ref().is_some_and(|acme| acme.hosts.contains(host));
        self.known.certificates.retain(|host, _| is_kept(host));
        self.pairs.retain(|host, _| is_kept(host));
        self.client = None;
        if let Some(acme) = &acme {
            match Client::new(acme.ca_file.as_ref().map(|file| &file.pem[..])) {
                Ok(client) => self.client = Some(client),
                Err(reason) => tracing::error!(reason, "the authority cannot be asked: [tls.acme] ca_file"),
            }
            // What it fails with is logged, and tried again in a second.
            let _ = self.look();
        }
        self.publish();
        for host in self.hosts.load().iter().filter(|host| host.expires.is_none()) {
            tracing::warn!(
                host = host.name,
                "there is no certificate for this host yet: visitors cannot come over TLS until the authority has issued one"
            );
        }
    }

    fn turn(&mut self, heard: &Receiver<Word>) -> Result<(), Unavailable> {
        self.look()?;
        let is_empty = self.known.revision.is_none();
        self.empty_looks = if is_empty { self.empty_looks + 1 } else { 0 };
        if self.is_locked() {
            return Ok(());
        }
        if self.is_to_write() {
            return self.write_back();
        }
        // A store that was emptied is first filled by the gates that know what it had.
        let is_idle = self.due().is_none() && self.owed().is_none();
        if is_idle || (is_empty && self.empty_looks < EMPTY_LOOKS) || !self.lease()? {
            return Ok(());
        }
        self.read_all()?;
        if !self.is_locked() {
            match (self.due(), self.owed()) {
                (Some(host), _) => self.order(&host, heard),
                (None, Some(owed)) => self.revoke_again(owed, heard),
                (None, None) => {}
            }
        }
        self.records.vault().release()
    }

    /// Whether the store's records belong to gates with other keys. They are not written over: both sides would do so for ever.
    fn is_locked(&self) -> bool {
        self.known.locked.is_some_and(|until| time::wall() < until)
    }

    fn is_to_write(&self) -> bool {
        self.known.is_to_write(self.records.is_shared(), time::wall())
    }

    /// The host to order for.
    fn due(&self) -> Option<String> {
        let acme = self.acme.as_ref().filter(|_| self.client.is_some())?;
        let now = time::wall();
        let standings = self.known.standings(acme, now);
        let at = plan::next(&standings, self.known.state.attempts.authority.as_ref(), now)?;
        acme.hosts.get(at).cloned()
    }

    fn lease(&mut self) -> Result<bool, Unavailable> {
        let asked = time::uptime();
        let has = self.records.vault().lease()?;
        if has {
            self.leased = asked;
        }
        Ok(has)
    }

    /// Looks at the store, and shows what is new there.
    fn look(&mut self) -> Result<(), Unavailable> {
        let glance = self.records.glance();
        if let (Err(unavailable), false) = (&glance, self.is_away) {
            tracing::warn!(
                reason = unavailable.reason,
                "the store does not answer, so no certificate is ordered"
            );
        }
        self.is_away = glance.is_err();
        let glance = glance?;
        let before = self.glance.as_ref();
        if before.is_none_or(|before| before.revision != glance.revision) {
            self.read_all()?;
        }
        let challenges = self.records.challenges(&glance, time::wall());
        if challenges != self.challenges {
            self.answers.set(&challenges);
            self.certificates.take_proofs(over_tls(&challenges));
            self.challenges = challenges;
        }
        self.glance = Some(glance);
        Ok(())
    }

    fn read_all(&mut self) -> Result<(), Unavailable> {
        let Some(acme) = self.acme.clone() else { return Ok(()) };
        let stored = self.records.read(&acme.hosts, acme.replace_before, time::wall())?;
        if let (Some(until), None) = (stored.locked, self.known.locked) {
            tracing::error!(
                until = dates::rfc3339(until),
                "the certificates in the store belong to gates with other [tokens] keys, so this gate neither orders certificates nor \
                 writes them; right: the same keys on every gate, or after a leak [tls.acme] replace_before"
            );
        }
        self.known.take(stored);
        if std::mem::take(&mut self.is_changed) {
            self.known.drop_pauses_of_others(&plan::settings(&acme));
        }
        self.publish();
        Ok(())
    }

    /// Writes what the store lacks, if no other gate does so.
    fn write_back(&mut self) -> Result<(), Unavailable> {
        if !self.lease()? {
            return Ok(());
        }
        self.read_all()?;
        if self.is_to_write() && !self.is_locked() {
            let hosts: Vec<String> = self.known.certificates.keys().cloned().collect();
            let was_ahead = self.known.is_ahead;
            if self.records.write(&mut self.known, &hosts, time::wall())? && was_ahead {
                self.known.is_ahead = false;
                tracing::info!(
                    hosts = hosts.len(),
                    "what the store lacked for certificates, or had under an older key, was written to it"
                );
            }
        }
        self.records.vault().release()
    }

    /// Shows the known certificates.
    fn publish(&mut self) {
        let hosts = self.acme.as_ref().map(|acme| acme.hosts.clone()).unwrap_or_default();
        for host in &hosts {
            let Some(certificate) = self.known.certificates.get(host) else {
                continue;
            };
            if self
                .pairs
                .get(host)
                .is_some_and(|(chain, _)| *chain == certificate.chain)
            {
                continue;
            }
            match Pair::parse("the store", certificate.chain.as_bytes(), certificate.key.as_bytes()) {
                Ok(pair) => {
                    let parsed = (certificate.chain.clone(), Arc::new(pair));
                    self.pairs.insert(host.clone(), parsed);
                }
                Err(error) => tracing::error!(host, %error, "a certificate in the store cannot be used"),
            }
        }
        let pair = |host: &String| Some((host.clone(), Arc::clone(&self.pairs.get(host)?.1)));
        self.certificates
            .take_issued(hosts.iter().filter_map(pair).collect(), time::wall());
        let attempts = &self.known.state.attempts;
        let shown = hosts.into_iter().map(|name| {
            // A failure of the authority counts for its host too.
            let pauses = [attempts.hosts.get(&name), attempts.authority.as_ref()];
            let worst = pauses.into_iter().flatten().max_by_key(|pause| pause.failures);
            Host {
                expires: self.pairs.get(&name).map(|(_, pair)| pair.expires()),
                renews: self.known.certificates.get(&name).map(|held| held.dates().renews),
                failures: worst.map_or(0, |pause| pause.failures),
                said: worst.map_or_else(String::new, |pause| pause.said.clone()),
                again: pauses.into_iter().flatten().map(|pause| pause.until).max(),
                name,
            }
        });
        self.hosts.store(Arc::new(shown.collect()));
    }

    /// Orders a certificate, with the lease. That it was begun is written first, as a failure, so that a gate that ends in the middle
    /// of its orders again and again does not ask the authority each time.
    fn order(&mut self, host: &str, heard: &Receiver<Word>) {
        let Some((acme, client)) = self.acme.clone().zip(self.client.clone()) else {
            return;
        };
        let client = client.anew();
        plan::settings(&acme).clone_into(&mut self.known.state.settings);
        let before = self.known.state.attempts.clone();
        let begun = self.pause(
            before.hosts.get(host),
            host,
            &acme,
            &Failure::new(Blame::Gate, "the order was not finished"),
        );
        let attempts = &mut self.known.state.attempts;
        attempts.hosts.insert(host.to_owned(), begun.clone());
        if !self.is_written(&[]) {
            self.known.state.attempts = before;
            return;
        }
        tracing::info!(host, directory = acme.directory, "ordering a certificate");
        let outcome = self.ordered(host, &acme, &client, heard);
        self.known.state.attempts = before;
        let attempts = &mut self.known.state.attempts;
        let mut leaked = None;
        match outcome {
            Ok(certificate) => {
                let dates = certificate.dates();
                attempts.hosts.remove(host);
                attempts.authority = None;
                let old = self.known.certificates.insert(host.to_owned(), certificate);
                let is_leaked = |old: &Certificate| plan::is_replaced(acme.replace_before, old.issued, time::wall());
                leaked = old.filter(is_leaked);
                tracing::info!(
                    host,
                    expires = dates::rfc3339(dates.expires),
                    renews = dates::rfc3339(dates.renews),
                    "a certificate was issued"
                );
            }
            Err(failure) => self.failed(host, &acme, &failure, begun),
        }
        let owed = leaked.map(|old| self.owe(host, old, &acme));
        // What is not written now is written when the store answers.
        self.known.is_ahead = !self.is_written(&[host.to_owned()]);
        self.publish();
        if let Some(owed) = owed {
            self.revoke(&owed, &acme, &client, heard);
        }
    }

    fn failed(&mut self, host: &str, acme: &config::Acme, failure: &Failure, begun: Pause) {
        if failure.blame == Blame::Gate {
            tracing::warn!(
                host,
                reason = failure.said,
                again = dates::rfc3339(begun.until),
                "an order was left unfinished"
            );
            self.known.state.attempts.hosts.insert(host.to_owned(), begun);
            return;
        }
        let attempts = &self.known.state.attempts;
        let of_authority =
            (failure.blame == Blame::Authority).then(|| self.pause(attempts.authority.as_ref(), host, acme, failure));
        let pause = self.pause(attempts.hosts.get(host), host, acme, failure);
        let state = &mut self.known.state;
        state.attempts.hosts.insert(host.to_owned(), pause.clone());
        if failure.blame == Blame::Account {
            state.account = None;
        }
        state.attempts.authority = of_authority.clone().or(state.attempts.authority.take());
        let pause = of_authority.unwrap_or(pause);
        let good_until = self
            .known
            .certificates
            .get(host)
            .map(|held| dates::rfc3339(held.dates().expires));
        tracing::warn!(
            host,
            reason = failure.said,
            failures = pause.failures,
            again = dates::rfc3339(pause.until),
            good_until,
            "the authority has not issued a certificate; the order is tried again"
        );
    }

    fn pause(&self, before: Option<&Pause>, host: &str, acme: &config::Acme, failure: &Failure) -> Pause {
        let held = self.known.certificates.get(host).map(Certificate::dates);
        let patience = Patience {
            retry_ms: u64::try_from(acme.retry.as_millis()).unwrap_or(u64::MAX),
            life_ms: held.map(|dates| dates.expires.since(dates.begins)),
        };
        let why = (failure.said.as_str(), failure.retry_after);
        plan::pause(before, patience, why, fastrand::u16(..), time::wall())
    }

    /// Whether account, pauses and the certificates of these hosts, which have changed, could be written.
    fn is_written(&mut self, hosts: &[String]) -> bool {
        self.known.state.version = self.known.state.version.saturating_add(1);
        let written = self.records.write(&mut self.known, hosts, time::wall());
        written.unwrap_or_else(|unavailable| {
            tracing::warn!(
                reason = unavailable.reason,
                "the store does not take what belongs to certificates"
            );
            false
        })
    }

    fn ordered(
        &mut self,
        host: &str,
        acme: &Arc<config::Acme>,
        client: &Client,
        heard: &Receiver<Word>,
    ) -> Result<Certificate, Failure> {
        let account = self.account(acme, client, heard)?;
        let (order, set) = self.guarded(heard, order::begin(client, &account, (host, acme.challenge)))?;
        if !set.is_empty() {
            let until = time::wall().plus(CHALLENGE_MS);
            let challenge = |one: order::Set| Challenge {
                host: host.to_owned(),
                kind: acme.challenge,
                token: one.token,
                key_authorization: one.key_authorization,
                until,
            };
            let all: Vec<Challenge> = set.into_iter().map(challenge).collect();
            let written = self.records.write_challenges(&all, time::wall());
            if !written.map_err(|unavailable| lost(&unavailable.reason))? {
                return Err(lost("another gate has the lease"));
            }
            // Until every gate has seen them: the authority may ask any.
            self.guarded(heard, async {
                tokio::time::sleep(POLL * LOOKS_FIRST).await;
                Ok(())
            })?;
        }
        let issued = order::finish(client.clone(), order, host.to_owned(), acme.challenge);
        let issued = self.guarded(heard, issued)?;
        checked(host, &acme.directory, issued, time::wall())
    }

    /// The account in force, which is written first where it is new.
    fn account(&mut self, acme: &config::Acme, client: &Client, heard: &Receiver<Word>) -> Result<Account, Failure> {
        let stored = self.known.state.account.clone();
        let (account, new) = self.guarded(heard, order::account(client, acme, stored, time::wall()))?;
        if let Some(new) = new {
            let is_leaked = |old: &record::Account| {
                old.directory == new.directory && plan::is_replaced(acme.replace_before, old.made, time::wall())
            };
            if let Some(old) = self.known.state.account.take_if(|old| is_leaked(old)) {
                self.known.state.former = Some(old);
            }
            self.known.state.account = Some(new);
            if !self.is_written(&[]) {
                return Err(lost("the store has not taken the account"));
            }
        }
        Ok(account)
    }

    /// Does the work, and meanwhile keeps the lease and looks at the store.
    fn guarded<T>(
        &mut self,
        heard: &Receiver<Word>,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let runtime = Arc::clone(&self.runtime);
        runtime.block_on(async {
            let mut work = pin!(tokio::time::timeout(ORDER_WITHIN, work));
            loop {
                tokio::select! {
                    done = &mut work => {
                        let late = |_| Failure::new(Blame::Authority, "the authority takes too long");
                        return done.unwrap_or_else(|error| Err(late(error)));
                    }
                    () = tokio::time::sleep(POLL) => self.goes_on(heard)?,
                }
            }
        })
    }

    fn goes_on(&mut self, heard: &Receiver<Word>) -> Result<(), Failure> {
        match heard.try_recv() {
            Ok(Word::Set(settings)) => self.next = Some(settings),
            Ok(Word::Stop) | Err(TryRecvError::Disconnected) => {
                self.is_stopped = true;
                return Err(lost("the gate stops"));
            }
            Err(TryRecvError::Empty) => {}
        }
        let looked = self.look();
        match looked.and_then(|()| self.lease()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(lost("another gate has the lease")),
            Err(_) if time::uptime().saturating_sub(self.leased) < LEASE / 2 => Ok(()),
            Err(unavailable) => Err(lost(&unavailable.reason)),
        }
    }
}

fn lost(reason: &str) -> Failure {
    Failure::new(Blame::Gate, reason)
}

/// The certificate, if it is one for the host with its key, and good today.
fn checked(host: &str, directory: &str, issued: Issued, now: Wall) -> Result<Certificate, Failure> {
    let odd = |why: &str| {
        Failure::new(
            Blame::Authority,
            &format!("the authority's certificate cannot be used: {why}"),
        )
    };
    let pair = Pair::parse("the answer", issued.chain.as_bytes(), issued.key.as_bytes());
    let pair = pair.map_err(|error| odd(&error.to_string()))?;
    if !pair.names().iter().any(|name| name == host) {
        return Err(odd("it is for another host"));
    }
    if pair.expires() <= now {
        return Err(odd("it has expired already"));
    }
    let dates = plan::dates(pair.begins(), pair.expires(), fastrand::u16(..));
    Ok(Certificate::new((issued.chain, issued.key), directory, dates, now))
}

/// How often a gate looks at the store.
const POLL: Duration = Duration::from_secs(1);
/// Looks that every gate has time for before the authority is told to ask.
const LOOKS_FIRST: u32 = 3;
/// Looks at an empty store before something is ordered.
const EMPTY_LOOKS: u32 = 4;
/// For each step of an order.
const ORDER_WITHIN: Duration = Duration::from_secs(300);
/// How long an answer stays in the store, in milliseconds, where its order is never finished.
const CHALLENGE_MS: u64 = 600_000;
