//! A link with a code, for a visitor who has a place in line already.

use ropeline::room::{CodeId, LineName, RoomName, Wall};
use ropeline::token::{Code, Grant, Key, KeyId, Keyring, Secret};

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::look::Look;

const SECRET: &str = "a secret of the tests, long enough for any key ring";

fn lanes() -> String {
    format!(
        "[[room.lane]]\nname = \"everybody\"\n[[room.lane]]\nname = \"press\"\nweight = 2\ncode = true\n\
         [tokens]\nkeys = [{{ id = \"k\", secret = \"{SECRET}\" }}]\n"
    )
}

fn code() -> String {
    let (id, secret) = (KeyId::new("k").expect("an id"), Secret::new(SECRET));
    let ring = Keyring::new(vec![Key { id, secret }]).expect("a ring");
    let code = Code {
        id: CodeId([1; 6]),
        starts: None,
        expires: None,
        grant: Grant::Lane("press".to_owned()),
        single: false,
        issued: Wall(0),
    };
    let room = RoomName::new(ROOM).expect("a name");
    code.sign(&ring, &room, &LineName::ONLY).expect("a code")
}

#[tokio::test]
async fn a_link_asks_first_and_the_place_is_kept_or_given_up_by_the_visitor() {
    let folder = tempfile::tempdir().expect("a folder");
    let (gate, secured) = hall::open_secured(folder.path(), 1, &lanes()).await;
    let _inside = hall::insider(&gate).await;
    let link = format!("/seats?ropeline_code={}", code());
    let without = Look {
        scripts: false,
        ..Look::default()
    };
    let korean = Look {
        language: "ko-KR,ko",
        ..Look::default()
    };
    let (plain, korean) = tokio::join!(Browser::start(without), Browser::start(korean));

    // HTTP/1.1, and no script runs.
    plain.open(&gate.at("/seats")).await;
    plain.shows("You are in line").await;
    plain.open(&gate.at(&link)).await;
    let page = plain.shows("Use this code?").await;
    assert!(page.contains("you give up your place"), "{page}");
    plain.screenshot("code-use").await;
    assert!(
        plain.has("a.button[href='/seats']").await,
        "a link that keeps the place"
    );
    let page = plain.follows("Keep my place", "You are in line").await;
    assert!(!page.contains("press"), "{page}");
    assert_eq!(plain.address().await, gate.at("/seats"));
    plain.open(&gate.at(&link)).await;
    plain.shows("Use this code?").await;
    plain.click("form button").await;
    let page = plain.shows("You are in line").await;
    assert!(page.contains("You are in the line “press”"), "{page}");
    assert_eq!(plain.address().await, gate.at("/seats"));

    // HTTP/2, with scripts, in the other language.
    korean.open(&format!("{secured}/seats")).await;
    korean.shows("내 순번").await;
    korean.open(&format!("{secured}{link}")).await;
    korean.shows("코드를 사용하시겠습니까?").await;
    korean.screenshot("code-use-ko").await;
    korean.click("form button").await;
    let page = korean.shows("내 순번").await;
    assert!(page.contains("“press”"), "{page}");
}
