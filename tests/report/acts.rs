//! Operators' interventions are in the verdict, with their authors.

use ropeline::draw::{AdmissionOrder, Beacon, Draw, Hash};
use ropeline::room::{
    Batch, CallOrder, Change, Drawing, Edition, Eviction, Forms, LaneId, LineName, Number, Overrides, Schedule,
    Section, Settings, Wall, Window,
};

mod moved;
mod people;

use super::forged::program;
use super::hall::{Hall, room, section};

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
        "wait at the end; 2 evictions by an operator",
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

/// A room whose line forms from a second after `from`, and is drawn at this opening by the value of a beacon.
fn drawn(from: u64, opens: u64) -> Settings {
    Settings {
        schedule: Some(schedule(from, opens)),
        draw: Some(Drawing {
            beacon: Some("round 7".to_owned()),
            ..Drawing::default()
        }),
        ..two_slots()
    }
}

fn schedule(from: u64, opens: u64) -> Schedule {
    let window = Window {
        begins: Wall(from + 1_000),
        opens: Wall(opens),
        closes: None,
        results: None,
    };
    Schedule {
        rule: format!("the rule of {opens}"),
        windows: vec![window],
    }
}

const SECRET: Hash = Hash([7; 32]);

/// A gate's promise for this opening.
fn promise(from: u64, opens: u64) -> Change {
    let forms = Forms {
        begins: Wall(from + 1_000),
        opens: Wall(opens),
    };
    let draw = Draw {
        order: AdmissionOrder::default(),
        room: "shop",
        line: "",
        edition: 1,
        lane: 0,
        begins_ms: forms.begins.0,
        opens_ms: forms.opens.0,
        closed_ms: 0,
        count: 0,
        secret: SECRET,
        beacon: Some(Beacon {
            name: "round 7",
            value: "",
        }),
    };
    Change::Commit {
        order: AdmissionOrder::default(),
        edition: Edition(1),
        beacon: Some("round 7".to_owned()),
        forms,
        salt: [1; 16],
        commitment: draw.commitment(),
    }
}

fn seconds(hall: &mut Hall, count: u64) {
    for _ in 0..count {
        hall.say(1, 1_000, Batch::default());
    }
}

/// An action on a room that began at this time.
type Act = fn(&mut Hall, u64);

/// An operator's dates.
fn word(schedule: Schedule) -> Change {
    Change::Override(Overrides {
        schedule: Some(schedule),
        ..Overrides::default()
    })
}

/// Ten join a line that is to be drawn eleven seconds after the room began; `promised` in time. Then `meanwhile`, and the
/// draw is made. Returns the program's exit code and output.
fn sale(promised: bool, meanwhile: impl FnOnce(&mut Hall, u64)) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    let from = hall.time;
    hall.configure(1, drawn(from, from + 11_000));
    seconds(&mut hall, 3);
    if promised {
        hall.change(1, promise(from, from + 11_000));
    }
    joins(&mut hall, 10);
    meanwhile(&mut hall, from);
    seconds(&mut hall, 10);
    if !promised {
        hall.change(1, promise(from, from + 11_000));
    }
    let draw = Change::Draw {
        edition: Edition(1),
        secret: SECRET,
        value: Some("1f".repeat(32)),
    };
    hall.change(1, draw);
    assert!(hall.state.view().rooms[&room()].sale.made.is_some());
    hall.leave(1);
    program(&[folder.path()], &[])
}

