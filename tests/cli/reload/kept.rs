//! State that a reload keeps, and state that it must not keep: the shop's servers, connections to them, keys, trusted
//! proxies.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rustix::process::Signal;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, StreamOwned};
use rustls_pki_types::ServerName;
use serde_json::Value;

use super::taken;
use crate::gate::{Gate, Site, line_with};
use crate::harness::certificates::Authority;
use crate::shop::Shop;
use crate::store::outage::{fill_disk, free_disk};
use crate::upgrade::{Heir, Old};
use crate::visitor::Visitor;
use crate::{PATIENCE, until};

fn server(gate: &Gate, address: SocketAddr) -> Value {
    let servers = gate.asks_admin("/api/v1/upstreams").json();
    let mut list = servers["upstreams"].as_array().expect("a list").iter();
    let named = list.find(|server| server["origin"] == address.to_string());
    named.unwrap_or_else(|| panic!("no {address} in {servers}")).clone()
}

#[test]
fn a_server_that_stays_keeps_how_it_stands_and_takes_its_weight() {
    // Bound and never listening: no other process gets the port, and no connection to it is answered.
    let nobody = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    nobody.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let down = nobody.local_addr().unwrap().as_socket().unwrap();
    let site = Site::new("", "");
    let (shop, url) = (site.shop.address, site.shop.url());
    let servers =
        |weight: u8| format!("servers = [{{ url = \"{url}\", weight = {weight} }}, {{ url = \"http://{down}\" }}]");
    site.edit(&format!("url = \"{url}\""), &servers(1));
    let gate = site.start();
    let mut inside = gate.insider();
    until("a server that is out", || {
        assert!(inside.goes_to("/").is_the_shops());
        (server(&gate, down)["healthy"] == false).then_some(())
    });
    let failures = server(&gate, down)["failures"].as_u64();
    site.edit(&servers(1), &format!("{}\nretries = 0", servers(5)));
    taken(&site, &gate);
    let standing = server(&gate, down);
    assert_eq!(standing["healthy"], false, "{standing}");
    assert!(standing["failures"].as_u64() >= failures, "{standing}");
    assert_eq!(server(&gate, shop)["weight"], 5);
}

fn connects(gate: &Gate) -> u64 {
    gate.figure("ropeline_upstream_connects_total{upstream=\"\"} ")
}

/// Whatever else changes, this visitor uses the existing connection.
fn are_kept(site: &Site, gate: &Gate, inside: &mut Visitor) {
    let before = connects(gate);
    for (from, to) in [("users = 1", "users = 2"), ("users = 2", "users = 1")] {
        site.edit(from, to);
        taken(site, gate);
        assert!(inside.goes_to("/").is_the_shops());
        assert_eq!(connects(gate), before, "after {to}");
    }
}

#[test]
fn connections_to_a_shop_that_stays_are_kept() {
    let site = Site::new("", "");
    site.edit("[upstream]", "[upstream]\nkeep_alive = \"1h\"");
    let gate = site.start();
    let mut inside = gate.insider();
    are_kept(&site, &gate, &mut inside);
    let new = Shop::open();
    site.edit(&site.shop.url(), &new.url());
    taken(&site, &gate);
    assert!(inside.goes_to("/").is_the_shops());
    are_kept(&site, &gate, &mut inside);
}

#[test]
fn of_connections_to_a_shop_that_is_gone_only_the_busy_stay_until_they_are_done() {
    let site = Site::new("", "");
    site.edit("[upstream]", "[upstream]\nkeep_alive = \"1h\"\nmax_connections = 9");
    let gate = site.start();
    let mut inside = gate.insider();
    let open = |count: u64| {
        let now = || gate.figure("ropeline_upstream_connections{upstream=\"\"} ");
        until(&format!("{count} connections"), || (now() == count).then_some(()));
    };
    let held = inside.sets_out_for("/hold");
    site.shop.holds(1);
    assert!(inside.goes_to("/").is_the_shops());
    open(2);
    let new = Shop::open();
    site.edit(&site.shop.url(), &new.url());
    taken(&site, &gate);
    open(1);
    site.shop.let_go();
    assert!(held.answer().is_the_shops());
    open(0);
}

