//! Joins whose client never comes back: bounded by network, and gone within seconds.

use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::guest::{Guest, PAGE, SCRIPT};
use crate::http::Message;

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

/// A price that a test pays in a moment, and a browser too.
const WORK: &str = "[room.proof_of_work]\nenabled = true\nprice = { least = 1600, most = 160000 }\n\
    joins_per_minute = { few = 100000, many = 200000 }";

/// A room for one that asks for a proof of work.
fn asking() -> String {
    format!("{ONE}\n{WORK}")
}

/// A program's solution of a challenge that it was given as JSON.
fn solved(asked: &Value) -> String {
    let text = asked["challenge"].as_str().unwrap();
    let (parts, most) = (asked["parts"].as_u64().unwrap(), asked["most"].as_u64().unwrap());
    let nonce = |part| {
        let seed = Sha256::digest(format!("{text}:{part}"));
        let begins = |nonce: &u32| {
            let hash = Sha256::new().chain_update(seed).chain_update(nonce.to_be_bytes());
            let hash: [u8; 32] = hash.finalize().into();
            u64::from(u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])) <= most
        };
        (0..=u32::MAX).find(begins).unwrap()
    };
    (0..parts).fold(text.to_owned(), |shown, part| format!("{shown}.{:x}", nonce(part)))
}

async fn join(guest: &mut Guest, proof: &str) -> Message {
    let fields = format!("{SCRIPT}Ropeline-Proof: {proof}\r\n");
    guest
        .send("POST", "/.ropeline/rooms/shop/join", &fields, "")
        .await
        .unwrap()
}

#[tokio::test]
async fn who_has_done_the_work_joins_once_by_it_wherever_it_is_shown_again() {
    let house = House::open(&asking(), "").await;
    let mut guest = house.guest();
    let page = guest.page("/seats?row=7").await;
    assert_eq!((page.status(), page.word()), (200, "proof"), "{}", page.head);
    assert!(
        page.field("content-security-policy")
            .unwrap()
            .contains("worker-src 'self'")
    );
    assert_eq!(page.field("set-cookie"), None);
    assert_eq!(house.gate.room().await["joins"], 0, "asking costs no number");
    let asked = guest.own("POST", "join").await;
    assert_eq!((asked.status(), asked.word()), (428, "proof"), "{}", asked.head);
    assert!((1_600..1_700).contains(&asked.json()["price"].as_u64().unwrap()));
    let proof = solved(&asked.json());
    let joined = join(&mut guest, &proof).await;
    assert_eq!((joined.status(), &joined.json()["state"]), (200, &"inside".into()));
    assert!(guest.page("/seats").await.is_the_shops(), "called at once");
    let mut others = [house.guest_at(&guest.address), house.guest_at(&guest.address)];
    for other in &mut others {
        let again = join(other, &proof).await.json();
        assert_ne!(again["state"], "waiting", "one solution, one place: {again}");
    }
    assert_eq!(house.gate.room().await["joins"], 1);
}

#[tokio::test]
async fn a_script_that_names_its_visitors_account_joins_by_the_same_request_with_the_proof() {
    let identity = "[room.identity]\nfrom = \"field\"\nname = \"email\"\non = \"POST /enter\"";
    let house = House::open(&format!("{}\n{identity}", asking()), "").await;
    let fields = format!("{SCRIPT}Content-Type: application/x-www-form-urlencoded\r\n");
    let mut shown = Vec::new();
    for (email, status) in [("ann", 200), ("bob", 503)] {
        let mut guest = house.guest_at(&house.guest().address);
        let body = format!("email={email}");
        let asked = guest.send("POST", "/enter", &fields, &body).await.unwrap();
        assert_eq!((asked.status(), asked.word()), (428, "proof"), "{}", asked.head);
        let proved = format!("{fields}Ropeline-Proof: {}\r\n", solved(&asked.json()));
        let answer = guest.send("POST", "/enter", &proved, &body).await.unwrap();
        assert_eq!(answer.status(), status, "{}", answer.head);
        assert!(!guest.jar.is_empty(), "{}", answer.head);
        shown.push((guest, proved));
    }
    let seen = house.shop.seen();
    assert!(
        seen.iter()
            .all(|seen| !seen.request.head.to_lowercase().contains("ropeline-proof"))
    );
    for (guest, proved) in shown {
        let mut other = house.guest_at(&guest.address);
        let answer = other.send("POST", "/enter", &proved, "email=eve").await.unwrap();
        assert_eq!(
            (answer.status(), answer.word()),
            (428, "proof"),
            "spent: {}",
            answer.head
        );
    }
}

