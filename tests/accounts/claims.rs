//! Lanes by a claim of the token that names the account.

use ropeline::room::{CodeId, LaneId, LineName, Wall};
use ropeline::time;
use ropeline::token::{Code, Grant};
use serde_json::{Value, json};

use super::crowd::gate::{keyring, room};
use super::tokens::{in_an_hour, key, pem, seeded, show, signed, signed_by};
use super::*;

const REST: LaneId = LaneId(0);
const GOLD: LaneId = LaneId(1);
const OFFICE: LaneId = LaneId(2);
const PRESS: LaneId = LaneId(3);

/// One lane has both a network and claims.
const LANES: &str = "[[room.lane]]\nname = \"everybody\"\n\
    [[room.lane]]\nname = \"gold\"\nclaims = [\"gold\", \"7\"]\n\
    [[room.lane]]\nname = \"office\"\nnetworks = [\"192.0.2.0/24\"]\nclaims = [\"staff\"]\n\
    [[room.lane]]\nname = \"press\"\ncode = true\n";

/// A room with one slot behind tokens, and a visitor inside; the key's file goes with the folder.
async fn by_tier() -> (House, Guest, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("accounts.pem");
    std::fs::write(&file, pem(&key())).unwrap();
    let identity = format!(
        "[room.identity]\nfrom = \"jwt\"\nalgorithm = \"EdDSA\"\nkey_file = \"{}\"\nissuer = \"id\"\nlane_claim = \"tier\"\n",
        file.display()
    );
    let house = House::open(&format!("{ONE}{identity}{LANES}"), house::OFTEN).await;
    let inside = house.inside().await;
    (house, inside, folder)
}

fn claims(name: &str, tier: &Value) -> Value {
    json!({ "sub": name, "iss": "id", "exp": in_an_hour(), "tier": tier })
}

fn token(claims: &Value) -> String {
    signed(&json!({ "alg": "EdDSA" }), claims)
}

/// Opens a page and is in line; the lane that the ticket says.
async fn lane_of(guest: &mut Guest) -> LaneId {
    waits(guest).await;
    guest.ticket().unwrap().lane
}

/// The same claims without one of them, or with others.
fn but(claims: &Value, name: &str, value: Option<Value>) -> Value {
    let mut claims = claims.clone();
    let object = claims.as_object_mut().unwrap();
    object.remove(name);
    object.extend(value.map(|value| (name.to_owned(), value)));
    claims
}

#[tokio::test]
async fn an_account_stands_in_the_lane_that_its_token_says() {
    let (house, _inside, _folder) = by_tier().await;
    let tiers = [
        (json!("gold"), GOLD),
        (json!(7), GOLD),
        (json!("staff"), OFFICE),
        (json!("silver"), REST),
        (json!("Gold"), REST),
        (json!(["gold"]), REST),
        (json!(true), REST),
        (Value::Null, REST),
    ];
    for (at, (tier, lane)) in tiers.iter().enumerate() {
        let mut guest = house.guest();
        show(&mut guest, &token(&claims(&format!("ann{at}"), tier)), "");
        assert_eq!(lane_of(&mut guest).await, *lane, "{tier}");
    }
    assert_eq!(lane_of(&mut house.guest()).await, REST, "without a token");
}

/// It takes nothing away either: such a visitor joins as one without an account.
#[tokio::test]
async fn a_token_that_is_not_in_force_or_names_nobody_leads_nowhere() {
    let (house, _inside, _folder) = by_tier().await;
    let good = claims("ann", &json!("gold"));
    let header = json!({ "alg": "EdDSA" });
    let bad = [
        ("expired", token(&but(&good, "exp", Some(json!(1))))),
        ("of another issuer", token(&but(&good, "iss", Some(json!("other"))))),
        ("forged", signed_by(&seeded(9), &header, &good)),
        ("without an account", token(&but(&good, "sub", None))),
        (
            "with a list for an account",
            token(&but(&good, "sub", Some(json!(["ann"])))),
        ),
    ];
    for (what, token) in bad {
        let mut guest = house.guest();
        show(&mut guest, &token, "");
        assert_eq!(lane_of(&mut guest).await, REST, "{what}");
        let mut office = house.guest_at("192.0.2.7");
        show(&mut office, &token, "");
        assert_eq!(lane_of(&mut office).await, OFFICE, "{what}");
    }
}

#[tokio::test]
async fn a_code_goes_before_the_claim_and_the_claim_before_the_network() {
    let (house, _inside, _folder) = by_tier().await;
    let code = Code {
        id: CodeId([1; 6]),
        starts: None,
        expires: None,
        grant: Grant::Lane("press".to_owned()),
        single: false,
        issued: Wall(time::wall().0 / 1_000 * 1_000),
    };
    let code = code.sign(&keyring(), &room(), &LineName::ONLY).unwrap();
    assert_eq!(lane_of(&mut house.guest_at("192.0.2.7")).await, OFFICE);
    let mut gold = house.guest_at("192.0.2.8");
    show(&mut gold, &token(&claims("ann", &json!("gold"))), "");
    assert_eq!(lane_of(&mut gold).await, GOLD);
    let mut both = house.guest_at("192.0.2.9");
    show(&mut both, &token(&claims("bob", &json!("gold"))), "");
    both.says("Ropeline-Code", &code);
    assert_eq!(lane_of(&mut both).await, PRESS);
}

#[tokio::test]
async fn an_account_keeps_the_lane_that_it_has_in_another_browser_and_with_another_token() {
    let (house, _inside, _folder) = by_tier().await;
    let mut first = house.guest();
    show(&mut first, &token(&claims("ann", &json!("gold"))), "");
    assert_eq!(lane_of(&mut first).await, GOLD);
    let place = number(&first);
    for tier in ["gold", "silver", "staff"] {
        let mut second = house.guest();
        show(&mut second, &token(&claims("ann", &json!(tier))), "");
        assert_eq!((lane_of(&mut second).await, number(&second)), (GOLD, place), "{tier}");
    }
    // A visitor who signs in while waiting keeps their place.
    let mut late = house.guest();
    assert_eq!(lane_of(&mut late).await, REST);
    show(&mut late, &token(&claims("bob", &json!("gold"))), "");
    assert_eq!(lane_of(&mut late).await, REST);
}

#[tokio::test]
async fn an_app_that_joins_with_its_token_stands_there_too() {
    let (house, _inside, _folder) = by_tier().await;
    let mut app = house.guest();
    show(&mut app, &token(&claims("ann", &json!("gold"))), "");
    let joined = app.script("POST", "/.ropeline/rooms/shop/join").await;
    assert_eq!(joined.status(), 200, "{}", joined.head);
    assert_eq!(joined.json()["lane"], "gold");
}
