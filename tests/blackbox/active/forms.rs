//! A form of a parked visitor: the browser sends it again, with its body, and not for ever.

use crate::guest::Guest;
use crate::house::eventually;
use crate::http::Message;

use super::{ACTIVE, assert_parked, one_parked};

pub const FORM: &str = "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Site: same-origin\r\nAccept: text/html\r\n\
    Content-Type: application/x-www-form-urlencoded\r\n";
const BODY: &str = "seat=7&name=Ada";
const TRIES: &str = "ropeline-tries-shop";

async fn post(guest: &mut Guest) -> Message {
    guest.once("POST", "/order?step=2", FORM, BODY).await.unwrap()
}

#[tokio::test]
async fn a_form_is_sent_again_with_its_body_until_there_is_a_slot_and_reaches_the_shop_once() {
    let (house, mut away, mut busy) = one_parked(&[], ACTIVE).await;
    for tries in 1..=2 {
        let answer = post(&mut away).await;
        assert_eq!((answer.status(), answer.word()), (307, "parked"), "{}", answer.head);
        assert_eq!(answer.field("location"), Some("/order?step=2"));
        assert_eq!(answer.field("cache-control"), Some("no-store"));
        assert_eq!(away.jar[TRIES], tries.to_string());
    }
    busy.own("POST", "leave").await;
    let guest = tokio::sync::Mutex::new(away);
    eventually("a slot", async || {
        post(&mut *guest.lock().await).await.is_the_shops().then_some(())
    })
    .await;
    assert_eq!(guest.lock().await.jar.get(TRIES), None, "the next form counts anew");
    let seen = house.shop.seen_of("/order");
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].request.body, BODY.as_bytes());
    let cookies = seen[0].request.field("cookie").unwrap_or_default();
    assert!(!cookies.contains("ropeline"), "the count is the gate's own: {cookies}");
}

#[tokio::test]
async fn a_form_is_sent_again_a_bounded_number_of_times_whatever_its_count_says() {
    let (house, mut away, mut busy) = one_parked(&[], ACTIVE).await;
    for last in ["16", "17", "255", "256", "-1", "x", ""] {
        away.jar.insert(TRIES.to_owned(), last.to_owned());
        assert!(busy.page("/here").await.is_the_shops());
        let answer = post(&mut away).await;
        assert_parked(&answer);
        assert_eq!(answer.field("refresh"), None, "a form is never sent again by a page");
        assert!(
            answer.text().contains("did not go through"),
            "{last}: {}",
            answer.text()
        );
    }
    away.jar.insert(TRIES.to_owned(), "15".to_owned());
    assert!(busy.page("/here").await.is_the_shops());
    assert_eq!(post(&mut away).await.status(), 307);
    assert_eq!(away.jar[TRIES], "16");
    assert!(house.shop.seen_of("/order").is_empty());
}

/// The way back is a path on this host, whatever the target looks like.
#[tokio::test]
async fn a_form_is_sent_to_no_other_host() {
    let (_house, mut away, _busy) = one_parked(&[], ACTIVE).await;
    let answer = away.once("POST", "//evil.test/order", FORM, BODY).await.unwrap();
    assert_eq!(answer.status(), 307, "{}", answer.head);
    assert_eq!(answer.field("location"), Some("/.//evil.test/order"));
}

/// The address of the form may take no GET.
#[tokio::test]
async fn a_form_that_was_not_sent_leads_back_to_the_page_that_it_was_on() {
    let (_house, mut away, mut busy) = one_parked(&[], ACTIVE).await;
    for (referer, link) in [
        (
            "Referer: http://shop.test/seats?row=3\r\n",
            "href=\"&#x2f;seats?row=3\"",
        ),
        ("Referer: http://pay.shop.test/seats?row=3\r\n", "href=\"&#x2f;\""),
        ("Referer: http://shop.test//evil.test/\r\n", "href=\"&#x2f;\""),
        ("", "href=\"&#x2f;\""),
    ] {
        away.jar.insert(TRIES.to_owned(), "16".to_owned());
        assert!(busy.page("/here").await.is_the_shops());
        let fields = format!("{FORM}{referer}");
        let answer = away.once("POST", "/order?step=2", &fields, BODY).await.unwrap();
        assert_parked(&answer);
        let page = answer.text();
        let leads = page.contains(link) && !page.contains("&#x2f;order");
        assert!(leads && page.contains("did not go through"), "{referer}: {page}");
    }
}
