//! Operators' settings while the room runs, and those that survive a restart.

use std::time::Duration;

use ropeline::room::{LineName, Visitor};
use ropeline::token::Reference;

use crate::gate::room;
use crate::guest::{Guest, PAGE, SCRIPT, number_of};

use super::{House, OFTEN, ONE, assert_turned_away};

const MANY: &str = "total_active_users = 10\nexcept = [\"/static/*\"]";

#[tokio::test]
async fn on_hold_everybody_new_waits_and_nobody_is_called_and_those_inside_go_on() {
    let house = House::open(MANY, "").await;
    let mut inside = house.inside().await;
    house.gate.set("{\"mode\": \"hold\"}").await;
    let mut waiting = house.in_line().await;
    assert_turned_away(&house.guest().script("GET", "/api").await);
    assert!(inside.page("/").await.is_the_shops());
    let status = waiting.own("GET", "status").await.json();
    assert_eq!(status["why"], "held");
    assert_eq!(
        status["why_text"],
        "The organiser has paused the line. Your place is safe."
    );
    house.gate.set("{\"mode\": \"auto\"}").await;
    house.until_state(&mut waiting, "called").await;
    assert!(waiting.page("/").await.is_the_shops());
}

#[tokio::test]
async fn a_closed_room_shows_its_page_and_nobody_joins_and_those_inside_go_on() {
    let house = House::open(&format!("{MANY}\nreturn_routes = [\"/return\"]"), "").await;
    let mut inside = house.inside().await;
    house
        .gate
        .set("{\"mode\": \"closed\", \"message\": \"Back at nine.\"}")
        .await;
    let mut guest = house.guest();
    for method in ["GET", "POST"] {
        let answer = guest.send(method, "/shut", PAGE, "").await.unwrap();
        assert_eq!((answer.status(), answer.word()), (503, "closed"), "{method}");
        assert!(answer.text().contains("Back at nine.") && answer.field("retry-after").is_some());
    }
    let answer = guest.script("GET", "/shut").await;
    assert_eq!((answer.status(), answer.word()), (503, "closed"));
    assert_eq!(guest.own("POST", "join").await.json()["state"], "closed");
    assert!(guest.jar.is_empty() && house.shop.seen_of("/shut").is_empty());
    assert_eq!(house.gate.room().await["joins"], 1);
    assert!(inside.page("/").await.is_the_shops());
    assert!(guest.send("POST", "/return", PAGE, "").await.unwrap().is_the_shops());
    assert!(guest.page("/static/x").await.is_the_shops());
}

#[tokio::test]
async fn with_the_room_off_everything_is_forwarded_and_nobody_gets_a_ticket() {
    let (house, _inside) = House::full().await;
    house.gate.set("{\"mode\": \"off\"}").await;
    let mut guest = house.guest();
    for fields in [PAGE, SCRIPT] {
        assert!(guest.send("GET", "/x", fields, "").await.unwrap().is_the_shops());
    }
    assert!(guest.jar.is_empty());
    assert!(house.shop.seen_of("/x").iter().all(|seen| seen.session().is_none()));
}

#[tokio::test]
async fn who_waits_is_let_in_when_the_room_is_off() {
    let (house, _inside) = House::full_and_patient().await;
    let mut waiting = house.in_line().await;
    house.gate.set("{\"mode\": \"off\"}").await;
    // The page asks, and comes when the answer is that its visitor is as good as inside.
    assert_eq!(waiting.own("GET", "status").await.json()["state"], "inside");
    assert_eq!(waiting.own("POST", "check-in").await.json()["state"], "inside");
    assert!(waiting.page("/seats?row=7").await.is_the_shops());
    assert_eq!(waiting.own("POST", "join").await.json()["state"], "inside");
    let mut newcomer = house.guest();
    assert_eq!(newcomer.own("POST", "join").await.json()["state"], "inside");
    assert!(newcomer.jar.is_empty());
    assert_eq!(house.gate.room().await["joins"], 2);
}

