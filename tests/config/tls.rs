//! Certificates that a configuration names are read and checked with it.

use std::path::Path;

use rcgen::KeyPair;
use ropeline::config::{self, Report};

use crate::certificates::{Authority, Issued, write_key};

/// A configuration whose only certificate is this one.
fn checked(folder: &Path, issued: &Issued) -> Report {
    let (certificate, key) = issued.write(folder, "shop");
    named(&certificate, &key)
}

fn named(certificate: &Path, key: &Path) -> Report {
    let text = format!(
        "[server]\nlisten = []\n[upstream]\nurl = \"http://127.0.0.1:3000\"\n[[room]]\nexcept = [\"/static/*\"]\n[tls]\n\
         listen = [\"0.0.0.0:8443\"]\nredirect = true\nredirect_port = 443\nmin_version = \"1.3\"\n\
         certificates = [{{ cert_file = \"{}\", key_file = \"{}\" }}]\n",
        certificate.display(),
        key.display()
    );
    config::check(&text, "config.toml")
}

/// All mistakes and warnings, which never show what a key's file holds.
fn told(report: &Report, issued: &Issued) -> String {
    let told = report.to_string();
    for line in issued.key.lines().filter(|line| line.len() > 20) {
        assert!(!told.contains(line), "{told}");
    }
    told
}

#[test]
fn a_pair_that_fits_is_good_without_a_word() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let report = checked(folder.path(), &authority.issue(&["shop.example"]));
    assert!(report.mistakes().is_empty() && report.warnings().is_empty(), "{report}");
    let (config, _) = report.finish().expect("good");
    let said = config.describe();
    assert!(
        said.contains("cert_file = ") && said.contains("min_version = \"1.3\""),
        "{said}"
    );
    let again = config::check(&said, "described");
    assert!(again.mistakes().is_empty(), "{again}");
}

#[test]
fn a_pair_that_does_not_fit_is_a_mistake_that_says_what_would() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let (one, other) = (authority.issue(&["shop.example"]), authority.issue(&["shop.example"]));
    let between = one.chain.replacen(one.leaf(), "", 1);
    let with = |chain: String, key: &str| Issued {
        chain,
        key: key.to_owned(),
    };
    let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let cases = [
        (
            with(one.chain.clone(), &other.key),
            "does not belong to the certificate in",
            "openssl x509 -pubkey",
        ),
        (
            with(between.clone() + one.leaf(), &one.key),
            "does not belong",
            "certificate 2 of the file put first",
        ),
        (
            with(one.chain.clone() + other.leaf(), &one.key),
            "certificate 3 in",
            "the one that issued it, and so on",
        ),
        (
            with(one.chain.clone(), locked),
            "is locked with a password",
            "openssl pkey -in",
        ),
        (
            with(one.chain.clone(), &one.chain),
            "holds no private key",
            "privkey.pem",
        ),
        (with(one.key.clone(), &one.key), "holds no certificate", "fullchain.pem"),
        (
            with(one.chain.replacen("MII", "AAA", 1), &one.key),
            "certificate 1 in",
            "fullchain.pem",
        ),
        (
            with(
                one.chain.clone(),
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            ),
            "is of no kind",
            "P-256",
        ),
        (
            with("x".repeat((1 << 20) + 1), &one.key),
            "is longer than 1048576 bytes",
            "fullchain.pem",
        ),
    ];
    for (issued, wrong, right) in cases {
        let report = checked(folder.path(), &issued);
        let told = told(&report, &issued);
        assert_eq!(report.mistakes().len(), 1, "{told}");
        assert!(
            told.contains("line 12: tls.certificates: ") && told.contains(wrong) && told.contains(right),
            "{told}"
        );
    }
}

#[test]
fn what_is_odd_about_a_pair_is_a_warning() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let whole = authority.issue(&["shop.example"]);
    let key = KeyPair::generate().expect("a key");
    let alone = Issued {
        chain: whole.leaf().to_owned(),
        ..whole.clone()
    };
    let cases = [
        (
            authority.issue_with(&["shop.example"], &key, (2020, 2021)),
            "expired on 2021-01-01 00:00 UTC",
        ),
        (
            authority.issue_with(&["shop.example"], &key, (2088, 2090)),
            "begins on 2088-01-01 00:00 UTC only",
        ),
        (alone, "holds one certificate and not the one that issued it"),
        (authority.issue(&[]), "names no host"),
    ];
    for (issued, odd) in cases {
        let report = checked(folder.path(), &issued);
        let told = told(&report, &issued);
        assert!(
            report.mistakes().is_empty() && report.warnings().len() == 1 && told.contains(odd),
            "{told}"
        );
    }
}

#[test]
fn a_key_that_everybody_may_read_is_a_warning_and_one_of_a_group_is_none() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = Authority::new().issue(&["shop.example"]).write(folder.path(), "shop");
    for (mode, count) in [(0o640, 0), (0o644, 1)] {
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).expect("set");
        let report = named(&certificate, &key);
        assert_eq!(report.warnings().len(), count, "{report}");
    }
}

#[test]
fn one_file_may_hold_both() {
    let (folder, issued) = (
        tempfile::tempdir().expect("a folder"),
        Authority::new().issue(&["shop.example"]),
    );
    let path = folder.path().join("both.pem");
    write_key(&path, &(issued.key + &issued.chain));
    let report = named(&path, &path);
    assert!(report.mistakes().is_empty() && report.warnings().is_empty(), "{report}");
}

#[test]
fn a_certificate_named_twice_is_a_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = Authority::new().issue(&["shop.example"]).write(folder.path(), "shop");
    let one = format!(
        "{{ cert_file = \"{}\", key_file = \"{}\" }}",
        certificate.display(),
        key.display()
    );
    let text = format!("[upstream]\nurl = \"http://127.0.0.1:3000\"\n[tls]\ncertificates = [{one}, {one}]\n");
    let report = config::check(&text, "config.toml");
    assert_eq!(report.mistakes().len(), 1, "{report}");
    assert!(
        report.to_string().contains("stands twice") && report.to_string().contains("no listener shows them"),
        "{report}"
    );
}
