//! Which client is over which limit, and the answer to it.

use std::num::NonZeroU32;

use super::*;
use crate::gate::request::kind::Kind;
use crate::token::{PassId, TicketPlace};
use ropeline_ids::{Edition, Epoch, LaneId, LineName, Number, RoomName, Wall};

#[test]
fn a_ticket_and_an_address_have_their_streams_and_no_more_until_one_ends() {
    let limits = limits();
    let [home, away] = [IpAddr::from([192, 0, 2, 1]), IpAddr::from([198, 51, 100, 1])];
    let open = |n, client| limits.stream(&visitor(n), client);
    let first = open(1, home).unwrap();
    assert!(open(1, away).is_none(), "the ticket's only one");
    let second = open(2, home).unwrap();
    assert!(open(3, home).is_none(), "the address has two");
    let third = open(3, away).unwrap();
    drop(first);
    assert!(open(1, home).is_some());
    drop((second, third));
    assert_eq!((limits.streams.holders(), limits.client_streams.holders()), (0, 0));
}

fn visitor(n: u32) -> Visitor {
    Visitor {
        room: RoomName::new("shop").unwrap(),
        line: LineName::ONLY,
        lane: LaneId(0),
        number: Number { epoch: Epoch(1), n },
        rehearsal: None,
    }
}

/// Limits of one question and one join a minute for a client, and three for its network.
fn limits() -> Limits {
    let rate = |requests| Rate {
        requests: NonZeroU32::new(requests).unwrap(),
        window_ms: 60_000,
    };
    let own = OwnLimits {
        join: rate(1),
        join_network: rate(3),
        join_wide: rate(5),
        join_without_proof: rate(1),
        join_network_prefix: Prefixes { ipv4: 24, ipv6: 48 },
        join_wide_prefix: Prefixes { ipv4: 16, ipv6: 40 },
        status: rate(1),
        status_network: rate(3),
        streams: 1,
        streams_per_client: 2,
        preflight: rate(1),
        returns: rate(1),
        return_body: 10,
        clients: 1_000,
    };
    Limits::new(&[], &own, &Metrics::new(), None)
}

fn ticket(n: u32) -> Ticket {
    Ticket {
        room: RoomName::new("shop").unwrap(),
        line: LineName::ONLY,
        lane: LaneId(0),
        edition: Edition(0),
        place: TicketPlace::Numbered(Number { epoch: Epoch(1), n }),
        joined_at: Wall(0),
        identity: None,
    }
}

#[test]
fn a_ticket_is_counted_wherever_it_comes_from_and_its_network_with_it() {
    let limits = limits();
    let [home, phone, far] = [[192, 0, 2, 1], [192, 0, 9, 9], [198, 51, 100, 1]].map(IpAddr::from);
    assert!(limits.status(Asker::Ticket(&ticket(1)), home).is_ok());
    assert!(
        limits.status(Asker::Ticket(&ticket(1)), phone).is_err(),
        "the same ticket"
    );
    assert!(
        limits.status(Asker::Ticket(&ticket(2)), home).is_ok(),
        "another ticket at the same address"
    );
    assert!(limits.status(Asker::Nobody, home).is_ok(), "nobody's");
    assert!(
        limits.status(Asker::Ticket(&ticket(3)), phone).is_err(),
        "the network is full"
    );
    assert!(limits.status(Asker::Ticket(&ticket(4)), far).is_ok(), "another network");
}

#[test]
fn who_leaves_with_a_ticket_that_may_hold_nothing_is_counted_by_it_alone() {
    let limits = limits();
    let home = IpAddr::from([192, 0, 2, 1]);
    assert!(
        (1..=50).all(|n| limits.leave(&ticket(n), home).is_ok()),
        "fifty tickets behind one address"
    );
    assert!(limits.leave(&ticket(1), home).is_err(), "one ticket again");
    assert!(
        limits.status(Asker::Ticket(&ticket(2)), home).is_err(),
        "it is the same count"
    );
}

#[test]
fn a_session_is_counted_by_itself_and_never_with_its_network() {
    let limits = limits();
    let home = IpAddr::from([192, 0, 2, 1]);
    let ask = |n: u8| limits.status(Asker::Session(&pass(n)), home).is_ok();
    assert!((1..=50).all(ask), "fifty sessions behind one address");
    assert!(!ask(1), "one session again");
}

fn pass(n: u8) -> Pass {
    Pass {
        room: RoomName::new("shop").unwrap(),
        line: LineName::ONLY,
        lane: LaneId(0),
        edition: Edition(0),
        number: Number {
            epoch: Epoch(1),
            n: n.into(),
        },
        call: 1,
        id: PassId([n; 8]),
        expires_at: Wall(0),
    }
}

