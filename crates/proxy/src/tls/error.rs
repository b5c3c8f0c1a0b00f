//! Errors in a certificate and its key, each with the correction.

use std::io;
use std::path::PathBuf;

use ropeline_ids::Wall;

use super::pair::date;

/// Why a certificate and a key cannot be used together. Never contains a key file's content.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
    #[error("{} cannot be read ({source})", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is longer than {} bytes", path.display(), super::pair::MAX_FILE)]
    TooLong { path: PathBuf },
    #[error("{} holds no certificate in PEM", path.display())]
    NoCertificate { path: PathBuf },
    #[error("certificate {place} in {} cannot be read", path.display())]
    Garbled { path: PathBuf, place: usize },
    #[error("{} holds no private key in PEM", path.display())]
    NoKey { path: PathBuf },
    #[error("the key in {} is locked with a password", path.display())]
    Locked { path: PathBuf },
    #[error("the key in {} is of no kind that can be used", path.display())]
    Kind { path: PathBuf },
    #[error("the key in {} does not belong to the certificate in {}", key.display(), certificate.display())]
    Mismatch {
        key: PathBuf,
        certificate: PathBuf,
        /// Which of the certificates it does belong to, counted from 1.
        place: Option<usize>,
    },
    #[error("certificate {} in {} did not issue the one before it", place, path.display())]
    Order { path: PathBuf, place: usize },
    #[error("the new certificate in {} expired on {}, the old one is good until {}", path.display(), date(*expired), date(*good))]
    Expired { path: PathBuf, expired: Wall, good: Wall },
    #[error("the new certificate in {} begins on {} only", path.display(), date(*begins))]
    Early { path: PathBuf, begins: Wall },
}

impl PairError {
    /// The correction.
    #[must_use]
    pub fn right(&self) -> String {
        match self {
            Self::Unreadable { .. } => "the path of a file that the gate's user may read".to_owned(),
            Self::TooLong { .. } | Self::NoCertificate { .. } | Self::Garbled { .. } => {
                "a PEM file with the certificate first and its issuers behind it, such as certbot's fullchain.pem".to_owned()
            }
            Self::NoKey { .. } => "a PEM file with the certificate's private key, such as certbot's privkey.pem".to_owned(),
            Self::Locked { path } => {
                let path = path.display();
                format!("the key without it: openssl pkey -in {path} -out plain.key")
            }
            Self::Kind { .. } => "an ECDSA key on P-256, P-384 or P-521, an Ed25519 key, or an RSA key of 2048 bits or more".to_owned(),
            Self::Mismatch { place: Some(place), .. } => format!("certificate {place} of the file put first: the key belongs to that one"),
            Self::Mismatch { .. } => {
                "the two files of one certificate; openssl x509 -pubkey -noout and openssl pkey -pubout say the same for them".to_owned()
            }
            Self::Order { .. } => "the visitor's certificate first, behind it the one that issued it, and so on; nothing else".to_owned(),
            Self::Expired { .. } | Self::Early { .. } => "a certificate that is good today".to_owned(),
        }
    }
}
