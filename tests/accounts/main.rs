//! Accounts before a running gate, over sockets: each source of identities with an attacker's input, one place in two
//! browsers, and the fate of places when accounts change.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod claims;
mod forms;
mod headers;
mod owners;
mod tokens;

use crowd::guest::{Guest, number_of};
use crowd::house::{self, Direct};
use crowd::http::Message;
use crowd::{guest, http};
use ropeline::room::Number;
use ropeline_testkit::crowd;

type House = house::House<Direct>;

/// A room for one whose accounts stand in a header of the proxy before it.
const HEADER: &str = "[room.identity]\nfrom = \"header\"\nname = \"X-User\"\n";

/// The same where joining requires an account.
const REFUSING: &str =
    "[room.identity]\nfrom = \"header\"\nname = \"X-User\"\nmissing = \"refuse\"\nsign_in = \"/static/login\"\n";

const ONE: &str = "total_active_users = 1\nexcept = [\"/static/*\"]\n";

/// A room with one slot, held by a visitor who has no part in the test; visitors may ask as often as they like.
async fn full(identity: &str) -> (House, Guest) {
    let house = House::open(&format!("{ONE}{identity}"), house::OFTEN).await;
    let mut inside = house.guest();
    inside.says("X-User", "somebody");
    for _ in 0..2 {
        let answer = inside.page("/").await;
        assert!(answer.is_the_shops(), "not let in: {}", answer.head);
    }
    (house, inside)
}

/// A visitor who sends this name with every request.
fn named(house: &House, name: &str) -> Guest {
    let mut guest = house.guest();
    guest.says("X-User", name);
    guest
}

/// Opens a page and is in line; the number.
async fn waits(guest: &mut Guest) -> Number {
    let answer = guest.page("/seats").await;
    assert_eq!(answer.word(), "waiting", "{}", answer.head);
    number(guest)
}

fn number(guest: &Guest) -> Number {
    guest
        .ticket()
        .as_ref()
        .and_then(number_of)
        .expect("a ticket with a number")
}

/// A page's markup, with its slashes.
fn markup(page: &Message) -> String {
    page.text().replace("&#x2f;", "/")
}

/// 403 about another account's place.
fn assert_not_yours(answer: &Message) {
    assert_eq!(
        (answer.status(), answer.word()),
        (403, "ticket_owner"),
        "{}",
        answer.head
    );
    assert!(
        answer
            .field("cache-control")
            .is_some_and(|field| field.starts_with("no-store"))
    );
    assert_eq!(answer.field("set-cookie"), None);
}
