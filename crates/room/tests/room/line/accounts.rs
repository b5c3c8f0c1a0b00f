//! One place per account: the same account is answered with its place as long as that is valid.

use std::collections::BTreeMap;

use proptest::prelude::*;
use ropeline_room::{
    Batch, Change, LineName, Mode, Number, Overrides, PendingId, Schedule, Section, Settings, Standing, State, Tag,
    Wall, Window,
};

use crate::recovery::fork::{Fork, go, held};
use ropeline_room::testing::log::{LANE, Log, only, room, settings};

/// The account of a number, by the first byte of the tag.
fn owner(log: &mut Log, number: Number) -> Option<u8> {
    let view = log.state.view();
    let tag = view.rooms[&room()].lines[&LineName::ONLY].account(LANE, number)?;
    Some(tag.0[0])
}

/// The live numbers of every account.
fn live(log: &mut Log) -> BTreeMap<Tag, Vec<Number>> {
    let view = log.state.view();
    let mut live: BTreeMap<Tag, Vec<Number>> = BTreeMap::new();
    let Some(line) = view.rooms[&room()].line(&LineName::ONLY) else {
        return live;
    };
    for (lane, number, tag) in line.accounts() {
        let standing = line.standing(lane, number, view.clock);
        if matches!(
            standing,
            Standing::Waiting(_) | Standing::Called(_) | Standing::Inside(_)
        ) {
            live.entry(tag).or_default().push(number);
        }
    }
    live
}

#[test]
fn an_account_has_one_place_while_it_waits_is_called_and_is_inside() {
    let mut log = Log::new(held(1));
    let ann = log.account(&[1]).unwrap();
    let bob = log.account(&[2]).unwrap();
    assert_eq!((log.account(&[1]), log.account(&[2])), (Some(ann), Some(bob)));
    assert_eq!((owner(&mut log, ann), owner(&mut log, bob)), (Some(1), Some(2)));
    assert_eq!(log.figures().joins, 2);
    log.pass(10_000);
    assert_eq!(log.account(&[1]), Some(ann), "absent, and able to come back");
    log.mark(ann);
    go(&mut log);
    assert!(log.is_called(ann));
    assert_eq!(log.account(&[1]), Some(ann));
    log.claim(ann, true);
    assert!(log.is_inside(ann));
    assert_eq!(log.account(&[1]), Some(ann));
    assert_eq!(
        (log.figures().joins, log.figures().inside),
        (2, 1),
        "one session, one slot"
    );
}

#[test]
fn after_its_end_an_account_joins_at_the_back() {
    let ends: [fn(&mut Log, Number); 4] = [
        |log, ann| _ = log.leave(ann),
        |log, ann| _ = log.end(ann, 0),
        |log, _| log.pass(24_500),
        |log, ann| {
            log.end(ann, 5_000);
            assert_eq!(log.account(&[1]), Some(ann), "until the session is over");
            log.pass(5_500);
        },
    ];
    for end in ends {
        let mut log = Log::new(settings(1));
        let ann = log.account(&[1]).unwrap();
        log.claim(ann, true);
        let last = log.account(&[2]).unwrap();
        end(&mut log, ann);
        let again = log.account(&[1]).unwrap();
        assert!(again > last, "{again:?}");
        assert_eq!(log.account(&[1]), Some(again));
    }
}

#[test]
fn who_left_the_line_or_missed_two_turns_joins_at_the_back() {
    let mut log = Log::new(held(1));
    let ann = log.account(&[1]).unwrap();
    log.leave(ann);
    let again = log.account(&[1]).unwrap();
    assert!(again > ann);
    go(&mut log);
    for _ in 0..2 {
        log.mark(again);
        log.apply(0, Batch::default());
        assert!(log.is_called(again));
        log.pass(12_500);
    }
    assert_eq!(log.standing(again), Standing::Late);
    assert!(log.account(&[1]) > Some(again));
}

