//! A store that is away when a gate starts, that goes away, or that must not have the log.

mod audit;
mod failing;
mod first;
mod folder;
mod fresh;
mod healing;
pub mod outage;
mod replay;

use std::time::Duration;

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::harness::toxic::{Proxy, Toxic};
use crate::program::Program;
use crate::until;
use crate::visitor::{Answer, Visitor};

#[test]
fn a_gate_that_starts_before_its_store_shows_pages_and_numbers_everybody_when_it_comes() {
    let mut store = Server::start(&Options::default());
    store.kill();
    let site = Site::shared(&store.url(), "");
    site.edit("join = { requests = 10,", "join = { requests = 1000,");
    let gate = site.start();
    let mut newcomers: Vec<Visitor> = Vec::new();
    for _ in 0..3 {
        let mut newcomer = gate.visitor();
        let page = newcomer.goes_to("/");
        assert_eq!((page.status, page.word()), (200, "joining"), "{page:?}");
        assert_eq!(newcomer.status()["state"], "joining");
        newcomers.push(newcomer);
    }
    let ready = gate.asks_admin("/readyz");
    assert!(
        ready.status == 200 && ready.body.contains("cut off from the store"),
        "{ready:?}"
    );
    assert_eq!(gate.asks_admin("/api/v1/gates").json()["gate"]["condition"], "starting");
    let told = site.run(&["rooms", "--admin", &gate.admin.to_string()]);
    assert!(told.out.contains("has not read its log yet"), "{told:?}");
    gate.logs("the store cannot be reached yet");

    store.restart();
    // A visitor who comes as the store is back stands behind those who waited through it.
    until("a number for somebody new", || {
        // Each of them is asked for many times below.
        std::thread::park_timeout(Duration::from_millis(200));
        let mut newcomer = gate.visitor();
        let page = newcomer.goes_to("/");
        newcomers.push(newcomer);
        is_numbered(&page).then_some(())
    });
    // The last one to come asks first.
    for newcomer in newcomers.iter_mut().rev() {
        until("a number", || is_numbered(&newcomer.goes_to("/")).then_some(()));
    }
    until("the first's turn", || {
        newcomers[0].goes_to("/").is_the_shops().then_some(())
    });
    for (at, newcomer) in newcomers.iter_mut().enumerate().skip(1) {
        until("the order of arrival", || {
            (newcomer.position() == Some(at as u64)).then_some(())
        });
    }
    assert_eq!(gate.stop().code, Some(0));
}

/// Whether the page is no longer one of joining. No visitor is refused meanwhile.
fn is_numbered(page: &Answer) -> bool {
    assert_eq!(page.status, 200, "{page:?}");
    page.word() != "joining"
}

/// Long before the gate counts as cut off.
#[test]
fn an_app_that_joins_as_the_store_goes_is_told_that_it_is_joining_and_has_its_place_when_it_is_back() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let gate = site.start();
    until_calls(&gate);
    gate.insider();
    gate.waits(1);
    store.kill();
    let mut apps = [gate.visitor(), gate.visitor()];
    for app in &mut apps {
        let joined = app.joins_as_app();
        assert_eq!(
            (joined.status, &joined.json()["state"]),
            (200, &"joining".into()),
            "{joined:?}"
        );
    }
    store.restart();
    for app in apps.iter_mut().rev() {
        until("a number", || {
            (app.joins_as_app().json()["state"] == "waiting").then_some(())
        });
    }
    for (ahead, app) in (2..).zip(&mut apps) {
        until("the order of arrival", || (app.position() == Some(ahead)).then_some(()));
    }
}

#[test]
fn a_store_that_must_not_have_the_log_ends_the_start_and_says_what_to_set() {
    let evicting = Server::start(&Options::default().line("maxmemory 100mb\nmaxmemory-policy allkeys-lru"));
    let locked = Server::start(&Options::password("kept-from-the-gate"));
    for (store, part) in [(&evicting, "maxmemory-policy"), (&locked, "[store] password")] {
        let site = Site::shared(&format!("redis://127.0.0.1:{}", store.port()), "");
        let ended = Program::run(site.path("").as_path(), &["run"]);
        assert_eq!(ended.code, Some(78), "{ended:?}");
        assert!(
            ended.err.contains("ropeline: [store] url: ") && ended.err.contains(part),
            "{ended:?}"
        );
    }
    let site = Site::shared(&format!("redis://127.0.0.1:{}", locked.port()), "");
    std::fs::write(site.path("password"), "kept-from-the-gate\n").unwrap();
    site.set_store("password = { file = \"password\" }");
    let gate = site.start();
    let served = gate.logs("the store is in use");
    assert!(
        served["server"].as_str().is_some_and(|server| !server.is_empty()),
        "{served}"
    );
    let ended = gate.stop();
    assert!(
        !(ended.out + &ended.err).contains("kept-from-the-gate"),
        "the password is printed"
    );
}

