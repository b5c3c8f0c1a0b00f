//! Holders of slots: a visitor who was served, from the first request on, for a whole `session_duration`, as counted by the
//! shop, which knows visitors by their requests.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::guest::Guest;
use crate::http::PATIENCE;
use crate::shop::Seen;

use super::{House, OFTEN, ONE};

/// The shortest that a configuration takes.
const CLAIM: &str = "claim_deadline = \"4s\"";

fn slots(count: u32, more: &str) -> String {
    format!("total_active_users = {count}\n{CLAIM}\n{more}")
}

/// A visitor is called and sends no request to the shop. Once that turn is missed, so is every earlier turn.
async fn until_a_turn_is_missed(house: &House) {
    let mut app = house.guest();
    let joined = app.own("POST", "join").await.json();
    assert!(joined["pass"].is_string(), "called at once: {joined}");
    assert_eq!(house.gate.room().await["called"], 1);
    house.until("no_shows", 1).await;
}

#[tokio::test]
async fn who_reads_one_page_past_the_claim_deadline_keeps_the_slot() {
    let house = House::open(&slots(2, ""), OFTEN).await;
    let mut reader = house.guest();
    assert!(reader.page("/product").await.is_the_shops());
    until_a_turn_is_missed(&house).await;
    let mut next = house.guest();
    assert!(next.page("/").await.is_the_shops(), "in the slot that was not claimed");
    assert_eq!(house.in_line().await.page("/").await.word(), "waiting");
    assert!(reader.page("/product/2").await.is_the_shops(), "still inside");
    let room = house.gate.room().await;
    assert_eq!(
        (&room["sessions"], &room["called"], &room["no_shows"], &room["claims"]),
        (&2.into(), &0.into(), &1.into(), &2.into())
    );
}

