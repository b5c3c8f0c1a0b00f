//! Which certificate a visitor gets: by the host that the handshake names (SNI, RFC 6066 section 3), the first one where it
//! names none or one that no certificate is for.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::sign::CertifiedKey;

use super::pair::{Origin, Pair};

/// Pairs with an index of their names; made anew when one of them changes.
#[derive(Debug)]
pub(super) struct Shelf {
    /// In the configuration's order. Where there is none, every handshake is refused.
    pub(super) pairs: Vec<Arc<Pair>>,
    /// Where they are from, in the same order; of no use in picking one.
    pub(super) origins: Vec<Origin>,
    exact: HashMap<String, Vec<usize>>,
    /// The suffix behind `*.`, which matches one label (RFC 9525, section 6.3).
    below: HashMap<String, Vec<usize>>,
}

impl Shelf {
    pub(super) fn new(pairs: Vec<Arc<Pair>>) -> Self {
        let (mut exact, mut below) = (HashMap::new(), HashMap::new());
        for (at, pair) in pairs.iter().enumerate() {
            for name in pair.names() {
                let (index, name) = match name.strip_prefix("*.") {
                    Some(name) => (&mut below, name),
                    None => (&mut exact, name.as_str()),
                };
                let places: &mut Vec<usize> = index.entry(name.to_owned()).or_default();
                places.push(at);
            }
        }
        let origins = Vec::new();
        Self {
            pairs,
            origins,
            exact,
            below,
        }
    }

    /// With the origins of its pairs, in the same order.
    pub(super) fn from(mut self, origins: Vec<Origin>) -> Self {
        self.origins = origins;
        self
    }

    /// The pair for a host, in any case. If several have the name, the first whose key the visitor can verify, so that an
    /// ECDSA certificate may be listed before an RSA one.
    pub(super) fn pick(&self, host: Option<&str>, schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let places = host.and_then(|host| self.places(&host.to_ascii_lowercase()));
        let places = places.unwrap_or(&[0]);
        let of = |at: &&usize| self.pairs.get(**at);
        let suits = |at: &&usize| of(at).is_some_and(|pair| pair.certified.key.choose_scheme(schemes).is_some());
        let at = places.iter().find(suits).or(places.first())?;
        self.pairs.get(*at).map(|pair| Arc::clone(&pair.certified))
    }

    fn places(&self, host: &str) -> Option<&[usize]> {
        let exact = self.exact.get(host);
        let found = exact.or_else(|| self.below.get(host.split_once('.')?.1));
        found.map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, SignatureAlgorithm};

    use super::*;
    use crate::tls::Files;

    fn pair(hosts: &[&str], algorithm: &'static SignatureAlgorithm) -> Arc<Pair> {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate_for(algorithm).unwrap();
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let certificate = CertificateParams::new(hosts).unwrap().self_signed(&key).unwrap();
        let files = Files {
            certificate: folder.path().join("pem"),
            key: folder.path().join("key"),
        };
        std::fs::write(&files.certificate, certificate.pem()).unwrap();
        std::fs::write(&files.key, key.serialize_pem()).unwrap();
        Arc::new(files.load().unwrap())
    }

    #[test]
    fn of_several_for_a_host_the_first_that_the_visitor_can_verify_is_picked() {
        let hosts = ["a.example", "*.a.example"];
        let pairs = [&PKCS_ED25519, &PKCS_ECDSA_P256_SHA256].map(|algorithm| pair(&hosts, algorithm));
        let shelf = Shelf::new(pairs.to_vec());
        let picked = |host: &str, schemes: &[SignatureScheme]| {
            let certified = shelf.pick(Some(host), schemes).unwrap();
            pairs
                .iter()
                .position(|pair| Arc::ptr_eq(&pair.certified, &certified))
                .unwrap()
        };
        let (ed25519, ecdsa) = (SignatureScheme::ED25519, SignatureScheme::ECDSA_NISTP256_SHA256);
        for host in hosts.map(|host| host.replace('*', "www")) {
            assert_eq!(picked(&host, &[ecdsa, ed25519]), 0, "{host}");
            assert_eq!(picked(&host, &[ecdsa]), 1, "{host}");
            assert_eq!(
                picked(&host, &[SignatureScheme::RSA_PSS_SHA256]),
                0,
                "rustls says what is wrong"
            );
        }
    }

    #[test]
    fn without_any_pair_nobody_is_shown_one() {
        assert!(
            Shelf::new(Vec::new())
                .pick(Some("a.example"), &[SignatureScheme::ED25519])
                .is_none()
        );
    }

    #[test]
    fn a_star_is_one_label_and_the_first_pair_is_for_everybody_else() {
        let pairs = [&["a.example"][..], &["*.b.example"], &["c.b.example", "B.example"]];
        let shelf = Shelf::new(pairs.map(|hosts| pair(hosts, &PKCS_ED25519)).to_vec());
        let picked = |host: Option<&str>| {
            let certified = shelf.pick(host, &[SignatureScheme::ED25519]).unwrap();
            let is_it = |pair: &Arc<Pair>| Arc::ptr_eq(&pair.certified, &certified);
            shelf.pairs.iter().position(is_it).unwrap()
        };
        for (host, at) in [
            ("a.example", 0),
            ("A.Example", 0),
            ("x.b.example", 1),
            ("c.b.example", 2),
            ("b.example", 2),
            ("x.x.b.example", 0),
            (".b.example", 1),
            ("b", 0),
            ("", 0),
        ] {
            assert_eq!(picked(Some(host)), at, "{host:?}");
        }
        assert_eq!(picked(None), 0);
    }
}
