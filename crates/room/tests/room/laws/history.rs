//! Random histories: possible entries of gates, in any order, at any times.

use proptest::prelude::*;
use ropeline_room::{
    Batch, CallOrder, Change, Claim, Completion, Edition, End, Entry, Epoch, GateId, LaneId, LineName, Mode, Number,
    Overrides, PendingId, Position, RoomChange, Section, Settings, State, VERSION, Wall,
};

use ropeline_room::testing::log::{EPOCH, notes_until, room};

/// A visitor in a gate's report.
#[derive(Clone, Debug)]
pub enum Who {
    /// The i-th of all numbers issued so far, from the latest.
    Issued(u16),
    /// A number that was possibly never issued: epoch by its index among the known and some lost ones, and n.
    Odd(u8, u16),
}

#[derive(Clone, Debug)]
pub enum Word {
    Join(u8, u8),
    Pending(u8, u8),
    Mark(Who),
    Claim(Who, bool),
    Renew(Who),
    Leave(Who),
    End(Who, u16),
    /// With a pass of this edition.
    Complete(Who, u8, u16),
    Reopen(Who),
    Bypass(u8),
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a history has tens of them")]
pub enum Step {
    /// A gate says something; `line` 0 is the line without a name.
    Say {
        gate: u8,
        hello: bool,
        line: u8,
        words: Vec<Word>,
    },
    /// The last entry's batch once more.
    Again,
    Goodbye(u8),
    Change(Change),
    /// A new log of one gate.
    Begin(u8),
    /// A new log of several: which gates speak, whether one says what does not count yet, and whether its root comes.
    Share {
        above: u8,
        speak: [bool; 2],
        noise: bool,
        rooted: bool,
    },
    /// A replica falls behind.
    Fork,
    /// The others are lost, and it begins a new log.
    Lose(u8),
    /// One of the others is found again.
    Bring,
    /// The replica goes through its bytes.
    Recode,
}

/// One step, and how far the store's clock went since the one before; now and then it goes back.
pub type Timed = (i16, Step);

/// Short durations, so that a history sees many of each.
pub fn settings() -> Settings {
    Settings {
        capacity: 3,
        claim_deadline_ms: 3_000,
        session_ms: 6_000,
        session_max_ms: 15_000,
        grace_ms: 10_000,
        firm_within_ms: 2_000,
        late_window_ms: 12_000,
        max_lines: 2,
        ..Settings::default()
    }
}

pub fn history(longest: usize) -> impl Strategy<Value = Vec<Timed>> {
    let ms = prop_oneof![
        6 => 0..1_000_i16,
        3 => 1_000..4_000_i16,
        1 => 4_000..9_000_i16,
        1 => -9_000..0_i16,
    ];
    prop::collection::vec((ms, step()), 1..longest)
}

fn step() -> impl Strategy<Value = Step> {
    let say = (
        0..2_u8,
        prop::bool::weighted(0.7),
        prop_oneof![3 => Just(0_u8), 1 => 1..4_u8],
        words(),
    );
    prop_oneof![
        60 => say.prop_map(|(gate, hello, line, words)| Step::Say { gate, hello, line, words }),
        3 => Just(Step::Again),
        1 => (0..2_u8).prop_map(Step::Goodbye),
        8 => change().prop_map(Step::Change),
        2 => (1..20_u8).prop_map(Step::Begin),
        2 => share(),
        3 => Just(Step::Fork),
        2 => (1..20_u8).prop_map(Step::Lose),
        3 => Just(Step::Bring),
        3 => Just(Step::Recode),
    ]
}

fn share() -> impl Strategy<Value = Step> {
    (1..20_u8, any::<[bool; 2]>(), any::<bool>(), prop::bool::weighted(0.8)).prop_map(
        |(above, speak, noise, rooted)| Step::Share {
            above,
            speak,
            noise,
            rooted,
        },
    )
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    let word = prop_oneof![
        6 => (0..2_u8, 0..4_u8).prop_map(|(lane, count)| Word::Join(lane, count)),
        1 => (0..2_u8, 0..8_u8).prop_map(|(lane, id)| Word::Pending(lane, id)),
        8 => who().prop_map(Word::Mark),
        6 => (who(), any::<bool>()).prop_map(|(who, carried)| Word::Claim(who, carried)),
        3 => who().prop_map(Word::Renew),
        1 => who().prop_map(Word::Leave),
        1 => (who(), 0..4_000_u16).prop_map(|(who, after)| Word::End(who, after)),
        2 => (who(), 0..3_u8, 0..4_000_u16).prop_map(|(who, edition, after)| Word::Complete(who, edition, after)),
        3 => who().prop_map(Word::Reopen),
        1 => (0..3_u8).prop_map(Word::Bypass),
    ];
    prop::collection::vec(word, 0..6)
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        20 => (0..40_u16).prop_map(Who::Issued),
        1 => (0..8_u8, 0..30_u16).prop_map(|(epoch, n)| Who::Odd(epoch, n)),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let mode = prop_oneof![4 => Just(Mode::Auto), 1 => Just(Mode::Hold), 1 => Just(Mode::Closed), 1 => Just(Mode::Off)];
    let rate = prop_oneof![Just(None), (0..200_u32).prop_map(|rate| Some(Some(rate)))];
    let overrides = (
        prop::option::of(mode),
        prop::option::of(0..6_u32),
        rate,
        prop::option::of(1..9_u32),
    )
        .prop_map(|(mode, capacity, rate_per_minute, stock)| Overrides {
            mode,
            capacity,
            rate_per_minute,
            stock,
            ..Overrides::default()
        });
    let weights = prop_oneof![Just(vec![1]), Just(vec![2, 1])];
    prop_oneof![
        10 => overrides.prop_map(Change::Override),
        2 => weights.prop_map(|lane_weights| Change::Configure(Settings { lane_weights, ..settings() })),
        3 => call().prop_map(Change::Call),
        1 => Just(Change::Reset),
        1 => Just(Change::EndHealing),
        1 => Just(Change::Remove),
        1 => (0..4_u32).prop_map(|edition| Change::Edition(Edition(edition))),
    ]
}

fn call() -> impl Strategy<Value = CallOrder> {
    (0..4_u8, prop::option::of(0..3_u8), 0..8_u32, any::<bool>()).prop_map(|(line, lane, count, beyond)| CallOrder {
        line: line_name(line),
        lane: lane.map(LaneId),
        count,
        beyond,
    })
}

/// Turns steps into entries, and keeps the issued numbers.
#[derive(Debug)]
pub struct Author {
    pub issued: Vec<(LineName, LaneId, Number)>,
    /// Epochs that logs were begun with, and some between that all gates lost.
    epochs: Vec<u64>,
    time: u64,
    serials: [u64; 2],
    revision: u64,
    last: Option<Entry>,
}

impl Author {
    pub fn new() -> Self {
        Self {
            issued: Vec::new(),
            epochs: vec![7, EPOCH - 3, EPOCH, EPOCH + 900],
            time: 1_000_000,
            serials: [0; 2],
            revision: 0,
            last: None,
        }
    }

