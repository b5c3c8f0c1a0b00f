//! Settings that a running gate takes: limits, rooms, logs, the shop, bounds on connections.

use std::net::TcpStream;

use super::{reload, taken};
use crate::gate::Site;
use crate::shop::Shop;
use crate::until;

#[test]
fn a_limit_that_stays_gives_nobody_a_fresh_burst() {
    let limit = "[[limit]]\nname = \"seats\"\nroutes = [\"/seats\"]\nrequests = 2\nwindow = \"1 h\"\n";
    let site = Site::new("except = [\"/seats\", \"/else\"]", limit);
    let gate = site.start();
    let asks = || gate.visitor().goes_to("/seats").status;
    assert_eq!([asks(), asks(), asks()], [200, 200, 429]);
    for (from, to) in [
        ("total_active_users = 1", "total_active_users = 2"),
        ("routes = [\"/seats\"]", "routes = [\"/seats\", \"/more\"]"),
        (
            "[[limit]]",
            "[[limit]]\nname = \"first\"\nroutes = [\"/else\"]\nrequests = 1\nwindow = \"1 h\"\n[[limit]]",
        ),
    ] {
        site.edit(from, to);
        taken(&site, &gate);
        assert_eq!(asks(), 429, "after {to}");
    }
    assert_eq!(
        [
            gate.visitor().goes_to("/else").status,
            gate.visitor().goes_to("/else").status
        ],
        [200, 429]
    );
    site.edit("requests = 2\n", "requests = 3\n");
    taken(&site, &gate);
    assert_eq!(
        [asks(), asks(), asks(), asks()],
        [200, 200, 200, 429],
        "another limit begins anew"
    );
}

#[test]
fn joins_and_streams_are_counted_on() {
    let site = Site::new("", "");
    site.edit("join = { requests = 10,", "streams = 1\njoin = { requests = 3,");
    let gate = site.start();
    let _inside = gate.insider();
    let waiting = gate.waits(1);
    let mut stream = waiting.listens();
    stream.reads("event: status");
    assert_eq!(waiting.listens().status(), 429);
    site.edit("threads = 1", "threads = 1\nmax_body = \"1 MiB\"");
    taken(&site, &gate);
    assert_eq!(waiting.listens().status(), 429, "one is open");
    assert_eq!(gate.visitor().goes_to("/").status, 200);
    assert_eq!(gate.visitor().goes_to("/").status, 429, "three have joined");
    site.edit("streams = 1", "streams = 2");
    taken(&site, &gate);
    waiting.listens().reads("event: status");
}

#[test]
fn rooms_come_and_go_and_the_others_keep_their_visitors() {
    let site = Site::new("except = [\"/vip/*\"]", "");
    let gate = site.start();
    let mut inside = gate.insider();
    let mut waiting = gate.waits(1);
    assert!(gate.visitor().goes_to("/vip/a").is_the_shops());
    let vip = "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\nmode = \"closed\"\n";
    let before = std::fs::read_to_string(site.path("config.toml")).unwrap();
    std::fs::write(site.path("config.toml"), format!("{before}\n{vip}")).unwrap();
    taken(&site, &gate);
    assert_eq!(gate.visitor().goes_to("/vip/a").word(), "closed");
    assert_eq!(gate.asks_admin("/api/v1/rooms/vip").json()["mode"], "closed");
    assert!(inside.goes_to("/").is_the_shops());
    std::fs::write(site.path("config.toml"), &before).unwrap();
    taken(&site, &gate);
    assert!(gate.visitor().goes_to("/vip/a").is_the_shops());
    until("the end of the room", || {
        (gate.asks_admin("/api/v1/rooms/vip").status == 404).then_some(())
    });
    assert!(inside.goes_to("/").is_the_shops());
    assert_eq!(waiting.position(), Some(1));
    // An operator's settings stay in force over the file, as over a restart.
    let admin = gate.admin.to_string();
    assert_eq!(
        site.run(&["rooms", "set", "shop", "--capacity", "3", "--admin", &admin])
            .code,
        Some(0)
    );
    site.edit("total_active_users = 1", "total_active_users = 2");
    taken(&site, &gate);
    assert_eq!(super::capacity(&gate), 3);
}