#[test]
fn a_place_that_the_horizon_has_passed_is_nobodys() {
    let mut log = Log::new(settings(1));
    let first = log.account(&[9]).unwrap();
    log.claim(first, true);
    let ann = log.account(&[1]).unwrap();
    let bob = log.account(&[2]).unwrap();
    log.pass(5_000);
    log.mark(bob);
    log.leave(first);
    assert!(log.is_called(bob), "ann is away");
    log.claim(bob, true);
    for _ in 0..8 {
        log.pass(8_000);
        log.renew(bob);
    }
    assert_eq!(log.standing(ann), Standing::Late);
    assert_eq!(
        (owner(&mut log, ann), owner(&mut log, bob)),
        (None, Some(2)),
        "who is inside is remembered"
    );
    assert!(log.account(&[1]) > Some(bob));
}

/// Each proof of work carries the id of its one join.
#[test]
fn one_id_is_good_for_one_account() {
    let id = Some(PendingId([7; 12]));
    let mut log = Log::new(held(1));
    let ann = log.tagged(&[1], id).unwrap();
    assert_eq!(log.tagged(&[1], id), Some(ann));
    assert_eq!((log.tagged(&[2], id), log.figures().joins), (None, 1));
    let bob = log.account(&[2]).unwrap();
    assert_eq!(log.tagged(&[2], id), Some(bob), "who has a place needs none");
    assert_eq!(log.tagged(&[3, 1], id), Some(ann), "its account under a new key");
    log.leave(ann);
    assert_eq!(log.tagged(&[4], id), None, "the place was given up, by an account");
    let again = log.tagged(&[3], id).unwrap();
    assert!(again > bob, "its own account is at the back");
    assert_eq!((log.tagged(&[4], id), log.tagged(&[3], id)), (None, Some(again)));
    assert_eq!(log.figures().joins, 3);
}

#[test]
fn a_pending_number_is_the_accounts_that_comes_with_its_id() {
    let id = Some(PendingId([7; 12]));
    let mut log = Log::new(held(1));
    let early = log.pending(7).unwrap();
    assert_eq!(log.tagged(&[1], id), Some(early));
    assert_eq!((owner(&mut log, early), log.account(&[1])), (Some(1), Some(early)));
    assert_eq!(
        log.tagged(&[2], id),
        None,
        "an id that somebody else's account came with before"
    );
    let ann = log.account(&[3]).unwrap();
    let later = log.pending(8).unwrap();
    assert_eq!(
        log.tagged(&[3], Some(PendingId([8; 12]))),
        Some(ann),
        "the lower of its two"
    );
    assert_eq!(log.standing(later), Standing::Ended);
}

#[test]
fn visitors_without_an_account_join_in_between_by_their_order() {
    let mut log = Log::new(held(1));
    let tags = |tags: &[u8], id: Option<u8>| ropeline_room::Tagged {
        lane: LANE,
        tags: tags.iter().map(|tag| Tag([*tag; 8])).collect(),
        id: id.map(|id| PendingId([id; 12])),
    };
    let effects = log.say(Section {
        tagged: vec![
            tags(&[1], None),
            tags(&[], None),
            tags(&[], Some(9)),
            tags(&[1], None),
            tags(&[], Some(9)),
        ],
        ..only()
    });
    let given: Vec<u32> = effects
        .tagged_joined
        .iter()
        .map(|joined| joined.first.unwrap().n)
        .collect();
    assert_eq!(given, [0, 1, 2, 0, 2]);
}

#[test]
fn a_rotated_tag_goes_on_with_the_place_of_the_one_before() {
    let mut log = Log::new(held(1));
    let ann = log.account(&[1]).unwrap();
    assert_eq!(log.account(&[5, 1]), Some(ann));
    assert_eq!(owner(&mut log, ann), Some(5));
    assert_eq!((log.account(&[5]), log.figures().joins), (Some(ann), 1));
    assert!(log.bind(ann, &[6, 5]));
    assert_eq!(log.account(&[6]), Some(ann));
    assert!(!log.bind(ann, &[1]), "the old tag is nobody's any more");
    assert_ne!(log.account(&[5]), Some(ann));
}

