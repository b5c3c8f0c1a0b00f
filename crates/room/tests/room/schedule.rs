//! Sales by a schedule: when visitors join and are called, and the effects of one sale on the next.

use ropeline_room::{Batch, Change, Mode, Overrides, Phase, Schedule, Settings, Standing, Wall, Window};

use ropeline_room::testing::log::{Log, room, settings};

const START: u64 = 1_000_000;

fn window(begins: u64, opens: u64, closes: Option<u64>) -> Window {
    Window {
        begins: Wall(START + begins),
        opens: Wall(START + opens),
        closes: closes.map(|closes| Wall(START + closes)),
        results: None,
    }
}

fn by(windows: &[Window], capacity: u32) -> Settings {
    let schedule = Schedule {
        rule: "the rule".to_owned(),
        windows: windows.to_vec(),
    };
    Settings {
        schedule: Some(schedule),
        ..settings(capacity)
    }
}

fn phase(log: &mut Log) -> Option<Phase> {
    log.state.view().rooms[&room()].stage.map(|stage| stage.phase)
}

fn edition(log: &mut Log) -> u32 {
    log.state.view().rooms[&room()].edition.0
}

/// Goes on to an instant of the schedule.
fn until(log: &mut Log, ms: u64) {
    let left = START + ms - log.time;
    log.pass(left);
}

#[test]
fn nobody_joins_before_the_prequeue_nobody_is_called_in_it_and_the_opening_calls_in_order() {
    let mut log = Log::new(by(&[window(10_000, 20_000, Some(40_000))], 2));
    assert_eq!(phase(&mut log), Some(Phase::Early));
    assert!(log.join(1).is_empty() && log.pending(1).is_none());
    until(&mut log, 10_000);
    assert_eq!(phase(&mut log), Some(Phase::Prequeue));
    let people = log.join(4);
    until(&mut log, 19_500);
    for person in &people {
        log.mark(*person);
    }
    assert_eq!(people.iter().filter(|person| log.is_called(**person)).count(), 0);
    until(&mut log, 20_000);
    assert_eq!(phase(&mut log), Some(Phase::Open));
    let called: Vec<bool> = people.iter().map(|person| log.is_called(*person)).collect();
    assert_eq!(called, [true, true, false, false]);
    let late = log.join(1)[0];
    assert_eq!(log.ahead(late), Some(2), "latecomers stand behind");
    log.claim(people[0], true);
    until(&mut log, 40_000);
    assert_eq!(phase(&mut log), Some(Phase::Closed));
    assert!(log.join(1).is_empty());
    assert!(log.is_inside(people[0]), "who is inside goes on");
    log.leave(people[0]);
    log.pass(5_000);
    assert!(!log.is_called(people[2]), "nobody is called any more");
}

#[test]
fn a_new_sale_begins_an_edition_and_the_last_ones_sessions_run_out() {
    let mut log = Log::new(by(&[window(0, 0, None), window(30_000, 40_000, None)], 2));
    let people = log.join(4);
    log.claim(people[0], true);
    log.claim(people[1], true);
    until(&mut log, 15_000);
    for person in &people {
        log.mark(*person);
        log.renew(*person);
    }
    until(&mut log, 29_500);
    log.renew(people[0]);
    assert_eq!((edition(&mut log), log.ahead(people[3])), (0, Some(1)));
    until(&mut log, 30_000);
    let view = log.state.view();
    let of = &view.rooms[&room()];
    assert_eq!((of.edition.0, of.voided.0), (1, 0), "another sale, and no reset");
    assert!(log.is_inside(people[0]) && log.is_inside(people[1]));
    assert_eq!(log.standing(people[2]), Standing::Late, "who waited waits no more");
    assert!(!log.mark(people[2]));
    let newcomers = log.join(2);
    assert_eq!(log.ahead(newcomers[0]), Some(0));
    log.leave(people[1]);
    until(&mut log, 39_500);
    assert!(!log.is_called(newcomers[0]), "a slot is free, and it is the prequeue");
    for person in &newcomers {
        log.mark(*person);
    }
    until(&mut log, 40_000);
    assert!(log.is_called(newcomers[0]));
    assert!(
        !log.is_called(newcomers[1]),
        "a session of the last sale still holds its slot"
    );
    until(&mut log, 60_000);
    assert!(!log.is_inside(people[0]));
    // A reset is another thing: of the editions before it nothing is left.
    log.change(Change::Reset);
    let view = log.state.view();
    assert_eq!((view.rooms[&room()].edition.0, view.rooms[&room()].voided.0), (2, 2));
}