#[test]
fn a_line_that_is_closed_before_the_opening_promised_or_without_a_promise_is_unfair_with_who_moved_it() {
    let (code, said) = sale(true, |_, _| {});
    assert_eq!(code, 0, "{said}");
    let (code, said) = sale(true, |hall, from| {
        hall.configure(1, drawn(from, from + 11_000));
        hall.configure(
            1,
            Settings {
                capacity: 5,
                ..drawn(from, from + 11_000)
            },
        );
    });
    assert_eq!(code, 0, "a file that says the same of the opening: {said}");
    let file = |hall: &mut Hall, from| hall.configure(1, drawn(from, from + 9_000));
    let by_hand = |hall: &mut Hall, from| hall.change(1, word(schedule(from, from + 6_000)));
    let over = |hall: &mut Hall, from| hall.change(1, word(schedule(from, from + 2_000)));
    let acts: [(&str, Act, &str); 3] = [
        (
            "another file",
            file,
            "moved by the configuration file at gate 0000000000000001",
        ),
        ("an operator", by_hand, "moved by anna at gate 0000000000000001"),
        ("an opening that is over", over, "moved by anna at gate"),
    ];
    for (what, act, by) in acts {
        let (code, said) = sale(true, act);
        let last = said.lines().last().unwrap();
        let says = "NOT FAIR: shop: the line of edition 1 was closed for its draw at ";
        assert!(code == 1 && last.starts_with(says), "{what}: {said}");
        assert!(last.contains("before the opening promised for "), "{what}: {last}");
        assert!(last.contains(by), "{what}: {last}");
    }
    // A file that would open the room at once is not taken: the promised opening stays.
    let none = Settings {
        schedule: None,
        ..drawn(0, 0)
    };
    let (code, said) = sale(true, |hall, _| hall.configure(1, none));
    assert_eq!(code, 0, "no schedule: {said}");
    let (code, said) = sale(true, |hall, from| hall.configure(1, drawn(from, from + 2_000)));
    assert_eq!(code, 0, "an opening that is over: {said}");
    let (code, said) = sale(false, |_, _| {});
    let last = said.lines().last().unwrap();
    assert!(code == 1 && last.contains("without a promise of its draw"), "{said}");
}

/// The report on a draw for which `joined` visitors came, and that was not made; over the opening the log may be `silent`.
fn undrawn(joined: u32, silent: bool, then: fn(&mut Hall)) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    let from = hall.time;
    hall.configure(1, drawn(from, from + 11_000));
    seconds(&mut hall, 3);
    hall.change(1, promise(from, from + 11_000));
    if joined > 0 {
        // A separate line, which the room forgets once all have given up.
        let gala = Section {
            joins: vec![(LANE, joined)],
            ..Section::new(room(), LineName::new("gala").unwrap())
        };
        hall.hear(1, 100, gala);
    }
    if silent {
        hall.say(1, 20_000, Batch::default());
    } else {
        seconds(&mut hall, 10);
    }
    then(&mut hall);
    hall.leave(1);
    program(&[folder.path()], &[])
}

fn is_unfair((code, said): &(i32, String), was: &str, by: &str) {
    let last = said.lines().last().unwrap();
    let begins = format!("NOT FAIR: shop: the line of edition 1 was {was}");
    assert!(*code == 1 && last.starts_with(&begins) && last.contains(by), "{said}");
}

#[test]
fn a_draw_that_was_closed_and_not_made_is_unfair_with_who_did_it() {
    let reset: fn(&mut Hall) = |hall| hall.change(1, Change::Reset);
    let nothing: fn(&mut Hall) = |_| {};
    let given_up: fn(&mut Hall) = |hall| seconds(hall, 30 * 60);
    for (then, says) in [
        (reset, "by anna: reset"),
        (nothing, "the history ends before it"),
        (given_up, "the history ends before it"),
    ] {
        is_unfair(&undrawn(10, false, then), "closed for its draw", says);
    }
    for then in [reset, nothing] {
        let (code, said) = undrawn(0, false, then);
        assert_eq!(code, 0, "nobody came: {said}");
    }
}

#[test]
fn a_draw_that_was_due_after_an_outage_and_was_reset_is_unfair() {
    let reset: fn(&mut Hall) = |hall| hall.change(1, Change::Reset);
    let nothing: fn(&mut Hall) = |_| {};
    for (then, says) in [(reset, "by anna: reset"), (nothing, "the history ends before it")] {
        is_unfair(&undrawn(10, true, then), "due for its draw", says);
        assert_eq!(undrawn(0, true, then).0, 0, "nobody came");
    }
    let later: fn(&mut Hall) = |hall| {
        let from = hall.time;
        hall.change(1, word(schedule(from - 21_000, from + 20_000)));
    };
    let (code, said) = undrawn(10, true, later);
    assert_eq!(code, 0, "another opening is to come: {said}");
}