#[test]
fn a_number_is_bound_to_the_first_account_that_shows_it() {
    let mut log = Log::new(held(1));
    let [one, two] = log.join(2)[..] else { panic!("two") };
    assert!(log.bind(one, &[1]));
    assert!(!log.bind(one, &[2]) && owner(&mut log, one) == Some(1));
    assert_eq!(log.account(&[1]), Some(one));
    assert!(log.bind(two, &[1]), "its second place is given up");
    assert_eq!((log.account(&[1]), log.standing(two)), (Some(one), Standing::Ended));
    log.leave(one);
    assert!(!log.bind(one, &[1]), "it is over");
}

#[test]
fn of_two_places_the_one_that_is_further_in_is_kept() {
    let mut log = Log::new(settings(1));
    let [low, inside] = log.join(2)[..] else { panic!("two") };
    log.pass(12_500);
    log.mark(inside);
    log.claim(inside, true);
    assert!(log.is_inside(inside));
    log.mark(low);
    assert!(log.bind(low, &[1]) && log.bind(inside, &[1]));
    assert_eq!((log.account(&[1]), log.standing(low)), (Some(inside), Standing::Ended));
}

#[test]
fn a_session_that_is_opened_again_is_still_its_accounts() {
    let mut log = Log::new(settings(1));
    let ann = log.account(&[1]).unwrap();
    log.claim(ann, true);
    log.pass(25_000);
    let again = log.account(&[1]).unwrap();
    assert!(again > ann, "the session idled out");
    assert!(log.reopen(ann));
    assert_eq!((log.account(&[1]), log.standing(again)), (Some(ann), Standing::Ended));
    assert_eq!(log.figures().inside, 1);
}

#[test]
fn a_closed_room_answers_who_has_a_place_and_nobody_else() {
    let mut log = Log::new(held(1));
    let ann = log.account(&[1]).unwrap();
    log.change(Change::Override(Overrides {
        mode: Some(Mode::Closed),
        ..Overrides::default()
    }));
    assert_eq!((log.account(&[1]), log.account(&[2])), (Some(ann), None));
}

#[test]
fn a_reset_and_the_next_sale_clear_all_places() {
    let mut log = Log::new(held(1));
    let ann = log.account(&[1]).unwrap();
    log.change(Change::Reset);
    assert!(log.account(&[1]) > Some(ann));
    let window = |begins: u64, closes: u64| Window {
        begins: Wall(1_000_000 + begins),
        opens: Wall(1_000_000 + begins),
        closes: Some(Wall(1_000_000 + closes)),
        results: None,
    };
    let schedule = Some(Schedule {
        rule: "twice".to_owned(),
        windows: vec![window(1_000, 30_000), window(31_000, 60_000)],
    });
    let mut log = Log::new(Settings {
        schedule,
        ..settings(2)
    });
    log.pass(2_000);
    let ann = log.account(&[1]).unwrap();
    log.claim(ann, true);
    for _ in 0..4 {
        log.pass(8_000);
        log.renew(ann);
    }
    assert!(log.is_inside(ann), "the session runs out by itself");
    let next = log.account(&[1]).unwrap();
    assert!(next > ann);
    assert_eq!(log.account(&[1]), Some(next));
}

#[test]
fn what_an_epoch_knew_of_accounts_comes_back_and_of_two_places_the_lower_counts() {
    let mut log = Log::new(held(1));
    let ann = log.account(&[1]).unwrap();
    let mut fork = Fork::of(log);
    let bob = fork.old.account(&[2]).unwrap();
    let left = fork.old.account(&[3]).unwrap();
    fork.old.leave(left);
    let lost = fork.new.account(&[2]).unwrap();
    let third = fork.new.account(&[3]).unwrap();
    fork.bring();
    assert_eq!(fork.new.account(&[1]), Some(ann));
    assert_eq!(
        (fork.new.account(&[2]), fork.new.standing(lost)),
        (Some(bob), Standing::Ended)
    );
    assert_eq!(fork.new.account(&[3]), Some(third), "what it left is over");
    assert!(live(&mut fork.new).values().all(|numbers| numbers.len() == 1));
}

