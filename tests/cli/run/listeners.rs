//! Listeners other than a TCP port: the file of a Unix socket, and a proxy that announces its clients on it.

use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::PATIENCE;
use crate::gate::{Site, line_with};

/// A page that is asked for at a socket's file, with these bytes in front.
pub fn asks(path: &Path, before: &str, target: &str) -> String {
    let mut stream = UnixStream::connect(path).expect("somebody listens there");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let fields = "Host: shop.test\r\nConnection: close\r\nX-Forwarded-For: 203.0.113.77\r\nAccept: text/html\r\n\
                  Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document";
    write!(stream, "{before}GET {target} HTTP/1.1\r\n{fields}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.to_ascii_lowercase()
}

/// A site whose gate listens on a file too, with these lines more in `[server]`.
fn site(server: &str) -> (Site, PathBuf) {
    let site = Site::new("", "");
    let path = site.path("http.sock");
    let listen = format!("listen = [\"127.0.0.1:0\", \"unix:{}\"]\n{server}", path.display());
    site.edit("listen = [\"127.0.0.1:0\"]", &listen);
    (site, path)
}

#[test]
fn a_unix_socket_serves_visitors_and_goes_with_the_gate() {
    let (site, path) = site("unix_mode = \"0606\"");
    let gate = site.start();
    let found = path.metadata().unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o606);
    let serving = line_with(&gate.program.err(), "serving").unwrap();
    let places = format!("{}, unix:{}", gate.address, path.display());
    assert_eq!(serving["listen"], places.as_str(), "{serving}");

    let answer = asks(&path, "", "/deep?a=b");
    assert!(answer.starts_with("http/1.1 200 ok\r\n"), "{answer}");
    // An untrusted peer: its claims about other clients are dropped.
    assert!(answer.contains("x-forwarded-for: 127.0.0.1\r\n"), "{answer}");
    assert!(answer.contains("x-forwarded-port: 80\r\n"), "{answer}");
    assert!(gate.visitor().goes_to("/").word() == "waiting");
    assert_eq!(gate.stop().code, Some(0));
    assert!(!path.exists());
}

#[test]
fn who_is_behind_a_unix_socket_can_be_trusted_and_can_announce() {
    let (site, path) = site("trusted_proxies = [\"127.0.0.1\"]");
    let gate = site.start();
    let answer = asks(&path, "", "/");
    assert!(
        answer.contains("x-forwarded-for: 203.0.113.77, 127.0.0.1\r\n"),
        "{answer}"
    );
    assert_eq!(gate.stop().code, Some(0));

    let (site, path) = self::site("proxy_protocol = [\"127.0.0.1\"]");
    let gate = site.start();
    let answer = asks(&path, "PROXY TCP4 198.51.100.7 192.0.2.1 4000 443\r\n", "/");
    assert!(answer.contains("x-forwarded-for: 198.51.100.7\r\n"), "{answer}");
    assert_eq!(asks(&path, "", "/"), "");
    let figures = gate.asks_admin("/metrics").body;
    assert!(
        figures.contains("ropeline_connections_unannounced_total 1\n"),
        "{figures}"
    );
    let told = gate.logs("did not begin with a PROXY header");
    assert_eq!(told["level"], "WARN", "{told}");
}

#[test]
fn connections_over_a_unix_socket_are_not_one_client_s() {
    let (site, path) = site("max_connections_per_client = 1");
    let _gate = site.start();
    let open = [(); 3].map(|()| UnixStream::connect(&path).unwrap());
    assert!(asks(&path, "", "/").starts_with("http/1.1 200"));
    drop(open);
}

#[test]
fn a_file_left_by_a_killed_gate_is_replaced_and_one_in_use_is_not() {
    let (site, path) = site("");
    site.start().kill();
    assert!(path.exists());
    let gate = site.start();
    assert!(asks(&path, "", "/").starts_with("http/1.1 200"));
    gate.program.signal(Signal::TERM);
    assert_eq!(gate.program.ended().code, Some(0));

    let used = UnixListener::bind(&path).unwrap();
    let ended = site.run(&["run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told = format!("cannot listen on unix:{}", path.display());
    assert!(
        ended.err.contains(&told) && ended.err.contains("stop it, or set"),
        "{ended:?}"
    );
    drop(used);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "precious").unwrap();
    let ended = site.run(&["run"]);
    assert!(ended.code == Some(1) && ended.err.contains("no socket"), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}
