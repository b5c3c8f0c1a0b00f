//! Files that something else wrote into: set aside, never trusted, and costing as little as can be.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use redb::ReadableTable;
use ropeline::room::{Batch, Entry, Position, RoomChange};
use ropeline::room::{Change, RoomName};
use ropeline::store::{Beginning, Exchanged, Loaded, Log, Occasion, Snapshot};
use sha2::{Digest, Sha256};

use crate::contract::{after, append, begin, exchange, root};
use crate::embedded::Folder;

const ENTRIES: u64 = 60;

/// A log of some pages, closed properly or as by a crash, with a snapshot at 50.
fn written(folder: &Folder, clean: bool) -> (Position, Vec<Entry>) {
    let mut log = folder.embedded();
    let start = begin(&mut log);
    for serial in 1..=ENTRIES {
        let room = RoomName::new(&format!("room-{serial}")).unwrap();
        let rooms = vec![
            RoomChange {
                room,
                revision: serial,
                change: Change::Reset,
                who: None,
            };
            32
        ];
        let append = ropeline::store::Append {
            batch: Batch {
                rooms,
                ..Batch::default()
            },
            ..append(serial)
        };
        exchange(&mut log, after(start, serial - 1), Some(&append));
    }
    let entries = exchange(&mut log, start, None);
    let at = entries[49].position;
    let snapshot = Snapshot {
        position: at,
        nonce: entries[49].nonce,
        state: b"fifty".to_vec(),
        ..root(0)
    };
    log.save(snapshot, Occasion::Last).unwrap();
    if clean {
        return (start, entries);
    }
    // The files on disk while the log is open are those that a crash leaves.
    let crashed = fs::read(folder.path().join("log.redb")).unwrap();
    drop(log);
    fs::write(folder.path().join("log.redb"), crashed).unwrap();
    (start, entries)
}

fn aside(folder: &Folder, file: &str) -> bool {
    let prefix = format!("{file}.damaged-");
    fs::read_dir(folder.path())
        .unwrap()
        .any(|found| found.unwrap().file_name().to_str().unwrap().starts_with(&prefix))
}

fn flip(path: &Path, at: u64) {
    let mut file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[byte[0] ^ 0x5A]).unwrap();
}

/// Opens, loads and reads on from the best snapshot; the entries must be a prefix of the written ones.
fn start_over(folder: &Folder, written: &[Entry]) -> (Loaded, usize) {
    let mut log = folder.embedded();
    let loaded = log.load().unwrap();
    let Some(best) = loaded.snapshots.first() else {
        return (loaded, 0);
    };
    let mut at = best.position;
    while let Exchanged::Entries { entries, .. } = log.exchange(at, None).unwrap() {
        let Some(last) = entries.last() else { break };
        let from = usize::try_from(at.sequence).unwrap();
        let read = entries.iter().map(|entry| &**entry);
        assert!(read.eq(&written[from..from + entries.len()]), "an entry was made up");
        at = last.position;
    }
    // After any damage, a new log can begin above it, and takes entries.
    let seen = log.load().unwrap();
    let next = root(seen.last_known.max(loaded.last_known) + 1);
    log.begin(seen.epoch, &Beginning::Root(next.clone())).unwrap();
    assert_eq!(exchange(&mut log, next.position, Some(&append(1))).len(), 1);
    (loaded, usize::try_from(at.sequence).unwrap())
}

/// A fresh folder with the same files, one of them altered.
fn altered(original: &Folder, alter: impl FnOnce(&Path)) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path()).unwrap();
    for file in fs::read_dir(original.path()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    alter(&folder.path());
    folder
}

