//! A form: it arrives whole and once, or the page says that it did not.

use std::io::Write;

use super::{LONGER, Look, SHORT, STILL_LET_IN, Stage};

const ORDER: &str = "POST /order?step=2";
const UPLOAD: &str = "POST /order?step=3";

/// Writes a long note, and returns the form as the browser is to send it.
async fn filled(stage: &Stage) -> String {
    let fill = "document.querySelector('textarea').value = 'Zwei Plätze, bitte. '.repeat(3000); \
                return new URLSearchParams(new FormData(document.getElementById('order'))).toString()";
    stage.browser.run(fill).await.as_str().expect("a text").to_owned()
}

/// The visitor sees the page with the form until the answer comes.
#[tokio::test]
async fn a_form_waits_in_the_browser_and_arrives_whole_and_once() {
    let (stage, busy) = Stage::idle(Look::default(), LONGER).await;
    let body = filled(&stage).await;
    let leaves = async {
        stage.turned_away(3).await;
        assert!(stage.seen(ORDER).is_empty(), "the shop saw nothing of it");
        busy.leaves().await;
    };
    let (page, ()) = tokio::join!(
        async {
            stage.browser.click("#order button").await;
            stage.browser.text().await
        },
        leaves
    );
    assert!(page.contains("Your order is taken"), "the first page that came: {page}");
    stage.browser.screenshot("active-form").await;
    let seen = stage.once(ORDER);
    assert!(body.len() > 60_000 && seen.request.body == body.as_bytes(), "whole");
}

#[tokio::test]
async fn an_upload_waits_in_the_browser_and_arrives_whole_and_once() {
    let (stage, busy) = Stage::idle(Look::default(), LONGER).await;
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&vec![7; UPLOADED]).expect("written");
    stage.browser.attach("#upload input", file.path()).await;
    let leaves = async {
        stage.turned_away(2).await;
        busy.leaves().await;
    };
    let (page, ()) = tokio::join!(
        async {
            stage.browser.click("#upload button").await;
            stage.browser.text().await
        },
        leaves
    );
    assert!(page.contains("Your order is taken"), "the first page that came: {page}");
    let sent = stage.once(UPLOAD).request.body;
    let longest = sent.split(|byte| *byte != 7).map(<[u8]>::len).max();
    assert_eq!(longest, Some(UPLOADED), "whole");
}

const UPLOADED: usize = 3 << 20;

#[tokio::test]
async fn a_form_that_gets_no_slot_for_long_is_said_not_to_have_gone_through_and_can_be_sent_again() {
    let (stage, busy) = Stage::idle(Look::default(), SHORT).await;
    let body = filled(&stage).await;
    stage.browser.click("#order button").await;
    let page = stage.browser.shows(STILL_LET_IN).await;
    assert!(page.contains("Your form or order did not go through"), "{page}");
    stage.browser.screenshot("active-form-not-sent").await;
    busy.leaves().await;
    assert!(stage.seen(ORDER).is_empty(), "its sender is told the truth");
    stage.browser.client.back().await.expect("the page with the form");
    stage.browser.shows("Choose your seats").await;
    filled(&stage).await;
    stage.browser.click("#order button").await;
    stage.browser.shows("Your order is taken").await;
    assert_eq!(stage.seen(ORDER).len(), 1);
    assert_eq!(stage.seen(ORDER)[0].request.body, body.as_bytes());
}
