//! Certificates for the way to the shop are read and checked with the configuration that names them.

use std::fs;
use std::path::{Path, PathBuf};

use ropeline::config::{self, Report};

use crate::certificates::{Authority, Issued};

fn checked(keys: &str) -> Report {
    let text = format!("[upstream]\nurl = \"https://shop.internal\"\n{keys}\n[[room]]\nexcept = [\"/static/*\"]\n");
    config::check(&text, "config.toml")
}

fn shown((certificate, key): (PathBuf, PathBuf)) -> Report {
    checked(&format!(
        "client_cert_file = \"{}\"\nclient_key_file = \"{}\"",
        certificate.display(),
        key.display()
    ))
}

fn trusting(folder: &Path, pem: &str) -> Report {
    let path = folder.join("authorities.pem");
    fs::write(&path, pem).expect("written");
    checked(&format!("ca_file = \"{}\"", path.display()))
}

fn issued(authority: &Authority) -> Issued {
    authority.issue(&["gate.internal"])
}

#[test]
fn files_that_fit_are_good_without_a_word() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let own = issued(&authority);
    for report in [
        shown(own.write(folder.path(), "own")),
        trusting(folder.path(), &own.chain),
    ] {
        assert!(report.mistakes().is_empty() && report.warnings().is_empty(), "{report}");
    }
}

#[test]
fn key_that_is_not_the_certificates_is_a_mistake_that_names_the_files() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let own = Issued {
        key: issued(&authority).key,
        ..issued(&authority)
    };
    let (certificate, key) = own.write(folder.path(), "own");
    let told = shown((certificate.clone(), key.clone())).to_string();
    for part in [
        "upstream.client_cert_file",
        "does not belong",
        &certificate.display().to_string(),
        &key.display().to_string(),
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn files_that_only_look_like_pem_are_mistakes_that_name_them() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let good = issued(&authority);
    let garbled = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let bad = Issued {
        chain: garbled.to_owned(),
        ..good.clone()
    };
    let told = shown(bad.write(folder.path(), "bad")).to_string();
    assert!(
        told.contains("upstream.client_cert_file") && told.contains("bad"),
        "{told}"
    );
    let bad = Issued {
        key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".to_owned(),
        ..good.clone()
    };
    let (certificate, key) = bad.write(folder.path(), "odd");
    let told = shown((certificate, key.clone())).to_string();
    assert!(told.contains(&key.display().to_string()), "{told}");
    for pem in [
        garbled.to_owned(),
        format!("{}{garbled}", good.chain),
        good.chain.replacen("-----END", "----END", 1),
    ] {
        let told = trusting(folder.path(), &pem).to_string();
        assert!(
            told.contains("upstream.ca_file") && told.contains("authorities.pem"),
            "{told}"
        );
    }
}

#[test]
fn name_that_no_certificate_can_be_for_is_a_mistake() {
    let told = checked("server_name = \"shop.internal:443\"").to_string();
    assert!(told.contains("upstream.server_name"), "{told}");
}
