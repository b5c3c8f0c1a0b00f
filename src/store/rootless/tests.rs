use super::*;
use crate::room::{Batch, VERSION};

const EPOCH: u64 = 9;

/// A log that gates speak in, by the store's time in milliseconds.
struct Log {
    rootless: Rootless,
    entries: Vec<Entry>,
}

impl Log {
    fn new() -> Self {
        Self {
            rootless: Rootless::new(EPOCH),
            entries: Vec::new(),
        }
    }

    fn add(&mut self, gate: u64, at_ms: u64, batch: Batch) -> &Rootless {
        let sequence = self.rootless.position().sequence + 1;
        let entry = Entry {
            position: Position { epoch: EPOCH, sequence },
            gate: GateId(gate),
            serial: sequence,
            previous: self.rootless.nonce(),
            nonce: sequence.to_le_bytes(),
            time: Wall(at_ms),
            version: VERSION,
            batch,
        };
        self.rootless.apply(&entry);
        self.entries.push(entry);
        &self.rootless
    }

    /// A gate that had read to (epoch, sequence) of the logs before says so.
    fn speak(&mut self, gate: u64, at_ms: u64, read: (u64, u64), roster: &[u64]) -> &Rootless {
        let spoke = Spoke {
            position: Position {
                epoch: read.0,
                sequence: read.1,
            },
            nonce: [7; 8],
            roster: roster.iter().copied().map(GateId).collect(),
        };
        let batch = Batch {
            spoke: Some(spoke),
            ..Batch::default()
        };
        self.add(gate, at_ms, batch)
    }

    fn leave(&mut self, gate: u64, at_ms: u64) -> &Rootless {
        let batch = Batch {
            goodbye: true,
            ..Batch::default()
        };
        self.add(gate, at_ms, batch)
    }

    fn root(&mut self, gate: u64, hash: u8) -> &Rootless {
        let batch = Batch {
            root: Some([hash; 32]),
            ..Batch::default()
        };
        self.add(gate, 0, batch)
    }

    fn tick(&mut self, at_ms: u64) -> &Rootless {
        self.add(1, at_ms, Batch::default())
    }

    /// Time passes with ticks a second apart.
    fn ticks(&mut self, from_ms: u64, to_ms: u64) -> &Rootless {
        for at in (from_ms..=to_ms).step_by(1_000) {
            self.tick(at);
        }
        &self.rootless
    }

    fn may_root(&self) -> Vec<u64> {
        (0..10).filter(|gate| self.rootless.may_root(GateId(*gate))).collect()
    }
}

fn missing(rootless: &Rootless) -> Vec<u64> {
    rootless.missing().map(|gate| gate.0).collect()
}

#[test]
fn a_gate_that_was_alone_need_not_wait() {
    let mut log = Log::new();
    assert!(!log.rootless.ready() && log.rootless.furthest().is_none());
    let rootless = log.speak(4, 0, (8, 70), &[4]);
    assert!(rootless.ready() && rootless.spoken(GateId(4)));
    assert_eq!((rootless.left_ms(), rootless.furthest()), (0, Some(GateId(4))));
    assert_eq!(log.may_root(), [4]);
}

#[test]
fn everybody_on_any_roster_is_waited_for_until_they_speak_or_leave() {
    let mut log = Log::new();
    assert_eq!(missing(log.speak(1, 0, (8, 70), &[1, 2])), [2]);
    assert_eq!(missing(log.speak(2, 0, (8, 71), &[2, 3, 4])), [3, 4]);
    assert!(!log.rootless.ready() && log.may_root().is_empty());
    assert_eq!(missing(log.leave(4, 0)), [3]);
    assert!(
        log.speak(3, 0, (8, 60), &[3, 4]).ready(),
        "who has left is not waited for again"
    );
    assert_eq!(log.may_root(), [2]);
}

#[test]
fn whoever_is_missing_the_wait_ends_after_fifteen_seconds() {
    let mut log = Log::new();
    assert_eq!(log.speak(1, 500, (8, 70), &[1, 2]).left_ms(), 15_000);
    assert_eq!(log.ticks(1_500, 15_499).left_ms(), 1_000);
    assert!(log.tick(15_499).left_ms() == 1 && !log.rootless.ready());
    assert!(log.tick(15_500).ready());
    assert_eq!((log.rootless.left_ms(), log.may_root()), (0, vec![1]));
    assert_eq!(missing(&log.rootless), [2]);
}

#[test]
fn a_step_of_the_clock_counts_for_five_seconds_and_backwards_for_none() {
    let mut log = Log::new();
    log.speak(1, 1_000_000, (8, 70), &[1, 2]);
    assert_eq!(log.tick(9_000_000).left_ms(), 10_000);
    assert_eq!(log.tick(0).left_ms(), 10_000);
    assert_eq!(log.tick(u64::MAX).left_ms(), 5_000);
    assert_eq!(log.tick(0).left_ms(), 5_000);
    assert_eq!(log.tick(5_000).left_ms(), 0);
}

