//! Which certificate a visitor gets.

use rustls::{CertificateError, Error};

use super::Shown;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

/// The hosts of the certificate that a visitor of `host` is shown, where it is not for that host.
fn shown_instead(shown: &Shown, gate: &Gate, host: &str) -> Vec<String> {
    let error = shown.visitor(gate, host, |_| {}).err().expect("not for this host");
    let error = error.into_inner().and_then(|inner| inner.downcast::<Error>().ok());
    match error.as_deref() {
        Some(Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. })) => {
            presented.clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_host_gets_its_own_certificate_and_an_unknown_one_the_first() {
    let shown = Shown::new(&[&["a.example"], &["b.example", "*.c.example"]]);
    let shop = Shop::answering(OK);
    let gate = shown.gate(&shop);
    for host in ["a.example", "b.example", "www.c.example", "WWW.C.Example"] {
        let mut client = shown.visitor(&gate, host, |_| {}).unwrap();
        assert_eq!(client.ask(super::GET).status, 200, "{host}");
    }
    for host in ["d.example", "c.example", "deep.below.c.example"] {
        let presented = shown_instead(&shown, &gate, host);
        assert!(
            presented.iter().any(|name| name.contains("a.example")),
            "{host}: {presented:?}"
        );
    }
}

#[test]
fn who_names_no_host_gets_the_first_certificate() {
    let shown = Shown::new(&[&["a.example"], &["b.example"]]);
    let shop = Shop::answering(OK);
    let gate = shown.gate(&shop);
    let mut client = shown
        .visitor(&gate, "a.example", |config| config.enable_sni = false)
        .unwrap();
    assert_eq!(client.ask(super::GET).status, 200);
    assert!(
        shown
            .visitor(&gate, "b.example", |config| config.enable_sni = false)
            .is_err()
    );
}

#[test]
fn a_name_of_its_own_stands_before_a_wildcard() {
    let shown = Shown::new(&[&["*.a.example"], &["www.a.example"]]);
    let shop = Shop::answering(OK);
    let gate = shown.gate(&shop);
    let of = |host: &str| {
        let client = shown.visitor(&gate, host, |_| {}).unwrap();
        client.tls.unwrap().peer_certificates().unwrap()[0].to_vec()
    };
    assert_ne!(of("www.a.example"), of("shop.a.example"));
    assert_eq!(of("other.a.example"), of("shop.a.example"));
}
