//! Single-use codes: valid for one number, at any gate.

mod brought;
mod bypass;
mod lost;
mod worlds;

use ropeline_room::{
    Change, CodeId, Denied, LaneId, LineName, PendingId, Redeem, Schedule, Section, Settings, Standing, Tag, Wall,
};

use crate::recovery::fork::held;
use ropeline_room::testing::log::{LANE, Log, only, room, settings};

/// A code of lane 0 that is good for long, issued in the log's time.
pub fn code(id: u8, holder: u8) -> Redeem {
    Redeem {
        room: room(),
        line: LineName::ONLY,
        lane: LANE,
        tags: Vec::new(),
        code: CodeId([id; 6]),
        holder: PendingId([holder; 12]),
        issued: Wall(1_000_000),
        expires: Some(Wall(9_000_000)),
        single: true,
        bypass: false,
        leaves: None,
    }
}

/// A code that leads past the line.
pub fn bypass(id: u8, holder: u8) -> Redeem {
    Redeem {
        bypass: true,
        ..code(id, holder)
    }
}

#[test]
fn a_code_is_good_for_one_number_whoever_asks_and_however_often() {
    let mut log = Log::new(settings(0));
    let both = log.redeems(vec![code(1, 1), code(1, 2), code(1, 1)]);
    let first = both[0].joined.first.unwrap();
    assert_eq!(both[1].denied, Some(Denied::Spent), "two gates' visitors, in one batch");
    assert_eq!((both[2].joined.first, both[2].new), (Some(first), false));
    assert!(both[0].new && !both[0].past);
    log.pass(3_000);
    assert_eq!(log.redeem(code(1, 1)), Ok(first), "an answer that was lost");
    assert_eq!(log.redeem(code(1, 3)), Err(Denied::Spent));
    assert_ne!(log.redeem(code(2, 1)), Ok(first), "another code of the same visitor");
    assert_eq!((log.figures().joins, log.spent()), (2, 2));
}

#[test]
fn who_asks_again_is_there() {
    let mut log = Log::new(settings(0));
    let number = log.redeem(code(1, 1)).unwrap();
    log.pass(5_000);
    assert!(!log.is_present(number));
    assert_eq!(log.redeem(code(1, 1)), Ok(number));
    assert!(log.is_present(number));
}

#[test]
fn a_number_that_is_over_is_not_given_again_and_a_reset_gives_no_code_back() {
    let mut log = Log::new(settings(0));
    let number = log.redeem(code(1, 1)).unwrap();
    log.leave(number);
    assert_eq!(log.redeem(code(1, 1)), Err(Denied::Spent));
    log.redeem(code(2, 2)).unwrap();
    log.change(Change::Reset);
    for holder in [2, 3] {
        assert_eq!(log.redeem(code(2, holder)), Err(Denied::Spent));
    }
}

#[test]
fn a_code_that_is_not_taken_is_not_spent() {
    let mut log = Log::new(Settings {
        mode: ropeline_room::Mode::Closed,
        ..settings(1)
    });
    assert_eq!(log.redeem(code(1, 1)), Err(Denied::Refused));
    assert_eq!(
        log.redeem(Redeem {
            expires: None,
            ..code(1, 1)
        }),
        Err(Denied::NotNow),
        "it could never be forgotten"
    );
    let issued = Wall(log.time + 1);
    assert_eq!(
        log.redeem(Redeem { issued, ..code(1, 1) }),
        Err(Denied::NotNow),
        "of a clock that is ahead"
    );
    assert_eq!(log.spent(), 0);
    log.change(Change::Configure(settings(1)));
    let lane = LaneId(3);
    assert_eq!(
        log.redeem(Redeem { lane, ..code(1, 1) }),
        Err(Denied::Refused),
        "no such lane"
    );
    log.redeem(code(1, 2)).unwrap();
}

