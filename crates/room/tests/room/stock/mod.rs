//! Rules of a sale by stock: which completions count as sold, and which visitors are called for the rest.

mod lost;

use ropeline_room::{
    Change, Completion, Edition, LaneId, LineName, Number, Overrides, Schedule, Section, Settings, State, Wall, Window,
};

use ropeline_room::testing::log::{LANE, Log, only, room, settings};

pub fn selling(capacity: u32, stock: u32) -> Settings {
    Settings {
        stock: Some(stock),
        ..settings(capacity)
    }
}

pub fn done(number: Number, edition: u32, after_ms: u64) -> Completion {
    Completion {
        lane: LANE,
        number,
        edition: Edition(edition),
        after_ms,
        at: None,
        tag: None,
    }
}

pub fn complete(log: &mut Log, number: Number) -> bool {
    let section = Section {
        completions: vec![done(number, 0, 0)],
        ..only()
    };
    log.say(section).skipped == 0
}

/// Stock, completed, unfinished, left.
pub fn tally(log: &mut Log) -> (u32, u32, u32, u32) {
    let figures = log.figures();
    // A snapshot counts the same as the state on the way.
    let again = State::decode(&log.state.encode()).unwrap().view().rooms[&room()].lines[&LineName::ONLY].figures;
    assert_eq!(again, figures);
    (
        figures.stock.unwrap(),
        figures.completed,
        figures.unfinished,
        figures.left().unwrap(),
    )
}

pub fn winners(log: &mut Log) -> Vec<Number> {
    let view = log.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    line.winners().iter_from(0).map(|winner| winner.number).collect()
}

#[test]
fn nobody_is_called_beyond_the_stock_and_what_is_not_bought_goes_to_the_next() {
    let mut log = Log::new(selling(5, 3));
    let people = log.join(6);
    assert_eq!(tally(&mut log), (3, 0, 3, 0));
    assert!(log.is_called(people[2]) && log.ahead(people[3]) == Some(0));
    for person in &people[..2] {
        assert!(log.claim(*person, true));
    }
    assert!(complete(&mut log, people[0]));
    assert_eq!(tally(&mut log), (3, 1, 2, 0));
    // One leaves, and one never comes: two pieces come back.
    log.leave(people[1]);
    log.mark(people[3]);
    assert!(log.is_called(people[3]));
    for person in &people[3..] {
        assert!(log.claim(*person, true) || log.mark(*person));
    }
    log.pass(12_000);
    assert_eq!(tally(&mut log), (3, 1, 2, 0));
    assert!(log.is_called(people[4]) && !log.is_called(people[5]));
}

#[test]
fn a_completion_counts_once_however_often_and_late_it_is_said() {
    let mut log = Log::new(selling(5, 5));
    let people = log.join(4);
    log.claim(people[0], true);
    assert!(complete(&mut log, people[0]));
    assert!(!complete(&mut log, people[0]), "its session is over");
    // Called and never claimed, as far as the log knows: the shop has seen the pass.
    assert!(complete(&mut log, people[1]) && !complete(&mut log, people[1]));
    log.claim(people[2], true);
    log.leave(people[2]);
    assert!(
        complete(&mut log, people[2]),
        "the session ended before the shop answered"
    );
    log.pass(12_000);
    assert!(!log.is_called(people[3]), "missed");
    assert!(
        complete(&mut log, people[3]),
        "a gate that was cut off let in who missed the turn here"
    );
    assert!(!log.mark(people[3]) && !log.reopen(people[3]) && !log.reopen(people[0]));
    assert_eq!(tally(&mut log), (5, 4, 0, 1));
    assert_eq!(winners(&mut log), people);
    let stranger = Number {
        n: people[3].n + 1,
        ..people[3]
    };
    assert!(!complete(&mut log, stranger), "nobody was given that number");
}

