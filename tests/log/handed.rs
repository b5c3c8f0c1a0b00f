//! The suite on an embedded log that another process has, and what holds while a log changes hands. The two processes are two
//! threads here, with a real socket between them; `tests/cli/upgrade` has two.

use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

use ropeline::log::{
    Append, Beginning, Begun, Embedded, Exchanged, Far, Hand, Loaded, Log, Occasion, Relay, Skips, Snapshot, Trouble,
    Unavailable,
};
use ropeline::room::{GateId, Position, StateHash};

use crate::contract::{Store, after, append, begin, exchange, fill, root, suite};
use crate::embedded::Folder;

const PATIENCE: Duration = Duration::from_secs(60);

/// The log of a process that gave it away, and the end of the thread that serves it.
struct Away {
    far: Option<Far>,
    served: Option<JoinHandle<()>>,
}

struct Given(Folder);

impl Store for Given {
    fn open(&self) -> Box<dyn Log> {
        let relay = Relay::taken_over(self.0.embedded());
        let (far, served) = serve(&relay.hand());
        // Its gate is gone: whoever is left says the last word.
        drop(relay);
        Box::new(Away {
            far: Some(far),
            served: Some(served),
        })
    }
}

fn serve(hand: &Hand) -> (Far, JoinHandle<()>) {
    let (near, far) = UnixStream::pair().unwrap();
    (Far::new(far).unwrap(), hand.serve(near, PATIENCE).unwrap())
}

impl Away {
    fn far(&mut self) -> &mut Far {
        self.far.as_mut().unwrap()
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        self.far = None;
        self.served.take().unwrap().join().unwrap();
    }
}

impl Log for Away {
    fn alone(&self) -> bool {
        self.far.as_ref().unwrap().alone()
    }

    fn exchange(&mut self, at: Position, append: Option<&Append>) -> Result<Exchanged, Unavailable> {
        self.far().exchange(at, append)
    }

    fn save(&mut self, snapshot: Snapshot, occasion: Occasion) -> Result<(), Unavailable> {
        self.far().save(snapshot, occasion)
    }

    fn load(&mut self) -> Result<Loaded, Unavailable> {
        self.far().load()
    }

    fn root(&mut self, hash: &StateHash) -> Result<Option<Snapshot>, Unavailable> {
        self.far().root(hash)
    }

    fn begin(&mut self, seen: u64, beginning: &Beginning) -> Result<Begun, Unavailable> {
        self.far().begin(seen, beginning)
    }

    fn skip(&mut self, position: Position) -> Result<(), Unavailable> {
        self.far().skip(position)
    }

    fn skips(&mut self) -> Result<Skips, Unavailable> {
        self.far().skips()
    }
}

suite!(Given(Folder::new()));

/// A log with three entries that has been given by the first and is served by the second; the ends of the two, and where it
/// stands.
fn handed(folder: &Folder) -> (Relay, Relay, JoinHandle<()>, Position) {
    let mut before = Relay::of(folder.embedded());
    let start = begin(&mut before);
    let at = fill(&mut before, start, 3);
    let (near, far) = UnixStream::pair().unwrap();
    before.hand().give(Far::new(far).unwrap()).unwrap();
    let after = Relay::taken_over(folder.embedded());
    let served = after.hand().serve(near, PATIENCE).unwrap();
    (before, after, served, at)
}

fn of(gate: u64, serial: u64) -> Append {
    Append {
        gate: GateId(gate),
        ..append(serial)
    }
}

fn last(at: Position) -> Snapshot {
    Snapshot {
        position: at,
        ..root(at.incarnation)
    }
}

