//! New certificates while visitors come and go.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use ropeline::room::Wall;
use ropeline::time::wall;
use ropeline::tls::{Certificates, Files, Tls, Version, Watch};

use super::{GET, Shown};
use crate::certificates::{Authority, Issued, write_key};
use crate::client::Client;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

/// The certificate that a new visitor of `a.example` is shown.
fn shown_now(shown: &Shown, gate: &Gate) -> Vec<u8> {
    let mut client = shown.client(gate);
    assert_eq!(client.ask(GET).status, 200);
    client.tls.unwrap().peer_certificates().unwrap()[0].to_vec()
}

fn certificates(shown: &Shown) -> &Arc<Certificates> {
    shown.tls.certificates()
}

/// As many looks as it takes for a change to count.
fn look(shown: &Shown) {
    for _ in 0..2 {
        certificates(shown).look(wall());
    }
}

fn replace(shown: &Shown, issued: &Issued) {
    issued.write(shown.folder.path(), "0");
}

#[test]
fn new_connections_get_the_new_certificate_and_old_ones_go_on() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let mut running = shown.client(&gate);
    assert_eq!(running.ask(GET).status, 200);
    let old = shown_now(&shown, &gate);
    look(&shown);
    assert_eq!(
        (shown_now(&shown, &gate), certificates(&shown).reloaded()),
        (old.clone(), 0)
    );
    replace(&shown, &shown.authority.issue(&["a.example"]));
    look(&shown);
    let new = shown_now(&shown, &gate);
    assert!(new != old && certificates(&shown).reloaded() == 1);
    assert_eq!(running.ask(GET).status, 200);
    look(&shown);
    assert_eq!((certificates(&shown).reloaded(), certificates(&shown).kept()), (1, 0));
}

#[test]
fn a_pair_that_does_not_fit_keeps_the_old_one_and_is_told_once() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let old = shown_now(&shown, &gate);
    let (one, other) = (
        shown.authority.issue(&["a.example"]),
        shown.authority.issue(&["a.example"]),
    );
    let mixed = Issued {
        key: other.key,
        chain: one.chain.clone(),
    };
    let garbled = Issued {
        key: one.key.clone(),
        chain: one.chain.replace('a', "b"),
    };
    let empty = Issued {
        chain: String::new(),
        ..one.clone()
    };
    for (count, broken) in [(1, mixed), (2, garbled), (3, empty)] {
        replace(&shown, &broken);
        for _ in 0..3 {
            look(&shown);
        }
        assert_eq!(shown_now(&shown, &gate), old);
        assert_eq!(
            (certificates(&shown).kept(), certificates(&shown).reloaded()),
            (count, 0)
        );
    }
    fs::remove_file(shown.folder.path().join("0.pem")).unwrap();
    look(&shown);
    assert_eq!(
        (shown_now(&shown, &gate), certificates(&shown).kept()),
        (old.clone(), 4)
    );
    replace(&shown, &one);
    look(&shown);
    assert!(shown_now(&shown, &gate) != old && certificates(&shown).reloaded() == 1);
}

#[test]
fn a_pair_replaced_half_is_taken_once_it_is_whole() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let old = shown_now(&shown, &gate);
    let new = shown.authority.issue(&["a.example"]);
    let at = |name: &str| shown.folder.path().join(name);
    // The leaf alone is a valid pair, but it is only half written.
    write_key(&at("0.key"), &new.key);
    fs::write(at("0.pem"), new.leaf()).unwrap();
    certificates(&shown).look(wall());
    fs::write(at("0.pem"), &new.chain).unwrap();
    certificates(&shown).look(wall());
    assert_eq!(
        (shown_now(&shown, &gate), certificates(&shown).kept()),
        (old.clone(), 0)
    );
    certificates(&shown).look(wall());
    assert_ne!(shown_now(&shown, &gate), old);
    // The certificate first, the key some looks later.
    let (old, newer) = (shown_now(&shown, &gate), shown.authority.issue(&["a.example"]));
    fs::write(at("0.pem"), &newer.chain).unwrap();
    look(&shown);
    assert_eq!(
        (shown_now(&shown, &gate), certificates(&shown).kept()),
        (old.clone(), 1)
    );
    write_key(&at("0.key"), &newer.key);
    look(&shown);
    assert_ne!(shown_now(&shown, &gate), old);
}

#[test]
fn the_others_take_theirs_though_one_does_not_fit() {
    let shown = Shown::new(&[&["a.example"], &["b.example"]]);
    let shop = Shop::answering(OK);
    let gate = shown.gate(&shop);
    let of_b = || {
        let client = shown.visitor(&gate, "b.example", |_| {}).unwrap();
        client.tls.unwrap().peer_certificates().unwrap()[0].to_vec()
    };
    let (old, old_b) = (shown_now(&shown, &gate), of_b());
    fs::write(shown.folder.path().join("0.pem"), "nothing").unwrap();
    shown.authority.issue(&["b.example"]).write(shown.folder.path(), "1");
    let refused = certificates(&shown).reload_now(wall()).unwrap_err();
    assert!(
        refused.len() == 1 && refused[0].to_string().contains("0.pem"),
        "{refused:?}"
    );
    assert!(of_b() != old_b && shown_now(&shown, &gate) == old);
    assert_eq!((certificates(&shown).kept(), certificates(&shown).reloaded()), (1, 1));
}