#[test]
fn a_session_that_completed_ends_after_its_grace() {
    let mut log = Log::new(selling(1, 2));
    let people = log.join(2);
    log.claim(people[0], true);
    let graced = Section {
        completions: vec![done(people[0], 0, 3_000)],
        ..only()
    };
    log.say(graced);
    assert!(log.is_inside(people[0]));
    assert_eq!(tally(&mut log), (2, 1, 0, 1));
    assert!(!log.is_called(people[1]), "the slot is held for the grace");
    log.mark(people[1]);
    log.pass(3_000);
    assert!(!log.is_inside(people[0]) && log.is_called(people[1]));
}

#[test]
fn when_all_is_sold_nobody_joins_and_nobody_is_called() {
    let mut log = Log::new(selling(2, 1));
    let people = log.join(3);
    log.claim(people[0], true);
    complete(&mut log, people[0]);
    assert!(log.figures().is_sold_out());
    assert!(log.join(1).is_empty() && log.pending(1).is_none());
    log.mark(people[1]);
    log.pass(1_000);
    assert_eq!(log.ahead(people[1]), Some(0));
    // More has come in.
    log.change(Change::Override(Overrides {
        stock: Some(2),
        ..Overrides::default()
    }));
    assert!(log.is_called(people[1]) && log.join(1).len() == 1);
    assert_eq!(tally(&mut log), (2, 1, 1, 0));
}

#[test]
fn who_completes_beyond_the_stock_is_counted_and_listed() {
    let mut log = Log::new(selling(3, 3));
    let people = log.join(3);
    for person in &people {
        assert!(log.claim(*person, true));
    }
    log.change(Change::Override(Overrides {
        stock: Some(1),
        ..Overrides::default()
    }));
    assert!(complete(&mut log, people[1]) && complete(&mut log, people[0]));
    assert_eq!(tally(&mut log), (1, 2, 1, 0));
    assert_eq!(winners(&mut log), [people[1], people[0]]);
}

#[test]
fn a_visitor_is_told_whether_the_stock_can_reach_them() {
    let mut log = Log::new(selling(1, 3));
    let people = log.join(4);
    let reaches = |log: &mut Log| {
        let view = log.state.view();
        let line = &view.rooms[&room()].lines[&LineName::ONLY];
        [0, 1, 2].map(|ahead| line.is_reachable(LANE, ahead))
    };
    assert_eq!(reaches(&mut log), [true, true, false]);
    log.claim(people[0], true);
    assert_eq!(reaches(&mut log), [true, true, false]);
    // A visitor who leaves without buying gives the piece back: it goes to the next, and the last is in reach.
    log.leave(people[0]);
    assert_eq!(reaches(&mut log), [true, true, false]);
    assert_eq!(log.ahead(people[3]), Some(1));
}

pub fn at(ms: u64) -> Wall {
    Wall(1_000_000 + ms)
}

pub fn window(begins: u64, closes: u64, results: Option<u64>) -> Window {
    Window {
        begins: at(begins),
        opens: at(begins),
        closes: Some(at(closes)),
        results: results.map(at),
    }
}

#[test]
fn every_sale_begins_with_the_whole_stock_and_sessions_of_the_last_hold_none_of_it() {
    let schedule = Schedule {
        rule: "two".to_owned(),
        windows: vec![window(1_000, 5_000, Some(8_000)), window(9_000, 60_000, None)],
    };
    let mut log = Log::new(Settings {
        schedule: Some(schedule),
        ..selling(5, 2)
    });
    log.pass(1_000);
    let people = log.join(3);
    for person in &people[..2] {
        assert!(log.claim(*person, true));
    }
    let first = Section {
        completions: vec![done(people[0], 1, 0)],
        ..only()
    };
    log.say(first);
    assert_eq!(tally(&mut log), (2, 1, 1, 0));
    let results = |log: &mut Log| log.state.view().rooms[&room()].results;
    assert_eq!(results(&mut log), Some(at(8_000)));
    log.pass(8_000);
    assert_eq!((tally(&mut log), results(&mut log)), ((2, 0, 0, 2), None));
    let fresh = log.join(2);
    assert!(fresh.iter().all(|person| log.is_called(*person)));
    // Still inside since the sale before: a purchase now is not of this one's stock.
    let late = Section {
        completions: vec![done(people[1], 1, 0)],
        ..only()
    };
    assert_eq!(log.say(late).skipped, 0);
    assert_eq!(tally(&mut log), (2, 0, 2, 0));
    assert!(!log.is_inside(people[1]));
    log.change(Change::Reset);
    assert!(
        log.state.view().rooms[&room()].lines.is_empty(),
        "a reset begins anew too"
    );
}

