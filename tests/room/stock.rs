//! Rules of a sale by stock: what counts as sold, and who is called for what is left.

use anteroom::room::{
    Batch, Change, Completion, Edition, Era, LaneId, LineName, Number, Overrides, Root, Schedule, Section, Settings,
    State, Wall, Window,
};

use super::fork::Fork;
use super::support::{INCARNATION, LANE, Log, only, room, settings};

fn selling(capacity: u32, stock: u32) -> Settings {
    Settings {
        stock: Some(stock),
        ..settings(capacity)
    }
}

fn done(number: Number, edition: u32, after_ms: u64) -> Completion {
    Completion {
        lane: LANE,
        number,
        edition: Edition(edition),
        after_ms,
        at: None,
    }
}

fn complete(log: &mut Log, number: Number) -> bool {
    let section = Section {
        completions: vec![done(number, 0, 0)],
        ..only()
    };
    log.say(section).skipped == 0
}

/// Stock, completed, unfinished, left.
fn tally(log: &mut Log) -> (u32, u32, u32, u32) {
    let figures = log.figures();
    // What a snapshot counts anew is what was counted on the way.
    let again = State::decode(&log.state.encode()).unwrap().view().rooms[&room()].lines[&LineName::ONLY].figures;
    assert_eq!(again, figures);
    (
        figures.stock.unwrap(),
        figures.completed,
        figures.unfinished,
        figures.left().unwrap(),
    )
}

fn winners(log: &mut Log) -> Vec<Number> {
    let view = log.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    line.winners().iter_from(0).map(|winner| winner.number).collect()
}

/// Whether it is of the edition that came back, or of one before, nobody knows: too little is sold rather than too much.
#[test]
fn a_number_that_comes_back_after_an_edition_has_holds_a_piece() {
    let mut log = Log::new(selling(3, 1));
    log.state.begin(INCARNATION + 4, Root::Own);
    log.rejoin();
    let people = log.join(1);
    log.change(Change::Edition(Edition(1)));
    log.leave(people[0]);
    assert_eq!(tally(&mut log), (1, 0, 0, 1));
    assert!(log.reopen(Number {
        era: Era(INCARNATION),
        n: 24
    }));
    assert_eq!(tally(&mut log), (1, 0, 1, 0));
    let next = log.join(1)[0];
    assert!(!log.is_called(next));
    log.pass(30_000);
    log.mark(next);
    assert!(log.is_called(next), "the session is over");
}

#[test]
fn who_was_waiting_in_a_lost_log_and_newcomers_are_called_for_one_stock() {
    let two = || selling(10, 2);
    let mut log = Log::new(two());
    log.change(Change::Reset);
    log.join(4);
    let fork = Fork::of_nothing(log, two());
    let scheduled = || Settings {
        schedule: Some(Schedule {
            rule: "one".to_owned(),
            windows: vec![window(1_000, 60_000, None)],
        }),
        ..two()
    };
    let mut log = Log::new(scheduled());
    log.pass(1_000);
    log.join(4);
    let mut begun = Fork::of_nothing(log, scheduled());
    begun.new.time = at(0).0;
    begun.new.pass(1_500);
    for mut fork in [fork, begun] {
        fork.new.join(1);
        fork.bring();
        fork.new.pass(10_000);
        assert_eq!((fork.new.figures().calls, tally(&mut fork.new).3), (2, 0));
    }
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
    // Whoever leaves without buying gives the piece back: it goes to the next, and the last is in reach.
    log.leave(people[0]);
    assert_eq!(reaches(&mut log), [true, true, false]);
    assert_eq!(log.ahead(people[3]), Some(1));
}

fn at(ms: u64) -> Wall {
    Wall(1_000_000 + ms)
}