#[test]
fn the_furthest_comes_first_by_epoch_then_sequence_then_lowest_id() {
    let mut log = Log::new();
    for (gate, read) in [(5, (8, 70)), (2, (7, 900)), (4, (8, 71)), (3, (8, 71)), (1, (0, 0))] {
        log.speak(gate, 0, read, &[]);
    }
    let order: Vec<_> = log.rootless.candidates().iter().map(|gate| gate.0).collect();
    assert_eq!(order, [3, 4, 5, 2, 1]);
}

#[test]
fn each_next_furthest_may_root_three_seconds_after_the_one_before() {
    let mut log = Log::new();
    for (gate, sequence) in [(1, 10), (2, 30), (3, 20)] {
        log.speak(gate, 0, (8, sequence), &[]);
    }
    assert_eq!(log.may_root(), [2]);
    log.tick(2_999);
    assert_eq!(log.may_root(), [2]);
    log.tick(3_000);
    assert_eq!(log.may_root(), [2, 3]);
    log.tick(6_000);
    assert_eq!(log.may_root(), [1, 2, 3]);
}

#[test]
fn who_left_roots_only_if_there_is_nobody_else() {
    let mut log = Log::new();
    log.speak(1, 0, (8, 70), &[]);
    log.speak(2, 0, (8, 80), &[]);
    log.leave(2, 0);
    assert_eq!(log.may_root(), [1]);
    log.leave(1, 0);
    assert_eq!(log.may_root(), [2]);
}

#[test]
fn a_gate_that_speaks_twice_counts_with_its_first_word() {
    let mut log = Log::new();
    log.speak(1, 0, (8, 70), &[]);
    log.speak(2, 0, (8, 60), &[]);
    log.speak(2, 0, (9, 99), &[3]);
    assert!(log.rootless.ready());
    assert_eq!(log.rootless.furthest(), Some(GateId(1)));
}

#[test]
fn a_late_speaker_who_knows_of_others_prolongs_the_wait_but_not_past_its_end() {
    let mut log = Log::new();
    assert!(log.speak(1, 0, (7, 1), &[1]).ready());
    let rootless = log.speak(2, 4_000, (8, 70), &[2, 3]);
    assert_eq!((rootless.ready(), rootless.left_ms()), (false, 11_000));
    log.speak(3, 5_000, (8, 80), &[2, 3]);
    assert_eq!(log.may_root(), [3], "turns count from when it was ready again");
    log.ticks(6_000, 15_000);
    assert!(log.speak(4, 15_000, (8, 90), &[5, 6]).ready());
}

#[test]
fn roots_are_in_log_order_one_a_gate_and_only_of_those_who_spoke() {
    let mut log = Log::new();
    for gate in [1, 2] {
        log.speak(gate, 0, (8, 70), &[]);
    }
    log.root(2, 19);
    assert!(
        log.root(3, 30).roots().is_empty(),
        "one is not yet due, the other has not spoken"
    );
    log.ticks(0, 3_000);
    log.root(2, 20);
    log.root(2, 21);
    assert_eq!(log.root(1, 10).roots(), [[20; 32], [10; 32]]);
}

#[test]
fn a_root_that_raced_with_a_further_gates_word_is_none() {
    let mut log = Log::new();
    log.speak(1, 0, (0, 0), &[1]);
    log.ticks(0, 2_000);
    assert_eq!(log.may_root(), [1]);
    log.speak(2, 2_100, (8, 70), &[2, 3]);
    assert!(log.root(1, 10).roots().is_empty());
    assert_eq!(
        log.root(2, 20).roots(),
        [[20; 32]],
        "the furthest may at its operator's word"
    );
}

#[test]
fn a_gate_that_knows_nothing_waits_two_seconds_for_others() {
    let mut log = Log::new();
    assert!(!log.speak(1, 0, (0, 0), &[1]).ready());
    log.tick(1_900);
    assert!(!log.rootless.ready());
    log.tick(2_000);
    assert!(log.rootless.ready());
}

#[test]
fn entries_of_other_logs_and_old_ones_change_nothing() {
    let mut log = Log::new();
    log.speak(1, 0, (8, 70), &[1, 2]);
    log.tick(4_000);
    let before = log.rootless.clone();
    let mut other = log.entries[1].clone();
    other.position.epoch = EPOCH + 1;
    other.position.sequence = 3;
    for entry in log.entries.clone().iter().chain([&other]) {
        log.rootless.apply(entry);
    }
    assert_eq!(log.rootless, before);
    assert_eq!((before.position().sequence, before.nonce()), (2, 2_u64.to_le_bytes()));
}

#[test]
fn no_number_of_gates_takes_more_than_a_thousand_places() {
    let mut log = Log::new();
    let crowd: Vec<_> = (10_000..13_000).collect();
    log.speak(1, 0, (8, 70), &crowd);
    for gate in 2..2_002 {
        log.speak(gate, 0, (8, 70), &[]);
        log.leave(gate + 50_000, 0);
    }
    // Everybody's turn has come.
    log.ticks(0, 7_000_000);
    for gate in 2..2_002 {
        log.root(gate, 1);
    }
    let rootless = &log.rootless;
    let held = [rootless.spoken.len(), rootless.missing.len(), rootless.gone.len()];
    assert_eq!((held, rootless.roots().len()), ([1_000; 3], 999));
}