#[test]
fn two_processes_append_to_one_log_and_read_each_other() {
    let folder = Folder::new();
    let (mut before, mut next, _served, at) = handed(&folder);
    assert_eq!(exchange(&mut before, at, Some(&of(1, 4))).len(), 1);
    let read = exchange(&mut next, at, Some(&of(2, 1)));
    assert_eq!(read.iter().map(|entry| entry.gate.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(read[1].previous, read[0].nonce, "one chain");
    assert_eq!(exchange(&mut before, at, None), read);
}

#[test]
fn nobody_who_loads_finds_an_end_while_it_is_handed() {
    let folder = Folder::new();
    let (mut before, mut next, _served, at) = handed(&folder);
    // The one before has gone on before the one after has looked.
    exchange(&mut before, at, Some(&of(1, 4)));
    let loaded = next.load().unwrap();
    assert_eq!((loaded.incarnation, loaded.clean), (at.incarnation, true));
    assert!(before.load().unwrap().clean);
}

#[test]
fn a_log_that_was_not_closed_is_none_to_go_on_with() {
    let folder = Folder::new();
    let mut before = folder.embedded();
    let start = begin(&mut before);
    fill(&mut before, start, 3);
    drop(before);
    assert!(!Relay::taken_over(folder.embedded()).load().unwrap().clean);
}

#[test]
fn a_log_is_taken_back_with_what_was_said_meanwhile() {
    let folder = Folder::new();
    let (mut before, mut next, served, at) = handed(&folder);
    exchange(&mut next, at, Some(&of(2, 1)));
    exchange(&mut before, at, Some(&of(1, 4)));
    drop(next);
    // What serves it ends with the socket, and lets the folder go; a call tries to open it as often as it must.
    let _ = before.hand().take_back();
    served.join().unwrap();
    let read = exchange(&mut before, at, Some(&of(1, 5)));
    assert_eq!(read.iter().map(|entry| entry.serial).collect::<Vec<_>>(), [1, 4, 5]);
    assert!(before.load().unwrap().clean, "its life is not over");
}

#[test]
fn a_log_whose_next_process_is_gone_is_unavailable_and_says_so() {
    let folder = Folder::new();
    let mut before = Relay::of(folder.embedded());
    let start = begin(&mut before);
    let (near, far) = UnixStream::pair().unwrap();
    before.hand().give(Far::new(far).unwrap()).unwrap();
    drop(near);
    let reason = before.exchange(start, None).unwrap_err();
    assert_eq!(reason.trouble, Trouble::Unreachable, "{reason}");
}

/// The next start begins no new log.
fn assert_ended(folder: &Folder, served: JoinHandle<()>, at: Position) {
    served.join().unwrap();
    let loaded = folder.embedded().load().unwrap();
    assert_eq!((loaded.clean, loaded.snapshots[0].position), (true, at));
}

/// Whoever speaks longer leaves the word.
#[test]
fn the_last_to_speak_leaves_the_word_that_nothing_follows() {
    let folder = Folder::new();
    let (mut before, mut next, served, at) = handed(&folder);
    exchange(&mut before, at, Some(&of(1, 4)));
    before.save(last(after(at, 1)), Occasion::Last).unwrap();
    drop(before);
    exchange(&mut next, at, Some(&of(2, 1)));
    next.save(last(after(at, 2)), Occasion::Last).unwrap();
    drop(next);
    assert_ended(&folder, served, after(at, 2));
}

/// It said it while the next one went on, which then ended without having read as far.
#[test]
fn the_last_word_of_the_one_before_is_kept_for_when_the_next_ends() {
    let folder = Folder::new();
    let (mut before, mut next, served, at) = handed(&folder);
    exchange(&mut next, at, Some(&of(2, 1)));
    exchange(&mut before, at, Some(&of(1, 4)));
    before.save(last(after(at, 2)), Occasion::Last).unwrap();
    drop(before);
    next.save(last(after(at, 1)), Occasion::Last).unwrap();
    drop(next);
    assert_ended(&folder, served, after(at, 2));
}

#[test]
fn of_two_that_end_at_once_the_one_that_read_further_leaves_the_word() {
    let folder = Folder::new();
    let (mut before, mut next, served, at) = handed(&folder);
    exchange(&mut next, at, Some(&of(2, 1)));
    let ends = std::thread::spawn(move || next.save(last(after(at, 1)), Occasion::Last));
    exchange(&mut before, at, Some(&of(1, 4)));
    before.save(last(after(at, 2)), Occasion::Last).unwrap();
    drop(before);
    ends.join().unwrap().unwrap();
    assert_ended(&folder, served, after(at, 2));
}

/// The one after has said goodbye behind the one before, whose last word comes while its own waits for that.
#[test]
fn of_two_whose_last_words_cross_the_one_that_read_further_leaves_the_word() {
    for _ in 0..10 {
        let folder = Folder::new();
        let (mut before, mut next, served, at) = handed(&folder);
        exchange(&mut before, at, Some(&of(1, 4)));
        exchange(&mut next, at, Some(&of(2, 1)));
        let ends = std::thread::spawn(move || next.save(last(after(at, 2)), Occasion::Last));
        // Time for the other to begin to wait.
        for _ in 0..50 {
            exchange(&mut before, at, None);
        }
        before.save(last(after(at, 1)), Occasion::Last).unwrap();
        drop(before);
        ends.join().unwrap().unwrap();
        assert_ended(&folder, served, after(at, 2));
    }
}

#[test]
fn a_log_that_is_away_is_given_to_nobody_else() {
    let folder = Folder::new();
    let (mut before, mut next, _served, at) = handed(&folder);
    let (_near, far) = UnixStream::pair().unwrap();
    let refused = before.hand().give(Far::new(far).unwrap()).unwrap_err();
    assert_eq!(refused.trouble, Trouble::Declined);
    exchange(&mut before, at, Some(&of(1, 4)));
    assert_eq!(exchange(&mut next, at, None).len(), 1, "it knows the way still");
}

#[test]
fn a_log_that_serves_the_one_before_is_given_to_nobody_else() {
    let folder = Folder::new();
    let (before, mut next, served, at) = handed(&folder);
    assert!(next.hand().serves());
    let (_near, far) = UnixStream::pair().unwrap();
    let refused = next.hand().give(Far::new(far).unwrap()).unwrap_err();
    assert_eq!(refused.trouble, Trouble::Declined);
    exchange(&mut next, at, Some(&of(2, 1)));
    drop(before);
    served.join().unwrap();
    assert!(!next.hand().serves());
    let (_near, far) = UnixStream::pair().unwrap();
    next.hand().give(Far::new(far).unwrap()).unwrap();
    folder.embedded();
}

/// The part in use is not closed over the head of a process that has read less far.
#[test]
fn the_part_in_use_stays_while_two_read_it() {
    let folder = Folder {
        part_bytes: 1,
        ..Folder::new()
    };
    let (mut before, mut next, served, at) = handed(&folder);
    exchange(&mut next, at, Some(&of(2, 1)));
    next.save(last(after(at, 1)), Occasion::Checkpoint).unwrap();
    assert_eq!(exchange(&mut before, at, None).len(), 1);
    drop(before);
    served.join().unwrap();
    exchange(&mut next, after(at, 1), Some(&of(2, 2)));
    next.save(last(after(at, 2)), Occasion::Checkpoint).unwrap();
    assert_eq!(next.exchange(at, None), Ok(Exchanged::Moved));
}

#[test]
fn of_two_processes_one_begins_a_new_log_and_the_other_follows() {
    let folder = Folder::new();
    let (mut before, mut next, _served, at) = handed(&folder);
    let above = root(at.incarnation + 1);
    let (one, other) = (Beginning::Root(above), Beginning::Root(root(at.incarnation + 2)));
    assert_eq!(next.begin(at.incarnation, &one), Ok(Begun::Begun));
    let lost = Begun::Lost {
        incarnation: at.incarnation + 1,
    };
    assert_eq!(before.begin(at.incarnation, &other), Ok(lost));
    assert!(before.load().unwrap().clean, "it follows, and begins none of its own");
}

#[test]
fn the_folder_is_let_go_and_taken() {
    let folder = Folder::new();
    let (_before, next, _served, _) = handed(&folder);
    assert!(Embedded::open(&folder.path(), folder.options()).is_err(), "in use");
    assert_eq!(next.hand().folder(), folder.path());
}
