//! Listeners of every kind are passed on; the present configuration decides about them.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use super::{Heir, Old};
use crate::PATIENCE;
use crate::gate::{Site, line_with};
use crate::harness::certificates::Authority;
use crate::program::Program;
use crate::run::listeners;
use crate::until;
use crate::visitor::Visitor;

#[test]
fn a_unix_socket_is_handed_over_with_its_file() {
    let site = Site::new("", "");
    let path = site.path("http.sock");
    let listen = format!("listen = [\"127.0.0.1:0\", \"unix:{}\"]", path.display());
    site.edit("listen = [\"127.0.0.1:0\"]", &listen);
    let mut old = Old::start(&site);
    let heir = Heir::after(&site, &old);
    old.ends();
    assert!(listeners::asks(&path, "", "/robots.txt").starts_with("http/1.1 200 ok\r\n"));
    let again = Heir::of(&site, heir.address, heir.admin);
    until("the end of the second", || (!heir.runs()).then_some(()));
    assert!(listeners::asks(&path, "", "/robots.txt").starts_with("http/1.1 200 ok\r\n"));
    again.stop();
    assert!(!path.exists(), "the last one removes it");
}

#[test]
fn a_unix_socket_stays_where_the_next_process_fails() {
    let site = Site::new("", "");
    let path = site.path("http.sock");
    let listen = format!("listen = [\"127.0.0.1:0\", \"unix:{}\"]", path.display());
    site.edit("listen = [\"127.0.0.1:0\"]", &listen);
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    site.edit("threads = 1", "threads = 1\nunix_mode = \"0606\"");
    let old = Old::start(&site);
    let key = std::fs::read(site.path("data/token.key")).unwrap();
    std::fs::write(site.path("data/token.key"), "no key").unwrap();
    site.edit("0606", "0600");
    assert_eq!(super::asks(&site, old.gate.admin).code, Some(1));
    assert!(listeners::asks(&path, "", "/robots.txt").starts_with("http/1.1 200 ok\r\n"));
    assert_eq!(mode(), 0o606);
    std::fs::write(site.path("data/token.key"), key).unwrap();
    let _heir = Heir::after(&site, &old);
    until("the mode of the new file", || (mode() == 0o600).then_some(()));
}

#[test]
fn addresses_are_those_of_the_configuration_by_now() {
    let site = Site::new("", "");
    let (gone, kept) = (site.path("gone.sock"), site.path("kept.sock"));
    let listen = |paths: [&Path; 2]| {
        let [one, other] = paths.map(|path| format!("\"unix:{}\"", path.display()));
        format!("listen = [\"127.0.0.1:0\", {one}, {other}]")
    };
    let new = site.path("new.sock");
    site.edit("listen = [\"127.0.0.1:0\"]", &listen([&gone, &kept]));
    let mut old = Old::start(&site);
    site.edit(&listen([&gone, &kept]), &listen([&kept, &new]));
    let heir = Heir::after(&site, &old);
    old.ends();
    for path in [&kept, &new] {
        assert!(listeners::asks(path, "", "/robots.txt").starts_with("http/1.1 200 ok\r\n"));
    }
    assert!(!gone.exists(), "nobody listens there any more");
    assert_eq!(Visitor::new(heir.address).goes_to("/robots.txt").status, 200);
}

#[test]
fn a_listener_with_tls_is_handed_over() {
    let authority = Authority::new();
    let issued = authority.issue(&["shop.test"]);
    let site = Site::new(
        "",
        "[tls]\nlisten = [\"127.0.0.1:0\"]\ncertificates = [{ cert_file = \"shop.pem\", key_file = \"shop.key\" }]",
    );
    issued.write(&site.path(""), "shop");
    std::fs::write(site.path("root.pem"), authority.pem()).unwrap();
    let mut old = Old::start(&site);
    let serving = line_with(&old.gate.program.err(), "serving").unwrap();
    let address: SocketAddr = serving["tls"].as_str().unwrap().parse().unwrap();
    let visits = || {
        let place = format!("shop.test:{}:127.0.0.1", address.port());
        let url = format!("https://shop.test:{}/robots.txt", address.port());
        let root = site.path("root.pem");
        let asked = Command::new("curl")
            .args(["-s", "-i", "--max-time", "60", "--resolve", &place, "--cacert"])
            .args([&root, Path::new(&url)])
            .output();
        String::from_utf8_lossy(&asked.unwrap().stdout).into_owned()
    };
    assert!(visits().contains("x-shop: yes"), "{}", visits());
    let _heir = Heir::after(&site, &old);
    old.ends();
    assert!(visits().contains("x-shop: yes"), "{}", visits());
}

#[test]
fn a_supervisor_hears_of_the_next_process_and_sockets_that_it_opened_are_handed_on() {
    let site = Site::new("", "");
    site.edit(
        "listen = [\"127.0.0.1:0\"]",
        "listen = [\"systemd:front\", \"systemd\"]",
    );
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(site.path("passed.sock")).unwrap();
    let (address, path) = (tcp.local_addr().unwrap(), site.path("passed.sock"));
    let ear = UnixDatagram::bind(site.path("notify")).unwrap();
    // Read at once, as a supervisor does: the kernel keeps ten messages, and later ones are lost.
    let (told, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut words = [0; 256];
        while let Ok(count) = ear.recv(&mut words) {
            let word = String::from_utf8_lossy(&words[..count]).into_owned();
            if told.send(word).is_err() {
                break;
            }
        }
    });
    let hears = |wanted: &str| {
        until(wanted, || {
            let word = heard.recv_timeout(PATIENCE).expect("it says something");
            word.starts_with(wanted).then_some(word)
        })
    };
    let notify = format!("NOTIFY_SOCKET={}", site.path("notify").display());
    let vars = [
        "LISTEN_FDS=2",
        "LISTEN_FDNAMES=public:front",
        &notify,
        "WATCHDOG_USEC=200000",
    ];
    let mut program = Program::start_with_sockets(&site.path(""), &["run"], [tcp.into(), unix.into()], &vars);
    assert_eq!(hears("READY=1"), "READY=1");
    let serving = until("word that it serves", || line_with(&program.err(), "serving"));
    let admin = serving["admin"].as_str().unwrap().parse().unwrap();
    // Two processes speak, each in its own time.
    let hears_of = |heir: &Heir| {
        let mut left = vec![format!("MAINPID={}", heir.pid.as_raw_nonzero()), "READY=1".to_owned()];
        until("word of the next process", || {
            let word = hears("");
            left.retain(|wanted| *wanted != word);
            left.is_empty().then_some(())
        });
    };
    let heir = Heir::of(&site, address, admin);
    hears_of(&heir);
    until("the end of the process before", || (!program.runs()).then_some(()));
    // From the next process: the one before is gone.
    hears("WATCHDOG=1");
    assert!(listeners::asks(&path, "", "/robots.txt").starts_with("http/1.1 200 ok\r\n"));
    assert_eq!(Visitor::new(address).goes_to("/robots.txt").status, 200);
    let again = Heir::of(&site, address, admin);
    hears_of(&again);
    assert!(listeners::asks(&path, "", "/robots.txt").starts_with("http/1.1 200 ok\r\n"));
    again.stop();
    assert_eq!(hears("STOPPING=1"), "STOPPING=1");
    assert!(path.exists(), "it is systemd's");
}
