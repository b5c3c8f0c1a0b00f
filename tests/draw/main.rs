//! A draw checked by others: a few lines of Python that were written from `docs/reference/draw.md`, the page's own example, and the
//! program as a visitor runs it. The page in a browser is in `tests/browser/sales/verify_page.rs`.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod page;
mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

use ropeline::draw::{AdmissionOrder, Beacon, Draw, Figures, Hash, Published};
use serde_json::Value;

use program::{Ended, verify};

/// The figures in the documentation.
fn example() -> String {
    let (_, rest) = DOCS.split_once("```json\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// The example with one field changed.
fn changed(name: &str, value: impl Into<Value>) -> String {
    let mut figures: Value = serde_json::from_str(&example()).unwrap();
    figures[name] = value.into();
    figures.to_string()
}

/// The independent program's result for figures.
fn python(figures: &Path, arguments: &[&str]) -> Ended {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/draw/draw.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(figures).args(arguments);
    Ended::of(&mut command)
}

/// Figures of a draw of `count`, with a beacon or without.
fn figures(line: &str, lane: u8, count: u32, beacon: Option<Beacon<'_>>) -> String {
    closed_at(61_000, line, lane, (count, beacon))
}

/// Figures of a line that was closed a minute before the opening that was promised for it.
fn early() -> String {
    closed_at(1_000, "", 0, (12, None))
}

fn closed_at(closed_ms: u64, line: &str, lane: u8, (count, beacon): (u32, Option<Beacon<'_>>)) -> String {
    let draw = Draw {
        order: AdmissionOrder::default(),
        room: "spring-2",
        line,
        edition: 9,
        lane,
        begins_ms: 1_000,
        opens_ms: 61_000,
        closed_ms,
        count,
        secret: Hash([0xa5; 32]),
        beacon,
    };
    let (commitment, closing) = (draw.commitment(), draw.closing(draw.commitment()));
    let published = Published {
        draw: 1,
        room: draw.room.to_owned(),
        line: line.to_owned(),
        lane,
        edition: draw.edition,
        begins_ms: draw.begins_ms,
        opens_ms: draw.opens_ms,
        beacon: beacon.map(|beacon| beacon.name.to_owned()),
        commitment,
        count: Some(count),
        closed_ms: Some(closed_ms),
        closing: Some(closing),
        beacon_value: beacon.map(|beacon| beacon.value.to_owned()),
        secret: Some(draw.secret),
        seal: Some(draw.seal(closing)),
    };
    serde_json::to_string(&published).unwrap()
}

#[test]
fn a_few_lines_of_python_agree_on_a_million_places() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json");
    std::fs::write(&file, example()).unwrap();
    let (ours, theirs) = (verify(&["--all"], &example()), python(&file, &[]));
    assert_eq!(
        (ours.code, theirs.code),
        (Some(0), Some(0)),
        "{} {}",
        ours.err,
        theirs.err
    );
    assert_eq!(ours.out.lines().count(), 1_000_004);
    let differs = ours
        .out
        .lines()
        .zip(theirs.out.lines())
        .find(|(our, their)| our != their);
    assert!(differs.is_none() && ours.out == theirs.out, "{differs:?}");
}

#[test]
fn python_agrees_on_odd_counts_lanes_lines_and_beacons() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json");
    let beacon = Some(Beacon {
        name: "로또 1200회",
        value: &"3e".repeat(64),
    });
    for (line, lane, count, beacon) in [
        ("", 0, 1, None),
        ("", 7, 2, beacon),
        ("été/7", 1, 3, None),
        ("a b", 2, 12, beacon),
        ("", 0, 97, None),
        ("", 3, 10_007, beacon),
    ] {
        let figures = figures(line, lane, count, beacon);
        std::fs::write(&file, &figures).unwrap();
        let (ours, theirs) = (verify(&["--all"], &figures), python(&file, &[]));
        assert_eq!(
            (ours.code, theirs.code),
            (Some(0), Some(0)),
            "{} {}",
            ours.err,
            theirs.err
        );
        assert_eq!(ours.out, theirs.out, "{count}");
    }
}

#[test]
fn python_sees_each_change_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json");
    for (name, value, told) in [
        ("secret", Value::from("00".repeat(32)), "the secret was changed"),
        ("count", Value::from(999_999), "the count was changed"),
        (
            "beacon_value",
            Value::from("7d".repeat(32)),
            "the beacon's value was changed",
        ),
        ("beacon_value", Value::from("7D".repeat(32)), "is not spelled as one"),
        ("opens_ms", Value::from(7), "the secret was changed"),
        ("closed_ms", Value::from(1_896_098_400_000_u64), "the count was changed"),
    ] {
        std::fs::write(&file, changed(name, value)).unwrap();
        let ended = python(&file, &["1"]);
        assert!(
            ended.code == Some(1) && ended.err.contains(told),
            "{name}: {}",
            ended.err
        );
    }
    std::fs::write(&file, early()).unwrap();
    let ended = python(&file, &["1"]);
    assert!(
        ended.code == Some(1) && ended.err.contains("before the opening"),
        "{}",
        ended.err
    );
}

#[test]
fn the_documentation_shows_the_places_that_its_figures_give() {
    let order = Figures::parse(example().as_bytes()).unwrap().order();
    let (_, table) = DOCS.split_once("| number | place |\n| --- | --- |\n").unwrap();
    let rows: Vec<(u32, u32)> = table.lines().map_while(row).collect();
    assert_eq!(rows.len(), 6);
    for (number, place) in rows {
        assert_eq!(order.place(number - 1), Some(place - 1), "{number}");
    }
    let draw = Draw {
        order: AdmissionOrder::default(),
        room: "drop",
        line: "",
        edition: 3,
        lane: 0,
        begins_ms: 0,
        opens_ms: 0,
        closed_ms: 0,
        count: 1_000_003,
        secret: field("secret"),
        beacon: Some(Beacon {
            name: "drand quicknet round 22000000",
            value: "7d1f2c0a8a5be4cb1c5d1c4d9b6f0d2e33a1b8f0a4f7b6c9e2d1f0a3b4c5d6e7",
        }),
    };
    assert!(
        DOCS.contains(&format!("give the key `{}`", draw.key())),
        "{}",
        draw.key()
    );
}

fn field(name: &str) -> Hash {
    let figures: Value = serde_json::from_str(&example()).unwrap();
    Hash::parse(figures[name].as_str().unwrap()).unwrap()
}

fn row(line: &str) -> Option<(u32, u32)> {
    let mut cells = line.split('|').map(|cell| cell.trim().parse().ok());
    Some((cells.nth(1)??, cells.next()??))
}

const DOCS: &str = include_str!("../../docs/reference/draw.md");