#[test]
fn when_all_was_lost_tickets_restore_whose_they_are() {
    let mut log = Log::new(held(1));
    let ann = log.account(&[1]).unwrap();
    let mut fork = Fork::of_nothing(log, held(1));
    let again = fork.new.account(&[1]).unwrap();
    assert!(again > ann);
    fork.new.mark(ann);
    assert_eq!(owner(&mut fork.new, ann), None);
    assert!(fork.new.bind(ann, &[1]));
    assert_eq!(
        (fork.new.account(&[1]), fork.new.standing(again)),
        (Some(ann), Standing::Ended)
    );
}

/// Possible events of a line with a few accounts, chosen by random bytes.
fn step(log: &mut Log, given: &mut Vec<Number>, (what, who, pick): (u8, u8, u16)) {
    let tag = who % 6 + 1;
    let number = given.get(usize::from(pick) % given.len().max(1)).copied();
    let number = number.unwrap_or(Number {
        epoch: ropeline_room::Epoch(1_000),
        n: 0,
    });
    match what % 16 {
        0..=3 => given.extend(log.account(&[tag])),
        4 => given.extend(log.account(&[tag, tag + 6])),
        5 => given.extend(log.join(1)),
        6 => given.extend(log.tagged(&[tag], Some(PendingId([who % 4; 12])))),
        7 => given.extend(log.pending(who % 4)),
        8 => _ = log.bind(number, &[tag]),
        9 => _ = log.leave(number),
        10 => _ = log.claim(number, true),
        11 => _ = log.reopen(number),
        12 => _ = log.end(number, u64::from(who) * 20),
        13 => _ = log.mark(number),
        14 => log.pass(u64::from(pick) % 15_000),
        _ => _ = log.renew(number),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_account_ever_has_two_live_places(steps in prop::collection::vec(any::<(u8, u8, u16)>(), 1..250)) {
        let mut log = Log::new(settings(2));
        let mut given = Vec::new();
        let half = steps.len() / 2;
        for of in &steps[..half] {
            step(&mut log, &mut given, *of);
            for (tag, numbers) in live(&mut log) {
                prop_assert_eq!(numbers.len(), 1, "{:?} has {:?}", tag, numbers);
            }
        }
        // Another replica of the same bytes, which has worked its accounts out from them, answers alike.
        let mut other = log.fork();
        let mut theirs = given.clone();
        for of in &steps[half..] {
            step(&mut log, &mut given, *of);
            step(&mut other, &mut theirs, *of);
            for (tag, numbers) in live(&mut log) {
                prop_assert_eq!(numbers.len(), 1, "{:?} has {:?}", tag, numbers);
            }
        }
        prop_assert_eq!(&given, &theirs);
        prop_assert_eq!(log.state.hash(), other.state.hash());
        prop_assert!(State::decode(&log.state.encode()).is_ok());
    }
}

/// The size of a million accounts: `cargo test --test room a_million_accounts -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn a_million_accounts_in_memory_and_in_a_snapshot() {
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
    };
    let measured = [false, true].map(|tagged| {
        let mut log = Log::new(held(1));
        let before = resident();
        for batch in 0..1_000_u64 {
            let tags = |n: u64| (batch * 1_000 + n).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
            let item = |n| ropeline_room::Tagged {
                lane: LANE,
                tags: tagged.then(|| Tag(tags(n))).into_iter().collect(),
                id: None,
            };
            log.say(Section {
                tagged: (0..1_000).map(item).collect(),
                ..only()
            });
        }
        (resident() - before, log.state.encode().len())
    });
    let [(bare, small), (memory, snapshot)] = measured;
    println!("{memory} bytes of memory, {bare} without; {snapshot} of a snapshot, {small} without");
}
