//! Dates, lanes, stock and draw that were changed while visitors waited, or while a draw was on.

use ropeline::room::{
    Batch, Change, Edition, Epoch, LaneId, NamedLane, Number, Overrides, RoomChange, Section, Settings, Wall, Who,
};

use super::super::forged::program;
use super::super::hall::{EPOCH, Hall, room, section};
use super::{Act, SECRET, drawn, joins, promise, schedule, seconds, two_slots, word};

/// The settings of a room that began at this time.
type Sets = fn(u64) -> Settings;

/// Three seconds after the room began `count` join. Then `act`. Returns the program's exit code with `--strict` and its
/// output.
fn told(sets: Sets, count: u32, act: impl FnOnce(&mut Hall, u64)) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    let from = hall.time;
    hall.configure(1, sets(from));
    seconds(&mut hall, 3);
    if count > 0 {
        joins(&mut hall, count);
        seconds(&mut hall, 1);
    }
    act(&mut hall, from);
    seconds(&mut hall, 1);
    hall.leave(1);
    program(&[folder.path()], &["--strict"])
}

/// A line that forms from a second after `from`, and is called in order of arrival from eleven on.
fn prequeue(from: u64) -> Settings {
    Settings {
        draw: None,
        ..drawn(from, from + 11_000)
    }
}

fn random(from: u64) -> Settings {
    drawn(from, from + 11_000)
}

fn lanes(all: &[(&str, u16)]) -> Settings {
    Settings {
        lanes: all.iter().map(|(name, _)| NamedLane::new(name)).collect(),
        lane_weights: all.iter().map(|(_, weight)| *weight).collect(),
        ..two_slots()
    }
}

fn two_lanes(_: u64) -> Settings {
    lanes(&[("main", 1), ("app", 2)])
}

fn stock(stock: u32) -> Settings {
    Settings {
        stock: Some(stock),
        ..two_slots()
    }
}

fn dates(from: u64, opens: u64) -> Change {
    word(schedule(from, opens))
}

fn pieces(stock: u32) -> Change {
    Change::Override(Overrides {
        stock: Some(stock),
        ..Overrides::default()
    })
}

/// Each act, what the last line says of it, and what the report tells.
const ACTS: [(Sets, Act, &str, &str); 12] = [
    (
        prequeue,
        |hall, from| hall.change(1, dates(from, from + 60_000)),
        "dates moved by anna: 10",
        ": opens_at moved from 2027-01-15T08:00:11.000Z to 2027-01-15T08:01:00.000Z, while 10 waited, by anna (fire drill)",
    ),
    (
        prequeue,
        |hall, from| hall.change(1, dates(from + 20_000, from + 60_000)),
        "dates moved by anna: 10",
        "prequeue_from moved from 2027-01-15T08:00:01.000Z to 2027-01-15T08:00:21.000Z, opens_at moved from ",
    ),
    (
        prequeue,
        |hall, from| {
            let mut settings = prequeue(from);
            let schedule = settings.schedule.as_mut().unwrap();
            schedule.windows[0].closes = Some(Wall(from + 12_000));
            schedule.rule = format!("the rule of {from}, which closes");
            hall.configure(1, settings);
        },
        "dates moved by the configuration file: 10",
        ": the end moved from none to 2027-01-15T08:00:12.000Z, while 10 waited, by the configuration file",
    ),
    (
        prequeue,
        |hall, _| hall.configure(1, two_slots()),
        "dates moved by the configuration file: 10",
        "opens_at moved from 2027-01-15T08:00:11.000Z to none, while 10 waited",
    ),
    (
        random,
        |hall, from| {
            let draw = Change::Draw {
                edition: Edition(1),
                secret: SECRET,
                value: Some("1f".repeat(32)),
            };
            hall.change(1, promise(from, from + 11_000));
            seconds(hall, 10);
            hall.change(1, draw);
            seconds(hall, 1);
            hall.change(1, dates(from, from + 90_000));
            // How the next sale is to be drawn.
            hall.configure(1, prequeue(from));
        },
        "dates moved by anna: 8",
        ", while 8 waited, after the draw was made, by anna",
    ),
    (
        |_| lanes(&[("main", 1)]),
        |hall, _| hall.configure(1, lanes(&[("main", 1), ("vip", 1_000)])),
        "lanes changed by the configuration file: 8",
        ": lane \"vip\" added with weight 1000, while 8 waited, by the configuration file",
    ),
    (
        two_lanes,
        |hall, _| hall.configure(1, lanes(&[("main", 1), ("app", 900)])),
        "lanes changed by the configuration file: 8",
        ": weight of lane \"app\" changed from 2 to 900, while 8 waited",
    ),
    (
        two_lanes,
        |hall, _| hall.configure(1, lanes(&[("app", 2)])),
        "lanes changed by the configuration file: 8",
        ": lane \"main\" taken out, while 8 waited",
    ),
    (
        |_| stock(100),
        |hall, _| hall.change(1, pieces(0)),
        "stock lowered by anna: 8",
        ": stock lowered from 100 to 0, while 8 waited, by anna (fire drill)",
    ),
    (
        |_| two_slots(),
        |hall, _| hall.configure(1, stock(5)),
        "stock lowered by the configuration file: 8",
        ": stock lowered from none to 5, while 8 waited",
    ),
    (
        random,
        |hall, from| hall.configure(1, prequeue(from)),
        "draw changed by the configuration file: 10",
        ": queueing_method changed from random by beacon \"round 7\" to fifo, while 10 waited",
    ),
    (
        prequeue,
        |hall, from| hall.configure(1, random(from)),
        "draw changed by the configuration file: 10",
        ": queueing_method changed from fifo to random by beacon \"round 7\", while 10 waited",
    ),
];

