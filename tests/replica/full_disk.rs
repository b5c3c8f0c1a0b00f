//! A full disk, as a limit on the size of files in a child process: the gate is cut off, loses no visitor, and recovers by
//! itself.

use std::time::Duration;

use ropeline::replica::JoinOutcome;
use ropeline::room::{Change, Overrides, Standing};
use ropeline::store::Trouble;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::crash::{child, told};
use crate::gate::{Gate, Site, hold, main, number};

#[test]
fn a_full_disk_cuts_the_gate_off_and_room_on_it_brings_it_back() {
    let output = child("full_disk::fills_its_disk", std::path::Path::new("unused"))
        .wait_with_output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("cut off, and back"), "{said}");
}

/// Changes with long messages until the log takes no more.
fn fill(gate: &Gate) {
    for round in 0..20_000 {
        let message = format!("{round:0>1000}");
        let overrides = Overrides {
            message: Some(message),
            ..Overrides::default()
        };
        if gate
            .wait(gate.replica.change(main(), Change::Override(overrides), None))
            .is_err()
        {
            return;
        }
    }
    panic!("the disk was never full");
}

#[test]
#[ignore = "the child of the test above"]
fn fills_its_disk() {
    told();
    let mut site = Site::new(1);
    hold(&mut site);
    let gate = site.start();
    let before: Vec<_> = gate.join_many(5).into_iter().map(number).collect();
    let unlimited = getrlimit(Resource::Fsize);
    setrlimit(
        Resource::Fsize,
        Rlimit {
            current: Some(1_200_000),
            ..unlimited
        },
    )
    .unwrap();
    fill(&gate);
    // A small batch might still fit somewhere: from here on nothing does.
    setrlimit(
        Resource::Fsize,
        Rlimit {
            current: Some(4_096),
            ..unlimited
        },
    )
    .unwrap();
    let _ = gate.wait(
        gate.replica
            .change(main(), Change::Override(Overrides::default()), None),
    );
    gate.until("being cut off", |replica| replica.cut_off().is_some());
    assert_eq!(gate.join(), JoinOutcome::Later);
    assert_eq!(gate.join_with(1), JoinOutcome::Later);
    assert!(
        before
            .iter()
            .all(|number| matches!(gate.standing(*number), Standing::Waiting(_)))
    );
    assert!(!gate.replica.frozen());
    setrlimit(Resource::Fsize, unlimited).unwrap();
    gate.until("the log", |replica| replica.cut_off().is_none());
    let numbers = [number(gate.join_with(1)), gate.numbered()];
    assert!(before[4] < numbers[0] && numbers[0] < numbers[1], "{numbers:?}");
    assert!(gate.replica.stats().outage > Duration::ZERO);
    let failed = gate.replica.calls().failed().filter(|(_, count)| *count > 0);
    let kinds: Vec<_> = failed.map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Trouble::Disk]);
    gate.stop();
    let report = ropeline::replica::replay(&site.path(), &mut |_| {}).unwrap();
    assert!(
        report.proved() && report.gaps.is_empty() && report.joins == 8,
        "{report:?}"
    );
    println!("cut off, and back");
}
