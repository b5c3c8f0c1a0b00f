//! The suite that every log passes. A log joins it with a [`Store`] of its own and one line of `suite!`.
//!
//! Nothing here looks behind the trait: batches are told apart by their serials, snapshots by their bytes.

use anteroom::log::{
    Append, Beginning, Begun, Exchanged, Loaded, Log, Occasion, READ_MAX_ENTRIES, Snapshot, next_incarnation,
};
use anteroom::room::{Batch, Entry, GateId, Position, VERSION, Wall};

/// Where a log is kept, so that it can be opened again; empty at first.
pub trait Store {
    fn open(&self) -> Box<dyn Log>;
}

pub fn append(serial: u64) -> Append {
    Append {
        gate: GateId(0xA11CE),
        serial,
        nonce: (!serial).to_le_bytes(),
        version: VERSION,
        batch: Batch::default(),
    }
}

pub fn root(incarnation: u64) -> Snapshot {
    let position = Position {
        incarnation,
        sequence: 0,
    };
    Snapshot {
        position,
        nonce: *b"root-one",
        time: Wall(1_800_000_000_000),
        state: b"nothing happened".to_vec(),
    }
}

/// Begins a log on an empty store; returns where it starts.
pub fn begin(log: &mut dyn Log) -> Position {
    let Loaded {
        incarnation,
        last_known,
        time,
        ..
    } = log.load().unwrap();
    let root = root(next_incarnation(last_known, time, 7).unwrap());
    let position = root.position;
    assert_eq!(log.begin(incarnation, &Beginning::Root(root)), Ok(Begun::Begun));
    position
}

pub fn after(at: Position, count: u64) -> Position {
    Position {
        sequence: at.sequence + count,
        ..at
    }
}

/// Exchanges, where entries are the answer expected.
pub fn exchange(log: &mut dyn Log, at: Position, append: Option<&Append>) -> Vec<Entry> {
    match log.exchange(at, append).unwrap() {
        Exchanged::Entries { entries, .. } => entries,
        other => panic!("{other:?} at {at:?}"),
    }
}

fn serials(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.serial).collect()
}

/// Appends 1 to `count`, each at the end of the last.
pub fn fill(log: &mut dyn Log, mut at: Position, count: u64) -> Position {
    for serial in 1..=count {
        assert_eq!(serials(&exchange(log, at, Some(&append(serial)))), [serial]);
        at = after(at, 1);
    }
    at
}

pub fn an_empty_store_says_so(store: &impl Store) {
    let mut log = store.open();
    let loaded = log.load().unwrap();
    assert_eq!((loaded.incarnation, loaded.last_known, loaded.clean), (0, 0, false));
    assert!(loaded.snapshots.is_empty() && loaded.time > Wall(0));
    let nowhere = Position {
        incarnation: 5,
        sequence: 0,
    };
    assert_eq!(
        log.exchange(nowhere, Some(&append(1))),
        Ok(Exchanged::Broken { incarnation: 0 })
    );
}

pub fn entries_come_back_in_order_with_position_time_and_chain(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    fill(log.as_mut(), start, 5);
    let entries = exchange(log.as_mut(), start, None);
    assert_eq!(serials(&entries), [1, 2, 3, 4, 5]);
    let mut previous = root(0).nonce;
    for (entry, sequence) in entries.iter().zip(1..) {
        assert_eq!(entry.position, Position { sequence, ..start });
        assert_eq!(
            (entry.previous, entry.gate, entry.version),
            (previous, GateId(0xA11CE), VERSION)
        );
        assert_eq!(entry.nonce, append(entry.serial).nonce);
        previous = entry.nonce;
    }
    assert!(entries.windows(2).all(|pair| pair[0].time <= pair[1].time) && entries[0].time > Wall(0));
    assert_eq!(
        serials(&exchange(log.as_mut(), after(start, 3), None)),
        [4, 5],
        "from the middle"
    );
    assert!(exchange(log.as_mut(), after(start, 5), None).is_empty(), "nothing new");
}

pub fn an_append_is_read_with_what_came_before_it(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    fill(log.as_mut(), start, 2);
    assert_eq!(serials(&exchange(log.as_mut(), start, Some(&append(3)))), [1, 2, 3]);
}

pub fn a_batch_comes_back_byte_for_byte(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    let batch = Batch {
        hello: true,
        root: Some([7; 32]),
        ..Batch::default()
    };
    let sent = Append { batch, ..append(1) };
    let entries = exchange(log.as_mut(), start, Some(&sent));
    assert_eq!(entries[0].batch, sent.batch);
    drop(log);
    assert_eq!(
        exchange(store.open().as_mut(), start, None),
        entries,
        "after opening again"
    );
}

pub fn an_append_sent_twice_bears_one_serial(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    exchange(log.as_mut(), start, Some(&append(1)));
    // The answer was lost: the gate still stands at the start and sends the same again.
    let entries = exchange(log.as_mut(), start, Some(&append(1)));
    assert!(serials(&entries).iter().all(|serial| *serial == 1), "{entries:?}");
    let batches: Vec<_> = entries
        .iter()
        .map(|entry| (&entry.gate, &entry.batch, entry.nonce))
        .collect();
    assert!(batches.iter().all(|batch| *batch == batches[0]));
}

