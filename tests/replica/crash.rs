//! A real kill -9: a child process joins visitors and prints their numbers; every printed number must hold afterwards.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ropeline::replica::{Arrival, Replica};
use ropeline::room::{Epoch, LaneId, LineName, Number, Settings};
use ropeline::store::{Embedded, OpenError, Options};

use crate::gate::{Site, hold, main, number};

/// Starts this test binary again with only `test` in it, and tells it the folder.
pub fn child(test: &str, folder: &Path) -> Child {
    let mut child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{}", folder.display()).unwrap();
    child
}

/// The folder in a child's environment.
pub fn told() -> std::path::PathBuf {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end().into()
}

#[test]
fn killed_at_any_moment_every_number_told_keeps_its_place_and_none_is_told_twice() {
    let mut site = Site::new(1);
    hold(&mut site);
    let mut all: BTreeSet<Number> = BTreeSet::new();
    for life in 0..10 {
        let mut child = child("crash::joins_until_killed", &site.path());
        let lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        // Each life is cut at another moment; the rest of the pipe is read too, since those numbers were printed.
        let mut told = 0;
        for line in lines {
            let Some((epoch, n)) = line.strip_prefix("joined ").and_then(|number| number.split_once(' ')) else {
                continue;
            };
            let number = Number {
                epoch: Epoch(epoch.parse().unwrap()),
                n: n.parse().unwrap(),
            };
            assert!(all.insert(number), "life {life}: {number:?} was told twice");
            told += 1;
            if told == 5 + life * 7 {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(told >= 5 + life * 7, "life {life} ended early");
    }
    let gate = site.start();
    // At the end of each life one may have been numbered and not printed.
    gate.check_in_of_lives(&all.iter().copied().collect::<Vec<_>>(), 1);
    assert!(all.last() < Some(&gate.numbered()));
    gate.stop();
    let report = ropeline::replica::replay(&site.path(), &mut |_| {}).unwrap();
    assert!(report.proved() && report.gaps.is_empty(), "{report:?}");
    assert!(report.joins > all.len() as u64 && report.epochs == 11, "{report:?}");
}

#[test]
fn a_second_process_is_refused_while_the_first_lives_and_not_after_its_death() {
    let mut site = Site::new(1);
    hold(&mut site);
    let mut child = child("crash::joins_until_killed", &site.path());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("joined")));
    let refused = Embedded::open(&site.path(), Options::default());
    assert!(matches!(refused, Err(OpenError::InUse { .. })));
    child.kill().unwrap();
    child.wait().unwrap();
    site.start().stop();
}

#[test]
#[ignore = "the child of the tests above"]
fn joins_until_killed() {
    let log = Embedded::open(&told(), Options::default()).unwrap();
    let settings = Settings {
        mode: ropeline::room::Mode::Hold,
        ..Settings::default()
    };
    let (replica, _thread) = Replica::start(
        Box::new(log),
        vec![(main(), settings)],
        ropeline::replica::Options::default(),
    )
    .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut out = std::io::stdout();
    loop {
        let joined = runtime.block_on(replica.join(&main(), &LineName::ONLY, LaneId(0), Arrival::first()));
        let Number { epoch, n } = number(joined);
        writeln!(out, "joined {} {n}", epoch.0).unwrap();
    }
}
