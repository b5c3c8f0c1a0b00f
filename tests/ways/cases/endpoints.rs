//! The second table: the endpoints below `/.ropeline/`.

use ropeline::room::Number;
use ropeline::store::Kept;
use ropeline::token::TicketPlace;
use serde_json::json;

use crate::gate::{keyring, pass_name, ticket_name};
use crate::guest::{PAGE, SCRIPT, number_of, read_pass, read_ticket};
use crate::http::Wire;

use super::{House, ONE, eventually};

#[tokio::test]
async fn status_says_the_state_of_everybody_in_the_designs_words() {
    let (house, mut inside) = House::full().await;
    let mut waiting = house.in_line().await;
    let mut stranger = house.guest();
    let status = waiting.own("GET", "status").await;
    assert_eq!((status.status(), status.word()), (200, "waiting"));
    assert_eq!(status.field("cache-control"), Some("no-store"));
    let status = status.json();
    let told = ["state", "position", "ahead", "waiting"].map(|key| &status[key]);
    assert_eq!(told, [&json!("waiting"), &json!(1), &json!(0), &json!(1)]);
    // The slot ahead is free after a session_duration, a tenth and two seconds at the latest.
    let [low, high] = ["low", "high"].map(|key| status["estimate"][key].as_u64().expect("seconds"));
    assert!(low < high && high <= 992, "{}", status["estimate"]);
    assert!(status["refresh"].as_f64().unwrap() > 0.0);
    // A browser keeps its tokens in cookies that scripts cannot read.
    assert!(status["ticket"].is_null() && status["pass"].is_null());

    assert_eq!(inside.own("GET", "status").await.json()["state"], "inside");
    assert_eq!(stranger.own("GET", "status").await.json()["state"], "none");
    assert!(stranger.jar.is_empty());

    inside.own("POST", "leave").await;
    house.until_state(&mut waiting, "called").await;
    assert!(waiting.pass().is_none(), "the page comes for the pass itself");
}

#[tokio::test]
async fn status_carries_the_operators_message() {
    let (house, _inside) = House::full().await;
    let mut waiting = house.in_line().await;
    house.gate.set("{\"message\": \"Until midnight.\"}").await;
    let status = waiting.own("GET", "status").await.json();
    assert_eq!(status["message"], "Until midnight.");
    assert_eq!(status.get("message_lang"), None, "one text for all");
    assert!(waiting.page("/").await.text().contains("Until midnight."));
}

#[tokio::test]
async fn an_app_joins_waits_and_comes_in_with_fields_alone() {
    let (house, mut inside) = House::full().await;
    let mut app = house.guest();
    app.keeps = false;
    let joined = app.own("POST", "join").await.json();
    assert_eq!(joined["state"], "waiting");
    assert!(joined["reference"].is_string());
    let ticket = joined["ticket"].as_str().unwrap().to_owned();
    let number = number_of(&read_ticket(&ticket).unwrap());
    app.says("Ropeline-Ticket", &ticket);
    let again = app.own("POST", "join").await.json();
    assert_eq!(
        number_of(&read_ticket(again["ticket"].as_str().unwrap()).unwrap()),
        number
    );
    assert_eq!(house.gate.room().await["joins"], 2);
    assert_eq!(app.own("POST", "check-in").await.json()["position"], 1);

    inside.own("POST", "leave").await;
    let pass = eventually("a pass", || {
        let mut app = app.clone();
        async move {
            app.own("GET", "status").await.json()["pass"]
                .as_str()
                .map(ToOwned::to_owned)
        }
    })
    .await;
    app.says("Ropeline-Pass", &pass);
    let answer = app.script("POST", "/api/seat").await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(answer.field("set-cookie"), None, "an app keeps its tokens itself");
    let seen = house.shop.seen_of("/api/seat");
    assert_eq!(
        seen[0].session(),
        Some(read_pass(&pass).unwrap().session_header().as_str())
    );
    assert!(
        !seen[0].request.head.to_lowercase().contains("ropeline-ticket"),
        "{}",
        seen[0].request.head
    );
}

#[tokio::test]
async fn an_app_that_joins_an_open_room_is_given_its_pass_at_once() {
    let house = House::open(ONE, "").await;
    let mut app = house.guest();
    let joined = app.own("POST", "join").await.json();
    assert_eq!(joined["state"], "inside");
    assert!(joined["pass"].is_string() && joined["ticket"].is_string());
    assert!(app.jar.contains_key(&ticket_name()) && app.jar.contains_key(&pass_name()));
    assert!(app.script("GET", "/api").await.is_the_shops());
}

