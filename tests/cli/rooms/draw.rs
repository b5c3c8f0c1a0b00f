//! A draw on a real gate: commands that are refused once it is promised, and once the line is closed.

use std::fs;
use std::process::Command;

use ropeline::dates::rfc3339;
use ropeline::time;

use crate::gate::{Gate, Site};
use crate::until;

const VALUE: &str = "7d1f2c0a8a5be4cb1c5d1c4d9b6f0d2e33a1b8f0a4f7b6c9e2d1f0a3b4c5d6e7";

/// How far the draw has come.
fn state(gate: &Gate) -> String {
    let draw = gate.asks_admin("/api/v1/rooms/shop/draw").json();
    draw["state"].as_str().unwrap_or_default().to_owned()
}

fn comes_to(gate: &Gate, wanted: &str) {
    until(wanted, || (state(gate) == wanted).then_some(()));
}

#[test]
fn once_promised_a_draw_keeps_its_opening_its_order_and_the_spelling_of_its_value() {
    let now = time::wall();
    let (begins, opens) = (rfc3339(now), rfc3339(now.plus(12_000)));
    let room = format!(
        "prequeue_from = \"{begins}\"\nopens_at = \"{opens}\"\nqueueing_method = \"random\"\n\
         draw_beacon = \"drand quicknet round 7, randomness\"\n"
    );
    let site = Site::new(&room, "");
    let gate = site.start();
    gate.visitor().goes_to("/");
    comes_to(&gate, "promised");
    let reload = |gate: &Gate| site.run(&["reload", "--admin", &format!("http://{}", gate.admin)]);
    let early = rfc3339(time::wall().plus(500));
    site.edit(&opens, &early);
    let refused = reload(&gate);
    assert!(
        refused.code == Some(78) && (refused.out + &refused.err).contains("promised for another opening"),
        "an opening nobody could be told of"
    );
    site.edit(&early, &opens);
    comes_to(&gate, "closed");

    site.edit("queueing_method = \"random\"", "queueing_method = \"fifo\"");
    let refused = reload(&gate);
    assert!(
        refused.code == Some(78)
            && (refused.out + &refused.err).contains("opening is over and its draw is not made yet"),
        "the order of arrival, after the closing"
    );
    assert_eq!(state(&gate), "closed");
    // Nor by a start with such a file.
    assert_eq!(gate.stop().code, Some(0));
    let gate = site.start();
    assert_eq!(state(&gate), "closed");

    let admin = format!("http://{}", gate.admin);
    let draw = |value: &str| site.run(&["draw", "shop", "--admin", &admin, "--beacon-value", value]);
    for spelled in [
        VALUE.to_uppercase(),
        format!("{VALUE} "),
        format!("0x{VALUE}"),
        VALUE[1..].to_owned(),
    ] {
        let refused = draw(&spelled);
        assert!(
            refused.code == Some(1) && refused.err.contains("64 or 128 hexadecimal digits in small letters"),
            "{spelled:?}: {refused:?}"
        );
    }
    assert_eq!(state(&gate), "closed");
    let made = draw(VALUE);
    assert_eq!(made.code, Some(0), "{made:?}");
    let figures = site.run(&["draw", "shop", "--admin", &admin, "--figures", "0"]);
    fs::write(site.path("figures.json"), &figures.out).unwrap();
    let verified = site.run(&["verify-draw", "figures.json", "1"]);
    assert!(
        verified.code == Some(0) && verified.out.contains("as promised"),
        "{verified:?}"
    );
    let python = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/draw/draw.py"))
        .args([site.path("figures.json").as_os_str(), "1".as_ref()])
        .output()
        .unwrap();
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
}
