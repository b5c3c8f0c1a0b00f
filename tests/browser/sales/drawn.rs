//! A sale that is drawn: from the promise to the place, as visitors see it, and its check afterwards.

use std::path::Path;
use std::process::Command;

use ropeline::dates::rfc3339;
use ropeline::room::Wall;
use ropeline::time;
use serde_json::Value;

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;
use crate::harness::redis::{Options, Server};

/// Long enough for all to join, short enough to wait for.
const PREQUEUE_MS: u64 = 20_000;
const BEACON: &str = "drand quicknet round 22000000, randomness";
const VALUE: &str = "7d1f2c0a8a5be4cb1c5d1c4d9b6f0d2e33a1b8f0a4f7b6c9e2d1f0a3b4c5d6e7";

/// The output of an operator's command, with its exit code.
fn ropeline(arguments: &[&str]) -> (Option<i32>, String) {
    let ended = Command::new(env!("CARGO_BIN_EXE_ropeline"))
        .args(arguments)
        .output()
        .expect("it runs");
    let text = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (ended.status.code(), text.concat())
}

async fn open(extra: &str) -> Gate {
    hall::open(1, &format!("{}{extra}\n", dates(time::wall().plus(PREQUEUE_MS)))).await
}

/// A sale that has been forming for an hour.
fn dates(opens: Wall) -> String {
    let begun = rfc3339(Wall(opens.0 - 3_600_000));
    let opens = rfc3339(opens);
    format!("prequeue_from = \"{begun}\"\nopens_at = \"{opens}\"\nqueueing_method = \"random\"\n")
}

async fn until(at: Wall) {
    let left = at.since(time::wall());
    tokio::time::sleep(std::time::Duration::from_millis(left)).await;
}

