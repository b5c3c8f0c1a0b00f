//! A certificate and its key from two files, checked before use: the key belongs to the certificate, each certificate is
//! issued by the next, and the dates are known. The visitor's client decides whether to trust the authority.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::KeyProvider;
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{Error, InconsistentKeys};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest as _, Sha256};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use super::error::PairError;
use ropeline_ids::Wall;

/// Where a certificate and its key are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Files {
    /// The visitor's certificate, and behind it those that issued it.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Where a certificate is from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    Files(Files),
    /// An authority, by ACME.
    Acme,
}

/// The file, or `acme`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(files) => write!(f, "{}", files.certificate.display()),
            Self::Acme => f.write_str("acme"),
        }
    }
}

/// A certificate that can be shown, with the key that belongs to it.
#[derive(Debug)]
pub struct Pair {
    pub(super) certified: Arc<CertifiedKey>,
    names: Vec<String>,
    begins: Wall,
    expires: Wall,
    is_alone: bool,
    has_names: bool,
}

/// The content of two files. Has no `Debug`: one of them is a secret.
pub(super) struct Content {
    certificate: Result<Vec<u8>, PairError>,
    key: Result<Vec<u8>, PairError>,
}

/// Distinguishes contents; covers the reason if a file cannot be read.
pub(super) type Fingerprint = [u8; 32];

/// Something that works, and is probably not meant so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Oddity {
    pub wrong: String,
    pub right: String,
}

impl Files {
    pub(super) fn content(&self) -> Content {
        Content {
            certificate: read(&self.certificate),
            key: read(&self.key),
        }
    }

    /// Reads and checks both files.
    pub fn load(&self) -> Result<Pair, PairError> {
        self.check(self.content())
    }

    pub(super) fn check(&self, content: Content) -> Result<Pair, PairError> {
        self.check_bytes(&content.certificate?, &content.key?)
    }

    fn check_bytes(&self, certificate: &[u8], own: &[u8]) -> Result<Pair, PairError> {
        let (chain, parsed) = chain(&self.certificate, certificate)?;
        let key = key(&self.key, own)?;
        let certified = CertifiedKey::new(chain, Arc::clone(&key));
        match certified.keys_match() {
            Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(Error::InconsistentKeys(_)) => return Err(self.mismatch(&certified.cert, &key)),
            Err(_) => return Err(garbled(&self.certificate, 1)),
        }
        in_order(&self.certificate, &parsed)?;
        Ok(Pair::new(certified, &parsed))
    }

    fn mismatch(&self, chain: &[CertificateDer<'static>], key: &Arc<dyn SigningKey>) -> PairError {
        let fits = |one: &CertificateDer<'static>| {
            CertifiedKey::new(vec![one.clone()], Arc::clone(key))
                .keys_match()
                .is_ok()
        };
        PairError::Mismatch {
            key: self.key.clone(),
            certificate: self.certificate.clone(),
            place: chain.iter().position(fits).map(|at| at + 1),
        }
    }

    /// Warnings about files that can be used.
    #[must_use]
    pub fn oddities(&self, pair: &Pair, now: Wall) -> Vec<Oddity> {
        let path = self.certificate.display();
        let mut found = Vec::new();
        let mut odd = |wrong: String, right: &str| {
            found.push(Oddity {
                wrong,
                right: right.to_owned(),
            });
        };
        if pair.expires <= now {
            odd(
                format!("the certificate in {path} expired on {}", date(pair.expires)),
                "a new one: visitors are warned off",
            );
        }
        if pair.begins > now {
            let wrong = format!("the certificate in {path} begins on {} only", date(pair.begins));
            odd(wrong, "one that is good today, or this machine's clock set right");
        }
        if pair.is_alone {
            let wrong = format!("{path} holds one certificate and not the one that issued it");
            odd(
                wrong,
                "the whole chain, such as certbot's fullchain.pem, unless visitors know the issuer",
            );
        }
        if !pair.has_names {
            let wrong = format!("the certificate in {path} names no host (subjectAltName)");
            odd(wrong, "a certificate for the upstream's hosts: browsers take no other");
        }
        if is_open(&self.key) {
            let wrong = format!("every user of this machine may read the key in {}", self.key.display());
            odd(wrong, "a file of the gate's own user, chmod 600");
        }
        found
    }
}

impl Pair {
    /// Checks a chain and a key, in PEM, that are in no file; `place` names them in errors.
    pub fn parse(place: &str, chain: &[u8], key: &[u8]) -> Result<Self, PairError> {
        let named = Files {
            certificate: PathBuf::from(place),
            key: PathBuf::from(place),
        };
        named.check_bytes(chain, key)
    }

