//! A long history: the time and memory of a report of it. Run by name: `cargo test --test report -- --ignored scale
//! --nocapture`.

use ropeline::room::{Claim, LaneId, Number, Section, Settings};

use super::fair::report;
use super::hall::{Hall, section};

const LANE: LaneId = LaneId(0);
const ENTRIES: u32 = 60_000;

/// Fifty join and ten are called with each entry; a part of those in line check in.
#[test]
#[ignore = "takes a minute or two, and prints what to note down"]
fn a_history_of_three_million_visitors() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    hall.configure(
        1,
        Settings {
            capacity: 1_000,
            session_ms: 10_000,
            claim_deadline_ms: 10_000,
            ..Settings::default()
        },
    );
    let mut issued: Vec<Number> = Vec::new();
    let mut next = 0;
    for turn in 0..ENTRIES {
        let last = usize::try_from(turn).unwrap() * 50;
        let marks = (0..100)
            .map(|i| (last * 31 + i * 7_919) % last.max(1))
            .filter(|at| *at >= next);
        let mut marks: Vec<(LaneId, Number)> = marks.filter_map(|at| Some((LANE, *issued.get(at)?))).collect();
        marks.sort_unstable();
        marks.dedup();
        let claims = issued.iter().skip(next).take(10).map(|number| Claim {
            lane: LANE,
            number: *number,
            carried: true,
        });
        let said = Section {
            joins: vec![(LANE, 50)],
            claims: claims.collect(),
            marks,
            ..section()
        };
        next += 10;
        let effects = hall.hear(1, 100, said);
        let first = effects.joined[0].first.unwrap();
        issued.extend((0..50).map(|n| Number {
            n: first.n + n,
            ..first
        }));
    }
    hall.leave(1);
    drop(issued);
    let before = memory_kb();
    let started = ropeline::time::uptime();
    let findings = report(&folder);
    let took = ropeline::time::uptime().saturating_sub(started);
    println!(
        "{} entries, {} joins, {} calls: {:.1} s, {} kB before and {} kB at most\n{:#?}",
        findings.covers.entries,
        findings.lines[0].tally.joins,
        findings.lines[0].tally.calls,
        took.as_secs_f64(),
        before,
        memory_kb(),
        findings.verdict
    );
    assert!(
        memory_kb() < 300_000,
        "a report's memory grows with what happens at once, not with the history"
    );
}

/// The most that the process has held so far.
fn memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
