//! Codes when a log was lost: spent ones come back, and where it cannot be known whether one was used, it is not good.

use ropeline_room::{
    Batch, Change, Denied, Entry, GateId, Position, Redeem, Redeemed, RoomChange, Root, Spoke, Standing, State, Wall,
};

use crate::codes::code;
use crate::recovery::fork::{Fork, held};
use ropeline_room::testing::log::{EPOCH, Log, room, settings};

#[test]
fn what_was_lost_for_good_leaves_older_codes_in_doubt() {
    let mut log = Log::of(State::after_a_loss(EPOCH), settings(9));
    assert_eq!(log.redeem(code(1, 1)), Err(Denied::NotNow), "somebody may bring it yet");
    log.pass(22_500);
    let later = Redeem {
        issued: Wall(log.time),
        ..code(1, 1)
    };
    assert_eq!(log.redeem(code(1, 1)), Err(Denied::Doubtful));
    log.redeem(later).unwrap();
    // Out of the configuration, and in again.
    let at = Wall(log.time);
    log.change(Change::Remove);
    log.pass(1_000);
    log.change(Change::Configure(settings(9)));
    assert_eq!(
        log.redeem(Redeem {
            issued: at,
            ..code(2, 2)
        }),
        Err(Denied::Doubtful)
    );
    let later = Wall(log.time);
    log.redeem(Redeem {
        issued: later,
        ..code(2, 2)
    })
    .unwrap();
}

#[test]
fn a_log_known_to_be_the_first_doubts_nothing_and_neither_does_a_new_room() {
    let mut log = Log::new(settings(9));
    let issued = Wall(1);
    log.redeem(Redeem { issued, ..code(1, 1) }).unwrap();
}

#[test]
fn a_lost_logs_spent_codes_come_back_with_the_number_that_each_was_good_for() {
    let mut log = Log::new(held(1));
    log.redeem(code(1, 1)).unwrap();
    let mut fork = Fork::of(log);
    let lost = fork.old.redeem(code(2, 2)).unwrap();
    fork.old.mark(lost);
    let at = fork.old.time;
    assert_eq!(fork.bring(), 0);
    assert_eq!((fork.new.spent(), fork.new.ahead(lost)), (2, Some(1)));
    fork.new.time = at + 1;
    for (id, holder) in [(1, 9), (2, 9)] {
        assert_eq!(fork.new.redeem(code(id, holder)), Err(Denied::Spent), "{id}");
    }
    assert_eq!(fork.new.redeem(code(2, 2)), Ok(lost));
    let again = fork.old.state.adoption(&fork.new.state);
    assert!(again.is_empty(), "{again:?}");
}

#[test]
fn who_was_never_heard_of_again_asks_and_has_the_lost_number_again() {
    let mut fork = Fork::of(Log::new(held(1)));
    let lost = fork.old.redeem(code(1, 1)).unwrap();
    fork.old.apply(5_000, Batch::default());
    fork.bring();
    assert!(!fork.new.is_present(lost));
    assert_eq!(fork.new.redeem(code(1, 1)), Ok(lost));
    assert!(fork.new.is_present(lost) && fork.new.redeem(code(1, 2)) == Err(Denied::Spent));
}

/// Two masters have each given a number for the code: one of them is nobody's after the split.
#[test]
fn of_two_numbers_by_one_code_one_is_left_when_histories_meet() {
    let mut fork = Fork::of(Log::new(held(1)));
    let there = fork.old.redeem(code(1, 1)).unwrap();
    let here = fork.new.redeem(code(1, 2)).unwrap();
    fork.bring();
    assert!(fork.new.is_present(here));
    assert_eq!(fork.new.standing(there), Standing::Ended);
    assert!(!fork.new.mark(there), "nor by its ticket");
}

#[test]
fn many_spent_codes_come_back_in_batches_of_the_logs_size() {
    let mut fork = Fork::of(Log::new(held(1)));
    for part in 0..5_u8 {
        let mut codes: Vec<Redeem> = (0..200).map(|id| code(id, 1)).collect();
        for code in &mut codes {
            code.code.0[5] = part;
        }
        fork.old.redeems(codes);
    }
    let batches = fork.old.state.adoption(&fork.new.state);
    assert!(
        batches
            .iter()
            .all(|batch| batch.encoded_len() <= ropeline_room::MAX_BATCH_BYTES)
    );
    assert!(batches.last().unwrap().adopt.unwrap().done);
    fork.bring();
    assert_eq!(fork.new.spent(), 1_000);
}

/// Gates that share a log, each with a serial of its own.
struct Gates {
    state: State,
    serials: [u64; 3],
    time: u64,
}

impl Gates {
    fn new() -> Self {
        Self::of(State::empty(EPOCH))
    }

    fn of(state: State) -> Self {
        let mut gates = Self {
            state,
            serials: [0; 3],
            time: 1_000_000,
        };
        for gate in 0..3 {
            gates.say(
                gate,
                Batch {
                    hello: true,
                    knows: 3,
                    ..Batch::default()
                },
            );
        }
        let change = RoomChange {
            room: room(),
            revision: 1,
            change: Change::Configure(held(1)),
            who: None,
        };
        gates.say(
            0,
            Batch {
                rooms: vec![change],
                ..Batch::default()
            },
        );
        gates
    }