#[test]
fn a_sale_whose_end_is_moved_after_it_has_passed_goes_on_and_is_no_new_one() {
    for begins in [0, 5_000] {
        let mut log = Log::new(by(&[window(begins, 5_000, Some(10_000))], 1));
        until(&mut log, 5_000);
        let people = log.join(2);
        log.claim(people[0], true);
        until(&mut log, 12_000);
        assert_eq!(phase(&mut log), Some(Phase::Closed));
        assert!(log.mark(people[1]));
        let moved = |closes, rule: &str| Schedule {
            rule: rule.to_owned(),
            windows: vec![window(begins, 5_000, closes)],
        };
        let before = edition(&mut log);
        let set = |log: &mut Log, schedule| {
            let schedule = Some(schedule);
            log.change(Change::Override(Overrides {
                schedule,
                ..Overrides::default()
            }))
        };
        set(&mut log, moved(Some(30_000), "later"));
        assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Open), before));
        assert!(log.is_inside(people[0]) && log.ahead(people[1]) == Some(0));
        log.leave(people[0]);
        log.pass(500);
        assert!(log.is_called(people[1]));
        until(&mut log, 31_000);
        set(&mut log, moved(None, "no end"));
        assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Open), before));
        // Another beginning is another sale.
        set(&mut log, by(&[window(1, 5_000, Some(6_000))], 1).schedule.unwrap());
        set(
            &mut log,
            by(&[window(1, 5_000, Some(60_000))], 2)
                .schedule
                .map(named("another"))
                .unwrap(),
        );
        assert_eq!(edition(&mut log), before + 1);
    }
}

fn named(rule: &str) -> impl FnOnce(Schedule) -> Schedule + '_ {
    |schedule| Schedule {
        rule: rule.to_owned(),
        ..schedule
    }
}

#[test]
fn a_sale_whose_opening_is_moved_by_mistake_and_set_back_goes_on() {
    // Where the mistake leads, of a sale with a prequeue and of one without.
    let mistakes = [
        ("later", vec![window(40_000, 40_000, None)]),
        ("over", vec![window(1_000, 1_000, Some(2_000))]),
        ("with a prequeue", vec![window(30_000, 40_000, None)]),
    ];
    for (begins, (rule, windows)) in [0, 5_000]
        .into_iter()
        .flat_map(|b| mistakes.iter().map(move |m| (b, m)))
    {
        let right = [window(begins, 5_000, None)];
        let mut log = Log::new(by(&right, 1));
        until(&mut log, 5_000);
        let people = log.join(3);
        log.claim(people[0], true);
        log.mark(people[1]);
        let before = edition(&mut log);
        say(&mut log, rule, windows);
        assert_ne!(phase(&mut log), Some(Phase::Open), "{rule}");
        log.pass(2_000);
        let mut log = log.fork();
        say(&mut log, "set back", &right);
        assert_eq!(
            (phase(&mut log), edition(&mut log)),
            (Some(Phase::Open), before),
            "{rule}"
        );
        assert!(log.is_inside(people[0]), "{rule}");
        assert_eq!(log.ahead(people[2]), Some(1), "{rule}");
        log.leave(people[0]);
        log.pass(500);
        assert!(log.is_called(people[1]), "{rule}");
        // Where the other sale has begun it is another one, and so is the one after it.
        say(&mut log, rule, windows);
        until(&mut log, 41_000);
        let other = edition(&mut log);
        assert_eq!(other, before + u32::from(*rule != "over"), "{rule}");
    }
}