#[test]
fn joins_are_counted_by_address_and_for_each_room_by_two_networks() {
    let limits = limits();
    let [shop, other] = ["shop", "other"].map(|name| RoomName::new(name).unwrap());
    let join = |room, network, last| limits.join(room, IpAddr::from([192, 0, network, last])).is_ok();
    assert!(join(&shop, 2, 1) && !join(&shop, 2, 1), "one address");
    assert!(
        join(&shop, 2, 2) && join(&shop, 2, 3) && !join(&shop, 2, 4),
        "its network"
    );
    assert!(join(&other, 2, 5), "the network at another room");
    assert!(
        join(&shop, 3, 1) && join(&shop, 3, 2) && !join(&shop, 4, 1),
        "the wider one"
    );
    assert!(limits.join(&shop, IpAddr::from([203, 0, 113, 1])).is_ok());
}

#[test]
fn a_refused_join_takes_nothing_from_anybody() {
    let limits = limits();
    let [shop, other] = ["shop", "other"].map(|name| RoomName::new(name).unwrap());
    let at = |last| IpAddr::from([192, 0, 2, last]);
    let refused_by = |over: Over| over.policy.to_str().unwrap().to_owned();
    for last in 1..=3 {
        assert!(limits.join(&shop, at(last)).is_ok());
    }
    for _ in 0..10 {
        let over = limits.join(&shop, at(4)).unwrap_err();
        assert_eq!(refused_by(over), "\"join-network\";q=3;w=60");
        let over = limits.join_without_proof(&shop, at(4)).unwrap_err();
        assert_eq!(refused_by(over), "\"join-network\";q=3;w=60");
    }
    assert!(limits.join(&other, at(4)).is_ok(), "the address has its join still");
    for _ in 0..10 {
        let over = limits.join_without_proof(&other, at(4)).unwrap_err();
        assert_eq!(refused_by(over), "\"join\";q=1;w=60");
    }
    assert!(
        limits.join_without_proof(&other, at(5)).is_ok(),
        "the network has its one without proof still"
    );
    let over = limits.join_without_proof(&other, at(6)).unwrap_err();
    assert_eq!(refused_by(over), "\"join-without-proof\";q=1;w=60");
    assert!(
        limits.join(&other, at(6)).is_ok(),
        "and the address and the network theirs"
    );
}

#[test]
fn a_page_that_was_refused_comes_again_by_itself_and_a_form_does_not() {
    let limits = limits();
    let shop = RoomName::new("shop").unwrap();
    let client = IpAddr::from([192, 0, 2, 1]);
    assert!(limits.join(&shop, client).is_ok() && limits.returns(client).is_ok());
    let pages = Pages::built_in().unwrap();
    let refresh = |over: Over, kind| {
        let response = over.answer(&pages, &Visit::sample(kind)).response;
        let secs = |name| Some(response.headers().get(name)?.to_str().unwrap().parse::<u32>().unwrap());
        (secs("refresh"), secs("retry-after").unwrap())
    };
    let joining = || limits.join(&shop, client).unwrap_err();
    for over in [joining(), limits.returns(client).unwrap_err()] {
        let (again, told) = refresh(over, Kind::Navigation);
        assert!(again == Some(told) && (60..75).contains(&told), "{told}");
    }
    assert_eq!(
        refresh(joining(), Kind::Post),
        (None, 60),
        "what was posted is never sent again"
    );
    assert_eq!(refresh(joining(), Kind::Api), (None, 60));
}

#[test]
fn who_is_over_is_told_when_to_come_back_in_a_form_they_can_read() {
    let limits = limits();
    let client = IpAddr::from([192, 0, 2, 1]);
    assert!(limits.returns(client).is_ok());
    let over = limits.returns(client).unwrap_err();
    let pages = Pages::built_in().unwrap();
    for (kind, content) in [
        (Kind::Navigation, "text/html; charset=utf-8"),
        (Kind::Api, "application/problem+json"),
        (Kind::Passive, "text/plain; charset=utf-8"),
    ] {
        let answer = over.answer(&pages, &Visit::sample(kind));
        assert_eq!(answer.outcome, Outcome::Limited);
        let response = answer.response;
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        let header = |name: &str| response.headers()[name].to_str().unwrap();
        assert_eq!(header("content-type"), content);
        let again = header("retry-after").parse::<u32>().unwrap();
        assert!(
            again == 60 || (kind.is_navigation() && (60..75).contains(&again)),
            "{again}"
        );
        assert!(header("cache-control").starts_with("no-store"));
        assert_eq!(header("ratelimit-policy"), "\"returns\";q=1;w=60");
        assert_eq!(header("ratelimit"), "\"returns\";r=0;t=60");
        assert_eq!(header("ropeline-status"), "limited");
    }
}

#[test]
fn a_wait_is_told_in_whole_seconds_rounded_up() {
    assert_eq!(secs(Duration::from_millis(1)), 1);
    assert_eq!(secs(Duration::from_millis(2_001)), 3);
    assert_eq!(secs(Duration::from_secs(2)), 2);
}
