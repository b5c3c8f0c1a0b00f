//! Invalid cookies are treated as missing, and never give an error page.

use ropeline::room::{LineName, Number, RoomName};
use ropeline::token::{Pass, Ticket};

use crate::gate::{keyring, keyring_of, pass_name, ticket_name};
use crate::guest::{Guest, number_of};
use crate::http::Message;

use super::{House, ONE};

/// Shows `answer` to be what a newcomer to a full room gets.
fn assert_newcomer(what: &str, guest: &Guest, answer: &Message, old: Option<Number>) {
    assert_eq!(
        (answer.status(), answer.word()),
        (House::PAGE, "waiting"),
        "{what}: {}",
        answer.head
    );
    let number = guest.ticket().as_ref().and_then(number_of);
    assert!(number.is_some() && number != old, "{what}: {number:?}");
}

/// Possible damage to a cookie.
fn spoilt(value: &str) -> Vec<(&'static str, String)> {
    let swapped = |at: usize| {
        let mut bytes = value.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    vec![
        ("empty", String::new()),
        ("rubbish", "*!*".to_owned()),
        ("cut", value[..value.len() - 4].to_owned()),
        ("longer", format!("{value}AAAA")),
        ("first byte", swapped(0)),
        ("middle byte", swapped(value.len() / 2)),
        ("last byte but one", swapped(value.len() - 2)),
        ("in quotes", format!("\"{}\"", swapped(9))),
        ("very long", "A".repeat(3_000)),
    ]
}

#[tokio::test]
async fn a_spoilt_ticket_is_as_good_as_none() {
    let (house, _inside) = House::full().await;
    let waiting = house.in_line().await;
    let value = waiting.jar[&ticket_name()].clone();
    for (what, value) in spoilt(&value) {
        let mut guest = house.guest();
        guest.jar.insert(ticket_name(), value.clone());
        let answer = guest.page("/").await;
        assert_newcomer(what, &guest, &answer, waiting.ticket().as_ref().and_then(number_of));
        guest.jar.insert(ticket_name(), value);
        let status = guest.own("GET", "status").await;
        assert_eq!(
            (status.status(), &status.json()["state"]),
            (200, &"none".into()),
            "{what}"
        );
    }
}

#[tokio::test]
async fn a_spoilt_pass_is_as_good_as_none() {
    let (house, mut inside) = House::full().await;
    let value = inside.jar[&pass_name()].clone();
    for (what, value) in spoilt(&value) {
        let mut guest = house.guest();
        guest.jar.insert(pass_name(), value.clone());
        let answer = guest.script("GET", "/api").await;
        assert_eq!(answer.status(), 503, "{what}: {}", answer.head);
        let answer = guest.page("/").await;
        assert_newcomer(what, &guest, &answer, None);
    }
    assert!(inside.page("/").await.is_the_shops());
}

#[tokio::test]
async fn tokens_of_another_key_kind_room_or_line_are_as_good_as_none() {
    let (house, inside) = House::full().await;
    let waiting = house.in_line().await;
    let (ticket, pass) = (waiting.ticket().unwrap(), inside.pass().unwrap());
    let stranger = keyring_of("a key that this gate does not have, and of thirty-two bytes or more");
    let (other_room, other_line) = (RoomName::new("other").unwrap(), LineName::new("a").unwrap());
    let tickets = [
        ("foreign key", ticket.sign(&stranger)),
        ("a pass", pass.sign(&keyring())),
        (
            "another room's",
            Ticket {
                room: other_room.clone(),
                ..ticket.clone()
            }
            .sign(&keyring()),
        ),
        (
            "another line's",
            Ticket {
                line: other_line.clone(),
                ..ticket.clone()
            }
            .sign(&keyring()),
        ),
    ];
    for (what, value) in tickets {
        let mut guest = house.guest();
        guest.jar.insert(ticket_name(), value);
        let answer = guest.page("/").await;
        assert_newcomer(what, &guest, &answer, number_of(&ticket));
    }
    let passes = [
        ("foreign key", pass.sign(&stranger)),
        ("a ticket", ticket.sign(&keyring())),
        (
            "another room's",
            Pass {
                room: other_room,
                ..pass.clone()
            }
            .sign(&keyring()),
        ),
        (
            "another line's",
            Pass {
                line: other_line,
                ..pass.clone()
            }
            .sign(&keyring()),
        ),
    ];
    for (what, value) in passes {
        let mut guest = house.guest();
        guest.jar.insert(pass_name(), value);
        assert_eq!(guest.script("GET", "/api").await.status(), 503, "{what}");
        assert_eq!(guest.page("/").await.word(), "waiting", "{what}");
    }
}

#[tokio::test]
async fn a_planted_cookie_does_not_hide_the_genuine_one() {
    let (house, mut inside) = House::full().await;
    inside.says("Cookie", &format!("{}=planted", pass_name()));
    assert!(inside.page("/").await.is_the_shops());
    let mut waiting = house.in_line().await;
    waiting.says("Cookie", &format!("{}=planted", ticket_name()));
    assert_eq!(waiting.page("/").await.word(), "waiting");
    assert_eq!(house.gate.room().await["joins"], 2);
}

/// Any script of the shop may set such cookies, and a browser sends them in the same line.
#[tokio::test]
async fn cookies_with_bytes_beyond_ascii_hide_neither_ticket_nor_pass() {
    let (house, mut inside) = House::full_and_patient().await;
    let mut waiting = house.in_line().await;
    let number = waiting.ticket().as_ref().and_then(number_of);
    let session = inside.pass().unwrap().session_header();
    for guest in [&mut inside, &mut waiting] {
        // In the jar's order one comes before the gate's cookies and one after them.
        for name in ["Name", "zone"] {
            guest.jar.insert(name.into(), "홍길동".into());
        }
    }
    for _ in 0..2 {
        assert_eq!(waiting.page("/").await.word(), "waiting");
        assert_eq!(waiting.own("GET", "status").await.json()["position"], 1);
        assert!(inside.page("/named").await.is_the_shops());
        assert!(inside.script("GET", "/named").await.is_the_shops());
    }
    assert_eq!(waiting.ticket().as_ref().and_then(number_of), number);
    assert_eq!(house.gate.room().await["joins"], 2);
    for seen in house.shop.seen_of("/named") {
        assert_eq!(seen.session(), Some(session.as_str()));
        assert_eq!(seen.request.field("cookie"), Some("Name=홍길동; zone=홍길동"));
    }
}

/// A session without renewal: its pass is void, and its visitor joins at the back, with a notice.
#[tokio::test]
async fn an_expired_pass_joins_anew_and_is_told_so() {
    let short = "claim_deadline = \"4s\"\nsession_duration = \"4s\"";
    let house = House::open(&format!("{ONE}\n{short}"), "").await;
    let mut inside = house.inside().await;
    let session = inside.pass().unwrap().session_header();
    house.until("ends", 1).await;
    let _next = house.inside().await;
    let answer = inside.script("GET", "/api/late").await;
    assert_eq!(answer.status(), 503, "{}", answer.head);
    let answer = inside.page("/late").await;
    assert_eq!(answer.word(), "waiting", "{}", answer.head);
    assert!(answer.text().contains("Your time inside is over."), "{}", answer.text());
    assert!(
        house
            .shop
            .seen_of("late")
            .iter()
            .all(|seen| seen.session() != Some(&session))
    );
}

#[tokio::test]
async fn who_misses_a_turn_is_told_and_is_next_and_who_misses_two_joins_at_the_back() {
    let short = "claim_deadline = \"4s\"\nfirm_within = \"4s\"\ngrace = \"8s\"";
    let house = House::open(&format!("{ONE}\n{short}"), "").await;
    let mut inside = house.inside().await;
    let mut waiting = house.in_line().await;
    let number = number_of(&waiting.ticket().unwrap()).unwrap();
    inside.own("POST", "leave").await;
    house.until_state(&mut waiting, "called").await;
    house.gate.set("{\"mode\": \"hold\"}").await;
    house.until_state(&mut waiting, "waiting").await;
    let answer = waiting.page("/").await;
    assert_eq!(answer.word(), "waiting");
    assert!(answer.text().contains("Your turn came at"), "{}", answer.text());
    assert_eq!(waiting.own("GET", "status").await.json()["position"], 1);

    house.gate.set("{\"mode\": \"auto\"}").await;
    house.until_state(&mut waiting, "called").await;
    house.gate.set("{\"mode\": \"hold\"}").await;
    house.until_state(&mut waiting, "late").await;
    let answer = waiting.page("/").await;
    assert_eq!(answer.word(), "waiting");
    assert!(answer.text().contains("You missed your turn"), "{}", answer.text());
    assert!(number_of(&waiting.ticket().unwrap()).unwrap() > number);
}
