//! The owner of a place when a visitor signs in, out, or in with another account.

use super::guest::PAGE;
use super::*;

/// The tokens of another browser.
fn with_cookies_of(house: &House, name: Option<&str>, other: &Guest) -> Guest {
    let mut guest = match name {
        Some(name) => named(house, name),
        None => house.guest(),
    };
    guest.jar = other.jar.clone();
    guest
}

#[tokio::test]
async fn a_ticket_under_another_account_is_refused_everywhere_with_a_way_out_that_needs_no_script() {
    let (house, _inside) = full(HEADER).await;
    let mut ann = named(&house, "ann");
    let place = waits(&mut ann).await;
    let mut bob = with_cookies_of(&house, Some("bob"), &ann);
    let page = bob.page("/seats?row=7").await;
    assert_not_yours(&page);
    let action = "/.ropeline/rooms/shop/afresh?to=%2Fseats%3Frow%3D7";
    assert!(markup(&page).contains(action), "{}", markup(&page));
    for (method, endpoint) in [
        ("GET", "status"),
        ("POST", "check-in"),
        ("POST", "join"),
        ("POST", "leave"),
        ("GET", "events"),
    ] {
        let answer = bob.own(method, endpoint).await;
        assert_eq!(
            (answer.status(), answer.word()),
            (403, "ticket_owner"),
            "{endpoint}: {}",
            answer.head
        );
    }
    assert_not_yours(&bob.script("GET", "/api").await);
    assert_not_yours(&bob.page("/seats").await);
    let back = bob.once("POST", action, PAGE, "").await.unwrap();
    assert_eq!(
        (back.status(), back.field("location")),
        (303, Some("/seats?row=7")),
        "{}",
        back.head
    );
    assert!(bob.jar.is_empty());
    let own = waits(&mut bob).await;
    assert!(own > place);
    assert_eq!(waits(&mut ann).await, place, "whoever has the place keeps it");
}

#[tokio::test]
async fn the_way_out_leads_to_this_host_only_and_not_for_another_site() {
    let (house, _inside) = full(HEADER).await;
    let mut guest = named(&house, "ann");
    for away in ["%2F%2Fevil.example", "https%3A%2F%2Fevil.example", "%2F%5Cevil.example"] {
        let target = format!("/.ropeline/rooms/shop/afresh?to={away}");
        let answer = guest.once("POST", &target, PAGE, "").await.unwrap();
        assert_eq!((answer.status(), answer.field("location")), (303, Some("/")), "{away}");
    }
    waits(&mut guest).await;
    let foreign = format!("{PAGE}Sec-Fetch-Site: cross-site\r\n");
    let answer = guest
        .once("POST", "/.ropeline/rooms/shop/afresh", &foreign, "")
        .await
        .unwrap();
    assert_eq!((answer.status(), guest.jar.is_empty()), (403, false));
}

#[tokio::test]
async fn a_pass_under_another_account_is_refused() {
    let house = House::open(&format!("{ONE}{HEADER}"), house::OFTEN).await;
    let mut ann = named(&house, "ann");
    for _ in 0..2 {
        assert!(ann.page("/").await.is_the_shops());
    }
    let mut bob = with_cookies_of(&house, Some("bob"), &ann);
    assert_not_yours(&bob.page("/seats").await);
    assert_not_yours(&bob.script("GET", "/api").await);
    let answer = bob.own("POST", "leave").await;
    assert_eq!(answer.word(), "ticket_owner");
    assert!(ann.page("/").await.is_the_shops(), "and the session goes on");
}

/// 403 for a visitor who has to sign in.
fn assert_signs_in(answer: &Message, what: &str) {
    assert_eq!(
        (answer.status(), answer.word(), answer.field("set-cookie")),
        (403, "sign_in", None),
        "{what}: {}",
        answer.head
    );
}

#[tokio::test]
async fn a_visitor_whose_token_runs_out_keeps_the_place_and_is_let_in_once_signed_in_again() {
    let (house, mut inside) = full(REFUSING).await;
    let mut ann = named(&house, "ann");
    let place = waits(&mut ann).await;
    let mut signed_out = with_cookies_of(&house, None, &ann);
    assert_eq!(waits(&mut signed_out).await, place);
    assert_eq!(signed_out.own("GET", "status").await.json()["position"], 1);
    assert_signs_in(&signed_out.own("POST", "leave").await, "leave");
    inside.own("POST", "leave").await;
    house.until("called", 1).await;
    let before = house.shop.seen().len();
    assert_signs_in(&signed_out.page("/seats").await, "a page");
    assert_signs_in(
        &signed_out.once("POST", "/seats", PAGE, "row=7").await.unwrap(),
        "a form",
    );
    assert_signs_in(&signed_out.script("GET", "/api").await, "a script");
    assert_signs_in(&signed_out.own("POST", "join").await, "join");
    let asked = signed_out.own("POST", "check-in").await;
    assert_eq!((asked.status(), asked.json()["pass"].is_string()), (200, false));
    assert!(signed_out.pass().is_none(), "{}", asked.head);
    assert_eq!(house.shop.seen().len(), before);
    signed_out.says("X-User", "ann");
    for _ in 0..2 {
        let answer = signed_out.page("/seats").await;
        assert!(answer.is_the_shops(), "{}", answer.head);
    }
}