#[tokio::test]
async fn leaving_the_line_gives_the_place_up() {
    let (house, mut inside) = House::full().await;
    let mut waiting = house.in_line().await;
    let old = waiting.clone();
    let answer = waiting.own("POST", "leave").await;
    assert_eq!((answer.status(), &answer.json()["state"]), (200, &"none".into()));
    assert!(waiting.jar.is_empty());
    assert_eq!(house.gate.room().await["waiting"], 0);
    inside.own("POST", "leave").await;
    assert_eq!(house.gate.room().await["called"], 0);
    assert_eq!(old.clone().own("GET", "status").await.json()["state"], "ended");
}

#[tokio::test]
async fn leaving_from_inside_ends_the_session_for_good() {
    let (house, mut inside) = House::full().await;
    let mut old = inside.clone();
    let answer = inside
        .send("POST", "/.ropeline/rooms/shop/leave", PAGE, "")
        .await
        .unwrap();
    assert_eq!((answer.status(), answer.word()), (200, "left"));
    assert!(inside.jar.is_empty());
    let next = house.inside().await;
    assert!(next.pass().is_some());
    let answer = old.script("GET", "/api/again").await;
    assert_eq!(answer.status(), 503, "{}", answer.head);
    assert_eq!(old.page("/").await.word(), "waiting");
}

#[tokio::test]
async fn a_stream_tells_of_the_line_and_of_the_call_and_sets_no_cookie() {
    let (house, mut inside) = House::full().await;
    let waiting = house.in_line().await;
    let mut wire = Wire::open(house.entrance).await.unwrap();
    let request = waiting.request(
        "GET",
        "/.ropeline/rooms/shop/events",
        "Accept: text/event-stream\r\n",
        "",
    );
    wire.send(request.as_bytes()).await.unwrap();
    let head = wire.head().await.unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"),
        "{head}"
    );
    assert!(!head.to_lowercase().contains("set-cookie"), "{head}");
    let first = String::from_utf8(wire.through(b"event: status").await.unwrap()).unwrap();
    assert!(first.contains("retry:") && first.contains("id:"), "{first}");
    inside.own("POST", "leave").await;
    wire.through(b"event: called").await.unwrap();
    let mut waiting = waiting;
    assert!(waiting.page("/").await.is_the_shops());
}

#[tokio::test]
async fn a_stream_without_a_ticket_is_nothing_to_wait_for() {
    let house = House::open(ONE, "").await;
    assert_eq!(house.guest().own("GET", "events").await.status(), 204);
}

#[tokio::test]
async fn a_ticket_has_four_streams_and_keeps_its_place_when_refused_a_fifth() {
    let (house, _inside) = House::full().await;
    let mut waiting = house.in_line().await;
    let request = waiting.request("GET", "/.ropeline/rooms/shop/events", "", "");
    let mut streams = Vec::new();
    for _ in 0..4 {
        let mut wire = Wire::open(house.entrance).await.unwrap();
        wire.send(request.as_bytes()).await.unwrap();
        assert!(wire.head().await.unwrap().starts_with("HTTP/1.1 200"));
        streams.push(wire);
    }
    let answer = waiting.own("GET", "events").await;
    assert_eq!(answer.status(), 429, "{}", answer.head);
    assert!(answer.field("retry-after").is_some());
    assert_eq!(waiting.own("GET", "status").await.json()["position"], 1);
}

#[tokio::test]
async fn another_sites_page_cannot_act_for_a_visitor() {
    let (house, _inside) = House::full().await;
    let mut waiting = house.in_line().await;
    for endpoint in ["join", "check-in", "leave"] {
        let target = format!("/.ropeline/rooms/shop/{endpoint}");
        for fields in ["Sec-Fetch-Site: cross-site\r\n", "Origin: https://evil.test\r\n"] {
            let answer = waiting
                .send("POST", &target, &format!("{fields}{SCRIPT}"), "")
                .await
                .unwrap();
            assert_eq!((answer.status(), answer.word()), (403, "cross_site"), "{endpoint}");
        }
    }
    assert_eq!(waiting.own("GET", "status").await.json()["state"], "waiting");
}

