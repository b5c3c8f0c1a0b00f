//! Marks of virtual visitors, signed with the gate's own keys: genuine, each of them, and good for one rehearsal alone.

use ropeline::room::{RehearsalId, RoomName};
use ropeline::token::Mark;

use crate::gate::{keyring, keyring_of, room};
use crate::guest::PAGE;
use crate::house::{Direct, ONE};

type House = crate::house::House<Direct>;

const ID: RehearsalId = RehearsalId([3; 8]);

fn mark() -> Mark {
    Mark {
        rehearsal: ID,
        forward: false,
    }
}

async fn tells(house: &House, what: &str, body: &str) {
    let target = format!("/api/v1/rooms/shop/rehearsal{what}");
    let answer = house.gate.admin_ask("POST", &target, body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

async fn begin(house: &House, id: RehearsalId) {
    let body = format!(r#"{{"id": "{id}", "visitors": 10, "seconds": 600}}"#);
    tells(house, "", &body).await;
}

/// A newcomer shows a mark. What it is refused for, or that the gate has answered in place of the shop.
async fn shows(house: &House, text: &str, target: &str) -> String {
    let fields = format!("{PAGE}Ropeline-Rehearsal: {text}\r\n");
    let answer = house.guest().once("GET", target, &fields, "").await.unwrap();
    match answer.status() {
        200 => assert_eq!(answer.field("ropeline-rehearsal"), Some(&*ID.to_string())),
        other => assert_eq!(other, 403, "{}", answer.head),
    }
    answer.word().to_owned()
}

#[tokio::test]
async fn a_mark_is_good_for_its_room_and_its_rehearsal() {
    let house = House::open(ONE, "").await;
    let good = mark().sign(&keyring(), &room());
    assert_eq!(
        shows(&house, &good, "/seats").await,
        "rehearsal_over",
        "none is under way"
    );
    begin(&house, ID).await;
    let another = RehearsalId([4; 8]);
    for (word, text) in [
        (
            "rehearsal_over",
            Mark {
                rehearsal: another,
                ..mark()
            }
            .sign(&keyring(), &room()),
        ),
        (
            "rehearsal_mark",
            mark().sign(&keyring(), &RoomName::new("other").unwrap()),
        ),
        (
            "rehearsal_mark",
            mark().sign(
                &keyring_of("a secret of somebody else, as long as any other is"),
                &room(),
            ),
        ),
    ] {
        assert_eq!(shows(&house, &text, "/seats").await, word);
    }
    assert_eq!(
        shows(&house, &good, "/static/x").await,
        "rehearsal_mark",
        "a path of no room"
    );
    assert_eq!(house.gate.room().await["joins"], 0);
    // Only both say that the shop is asked.
    let forward = Mark {
        forward: true,
        ..mark()
    }
    .sign(&keyring(), &room());
    assert_eq!(shows(&house, &forward, "/seats").await, "rehearsed");
    assert_eq!(shows(&house, &good, "/seats").await, "waiting");
    tells(&house, "/end", "{}").await;
    assert_eq!(shows(&house, &good, "/seats").await, "rehearsal_over");
    begin(&house, another).await;
    assert_eq!(
        shows(&house, &good, "/seats").await,
        "rehearsal_over",
        "of the one before"
    );
    assert!(house.shop.seen().is_empty(), "the shop was asked");
}

/// Another host below the same domain can set such a cookie for any visitor.
#[tokio::test]
async fn a_cookie_of_a_virtual_visitor_without_the_mark_is_refused_during_a_rehearsal_and_is_nothing_else() {
    let house = House::open("total_active_users = 100", "").await;
    let mut guest = house.guest();
    guest.jar.insert("ropeline-rehearsal-pass-shop".into(), "x".into());
    assert!(guest.once("GET", "/seats", PAGE, "").await.unwrap().is_the_shops());
    begin(&house, ID).await;
    for target in ["/seats", "/robots.txt"] {
        let answer = guest.once("GET", target, PAGE, "").await.unwrap();
        assert_eq!((answer.status(), answer.word()), (403, "rehearsal_mark"), "{target}");
    }
    tells(&house, "/end", "{}").await;
    assert!(guest.once("GET", "/seats", PAGE, "").await.unwrap().is_the_shops());
    assert!(
        house
            .shop
            .seen()
            .iter()
            .all(|seen| !seen.request.head.contains("rehearsal"))
    );
}