#[tokio::test]
async fn a_room_that_is_off_asks_for_no_line() {
    let events = "total_active_users = 1\nroutes = [\"/event/{id}/*\"]\nper = \"{id}\"\nallow = [\"a\"]";
    let house = House::open(events, "").await;
    assert_eq!(house.guest().page("/event/c").await.status(), 404);
    house.gate.set("{\"mode\": \"off\"}").await;
    for fields in [PAGE, SCRIPT] {
        let answer = house.guest().send("GET", "/event/c", fields, "").await.unwrap();
        assert!(answer.is_the_shops(), "{}", answer.head);
    }
    assert_eq!(house.gate.room().await["lines"], 0);
}

#[tokio::test]
async fn a_closed_rooms_page_follows_the_room_and_keeps_the_place_of_who_stays_on_it() {
    let pace = "claim_deadline = \"4s\"\nfirm_within = \"4s\"\ngrace = \"8s\"";
    let house = House::open(&format!("total_active_users = 1\n{pace}"), OFTEN).await;
    let _inside = house.inside().await;
    let (mut stays, gone) = (house.in_line().await, house.in_line().await);
    let number = number_of(&stays.ticket().unwrap());
    house.gate.set("{\"mode\": \"closed\"}").await;
    let answer = stays.page("/").await;
    assert_eq!((answer.status(), answer.word()), (503, "closed"));
    let page = answer.text();
    assert!(
        page.contains("id=\"data\"") && page.contains("http-equiv=\"refresh\""),
        "{page}"
    );
    while is_present(&house, &gone).await {
        assert_eq!(stays.page("/").await.word(), "closed");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(is_present(&house, &stays).await);

    house.gate.set("{\"mode\": \"auto\"}").await;
    assert_eq!(stays.page("/").await.word(), "waiting");
    assert_eq!(number_of(&stays.ticket().unwrap()), number);
    assert_eq!(stays.own("GET", "status").await.json()["position"], 1);
    assert_eq!(house.gate.room().await["joins"], 3);
}

/// Whether the room counts a visitor in line as present; an operator's question marks no visitor.
async fn is_present(house: &House, guest: &Guest) -> bool {
    let ticket = guest.ticket().unwrap();
    let visitor = Visitor {
        room: room(),
        line: LineName::ONLY,
        lane: ticket.lane,
        number: number_of(&ticket).unwrap(),
        rehearsal: None,
    };
    let target = format!("/api/v1/rooms/shop/visitors/{}", Reference::of(&visitor));
    let told = house.gate.admin_ask("GET", &target, "").await.json();
    assert_eq!(told["state"], "waiting", "{told}");
    told["present"] == true
}

#[tokio::test]
async fn a_room_can_begin_in_each_mode() {
    for (mode, word) in [("hold", "waiting"), ("closed", "closed"), ("off", "")] {
        let house = House::open(&format!("{MANY}\nmode = \"{mode}\""), "").await;
        assert_eq!(house.guest().page("/").await.word(), word, "{mode}");
    }
}

#[tokio::test]
async fn more_capacity_calls_the_next_and_less_evicts_nobody() {
    let (house, mut inside) = House::full().await;
    let (mut second, mut third) = (house.in_line().await, house.in_line().await);
    house.gate.set("{\"total_active_users\": 2}").await;
    house.until_state(&mut second, "called").await;
    assert_eq!(third.own("GET", "status").await.json()["state"], "waiting");
    assert!(second.page("/").await.is_the_shops());
    house.gate.set("{\"total_active_users\": 1}").await;
    assert!(inside.page("/").await.is_the_shops() && second.page("/").await.is_the_shops());
    inside.own("POST", "leave").await;
    assert_eq!(third.own("GET", "status").await.json()["state"], "waiting");
    second.own("POST", "leave").await;
    house.until_state(&mut third, "called").await;
}

#[tokio::test]
async fn a_restart_keeps_places_sessions_and_what_was_set() {
    let (mut house, mut inside) = House::full().await;
    let (mut second, mut third) = (house.in_line().await, house.in_line().await);
    let number = number_of(&second.ticket().unwrap());
    house.gate.set("{\"message\": \"Hello.\"}").await;
    house.gate.stop();
    house.gate.start();
    house.gate.ready().await;
    assert!(inside.page("/").await.is_the_shops());
    assert_eq!(second.page("/").await.word(), "waiting");
    assert_eq!(number_of(&second.ticket().unwrap()), number);
    let status = third.own("GET", "status").await.json();
    assert_eq!((&status["ahead"], &status["message"]), (&1.into(), &"Hello.".into()));
    assert_eq!(house.gate.room().await["total_active_users"], 1);
}

#[tokio::test]
async fn an_operator_ends_a_visitor_by_reference() {
    let (house, mut inside) = House::full().await;
    let mut app = house.guest();
    let joined = app.own("POST", "join").await.json();
    let reference = joined["reference"].as_str().unwrap();
    let target = format!("/api/v1/rooms/shop/visitors/{reference}");
    let told = house.gate.admin_ask("GET", &target, "").await.json();
    assert_eq!((&told["state"], &told["position"]), (&"waiting".into(), &1.into()));
    assert_eq!(house.gate.admin_ask("DELETE", &target, "").await.status(), 200);
    assert_eq!(app.own("GET", "status").await.json()["state"], "ended");
    assert!(inside.page("/").await.is_the_shops());
}

/// Longer than a session without a request would last, slack included, of one who asks all the time.
#[tokio::test]
async fn those_inside_are_inside_still_when_the_room_is_on_again() {
    const OFF: Duration = Duration::from_secs(12);
    let house = House::open(
        &format!("{ONE}\nclaim_deadline = \"4s\"\nsession_duration = \"8s\""),
        OFTEN,
    )
    .await;
    let mut inside = house.inside().await;
    let own = inside.pass().unwrap().session_header();
    house.gate.set("{\"mode\": \"off\"}").await;
    let (mut newcomer, begun) = (house.guest(), ropeline::time::uptime());
    while ropeline::time::uptime().saturating_sub(begun) < OFF {
        assert!(inside.page("/busy").await.is_the_shops());
        assert!(newcomer.page("/new").await.is_the_shops());
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    let seen = house.shop.seen_of("/busy");
    assert!(seen.iter().all(|seen| seen.session() == Some(own.as_str())));
    assert!(house.shop.seen_of("/new").iter().all(|seen| seen.session().is_none()));
    assert!(newcomer.jar.is_empty());
    house.gate.set("{\"mode\": \"auto\"}").await;
    let answer = inside.page("/").await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(newcomer.page("/").await.word(), "waiting");
    let room = house.gate.room().await;
    assert_eq!(
        (&room["sessions"], &room["claims"], &room["ends"]),
        (&1.into(), &1.into(), &0.into())
    );
}

/// Requests that the room would refuse at other times pass as those of all others.
#[tokio::test]
async fn a_room_that_is_off_refuses_no_pass() {
    let house = House::open(&format!("{ONE}\npass_networks = 2"), OFTEN).await;
    let mut inside = house.inside().await;
    let [mut second, mut elsewhere] = ["127.98.1.1", "127.99.1.1"].map(|address| {
        let mut guest = house.guest_at(address);
        guest.jar.clone_from(&inside.jar);
        guest
    });
    assert!(second.page("/").await.is_the_shops());
    assert_eq!(elsewhere.page("/").await.status(), 403);
    house.gate.set("{\"mode\": \"off\"}").await;
    assert!(elsewhere.page("/copied").await.is_the_shops());
    assert!(inside.page("/own").await.is_the_shops());
    inside.own("POST", "leave").await;
    let mut left = house.guest();
    left.jar.clone_from(&elsewhere.jar);
    assert!(left.page("/left").await.is_the_shops());
    let session = |target: &str| house.shop.seen_of(target)[0].session().map(str::to_owned);
    assert!(session("/own").is_some());
    assert_eq!((session("/copied"), session("/left")), (None, None));
}
