//! One pair of keys in two installations: staging's signatures are not valid in production.

use crate::gate::{Gate, Site};
use crate::reload::taken;
use crate::until;
use crate::visitor::Visitor;

const KEYS: &str = "[tokens]\nkeys = [{ id = \"one\", secret = \"the same secret in staging and in production\" }]";

fn installation(audience: &str) -> (Site, Gate) {
    let accounts = "[room.identity]\nfrom = \"cookie\"\nname = \"account\"";
    let site = Site::new("", &format!("{accounts}\n{KEYS}\naudience = {audience}\n"));
    let gate = site.start();
    gate.lives();
    (site, gate)
}

/// The effects of staging's tokens on a production gate: whether a pass is admitted beside the visitor inside, and whether a
/// new log begins.
fn taken_from_staging(staging: &str, production: &str) -> (bool, bool) {
    let (_production, gate) = installation(production);
    // Later, so that the numbers of its log stand above all that are known in production.
    let (_staging, other) = installation(staging);
    let _inside = gate.insider();
    let before = log(&gate);
    let mut thief = other.insider();
    thief.at = gate.address;
    let served = thief.goes_to("/").is_the_shops();
    // Once these are numbered and called, the gate has finished with the pass.
    for _ in 0..3 {
        let mut next = gate.visitor();
        next.goes_to("/");
        until("a number", || next.position());
    }
    (served, log(&gate) != before)
}

/// Which of its logs the gate is in: the first part of a position.
fn log(gate: &Gate) -> String {
    let told = gate.asks_admin("/api/v1/gates").body;
    let position = told.split_once("\"position\":\"").expect("a position").1;
    position.split_once('-').expect("two parts").0.to_owned()
}

#[test]
fn a_pass_of_staging_opens_production_only_where_they_share_the_audience() {
    assert_eq!(taken_from_staging("\"staging\"", "\"production\""), (false, false));
    assert!(
        taken_from_staging("\"both\"", "\"both\"").0,
        "the same installation, as far as tokens go"
    );
}

#[test]
fn an_installation_is_renamed_as_keys_are_rotated() {
    let (site, gate) = installation("\"shop.example\"");
    let mut inside = gate.insider();
    // Two browsers of one account, which has one place.
    let [mut waiting, phone] = [(); 2].map(|()| {
        let mut visitor = gate.visitor();
        visitor.jar.insert("account".to_owned(), "ann".to_owned());
        visitor
    });
    assert_eq!((waiting.goes_to("/").word(), waiting.position()), ("waiting", Some(1)));
    let mut behind = gate.waits(2);
    let mut step = |from: &str, to: &str, inside: &mut Visitor, waiting: &mut Visitor| {
        site.edit(&format!("audience = {from}"), &format!("audience = {to}"));
        let told = taken(&site, &gate);
        assert!(
            inside.goes_to("/").is_the_shops() && waiting.position() == Some(1),
            "{to}"
        );
        // The place is found by the account, under whichever tag.
        let mut browser = phone.clone();
        assert_eq!(
            (browser.goes_to("/").word(), browser.position()),
            ("waiting", Some(1)),
            "{to}"
        );
        assert_eq!(behind.position(), Some(2), "{to}");
        told
    };
    step(
        "\"shop.example\"",
        "[\"shop.example\", \"store.example\"]",
        &mut inside,
        &mut waiting,
    );
    step(
        "[\"shop.example\", \"store.example\"]",
        "[\"store.example\", \"shop.example\"]",
        &mut inside,
        &mut waiting,
    );
    let told = step(
        "[\"store.example\", \"shop.example\"]",
        "\"store.example\"",
        &mut inside,
        &mut waiting,
    );
    assert!(told.contains("the key \"one for shop.example\" is gone"), "{told}");
}

#[test]
fn keys_without_an_audience_are_warned_of() {
    let site = Site::new("", KEYS);
    let ended = site.run(&["check", "config.toml"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let words = "tokens.audience: keys without an audience: another installation with the same keys";
    assert!(ended.out.contains(words) || ended.err.contains(words), "{ended:?}");
    let gate = site.start();
    assert!(gate.program.err().contains("keys without an audience"));
}
