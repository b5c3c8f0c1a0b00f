//! The certificates in force, and how new ones take their place while connections come and go.
//!
//! A change is found by the files' content, not by their times: certbot swaps links, Kubernetes swaps a link above them,
//! editors rename, and some disks' clocks tick too slowly to distinguish two writes. A change counts once two looks in a row
//! have found the same content, so a half-written file, or a new certificate whose key is not there yet, changes nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::error::PairError;
use super::pair::{Files, Fingerprint, Origin, Pair, date};
use super::shelf::Shelf;
use ropeline_ids::Wall;

/// The certificates of a gate, shared by all its listeners.
#[derive(Debug)]
pub struct Certificates {
    shelf: ArcSwap<Shelf>,
    /// Those of files before those of hosts. Locked by changes only, one at a time, because a disk may block.
    kept: Mutex<Kept>,
    /// Certificates that answer an authority's challenge, by host.
    proofs: ArcSwap<HashMap<String, Arc<CertifiedKey>>>,
    reloaded: AtomicU64,
    refused: AtomicU64,
}

/// All pairs, in the order of the configuration.
#[derive(Debug)]
struct Kept {
    places: Vec<Place>,
    /// From an authority, by host.
    issued: Vec<(String, Arc<Pair>)>,
}

/// A pair's files, and their last observed state.
#[derive(Debug)]
struct Place {
    files: Files,
    pair: Arc<Pair>,
    in_force: Fingerprint,
    /// At the last look.
    seen: Fingerprint,
    /// Fingerprint of the files that were refused and logged.
    refused: Option<Fingerprint>,
}

/// Pairs that were read and checked, and may take the place of those in force.
#[derive(Debug)]
pub struct Renewal(Vec<Place>);

/// A certificate in force.
#[derive(Clone, Debug)]
pub struct InForce {
    /// The first host it is for; empty when it names none.
    pub name: String,
    pub origin: Origin,
    pub begins: Wall,
    pub expires: Wall,
}

impl Certificates {
    /// Reads and checks all pairs; `files` are in the order of the configuration. Empty where an authority is asked.
    pub fn load(files: &[Files]) -> Result<Self, PairError> {
        let kept = Kept {
            places: files.iter().cloned().map(Place::load).collect::<Result<Vec<_>, _>>()?,
            issued: Vec::new(),
        };
        Ok(Self {
            shelf: ArcSwap::from_pointee(kept.shelf()),
            kept: Mutex::new(kept),
            proofs: ArcSwap::default(),
            reloaded: AtomicU64::default(),
            refused: AtomicU64::default(),
        })
    }