#[tokio::test]
async fn a_pass_of_an_account_is_worth_nothing_without_the_account() {
    let house = House::open(&format!("{ONE}{REFUSING}"), house::OFTEN).await;
    let mut ann = named(&house, "ann");
    for _ in 0..2 {
        assert!(ann.page("/").await.is_the_shops());
    }
    let before = house.shop.seen().len();
    let mut thief = with_cookies_of(&house, None, &ann);
    assert_signs_in(&thief.page("/seats").await, "a page");
    assert_signs_in(&thief.once("POST", "/seats", PAGE, "row=7").await.unwrap(), "a form");
    assert_signs_in(&thief.script("GET", "/api").await, "a script");
    for (method, endpoint) in [("POST", "join"), ("POST", "leave")] {
        assert_signs_in(&thief.own(method, endpoint).await, endpoint);
    }
    let mut app = house.guest();
    app.says("Ropeline-Pass", &ann.jar[&crowd::gate::pass_name()]);
    assert_signs_in(&app.script("GET", "/api").await, "an app");
    assert_eq!(house.shop.seen().len(), before);
    assert!(ann.page("/").await.is_the_shops(), "the session goes on");
}

#[tokio::test]
async fn where_nobody_needs_an_account_an_account_s_pass_without_it_can_be_put_away() {
    let cookie = "[room.identity]\nfrom = \"cookie\"\nname = \"session\"\n";
    for identity in [HEADER, cookie] {
        let house = House::open(&format!("{ONE}{identity}"), house::OFTEN).await;
        let mut ann = named(&house, "ann");
        ann.jar.insert("session".to_owned(), "ann".to_owned());
        for _ in 0..2 {
            assert!(ann.page("/").await.is_the_shops());
        }
        let mut signed_out = with_cookies_of(&house, None, &ann);
        signed_out.jar.remove("session");
        let page = signed_out.page("/seats").await;
        assert_not_yours(&page);
        assert!(markup(&page).contains("/afresh?to=%2Fseats"), "{}", markup(&page));
        assert_not_yours(&signed_out.script("GET", "/api").await);
        signed_out
            .once("POST", "/.ropeline/rooms/shop/afresh", PAGE, "")
            .await
            .unwrap();
        waits(&mut signed_out).await;
        assert!(ann.page("/").await.is_the_shops());
    }
}

#[tokio::test]
async fn who_joined_before_signing_in_has_that_place_by_the_account() {
    let (house, _inside) = full(HEADER).await;
    let mut early = house.guest();
    let place = waits(&mut early).await;
    assert_eq!(early.ticket().unwrap().identity, None);
    early.says("X-User", "ann");
    assert_eq!(waits(&mut early).await, place);
    assert!(
        early.ticket().unwrap().identity.is_some(),
        "the ticket is the account's now"
    );
    assert_eq!(waits(&mut named(&house, "ann")).await, place);
    let mut second = house.guest();
    assert!(waits(&mut second).await > place);
    second.says("X-User", "ann");
    assert_eq!(waits(&mut second).await, place, "an account has one place, the lower");
    assert_not_yours(&with_cookies_of(&house, Some("bob"), &early).page("/seats").await);
}

#[tokio::test]
async fn no_name_of_an_account_is_logged_or_counted() {
    let (house, _inside) = full(HEADER).await;
    let name = "ann-whose-name-is-nobodys-business";
    let mut ann = named(&house, name);
    waits(&mut ann).await;
    assert_not_yours(&with_cookies_of(&house, Some("bob"), &ann).page("/seats").await);
    let metrics = house
        .gate
        .admin
        .ask(b"GET /metrics HTTP/1.1\r\nHost: admin\r\n\r\n")
        .await
        .unwrap();
    assert!(!metrics.text().contains(name));
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(house.gate.data()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            bytes.extend(std::fs::read(path).unwrap());
        }
    }
    assert!(!bytes.is_empty() && !bytes.windows(name.len()).any(|part| part == name.as_bytes()));
}