#[test]
fn a_byte_flipped_anywhere_in_the_log_never_makes_up_an_entry_and_costs_at_most_what_follows_the_snapshot() {
    for clean in [true, false] {
        let original = Folder::new();
        let (_, entries) = written(&original, clean);
        let length = fs::metadata(original.path().join("log.redb")).unwrap().len();
        let (mut set_aside, mut whole) = (0, 0);
        // The head byte for byte in places, the pages by a stride that meets each of them somewhere else.
        for at in (0..400).step_by(13).chain((400..length).step_by(4_096 * 2 + 37)) {
            let folder = altered(&original, |path| flip(&path.join("log.redb"), at));
            let (_, reached) = start_over(&folder, &entries);
            assert!(
                reached >= 50,
                "byte {at}: the snapshot stands at 50, and only {reached} came back"
            );
            set_aside += usize::from(aside(&folder, "log.redb"));
            whole += usize::from(reached == entries.len());
        }
        assert!(
            set_aside > 3 && whole > 3,
            "clean {clean}: {set_aside} set aside, {whole} whole: the flips missed the data"
        );
    }
}

#[test]
fn a_log_cut_anywhere_is_set_aside_and_the_snapshot_stands() {
    let original = Folder::new();
    let (_, entries) = written(&original, true);
    let length = fs::metadata(original.path().join("log.redb")).unwrap().len();
    for keep in [0, 1, 100, 4_095, 4_096, length / 2, length - 1] {
        let folder = altered(&original, |path| {
            fs::OpenOptions::new()
                .write(true)
                .open(path.join("log.redb"))
                .unwrap()
                .set_len(keep)
                .unwrap();
        });
        let (loaded, reached) = start_over(&folder, &entries);
        assert_eq!((loaded.epoch, loaded.clean), (0, false), "cut to {keep}");
        assert_eq!(reached, 50, "cut to {keep}");
        assert!(aside(&folder, "log.redb"), "cut to {keep}");
    }
}

#[test]
fn a_damaged_snapshot_is_set_aside_and_the_log_gives_all_of_it_again() {
    let original = Folder::new();
    let (start, entries) = written(&original, true);
    let length = fs::metadata(original.path().join("snapshot")).unwrap().len();
    for at in 0..length {
        let folder = altered(&original, |path| flip(&path.join("snapshot"), at));
        let (loaded, reached) = start_over(&folder, &entries);
        assert_eq!(loaded.snapshots[0].position, start, "byte {at}");
        assert_eq!(reached, entries.len(), "byte {at}");
        assert!(aside(&folder, "snapshot"), "byte {at}");
    }
}

#[test]
fn with_log_and_snapshot_gone_the_last_closed_part_is_better_than_nothing() {
    let folder = Folder {
        part_bytes: 1,
        ..Folder::new()
    };
    let (start, _) = written(&folder, true);
    let mut log = folder.embedded();
    let loaded = log.load().unwrap();
    log.begin(loaded.epoch, &Beginning::Root(root(loaded.epoch + 1)))
        .unwrap();
    drop(log);
    fs::write(folder.path().join("log.redb"), b"nothing of the kind").unwrap();
    fs::write(folder.path().join("snapshot"), b"nor this").unwrap();
    let loaded = folder.embedded().load().unwrap();
    assert_eq!(loaded.epoch, start.epoch);
    assert!(!loaded.clean, "it was not the end");
    assert!(
        loaded
            .snapshots
            .iter()
            .all(|snapshot| snapshot.position.epoch == start.epoch)
    );
}

#[test]
fn a_log_of_a_later_format_is_left_alone() {
    let folder = Folder::new();
    written(&folder, true);
    {
        // The head, as format 2 would write it.
        let table = redb::TableDefinition::<(), &[u8]>::new("head");
        let db = redb::Database::open(folder.path().join("log.redb")).unwrap();
        let tx = db.begin_write().unwrap();
        let head = tx.open_table(table).unwrap().get(()).unwrap().unwrap().value().to_vec();
        let mut next = head[..head.len() - 8].to_vec();
        next[0] = 2;
        next.extend_from_slice(&Sha256::digest(&next)[..8]);
        tx.open_table(table).unwrap().insert((), next.as_slice()).unwrap();
        tx.commit().unwrap();
    }
    let refused = ropeline::store::Embedded::open(&folder.path(), folder.options());
    let Err(refused) = refused else {
        panic!("a format of the future was opened")
    };
    assert!(refused.to_string().contains("later version"), "{refused}");
    assert!(!aside(&folder, "log.redb"));
}

