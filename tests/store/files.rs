//! The embedded log's folder: its permissions, its content, and how long that is kept.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ropeline::room::{Position, Wall};
use ropeline::store::{Beginning, Embedded, Kept, Log, Occasion, OpenError, ReadError, Snapshot};

use crate::contract::{Store, after, append, begin, exchange, fill, root};
use crate::embedded::Folder;

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn closed(folder: &Folder) -> usize {
    names(folder).iter().filter(|name| name.starts_with("log-")).count()
}

fn checkpoint(folder: &Folder, at: Position) -> Snapshot {
    let time = Wall(folder.clock.load(Ordering::Relaxed));
    Snapshot {
        position: at,
        nonce: append(at.sequence).nonce,
        time,
        state: vec![7; 100],
    }
}

#[test]
fn a_second_opener_is_refused_and_told_why() {
    let folder = Folder::new();
    let first = folder.embedded();
    let Err(refused) = Embedded::open(&folder.path(), folder.options()) else {
        panic!("two hold one log")
    };
    assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
    assert!(refused.to_string().contains("in use by another process"), "{refused}");
    drop(first);
    folder.embedded();
}

#[test]
fn nobody_else_may_read_the_folder() {
    let folder = Folder::new();
    let mut log = folder.embedded();
    let start = begin(&mut log);
    fill(&mut log, start, 1);
    log.save(checkpoint(&folder, after(start, 1)), Occasion::Last).unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.path()), 0o700);
    assert_eq!(names(&folder), ["lock", "log.redb", "snapshot", "stopped"]);
    for name in names(&folder) {
        assert_eq!(mode(folder.path().join(&name)), 0o600, "{name}");
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"x").unwrap();
    let Err(refused) = Embedded::open(&file, Folder::new().options()) else {
        panic!("a file is no folder")
    };
    assert!(refused.to_string().contains(file.to_str().unwrap()), "{refused}");
}

#[test]
fn a_big_part_is_closed_at_the_next_snapshot_and_goes_on() {
    let folder = Folder {
        part_bytes: 1_000,
        ..Folder::new()
    };
    let mut log = folder.embedded();
    let start = begin(&mut log);
    let end = fill(&mut log, start, 40);
    assert_eq!(closed(&folder), 0);
    log.save(checkpoint(&folder, end), Occasion::Checkpoint).unwrap();
    assert_eq!(closed(&folder), 1);
    let entries = exchange(&mut log, end, Some(&append(41)));
    assert_eq!(
        (entries[0].position, entries[0].previous),
        (after(end, 1), append(40).nonce)
    );
    assert_eq!(
        log.exchange(start, None),
        Ok(ropeline::store::Exchanged::Moved),
        "what went before is in the closed part"
    );
    drop(log);
    let mut log = folder.embedded();
    assert_eq!(log.load().unwrap().snapshots[0].position, end);
    drop(log);
    let kept = Kept::open(&folder.path()).unwrap();
    let spans: Vec<_> = kept
        .files()
        .iter()
        .map(|file| kept.part(file).unwrap())
        .map(|part| (part.base.position, part.tail()))
        .collect();
    assert_eq!(spans, [(start, end), (end, after(end, 1))]);
}

#[test]
fn parts_go_when_all_in_them_is_older_than_log_keep() {
    const HOUR: u64 = 3_600_000;
    let folder = Folder {
        part_bytes: 1,
        keep: Duration::from_secs(10 * 3_600),
        ..Folder::new()
    };
    let mut log = folder.embedded();
    let mut at = begin(&mut log);
    for hour in 1..30 {
        exchange(&mut log, at, Some(&append(at.sequence + 1)));
        at = after(at, 1);
        folder.clock.fetch_add(HOUR, Ordering::Relaxed);
        log.save(checkpoint(&folder, at), Occasion::Checkpoint).unwrap();
        // Each is an hour and a few milliseconds; the eleventh ended more than ten hours ago.
        assert_eq!(closed(&folder), hour.min(10), "hour {hour}");
    }
    let start = Position { sequence: 0, ..at };
    assert_eq!(log.exchange(start, None), Ok(ropeline::store::Exchanged::Moved));
}

#[test]
fn a_new_log_leaves_the_old_one_for_replay() {
    let folder = Folder::new();
    let mut log = folder.embedded();
    let start = begin(&mut log);
    let end = fill(&mut log, start, 3);
    log.begin(start.epoch, &Beginning::Root(root(start.epoch + 1))).unwrap();
    drop(log);
    let kept = Kept::open(&folder.path()).unwrap();
    assert_eq!(kept.files().len(), 2);
    let old = kept.part(&kept.files()[0]).unwrap();
    assert_eq!((old.base.position, old.tail()), (start, end));
    assert_eq!(old.read(0).unwrap().len(), 3);
}

#[test]
fn reading_the_kept_log_changes_nothing_and_needs_the_gate_stopped() {
    let folder = Folder::new();
    let mut log = folder.embedded();
    let start = begin(&mut log);
    fill(&mut log, start, 3);
    let Err(refused) = Kept::open(&folder.path()) else {
        panic!("read under a running gate")
    };
    assert!(
        matches!(refused, ReadError::InUse { .. }) && refused.to_string().contains("stop the gate"),
        "{refused}"
    );
    // A copy of a running gate's files is a crashed gate's.
    let copy = tempfile::tempdir().unwrap();
    for name in names(&folder).iter().filter(|name| *name != "lock") {
        fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    drop(log);
    let before = fs::read(copy.path().join("log.redb")).unwrap();
    let kept = Kept::open(copy.path()).unwrap();
    assert_eq!(kept.part("log.redb").unwrap().read(0).unwrap().len(), 3);
    assert_eq!(fs::read(copy.path().join("log.redb")).unwrap(), before);
}

#[test]
fn a_turn_cut_by_a_crash_is_finished() {
    let folder = Folder::new();
    let mut log = folder.embedded();
    let start = begin(&mut log);
    let end = fill(&mut log, start, 3);
    drop(log);
    let at = |name: &str| folder.path().join(name);
    // Between the two renames: the old part is filed, the next one waits under its first name.
    fs::copy(at("log.redb"), at("log.redb.next")).unwrap();
    fs::rename(at("log.redb"), at("log-0000000000000001-0000000000-1800000000000.redb")).unwrap();
    assert!(
        exchange(folder.open().as_mut(), end, None).is_empty(),
        "the next part took its place"
    );
    // Before the first rename: the next part is not needed; half written, it is not used either.
    for rest in [fs::read(at("log.redb")).unwrap(), b"half a file".to_vec()] {
        fs::write(at("log.redb.next"), rest).unwrap();
        assert!(exchange(folder.open().as_mut(), end, None).is_empty());
        assert!(!at("log.redb.next").exists());
    }
}

#[test]
fn a_first_start_that_crashed_leaves_nothing_in_the_way() {
    let folder = Folder::new();
    drop(folder.embedded());
    fs::write(folder.path().join("log.redb.next"), vec![0; 4_096]).unwrap();
    let mut log = folder.embedded();
    assert_eq!(log.load().unwrap().epoch, 0);
    let start = begin(&mut log);
    fill(&mut log, start, 1);
    assert_eq!(names(&folder).iter().filter(|name| name.contains("damaged")).count(), 0);
}