/// An edition that comes back spares its visitors, until the next sale begins.
#[test]
fn an_edition_that_came_back_does_not_count_for_the_sale_after_it() {
    let schedule = Schedule {
        rule: "two".to_owned(),
        windows: vec![window(1_000, 5_000, None), window(9_000, 60_000, None)],
    };
    let mut log = Log::new(Settings {
        schedule: Some(schedule),
        ..selling(5, 2)
    });
    log.pass(1_000);
    log.change(Change::Edition(Edition(4)));
    let people = log.join(2);
    for person in &people {
        assert!(log.claim(*person, true));
    }
    let say = |log: &mut Log, number, edition| {
        log.say(Section {
            completions: vec![done(number, edition, 0)],
            ..only()
        })
    };
    say(&mut log, people[0], 1);
    assert_eq!(tally(&mut log).1, 1, "it is spared");
    log.pass(8_500);
    assert_eq!(tally(&mut log), (2, 0, 0, 2));
    assert_eq!(say(&mut log, people[1], 4).skipped, 0);
    assert_eq!(tally(&mut log), (2, 0, 0, 2));
    let view = log.state.view();
    assert!(
        view.rooms[&room()].is_reset(Edition(4), people[1]),
        "nor does a ticket of then"
    );
}

#[test]
fn what_is_completed_while_the_stock_is_taken_out_counts_where_something_was_sold() {
    let mut log = Log::new(selling(5, 2));
    let people = log.join(2);
    complete(&mut log, people[0]);
    log.change(Change::Configure(settings(5)));
    complete(&mut log, people[1]);
    log.change(Change::Configure(selling(5, 2)));
    assert_eq!(tally(&mut log), (2, 2, 0, 0));
    let mut log = Log::new(settings(5));
    let people = log.join(2);
    complete(&mut log, people[0]);
    assert!(winners(&mut log).is_empty(), "nothing was for sale");
}

#[test]
fn what_completes_in_a_line_that_was_forgotten_is_counted() {
    let mut log = Log::new(selling(1, 1));
    let name = LineName::new("42").unwrap();
    let section = || Section::new(room(), name.clone());
    let joins = || Section {
        joins: vec![(LANE, 1)],
        ..section()
    };
    let number = log.say(joins()).joined[0].first.unwrap();
    log.pass(200_000);
    assert!(log.state.view().rooms[&room()].line(&name).is_none());
    let stranger = Number {
        n: number.n + 1,
        ..number
    };
    let complete = |log: &mut Log, number| {
        log.say(Section {
            completions: vec![done(number, 0, 0)],
            ..section()
        })
    };
    assert_eq!(complete(&mut log, stranger).skipped, 1, "nobody was given that number");
    assert!(log.state.view().rooms[&room()].line(&name).is_none());
    assert_eq!(complete(&mut log, number).skipped, 0);
    assert_eq!(log.say(joins()).joined[0].first, None, "it is sold");
}

#[test]
fn a_stock_of_nothing_is_sold_out() {
    let mut log = Log::new(selling(5, 2));
    log.join(1);
    log.change(Change::Override(Overrides {
        stock: Some(0),
        ..Overrides::default()
    }));
    assert_eq!(tally(&mut log), (0, 0, 1, 0));
    assert!(log.figures().is_sold_out() && log.join(1).is_empty());
}