/// As the one before, where there is only one slot.
#[tokio::test]
async fn nobody_is_called_into_the_slot_of_somebody_who_reads() {
    let house = House::open(&slots(1, ""), OFTEN).await;
    let mut reader = house.guest();
    assert!(reader.page("/product").await.is_the_shops());
    let read = ropeline::time::uptime();
    let mut waiting = house.in_line().await;
    // Past the claim deadline, and more.
    while ropeline::time::uptime().saturating_sub(read) < Duration::from_secs(8) {
        assert_eq!(waiting.own("GET", "status").await.json()["state"], "waiting");
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    assert!(reader.page("/product/2").await.is_the_shops());
    assert_eq!(waiting.page("/").await.word(), "waiting");
    assert_eq!(house.gate.room().await["no_shows"], 0);
}

/// The slot of a turn is held a little longer than the turn, and a visitor who comes back then is shown as the next in the
/// lane.
#[tokio::test]
async fn who_is_back_just_after_the_claim_deadline_is_called_before_who_stands_behind() {
    let house = House::open(&slots(1, ""), OFTEN).await;
    let mut reader = house.inside().await;
    let (mut away, mut behind) = (house.in_line().await, house.in_line().await);
    reader.own("POST", "leave").await;
    house.until("called", 1).await;
    for state in ["called", "waiting", "called"] {
        house.until_state(&mut away, state).await;
        assert_eq!(behind.own("GET", "status").await.json()["state"], "waiting", "{state}");
    }
    assert!(away.page("/").await.is_the_shops());
    assert_eq!(behind.page("/").await.word(), "waiting");
    let room = house.gate.room().await;
    assert_eq!((&room["no_shows"], &room["calls"]), (&1.into(), &3.into()));
}

/// The room that has lost its log knows of no second call; the pass does.
#[tokio::test]
async fn who_is_inside_by_a_second_turn_stays_so_when_all_is_lost() {
    for more in [
        "",
        "session_duration = \"2 min\"\nslots = \"active\"\nidle_after = \"8s\"",
    ] {
        let mut house = House::open(&slots(1, more), OFTEN).await;
        let mut reader = house.inside().await;
        let mut late = house.in_line().await;
        reader.own("POST", "leave").await;
        for state in ["called", "waiting", "called"] {
            house.until_state(&mut late, state).await;
        }
        assert!(late.page("/").await.is_the_shops());
        assert_eq!(late.pass().unwrap().call, 2);
        house.gate.kill();
        house.gate.lose_log();
        house.gate.start();
        house.gate.ready().await;
        assert!(late.page("/back").await.is_the_shops());
        house.until("sessions", 1).await;
        let answer = late.page("/known").await;
        assert!(answer.is_the_shops(), "{more}: {}", answer.head);
        let session = house.shop.seen_of("/known")[0].session().unwrap().to_owned();
        assert_eq!(house.gate.verify(&session).await["state"], "inside", "{more}");
        let room = house.gate.room().await;
        assert_eq!((&room["sessions"], &room["joins"]), (&1.into(), &0.into()), "{more}");
    }
}

#[tokio::test]
async fn visitors_of_one_page_are_no_no_shows() {
    let house = House::open(&slots(31, ""), OFTEN).await;
    for _ in 0..30 {
        assert!(house.guest().page("/product").await.is_the_shops());
    }
    until_a_turn_is_missed(&house).await;
    let room = house.gate.room().await;
    assert_eq!(
        (&room["sessions"], &room["claims"], &room["no_shows"]),
        (&30.into(), &30.into(), &1.into())
    );
}

/// A browser that keeps no cookies, and one that keeps the ticket alone.
#[tokio::test]
async fn whoever_was_served_is_inside_whatever_cookies_they_keep() {
    let house = House::open(&slots(3, ""), OFTEN).await;
    let mut none = house.guest();
    none.keeps = false;
    assert!(none.page("/product").await.is_the_shops());
    let mut ticket = house.guest();
    assert!(ticket.page("/product").await.is_the_shops());
    ticket.jar.remove(&crate::gate::pass_name());
    until_a_turn_is_missed(&house).await;
    assert_eq!(house.gate.room().await["sessions"], 2);
    assert!(ticket.page("/product").await.is_the_shops());
    assert_eq!(house.gate.room().await["joins"], 3);
}

/// The log has the claim before the shop has the request.
#[tokio::test]
async fn who_was_served_is_inside_also_when_the_gate_dies_at_once() {
    let mut house = House::open(&slots(1, ""), OFTEN).await;
    let mut reader = house.guest();
    assert!(reader.page("/product").await.is_the_shops());
    house.gate.kill();
    house.gate.start();
    house.gate.ready().await;
    let room = house.gate.room().await;
    assert_eq!((&room["sessions"], &room["called"]), (&1.into(), &0.into()));
    assert!(reader.page("/product/2").await.is_the_shops());
}

/// A visitor who is called in line, gets the pass from the page's check-in, and comes with it.
#[tokio::test]
async fn a_called_visitor_is_one_who_has_sent_the_shop_nothing() {
    let (house, mut inside) = House::full_and_patient().await;
    let mut waiting = house.in_line().await;
    inside.own("POST", "leave").await;
    house.until_state(&mut waiting, "called").await;
    waiting.own("POST", "check-in").await;
    assert!(waiting.pass().is_some());
    let figures = async || {
        let room = house.gate.room().await;
        (room["called"].clone(), room["sessions"].clone())
    };
    assert_eq!(figures().await, (1.into(), 0.into()));
    let called_until = waiting.pass().unwrap().expires_at;
    assert!(waiting.page("/").await.is_the_shops());
    assert_eq!(figures().await, (0.into(), 1.into()));
    assert!(
        waiting.pass().unwrap().expires_at > called_until,
        "dated by the session"
    );
}

/// On a route of returns, and of a program where the room is open, a called visitor's request is the session's first.
#[tokio::test]
async fn whatever_lets_a_called_visitors_request_through_makes_them_inside() {
    for (target, script) in [("/checkout/return", false), ("/checkout/return", true), ("/api", true)] {
        let more = "return_routes = [\"/checkout/return\"]";
        let house = House::open(&slots(2, more), OFTEN).await;
        let mut app = house.guest();
        app.own("POST", "join").await;
        app.jar.remove(&crate::gate::pass_name());
        let answer = if script {
            app.script("GET", target).await
        } else {
            app.page(target).await
        };
        assert!(answer.is_the_shops(), "{target}: {}", answer.head);
        let room = house.gate.room().await;
        assert_eq!((&room["called"], &room["sessions"]), (&0.into(), &1.into()), "{target}");
        assert!(house.shop.seen_of(target)[0].session().is_some(), "{target}");
    }
}

const CAPACITY: usize = 3;
const SESSION: Duration = Duration::from_secs(4);

/// One, two and twenty pages, with time to read between them, and no goodbye.
#[tokio::test]
async fn the_shop_never_counts_more_visitors_than_slots() {
    let room = slots(3, "session_duration = \"4s\"\ngrace = \"20s\"\nfirm_within = \"8s\"");
    let house = House::open(&room, OFTEN).await;
    let visits = [1, 20, 2, 1, 1, 20, 2, 1, 2].map(|pages| (pages, house.guest()));
    let visits = visits.map(|(pages, guest)| tokio::spawn(visit(guest, pages)));
    for visit in visits {
        visit.await.unwrap();
    }
    let seen = house.shop.seen();
    assert_eq!(seen.len(), 50, "each page once");
    let visitors: BTreeSet<_> = seen.iter().filter_map(Seen::session).collect();
    assert_eq!(visitors.len(), 9);
    let most = most_sessions(&seen);
    assert_eq!(most, CAPACITY, "visitors with a request in the last session_duration");
    assert_eq!(house.gate.room().await["no_shows"], 0);
}

async fn visit(mut guest: Guest, pages: u32) {
    let comes = async {
        while !guest.page("/page").await.is_the_shops() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::time::timeout(PATIENCE, comes).await.expect("a turn");
    for _ in 1..pages {
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(guest.page("/page").await.is_the_shops());
    }
}

/// The most sessions at any request of those with a request under way or answered in the last `session_duration`.
fn most_sessions(seen: &[Seen]) -> usize {
    let at = |moment: Duration| {
        let mut last: BTreeMap<&str, Duration> = BTreeMap::new();
        for seen in seen.iter().filter(|seen| seen.from <= moment) {
            let session = seen.session().expect("each is a session's");
            let to = last.entry(session).or_default();
            *to = seen.to.min(moment).max(*to);
        }
        last.values().filter(|to| moment.saturating_sub(**to) < SESSION).count()
    };
    seen.iter().map(|seen| at(seen.from)).max().unwrap_or_default()
}

/// A page that takes longer than a session is use of it all the while.
#[tokio::test]
async fn a_request_under_way_is_counted_until_it_ends() {
    const SLOW: &[crate::shop::Reply] = &[crate::shop::Reply {
        after: Duration::from_secs(9),
        ..crate::shop::Reply::new("/slow", "HTTP/1.1 200 OK\r\nX-Shop: 1\r\n", "at last")
    }];
    let room = format!("{ONE}\n{CLAIM}\nsession_duration = \"4s\"\nfirm_within = \"20s\"");
    let house = House::scripted(SLOW, &room, OFTEN).await;
    let mut guest = house.guest();
    let slow = tokio::spawn(async move {
        let answer = guest.page("/slow").await;
        (answer, guest)
    });
    house.until("sessions", 1).await;
    let mut waiting = house.in_line().await;
    let (answer, mut reader) = slow.await.unwrap();
    assert!(answer.is_the_shops());
    assert_eq!(waiting.own("GET", "status").await.json()["state"], "waiting");
    assert!(reader.page("/").await.is_the_shops(), "the session has not idled out");
    assert_eq!(house.gate.room().await["ends"], 0);
}
