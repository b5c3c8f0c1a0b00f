//! One session, whichever token names it: what holds of a request with the pass holds of one with the ticket that yields it.

use crate::gate::{pass_name, ticket_name};
use crate::guest::{Guest, PAGE};

use super::{House, OFTEN, ONE};

/// Somebody who is inside and shows nothing but the ticket.
async fn by_ticket(house: &House) -> Guest {
    let mut guest = house.guest();
    let answer = guest.once("GET", "/", PAGE, "").await.unwrap();
    assert!(guest.ticket().is_some(), "{}", answer.head);
    guest.jar.remove(&pass_name());
    guest
}

#[tokio::test]
async fn a_ticket_is_bound_to_as_many_networks_as_the_pass() {
    let house = House::open(&format!("{ONE}\npass_networks = 2"), OFTEN).await;
    let mut guest = by_ticket(&house).await;
    let [mut second, mut other] = ["127.77.1.1", "127.78.1.1"].map(|address| {
        let mut other = house.guest_at(address);
        other.jar.clone_from(&guest.jar);
        other
    });
    let answer = second.once("GET", "/", PAGE, "").await.unwrap();
    assert_ne!(answer.status(), 403, "{}", answer.head);
    let refused = other.page("/").await;
    assert_eq!(
        (refused.status(), refused.word()),
        (403, "pass_shared"),
        "{}",
        refused.head
    );
    assert_eq!(other.pass(), None, "the pass is not given there");
    let with_pass = guest.page("/").await;
    assert!(with_pass.is_the_shops(), "{}", with_pass.head);
    assert_eq!(house.gate.room().await["joins"], 1);
}

#[tokio::test]
async fn the_shop_is_told_the_same_session_by_either_token() {
    let house = House::open(ONE, OFTEN).await;
    let mut guest = house.guest();
    assert!(guest.page("/first").await.is_the_shops());
    let ticket = guest.jar[&ticket_name()].clone();
    guest.jar.remove(&pass_name());
    let second = guest.page("/second").await;
    assert!(second.is_the_shops(), "{}", second.head);
    guest.jar.insert(ticket_name(), ticket);
    assert!(guest.page("/third").await.is_the_shops());
    let seen = house.shop.seen();
    let sessions: Vec<_> = seen.iter().map(|seen| seen.session().unwrap()).collect();
    assert_eq!(sessions.len(), 3);
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    let asked = format!(
        "GET /api/v1/verify HTTP/1.1\r\nHost: localhost\r\nAnteroom-Session: {}\r\n\r\n",
        sessions[1]
    );
    let verified = house.gate.admin.ask(asked.as_bytes()).await.unwrap();
    assert_eq!(verified.json()["state"], "inside", "{}", verified.text());
}
