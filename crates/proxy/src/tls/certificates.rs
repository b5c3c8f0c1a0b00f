//! The certificates in force, and how new ones take their place while connections come and go.
//!
//! A change is found by the files' content, not by their times: certbot swaps links, Kubernetes swaps a link above them,
//! editors rename, and some disks' clocks tick too slowly to distinguish two writes. A change counts once two looks in a row
//! have found the same content, so a half-written file, or a new certificate whose key is not there yet, changes nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::error::PairError;
use super::pair::{Files, Fingerprint, Pair, date};
use super::shelf::Shelf;
use ropeline_ids::Wall;

/// The certificates of a gate, shared by all its listeners.
#[derive(Debug)]
pub struct Certificates {
    shelf: ArcSwap<Shelf>,
    /// In the order of the configuration, as are the shelf's pairs. Locked by reloads only, one at a time, because a disk may
    /// block.
    places: Mutex<Vec<Place>>,
    reloaded: AtomicU64,
    kept: AtomicU64,
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
    pub files: Files,
    pub expires: Wall,
}

impl Certificates {
    /// Reads and checks all pairs; `files` are in the order of the configuration, and not empty.
    pub fn load(files: &[Files]) -> Result<Self, PairError> {
        let places = files.iter().cloned().map(Place::load).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            shelf: ArcSwap::from_pointee(shelf(&places)),
            places: Mutex::new(places),
            reloaded: AtomicU64::default(),
            kept: AtomicU64::default(),
        })
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
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = files.iter().map(|files| {
            let new = Place::load(files.clone())?;
            match places.iter().find(|old| old.files == *files) {
                Some(old) if old.in_force != new.in_force => old.stands_back(&new.pair, now).map(|()| new),
                _ => Ok(new),
            }
        });
        prepared.collect::<Result<_, _>>().map(Renewal)
    }

    /// Puts the prepared pairs in force.
    pub fn take(&self, renewal: Renewal) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        for place in &renewal.0 {
            if !places.iter().any(|old| old.in_force == place.in_force) {
                place.tell();
                self.reloaded.fetch_add(1, Ordering::Relaxed);
            }
        }
        *places = renewal.0;
        self.shelf.store(Arc::new(shelf(&places)));
    }

    fn go_over(&self, counts: impl Fn(&mut Place, Fingerprint) -> bool, now: Wall) -> Vec<PairError> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut refused, mut changed) = (Vec::new(), false);
        for place in places.iter_mut() {
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
                        self.kept.fetch_add(1, Ordering::Relaxed);
                        tracing::warn!(%error, right = error.right(), "a new certificate cannot be used; the old one stays");
                    }
                    refused.push(error);
                }
            }
        }
        if changed {
            self.shelf.store(Arc::new(shelf(&places)));
        }
        refused
    }

    /// Pairs that took the place of another.
    pub fn reloaded(&self) -> u64 {
        self.reloaded.load(Ordering::Relaxed)
    }

    /// Changes that were refused.
    pub fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    /// The certificates in force, in the configuration's order.
    #[must_use]
    pub fn in_force(&self) -> Vec<InForce> {
        let shelf = self.shelf.load();
        let shown = |(files, pair): (&Files, &Arc<Pair>)| InForce {
            name: pair.names().first().cloned().unwrap_or_default(),
            files: files.clone(),
            expires: pair.expires(),
        };
        shelf.files.iter().zip(&shelf.pairs).map(shown).collect()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.shelf.load().pick(hello.server_name(), hello.signature_schemes())
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
        tracing::info!(
            certificate = %self.files.certificate.display(),
            names = %self.pair.names().join(", "),
            expires = %date(self.pair.expires()),
            "a new certificate is in force"
        );
    }
}

fn shelf(places: &[Place]) -> Shelf {
    let files = places.iter().map(|place| place.files.clone()).collect();
    let pairs = places.iter().map(|place| Arc::clone(&place.pair)).collect();
    Shelf::new(pairs).from(files)
}