#[test]
fn whoever_was_called_when_the_next_sale_began_may_still_come() {
    let mut log = Log::new(by(&[window(0, 0, None), window(5_000, 5_000, None)], 1));
    let people = log.join(2);
    assert!(log.is_called(people[0]));
    until(&mut log, 5_000);
    assert!(log.is_called(people[0]) && !log.is_called(people[1]));
    assert!(log.claim(people[0], true) && log.is_inside(people[0]));
}

#[test]
fn a_clock_that_steps_back_opens_nothing_twice_and_one_that_leaps_misses_nothing() {
    let windows = [
        window(10_000, 20_000, Some(30_000)),
        window(40_000, 50_000, Some(60_000)),
    ];
    let mut log = Log::new(by(&windows, 5));
    until(&mut log, 21_000);
    let person = log.join(1)[0];
    assert!(log.is_called(person));
    log.time -= 15_000;
    log.apply(0, Batch::default());
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Open), 1));
    assert_eq!(log.join(1).len(), 1, "still open");
    log.time += 15_000;
    until(&mut log, 30_000);
    log.time -= 9_000;
    log.apply(0, Batch::default());
    assert_eq!(phase(&mut log), Some(Phase::Early), "still closed");
    log.time = START + 55_000;
    log.apply(0, Batch::default());
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Open), 2));
}

#[test]
fn an_operators_word_is_the_stricter_of_the_two() {
    let mut log = Log::new(by(&[window(10_000, 20_000, None)], 5));
    let says = |log: &mut Log, mode| {
        log.change(Change::Override(Overrides {
            mode: Some(mode),
            ..Overrides::default()
        }));
        log.state.view().rooms[&room()].settings.mode
    };
    assert_eq!(
        says(&mut log, Mode::Auto),
        Mode::Closed,
        "no word opens a sale before its time"
    );
    assert_eq!(says(&mut log, Mode::Off), Mode::Off);
    until(&mut log, 10_000);
    assert_eq!(says(&mut log, Mode::Auto), Mode::Hold);
    assert_eq!(says(&mut log, Mode::Closed), Mode::Closed);
    until(&mut log, 20_000);
    assert_eq!(
        says(&mut log, Mode::Hold),
        Mode::Hold,
        "the opening waits for the operator"
    );
    let view = log.state.view();
    let of = &view.rooms[&room()];
    assert_eq!((of.mode, of.stage.unwrap().phase), (Mode::Hold, Phase::Open));
    assert_eq!(says(&mut log, Mode::Auto), Mode::Auto);
}

#[test]
fn what_a_gate_adds_counts_once_and_whoever_came_first_is_right() {
    let mut log = Log::new(by(&[window(10_000, 10_000, Some(20_000))], 5));
    let add = |log: &mut Log, rule: &str, windows: &[Window]| {
        let (rule, windows) = (rule.to_owned(), windows.to_vec());
        log.change(Change::Windows { rule, windows }).skipped
    };
    let next = [window(30_000, 30_000, Some(40_000))];
    assert_eq!(add(&mut log, "another rule", &next), 1);
    assert_eq!(add(&mut log, "the rule", &next), 0);
    // A gate whose calendar differs: what follows counts, what overlaps does not.
    let differs = [
        window(10_000, 33_000, Some(43_000)),
        window(33_000, 33_000, Some(43_000)),
        window(50_000, 50_000, None),
    ];
    add(&mut log, "the rule", &differs);
    let windows: Vec<u64> = log
        .state
        .schedules()
        .flat_map(|(_, schedule)| schedule.windows.iter().map(|window| window.begins.0 - START))
        .collect();
    assert_eq!(windows, [10_000, 30_000, 50_000]);
    // The same rule said again changes no window; another one starts anew.
    log.change(Change::Configure(by(&[window(12_000, 12_000, None)], 9)));
    assert_eq!(log.state.schedules().next().unwrap().1.windows.len(), 3);
    until(&mut log, 31_000);
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Open), 2));
    let mut other = by(&[window(35_000, 36_000, None)], 9);
    other.schedule.as_mut().unwrap().rule = "a later one".to_owned();
    log.change(Change::Configure(other));
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Early), 2));
    log.change(Change::Configure(settings(9)));
    assert_eq!((phase(&mut log), log.join(1).len()), (None, 1));
}