/// The status once the draw stands at `why`.
async fn stands(guest: &mut Guest, what: &str, is: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    for _ in 0..60 {
        last = guest.status(ROOM).await;
        if is(&last) {
            return last;
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    panic!("never {what} but {last}");
}

#[tokio::test]
async fn a_draw_with_a_beacon_is_promised_closed_made_and_checked() {
    let gate = open(&format!("draw_beacon = \"{BEACON}\"")).await;
    let admin = format!("http://{}", gate.admin);
    let mut guests: Vec<Guest> = (0..4).map(|_| Guest::new(&gate.address)).collect();
    for guest in &mut guests {
        guest.visit("/seats").await;
    }
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/seats")).await;
    let page = browser.shows("a draw decides the order").await;
    assert!(
        page.contains("Not open yet. Your place is safe")
            && !page.contains("people ahead")
            && !page.contains("You are next"),
        "nobody has a place yet: {page}"
    );
    let promised = stands(&mut guests[0], "promised", |status| status["draw"].is_object()).await;
    let commitment = promised["draw"]["figures"]["commitment"]
        .as_str()
        .expect("a commitment")
        .to_owned();
    assert!(
        promised["position"].is_null() && promised["why"] == "lot" && promised["draw"]["figures"]["secret"].is_null(),
        "{promised}"
    );
    // The page was perhaps there before the promise.
    browser.open(&gate.at("/seats")).await;
    let page = browser.shows(&commitment).await;
    assert!(page.contains(BEACON), "{page}");
    browser.screenshot("lot-promised").await;
    let early = ropeline(&["draw", ROOM, "--admin", &admin, "--beacon-value", VALUE]);
    assert!(
        early.0 == Some(1) && early.1.contains("the line is not closed yet"),
        "{early:?}"
    );

    for (number, guest) in (1..).zip(&mut guests) {
        // Being asked keeps them present.
        let closed = stands(guest, "closed", |status| status["why"] == "draw").await;
        assert_eq!(
            (&closed["draw"]["figures"]["count"], &closed["draw"]["number"]),
            (&5.into(), &number.into())
        );
    }
    let mut late = Guest::new(&gate.address);
    late.visit("/seats").await;
    let made = ropeline(&["draw", ROOM, "--admin", &admin, "--beacon-value", VALUE]);
    assert!(made.0 == Some(0) && made.1.contains("state       made"), "{made:?}");
    let again = ropeline(&["draw", ROOM, "--admin", &admin, "--beacon-value", VALUE]);
    assert!(again.0 == Some(1) && again.1.contains("the draw is made"), "{again:?}");

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("figures.json");
    let (code, figures) = ropeline(&["draw", ROOM, "--admin", &admin, "--figures", "0"]);
    assert_eq!(code, Some(0), "{figures}");
    std::fs::write(&file, &figures).expect("written");
    let file = file.to_str().expect("a path");
    for (number, guest) in (1..).zip(&mut guests) {
        let status = stands(guest, "drawn", |status| status["draw"]["place"].is_u64()).await;
        assert_eq!(status["draw"]["number"], number, "{status}");
        let (number, place) = (number.to_string(), status["draw"]["place"].to_string());
        let checked = ropeline(&["verify-draw", file, &number, "--place", &place, "--expect", &commitment]);
        assert_eq!(checked.0, Some(0), "{checked:?}");
    }
    let status = late.status(ROOM).await;
    assert!(
        status["draw"]["number"].is_null() && status["draw"]["figures"]["count"] == 5,
        "{status}"
    );
    checks_in_a_browser(&browser, &figures).await;
}

/// Of two gates on one store: both have noted a visitor while it was away.
#[tokio::test]
async fn who_comes_while_the_store_is_away_over_the_opening_is_drawn() {
    let store = Server::start(&Options::default());
    let opens = time::wall().plus(PREQUEUE_MS);
    let gates = [
        hall::open_on(&store.url(), 1, &dates(opens)).await,
        hall::open_on(&store.url(), 1, &dates(opens)).await,
    ];
    let [mut before, mut meanwhile] = [0; 2].map(|_| gates.each_ref().map(|gate| Guest::new(&gate.address)));
    for guest in &mut before {
        guest.visit("/seats").await;
        stands(guest, "in line", |status| status["why"] == "lot").await;
    }
    until(Wall(opens.0 - 6_000)).await;
    store.pause();
    until(Wall(opens.0 - 3_000)).await;
    for guest in &mut meanwhile {
        guest.visit("/seats").await;
        assert_eq!(guest.status(ROOM).await["state"], "joining");
    }
    until(opens.plus(2_000)).await;
    store.resume();
    for guest in before.iter_mut().chain(&mut meanwhile) {
        let status = stands(guest, "drawn", |status| status["draw"]["place"].is_u64()).await;
        assert_eq!(status["draw"]["figures"]["count"], 4, "{status}");
    }
    let mut late = Guest::new(&gates[1].address);
    late.visit("/seats").await;
    let status = stands(&mut late, "numbered", |status| status["state"] == "waiting").await;
    assert!(status["draw"]["number"].is_null(), "{status}");
}

/// The page moved on by itself; the figures that it shows for copying are checked by the page without a server.
async fn checks_in_a_browser(browser: &Browser, figures: &str) {
    let shown = "const pre = document.getElementById('figures'); return pre ? pre.textContent : ''";
    let figures: Value = serde_json::from_str(figures).expect("figures");
    let copied = eventually("the figures with their secret", async || {
        // The visitor who was drawn first is inside already.
        let text = browser.text().await;
        if text.contains("Choose your seats") {
            return Some(figures.to_string());
        }
        let copied = browser.run(shown).await;
        let copied = copied.as_str().unwrap_or_default().to_owned();
        copied.contains("\"secret\"").then_some(copied)
    })
    .await;
    browser.screenshot("lot-made").await;
    assert_eq!(serde_json::from_str::<Value>(&copied).expect("figures"), figures);
    let page = browser.text().await;
    let page_without_a_server = Path::new(env!("CARGO_MANIFEST_DIR")).join("static/draw.html");
    browser
        .open(&format!("file://{}", page_without_a_server.display()))
        .await;
    let fill = "document.getElementById('figures').value = arguments[0]";
    let pasted = vec![Value::from(copied)];
    browser.client.execute(fill, pasted).await.expect("a text field");
    browser.fill("#number", "5").await;
    browser.click("#check").await;
    let answer = browser.shows("All fits").await;
    let (_, place) = answer.split_once("stands at place ").expect("a place");
    let place: String = place.chars().take_while(char::is_ascii_digit).collect();
    assert!(
        page.contains("Choose your seats") && place == "1"
            || page.contains(&format!("the draw gave you place {place}")),
        "{place} is not what the visitor's page says:\n{page}"
    );
}

#[tokio::test]
async fn without_a_beacon_the_opening_draws_by_itself_and_the_page_says_what_that_does_not_prove() {
    let gate = open("").await;
    let mut guests: Vec<Guest> = (0..3).map(|_| Guest::new(&gate.address)).collect();
    for guest in &mut guests {
        guest.visit("/seats").await;
    }
    let browser = Browser::start(Look {
        phone: true,
        dark: true,
        ..Look::default()
    })
    .await;
    stands(&mut guests[0], "promised", |status| status["draw"].is_object()).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("not that it was impartial").await;
    browser.screenshot("lot-phone-dark").await;
    let mut places = Vec::new();
    for guest in &mut guests {
        let status = stands(guest, "drawn", |status| status["draw"]["place"].is_u64()).await;
        places.extend(status["draw"]["place"].as_u64());
    }
    places.sort_unstable();
    places.dedup();
    assert!(
        places.len() == 3 && places.iter().all(|place| (1..=4).contains(place)),
        "{places:?}"
    );
}
