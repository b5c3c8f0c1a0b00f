//! Upgrades that fail: the gate goes on as before, its log too, and says why.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::rooms::{THREADS, failing};
use super::{Heir, Old, asks, epoch, figure};
use crate::PATIENCE;
use crate::gate::Site;
use crate::harness::redis::{Options, Server};
use crate::program::Ended;
use crate::until;

const FAILED: &str = "ropeline_upgrades_failed_total";

/// The gate is unchanged: waiting visitors wait, new ones are numbered, and the log is the same.
fn goes_on(old: &mut Old, epoch_before: &str, position: u64) {
    assert!(old.gate.program.runs());
    let mut waiting = old.gate.waits(position);
    assert_eq!(waiting.position(), Some(position));
    assert_eq!(epoch(old.gate.admin), epoch_before);
    assert!(old.gate.asks_admin("/readyz").status == 200);
}

/// The line may be written a moment after the answer.
pub fn says_so(old: &Old) {
    until("word of it", || {
        let said = old.gate.program.err();
        said.contains("this process goes on as before").then_some(())
    });
}

fn is_refused(ended: &Ended, why: &str) {
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains(why), "{why} is not said: {ended:?}");
}

#[test]
fn a_configuration_with_a_mistake_is_told_and_the_gate_goes_on() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    old.gate.insider();
    let before = epoch(old.gate.admin);
    site.edit("threads = 1", "threads = \"many\"");
    is_refused(&asks(&site, old.gate.admin), "threads");
    assert_eq!(figure(old.gate.admin, FAILED), 1);
    says_so(&old);
    goes_on(&mut old, &before, 1);
    site.edit("threads = \"many\"", "threads = 1");
    let heir = Heir::after(&site, &old);
    old.ends();
    assert_eq!(epoch(heir.admin), before);
}

/// An older binary, to which an upgrade goes back, may not know it.
#[test]
fn the_word_for_a_first_start_is_not_passed_on() {
    let site = Site::new("", "");
    let old = Old::start(&site);
    old.replace_by("echo \"$*\" >arguments; exit 3");
    is_refused(&asks(&site, old.gate.admin), "ended (exit status: 3)");
    let passed_on = std::fs::read_to_string(site.path("arguments")).unwrap();
    assert_eq!(passed_on, "run\n");
}

#[test]
fn a_binary_that_ends_or_is_none_or_hangs_is_told_and_the_gate_goes_on() {
    let site = Site::new("", "");
    site.edit("threads = 1", "threads = 1\nupgrade_deadline = \"1s\"");
    let mut old = Old::start(&site);
    old.gate.insider();
    let before = epoch(old.gate.admin);
    old.replace_by("exit 3");
    is_refused(
        &asks(&site, old.gate.admin),
        "ended (exit status: 3) before it was ready",
    );
    goes_on(&mut old, &before, 1);
    old.replace_by("exec cat > /dev/null");
    is_refused(&asks(&site, old.gate.admin), "was not ready within 1 s, and was ended");
    goes_on(&mut old, &before, 2);
    old.replace_by("echo noise >&0; exec cat > /dev/null");
    is_refused(&asks(&site, old.gate.admin), "before it was ready");
    assert_eq!(figure(old.gate.admin, FAILED), 3);
    std::fs::remove_file(site.path("ropeline")).unwrap();
    is_refused(&asks(&site, old.gate.admin), "cannot be started: No such file");
    goes_on(&mut old, &before, 3);
    assert_eq!(figure(old.gate.admin, FAILED), 4);
}

#[test]
fn a_binary_that_takes_the_store_and_does_not_serve_is_told_and_the_gate_serves_again() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    old.gate.insider();
    let before = epoch(old.gate.admin);
    let mut waiting = old.gate.waits(1);
    old.replace_by("echo '\"wants_store\"' >&0; head -n 2 <&0 > /dev/null; echo taken >&2; exec cat > /dev/null");
    let (ended, mut newcomer) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| asks(&site, old.gate.admin));
        until("the closed store", || {
            old.gate.program.err().contains("taken\n").then_some(())
        });
        // Comes while no process accepts, and waits in the socket's queue.
        let newcomer = old.gate.waits(2);
        (asked.join().unwrap(), newcomer)
    });
    is_refused(&ended, "did not serve within 5 s of getting the store, and was ended");
    goes_on(&mut old, &before, 3);
    assert_eq!((waiting.position(), newcomer.position()), (Some(1), Some(2)));
}

