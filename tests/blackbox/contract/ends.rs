//! How a session ends by the shop's answer, without a change of the shop, and the effect of a reset.

use ropeline::config::{Config, Overrides};
use ropeline::replica::{Options, Replica};
use ropeline::room::{Change, Number};
use ropeline::store::{Embedded, Options as LogOptions};

use crate::gate::room;
use crate::guest::{SCRIPT, number_of};
use crate::shop::Reply;

use super::{House, ONE, eventually};

const ENDING: &[Reply] = &[
    Reply::new(
        "/say-end",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nRopeline-Session: end\r\n",
        "bye",
    ),
    Reply::new(
        "/say-complete",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nRopeline-Session: complete\r\n",
        "bye",
    ),
    Reply::new(
        "/say-else",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nRopeline-Session: whatever\r\n",
        "hm",
    ),
    Reply::new("/receipt/wrong", "HTTP/1.1 422 No\r\nX-Shop: 1\r\n", "again"),
];

const ENDS: &str = "ends_on = [{ route = \"/receipt/*\", status = 200 }]";

#[tokio::test]
async fn the_shop_ends_a_session_with_a_field_that_the_visitor_never_sees() {
    // `end` is at once, and does not wait for `end_grace`.
    for (target, grace) in [("/say-end", "30 min"), ("/say-complete", "0s")] {
        let house = House::scripted(ENDING, &format!("{ONE}\nend_grace = \"{grace}\""), "").await;
        let mut inside = house.inside().await;
        let answer = inside.page(target).await;
        assert!(
            answer.is_the_shops() && answer.field("ropeline-session").is_none(),
            "{}",
            answer.head
        );
        house.until("ends", 1).await;
        let _next = house.inside().await;
        let answer = inside.page("/").await;
        assert_eq!(answer.word(), "waiting");
        assert!(answer.text().contains("Your time inside is over."));
    }
}

#[tokio::test]
async fn another_word_of_the_shop_ends_nothing() {
    let house = House::scripted(ENDING, &format!("{ONE}\nend_grace = \"0s\"\n{ENDS}"), "").await;
    let mut inside = house.inside().await;
    for target in ["/say-else", "/receipt/wrong", "/receipts"] {
        assert!(inside.page(target).await.is_the_shops());
    }
    // The gate's notes are in order: once the next session is on record, an end would be too.
    assert!(inside.page("/").await.is_the_shops());
    let answer = house.in_line().await;
    assert!(answer.ticket().is_some());
    let room = house.gate.room().await;
    assert_eq!((&room["sessions"], &room["ends"]), (&1.into(), &0.into()));
}

#[tokio::test]
async fn the_receipt_ends_the_session_and_the_next_in_line_is_called() {
    let house = House::open(&format!("{ONE}\nend_grace = \"0s\"\n{ENDS}"), "").await;
    let mut inside = house.inside().await;
    let mut waiting = house.in_line().await;
    assert!(inside.page("/receipt/7").await.is_the_shops());
    house.until_state(&mut waiting, "called").await;
    assert!(waiting.page("/seats?row=7").await.is_the_shops());
    assert_eq!(inside.page("/").await.word(), "waiting");
}

#[tokio::test]
async fn during_end_grace_the_visitor_may_look_on_and_it_is_not_stretched() {
    let house = House::open(&format!("{ONE}\nend_grace = \"3s\"\n{ENDS}"), "").await;
    let mut inside = house.inside().await;
    assert!(inside.page("/receipt/7").await.is_the_shops());
    assert!(inside.page("/receipt/7/print").await.is_the_shops());
    // Busy all the time, and over all the same.
    let mut after = 0;
    while inside.script("GET", "/api/busy").await.is_the_shops() && house.gate.room().await["sessions"] == 1 {
        after += 1;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert!(after < 1_000, "the session never ended");
    }
    house.until("ends", 1).await;
}

#[tokio::test]
async fn an_answer_ends_the_session_of_its_request_the_first_one_too() {
    let house = House::scripted(ENDING, &format!("{ONE}\nend_grace = \"0s\"\n{ENDS}"), "").await;
    let mut guest = house.guest();
    assert!(guest.script("GET", "/receipt/7").await.is_the_shops());
    assert_eq!(house.gate.room().await["ends"], 0, "nobody's session");
    let mut claimed = house.guest();
    assert!(claimed.page("/receipt/7").await.is_the_shops());
    house.until("ends", 1).await;
}

/// An operator's reset in the log; there is no other way to make one here yet.
async fn reset(house: &mut House) {
    house.gate.stop();
    let log = Embedded::open(&house.gate.data(), LogOptions::default()).unwrap();
    let config = Config::load(Some(&house.gate.config()), &Overrides::none()).unwrap();
    let rooms = config
        .rooms
        .iter()
        .map(|room| (room.name.clone(), room.settings.clone()))
        .collect();
    let (replica, thread) = Replica::start(Box::new(log), rooms, Options::default()).unwrap();
    let changed = replica.change(room(), Change::Reset, None).await;
    assert!(changed.is_ok(), "{changed:?}");
    drop(replica);
    thread.stop();
    house.gate.start();
    house.gate.ready().await;
    assert_eq!(house.gate.room().await["edition"], 1);
}

#[tokio::test]
async fn after_a_reset_older_tokens_are_void_and_their_holders_are_told_so() {
    let (mut house, mut inside) = House::full().await;
    let mut waiting = house.in_line().await;
    let old = number_of(&waiting.ticket().unwrap()).unwrap();
    reset(&mut house).await;
    house.gate.set("{\"mode\": \"hold\"}").await;
    let answer = waiting.page("/").await;
    assert_eq!(answer.word(), "waiting");
    assert!(answer.text().contains("The line was restarted"), "{}", answer.text());
    assert!(number_of(&waiting.ticket().unwrap()).unwrap() > old);
    let answer = inside.send("GET", "/api", SCRIPT, "").await.unwrap();
    assert_eq!(answer.status(), 503, "{}", answer.head);
    assert_eq!(inside.page("/").await.word(), "waiting");
}

#[tokio::test]
async fn a_room_that_was_reset_keeps_its_places_also_when_its_whole_log_is_lost() {
    let (mut house, mut void) = House::full().await;
    reset(&mut house).await;
    let mut inside = house.inside().await;
    let mut waiting = house.in_line().await;
    let place = waiting.ticket();
    let Number { epoch, .. } = number_of(place.as_ref().unwrap()).unwrap();
    house.gate.stop();
    // Epochs are in order of their seconds, and a log as young as this one has only begun.
    eventually("a later second", async || {
        (ropeline::time::wall().0 / 1_000 > epoch.0 >> 24).then_some(())
    })
    .await;
    house.gate.lose_log();
    house.gate.start();
    house.gate.ready().await;
    assert_eq!(house.gate.room().await["edition"], 0, "lost with the log");
    let mut newcomer = house.in_line().await;
    let joined = newcomer.ticket();
    // A ticket of the edition before the loss, and then the others'.
    assert_eq!(waiting.page("/").await.word(), "waiting");
    assert_eq!(waiting.ticket(), place, "the same place");
    assert_eq!(house.gate.room().await["edition"], 1);
    assert!(inside.page("/").await.is_the_shops());
    assert!(inside.page("/").await.is_the_shops(), "known again");
    assert_eq!(newcomer.page("/").await.word(), "waiting");
    assert_eq!(
        newcomer.ticket(),
        joined,
        "came after the reset, whatever the ticket says"
    );
    assert_eq!(void.page("/").await.word(), "waiting", "reset is reset");
}