    /// The epoch of a log begun after the state's.
    pub fn epoch(&mut self, state: &State, above: u8) -> u64 {
        let epoch = state.position().epoch + 2 * u64::from(above);
        self.epochs.extend([epoch - 1, epoch]);
        epoch
    }

    pub fn entry(&mut self, state: &State, ms: i16, step: &Step) -> Entry {
        self.time = self.time.saturating_add_signed(i64::from(ms));
        let (gate, batch) = match step {
            Step::Say {
                gate,
                hello,
                line,
                words,
            } => (
                *gate,
                Batch {
                    hello: *hello,
                    sections: vec![self.section(*line, words)],
                    ..Batch::default()
                },
            ),
            Step::Goodbye(gate) => (
                *gate,
                Batch {
                    goodbye: true,
                    ..Batch::default()
                },
            ),
            Step::Change(change) => {
                self.revision += 1;
                let change = RoomChange {
                    room: room(),
                    revision: self.revision,
                    change: change.clone(),
                    who: None,
                };
                (
                    0,
                    Batch {
                        hello: true,
                        rooms: vec![change],
                        ..Batch::default()
                    },
                )
            }
            _ => (0, Batch::default()),
        };
        let at = state.position();
        let position = Position {
            sequence: at.sequence + 1,
            ..at
        };
        if let (Step::Again, Some(last)) = (step, &self.last) {
            return Entry {
                position,
                time: Wall(self.time),
                ..last.clone()
            };
        }
        self.stamp(state, gate, batch)
    }