#[tokio::test]
async fn what_is_no_proof_for_this_client_and_room_is_asked_for_again() {
    let house = House::open(&asking(), "").await;
    let _inside = {
        let mut guest = house.guest();
        let asked = guest.own("POST", "join").await.json();
        assert_eq!(join(&mut guest, &solved(&asked)).await.status(), 200);
        guest
    };
    let (mut guest, mut elsewhere) = (house.guest(), house.guest());
    let asked = guest.own("POST", "join").await.json();
    let proof = solved(&asked);
    let text = asked["challenge"].as_str().unwrap();
    let (work, wrong) = (proof.split_once('.').unwrap().1, "0.".repeat(15) + "0");
    // A different letter from the last one.
    let letter = if text.ends_with('A') { 'E' } else { 'A' };
    let forged = format!("{}{letter}.{work}", &text[..text.len() - 1]);
    for shown in [
        "",
        "x",
        text,
        &format!("{text}.{wrong}"),
        &format!("{proof}.0"),
        &forged,
    ] {
        assert_eq!(join(&mut guest, shown).await.status(), 428, "{shown}");
    }
    assert_eq!(join(&mut elsewhere, &proof).await.status(), 428, "of another network");
    assert_eq!(house.gate.room().await["joins"], 1);
    assert_eq!(join(&mut guest, &proof).await.json()["state"], "waiting");
    assert_eq!(house.gate.room().await["joins"], 2);
    assert_eq!(
        guest.page("/").await.word(),
        "waiting",
        "who has a place is asked for nothing"
    );
}

#[tokio::test]
async fn without_a_script_one_waits_and_not_before_and_so_many_of_a_network() {
    let limits = "[limits]\njoin_without_proof = { requests = 1, window = \"10 min\" }";
    let house = House::open(&asking(), limits).await;
    let _first = {
        let mut guest = house.guest();
        let asked = guest.own("POST", "join").await.json();
        assert_eq!(join(&mut guest, &solved(&asked)).await.status(), 200);
        guest
    };
    let mut guest = house.guest();
    let mut second = house.guest_at(&guest.address);
    let (enter, later) = (
        way_in(&guest.page("/seats?row=7").await),
        way_in(&second.page("/").await),
    );
    let early = guest.once("GET", &enter, PAGE, "").await.unwrap();
    assert_eq!((early.status(), early.field("location")), (303, Some("/seats?row=7")));
    assert_eq!(early.field("set-cookie"), None, "too early");
    let guest = tokio::sync::Mutex::new(guest);
    eventually("let in line", async || {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut guest = guest.lock().await;
        guest.once("GET", &enter, PAGE, "").await.unwrap();
        guest.ticket().map(drop)
    })
    .await;
    let mut guest = guest.into_inner();
    assert_eq!(guest.page("/seats?row=7").await.word(), "waiting");
    let over = second.once("GET", &later, PAGE, "").await.unwrap();
    assert_eq!((over.status(), over.word()), (429, "limited"));
    assert!(over.field("refresh").is_some() && over.field("ratelimit").unwrap().starts_with("\"join-without-proof\""));
    let outside = later.replace("to=%2F", "to=%2F%2Fevil.example");
    let sent = second
        .once("GET", &outside.replace("proof=", "proof=x"), PAGE, "")
        .await
        .unwrap();
    assert_eq!(sent.field("location"), Some("/"), "only ever to this host");
    assert_eq!(house.gate.room().await["joins"], 2);
}

/// Where the page without a script leads after its wait.
fn way_in(page: &Message) -> String {
    let refresh = page.field("refresh").unwrap_or_else(|| panic!("{}", page.text()));
    refresh
        .strip_prefix("11;url=")
        .unwrap_or_else(|| panic!("{refresh}"))
        .to_owned()
}

#[tokio::test]
async fn a_pass_that_is_handed_round_is_refused_where_it_comes_last_and_goes_on_where_it_began() {
    let house = House::open(&format!("{ONE}\npass_networks = 2"), "").await;
    let mut guest = house.inside().await;
    let handed = |address: &str| {
        let mut copy = house.guest_at(address);
        copy.jar.clone_from(&guest.jar);
        copy
    };
    let mut same = handed(&format!("{}.200", guest.address.rsplit_once('.').unwrap().0));
    let (mut second, mut third) = (handed("127.77.1.1"), handed("127.78.1.1"));
    assert!(same.page("/").await.is_the_shops(), "another address of the network");
    assert!(second.page("/").await.is_the_shops());
    let refused = third.page("/").await;
    assert_eq!(
        (refused.status(), refused.word()),
        (403, "pass_shared"),
        "{}",
        refused.head
    );
    assert_eq!(refused.field("set-cookie"), None);
    let app = third.script("GET", "/api/x").await;
    assert_eq!((app.status(), &app.json()["reason"]), (403, &"pass_shared".into()));
    assert_eq!(third.own("POST", "leave").await.status(), 403);
    for _ in 0..3 {
        assert!(guest.page("/").await.is_the_shops() && second.page("/").await.is_the_shops());
    }
    assert_eq!(house.gate.room().await["joins"], 1);
}