fn window(begins: u64, closes: u64, results: Option<u64>) -> Window {
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
    // Still inside since the sale before: what is bought now is not of this one's stock.
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

/// An edition that comes back spares whoever is of it, until the next sale begins.
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

/// The rooms of the new log may not have been set yet as they were when it was sold.
#[test]
fn what_was_sold_comes_back_whatever_the_settings_are_by_then() {
    let lanes = |weights: &[u16], stock| Settings {
        lane_weights: weights.to_vec(),
        stock,
        ..settings(10)
    };
    let mut log = Log::new(lanes(&[1, 1], Some(4)));
    let people = log.join(2);
    let other = log.say(Section {
        joins: vec![(LaneId(1), 1)],
        ..only()
    });
    let other = other.joined[0].first.unwrap();
    complete(&mut log, people[0]);
    let section = Section {
        completions: vec![Completion {
            lane: LaneId(1),
            ..done(other, 0, 0)
        }],
        ..only()
    };
    assert_eq!(log.say(section).skipped, 0);
    let mut fork = Fork::of_nothing(log, lanes(&[1], None));
    fork.bring();
    fork.new.change(Change::Configure(lanes(&[1, 1], Some(4))));
    assert_eq!(tally(&mut fork.new).1, 2);
    assert!(fork.old.state.adoption(&fork.new.state).is_empty());
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
fn what_a_gate_has_read_of_a_lost_log_is_counted_once_whoever_brings_it() {
    let mut log = Log::new(selling(4, 6));
    let people = log.join(10);
    for person in &people[..4] {
        assert!(log.claim(*person, true));
    }
    complete(&mut log, people[0]);
    let mut fork = Fork::of(log);
    fork.old.pass(1_000);
    for person in &people[1..4] {
        assert!(complete(&mut fork.old, *person));
    }
    for person in &people[4..] {
        fork.old.mark(*person);
    }
    assert!(fork.old.claim(people[4], true) && complete(&mut fork.old, people[4]));
    let sold = winners(&mut fork.old);
    // The gate that noted one of them says it again in the log that goes on.
    assert!(complete(&mut fork.new, people[1]));
    fork.bring();
    assert_eq!(tally(&mut fork.new).1, 5);
    let mut known = winners(&mut fork.new);
    known.sort_unstable();
    assert_eq!(known, sold);
    let times = |log: &mut Log, number| {
        let view = log.state.view();
        let line = &view.rooms[&room()].lines[&LineName::ONLY];
        line.winners()
            .iter_from(0)
            .find(|winner| winner.number == number)
            .unwrap()
            .at
    };
    assert_eq!(times(&mut fork.new, people[4]), times(&mut fork.old, people[4]));
    assert!(fork.old.state.adoption(&fork.new.state).is_empty());
    fork.new.pass(10_000);
    assert_eq!(
        tally(&mut fork.new),
        (6, 5, 1, 0),
        "one piece is left, and one is called for it"
    );
}

#[test]
fn a_store_that_lost_everything_still_sells_no_piece_twice() {
    let mut log = Log::new(selling(2, 2));
    let people = log.join(3);
    for person in &people[..2] {
        assert!(log.claim(*person, true) && complete(&mut log, *person));
    }
    let mut fork = Fork::of_nothing(log, selling(2, 2));
    fork.bring();
    assert_eq!(tally(&mut fork.new), (2, 2, 0, 0));
    assert!(fork.new.join(1).is_empty());
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
    // Long after, only the pass remembers who was in; who has bought is listed.
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
fn a_room_with_a_stock_is_closed_while_the_version_in_force_has_none() {
    let state = State::empty(INCARNATION, true).with_version(2);
    let mut log = Log::of(state, selling(1, 1));
    assert!(log.join(1).is_empty());
    let ends = Batch {
        sections: vec![Section {
            completions: vec![done(
                Number {
                    era: Era(INCARNATION),
                    n: 0,
                },
                0,
                700,
            )],
            ..only()
        }],
        ..Batch::default()
    };
    let section = ends.under(2).sections.remove(0);
    assert!(section.completions.is_empty() && section.ends[0].after_ms == 700);
}
