//! Which requests are use of a session, and how many sessions the shop sees in use.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::contract::sockets::{SOCKET, assert_alive, assert_closes, socket_at};
use crate::guest::{Guest, PAGE, SCRIPT};
use crate::http::PATIENCE;
use crate::shop::Seen;

use super::{ACTIVE, assert_parked, house, one_parked, scripted};

const IMAGE: &str = "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\nAccept: image/*\r\n";
const PREFETCH: &str =
    "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nSec-Purpose: prefetch\r\nAccept: text/html\r\n";

/// Requests that no slot is kept for.
const UNCOUNTED: [(&str, &str, &str); 4] = [
    ("HEAD", "/seats", PAGE),
    ("GET", "/seats.png", IMAGE),
    ("GET", "/next", PREFETCH),
    ("GET", "/cart/poll", SCRIPT),
];

fn polled() -> String {
    format!("{ACTIVE}\nbackground = [\"/cart/poll\", \"/socket/background\"]")
}

#[tokio::test]
async fn parts_of_a_page_and_polling_get_503_while_parked_and_take_no_slot() {
    let (house, mut away, mut busy) = one_parked(&[], &polled()).await;
    let before = house.shop.begun();
    for (method, target, fields) in UNCOUNTED {
        assert_parked(&away.once(method, target, fields, "").await.unwrap());
    }
    busy.own("POST", "leave").await;
    house.until("sessions", 0).await;
    for (method, target, fields) in UNCOUNTED {
        assert_parked(&away.once(method, target, fields, "").await.unwrap());
    }
    let room = house.gate.room().await;
    assert_eq!(
        (&room["sessions"], &room["parked"]),
        (&0.into(), &1.into()),
        "a slot is free"
    );
    assert_eq!(house.shop.begun(), before);
    // A person who opens the address of a poll is there.
    assert!(away.page("/cart/poll").await.is_the_shops());
    assert_eq!(house.gate.room().await["sessions"], 1);
    for (method, target, fields) in UNCOUNTED {
        let answer = away.once(method, target, fields, "").await.unwrap();
        assert!(answer.is_the_shops(), "{method} {target}: {}", answer.head);
    }
}

#[tokio::test]
async fn a_page_that_polls_does_not_keep_the_slot() {
    let house = house(1, &polled()).await;
    let mut away = house.inside().await;
    let polls = async {
        while house.gate.room().await["parked"] != 1 {
            for (method, target, fields) in UNCOUNTED {
                away.once(method, target, fields, "").await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, polls).await.is_ok(), "never parked");
    assert!(
        !house.shop.seen_of("/cart/poll").is_empty(),
        "it was served as long as it had the slot"
    );
}

#[tokio::test]
async fn a_socket_keeps_the_slot_and_one_of_a_background_route_is_closed_with_it() {
    let house = scripted(SOCKET, 2, &polled()).await;
    let (stays, leaves) = (house.inside().await, house.inside().await);
    let mut kept = socket_at(&house, &stays, "/socket").await;
    let closed = socket_at(&house, &leaves, "/socket/background").await;
    house.until("parked", 1).await;
    assert_closes(closed, "parked").await;
    assert_alive(&mut kept).await;
    let room = house.gate.room().await;
    assert_eq!((&room["sessions"], &room["parked"]), (&1.into(), &1.into()));
}

const SLOTS: usize = 3;
const IDLE: Duration = Duration::from_secs(4);

/// Twelve visitors with pauses around the time after which they are parked, in a room for three.
#[tokio::test]
async fn the_shop_never_sees_more_sessions_in_use_than_slots() {
    let house = house(
        3,
        &format!("{ACTIVE}\nmax_sessions = 12\ngrace = \"20s\"\nfirm_within = \"8s\""),
    )
    .await;
    let visits = (0..12_u32).map(|at| tokio::spawn(visit(house.guest(), at)));
    for visit in visits.collect::<Vec<_>>() {
        visit.await.unwrap();
    }
    let seen = house.shop.seen();
    assert_eq!(seen.len(), 12 * PAGES.len(), "each page once");
    assert!(most_sessions(&seen) <= SLOTS, "{}", most_sessions(&seen));
    assert_eq!(house.gate.room().await["excess"], 0);
}

/// Pauses between pages, in tenths of a second, added to a pause of the visitor's own.
const PAGES: [u64; 5] = [2, 40, 1, 70, 3];

async fn visit(mut guest: Guest, at: u32) {
    for (page, pause) in PAGES.into_iter().enumerate() {
        let target = format!("/page/{at}/{page}");
        let comes = async {
            while !guest.page(&target).await.is_the_shops() {
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        };
        tokio::time::timeout(3 * PATIENCE, comes).await.expect("a slot");
        let own = u64::from(at) * 7 % 11;
        tokio::time::sleep(Duration::from_millis(100 * (pause + own))).await;
    }
    guest.own("POST", "leave").await;
}

/// The most sessions at any request of those with a request under way or answered in the last `idle_after`. A visitor who has
/// left has given the slot away.
fn most_sessions(seen: &[Seen]) -> usize {
    let last_page = format!("/{} ", PAGES.len() - 1);
    let at = |moment: Duration| {
        let mut last: BTreeMap<&str, Duration> = BTreeMap::new();
        for seen in seen.iter().filter(|seen| seen.from <= moment) {
            let session = seen.session().expect("each is a session's");
            let to = last.entry(session).or_default();
            *to = seen.to.min(moment).max(*to);
            if seen.line().contains(&last_page) && seen.to < moment {
                last.remove(session);
            }
        }
        last.values().filter(|to| moment.saturating_sub(**to) < IDLE).count()
    };
    seen.iter().map(|seen| at(seen.from)).max().unwrap_or_default()
}