#[tokio::test]
async fn a_wrong_method_name_or_room_is_told_and_changes_nothing() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    for (method, endpoint, allow) in [
        ("GET", "join", "POST"),
        ("GET", "leave", "POST"),
        ("POST", "status", "GET"),
    ] {
        let answer = guest.own(method, endpoint).await;
        assert_eq!(
            (answer.status(), answer.field("allow")),
            (405, Some(allow)),
            "{endpoint}"
        );
    }
    for target in [
        "/.ropeline/rooms/shop/nothing",
        "/.ropeline/rooms/other/status",
        "/.ropeline/nothing",
        "/.ropeline",
    ] {
        assert_eq!(guest.script("GET", target).await.status(), 404, "{target}");
    }
    assert!(guest.jar.is_empty());
    assert_eq!(house.gate.room().await["joins"], 0);
}

#[tokio::test]
async fn health_is_answered_without_detail() {
    let (house, _inside) = House::full().await;
    let answer = house.guest().script("GET", "/.ropeline/health").await;
    assert_eq!((answer.status(), answer.text().as_str()), (200, "{\"ok\":true}"));
}

#[tokio::test]
async fn a_browser_that_refuses_cookies_is_told_so() {
    let (house, _inside) = House::full().await;
    let target = "/.ropeline/rooms/shop/check?to=/seats?row=7";
    let answer = house.guest().page(target).await;
    assert_eq!((answer.status(), answer.word()), (200, "cookies_refused"));
    let answer = house.in_line().await.page(target).await;
    assert_eq!((answer.status(), answer.field("location")), (303, Some("/seats?row=7")));
    let answer = house
        .in_line()
        .await
        .page("/.ropeline/rooms/shop/check?to=//evil.test/")
        .await;
    assert!(!answer.field("location").unwrap().starts_with("//"), "{}", answer.head);
}

/// A page that leads on at once, for a browser without scripts and without a place: those that keep no cookies do not go round.
#[tokio::test]
async fn a_browser_without_a_place_shows_once_that_it_keeps_cookies() {
    let (house, _inside) = House::full().await;
    let target = "/.ropeline/rooms/shop/check?reload=bare&to=/seats&ticket=any";
    let mut keeps = house.guest();
    let answer = keeps.once("GET", target, PAGE, "").await.unwrap();
    let again = format!("{target}&again=1");
    assert_eq!((answer.status(), answer.field("location")), (303, Some(again.as_str())));
    let answer = keeps.page(&again).await;
    assert_eq!((answer.status(), answer.field("location")), (303, Some("/seats")));
    let answer = house.guest().page(&again).await;
    assert_eq!((answer.status(), answer.word()), (200, "cookies_refused"));
    // Whoever is marked, or has a place, comes here once.
    for guest in [&mut keeps, &mut house.in_line().await] {
        let answer = guest.once("GET", target, PAGE, "").await.unwrap();
        assert_eq!((answer.status(), answer.field("location")), (303, Some("/seats")));
    }
}

/// As at a gate that has not read another one's latest numbers: the log may know the number, so the leave is recorded.
#[tokio::test]
async fn leaving_with_a_number_that_the_view_does_not_know_is_recorded_all_the_same() {
    let (mut house, _inside) = House::full().await;
    let mut leaving = house.in_line().await;
    let mut ticket = leaving.ticket().unwrap();
    let number = number_of(&ticket).unwrap();
    let unknown = Number {
        n: number.n + 1,
        ..number
    };
    ticket.place = TicketPlace::Numbered(unknown);
    leaving.jar.insert(ticket_name(), ticket.sign(&keyring()));
    let answer = leaving.own("POST", "leave").await;
    assert_eq!((answer.status(), &answer.json()["state"]), (200, &"none".into()));
    assert!(leaving.ticket().is_none());
    house.gate.stop();
    let kept = Kept::open(&house.gate.data()).unwrap();
    let entries = kept.files().iter().flat_map(|file| {
        let part = kept.part(file).unwrap();
        part.read(part.base.position.sequence).unwrap()
    });
    let left: Vec<_> = entries
        .flat_map(|entry| entry.into_entry().batch.sections)
        .flat_map(|section| section.leaves)
        .collect();
    assert_eq!(left, [(ticket.lane, unknown)]);
}