#[test]
fn an_outage_of_the_store_opens_a_room_that_says_so_and_is_counted_on_every_gate() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "on_outage = \"open\"");
    let (one, other) = (site.start(), site.start());
    until_calls(&one);
    until_calls(&other);
    let mut inside = one.insider();
    let mut first = one.waits(1);
    store.kill();
    until("the outage", || gate_is_cut_off(&one).then_some(()));
    assert!(inside.goes_to("/basket").is_the_shops());
    until("the open room", || first.goes_to("/").is_the_shops().then_some(()));
    assert!(one.visitor().goes_to("/").is_the_shops(), "let past");
    let told = site.run(&["rooms", "--admin", &one.admin.to_string()]);
    assert!(
        told.out
            .contains("everybody is let past the line until the store is back"),
        "{told:?}"
    );

    store.restart();
    until("the line", || (!gate_is_cut_off(&one)).then_some(()));
    assert_eq!(
        (first.goes_to("/").word(), first.position()),
        ("waiting", Some(1)),
        "the place is kept"
    );
    for gate in [&one, &other] {
        until("the count", || {
            let rooms = gate.asks_admin("/api/v1/rooms").json();
            (rooms["rooms"][0]["bypasses"] == 2).then_some(())
        });
    }
}

#[test]
fn a_store_that_is_slow_and_not_away_opens_no_room() {
    let store = Server::start(&Options::default());
    let link = Proxy::before(([127, 0, 0, 1], store.port()).into());
    let site = Site::shared(&format!("redis://{}", link.address), "on_outage = \"open\"");
    let gate = site.start();
    until_calls(&gate);
    let _inside = gate.insider();
    let mut first = gate.waits(1);
    link.set(Toxic::Delay(Duration::from_millis(1_010)));
    let mut cut_off = 0;
    until("moments of being cut off", || {
        cut_off += u32::from(gate_is_cut_off(&gate));
        assert_eq!(first.goes_to("/").word(), "waiting", "let past");
        (cut_off >= 5).then_some(())
    });
}

#[test]
fn whoever_is_inside_through_a_gate_that_is_cut_off_alone_stands_as_excess_when_it_is_back() {
    let store = Server::start(&Options::default());
    let link = Proxy::before(([127, 0, 0, 1], store.port()).into());
    let site = Site::shared(
        &store.url(),
        "session_duration = \"4s\"\nclaim_deadline = \"4s\"\noutage_extension = \"5 min\"",
    );
    let other = site.start();
    site.edit(&store.url(), &format!("redis://{}", link.address));
    let alone = site.start();
    let figure = |gate: &Gate, name: &str| gate.asks_admin("/api/v1/rooms").json()["rooms"][0][name].clone();
    until_calls(&alone);
    let mut inside = alone.insider();
    let mut next = other.visitor();
    assert_eq!(next.goes_to("/").word(), "waiting");
    link.set(Toxic::Refuse);
    until("being cut off", || gate_is_cut_off(&alone).then_some(()));
    // To the others the session idles out, and its slot goes to the next.
    until("the next one's turn", || {
        assert!(inside.goes_to("/basket").is_the_shops());
        next.goes_to("/").is_the_shops().then_some(())
    });
    until("the next one's session", || {
        assert!(next.goes_to("/").is_the_shops());
        (figure(&other, "sessions") == 1).then_some(())
    });
    link.set(Toxic::Pass);
    until("the session in excess", || {
        next.goes_to("/");
        (figure(&other, "sessions") == 2 && figure(&other, "excess") == 1).then_some(())
    });
    assert!(inside.goes_to("/basket").is_the_shops());
    inside.at = other.address;
    assert!(inside.goes_to("/basket").is_the_shops());
}

#[test]
fn what_a_gate_saw_before_it_was_cut_off_for_long_opens_no_session_anew() {
    let store = Server::start(&Options::default());
    let link = Proxy::before(([127, 0, 0, 1], store.port()).into());
    let room = "session_duration = \"4s\"\nclaim_deadline = \"4s\"\noutage_extension = \"0s\"";
    let site = Site::shared(&store.url(), room);
    let other = site.start();
    site.edit(&store.url(), &format!("redis://{}", link.address));
    let alone = site.start();
    until_calls(&alone);
    let mut inside = alone.insider();
    let mut next = other.waits(1);
    link.set(Toxic::Refuse);
    until("being cut off", || gate_is_cut_off(&alone).then_some(()));
    // The first of these words is tried again and again, the last waits behind it.
    for _ in 0..10 {
        inside.goes_to("/basket");
    }
    let seen = ropeline::time::uptime();
    until("the end of the session, and the next one's", || {
        let over = ropeline::time::uptime() > seen + Duration::from_secs(5);
        (next.goes_to("/").is_the_shops() && over).then_some(())
    });
    link.set(Toxic::Pass);
    until_calls(&alone);
    // A word that goes behind all that were held back.
    let mut newcomer = alone.visitor();
    until("a number", || (newcomer.goes_to("/").word() == "waiting").then_some(()));
    until("the newcomer at the other gate", || {
        assert!(next.goes_to("/").is_the_shops());
        (other.asks_admin("/api/v1/rooms/shop").json()["waiting"] == 1).then_some(())
    });
    for gate in [&alone, &other] {
        let room = gate.asks_admin("/api/v1/rooms/shop").json();
        assert_eq!((&room["sessions"], &room["excess"]), (&1.into(), &0.into()), "{room}");
        inside.at = gate.address;
        assert!(!inside.goes_to("/basket").is_the_shops());
    }
}

/// A log begun from nothing calls no visitor at first.
fn until_calls(gate: &Gate) {
    until("calls", || {
        let gate = &gate.asks_admin("/api/v1/gates").json()["gate"];
        (gate["condition"] == "live" && gate["healing_secs"].is_null()).then_some(())
    });
}

fn gate_is_cut_off(gate: &Gate) -> bool {
    let shown = gate.asks_admin("/api/v1/gates").json();
    !shown["gate"]["cut_off_secs"].is_null() || shown["gate"]["condition"] == "healing"
}