    fn say(&mut self, gate: usize, batch: Batch) -> Vec<Redeemed> {
        self.serials[gate] += 1;
        self.time += 10;
        let at = self.state.position();
        let entry = Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(gate as u64 + 1),
            serial: self.serials[gate],
            previous: self.state.nonce(),
            nonce: (at.sequence + 1).to_le_bytes(),
            time: Wall(self.time),
            version: self.state.version(),
            batch,
        };
        self.state.apply(&entry.into()).redeemed
    }

    fn redeem(&mut self, gate: usize, redeem: Redeem) -> Option<Denied> {
        self.say(
            gate,
            Batch {
                redeems: vec![redeem],
                ..Batch::default()
            },
        )
        .remove(0)
        .denied
    }

    /// A new log, whose root comes once these gates have said that they have read so much more than it.
    fn begins(&mut self, spoke: &[(usize, u64)]) {
        let at = self.state.position();
        let hash = self.state.hash();
        self.state.begin(at.epoch + 1, Root::Hash(hash));
        for (gate, more) in spoke {
            let spoke = Spoke {
                position: Position {
                    sequence: at.sequence + more,
                    ..at
                },
                ..Spoke::default()
            };
            self.say(
                *gate,
                Batch {
                    spoke: Some(spoke),
                    knows: 3,
                    ..Batch::default()
                },
            );
        }
        self.say(
            spoke[0].0,
            Batch {
                root: Some(hash),
                ..Batch::default()
            },
        );
        let again = State::decode(&self.state.encode()).unwrap();
        assert_eq!(again.hash(), self.state.hash());
        self.say(
            spoke[0].0,
            Batch {
                hello: true,
                knows: 3,
                ..Batch::default()
            },
        );
    }
}

#[test]
fn a_log_that_all_gates_agree_on_knows_every_code() {
    let mut gates = Gates::new();
    gates.begins(&[(0, 0), (1, 0), (2, 0)]);
    assert_eq!(gates.redeem(0, code(1, 1)), None);
}

#[test]
fn codes_are_in_doubt_while_a_gate_is_missing_that_may_have_seen_them_used() {
    for missing in [vec![(0, 0), (1, 0)], vec![(0, 0), (1, 0), (2, 3)]] {
        let mut gates = Gates::new();
        gates.begins(&missing);
        assert_eq!(gates.redeem(0, code(1, 1)), Some(Denied::Doubtful), "{missing:?}");
        let issued = Wall(gates.time);
        assert_eq!(gates.redeem(0, Redeem { issued, ..code(2, 1) }), None, "issued since");
        // It brings its codes in two parts.
        let adopt = |done| crate::recovery::fork::adopt(EPOCH, done);
        for (done, doubts) in [(false, Some(Denied::NotNow)), (true, None)] {
            let batch = Batch {
                hello: true,
                knows: 3,
                adopt: Some(adopt(done)),
                ..Batch::default()
            };
            gates.say(2, batch);
            assert_eq!(gates.redeem(0, code(3, 1)), doubts, "{missing:?}");
        }
    }
}

/// The gate that has read furthest was slow, so another gave the root. Its own root and its ticks come behind that one.
#[test]
fn a_gate_that_has_not_read_the_root_leaves_the_doubt() {
    let ticks = |gates: &mut Gates| {
        let root = Some(gates.state.hash());
        gates.begins(&[(0, 0), (1, 0), (2, 3)]);
        gates.say(
            2,
            Batch {
                root,
                ..Batch::default()
            },
        );
        gates.say(2, Batch::default());
        gates.redeem(0, code(1, 1))
    };
    let mut gates = Gates::new();
    assert_eq!(ticks(&mut gates), Some(Denied::Doubtful));
    let adopt = |done| Batch {
        applied: gates.state.position().sequence,
        adopt: Some(crate::recovery::fork::adopt(EPOCH, done)),
        ..Batch::default()
    };
    let parts = [adopt(false), adopt(true)];
    for (part, doubts) in parts.into_iter().zip([Some(Denied::NotNow), None]) {
        gates.say(2, part);
        assert_eq!(gates.redeem(0, code(2, 1)), doubts);
    }
    let mut gates = Gates::of(State::empty(EPOCH).with_version(1));
    assert_eq!(ticks(&mut gates), None, "a log of version 1 goes on by its rules");
}

/// It dies between two parts: what the second would have said is not known.
#[test]
fn a_gate_that_dies_while_it_brings_what_it_knows_leaves_the_doubt() {
    let mut gates = Gates::new();
    gates.begins(&[(0, 0), (1, 0)]);
    let part = |done| Batch {
        hello: true,
        knows: 3,
        adopt: Some(crate::recovery::fork::adopt(EPOCH, done)),
        ..Batch::default()
    };
    gates.say(2, part(false));
    assert_eq!(gates.redeem(0, code(1, 1)), Some(Denied::NotNow));
    for _ in 0..3 {
        gates.time += 4_000;
        gates.say(0, Batch::default());
    }
    assert_eq!(gates.redeem(0, code(1, 1)), Some(Denied::Doubtful));
    gates.say(2, part(true));
    assert_eq!(gates.redeem(0, code(1, 1)), None);
}

#[test]
fn a_gate_that_comes_with_nothing_to_bring_ends_the_doubt() {
    let mut gates = Gates::new();
    gates.begins(&[(0, 0)]);
    gates.say(
        1,
        Batch {
            hello: true,
            knows: 3,
            ..Batch::default()
        },
    );
    assert_eq!(
        gates.redeem(0, code(1, 1)),
        Some(Denied::Doubtful),
        "another is missing"
    );
    gates.say(
        2,
        Batch {
            hello: true,
            knows: 3,
            ..Batch::default()
        },
    );
    assert_eq!(gates.redeem(0, code(1, 1)), None);
}