#[test]
fn a_replica_from_a_snapshot_takes_the_same_steps() {
    let mut log = Log::new(by(
        &[window(10_000, 20_000, Some(30_000)), window(40_000, 50_000, None)],
        1,
    ));
    for _ in 0..12 {
        log.pass(5_000);
        log.join(2);
        let mut fork = log.fork();
        assert_eq!(fork.state.hash(), log.state.hash());
        assert_eq!(phase(&mut fork), phase(&mut log));
        let entry = log.entry(400, Batch::default());
        log.state.apply(&entry.clone().into());
        fork.state.apply(&entry.clone().into());
        assert_eq!(fork.state.hash(), log.state.hash());
    }
    assert_eq!(edition(&mut log), 2);
}

/// An operator's change of the dates.
fn say(log: &mut Log, rule: &str, windows: &[Window]) {
    let schedule = Schedule {
        rule: rule.to_owned(),
        windows: windows.to_vec(),
    };
    let overrides = Overrides {
        schedule: Some(schedule),
        ..Overrides::default()
    };
    assert_eq!(log.change(Change::Override(overrides)).skipped, 0);
}

#[test]
fn an_operator_moves_the_opening_and_the_line_that_has_formed_stays() {
    let mut log = Log::new(by(&[window(10_000, 20_000, None)], 1));
    until(&mut log, 12_000);
    let people = log.join(2);
    say(&mut log, "later", &[window(10_000, 30_000, None)]);
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Prequeue), 1));
    until(&mut log, 24_500);
    for person in &people {
        log.mark(*person);
    }
    until(&mut log, 25_000);
    assert_eq!(log.ahead(people[1]), Some(1), "nobody was called at the old date");
    say(&mut log, "sooner", &[window(10_000, 26_000, Some(60_000))]);
    for person in &people {
        log.mark(*person);
    }
    until(&mut log, 26_000);
    assert!(log.is_called(people[0]) && !log.is_called(people[1]));
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Open), 1));
    let fork = log.fork();
    assert_eq!(fork.state.hash(), log.state.hash());
    log.change(Change::Override(Overrides::default()));
    assert_eq!(phase(&mut log), Some(Phase::Open), "open by the configured dates too");
    until(&mut log, 61_000);
    assert_eq!(phase(&mut log), Some(Phase::Open), "which have no end");
}

#[test]
fn a_sale_that_is_brought_forward_begins_as_any_other() {
    let configured = [window(5_000, 5_000, Some(10_000)), window(90_000, 90_000, None)];
    let mut log = Log::new(by(&configured, 1));
    until(&mut log, 5_000);
    let people = log.join(2);
    until(&mut log, 11_000);
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Early), 1));
    say(&mut log, "now", &[window(6_000, 6_000, Some(50_000))]);
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Open), 2));
    assert_eq!(log.standing(people[1]), Standing::Late, "of the sale before");
    assert!(log.is_called(people[0]));
    // More windows are taken by the rule in force, and by no other.
    let add = |log: &mut Log, rule: &str, windows: &[Window]| {
        let (rule, windows) = (rule.to_owned(), windows.to_vec());
        log.change(Change::Windows { rule, windows }).skipped
    };
    assert_eq!(add(&mut log, "the rule", &[window(100_000, 100_000, None)]), 1);
    assert_eq!(add(&mut log, "now", &[window(60_000, 60_000, None)]), 0);
    until(&mut log, 55_000);
    assert_eq!(phase(&mut log), Some(Phase::Early));
    log.change(Change::Override(Overrides::default()));
    until(&mut log, 60_000);
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Early), 2));
    until(&mut log, 90_000);
    assert_eq!((phase(&mut log), edition(&mut log)), (Some(Phase::Open), 3));
}