/// Every small file of a folder, with a word on an entry to pass over among them.
fn with_small_files() -> (Folder, Vec<Entry>) {
    let folder = Folder::new();
    let (_, entries) = written(&folder, true);
    let mut log = folder.embedded();
    log.skip(entries[9].position).unwrap();
    log.skip(entries[19].position).unwrap();
    let mut last = log.load().unwrap().snapshots.remove(0);
    (last.position, last.nonce) = (entries[59].position, entries[59].nonce);
    log.save(last, Occasion::Last).unwrap();
    (folder, entries)
}

/// The word of a clean stop is of one file: a copy has its own.
fn with_its_own_word(folder: &Folder) {
    let path = folder.path().join("stopped");
    fs::remove_file(&path).unwrap();
    let mut log = folder.embedded();
    let last = log.load().unwrap().snapshots.remove(0);
    log.save(last, Occasion::Last).unwrap();
    assert!(path.exists());
}

/// Damage to a file; its length may differ by a digit in each copy of the folder.
enum Damage {
    Flip(usize, u8),
    Cut(usize),
    Other,
}

impl Damage {
    fn done_to(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        match *self {
            Self::Flip(at, mask) => {
                let at = at.min(bytes.len() - 1);
                bytes[at] ^= mask;
            }
            Self::Cut(end) => bytes.truncate(end),
            Self::Other => bytes = vec![0xFF; 64],
        }
        bytes
    }
}

#[test]
fn a_small_file_damaged_anywhere_is_set_aside_and_the_log_opens() {
    let (original, entries) = with_small_files();
    for file in ["stopped", "skips", "lock"] {
        let length = fs::read(original.path().join(file)).unwrap().len();
        let flipped = (0..length).flat_map(|at| [0x01, 0x80].map(|mask| Damage::Flip(at, mask)));
        let cut = (1..length).step_by(13).map(|end| Damage::Cut(end - 1));
        for damage in flipped.chain(cut).chain([Damage::Other]) {
            let folder = altered(&original, |_| {});
            with_its_own_word(&folder);
            let stopped = fs::read(folder.path().join("stopped")).unwrap();
            let bytes = damage.done_to(fs::read(folder.path().join(file)).unwrap());
            fs::write(folder.path().join(file), &bytes).unwrap();
            let mut log = folder.embedded();
            let loaded = log.load().unwrap();
            let expected = [entries[9].position, entries[19].position];
            assert!(
                loaded.skips.iter().all(|skip| expected.contains(skip)),
                "made up: {bytes:?}"
            );
            // Any white space may end a line.
            let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
            let same_line = line(&bytes) == line(&stopped);
            if file == "stopped" && !same_line {
                assert!(!loaded.clean, "{bytes:?} is taken for a clean stop");
                assert!(aside(&folder, file), "{bytes:?}");
            }
            if file != "stopped" {
                assert!(loaded.clean);
            }
            if file == "skips" && loaded.skips.len() < 2 && !bytes.is_empty() {
                assert!(aside(&folder, file), "{bytes:?}");
            }
        }
    }
}

#[test]
fn a_log_file_that_is_empty_or_cut_is_set_aside_and_the_log_opens() {
    let original = Folder::new();
    let (_, entries) = written(&original, true);
    let length = fs::metadata(original.path().join("log.redb")).unwrap().len();
    for kept in [0, 1, 63, 4_096, length / 2, length - 1] {
        let folder = altered(&original, |path| {
            let file = fs::OpenOptions::new().write(true).open(path.join("log.redb")).unwrap();
            file.set_len(kept).unwrap();
        });
        start_over(&folder, &entries);
    }
}
