//! The kept log run again gives the same rooms, and says so when it does not.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ropeline::replica::{Fault, Note, ReplayError, Report, replay};
use ropeline::room::{Entry, Position};
use ropeline::store::Snapshot;

use redb::ReadableTable;
use sha2::{Digest, Sha256};

use crate::gate::{Gate, Site, number, visitor};

/// Visitors who join, come in, renew, leave and vanish.
fn live(gate: &Gate, rounds: usize) {
    for round in 0..rounds {
        let numbers: Vec<_> = gate.join_many(7).into_iter().map(number).collect();
        gate.replica.note(
            visitor(numbers[0]),
            Note::Claim {
                carried: round % 2 == 0,
            },
        );
        gate.replica.note(visitor(numbers[1]), Note::Leave);
        gate.replica.note(visitor(numbers[2]), Note::Mark);
        gate.record(numbers[0], Note::End { after_ms: 10 });
    }
}

fn run(site: &Site) -> Report {
    replay(&site.path(), &mut |_| {}).unwrap()
}

#[test]
fn a_log_of_stops_and_crashes_replays_to_the_state_written_down() {
    let site = Site::new(3);
    for life in 0..6 {
        let gate = site.start();
        live(&gate, 10);
        if life % 2 == 0 { gate.crash() } else { gate.stop() }
    }
    let mut seen = Vec::new();
    let report = replay(&site.path(), &mut |progress| {
        seen.push((progress.part, progress.entries));
    })
    .unwrap();
    assert!(report.proved(), "{report:?}");
    assert!(report.gaps.is_empty(), "{report:?}");
    assert_eq!(
        (report.joins, report.epochs),
        (6 * 70, 4),
        "the first life, and one more after each of three crashes"
    );
    assert_eq!(report.parts, 4);
    // Three roots after crashes, and the last stop's snapshot.
    assert_eq!(report.snapshots_matched, 4);
    let snapshot = Snapshot::decode(&fs::read(site.path().join("snapshot")).unwrap()).unwrap();
    assert_eq!((report.position, report.hash), (snapshot.position, snapshot.hash()));
    assert!(
        report.first <= report.last
            && seen
                .last()
                .is_some_and(|(part, entries)| (*part, *entries) == (4, report.entries))
    );
    let Report { took: _, .. } = report;
    assert_eq!(
        Report {
            took: Duration::ZERO,
            ..run(&site)
        },
        Report {
            took: Duration::ZERO,
            ..report
        },
        "again, the same"
    );
}

#[test]
fn a_running_gates_log_is_not_replayed() {
    let site = Site::new(1);
    let gate = site.start();
    let refused = replay(&site.path(), &mut |_| {}).unwrap_err();
    assert!(matches!(refused, ReplayError::InUse { .. }), "{refused}");
    gate.stop();
    assert!(run(&site).proved());
}

#[test]
fn a_log_trimmed_by_log_keep_replays_from_what_is_left() {
    let mut site = Site::new(2);
    site.log.keep = Duration::from_secs(3_600);
    site.log.part_bytes = 500;
    site.options.snapshot_bytes = 500;
    let gate = site.start();
    let closed = || {
        fs::read_dir(site.path())
            .unwrap()
            .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("log-"))
            .count()
    };
    live(&gate, 20);
    let before = closed();
    assert!(before > 3, "{before} parts were closed");
    site.ahead.store(7_200_000, Ordering::Relaxed);
    live(&gate, 10);
    gate.stop();
    let report = run(&site);
    assert!(report.proved() && report.gaps.is_empty(), "{report:?}");
    assert!(report.joins < 30 * 7, "the first hour is gone");
    assert!(report.snapshots_matched > 1);
}

#[test]
fn a_state_that_is_not_the_one_written_down_is_found() {
    let site = Site::new(2);
    let gate = site.start();
    live(&gate, 5);
    gate.stop();
    let path = site.path().join("snapshot");
    let mut snapshot = Snapshot::decode(&fs::read(&path).unwrap()).unwrap();
    let last = snapshot.state.len() - 1;
    snapshot.state[last] ^= 1;
    fs::write(&path, snapshot.encode()).unwrap();
    let report = run(&site);
    assert!(!report.proved());
    assert!(
        matches!(report.faults[..], [Fault::State { .. }]),
        "{:?}",
        report.faults
    );
}

#[test]
fn an_entry_taken_out_or_put_in_is_found() {
    const ENTRIES: redb::TableDefinition<u64, &[u8]> = redb::TableDefinition::new("entries");
    let site = Site::new(2);
    let gate = site.start();
    live(&gate, 5);
    gate.stop();
    let path = site.path().join("log.redb");
    let whole = fs::read(&path).unwrap();
    let edit = |edit: fn(&mut redb::Table<u64, &[u8]>)| {
        fs::write(&path, &whole).unwrap();
        let db = redb::Database::open(&path).unwrap();
        let tx = db.begin_write().unwrap();
        edit(&mut tx.open_table(ENTRIES).unwrap());
        tx.commit().unwrap();
        drop(db);
        run(&site)
    };
    let cut = edit(|table| drop(table.remove(3).unwrap()));
    assert!(!cut.proved(), "{cut:?}");
    let doubled = edit(|table| {
        let record = table.remove(4).unwrap().unwrap().value().to_vec();
        table.insert(3, record.as_slice()).unwrap();
        table.insert(4, record.as_slice()).unwrap();
    });
    assert!(!doubled.proved(), "{doubled:?}");
    // An entry that was changed with care, checksum and all: the next one still names the nonce it had.
    let changed = edit(|table| {
        let record = table.get(3).unwrap().unwrap().value().to_vec();
        let mut entry = Entry::decode(&record[..record.len() - 8]).unwrap();
        entry.nonce = [7; 8];
        let mut record = entry.encode();
        let sum = Sha256::digest(&record);
        record.extend_from_slice(&sum[..8]);
        table.insert(3, record.as_slice()).unwrap();
    });
    assert!(
        matches!(
            changed.faults[..],
            [
                Fault::Chain {
                    position: Position { sequence: 4, .. },
                    ..
                },
                ..
            ]
        ),
        "{changed:?}"
    );
    assert!(edit(|_| ()).proved());
}

#[test]
fn a_part_that_is_gone_is_a_gap_and_not_a_fault() {
    let site = Site::new(2);
    for _ in 0..3 {
        let gate = site.start();
        live(&gate, 3);
        gate.crash();
    }
    let mut closed: Vec<_> = fs::read_dir(site.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    closed.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("log-"));
    closed.sort();
    assert_eq!(closed.len(), 2);
    fs::remove_file(&closed[1]).unwrap();
    let report = run(&site);
    assert!(report.proved(), "{report:?}");
    assert_eq!(report.gaps.len(), 1, "{report:?}");
}
