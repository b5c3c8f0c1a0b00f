//! Tokens of an epoch above the rooms': gates with the same keys on a store that fell back, or on another one.

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::until;
use crate::visitor::{Answer, Visitor};

/// Sessions and absences are over soon, and so is the healing that an unknown epoch brings.
const BRIEF: &str = "session_duration = \"20s\"\nclaim_deadline = \"4s\"\ngrace = \"16s\"\nfirm_within = \"4s\"\nlate_window = \"5 min\"";

/// Stands in the configuration until a gate's store is known.
const NOWHERE: &str = "redis://nowhere";

const TICKET: &str = "ropeline-ticket-shop";

/// A gate on a store of its own that calls, and the epoch of its log.
fn alone(site: &Site, from: &str, to: &Server) -> (Gate, u64) {
    site.edit(from, &to.url());
    let gate = site.start();
    until("calls", || {
        let gate = &gate.asks_admin("/api/v1/gates").json()["gate"];
        (gate["condition"] == "live" && gate["healing_secs"].is_null()).then_some(())
    });
    let log = epoch(&gate);
    a_second_after(log);
    (gate, log)
}

/// Logs of one second stand in the order of chance.
fn a_second_after(log: u64) {
    until("the next second", || {
        (ropeline::time::wall().0 / 1_000 > log >> 24).then_some(())
    });
}

fn epoch(gate: &Gate) -> u64 {
    let log = gate.asks_admin("/api/v1/gates").json()["log"].clone();
    let position = log["position"].as_str().expect("a position").to_owned();
    let (epoch, _) = position.split_once('-').expect("epoch and sequence");
    epoch.parse().expect("a number")
}

/// Goes to another gate from now on, with this ticket.
fn crosses(visitor: &mut Visitor, to: &Gate) -> String {
    visitor.at = to.address;
    visitor.jar[TICKET].clone()
}

/// The answers that a waiting visitor may get meanwhile: never that the place is gone.
fn keeps_the_place(visitor: &mut Visitor, ticket: &str) -> Answer {
    let page = visitor.goes_to("/");
    assert!(["joining", "waiting"].contains(&page.word()), "{page:?}");
    assert!(!page.body.contains("at the back.</p>"), "told late: {page:?}");
    assert_eq!(visitor.jar[TICKET], ticket, "the ticket is kept");
    let status = visitor.status();
    assert!(status["state"] == "joining" || status["state"] == "waiting", "{status}");
    page
}

/// Waits until the visitor stands at this position, with the ticket that they came with.
fn comes_to_stand(visitor: &mut Visitor, position: u64, ticket: &str) {
    until("the place", || {
        let page = keeps_the_place(visitor, ticket);
        (page.word() == "waiting" && visitor.position() == Some(position)).then_some(())
    });
}

#[test]
fn who_comes_with_a_higher_epoch_keeps_the_place_and_the_log_is_begun_above_it() {
    let stores = [(); 2].map(|()| Server::start(&Options::default()));
    let site = Site::shared(NOWHERE, BRIEF);
    let (below, first) = alone(&site, NOWHERE, &stores[0]);
    let (above, second) = alone(&site, &stores[0].url(), &stores[1]);
    assert!(second > first, "{second} is not above {first}");
    let mut resident = below.insider();
    let mut local = below.waits(1);
    let mut inside = above.insider();
    let mut foreign = above.waits(1);

    inside.at = below.address;
    let ticket = crosses(&mut foreign, &below);
    keeps_the_place(&mut foreign, &ticket);
    assert!(inside.goes_to("/basket").is_the_shops());
    until("a log above the token's", || {
        assert!(resident.goes_to("/basket").is_the_shops() && inside.goes_to("/basket").is_the_shops());
        keeps_the_place(&mut foreign, &ticket);
        (epoch(&below) > second).then_some(())
    });
    comes_to_stand(&mut foreign, 2, &ticket);
    let of_here = crosses(&mut local, &below);
    comes_to_stand(&mut local, 1, &of_here);
    until("both sessions on record", || {
        assert!(resident.goes_to("/basket").is_the_shops() && inside.goes_to("/basket").is_the_shops());
        let rooms = below.asks_admin("/api/v1/rooms").json();
        (rooms["rooms"][0]["sessions"] == 2 && rooms["rooms"][0]["excess"] == 1).then_some(())
    });
    for visitor in [&mut resident, &mut inside] {
        assert_eq!(visitor.leaves().status, 200);
    }
    until("the first's turn", || {
        keeps_the_place(&mut foreign, &ticket);
        local.goes_to("/").is_the_shops().then_some(())
    });
    assert_eq!(local.leaves().status, 200);
    until("the next one's turn", || {
        foreign.goes_to("/").is_the_shops().then_some(())
    });
}

/// A log is begun for that every half minute at most, and until then only the ticket proves the place.
#[test]
fn who_comes_with_a_higher_epoch_soon_after_another_waits_for_the_next_log_and_is_not_late() {
    let stores = [(); 3].map(|()| Server::start(&Options::default()));
    let site = Site::shared(NOWHERE, "");
    let (below, first) = alone(&site, NOWHERE, &stores[0]);
    let (above, second) = alone(&site, &stores[0].url(), &stores[1]);
    assert!(second > first, "{second} is not above {first}");
    below.insider();
    above.insider();
    let mut one = above.waits(1);
    let of_one = crosses(&mut one, &below);
    comes_to_stand(&mut one, 1, &of_one);
    let began = epoch(&below);
    assert!(began > second, "{began} is not above {second}");
    a_second_after(began);

    let (highest, third) = alone(&site, &stores[1].url(), &stores[2]);
    assert!(third > began, "{third} is not above {began}");
    highest.insider();
    let mut other = highest.waits(1);
    let of_other = crosses(&mut other, &below);
    until("a log above the token's", || {
        keeps_the_place(&mut one, &of_one);
        keeps_the_place(&mut other, &of_other);
        (epoch(&below) > third).then_some(())
    });
    comes_to_stand(&mut one, 1, &of_one);
    comes_to_stand(&mut other, 2, &of_other);
}
