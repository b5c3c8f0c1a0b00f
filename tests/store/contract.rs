//! The suite that every log passes. A log joins it with an implementation of [`Store`] and one line of `suite!`.
//!
//! The suite uses the trait alone: it distinguishes batches by their serials, snapshots by their bytes.

use ropeline::room::{Batch, Encoded, Entry, GateId, Position, VERSION, Wall};
use ropeline::store::{
    Append, Beginning, Begun, Exchanged, Loaded, Log, Occasion, READ_MAX_ENTRIES, Skips, Snapshot, next_epoch,
};

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

pub fn root(epoch: u64) -> Snapshot {
    let position = Position { epoch, sequence: 0 };
    Snapshot {
        position,
        nonce: *b"root-one",
        time: Wall(1_800_000_000_000),
        state: b"nothing happened".to_vec(),
    }
}

/// The beginning of a log of this epoch: a root for a gate that has it to itself, otherwise the first report of the gate that
/// begins it.
pub fn beginning(log: &dyn Log, epoch: u64) -> Beginning {
    if log.alone() {
        return Beginning::Root(root(epoch));
    }
    Beginning::First {
        epoch,
        append: Box::new(append(0)),
    }
}

/// Where a log that began so starts, for one who knows its beginning, and the nonce of what stands there.
pub fn start(beginning: &Beginning) -> (Position, [u8; 8]) {
    match beginning {
        Beginning::Root(root) => (root.position, root.nonce),
        Beginning::First { epoch, append } => {
            let position = Position {
                epoch: *epoch,
                sequence: 1,
            };
            (position, append.nonce)
        }
    }
}

/// Begins a log on an empty store; returns where it starts.
pub fn begin(log: &mut dyn Log) -> Position {
    begin_chained(log).0
}

/// As [`begin`], with the nonce that the next entry names.
fn begin_chained(log: &mut dyn Log) -> (Position, [u8; 8]) {
    let Loaded {
        epoch,
        last_known,
        time,
        ..
    } = log.load().unwrap();
    let beginning = beginning(log, next_epoch(last_known, time, 7).unwrap());
    assert_eq!(log.begin(epoch, &beginning), Ok(Begun::Begun));
    start(&beginning)
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
        Exchanged::Entries { entries, .. } => entries.into_iter().map(Encoded::into_entry).collect(),
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
    assert_eq!((loaded.epoch, loaded.last_known, loaded.clean), (0, 0, false));
    assert!(loaded.snapshots.is_empty() && loaded.time > Wall(0));
    assert_eq!(log.skips(), Ok(Skips::default()));
    let nowhere = Position { epoch: 5, sequence: 0 };
    assert_eq!(
        log.exchange(nowhere, Some(&append(1))),
        Ok(Exchanged::Broken { epoch: 0 })
    );
}

pub fn entries_come_back_in_order_with_position_time_and_chain(store: &impl Store) {
    let mut log = store.open();
    let (start, mut previous) = begin_chained(log.as_mut());
    fill(log.as_mut(), start, 5);
    let entries = exchange(log.as_mut(), start, None);
    assert_eq!(serials(&entries), [1, 2, 3, 4, 5]);
    for (entry, count) in entries.iter().zip(1..) {
        assert_eq!(entry.position, after(start, count));
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
    let broken = Ok(Exchanged::Broken { epoch: start.epoch });
    assert_eq!(
        log.exchange(after(end, 1), Some(&append(4))),
        broken,
        "beyond the tail: entries were lost"
    );
    for epoch in [start.epoch - 1, start.epoch + 1] {
        let elsewhere = Position { epoch, ..end };
        assert_eq!(log.exchange(elsewhere, Some(&append(4))), broken, "another epoch");
        assert_eq!(log.exchange(elsewhere, None), broken, "reading it is no better");
    }
    assert!(exchange(log.as_mut(), end, None).is_empty(), "nothing was appended");
}

pub fn a_new_log_ends_the_old_one(store: &impl Store) {
    let mut log = store.open();
    let old = begin(log.as_mut());
    let end = fill(log.as_mut(), old, 3);
    let epoch = old.epoch + 99;
    let next = beginning(log.as_ref(), epoch);
    assert_eq!(log.begin(old.epoch, &next), Ok(Begun::Begun));
    let broken = Ok(Exchanged::Broken { epoch });
    assert_eq!(log.exchange(end, Some(&append(4))), broken);
    assert_eq!(log.load().unwrap().epoch, epoch);
    let (start, nonce) = start(&next);
    let entries = exchange(log.as_mut(), start, Some(&append(1)));
    assert_eq!((entries[0].position, entries[0].previous), (after(start, 1), nonce));
    assert_eq!(
        log.exchange(old, None),
        broken,
        "the old entries are no history any more"
    );
}

pub fn of_two_who_begin_at_once_one_does(store: &impl Store) {
    let mut log = store.open();
    let old = begin(log.as_mut());
    let (one, other) = (old.epoch + 5, old.epoch + 6);
    let beginnings = [one, other].map(|epoch| beginning(log.as_ref(), epoch));
    assert_eq!(log.begin(old.epoch, &beginnings[0]), Ok(Begun::Begun));
    assert_eq!(log.begin(old.epoch, &beginnings[1]), Ok(Begun::Lost { epoch: one }));
    assert_eq!(log.load().unwrap().epoch, one);
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
            epoch: start.epoch - 1,
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

pub fn what_is_skipped_stays_so(store: &impl Store) {
    let mut log = store.open();
    let start = begin(log.as_mut());
    let end = fill(log.as_mut(), start, 2);
    assert_eq!(log.load().unwrap().skips, []);
    let mut skips = Skips {
        epoch: start.epoch,
        positions: Vec::new(),
    };
    assert_eq!(log.skips().as_ref(), Ok(&skips));
    log.skip(end).unwrap();
    log.skip(end).unwrap();
    drop(log);
    let mut log = store.open();
    skips.positions.push(end);
    assert_eq!(log.skips().as_ref(), Ok(&skips), "once");
    assert_eq!(log.load().unwrap().skips, skips.positions);
    assert_eq!(
        serials(&exchange(log.as_mut(), start, None)),
        [1, 2],
        "the entry itself stays"
    );
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
            what_is_skipped_stays_so,
            a_long_log_is_read_a_piece_at_a_time
        );
    };
    ($store:expr, $($case:ident),+) => {
        $(#[test] fn $case() { $crate::contract::$case(&$store); })+
    };
}

pub(crate) use suite;