#[test]
fn the_access_log_goes_on_in_a_new_file_once_the_old_one_is_moved() {
    let site = Site::new("", "[logging]\naccess = \"file:access.log\"");
    let gate = site.start();
    let paths = |file: &str| {
        let text = std::fs::read_to_string(site.path(file)).unwrap_or_default();
        text.matches("\"url.path\"").count()
    };
    gate.visitor().goes_to("/one");
    until("the first line", || (paths("access.log") == 1).then_some(()));
    std::fs::rename(site.path("access.log"), site.path("access.log.1")).unwrap();
    taken(&site, &gate);
    gate.visitor().goes_to("/two");
    until("the second line", || (paths("access.log") == 1).then_some(()));
    assert_eq!(paths("access.log.1"), 1);
    site.edit("access = \"file:access.log\"", "access = \"off\"");
    taken(&site, &gate);
    gate.visitor().goes_to("/three");
    site.edit("access = \"off\"", "access = \"file:other.log\"\nfull_addresses = true");
    taken(&site, &gate);
    gate.visitor().goes_to("/four");
    until("the fourth line", || (paths("other.log") == 1).then_some(()));
    assert!(
        std::fs::read_to_string(site.path("other.log"))
            .unwrap()
            .contains("\"127.0.0.1\"")
    );
    assert_eq!(paths("access.log"), 1);
    // A log that cannot be written is a mistake.
    site.edit("file:other.log", "file:nowhere/other.log");
    let ended = reload(&site, &gate);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(ended.err.contains("the access log cannot be opened"), "{ended:?}");
}

#[test]
fn requests_go_to_the_new_shop_and_those_under_way_stay_with_the_old() {
    let site = Site::new("", "");
    let gate = site.start();
    let mut inside = gate.insider();
    let under_way = inside.sets_out_for("/hold");
    site.shop.holds(1);
    let new = Shop::open();
    site.edit(
        &format!("url = \"{}\"", site.shop.url()),
        &format!("servers = [{{ url = \"{}\", weight = 2 }}]", new.url()),
    );
    taken(&site, &gate);
    let next = inside.sets_out_for("/hold");
    new.holds(1);
    let servers = gate.asks_admin("/api/v1/upstreams").json();
    let server = &servers["upstreams"][0];
    assert_eq!(
        (&server["origin"], &server["weight"]),
        (&new.address.to_string().into(), &2.into())
    );
    assert!(
        gate.asks_admin("/metrics")
            .body
            .contains(&format!("origin=\"{}\"", new.address))
    );
    site.shop.let_go();
    assert!(under_way.answer().is_the_shops());
    new.let_go();
    assert!(next.answer().is_the_shops());
    // A shop that cannot be reached as configured is refused before any visitor is sent there.
    std::fs::write(site.path("ca.pem"), "-----BEGIN CERTIFICATE-----\n").unwrap();
    site.edit(
        &format!("url = \"{}\", weight = 2", new.url()),
        "url = \"https://shop.example\"",
    );
    site.edit("[store]", "ca_file = \"ca.pem\"\n[store]");
    assert_eq!(reload(&site, &gate).code, Some(78));
    assert!(inside.goes_to("/").is_the_shops());
}

#[test]
fn connections_are_bound_by_the_new_file_and_those_that_are_open_count() {
    let site = Site::new("", "");
    let gate = site.start();
    let open: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(gate.address).unwrap()).collect();
    until("three connections", || {
        (gate.figure("ropeline_connections ") >= 3).then_some(())
    });
    site.edit("threads = 1", "threads = 1\nmax_connections_per_client = 3");
    taken(&site, &gate);
    let refused = || gate.figure("ropeline_connections_refused_total ");
    let before = refused();
    let one_more = TcpStream::connect(gate.address).unwrap();
    until("a fourth connection refused", || (refused() > before).then_some(()));
    drop((open, one_more));
    until("their end", || (gate.figure("ropeline_connections ") < 1).then_some(()));
    assert!(gate.visitor().goes_to("/").status == 200);
    site.edit("max_connections_per_client = 3", "trusted_proxies = [\"127.0.0.1\"]");
    taken(&site, &gate);
    let behind = gate.visitor().asks(
        "GET /robots.txt",
        "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n",
        "",
    );
    assert!(
        behind
            .body
            .to_ascii_lowercase()
            .contains("x-forwarded-for: 203.0.113.9"),
        "{behind:?}"
    );
}

#[test]
fn the_log_says_as_much_as_the_new_file_wants() {
    let site = Site::new("", "[logging]\nlevel = \"info\"");
    let gate = site.start();
    site.edit("level = \"info\"", "level = \"error\"");
    taken(&site, &gate);
    site.edit("level = \"error\"", "level = \"warn,ropeline::app=info\"");
    taken(&site, &gate);
    let says = |words: &str| gate.program.err().contains(words);
    until("the word of the last", || says("was \\\"error\\\"").then_some(()));
    assert!(!says("was \\\"info\\\""), "{}", gate.program.err());
}