#[test]
fn nobody_looks_after_the_shop_by_the_old_file() {
    let site = Site::new("", "");
    site.edit(
        "[upstream]",
        "[upstream]\nhealth_path = \"/old\"\nhealth_interval = \"1s\"",
    );
    let gate = site.start();
    let checks = |path: &str, count: usize| {
        until("so many checks", || (site.shop.asked(path) >= count).then_some(()));
    };
    checks("/old", 1);
    // A request under way keeps the configuration that was in force.
    let held = gate.insider().sets_out_for("/hold");
    site.shop.holds(1);
    site.edit("\"/old\"", "\"/new\"");
    taken(&site, &gate);
    checks("/new", 1);
    let before = site.shop.asked("/old");
    checks("/new", 5);
    assert!(site.shop.asked("/old") <= before + 1, "at most one was on its way");
    site.shop.let_go();
    assert!(held.answer().is_the_shops());
}

#[test]
fn the_shop_is_told_by_the_key_of_the_new_file() {
    let site = Site::new("", "");
    let gate = site.start();
    let mut inside = gate.insider();
    let mut told = || inside.goes_to("/").body.to_ascii_lowercase();
    assert!(!told().contains("ropeline-signature"));
    let key =
        |id: &str| format!("signature_key = {{ id = \"{id}\", secret = \"a secret that is long enough to sign\" }}");
    site.edit("[store]", &format!("{}\n[store]", key("a")));
    taken(&site, &gate);
    let signed = told();
    assert!(signed.contains("ropeline-signature: v1;k=a;"), "{signed}");
    site.edit(&key("a"), &key("b"));
    taken(&site, &gate);
    let signed = told();
    assert!(signed.contains("ropeline-signature: v1;k=b;"), "{signed}");
}

#[test]
fn a_key_that_is_gone_lets_nobody_in_and_one_that_is_back_does() {
    let key =
        |id: &str| format!("keys = [{{ id = \"{id}\", secret = \"a secret of the tests, long enough for {id}\" }}]");
    let site = Site::new("", &format!("[tokens]\n{}", key("a")));
    let gate = site.start();
    let inside = gate.insider();
    site.edit(&key("a"), &key("b"));
    taken(&site, &gate);
    assert!(
        !inside.clone().goes_to("/").is_the_shops(),
        "its pass is of the key before"
    );
    let of_b = gate.waits(2);
    site.edit(&key("b"), &key("a"));
    taken(&site, &gate);
    assert!(inside.clone().goes_to("/").is_the_shops());
    assert_eq!(of_b.clone().position(), None, "its ticket is of the other key");
}

#[test]
fn whom_the_gate_believes_and_who_may_ask_it_follows_the_file() {
    let site = Site::new("", "");
    let gate = site.start();
    let fields = "X-Original-Method: GET\r\nX-Original-Host: shop.example\r\nX-Original-URI: /\r\n\
        X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n";
    let asks = || {
        let answer = gate.visitor().asks("GET /.ropeline/forward/nginx", fields, "");
        (answer.status, answer.word().to_owned())
    };
    let is = |status: u16, word: &str| assert_eq!(asks(), (status, word.to_owned()));
    is(404, "not_found");
    site.edit("[store]", "[forward_auth]\nproxies = [\"nginx\"]\n[store]");
    site.edit("threads = 1", "threads = 1\ntrusted_proxies = [\"127.0.0.1\"]");
    taken(&site, &gate);
    is(200, "pass");
    site.edit("trusted_proxies = [\"127.0.0.1\"]", "trusted_proxies = [\"192.0.2.1\"]");
    taken(&site, &gate);
    is(403, "not_a_proxy");
    site.edit("proxies = [\"nginx\"]", "proxies = [\"caddy\"]");
    taken(&site, &gate);
    is(404, "not_found");
}