    fn new(certified: CertifiedKey, parsed: &[Certificate]) -> Self {
        let leaf = parsed[0].tbs_certificate();
        let names = leaf.get_extension::<SubjectAltName>().ok().flatten();
        let names = names.map(|(_, names)| names.0).unwrap_or_default();
        let host = |name: &GeneralName| match name {
            GeneralName::DnsName(name) => Some(name.as_str().to_ascii_lowercase()),
            _ => None,
        };
        Self {
            certified: Arc::new(certified),
            begins: wall(leaf.validity().not_before),
            expires: wall(leaf.validity().not_after),
            is_alone: parsed.len() == 1 && leaf.issuer() != leaf.subject(),
            has_names: !names.is_empty(),
            names: names.iter().filter_map(host).collect(),
        }
    }

    /// Its host names, in lower case; `*.` matches one label.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// From when on it is good.
    #[must_use]
    pub fn begins(&self) -> Wall {
        self.begins
    }

    /// Until when it is good.
    #[must_use]
    pub fn expires(&self) -> Wall {
        self.expires
    }

    pub(super) fn is_good(&self, now: Wall) -> bool {
        self.begins <= now && now < self.expires
    }
}

impl Content {
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        for part in [&self.certificate, &self.key] {
            match part {
                Ok(bytes) => {
                    hash.update(bytes.len().to_le_bytes());
                    hash.update(bytes);
                }
                Err(error) => hash.update(error.to_string()),
            }
        }
        hash.finalize().into()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, PairError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
    let path = path.to_owned();
    match read {
        Err(source) => Err(PairError::Unreadable { path, source }),
        Ok(_) if bytes.len() as u64 > MAX_FILE => Err(PairError::TooLong { path }),
        Ok(_) => Ok(bytes),
    }
}

/// All certificates of a file, in its order, as bytes and taken apart; at least one.
fn chain(path: &Path, pem: &[u8]) -> Result<(Vec<CertificateDer<'static>>, Vec<Certificate>), PairError> {
    let (mut chain, mut parsed) = (Vec::new(), Vec::new());
    for (place, one) in (1..).zip(CertificateDer::pem_slice_iter(pem)) {
        let one = one.map_err(|_| garbled(path, place))?;
        parsed.push(Certificate::from_der(&one).map_err(|_| garbled(path, place))?);
        chain.push(one);
    }
    if chain.is_empty() {
        return Err(PairError::NoCertificate { path: path.to_owned() });
    }
    Ok((chain, parsed))
}

fn garbled(path: &Path, place: usize) -> PairError {
    PairError::Garbled {
        path: path.to_owned(),
        place,
    }
}

/// SECURITY: the parser's error for a key's file may quote it, and is left out.
fn key(path: &Path, pem: &[u8]) -> Result<Arc<dyn SigningKey>, PairError> {
    let path = path.to_owned();
    let is_locked = LOCKED
        .iter()
        .any(|mark| pem.windows(mark.len()).any(|part| part == *mark));
    let Ok(key) = PrivateKeyDer::from_pem_slice(pem) else {
        return Err(if is_locked {
            PairError::Locked { path }
        } else {
            PairError::NoKey { path }
        });
    };
    let keys: &dyn KeyProvider = rustls::crypto::aws_lc_rs::default_provider().key_provider;
    keys.load_private_key(key).map_err(|_| PairError::Kind { path })
}

fn in_order(path: &Path, parsed: &[Certificate]) -> Result<(), PairError> {
    let issued = |pair: &[Certificate]| pair[0].tbs_certificate().issuer() == pair[1].tbs_certificate().subject();
    match parsed.windows(2).position(|pair| !issued(pair)) {
        Some(at) => Err(PairError::Order {
            path: path.to_owned(),
            place: at + 2,
        }),
        None => Ok(()),
    }
}

/// Whether everybody may read a file; one that cannot be looked at counts as closed.
fn is_open(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.permissions().mode() & 0o004 != 0)
}

fn wall(time: x509_cert::time::Time) -> Wall {
    Wall(u64::try_from(time.to_unix_duration().as_millis()).unwrap_or(u64::MAX))
}

/// A day and a time, in UTC, for people.
pub(super) fn date(at: Wall) -> String {
    let timestamp = i64::try_from(at.0)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    timestamp.map_or_else(
        || "a day beyond the calendar".to_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

/// Most bytes of a file: some hundreds of certificates.
pub(super) const MAX_FILE: u64 = 1 << 20;
/// Markers of a PEM file whose key needs a password: the present form, and the old one.
const LOCKED: [&[u8]; 2] = [b"ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED"];
