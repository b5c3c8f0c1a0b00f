//! A gate started by systemd: socket activation, and its notifications.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

use rustix::process::Signal;

use crate::gate::{Site, line_with};
use crate::program::Program;
use crate::run::listeners::asks;
use crate::visitor::Visitor;
use crate::{PATIENCE, until};

/// A site that listens where systemd says, and the sockets it is given.
fn site(listen: &str) -> (Site, TcpListener, UnixListener) {
    let site = Site::new("", "");
    site.edit("listen = [\"127.0.0.1:0\"]", listen);
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(site.path("passed.sock")).unwrap();
    (site, tcp, unix)
}

fn starts(site: &Site, sockets: [OwnedFd; 2], vars: &[&str]) -> Program {
    Program::start_with_sockets(&site.path(""), &["run"], sockets, vars)
}

/// Where it says that it serves.
fn serving(program: &mut Program) -> String {
    until("word that it serves", || {
        assert!(program.runs(), "{}", program.err());
        let line = line_with(&program.err(), "serving")?;
        Some(line["listen"].as_str()?.to_owned())
    })
}

#[test]
fn passed_sockets_serve_by_name_and_are_not_removed() {
    let (site, tcp, unix) = site("listen = [\"systemd:front\", \"systemd\"]");
    let (address, path) = (tcp.local_addr().unwrap(), site.path("passed.sock"));
    // A visitor who came before the gate is served too.
    let early = std::thread::spawn({
        let path = path.clone();
        move || asks(&path, "", "/early")
    });
    let vars = ["LISTEN_FDS=2", "LISTEN_FDNAMES=public:front"];
    let mut program = starts(&site, [tcp.into(), unix.into()], &vars);
    assert_eq!(serving(&mut program), format!("unix:{}, {address}", path.display()));
    assert!(early.join().unwrap().contains("get /early"));
    assert!(["waiting", ""].contains(&Visitor::new(address).goes_to("/").word()));
    program.signal(Signal::TERM);
    assert_eq!(program.ended().code, Some(0));
    assert!(path.exists(), "it is systemd's");
}

#[test]
fn sockets_that_are_not_its_own_or_not_there_are_told() {
    for (listen, vars, told) in [
        (
            "systemd",
            &["LISTEN_FDS=2", "LISTEN_PID=1"][..],
            "passed no socket to this process",
        ),
        ("systemd", &["LISTEN_FDS=none"], "LISTEN_FDS is \"none\""),
        (
            "systemd:back",
            &["LISTEN_FDS=2", "LISTEN_FDNAMES=public:front"],
            "no socket with the name \"back\", only: public, front",
        ),
        (
            "systemd",
            &["LISTEN_FDS=3", "LISTEN_FDNAMES=a:b:c"],
            "the socket \"c\" that systemd passed cannot be used",
        ),
    ] {
        let (site, tcp, unix) = site(&format!("listen = [\"{listen}\"]"));
        let ended = starts(&site, [tcp.into(), unix.into()], vars).ended();
        assert_eq!(ended.code, Some(78), "not to be started again: {ended:?}");
        assert!(ended.err.contains(told), "{told} is not told: {ended:?}");
        assert!(!site.path("data").exists(), "nothing was written");
    }
}

#[test]
fn a_socket_that_does_not_listen_is_refused() {
    let (site, tcp, _) = site("listen = [\"systemd\"]");
    let (connected, _other) = UnixStream::pair().unwrap();
    let vars = ["LISTEN_FDS=2", "LISTEN_FDNAMES=a:b"];
    let mut program = starts(&site, [tcp.into(), connected.into()], &vars);
    let told = "the socket \"b\" that systemd passed cannot be used: it is not a stream socket that listens";
    until("its end", || (!program.runs()).then_some(()));
    assert!(program.ended().err.contains(told));
}

#[test]
fn a_supervisor_hears_when_it_is_ready_alive_and_about_to_end() {
    let (site, tcp, unix) = site("listen = [\"systemd\"]");
    let ear = UnixDatagram::bind(site.path("notify")).unwrap();
    ear.set_read_timeout(Some(PATIENCE)).unwrap();
    let hears = || {
        let mut words = [0; 256];
        let count = ear.recv(&mut words).expect("it says something");
        String::from_utf8_lossy(&words[..count]).into_owned()
    };
    let notify = format!("NOTIFY_SOCKET={}", site.path("notify").display());
    let vars = ["LISTEN_FDS=2", &notify, "WATCHDOG_USEC=200000"];
    let mut program = starts(&site, [tcp.into(), unix.into()], &vars);
    assert_eq!(hears(), "READY=1");
    serving(&mut program);
    assert_eq!([hears(), hears(), hears()], ["WATCHDOG=1"; 3]);
    program.signal(Signal::HUP);
    // It is alive every second: what never comes is missed after so many words, and not waited for.
    let other = || {
        let mut words = (0..PATIENCE.as_secs()).map(|_| hears());
        words.find(|word| word != "WATCHDOG=1").expect("another word")
    };
    let (reloading, ready) = (other(), other());
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert_eq!(ready, "READY=1");
    program.signal(Signal::TERM);
    assert_eq!(other(), "STOPPING=1");
    assert_eq!(program.ended().code, Some(0));
}