#[test]
fn what_is_moved_while_somebody_waits_is_in_the_verdict_once() {
    for (at, (sets, act, last, what)) in ACTS.into_iter().enumerate() {
        let (code, said) = told(sets, 10, act);
        assert_eq!(code, 1, "{at}: where nothing may be done by hand: {said}");
        let by_hand = format!("whole and fair but for what was done by hand ({last}):");
        assert!(said.lines().last().unwrap().starts_with(&by_hand), "{at}: {said}");
        assert!(said.contains(what), "{at}: {what:?} is not in\n{said}");
    }
}

#[test]
fn what_is_moved_while_nobody_waits_is_nothing_done_by_hand() {
    for (at, (sets, act, ..)) in ACTS.into_iter().enumerate() {
        // With a draw it is.
        if at == 4 {
            continue;
        }
        let (code, said) = told(sets, 0, act);
        assert_eq!(code, 0, "{at}: {said}");
    }
}

#[test]
fn what_is_moved_after_a_draw_was_promised_is_in_the_verdict_without_anybody() {
    let acts: [(Act, &str, &str); 3] = [
        (
            |hall, from| hall.change(1, dates(from, from + 60_000)),
            "dates moved by anna: 1",
            "2027-01-15T08:01:00.000Z, after a draw was promised, by anna",
        ),
        (
            |hall, from| {
                let settings = lanes(&[("main", 1), ("vip", 1_000)]);
                let (lanes, lane_weights) = (settings.lanes, settings.lane_weights);
                let settings = Settings {
                    lanes,
                    lane_weights,
                    ..random(from)
                };
                hall.configure(1, settings);
            },
            "lanes changed by the configuration file: 1",
            "lane \"vip\" added with weight 1000, after a draw was promised",
        ),
        (
            |hall, from| {
                seconds(hall, 10);
                hall.configure(1, drawn(from, from + 60_000));
            },
            "dates moved by the configuration file: 1",
            ", after the line was closed for its draw, by the configuration file",
        ),
    ];
    for (act, by, what) in acts {
        let (code, said) = told(random, 0, |hall, from| {
            hall.change(1, promise(from, from + 11_000));
            act(hall, from);
        });
        assert_eq!(code, 1, "{said}");
        assert!(said.lines().last().unwrap().contains(by), "{by}: {said}");
        assert!(said.contains(what), "{what:?} is not in\n{said}");
    }
}

