//! The data folder: one gate at a time, and the cost of a damaged file.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::gate::{Site, line_with};
use crate::visitor::Visitor;

#[test]
fn a_folder_that_cannot_be_used_is_told_and_nothing_starts() {
    let site = Site::new("", "");
    fs::write(site.path("data"), "a file, not a folder").unwrap();
    let ended = site.run(&["run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("data"), "{ended:?}");
    assert!(line_with(&ended.err, "serving").is_none());
    assert_eq!(fs::read_to_string(site.path("data")).unwrap(), "a file, not a folder");
}

#[test]
fn a_damaged_token_key_is_told_and_left_alone() {
    let site = Site::new("", "");
    site.start().stop();
    fs::write(site.path("data/token.key"), "not a key").unwrap();
    let ended = site.run(&["run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.err.contains("token.key is damaged: it is not a token key"),
        "{ended:?}"
    );
    assert_eq!(fs::read_to_string(site.path("data/token.key")).unwrap(), "not a key");
}

#[test]
fn a_second_process_on_the_same_folder_is_refused_and_the_first_unharmed() {
    let site = Site::new("", "");
    let gate = site.start();
    let mut inside = gate.insider();
    let mut waiting = gate.waits(1);
    let ended = site.run(&["run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("data") && ended.err.contains("another"), "{ended:?}");
    assert!(inside.goes_to("/").is_the_shops());
    assert_eq!(waiting.position(), Some(1));
    let second = gate.waits(2);
    assert_eq!(gate.stop().code, Some(0));
    let gate = site.start();
    assert_eq!(at(&gate.visitor(), &second).position(), Some(2));
}

#[test]
fn a_damaged_log_is_set_aside_and_the_line_goes_on() {
    let site = Site::new("", "");
    let [mut inside, mut first, mut second] = line_of_three(&site);
    scribble(&site.path("data/log.redb"));
    let gate = site.start();
    told_of(&site, &gate.program.err(), "log file is damaged and was set aside");
    assert_eq!(aside(&site, "log.redb"), 1);
    for visitor in [&mut inside, &mut first, &mut second] {
        visitor.at = gate.address;
    }
    assert_eq!((second.position(), first.position()), (Some(2), Some(1)));
    assert!(inside.goes_to("/").is_the_shops());
    gate.waits(3);
    inside.leaves();
    crate::until("the next call", || first.goes_to("/").is_the_shops().then_some(()));
    assert_eq!(second.goes_to("/").word(), "waiting");
}

#[test]
fn with_log_and_snapshot_damaged_tickets_bring_the_line_back_in_order() {
    let site = Site::new("", "");
    let [mut inside, mut first, mut second] = line_of_three(&site);
    scribble(&site.path("data/log.redb"));
    scribble(&site.path("data/snapshot"));
    let gate = site.start();
    let log = gate.program.err();
    told_of(&site, &log, "log file is damaged and was set aside");
    told_of(&site, &log, "snapshot file is damaged and was set aside");
    assert_eq!((aside(&site, "log.redb"), aside(&site, "snapshot")), (1, 1));
    for visitor in [&mut inside, &mut first, &mut second] {
        visitor.at = gate.address;
    }
    // The first visitor to come back is not the first in line. A log that begins within the second of the one before may have
    // a lower epoch, and then goes on above the ticket's epoch first.
    for visitor in [&mut second, &mut first] {
        crate::until("the place", || (visitor.goes_to("/").word() == "waiting").then_some(()));
    }
    assert!(inside.goes_to("/").is_the_shops());
    let mut newcomer = gate.visitor();
    newcomer.goes_to("/");
    let positions = [&mut first, &mut second, &mut newcomer].map(Visitor::position);
    assert_eq!(positions, [Some(1), Some(2), Some(3)]);
}

#[test]
fn one_damaged_byte_of_what_a_stop_leaves_is_told_and_the_line_goes_on() {
    for byte in [0xFF, b'x', b'0'] {
        let site = Site::new("", "");
        let [mut inside, mut first, _] = line_of_three(&site);
        let path = site.path("data/stopped");
        let mut word = fs::read(&path).unwrap();
        word[1] = if word[1] == byte { b'1' } else { byte };
        fs::write(&path, word).unwrap();
        let gate = site.start();
        told_of(
            &site,
            &gate.program.err(),
            "tells of a clean stop is damaged and was set aside",
        );
        assert_eq!(aside(&site, "stopped"), 1);
        (inside.at, first.at) = (gate.address, gate.address);
        assert!(inside.goes_to("/").is_the_shops());
        assert_eq!(first.position(), Some(1));
        assert_eq!(gate.stop().code, Some(0));
    }
}

#[test]
fn a_damaged_word_on_an_entry_to_pass_over_is_told_and_the_line_goes_on() {
    let site = Site::new("", "");
    let [mut inside, mut first, _] = line_of_three(&site);
    fs::write(site.path("data/skips"), [b'7', b'-', 0xFF, b'\n']).unwrap();
    let gate = site.start();
    told_of(
        &site,
        &gate.program.err(),
        "entries to pass over is damaged and was set aside",
    );
    (inside.at, first.at) = (gate.address, gate.address);
    assert!(inside.goes_to("/").is_the_shops());
    assert_eq!(first.position(), Some(1));
}

#[test]
fn a_pipe_or_a_folder_under_the_name_of_a_file_is_set_aside_and_told() {
    for file in ["stopped", "skips", "snapshot", "log.redb.next", "log.redb"] {
        for folder in [false, true] {
            let site = Site::new("", "");
            let [mut inside, mut first, mut second] = line_of_three(&site);
            let path = site.path("data").join(file);
            if path.exists() {
                fs::remove_file(&path).unwrap();
            }
            if folder {
                fs::create_dir(&path).unwrap();
            } else {
                assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            }
            let gate = site.start();
            told_of(
                &site,
                &gate.program.err(),
                "under the name of a file is none, and was set aside",
            );
            assert_eq!(aside(&site, file), 1, "{file}");
            for visitor in [&mut inside, &mut first, &mut second] {
                visitor.at = gate.address;
            }
            assert!(inside.goes_to("/").is_the_shops(), "{file}");
            assert_eq!((first.position(), second.position()), (Some(1), Some(2)), "{file}");
        }
    }
}

#[test]
fn a_token_key_with_one_digit_changed_is_told_and_not_used() {
    let site = Site::new("", "");
    site.start().stop();
    let path = site.path("data/token.key");
    let mut key = fs::read(&path).unwrap();
    key[0] = if key[0] == b'0' { b'1' } else { b'0' };
    fs::write(&path, key).unwrap();
    let ended = site.run(&["run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("put the right file back, or delete it"), "{ended:?}");
}

/// One inside and two in line, and the gate stopped.
fn line_of_three(site: &Site) -> [Visitor; 3] {
    let gate = site.start();
    let three = [gate.insider(), gate.waits(1), gate.waits(2)];
    assert_eq!(gate.stop().code, Some(0));
    three
}

/// The visitor, at another gate.
fn at(gate: &Visitor, visitor: &Visitor) -> Visitor {
    Visitor {
        at: gate.at,
        ..visitor.clone()
    }
}

fn scribble(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let end = bytes.len().min(100_000);
    for byte in &mut bytes[..end] {
        *byte ^= 0x5A;
    }
    fs::write(file, bytes).unwrap();
}

fn told_of(site: &Site, log: &str, message: &str) {
    let line = line_with(log, message).unwrap_or_else(|| panic!("nothing about {message:?}:\n{log}"));
    assert!(
        line["kept_as"].as_str().is_some_and(|path| site.path(path).exists()),
        "{line}"
    );
}

fn aside(site: &Site, file: &str) -> usize {
    let names = fs::read_dir(site.path("data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_string_lossy().starts_with(&format!("{file}.damaged-")))
        .count()
}