#[test]
fn a_bad_key_is_told_before_the_store_is_asked_for() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    old.gate.insider();
    let before = epoch(old.gate.admin);
    std::fs::write(site.path("data/token.key"), "no key").unwrap();
    let mut idle = TcpStream::connect(old.gate.address).unwrap();
    idle.set_read_timeout(Some(PATIENCE)).unwrap();
    idle.write_all(b"GET /robots.txt HTTP/1.1\r\nHo").unwrap();
    is_refused(&asks(&site, old.gate.admin), "key");
    // The server went on: it would close the connection with the answer otherwise.
    idle.write_all(b"st: shop.test\r\n\r\n").unwrap();
    let mut answer = [0; 4096];
    let count = idle.read(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer[..count]).to_ascii_lowercase();
    assert!(answer.starts_with("http/1.1 200 ok\r\n"), "{answer}");
    assert!(!answer.contains("connection: close\r\n"), "{answer}");
    goes_on(&mut old, &before, 1);
}

/// It has the store open already, and has to give it back.
#[test]
fn a_next_process_that_fails_with_the_store_in_its_hands_gives_it_back() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    old.gate.insider();
    let before = epoch(old.gate.admin);
    let mut waiting = old.gate.waits(1);
    site.edit("threads = 1", THREADS);
    old.replace_by(&failing());
    is_refused(&asks(&site, old.gate.admin), "no threads: Too many open files");
    goes_on(&mut old, &before, 2);
    assert_eq!(waiting.position(), Some(1));
    old.replace_by(&format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_ropeline")));
    let heir = Heir::after(&site, &old);
    assert_eq!((waiting.position(), epoch(heir.admin)), (Some(1), before));
    old.ends();
}

#[test]
fn another_store_is_refused_and_so_is_an_address_that_is_taken() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    old.gate.insider();
    let before = epoch(old.gate.admin);
    site.edit("embedded:data", "embedded:other");
    is_refused(&asks(&site, old.gate.admin), "[store] url is not the running gate's");
    goes_on(&mut old, &before, 1);
    let store = Server::start(&Options::default());
    site.edit("embedded:other", &store.url());
    site.edit(
        "[limits]",
        "[tokens]\nkeys = [{ id = \"test\", secret = \"a secret of the tests, long enough for any ring\" }]\n[limits]",
    );
    is_refused(&asks(&site, old.gate.admin), "[store] url is not the running gate's");
    site.edit(&store.url(), "embedded:data");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("listen = [\"127.0.0.1:0\", \"{}\"]", taken.local_addr().unwrap());
    site.edit("listen = [\"127.0.0.1:0\"]", &listen);
    is_refused(&asks(&site, old.gate.admin), "something listens there already");
    goes_on(&mut old, &before, 2);
}

/// The gate that runs has the rooms in memory, and is the only one that does.
#[test]
fn a_next_process_that_cannot_read_the_rooms_takes_over_from_nobody() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let mut old = Old::start(&site);
    old.gate.lives();
    let mut inside = old.gate.insider();
    let mut waiting = old.gate.waits(1);
    store.kill();
    is_refused(&asks(&site, old.gate.admin), "the store has not let it read the rooms");
    assert!(old.gate.program.runs() && inside.goes_to("/basket").is_the_shops());
    assert_eq!((waiting.goes_to("/").word(), waiting.position()), ("waiting", Some(1)));
    assert_eq!(figure(old.gate.admin, FAILED), 1);
}

#[test]
fn a_gate_that_is_told_to_stop_during_an_upgrade_stops_and_ends_what_it_started() {
    let site = Site::new("", "");
    let old = Old::start(&site);
    old.gate.insider();
    let mut waiting = old.gate.waits(1);
    old.replace_by("echo started >&2; exec cat > /dev/null");
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| asks(&site, old.gate.admin));
        until("the next process", || {
            old.gate.program.err().contains("started\n").then_some(())
        });
        old.gate.program.signal(rustix::process::Signal::TERM);
        is_refused(&asked.join().unwrap(), "told to stop meanwhile");
    });
    // It has the other end of what the process says: were it there, this would not end.
    assert_eq!(old.gate.program.ended().code, Some(0));
    let gate = site.start();
    waiting.at = gate.address;
    assert_eq!(waiting.position(), Some(1));
}