#[test]
fn the_operators_side_says_what_the_new_file_says() {
    let site = Site::new("message = \"until noon\"", "");
    let gate = site.start();
    let message = || gate.asks_admin("/api/v1/rooms/shop").json()["message"].clone();
    assert_eq!(message(), "until noon");
    site.edit("until noon", "until one");
    taken(&site, &gate);
    assert_eq!(message(), "until one");
    // A token that is set from now on is asked for, and the refusals are counted where they were.
    site.edit(
        "threads = 1",
        "threads = 1\nadmin_token = \"a-token-that-is-long-enough-to-be-one\"",
    );
    taken(&site, &gate);
    assert_eq!(gate.asks_admin("/api/v1/rooms/shop").status, 401);
}

#[test]
fn a_drain_takes_as_long_as_the_new_file_lets_it() {
    let site = Site::new("", "");
    site.edit("threads = 1", "threads = 1\ndrain_deadline = \"1h\"");
    site.edit("[upstream]", "[upstream]\nresponse_timeout = \"1h\"");
    let gate = site.start();
    let inside = gate.insider();
    let _held = inside.sets_out_for("/hold");
    site.shop.holds(1);
    site.edit("drain_deadline = \"1h\"", "drain_deadline = \"1s\"");
    taken(&site, &gate);
    gate.program.signal(Signal::TERM);
    let ended = gate.program.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

/// One request over TLS; how the handshake went.
fn shakes_hands(address: SocketAddr, client: &Arc<ClientConfig>) -> HandshakeKind {
    let name = ServerName::try_from("a.example").unwrap();
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(Arc::clone(client), name).unwrap(), socket);
    stream
        .write_all(b"GET /robots.txt HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 "));
    stream.conn.handshake_kind().unwrap()
}

#[test]
fn who_has_shaken_hands_before_resumes_after_it() {
    let authority = Authority::new();
    let pair = "certificates = [{ cert_file = \"a.pem\", key_file = \"a.key\" }]";
    let site = Site::new("", &format!("[tls]\nlisten = [\"127.0.0.1:0\"]\n{pair}"));
    authority.issue(&["a.example"]).write(&site.path(""), "a");
    let gate = site.start();
    let serving = line_with(&gate.program.err(), "serving").unwrap();
    let address = serving["tls"].as_str().unwrap().parse().unwrap();
    let client = Arc::new(authority.client());
    assert_eq!(shakes_hands(address, &client), HandshakeKind::Full);
    assert_eq!(shakes_hands(address, &client), HandshakeKind::Resumed);
    site.edit("[tls]", "[tls]\nhttp2 = false");
    taken(&site, &gate);
    assert_eq!(shakes_hands(address, &client), HandshakeKind::Resumed);
}

#[test]
fn a_gate_that_has_reloaded_can_be_upgraded_and_the_next_can_reload() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    let mut inside = old.gate.insider();
    site.edit("total_active_users = 1", "total_active_users = 2");
    taken(&site, &old.gate);
    let heir = Heir::after(&site, &old);
    old.ends();
    let capacity = || heir.asks_admin("/api/v1/rooms/shop")["total_active_users"].clone();
    assert_eq!(capacity(), 2);
    site.edit("total_active_users = 2", "total_active_users = 3");
    let ended = site.run(&["reload", "--admin", &heir.admin.to_string()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(capacity(), 3);
    assert!(inside.goes_to("/").is_the_shops());
    assert!(Visitor::new(heir.address).goes_to("/").is_the_shops());
    heir.stop();
}

#[test]
fn visits_that_were_let_past_are_told_to_the_log_under_whatever_file() {
    let site = Site::new("on_outage = \"open\"", "");
    let gate = site.start_on_small_disk();
    let _inside = gate.insider();
    let before = fill_disk(&gate);
    let mut newcomer = gate.visitor();
    until("the open room", || newcomer.goes_to("/").is_the_shops().then_some(()));
    site.edit("[upstream]", "[upstream]\nretries = 0");
    taken(&site, &gate);
    assert!(gate.visitor().goes_to("/").is_the_shops());
    free_disk(&gate, before);
    let told = until("the count", || {
        line_with(&gate.program.err(), "the line is in force again")
    });
    assert_eq!((&told["room"], &told["visits"]), (&"shop".into(), &2.into()), "{told}");
}