pub fn an_append_is_fenced(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    let end = fill(log.as_mut(), start, 3);
    let broken = Ok(Exchanged::Broken {
        incarnation: start.incarnation,
    });
    assert_eq!(
        log.exchange(after(end, 1), Some(&append(4))),
        broken,
        "beyond the tail: entries were lost"
    );
    for incarnation in [start.incarnation - 1, start.incarnation + 1] {
        let elsewhere = Position { incarnation, ..end };
        assert_eq!(log.exchange(elsewhere, Some(&append(4))), broken, "another incarnation");
        assert_eq!(log.exchange(elsewhere, None), broken, "reading it is no better");
    }
    assert!(exchange(log.as_mut(), end, None).is_empty(), "nothing was appended");
}

pub fn a_new_log_ends_the_old_one(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    let end = fill(log.as_mut(), start, 3);
    let next = root(start.incarnation + 99);
    assert_eq!(
        log.begin(start.incarnation, &Beginning::Root(next.clone())),
        Ok(Begun::Begun)
    );
    let broken = Exchanged::Broken {
        incarnation: next.position.incarnation,
    };
    assert_eq!(log.exchange(end, Some(&append(4))), Ok(broken));
    let loaded = log.load().unwrap();
    assert_eq!(
        (loaded.incarnation, &loaded.snapshots[..]),
        (next.position.incarnation, &[next.clone()][..])
    );
    let entries = exchange(log.as_mut(), next.position, Some(&append(1)));
    assert_eq!((entries[0].position.sequence, entries[0].previous), (1, next.nonce));
}

pub fn of_two_who_begin_at_once_one_does(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    let (one, other) = (root(start.incarnation + 5), root(start.incarnation + 6));
    assert_eq!(
        log.begin(start.incarnation, &Beginning::Root(one.clone())),
        Ok(Begun::Begun)
    );
    assert_eq!(
        log.begin(start.incarnation, &Beginning::Root(other)),
        Ok(Begun::Lost {
            incarnation: one.position.incarnation
        })
    );
    assert_eq!(log.load().unwrap().incarnation, one.position.incarnation);
}

pub fn saving_keeps_the_later_snapshot(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    let end = fill(log.as_mut(), start, 4);
    let later = Snapshot {
        position: end,
        nonce: append(4).nonce,
        state: b"four".to_vec(),
        ..root(0)
    };
    let earlier = Snapshot {
        position: after(start, 2),
        nonce: append(2).nonce,
        state: b"two".to_vec(),
        ..root(0)
    };
    let foreign = Snapshot {
        position: Position {
            incarnation: start.incarnation - 1,
            sequence: 900,
        },
        ..later.clone()
    };
    log.save(later.clone(), Occasion::Last).unwrap();
    log.save(earlier, Occasion::Checkpoint).unwrap();
    log.save(foreign, Occasion::Checkpoint).unwrap();
    drop(log);
    let mut log = store.open();
    let loaded = log.load().unwrap();
    assert_eq!(loaded.snapshots.first(), Some(&later));
    assert!(
        exchange(log.as_mut(), end, None).is_empty(),
        "nothing follows the last snapshot"
    );
}

pub fn only_a_last_word_makes_the_next_start_clean(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    let end = fill(log.as_mut(), start, 2);
    drop(log);
    let mut log = store.open();
    assert!(!log.load().unwrap().clean, "nobody said it was the last");
    let last = Snapshot {
        position: end,
        nonce: append(2).nonce,
        ..root(0)
    };
    log.save(last, Occasion::Last).unwrap();
    drop(log);
    let mut log = store.open();
    assert!(log.load().unwrap().clean);
    exchange(log.as_mut(), end, Some(&append(3)));
    assert!(!log.load().unwrap().clean, "something followed");
    drop(log);
    assert!(!store.open().load().unwrap().clean, "something followed");
}

pub fn a_long_log_is_read_a_piece_at_a_time(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    let count = READ_MAX_ENTRIES as u64 + 10;
    fill(log.as_mut(), start, count);
    let mut read = Vec::new();
    loop {
        let piece = exchange(log.as_mut(), after(start, read.len() as u64), None);
        assert!(piece.len() <= READ_MAX_ENTRIES);
        if piece.is_empty() {
            break;
        }
        read.extend(serials(&piece));
    }
    assert_eq!(read, (1..=count).collect::<Vec<_>>());
}

/// The suite for one store: a test for each function above.
macro_rules! suite {
    ($store:expr) => {
        $crate::contract::suite!($store,
            an_empty_store_says_so,
            entries_come_back_in_order_with_position_time_and_chain,
            an_append_is_read_with_what_came_before_it,
            a_batch_comes_back_byte_for_byte,
            an_append_sent_twice_bears_one_serial,
            an_append_is_fenced,
            a_new_log_ends_the_old_one,
            of_two_who_begin_at_once_one_does,
            saving_keeps_the_later_snapshot,
            only_a_last_word_makes_the_next_start_clean,
            a_long_log_is_read_a_piece_at_a_time
        );
    };
    ($store:expr, $($case:ident),+) => {
        $(#[test] fn $case() { $crate::contract::$case(&$store); })+
    };
}

pub(crate) use suite;