#[test]
fn what_moves_nothing_that_is_in_force_is_nothing_done_by_hand() {
    let acts: [(&str, Sets, Act); 8] = [
        ("the same file", random, |hall, from| hall.configure(1, random(from))),
        ("the opening", prequeue, |hall, _| seconds(hall, 20)),
        ("another capacity", two_lanes, |hall, from| {
            let settings = Settings {
                capacity: 50,
                ..two_lanes(from)
            };
            hall.configure(1, settings);
        }),
        ("lanes in another order", two_lanes, |hall, _| {
            hall.configure(1, lanes(&[("app", 2), ("main", 1)]));
        }),
        ("more pieces", |_| stock(100), |hall, _| hall.change(1, pieces(101))),
        ("a rule in other words, and results", prequeue, |hall, from| {
            let mut settings = prequeue(from);
            let schedule = settings.schedule.as_mut().unwrap();
            schedule.rule = "the same in other words".to_owned();
            schedule.windows[0].results = Some(Wall(from + 90_000));
            hall.configure(1, settings);
        }),
        ("other windows of the same rule", prequeue, |hall, from| {
            let mut settings = prequeue(from);
            let schedule = settings.schedule.as_mut().unwrap();
            schedule.windows = vec![super::schedule(from, from + 50_000).windows[0]];
            hall.configure(1, settings);
        }),
        ("the next windows of its schedule", prequeue, |hall, from| {
            let windows = super::schedule(from + 80_000, from + 90_000).windows;
            let rule = format!("the rule of {}", from + 11_000);
            hall.change(1, Change::Windows { rule, windows });
        }),
    ];
    for (what, sets, act) in acts {
        let (code, said) = told(sets, 10, act);
        let last = said.lines().last().unwrap();
        assert!(code == 0 && last.starts_with("whole and fair: "), "{what}: {said}");
    }
}

