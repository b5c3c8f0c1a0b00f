//! A sale by stock over histories that the log has lost: no piece is sold twice, and no visitor is called for a held piece.

use ropeline_room::{
    Change, Completion, Edition, Epoch, LaneId, LineName, Number, Root, Schedule, Section, Settings, State,
};

use crate::recovery::fork::Fork;
use crate::stock::{at, complete, done, selling, tally, window, winners};
use ropeline_room::testing::log::{EPOCH, Log, only, room, settings};

/// It is unknown whether it is of the edition that came back, or of one before: too little is sold rather than too much.
#[test]
fn a_number_that_comes_back_after_an_edition_has_holds_a_piece() {
    let mut log = Log::new(selling(3, 1));
    log.state.begin(EPOCH + 4, Root::Own);
    log.rejoin();
    let people = log.join(1);
    log.change(Change::Edition(Edition(1)));
    log.leave(people[0]);
    assert_eq!(tally(&mut log), (1, 0, 0, 1));
    assert!(log.reopen(Number {
        epoch: Epoch(EPOCH),
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
    let reset = Fork::of_nothing(log, two());
    let scheduled = || Settings {
        schedule: Some(Schedule {
            rule: "two".to_owned(),
            windows: vec![window(1_000, 5_000, None), window(9_000, 90_000, None)],
        }),
        ..two()
    };
    // The second sale has begun in both, in the line of the new log before it knows of the lost one.
    let sale = |mut log: Log| {
        log.pass(1_000);
        log.join(1);
        log.pass(8_500);
        log
    };
    let mut lost = sale(Log::new(scheduled()));
    lost.join(4);
    let mut begun = Fork::of_nothing(lost, scheduled());
    begun.new.time = at(0).0;
    begun.new = sale(begun.new);
    for mut fork in [reset, begun] {
        fork.new.join(1);
        fork.bring();
        fork.new.pass(9_000);
        let (stock, sold, held, left) = tally(&mut fork.new);
        assert!(fork.new.figures().called <= stock && held <= stock, "{held}");
        assert_eq!((sold, left), (0, 0));
    }
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

/// The accounts of the winners' places, by the first byte of the tag.
fn accounts(log: &mut Log) -> Vec<Option<u8>> {
    let view = log.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    line.winners()
        .iter_from(0)
        .map(|winner| winner.tag.map(|tag| tag.0[0]))
        .collect()
}

#[test]
fn a_winner_is_known_by_the_account_also_when_all_else_of_it_is_forgotten_or_brought_back() {
    let mut log = Log::new(selling(4, 6));
    let [ann, bob] = [1, 2].map(|account| log.account(&[account]).unwrap());
    let nobody = log.join(1)[0];
    for number in [bob, nobody, ann] {
        assert!(log.claim(number, true) && complete(&mut log, number));
    }
    assert_eq!(accounts(&mut log), [Some(2), None, Some(1)]);
    let mut fork = Fork::of_nothing(log, selling(4, 6));
    fork.bring();
    let mut known = accounts(&mut fork.new);
    known.sort_unstable();
    assert_eq!(known, [None, Some(1), Some(2)]);
    fork.new.state = State::decode(&fork.new.state.encode()).unwrap();
    fork.new.pass(1_000_000);
    assert_eq!(accounts(&mut fork.new).len(), 3);
    assert!(accounts(&mut fork.new).contains(&Some(2)));
}

#[test]
fn an_account_that_bought_late_keeps_the_place_that_it_took_meanwhile() {
    let mut log = Log::new(selling(1, 3));
    let ann = log.account(&[1]).unwrap();
    assert!(log.claim(ann, true));
    log.pass(30_000);
    assert!(!log.is_inside(ann), "it has idled out");
    let again = log.account(&[1]).unwrap();
    assert_ne!(again, ann);
    assert!(complete(&mut log, ann), "the shop took its time");
    assert_eq!(log.account(&[1]), Some(again));
    assert_eq!((accounts(&mut log), tally(&mut log).1), (vec![Some(1)], 1));
    // A second purchase is one: an account may come again, at the back.
    assert!(log.claim(again, true) && complete(&mut log, again));
    assert_eq!(accounts(&mut log), [Some(1), Some(1)]);
    assert!(!complete(&mut log, ann) && !complete(&mut log, again));
}
