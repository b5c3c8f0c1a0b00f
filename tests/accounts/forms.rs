//! The field of one form or JSON object; and the body that goes on to the shop as it came.

use super::guest::PAGE;
use super::house::Way as _;
use super::*;

const FIELD: &str = "[room.identity]\nfrom = \"field\"\nname = \"email\"\non = \"POST /enter\"\nmissing = \"refuse\"\nsign_in = \"/static/enter\"\n";

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

async fn enters(guest: &mut Guest, kind: &str, body: &str) -> Message {
    guest
        .send("POST", "/enter", &format!("{PAGE}{kind}"), body)
        .await
        .unwrap()
}

/// A room for one with somebody in it who came by the form.
async fn by_form() -> (House, Guest) {
    let house = House::open(&format!("{ONE}{FIELD}"), house::OFTEN).await;
    let mut inside = house.guest();
    let answer = enters(&mut inside, FORM, "email=somebody&seat=7").await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert!(inside.page("/").await.is_the_shops(), "the pass needs no form");
    (house, inside)
}

#[tokio::test]
async fn a_form_and_an_object_name_the_same_account_and_pages_need_neither_then() {
    let (house, _inside) = by_form().await;
    let (mut one, mut two) = (house.guest(), house.guest());
    let answer = enters(&mut one, FORM, "seat=7&email=ann%40shop.example").await;
    assert_eq!((answer.status(), answer.word()), (503, "waiting"), "{}", answer.head);
    let place = number(&one);
    let answer = enters(&mut two, JSON, r#"{"email":"ann@shop.example"}"#).await;
    assert_eq!((answer.word(), number(&two)), ("waiting", place), "{}", answer.head);
    assert_eq!(waits(&mut one).await, place, "without the form the ticket still counts");
    let mut bob = house.guest();
    bob.jar = one.jar.clone();
    assert_not_yours(&enters(&mut bob, FORM, "email=bob").await);
}

#[tokio::test]
async fn what_is_ambiguous_or_too_much_names_nobody() {
    let (house, _inside) = by_form().await;
    let deep = format!("{{\"email\":\"ann\",\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let long = format!("email=ann&rest={}", "x".repeat(20_000));
    for (kind, body) in [
        (FORM, "email=ann&email=bob"),
        (FORM, "email=ann&email=ann"),
        (FORM, "email="),
        (FORM, "email=%zz"),
        (FORM, long.as_str()),
        (JSON, r#"{"email":"ann","email":"bob"}"#),
        (JSON, r#"{"email":"ann","\u0065mail":"bob"}"#),
        (JSON, r#"{"email":["ann"]}"#),
        (JSON, deep.as_str()),
        (JSON, "email=ann"),
        (
            "Content-Type: multipart/form-data; boundary=x\r\n",
            "--x\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\nann\r\n--x--\r\n",
        ),
        (
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Encoding: gzip\r\n",
            "email=ann",
        ),
        ("", "email=ann"),
    ] {
        let mut guest = house.guest();
        let answer = enters(&mut guest, kind, body).await;
        let shown: String = body.chars().take(60).collect();
        assert_eq!(
            (answer.status(), answer.word()),
            (403, "sign_in"),
            "{shown}: {}",
            answer.head
        );
    }
    let mut elsewhere = house.guest();
    let answer = elsewhere
        .send("POST", "/other", &format!("{PAGE}{FORM}"), "email=ann")
        .await
        .unwrap();
    assert_eq!(answer.word(), "sign_in", "another route's form");
}

#[tokio::test]
async fn the_shop_gets_the_body_byte_for_byte_whatever_its_length_and_form() {
    let house = House::open(
        &format!("total_active_users = 100\n{}", FIELD.replace("\"refuse\"", "\"join\"")),
        house::OFTEN,
    )
    .await;
    let bodies = [
        "email=ann&seat=%37+%e4".to_owned(),
        String::new(),
        format!("email=bob&rest={}", "0123456789".repeat(1_600)),
        format!("email=eve&rest={}", "0123456789".repeat(30_000)),
    ];
    for body in &bodies {
        let mut guest = house.guest();
        let answer = enters(&mut guest, FORM, body).await;
        assert!(answer.is_the_shops(), "{}", answer.head);
        let seen = house.shop.seen();
        let seen = &seen
            .iter()
            .rev()
            .find(|seen| seen.line().starts_with("POST /enter"))
            .unwrap()
            .request;
        assert!(
            seen.body == body.as_bytes(),
            "{} of {} bytes",
            seen.body.len(),
            body.len()
        );
        assert_eq!(
            seen.field("content-length").map(str::to_owned),
            Some(body.len().to_string())
        );
    }
    let chunked = format!("{PAGE}{FORM}Transfer-Encoding: chunked\r\n");
    let guest = house.guest();
    let head = guest
        .request("POST", "/enter", &chunked, "")
        .replace("Content-Length: 0\r\n", "");
    let body = "9\r\nemail=kim\r\n7\r\n&seat=7\r\n0\r\n\r\n";
    let answer = house
        .way
        .pool("")
        .ask(format!("{head}{body}").as_bytes())
        .await
        .unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    let seen = house.shop.seen();
    let seen = &seen
        .iter()
        .rev()
        .find(|seen| seen.line().starts_with("POST /enter"))
        .unwrap()
        .request;
    assert_eq!(seen.text(), "email=kim&seat=7");
}