#[test]
fn a_lane_that_is_out_does_not_go_out_again() {
    let (code, said) = told(two_lanes, 0, |hall, _| {
        hall.configure(1, lanes(&[("app", 2)]));
        joins(hall, 10);
        seconds(hall, 1);
        hall.configure(1, lanes(&[("app", 2)]));
    });
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_file_that_an_operators_word_stands_over_moves_nothing_until_the_word_is_taken_back() {
    let over = |hall: &mut Hall, from: u64| {
        let other = Settings {
            draw: None,
            ..drawn(from, from + 70_000)
        };
        hall.configure(1, other);
        hall.configure(1, stock(50));
    };
    let overrides = |from: u64| Overrides {
        schedule: Some(schedule(from, from + 11_000)),
        stock: Some(9),
        ..Overrides::default()
    };
    // Before any visitor waits.
    let overridden = |hall: &mut Hall, from: u64| {
        hall.change(1, Change::Override(overrides(from)));
        joins(hall, 10);
        seconds(hall, 1);
        over(hall, from);
    };
    let sets: Sets = |_| stock(100);
    let (code, said) = told(sets, 0, overridden);
    assert!(
        !said.contains("dates moved") && !said.contains("stock lowered"),
        "{said}"
    );
    assert!(!said.contains(" moved from "), "{said}");
    assert_eq!(code, 0, "{said}");
    let (code, said) = told(sets, 0, |hall, from| {
        overridden(hall, from);
        hall.change(1, Change::Override(Overrides::default()));
    });
    let last = said.lines().last().unwrap();
    assert!(code == 1 && last.contains("(dates moved by anna: 10)"), "{said}");
}

/// One entry with changes of these revisions, each by an operator or by the file.
fn at_once<const N: usize>(hall: &mut Hall, changes: [(u64, Change, Option<&str>); N]) {
    let rooms = changes.map(|(revision, change, who)| RoomChange {
        room: room(),
        revision,
        change,
        who: who.map(|name| Who {
            name: name.to_owned(),
            reason: String::new(),
        }),
    });
    let batch = Batch {
        rooms: rooms.into(),
        ..Batch::default()
    };
    hall.say(1, 10, batch);
}

#[test]
fn of_two_words_in_one_entry_the_one_that_moved_something_is_named() {
    let (code, said) = told(prequeue, 10, |hall, from| {
        let file = Settings {
            capacity: 3,
            ..prequeue(from)
        };
        let changes = [
            (101, Change::Configure(file.clone()), None),
            (102, dates(from, from + 60_000), Some("anna")),
            (103, Change::Configure(file), None),
            (104, Change::Override(Overrides::default()), Some("bert")),
        ];
        at_once(hall, changes);
    });
    let last = said.lines().last().unwrap();
    assert_eq!(code, 1, "{said}");
    assert!(
        last.contains("(dates moved by anna: 10, dates moved by bert: 10)"),
        "{last}"
    );
}

#[test]
fn what_came_too_late_or_with_a_reset_moved_nothing() {
    let (code, said) = told(
        |_| stock(9),
        10,
        |hall, _| {
            at_once(hall, [(1, pieces(0), Some("anna"))]);
        },
    );
    assert_eq!(code, 0, "a revision that was there before: {said}");
    let (_, said) = told(
        |_| stock(9),
        10,
        |hall, _| {
            let changes = [
                (101, Change::Reset, Some("anna")),
                (102, pieces(0), Some("anna")),
                (103, Change::Configure(two_lanes(0)), None),
            ];
            at_once(hall, changes);
        },
    );
    let last = said.lines().last().unwrap();
    assert!(last.contains("by hand (reset by anna: 1)"), "{said}");
}

#[test]
fn a_clock_that_is_set_back_hides_no_dates() {
    let one_and_two = |from: u64| {
        let mut settings = prequeue(from);
        let schedule = settings.schedule.as_mut().unwrap();
        schedule.windows[0].opens = Wall(from + 1_000);
        schedule.windows[0].closes = Some(Wall(from + 2_000));
        let second = super::schedule(from + 1_000, from + 60_000).windows[0];
        schedule.windows.push(second);
        settings
    };
    let (code, said) = told(one_and_two, 10, |hall, from| {
        let mut first = one_and_two(from);
        let schedule = first.schedule.as_mut().unwrap();
        schedule.windows.truncate(1);
        schedule.rule = "only the first".to_owned();
        hall.time = from + 1_500;
        hall.configure(1, first);
    });
    let last = said.lines().last().unwrap();
    assert!(
        code == 1 && last.contains("(dates moved by the configuration file: 10)"),
        "{said}"
    );
}

#[test]
fn a_draw_that_is_over_with_its_sale_is_none_to_move_anything_under() {
    let ends = |from: u64| {
        let mut settings = random(from);
        let schedule = settings.schedule.as_mut().unwrap();
        schedule.windows[0].closes = Some(Wall(from + 20_000));
        settings
    };
    for (wait, expected) in [(3, 1), (15, 0)] {
        let (code, said) = told(ends, 2, |hall, from| {
            hall.change(1, promise(from, from + 11_000));
            seconds(hall, 10);
            let draw = Change::Draw {
                edition: Edition(1),
                secret: SECRET,
                value: Some("1f".repeat(32)),
            };
            hall.change(1, draw);
            seconds(hall, wait);
            hall.change(1, dates(from + 100_000, from + 200_000));
        });
        assert_eq!(code, expected, "after {wait}: {said}");
    }
}

/// A gate that starts says what its file holds; the room keeps the opening that its draw is promised for.
#[test]
fn an_opening_that_the_room_did_not_take_moves_nothing() {
    let (code, said) = told(random, 2, |hall, from| {
        hall.change(1, promise(from, from + 11_000));
        seconds(hall, 1);
        hall.configure(1, drawn(from, from + 4_000));
        seconds(hall, 1);
    });
    assert!(code == 0 && !said.contains("moved"), "{said}");
}

/// Its opening is over, and it is to be drawn again all the same.
#[test]
fn a_draw_that_was_lost_and_is_not_made_anew_is_an_intervention() {
    let over = |from: u64| drawn(from - 20_000, from - 1_000);
    let (code, said) = told(over, 0, |hall, from| {
        let number = Number {
            epoch: Epoch(EPOCH - 1),
            n: 3,
        };
        hall.hear(
            1,
            10,
            Section {
                marks: vec![(LaneId(0), number)],
                ..section()
            },
        );
        hall.configure(
            1,
            Settings {
                draw: None,
                ..over(from)
            },
        );
    });
    assert_eq!(code, 1);
    assert!(
        said.contains("draw changed by the configuration file") && said.contains("to fifo, while 1 waited"),
        "{said}"
    );
}
