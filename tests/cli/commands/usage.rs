//! What all commands have in common: the file by its name or by its option, one spelling of the format, help by groups.

use std::fs;

use crate::gate::Site;
use crate::program::{Ended, Program};

/// Commands that read the configuration, with what else they need.
const READERS: [&[&str]; 2] = [&["check"], &["simulate", "--visitors", "10"]];

fn read_well(ended: &Ended) -> bool {
    ended.code == Some(0)
}

#[test]
fn the_file_is_named_with_its_option_or_without_and_two_files_are_refused() {
    let site = Site::new("except = [\"/static/*\"]", "");
    fs::rename(site.path("config.toml"), site.path("shop.toml")).unwrap();
    fs::write(site.path("other.toml"), "[server]\nwrong = 1\n").unwrap();
    for reader in READERS {
        let run = |args: &[&str]| site.run(&[reader, args].concat());
        assert!(
            read_well(&run(&["shop.toml"])) && read_well(&run(&["--config", "shop.toml"])),
            "{reader:?}"
        );
        assert!(read_well(&run(&["shop.toml", "--config", "shop.toml"])), "{reader:?}");
        assert_eq!(run(&["other.toml"]).code, Some(78), "{reader:?}");
    }
    for reader in [READERS[0], READERS[1], &["run"], &["rehearse", "--room", "shop"]] {
        let ended = site.run(&[reader, &["shop.toml", "--config", "other.toml"]].concat());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let both = "FILE is shop.toml and --config is other.toml: give one of them";
        assert!(ended.err.contains(both), "{ended:?}");
    }
    let run = site.run(&["run", "other.toml"]);
    assert!(run.code == Some(78) && run.err.contains("server.wrong"), "{run:?}");
}

#[test]
fn the_environment_names_the_file_where_the_command_line_does_not() {
    let site = Site::new("except = [\"/static/*\"]", "");
    fs::write(site.path("other.toml"), "[server]\nwrong = 1\n").unwrap();
    let check = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ropeline"));
        command.arg("check").args(args).current_dir(site.path(""));
        command
            .env("ROPELINE_CONFIG", "other.toml")
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(check(&[]), Some(78));
    assert_eq!(check(&["config.toml"]), Some(0));
    assert_eq!(check(&["--config", "config.toml"]), Some(0));
}

#[test]
fn an_option_of_earlier_builds_is_refused_with_its_present_name() {
    let folder = tempfile::tempdir().unwrap();
    for (line, now) in [
        ("rooms --json", "--json is --format json now"),
        ("rooms set main --mode hold --json", "--json is --format json now"),
        ("log archive --json", "--json is --format json now"),
        ("check --schema", "--schema is ropeline schema now"),
    ] {
        let ended = Program::run(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
        assert!(ended.err.contains(now), "{line}: {ended:?}");
    }
    let other = Program::run(folder.path(), &["rooms", "--jsn"]);
    assert!(other.code == Some(2) && !other.err.contains(" now"), "{other:?}");
}

#[test]
fn the_help_lists_the_commands_by_what_they_are_for() {
    let folder = tempfile::tempdir().unwrap();
    let help = Program::run(folder.path(), &["--help"]).out;
    let at = |part: &str| help.find(part).unwrap_or_else(|| panic!("no {part:?} in\n{help}"));
    let order = [
        "Usage: ropeline <COMMAND>",
        "Run a gate:\n  run  ",
        "Watch and change a running gate:\n  rooms  ",
        "Prepare a sale:\n  init  ",
        "Prove that it was fair:\n  log  ",
        "Options:\n",
        "Environment, where the command line has not the option:\n  ROPELINE_ADMIN  ",
        "Examples:\n  ropeline demo  ",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{help}");
}