    /// Takes the certificates that an authority issued, in place of those before; by the rule for files, a valid one is not
    /// replaced by an invalid one.
    pub fn take_issued(&self, mut issued: Vec<(String, Arc<Pair>)>, now: Wall) {
        let mut kept = self.lock();
        for (host, new) in &mut issued {
            let old = kept.issued.iter().find(|(before, _)| before == host);
            match old {
                Some((_, old)) if Arc::ptr_eq(old, new) => {}
                Some((_, old)) if old.is_good(now) && !new.is_good(now) => *new = Arc::clone(old),
                _ => {
                    tell(&format!("by ACME for {host}"), new);
                    self.reloaded.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        kept.issued = issued;
        self.shelf.store(Arc::new(kept.shelf()));
    }

    /// Takes the certificates that answer the challenges of orders under way (RFC 8737), in place of those before.
    pub fn take_proofs(&self, proofs: HashMap<String, Arc<CertifiedKey>>) {
        self.proofs.store(Arc::new(proofs));
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks all files; a change that has been stable since the last look is taken if it fits.
    pub fn look(&self, now: Wall) {
        self.go_over(Place::has_settled, now);
    }

    /// Takes all changed pairs that fit, at once; returns the reasons for those that do not. A pair that does not fit keeps
    /// its old certificate, and the others take their new ones all the same.
    pub fn reload_now(&self, now: Wall) -> Result<(), Vec<PairError>> {
        let refused = self.go_over(|_, _| true, now);
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// Reads and checks the pairs of another configuration by the same rules: a valid pair is not replaced by an invalid one.
    /// Changes nothing yet.
    pub fn prepare(&self, files: &[Files], now: Wall) -> Result<Renewal, PairError> {
        let kept = self.lock();
        let prepared = files.iter().map(|files| {
            let new = Place::load(files.clone())?;
            match kept.places.iter().find(|old| old.files == *files) {
                Some(old) if old.in_force != new.in_force => old.stands_back(&new.pair, now).map(|()| new),
                _ => Ok(new),
            }
        });
        prepared.collect::<Result<_, _>>().map(Renewal)
    }

    /// Puts the prepared pairs in force.
    pub fn take(&self, renewal: Renewal) {
        let mut kept = self.lock();
        for place in &renewal.0 {
            if !kept.places.iter().any(|old| old.in_force == place.in_force) {
                place.tell();
                self.reloaded.fetch_add(1, Ordering::Relaxed);
            }
        }
        kept.places = renewal.0;
        self.shelf.store(Arc::new(kept.shelf()));
    }

    fn go_over(&self, counts: impl Fn(&mut Place, Fingerprint) -> bool, now: Wall) -> Vec<PairError> {
        let mut kept = self.lock();
        let (mut refused, mut changed) = (Vec::new(), false);
        for place in &mut kept.places {
            let content = place.files.content();
            let fingerprint = content.fingerprint();
            if !counts(place, fingerprint) || fingerprint == place.in_force {
                continue;
            }
            match place.files.check(content).and_then(|pair| place.prefer(pair, now)) {
                Ok(pair) => {
                    place.take(pair, fingerprint);
                    self.reloaded.fetch_add(1, Ordering::Relaxed);
                    changed = true;
                }
                Err(error) => {
                    if place.refused.replace(fingerprint) != Some(fingerprint) {
                        self.refused.fetch_add(1, Ordering::Relaxed);
                        tracing::warn!(%error, right = error.right(), "a new certificate cannot be used; the old one stays");
                    }
                    refused.push(error);
                }
            }
        }
        if changed {
            self.shelf.store(Arc::new(kept.shelf()));
        }
        refused
    }

    /// Pairs that took the place of another.
    pub fn reloaded(&self) -> u64 {
        self.reloaded.load(Ordering::Relaxed)
    }

    /// Changes that were refused.
    pub fn kept(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// The certificates in force, in the configuration's order.
    #[must_use]
    pub fn in_force(&self) -> Vec<InForce> {
        let shelf = self.shelf.load();
        let shown = |(origin, pair): (&Origin, &Arc<Pair>)| InForce {
            name: pair.names().first().cloned().unwrap_or_default(),
            origin: origin.clone(),
            begins: pair.begins(),
            expires: pair.expires(),
        };
        shelf.origins.iter().zip(&shelf.pairs).map(shown).collect()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if is_challenge(&hello) {
            return self
                .proofs
                .load()
                .get(&hello.server_name()?.to_ascii_lowercase())
                .cloned();
        }
        self.shelf.load().pick(hello.server_name(), hello.signature_schemes())
    }
}

/// An authority offers its own protocol alone (RFC 8737, section 3).
fn is_challenge(hello: &ClientHello<'_>) -> bool {
    let mut offered = hello.alpn().into_iter().flatten();
    offered.next() == Some(CHALLENGE) && offered.next().is_none()
}

impl Kept {
    fn shelf(&self) -> Shelf {
        let files = self.places.iter();
        let files = files.map(|place| (Arc::clone(&place.pair), Origin::Files(place.files.clone())));
        let issued = self.issued.iter().map(|(_, pair)| (Arc::clone(pair), Origin::Acme));
        let (pairs, origins) = files.chain(issued).unzip();
        Shelf::new(pairs).from(origins)
    }
}

impl Place {
    fn load(files: Files) -> Result<Self, PairError> {
        let content = files.content();
        let fingerprint = content.fingerprint();
        let pair = files.check(content)?;
        Ok(Self {
            pair: Arc::new(pair),
            files,
            in_force: fingerprint,
            seen: fingerprint,
            refused: None,
        })
    }

    /// Whether the last look saw the same.
    fn has_settled(&mut self, fingerprint: Fingerprint) -> bool {
        if fingerprint == self.in_force {
            // The pair is as before, so a refusal is logged again if it comes back.
            self.refused = None;
        }
        std::mem::replace(&mut self.seen, fingerprint) == fingerprint
    }

    /// A certificate that is not good today does not replace one that is.
    fn prefer(&self, new: Pair, now: Wall) -> Result<Pair, PairError> {
        self.stands_back(&new, now).map(|()| new)
    }

    fn stands_back(&self, new: &Pair, now: Wall) -> Result<(), PairError> {
        if new.is_good(now) || !self.pair.is_good(now) {
            return Ok(());
        }
        let path = self.files.certificate.clone();
        Err(if new.begins() > now {
            let begins = new.begins();
            PairError::Early { path, begins }
        } else {
            let (expired, good) = (new.expires(), self.pair.expires());
            PairError::Expired { path, expired, good }
        })
    }

    fn take(&mut self, pair: Pair, fingerprint: Fingerprint) {
        self.pair = Arc::new(pair);
        (self.in_force, self.seen, self.refused) = (fingerprint, fingerprint, None);
        self.tell();
    }

    fn tell(&self) {
        tell(&self.files.certificate.display().to_string(), &self.pair);
    }
}

fn tell(certificate: &str, pair: &Pair) {
    tracing::info!(
        certificate,
        names = %pair.names().join(", "),
        expires = %date(pair.expires()),
        "a new certificate is in force"
    );
}

/// By which an authority looks at a certificate and says nothing (RFC 8737).
pub(super) const CHALLENGE: &[u8] = b"acme-tls/1";

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    /// Good from and until the first days of these years.
    fn pair(host: &str, (from, until): (i32, i32)) -> Arc<Pair> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        let certificate = params.self_signed(&key).unwrap();
        Arc::new(Pair::parse("a test", certificate.pem().as_bytes(), key.serialize_pem().as_bytes()).unwrap())
    }

    fn expiries(certificates: &Certificates) -> Vec<Wall> {
        certificates.in_force().iter().map(|one| one.expires).collect()
    }

    #[test]
    fn an_issued_certificate_takes_the_place_of_the_one_before_unless_it_is_not_good_today() {
        let certificates = Certificates::load(&[]).unwrap();
        assert!(certificates.in_force().is_empty());
        let (good, better) = (pair("a.example", (2020, 2090)), pair("a.example", (2021, 2091)));
        let (expired, other) = (pair("a.example", (2020, 2021)), pair("b.example", (2020, 2080)));
        // 2026.
        let now = Wall(1_790_000_000_000);
        let host = |pair: &Arc<Pair>| (pair.names()[0].clone(), Arc::clone(pair));
        certificates.take_issued(vec![host(&good)], now);
        certificates.take_issued(vec![host(&good), host(&other)], now);
        assert_eq!(expiries(&certificates), [good.expires(), other.expires()]);
        assert_eq!(certificates.reloaded(), 2);
        certificates.take_issued(vec![host(&expired), host(&other)], now);
        assert_eq!(expiries(&certificates), [good.expires(), other.expires()]);
        certificates.take_issued(vec![host(&better)], now);
        assert_eq!(expiries(&certificates), [better.expires()]);
        assert_eq!(certificates.reloaded(), 3);
        assert_eq!(certificates.in_force()[0].origin.to_string(), "acme");
    }
}
