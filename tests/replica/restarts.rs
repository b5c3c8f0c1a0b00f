//! One gate after another on the same folder: stopped, crashed, configured otherwise, with files damaged between.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ropeline::replica::Note;
use ropeline::room::{Change, Mode, Overrides, RoomName, Settings, Standing};

use crate::gate::{Gate, Site, hold, main, number};

#[test]
fn after_a_stop_the_same_log_goes_on() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let first = gate.numbered();
    let epoch = gate.epoch();
    gate.stop();
    let gate = site.start();
    assert_eq!(gate.epoch(), epoch);
    assert!(matches!(gate.standing(first), Standing::Waiting(_)));
    let second = gate.numbered();
    assert_eq!((second.epoch, second.n), (first.epoch, first.n + 1));
    gate.stop();
}

#[test]
fn after_a_crash_a_new_log_begins_and_nobody_loses_their_place() {
    let mut site = Site::new(1);
    hold(&mut site);
    let mut all = Vec::new();
    let mut epochs = BTreeSet::new();
    for _ in 0..5 {
        let gate = site.start();
        epochs.insert(gate.epoch());
        gate.check_in(&all);
        all.extend(gate.join_many(20).into_iter().map(number));
        gate.crash();
    }
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
    assert_eq!(epochs.len(), 5);
}

#[test]
fn an_older_copy_put_back_begins_a_new_log_so_that_no_number_is_issued_again() {
    // The folder is put back whole, or its files are written over.
    for whole in [true, false] {
        let mut site = Site::new(1);
        hold(&mut site);
        let gate = site.start();
        let early = gate.numbered();
        gate.stop();
        let files = fs::read_dir(site.path()).unwrap().map(|file| file.unwrap().path());
        let copies: Vec<_> = files.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        let gate = site.start();
        let late: Vec<_> = gate.join_many(5).into_iter().map(number).collect();
        gate.stop();
        if whole {
            fs::remove_dir_all(site.path()).unwrap();
            fs::create_dir(site.path()).unwrap();
        }
        for (path, bytes) in copies {
            fs::write(path, bytes).unwrap();
        }
        let gate = site.start();
        assert!(matches!(gate.standing(early), Standing::Waiting(_)));
        let next = gate.numbered();
        assert!(
            late.iter().all(|number| number.epoch < next.epoch),
            "whole {whole}: {next:?}"
        );
        gate.stop();
    }
}

#[test]
fn sessions_outlive_a_crash_and_hold_their_slots() {
    let site = Site::new(2);
    let gate = site.start();
    let inside = [gate.numbered(), gate.numbered()];
    for number in inside {
        gate.record(number, Note::Claim { carried: true });
    }
    gate.crash();
    let gate = site.start();
    let next = gate.numbered();
    assert!(
        inside
            .iter()
            .all(|number| matches!(gate.standing(*number), Standing::Inside(_)))
    );
    assert!(
        matches!(gate.standing(next), Standing::Waiting(_)),
        "both slots are taken"
    );
    gate.record(inside[0], Note::Leave);
    gate.until("the slot", |_| matches!(gate.standing(next), Standing::Called(_)));
    gate.stop();
}

#[test]
fn a_first_start_calls_at_once_and_one_that_may_follow_a_loss_waits_for_those_inside() {
    let mut site = Site::new(1);
    let gate = site.start();
    let first = gate.numbered();
    assert!(matches!(gate.standing(first), Standing::Called(_)));
    gate.stop();
    let gate = site.start();
    let room = |gate: &Gate| Arc::clone(&gate.replica.view().rooms[&main()]);
    assert!(
        room(&gate).healing_until(gate.replica.now()).is_none(),
        "the log is there"
    );
    gate.stop();
    for file in ["log.redb", "snapshot"] {
        fs::remove_file(site.path().join(file)).unwrap();
    }
    site.options.first_start = false;
    let gate = site.start();
    let next = gate.numbered();
    assert!(
        matches!(gate.standing(next), Standing::Waiting(_)),
        "somebody may be inside"
    );
    assert!(
        gate.replica.view().is_opening(&room(&gate)),
        "no token has shown a loss"
    );
    gate.stop();
}

#[test]
fn configured_settings_follow_the_configuration_and_overrides_stay() {
    let mut site = Site::new(5);
    let gate = site.start();
    let message = Overrides {
        message: Some("soon".into()),
        mode: Some(Mode::Hold),
        ..Overrides::default()
    };
    gate.wait(gate.replica.change(main(), Change::Override(message.clone()), None))
        .unwrap();
    gate.crash();
    site.rooms[0].1.capacity = 9;
    let extra = RoomName::new("extra").unwrap();
    site.rooms.push((extra.clone(), Settings::default()));
    let gate = site.start();
    let view = gate.replica.view();
    let room = &view.rooms[&main()];
    assert_eq!(
        (room.settings.capacity, room.settings.mode, &room.overrides),
        (9, Mode::Hold, &message)
    );
    assert!(view.rooms.contains_key(&extra));
    let revision = room.revision;
    gate.stop();
    site.rooms.truncate(1);
    let gate = site.start();
    let view = gate.replica.view();
    assert!(!view.rooms.contains_key(&extra), "no longer configured");
    assert_eq!(
        view.rooms[&main()].revision,
        revision,
        "what did not change is not said again"
    );
    gate.stop();
}

#[test]
fn a_clock_set_back_or_far_ahead_costs_a_few_seconds_at_most() {
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let first = gate.numbered();
    for ahead in [86_400_000, 0] {
        site.ahead.store(ahead, Ordering::Relaxed);
        gate.numbered();
        assert!(matches!(gate.standing(first), Standing::Waiting(waiting) if waiting.ahead == 0));
    }
    assert!(gate.replica.view().clock.0 < 60_000);
    gate.stop();
}

#[test]
fn a_damaged_log_costs_at_most_what_came_after_the_snapshot() {
    for clean in [true, false] {
        let mut site = Site::new(1);
        hold(&mut site);
        let gate = site.start();
        let early: Vec<_> = gate.join_many(30).into_iter().map(number).collect();
        gate.stop();
        let gate = site.start();
        let late: Vec<_> = gate.join_many(30).into_iter().map(number).collect();
        if clean {
            gate.stop();
        } else {
            gate.crash();
        }
        let file = site.path().join("log.redb");
        let whole = fs::read(&file).unwrap();
        let snapshot = fs::read(site.path().join("snapshot")).unwrap();
        for at in [
            0,
            10,
            200,
            4_096,
            5_000,
            whole.len() / 3,
            whole.len() / 2,
            whole.len() - 5_000,
        ] {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xFF;
            damaged.truncate(if at % 3 == 0 { at.max(1) } else { whole.len() });
            fs::write(&file, damaged).unwrap();
            fs::write(site.path().join("snapshot"), &snapshot).unwrap();
            let gate = site.start();
            assert!(
                early
                    .iter()
                    .all(|number| matches!(gate.standing(*number), Standing::Waiting(_))),
                "byte {at}"
            );
            for number in &late {
                let standing = gate.standing(*number);
                assert!(
                    matches!(standing, Standing::Waiting(_) | Standing::Unknown),
                    "byte {at}: {standing:?}"
                );
            }
            let new = gate.numbered();
            assert!(
                early.iter().chain(&late).all(|number| *number < new),
                "byte {at}: a number was issued again"
            );
            gate.crash();
        }
    }
}