#[test]
fn after_its_date_a_code_is_forgotten_and_good_at_no_clock() {
    let mut log = Log::new(settings(9));
    let until = |ms| Redeem {
        expires: Some(Wall(log_time(ms))),
        ..code(1, 1)
    };
    log.redeem(until(2_000)).unwrap();
    log.pass(1_500);
    assert_eq!(log.spent(), 1);
    log.pass(500);
    assert_eq!(log.spent(), 0);
    assert_eq!(
        log.redeem(Redeem {
            holder: PendingId([2; 12]),
            ..until(2_000)
        }),
        Err(Denied::Expired)
    );
    // The store's clock is set back.
    log.time -= 1_500;
    for ms in [1_900, 2_000] {
        assert_eq!(
            log.redeem(Redeem {
                holder: PendingId([2; 12]),
                ..until(ms)
            }),
            Err(Denied::Expired)
        );
    }
    log.redeem(Redeem {
        code: CodeId([2; 6]),
        ..until(2_001)
    })
    .unwrap();
}

fn log_time(ms: u64) -> u64 {
    1_000_000 + ms
}

#[test]
fn a_place_in_another_lane_is_given_up_with_the_join_and_only_then() {
    let mut log = Log::new(Settings {
        lane_weights: vec![1, 1],
        ..held(1)
    });
    let waits = log.join(1)[0];
    let lane = LaneId(1);
    let better = |holder| Redeem {
        lane,
        leaves: Some((LANE, waits)),
        ..code(1, holder)
    };
    log.redeem(Redeem {
        leaves: None,
        lane,
        ..code(1, 7)
    })
    .unwrap();
    assert_eq!(log.redeem(better(1)), Err(Denied::Spent));
    assert!(log.is_present(waits), "nothing was had for it");
    let moved = log
        .redeem(Redeem {
            code: CodeId([2; 6]),
            ..better(1)
        })
        .unwrap();
    assert_eq!(log.standing(waits), Standing::Ended);
    assert_eq!(moved.n, 1);
    let stays = Redeem {
        lane,
        leaves: Some((lane, moved)),
        ..code(3, 1)
    };
    assert_eq!(log.redeem(stays), Ok(moved), "in that lane already");
    assert_eq!(log.spent(), 2);
}

/// The gate did not know yet that the code was used; the ticket that it has seen is proof enough.
#[test]
fn whoever_shows_the_number_that_the_code_was_good_for_is_its_holder() {
    let mut log = Log::new(held(1));
    let number = log.redeem(code(1, 1)).unwrap();
    let shows = |n| Redeem {
        leaves: Some((LANE, n)),
        ..code(1, 2)
    };
    assert_eq!(log.redeem(shows(number)), Ok(number));
    let other = log.join(1)[0];
    assert_eq!(log.redeem(shows(other)), Err(Denied::Spent));
    log.leave(number);
    assert_eq!(log.redeem(shows(number)), Err(Denied::Spent));
}

#[test]
fn an_account_that_has_a_place_keeps_it_and_the_code() {
    let mut log = Log::new(held(1));
    let has = log.account(&[5]).unwrap();
    let of = |id, tag| Redeem {
        tags: vec![Tag([tag; 8])],
        ..code(id, id)
    };
    assert_eq!(log.redeem(of(1, 5)), Ok(has));
    assert_eq!(log.spent(), 0);
    let new = log.redeem(of(1, 6)).unwrap();
    assert_eq!(log.account(&[6]), Some(new), "the number is the account's");
}

#[test]
fn a_new_edition_gives_no_code_back_and_the_schedule_opens_no_spent_one() {
    let window = |begins: u64, opens: u64| ropeline_room::Window {
        begins: Wall(1_000_000 + begins),
        opens: Wall(1_000_000 + opens),
        closes: None,
        results: None,
    };
    let mut log = Log::new(Settings {
        schedule: Some(Schedule {
            rule: "two".to_owned(),
            windows: vec![window(0, 1_000), window(5_000, 6_000)],
        }),
        ..settings(9)
    });
    log.pass(100);
    log.redeem(code(1, 1)).unwrap();
    log.pass(6_500);
    assert_eq!(log.redeem(code(1, 2)), Err(Denied::Spent));
}

#[test]
fn a_line_that_a_code_was_good_for_is_its_only_one() {
    let mut log = Log::new(settings(0));
    let line = |name: &str| LineName::new(name).unwrap();
    let at = |name, holder| Redeem {
        line: line(name),
        ..code(1, holder)
    };
    log.redeem(at("a", 1)).unwrap();
    assert_eq!(log.redeem(at("b", 1)), Err(Denied::Spent));
    log.say(Section::new(room(), line("a")));
    assert_eq!(log.say(only()).skipped, 0);
}
