//! A name of the shop that moves to another address, seen by a gate whose `/etc/hosts` belongs to the test.
//!
//! The test starts itself again in a mount namespace (`unshare` of util-linux), where that file is covered by another. Where
//! the system allows no namespaces it says so and proves nothing.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ropeline::proxy::{ConnectionBound, UpstreamServers, UpstreamSettings};

use crate::gate::Gate;
use crate::shop::Shop;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const NAME: &str = "shop.moves.test";
const SOON: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(3600);
/// Names the file that covers `/etc/hosts`.
const HOSTS: &str = "ROPELINE_TEST_HOSTS";

#[expect(clippy::disallowed_methods, reason = "set by this function alone, for itself")]
fn own_hosts() -> Option<std::ffi::OsString> {
    std::env::var_os(HOSTS)
}

/// Runs `test` again with a hosts file of its own, and gives that file to it.
fn with_hosts(test: &str, run: impl FnOnce(&Path)) {
    if let Some(hosts) = own_hosts() {
        return run(Path::new(&hosts));
    }
    let unshared = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount"]);
        command
    };
    if !unshared().arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("not run: no mount namespaces here");
        return;
    }
    let hosts = tempfile::NamedTempFile::new().unwrap();
    let covered = format!("mount --bind \"${HOSTS}\" /etc/hosts && exec \"$0\" \"$@\"");
    let output = unshared()
        .args(["sh", "-c", &covered])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(HOSTS, hosts.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}

fn point(hosts: &Path, addresses: &[&str]) {
    let lines: Vec<String> = addresses.iter().map(|address| format!("{address} {NAME}\n")).collect();
    std::fs::write(hosts, lines.concat()).unwrap();
}

/// Two shops at one port of two addresses.
fn pair() -> (Shop, Shop) {
    let script = |answer: &'static str| {
        move |line: &mut crate::shop::Line| {
            while line.request().is_some() {
                line.send(answer);
            }
        }
    };
    let listeners = (0..100).find_map(|_| {
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        let second = TcpListener::bind(SocketAddr::from(([127, 0, 0, 2], port))).ok()?;
        Some((first, second))
    });
    let (first, second) = listeners.unwrap();
    (
        Shop::at(first, script("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")),
        Shop::at(second, script("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb")),
    )
}

#[test]
fn name_is_looked_up_again_and_connections_to_where_it_was_are_closed() {
    with_hosts(
        "upstream::moved::name_is_looked_up_again_and_connections_to_where_it_was_are_closed",
        |hosts| {
            for bound in [None, Some(1)] {
                moves(hosts, bound);
            }
        },
    );
}

fn moves(hosts: &Path, bound: Option<u32>) {
    let (old, new) = pair();
    point(hosts, &["127.0.0.1"]);
    let gate = Gate::with(old.address, |setup| {
        setup.upstream = UpstreamSettings::new(NAME, old.address.port());
        setup.upstream.resolve_every = Duration::from_millis(5);
        setup.upstream.bound = bound.map(|connections| ConnectionBound {
            connections,
            waiting: 9,
            wait: LONG,
        });
        setup.upstream.idle = LONG;
    });
    assert_eq!(gate.client().ask(GET).body, "a");
    point(hosts, &["127.0.0.2"]);
    gate.until("it has moved", |gate| {
        let standing = gate.origins.standing();
        standing.len() == 1 && standing[0].server.ends_with("(127.0.0.2)")
    });
    old.until_closed(1);
    assert_eq!(gate.client().ask(GET).body, "b");
    assert_eq!((old.connections(), new.connections()), (1, 1));
}

fn looking_up(shop: &Shop, every: Duration) -> UpstreamSettings {
    UpstreamSettings {
        resolve_every: every,
        idle: LONG,
        ..UpstreamSettings::new(NAME, shop.address.port())
    }
}

fn origins_of(gate: &Gate) -> Vec<(String, u32)> {
    let shown = |server: ropeline::proxy::Standing| (server.server, server.weight);
    gate.origins.standing().into_iter().map(shown).collect()
}

#[test]
fn look_ups_for_servers_that_never_come_in_force_change_nothing() {
    with_hosts(
        "upstream::moved::look_ups_for_servers_that_never_come_in_force_change_nothing",
        |hosts| {
            let (old, new) = pair();
            point(hosts, &["127.0.0.1"]);
            let gate = Gate::with(old.address, |setup| setup.upstream = looking_up(&old, LONG));
            assert_eq!(gate.client().ask(GET).body, "a");
            point(hosts, &["127.0.0.2"]);
            let refused = UpstreamSettings {
                retries: 0,
                ..looking_up(&old, SOON)
            };
            let refused = UpstreamServers::prepare(refused).unwrap();
            let control = Gate::with(new.address, |setup| setup.upstream = looking_up(&new, SOON));
            for back in ["127.0.0.1", "127.0.0.2"] {
                point(hosts, &[back]);
                control.until("it has looked", |gate| {
                    let origins = origins_of(gate);
                    origins.len() == 1 && origins[0].0.ends_with(&format!("({back})"))
                });
            }
            drop(refused);
            assert!((0..3).all(|_| gate.client().ask(GET).body == "a"));
            assert_eq!(old.connections(), 1, "it is kept as before");
        },
    );
}