#[test]
fn a_line_that_has_sold_something_is_not_forgotten() {
    let mut log = Log::new(selling(1, 1));
    let name = LineName::new("42").unwrap();
    let section = || Section::new(room(), name.clone());
    let first = log.say(Section {
        joins: vec![(LANE, 1)],
        ..section()
    });
    let number = first.joined[0].first.unwrap();
    log.say(Section {
        completions: vec![done(number, 0, 0)],
        ..section()
    });
    log.pass(100_000);
    let again = log.say(Section {
        joins: vec![(LANE, 1)],
        ..section()
    });
    assert_eq!(again.joined[0].first, None);
}

#[test]
fn lines_that_are_kept_for_what_they_sold_take_no_room_from_others_up_to_a_bound() {
    let mut log = Log::new(Settings {
        max_lines: 2,
        ..selling(1, 1)
    });
    let sells = |log: &mut Log, at: u32| {
        let section = || Section::new(room(), LineName::new(&format!("event-{at}")).unwrap());
        let joined = log.say(Section {
            joins: vec![(LANE, 1)],
            ..section()
        });
        let number = joined.joined[0].first?;
        log.say(Section {
            completions: vec![done(number, 0, 0)],
            ..section()
        });
        Some(number)
    };
    let waits = |log: &mut Log, name: &str| {
        let section = Section {
            joins: vec![(LANE, 3)],
            ..Section::new(room(), LineName::new(name).unwrap())
        };
        log.say(section).joined[0].first
    };
    assert!(waits(&mut log, "first").is_some());
    for at in 0..31 {
        assert!(sells(&mut log, at).is_some(), "line {at}");
    }
    assert_eq!(
        waits(&mut log, "second"),
        None,
        "32 lines are all that a room for two keeps"
    );
    log.change(Change::Reset);
    assert!(waits(&mut log, "first").is_some() && waits(&mut log, "second").is_some());
    assert_eq!(waits(&mut log, "third"), None);
}

#[test]
fn nobody_is_told_of_a_part_that_they_did_not_take() {
    let mut log = Log::new(selling(3, 3));
    let people = log.join(5);
    for person in &people[..3] {
        assert!(log.claim(*person, true));
    }
    let told = |log: &mut Log, passed| {
        let view = log.state.view();
        let line = &view.rooms[&room()].lines[&LineName::ONLY];
        [0, 1, 2, 3].map(|i| line.outcome(LANE, people[i], passed))
    };
    complete(&mut log, people[0]);
    log.end(people[1], 0);
    log.pass(500);
    assert_eq!(told(&mut log, false), [Some(true), Some(false), None, None]);
    // Long after, only the pass shows that its visitor was inside; buyers are listed.
    log.pass(85_000);
    assert_eq!(told(&mut log, false), [Some(true), None, None, None]);
    assert_eq!(told(&mut log, true)[..3], [Some(true), Some(false), Some(false)]);
    let view = log.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    assert_eq!(
        line.outcome(LANE, Number { n: 900, ..people[0] }, true),
        None,
        "never issued"
    );
    assert_eq!(line.outcome(LaneId(3), people[1], true), None, "no such lane");
}

#[test]
fn who_missed_the_turn_is_not_told_that_they_did_not_buy() {
    let mut log = Log::new(selling(1, 1));
    let people = log.join(3);
    let told = |log: &mut Log, passed| {
        let view = log.state.view();
        let line = &view.rooms[&room()].lines[&LineName::ONLY];
        line.outcome(LANE, people[0], passed)
    };
    log.pass(12_000);
    for _ in 0..2 {
        assert!(!log.is_called(people[0]) && told(&mut log, false).is_none(), "missed");
        assert_eq!(told(&mut log, true), Some(false), "the room missed that they came");
        log.mark(people[0]);
        log.pass(12_000);
    }
}
