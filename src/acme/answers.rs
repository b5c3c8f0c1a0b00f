//! Answers to challenges, in memory: every gate has those of all orders, since it cannot know which gate the authority asks.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use rustls::crypto::KeyProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest as _, Sha256};

use super::record::Challenge;
use crate::config::ChallengeKind;

/// The answers over HTTP (RFC 8555, section 8.3), by token. Read by every request for one, without a lock.
#[derive(Debug, Default)]
pub struct Answers(ArcSwap<HashMap<String, String>>);

impl Answers {
    /// The answer to this token; `None`: it is of no order of the gates.
    #[must_use]
    pub fn to(&self, token: &str) -> Option<String> {
        self.0.load().get(token).cloned()
    }

    pub(super) fn set(&self, challenges: &[Challenge]) {
        let http = challenges.iter().filter(|one| one.kind == ChallengeKind::Http01);
        let all = http.map(|one| (one.token.clone(), one.key_authorization.clone()));
        self.0.store(Arc::new(all.collect()));
    }
}

/// The certificates that answer over TLS (RFC 8737, section 3), by host.
pub(super) fn over_tls(challenges: &[Challenge]) -> HashMap<String, Arc<CertifiedKey>> {
    let tls = challenges.iter().filter(|one| one.kind == ChallengeKind::TlsAlpn01);
    let made = tls.filter_map(|one| match certificate(one) {
        Ok(certificate) => Some((one.host.clone(), Arc::new(certificate))),
        Err(reason) => {
            tracing::error!(host = one.host, reason, "the answer to a challenge cannot be made");
            None
        }
    });
    made.collect()
}

/// Signed by itself, for this host alone, with the digest of the answer in it.
fn certificate(challenge: &Challenge) -> Result<CertifiedKey, String> {
    let wrong = |error: &dyn ToString| error.to_string();
    let key = KeyPair::generate().map_err(|error| wrong(&error))?;
    let mut params = CertificateParams::new([challenge.host.clone()]).map_err(|error| wrong(&error))?;
    params.distinguished_name = DistinguishedName::new();
    let digest = Sha256::digest(&challenge.key_authorization);
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(&digest)];
    let made = params.self_signed(&key).map_err(|error| wrong(&error))?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let keys: &dyn KeyProvider = rustls::crypto::aws_lc_rs::default_provider().key_provider;
    let key = keys.load_private_key(key).map_err(|error| wrong(&error))?;
    Ok(CertifiedKey::new(vec![made.der().clone()], key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline_ids::Wall;

    fn challenge(host: &str, kind: ChallengeKind) -> Challenge {
        Challenge {
            host: host.to_owned(),
            kind,
            token: format!("token-of-{host}"),
            key_authorization: format!("token-of-{host}.thumbprint"),
            until: Wall(0),
        }
    }

    #[test]
    fn each_kind_of_challenge_is_answered_where_it_is_asked() {
        let all = [
            challenge("a.example", ChallengeKind::Http01),
            challenge("b.example", ChallengeKind::TlsAlpn01),
        ];
        let answers = Answers::default();
        answers.set(&all);
        assert_eq!(
            answers.to("token-of-a.example").as_deref(),
            Some("token-of-a.example.thumbprint")
        );
        assert_eq!(answers.to("token-of-b.example"), None);
        let made = over_tls(&all);
        assert_eq!(made.keys().collect::<Vec<_>>(), ["b.example"]);
        // The extension of RFC 8737 with the digest, critical.
        let digest = Sha256::digest("token-of-b.example.thumbprint");
        let der = made["b.example"].end_entity_cert().unwrap();
        let extension = [&[0x01, 0x01, 0xFF, 0x04, 0x22, 0x04, 0x20][..], &digest].concat();
        assert!(der.windows(extension.len()).any(|part| part == extension));
        answers.set(&[]);
        assert_eq!(answers.to("token-of-a.example"), None);
    }
}