#[test]
fn one_that_is_not_good_today_does_not_replace_one_that_is() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let old = shown_now(&shown, &gate);
    let key = rcgen::KeyPair::generate().unwrap();
    for (from, until, word) in [
        (2020, 2021, "expired on 2021-01-01"),
        (2088, 2089, "begins on 2088-01-01"),
    ] {
        replace(&shown, &shown.authority.issue_with(&["a.example"], &key, (from, until)));
        let refused = certificates(&shown).reload_now(wall()).unwrap_err();
        assert!(refused[0].to_string().contains(word), "{refused:?}");
        assert_eq!(shown_now(&shown, &gate), old);
    }
    // The day comes.
    look(&shown);
    let later = Wall(wall().0 + 64 * 365 * 86_400_000);
    certificates(&shown).look(later);
    assert_eq!(certificates(&shown).reloaded(), 1);
}

/// As Kubernetes mounts a Secret: the files are links through `..data`, which is swapped for another folder by a rename.
fn mount(folder: &Path, version: &str, issued: &Issued) {
    let data = folder.join(version);
    fs::create_dir(&data).unwrap();
    fs::write(data.join("tls.crt"), &issued.chain).unwrap();
    write_key(&data.join("tls.key"), &issued.key);
    symlink(version, folder.join("..data_tmp")).unwrap();
    fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
}

/// Certificates that are watched, in files of these names.
struct Watched {
    shown: Shown,
    gate: Gate,
    _watch: Watch,
}

impl Watched {
    fn new(shop: &Shop, authority: Authority, files: Files) -> Self {
        let certificates = Arc::new(Certificates::load(&[files]).unwrap());
        let watch = Watch::start(Arc::clone(&certificates), Duration::from_millis(5)).unwrap();
        let shown = Shown {
            tls: Arc::new(Tls::new(certificates, Version::Tls12, true).unwrap()),
            authority,
            folder: tempfile::tempdir().unwrap(),
        };
        Self {
            gate: shown.gate(shop),
            shown,
            _watch: watch,
        }
    }

    fn until_reloaded(&self, count: u64) {
        self.gate
            .until("the new certificate", |_| certificates(&self.shown).reloaded() == count);
    }
}

#[test]
fn a_swapped_link_above_the_files_is_seen() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    mount(folder.path(), "..2026_1", &authority.issue(&["a.example"]));
    for name in ["tls.crt", "tls.key"] {
        symlink(format!("..data/{name}"), folder.path().join(name)).unwrap();
    }
    let shop = Shop::answering(OK);
    let files = Files {
        certificate: folder.path().join("tls.crt"),
        key: folder.path().join("tls.key"),
    };
    let watched = Watched::new(&shop, authority, files);
    let old = shown_now(&watched.shown, &watched.gate);
    mount(
        folder.path(),
        "..2026_2",
        &watched.shown.authority.issue(&["a.example"]),
    );
    watched.until_reloaded(1);
    assert_ne!(shown_now(&watched.shown, &watched.gate), old);
}

#[test]
fn renamed_files_are_seen() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let files = super::files(&authority.issue(&["a.example"]), folder.path(), "0");
    let shop = Shop::answering(OK);
    let watched = Watched::new(&shop, authority, files.clone());
    for count in 1..=3 {
        let new = super::files(&watched.shown.authority.issue(&["a.example"]), folder.path(), "new");
        fs::rename(new.certificate, &files.certificate).unwrap();
        fs::rename(new.key, &files.key).unwrap();
        watched.until_reloaded(count);
    }
}

#[test]
fn nobody_is_refused_while_certificates_change_under_traffic() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let files = super::files(&authority.issue(&["a.example"]), folder.path(), "0");
    let shop = Shop::answering(OK);
    let watched = Watched::new(&shop, authority, files);
    let done = AtomicBool::new(false);
    let (shown, gate) = (&watched.shown, &watched.gate);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let config = shown.authority.shared_client();
                let mut kept = Client::secured(gate.address, "a.example", &config).unwrap();
                while !done.load(SeqCst) {
                    assert_eq!(kept.ask(GET).status, 200);
                    assert_eq!(shown.client(gate).ask(GET).status, 200);
                }
            });
        }
        for count in 1..=5 {
            shown.authority.issue(&["a.example"]).write(folder.path(), "0");
            watched.until_reloaded(count);
        }
        done.store(true, SeqCst);
    });
    assert_eq!(shown.tls.failed(), 0);
}
