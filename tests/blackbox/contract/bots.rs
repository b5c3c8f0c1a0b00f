//! Joins that nobody comes back with: bounded by network, and gone within seconds.

use std::time::Duration;

use crate::guest::PAGE;

use super::{House, ONE, eventually};

#[tokio::test]
async fn a_network_over_its_joins_holds_back_its_own_newcomers_and_their_pages_come_again() {
    let limits = "[limits]\njoin = { requests = 2, window = \"10 min\" }\njoin_network = { requests = 3, window = \"10 min\" }\n\
        join_wide = { requests = 5, window = \"10 min\" }";
    let house = House::open(ONE, limits).await;
    let _inside = house.inside().await;
    let join = async |address: &str| house.guest_at(address).page("/").await;
    for address in ["127.9.1.1", "127.9.1.1", "127.9.1.2"] {
        assert_eq!(join(address).await.word(), "waiting", "{address}");
    }
    let refused = join("127.9.1.3").await;
    assert_eq!((refused.status(), refused.word()), (429, "limited"), "{}", refused.head);
    assert!(refused.field("ratelimit").unwrap().starts_with("\"join-network\""));
    let again: u64 = refused.field("refresh").expect("the page comes again").parse().unwrap();
    assert!(again > 0 && refused.field("retry-after") == refused.field("refresh"));
    let app = house.guest_at("127.9.1.3").own("POST", "join").await;
    assert_eq!((app.status(), app.field("refresh")), (429, None));
    for address in ["127.9.2.1", "127.9.2.2"] {
        assert_eq!(join(address).await.word(), "waiting", "{address}");
    }
    let refused = join("127.9.3.1").await;
    assert!(refused.field("ratelimit").unwrap().starts_with("\"join-wide\""));
    assert_eq!(house.guest().page("/").await.word(), "waiting", "other networks go on");
    let posted = house.guest_at("127.9.1.9").send("POST", "/", PAGE, "").await.unwrap();
    assert_eq!((posted.status(), posted.field("refresh")), (429, None));
}

#[tokio::test]
async fn numbers_that_nobody_comes_back_with_hold_nobody_up_for_longer_than_they_are_firm() {
    let room = format!("{ONE}\nfirm_within = \"4s\"");
    let house = House::open(&room, super::OFTEN).await;
    let _inside = house.inside().await;
    for host in 1..=30 {
        let mut bot = house.guest_at(&format!("127.8.1.{host}"));
        bot.keeps = false;
        assert_eq!(bot.page("/").await.word(), "waiting");
    }
    let mut honest = house.guest();
    assert_eq!(honest.page("/").await.word(), "waiting");
    let status = honest.own("GET", "status").await.json();
    assert!(status["ahead"].as_u64().unwrap() <= 30, "{status}");
    let honest = tokio::sync::Mutex::new(honest);
    eventually("nobody ahead", async || {
        let status = honest.lock().await.own("POST", "check-in").await.json();
        assert_eq!(status["state"], "waiting", "{status}");
        tokio::time::sleep(Duration::from_millis(100)).await;
        (status["ahead"] == 0).then_some(())
    })
    .await;
    house.until("waiting", 1).await;
}
