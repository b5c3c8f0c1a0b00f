//! One session, whichever token names it: a request with the ticket that yields the pass has the same rights as one with the
//! pass.

use crate::gate::pass_name;
use crate::guest::{Guest, PAGE};

use super::{House, OFTEN, ONE};

/// A visitor who is inside and shows only the ticket.
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
