//! A disk that is full: a real limit on the size of files, set on the running gate from outside and lifted again.

use ropeline::room::{LineName, Number, RoomName};
use ropeline::token::{Key, KeyId, Keyring, Secret, Ticket, TicketPlace};
use rustix::process::{Resource, Rlimit, prlimit};

use crate::gate::{Gate, Site, line_with};
use crate::until;
use crate::visitor::Visitor;

/// The log is beyond this many bytes, so that nothing more can be written to it.
const FULL: u64 = 4_096;

pub fn fill_disk(gate: &Gate) -> Rlimit {
    let full = Rlimit {
        current: Some(FULL),
        maximum: None,
    };
    prlimit(Some(gate.program.pid()), Resource::Fsize, full).expect("a limit may be lowered")
}

pub fn free_disk(gate: &Gate, before: Rlimit) {
    prlimit(Some(gate.program.pid()), Resource::Fsize, before).expect("back to what it was");
}

#[test]
fn with_a_full_disk_those_inside_go_on_nobody_loses_a_place_and_newcomers_are_numbered_later() {
    let site = Site::new("", "");
    let gate = site.start_on_small_disk();
    let mut inside = gate.insider();
    let mut first = gate.waits(1);
    let before = fill_disk(&gate);

    let mut newcomers: Vec<Visitor> = Vec::new();
    for _ in 0..3 {
        let mut newcomer = gate.visitor();
        let page = newcomer.goes_to("/");
        assert_eq!((page.status, page.word()), (200, "joining"), "{page:?}");
        assert!(newcomer.jar.contains_key("ropeline-ticket-shop"), "{:?}", newcomer.jar);
        assert_eq!(newcomer.status()["state"], "joining");
        newcomers.push(newcomer);
    }
    let ready = gate.asks_admin("/readyz");
    assert!(
        ready.status == 200 && ready.body.contains("cut off from the store"),
        "{ready:?}"
    );
    assert!(inside.goes_to("/basket").is_the_shops());
    assert_eq!((first.goes_to("/").word(), first.position()), ("waiting", Some(1)));
    let api = gate
        .visitor()
        .asks("GET /api/stock", "Accept: application/json\r\n", "");
    assert_eq!(api.status, 503, "{api:?}");

    // A slot stays empty while no visitor can be notified of it.
    assert_eq!(inside.leaves().status, 200);
    for _ in 0..5 {
        assert_eq!((first.goes_to("/").word(), first.position()), ("waiting", Some(1)));
        assert_eq!(newcomers[0].goes_to("/").word(), "joining");
    }

    free_disk(&gate, before);
    until("the log", || {
        (!gate.asks_admin("/readyz").body.contains("cut off")).then_some(())
    });
    until("the first's turn", || first.goes_to("/").is_the_shops().then_some(()));
    // The last one to come asks first.
    for newcomer in newcomers.iter_mut().rev() {
        until("a number", || (newcomer.goes_to("/").word() == "waiting").then_some(()));
    }
    // The number that was under way when the disk filled up is given up as soon as it is read back.
    until("the order of arrival", || {
        let positions: Vec<_> = newcomers.iter_mut().map(Visitor::position).collect();
        assert!(
            positions.is_sorted() && positions.iter().all(Option::is_some),
            "{positions:?}"
        );
        (positions == [Some(1), Some(2), Some(3)]).then_some(())
    });
    gate.waits(4);
    first.leaves();
    until("the next turn", || {
        newcomers[0].goes_to("/").is_the_shops().then_some(())
    });

    let ended = gate.stop();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .err
            .contains("the log takes nothing: nobody is called until it does"),
        "{}",
        ended.err
    );
    let proved = site.run(&["replay", "data"]);
    assert_eq!(proved.code, Some(0), "{proved:?}");
}

#[test]
fn a_room_that_opens_in_an_outage_lets_everybody_past_until_the_log_is_back() {
    let site = Site::new("on_outage = \"open\"", "");
    let gate = site.start_on_small_disk();
    let mut inside = gate.insider();
    let mut first = gate.waits(1);
    let before = fill_disk(&gate);
    // The join that finds the disk full is answered when the gate knows that it is cut off.
    let mut newcomer = gate.visitor();
    assert_eq!(newcomer.goes_to("/").word(), "joining");

    until("the open room", || newcomer.goes_to("/").is_the_shops().then_some(()));
    assert!(first.goes_to("/").is_the_shops());
    assert!(gate.visitor().goes_to("/").is_the_shops());
    assert!(
        gate.visitor()
            .asks("GET /api/stock", "Accept: application/json\r\n", "")
            .is_the_shops()
    );
    assert_eq!(first.status()["state"], "inside", "so that its page goes in by itself");
    assert!(inside.goes_to("/basket").is_the_shops());
    let metrics = gate.asks_admin("/metrics").body;
    let counted = "ropeline_requests_total{room=\"shop\",outcome=\"let_past\"} 4";
    assert!(metrics.contains(counted), "{metrics}");
    let rooms = gate.asks_admin("/api/v1/rooms").json();
    assert_eq!(rooms["rooms"][0]["let_past"], true, "{rooms}");

    // Longer than the gate takes between two looks: it is one outage all the same.
    let mut visits = 3;
    until("some seconds of it", || {
        assert!(gate.visitor().goes_to("/").is_the_shops());
        visits += 1;
        let secs = gate.asks_admin("/api/v1/rooms").json()["gate"]["cut_off_secs"].as_u64();
        (secs > Some(3)).then_some(())
    });

    free_disk(&gate, before);
    until("the log", || {
        (!gate.asks_admin("/readyz").body.contains("cut off")).then_some(())
    });
    assert_eq!(first.goes_to("/").word(), "waiting");
    assert_eq!(first.position(), Some(1), "the place is kept");
    assert_eq!(gate.asks_admin("/api/v1/rooms").json()["rooms"][0]["let_past"], false);
    let told = until("the count", || {
        line_with(&gate.program.err(), "the line is in force again")
    });
    assert_eq!(
        (&told["room"], &told["visits"]),
        (&"shop".into(), &visits.into()),
        "{told}"
    );
    let log = gate.stop().err;
    assert_eq!(
        log.matches("everybody is let past the line").count(),
        1,
        "once an outage: {log}"
    );
}