    /// The entry of a gate's next batch.
    pub fn stamp(&mut self, state: &State, gate: u8, batch: Batch) -> Entry {
        let at = state.position();
        let serial = &mut self.serials[usize::from(gate)];
        *serial += 1;
        let entry = Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(u64::from(gate)),
            serial: *serial,
            previous: state.nonce(),
            nonce: (at.sequence + 1).to_le_bytes(),
            time: Wall(self.time),
            version: VERSION,
            batch: Batch {
                notes_until: notes_until(state),
                ..batch
            },
        };
        self.last = Some(entry.clone());
        entry
    }

    fn section(&self, line: u8, words: &[Word]) -> Section {
        let mut section = Section::new(room(), line_name(line));
        for word in words {
            match word {
                Word::Join(lane, count) => section.joins.push((LaneId(*lane), u32::from(*count))),
                Word::Pending(lane, id) => section.pending_joins.push((LaneId(*lane), PendingId([*id; 12]))),
                Word::Mark(who) => section.marks.push(self.named(who)),
                Word::Renew(who) => section.renewals.push(self.named(who)),
                Word::Leave(who) => section.leaves.push(self.named(who)),
                Word::Reopen(who) => section.reopens.push(self.named(who)),
                Word::Bypass(count) => section.bypasses += u32::from(*count),
                Word::Claim(who, carried) => {
                    let (lane, number) = self.named(who);
                    section.claims.push(Claim {
                        lane,
                        number,
                        carried: *carried,
                    });
                }
                Word::Complete(who, edition, after) => {
                    let (lane, number) = self.named(who);
                    section.completions.push(Completion {
                        lane,
                        number,
                        edition: Edition(u32::from(*edition)),
                        after_ms: u64::from(*after),
                        at: None,
                        tag: None,
                    });
                }
                Word::End(who, after) => {
                    let (lane, number) = self.named(who);
                    section.ends.push(End {
                        lane,
                        number,
                        after_ms: u64::from(*after),
                    });
                }
            }
        }
        section
    }

    fn named(&self, who: &Who) -> (LaneId, Number) {
        let issued = match who {
            Who::Issued(back) => self.issued.iter().rev().nth(usize::from(*back)),
            Who::Odd(..) => None,
        };
        let (epoch, n) = match who {
            Who::Odd(epoch, n) => (self.epochs[usize::from(*epoch) % self.epochs.len()], u32::from(*n)),
            Who::Issued(back) => (EPOCH, u32::from(*back)),
        };
        issued.map_or((LaneId(0), Number { epoch: Epoch(epoch), n }), |(_, lane, number)| {
            (*lane, *number)
        })
    }

    /// Everybody there may be something to say about.
    pub fn everybody(&self) -> Vec<(LineName, LaneId, Number)> {
        let odd = self.epochs.iter().flat_map(|epoch| {
            (0..4).map(|i| Number {
                epoch: Epoch(*epoch),
                n: i * 9,
            })
        });
        let odd = odd.flat_map(|number| [0, 1].map(|line| (line_name(line), LaneId(0), number)));
        self.issued.iter().cloned().chain(odd).collect()
    }
}

pub fn line_name(line: u8) -> LineName {
    if line == 0 {
        LineName::ONLY
    } else {
        LineName::new(&format!("line {line}")).unwrap()
    }
}
