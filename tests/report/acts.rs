//! What was done by hand is in the verdict, with who did it.

use anteroom::room::{
    Batch, CallOrder, Change, Drawing, Eviction, LaneId, LineName, Number, Schedule, Section, Settings, Wall, Window,
};

use super::forged::program;
use super::hall::{Hall, section};

const LANE: LaneId = LaneId(0);

fn joins(hall: &mut Hall, count: u32) -> Number {
    let joined = hall.hear(
        1,
        100,
        Section {
            joins: vec![(LANE, count)],
            ..section()
        },
    );
    joined.joined[0].first.unwrap()
}

fn two_slots() -> Settings {
    Settings {
        capacity: 2,
        ..Settings::default()
    }
}

#[test]
fn what_operators_and_files_did_to_a_line_is_in_the_verdict_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    hall.configure(1, two_slots());
    let first = joins(&mut hall, 10);
    let eviction = |n| Eviction {
        line: LineName::ONLY,
        lane: LANE,
        number: Number {
            n: first.n + n,
            ..first
        },
    };
    hall.change(1, Change::Evict(eviction(3)));
    hall.change(1, Change::Evict(eviction(0)));
    let call = CallOrder {
        line: LineName::ONLY,
        lane: None,
        count: 2,
        beyond: true,
    };
    hall.change(1, Change::Call(call));
    hall.hear(
        1,
        100,
        Section {
            bypasses: 4,
            networks: 3,
            ..section()
        },
    );
    let shorter = Settings {
        grace_ms: 20_000,
        ..two_slots()
    };
    hall.configure(1, shorter);
    hall.change(1, Change::Reset);
    hall.skip(1);
    hall.leave(1);
    let (code, said) = program(&[folder.path()], &[]);
    assert_eq!(code, 0, "{said}");
    let last = said.lines().last().unwrap();
    for (act, by) in [
        ("eviction", "anna: 2"),
        ("call beyond the capacity", "anna: 2"),
        ("reset", "anna: 1"),
        ("shorter presence", "the configuration file: "),
        ("bypass network", "bypass_networks of the configuration file: 3"),
        ("open in an outage", "on_outage of the configuration file: 4"),
        ("entry passed over", "an operator whom the log does not name: 1"),
    ] {
        assert!(last.contains(&format!("{act} by {by}")), "{act}: {last}");
    }
    for told in [
        "/3 of lane 0 taken out, who was waiting, by anna (fire drill), gate 0000000000000001",
        "/0 of lane 0 taken out, who was called, by anna",
        "grace shortened from 240000 ms to 20000 ms, while ",
        "2 of them taken out by an operator",
    ] {
        assert!(said.contains(told), "{told:?} is not in\n{said}");
    }
    assert_eq!(
        program(&[folder.path()], &["--strict"]).0,
        1,
        "where nothing may be done by hand"
    );
    let json = program(&[folder.path()], &["--format", "json"]).1;
    assert!(
        json.contains("\"kind\": \"eviction\"") && json.contains("\"by\": \"anna\""),
        "{json}"
    );
    let page = folder.path().join("page.html");
    program(
        &[folder.path()],
        &["--format", "html", "--output", page.to_str().unwrap()],
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("but for what was done by hand") && page.contains("anna"),
        "{page}"
    );
}

/// A room whose line forms, and is drawn ten seconds after by the value of a beacon.
fn drawn(hall: &Hall) -> Settings {
    let window = Window {
        begins: Wall(hall.time + 1_000),
        opens: Wall(hall.time + 11_000),
        closes: None,
        results: None,
    };
    Settings {
        schedule: Some(Schedule {
            rule: "the rule".to_owned(),
            windows: vec![window],
        }),
        draw: Some(Drawing {
            beacon: Some("round 7".to_owned()),
        }),
        ..two_slots()
    }
}

#[test]
fn a_draw_that_was_closed_and_not_made_is_unfair_with_who_did_it() {
    for (reset, says) in [(true, "by anna: reset"), (false, "the history ends before it")] {
        let folder = tempfile::tempdir().unwrap();
        let mut hall = Hall::new();
        hall.archive(1, folder.path());
        let settings = drawn(&hall);
        hall.configure(1, settings);
        for _ in 0..3 {
            hall.say(1, 1_000, Batch::default());
        }
        joins(&mut hall, 10);
        for _ in 0..10 {
            hall.say(1, 1_000, Batch::default());
        }
        if reset {
            hall.change(1, Change::Reset);
        }
        hall.leave(1);
        let (code, said) = program(&[folder.path()], &[]);
        let last = said.lines().last().unwrap();
        assert!(
            code == 1 && last.starts_with("NOT FAIR: shop: the line of edition 1 was closed for its draw"),
            "{said}"
        );
        assert!(last.contains(says), "{last}");
    }
}