#[test]
fn what_an_operator_holds_is_not_opened_by_an_outage() {
    let site = Site::new("on_outage = \"open\"\nmode = \"hold\"", "");
    let gate = site.start_on_small_disk();
    let mut first = gate.waits(1);
    let before = fill_disk(&gate);
    for _ in 0..2 {
        assert_eq!(gate.visitor().goes_to("/").word(), "joining");
        assert_eq!(first.goes_to("/").word(), "waiting");
    }
    free_disk(&gate, before);
}

const SECRET: &str = "a secret of the tests, long enough for any key ring there is";
const TICKET: &str = "ropeline-ticket-shop";

/// A ticket of the same kind, for a number that the room has not given.
fn unknown(ticket: &str) -> String {
    let keyring = Keyring::new(vec![Key {
        id: KeyId::new("test").unwrap(),
        secret: Secret::new(SECRET.as_bytes().to_vec()),
    }])
    .unwrap();
    let room = RoomName::new("shop").unwrap();
    let known = Ticket::read(&keyring, &room, &LineName::ONLY, ticket).unwrap();
    let TicketPlace::Numbered(number) = known.place else {
        panic!("not numbered: {known:?}")
    };
    let number = Number {
        n: number.n + 50,
        ..number
    };
    Ticket {
        place: TicketPlace::Numbered(number),
        ..known
    }
    .sign(&keyring)
}

/// Such a place may have been lost with the end of the log, and only the log's answer could make its ticket void.
#[test]
fn a_ticket_that_the_room_does_not_know_is_kept_while_the_log_cannot_be_asked() {
    let keys = format!("[tokens]\nkeys = [{{ id = \"test\", secret = \"{SECRET}\" }}]");
    let site = Site::new("", &keys);
    let gate = site.start_on_small_disk();
    gate.insider();
    let first = gate.waits(1);
    let before = fill_disk(&gate);
    assert_eq!(gate.visitor().goes_to("/").word(), "joining");

    let mut lost = gate.visitor();
    let ticket = unknown(&first.jar[TICKET]);
    lost.jar.insert(TICKET.to_owned(), ticket.clone());
    for _ in 0..3 {
        let page = lost.goes_to("/");
        assert_eq!((page.status, page.word()), (200, "joining"), "{page:?}");
        assert_eq!(lost.status()["state"], "joining");
        let joined = lost.joins_as_app();
        assert_eq!(joined.json()["state"], "joining", "{joined:?}");
    }
    assert_eq!(lost.jar[TICKET], ticket);

    free_disk(&gate, before);
    until("a place", || (lost.goes_to("/").word() == "waiting").then_some(()));
}

/// A page loads again, and an app may; a client that only asks is no worse off.
#[test]
fn who_joined_in_an_outage_learns_of_the_place_by_asking_alone() {
    let site = Site::new("", "");
    let gate = site.start_on_small_disk();
    let inside = gate.insider();
    let before = fill_disk(&gate);
    let (mut by_status, mut by_check_in) = (gate.visitor(), gate.visitor());
    for newcomer in [&mut by_status, &mut by_check_in] {
        assert_eq!(newcomer.goes_to("/").word(), "joining");
    }
    let joined = gate.visitor().joins_as_app().json();
    assert_eq!(joined["state"], "joining", "{joined}");
    let mut app = joined["ticket"].as_str().expect("a ticket to keep").to_owned();
    free_disk(&gate, before);

    // The last one to come asks first.
    until("the app's number", || {
        let fields = format!("Accept: application/json\r\nRopeline-Ticket: {app}\r\n");
        let told = gate.visitor().asks("GET /.ropeline/rooms/shop/status", &fields, "");
        assert!(told.headers("set-cookie").is_empty(), "{told:?}");
        let told = told.json();
        app = told["ticket"].as_str().expect("a ticket to keep").to_owned();
        is_waiting(&told).then_some(())
    });
    until("the number", || {
        let fields = "Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n";
        let told = by_check_in.asks("POST /.ropeline/rooms/shop/check-in", fields, "");
        is_waiting(&told.json()).then_some(())
    });
    until("the number", || {
        let told = by_status.status();
        assert!(told["ticket"].is_null(), "in the cookie alone: {told}");
        is_waiting(&told).then_some(())
    });
    until("the order of arrival", || {
        let positions = (by_status.position(), by_check_in.position());
        (positions == (Some(1), Some(2))).then_some(())
    });
    let fields = format!("Accept: application/json\r\nRopeline-Ticket: {app}\r\n");
    let told = gate.visitor().asks("GET /.ropeline/rooms/shop/status", &fields, "");
    assert_eq!(told.json()["position"], 3, "{told:?}");
    assert_eq!(gate.figure("ropeline_waiting{room=\"shop\"}"), 3);
    inside.clone().leaves();
    until("the turn", || (by_status.status()["state"] == "called").then_some(()));
    assert!(by_status.goes_to("/").is_the_shops());
}

/// The answer may require a present visitor only to ask.
fn is_waiting(told: &serde_json::Value) -> bool {
    let state = told["state"].as_str().unwrap_or_default();
    assert!(["joining", "waiting"].contains(&state), "{told}");
    state == "waiting"
}
