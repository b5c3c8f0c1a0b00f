//! A long history from a seed: rooms, their visitors and three gates.
//!
//! The same seed gives the same history on every machine, unlike the strategies of [`history`](crate::laws::history), which
//! draw a `usize`. The machine's results go back into the entries: the gates vote with the state's hash at each checkpoint,
//! logs begin from the hash of a root, visitors act by their standing. So the chain at the end covers every result on the
//! way.

use std::collections::{BTreeMap, BTreeSet};

use ropeline_room::{
    Addition, Batch, CallOrder, Change, Claim, Completion, Edition, Effects, Encoded, End, Entry, GateId, LaneId,
    LineName, Mode, Number, Overrides, PendingId, Phase, RoomChange, RoomName, Root, Schedule, Section, Settings,
    Spoke, Standing, State, View, Visitor, Vote, Wall, Who, Window,
};

use crate::log::gates::Gates;
use ropeline_room::testing::log::{EPOCH, settings};

const STEPS: u64 = 3_000;

/// Steps from one log to the next, and how many of the last are lost with the log.
const LOG: u64 = 300;
const LOST: u64 = 40;

/// Most visitors remembered.
const PEOPLE: usize = 4_000;

const ROOMS: [&str; 3] = ["fair", "shop", "zoo-2"];
const LINES: [&str; 6] = ["", "", "", "a", "Straße 4", "a line of several words"];
const WEIGHTS: [&[u16]; 3] = [&[1], &[3, 1], &[1, 500, 65_535]];
const MODES: [Mode; 5] = [Mode::Auto, Mode::Auto, Mode::Hold, Mode::Closed, Mode::Off];

/// The events on the way, in alphabetical order.
const EVERYTHING: [&str; 14] = [
    "adopted",
    "called",
    "confirmed",
    "early",
    "ended",
    "inside",
    "late",
    "prequeue",
    "run out",
    "skipped",
    "sold",
    "sold out",
    "unknown",
    "waiting",
];

/// Rooms, their visitors and three gates.
pub struct Life {
    gates: Gates,
    /// A state of `SplitMix64` (Steele, Lea and Flood, 2014).
    seed: u64,
    people: Vec<Visitor>,
    revision: u64,
    /// A replica of some entries ago.
    behind: Option<State>,
    /// The gates' pending votes on the last checkpoint.
    votes: [Option<Vote>; 3],
    seen: BTreeSet<&'static str>,
    /// The machine version that the gates know.
    newest: u16,
}

impl Life {
    /// Under a machine version, which is the seed as well, with gates that know up to `newest`.
    pub fn new(version: u16, newest: u16) -> Self {
        let gates = Gates {
            state: State::after_a_loss(EPOCH).with_version(version),
            time: 1_700_000_000_000,
            serials: [].into(),
        };
        let mut life = Self {
            gates,
            seed: u64::from(version),
            people: Vec::new(),
            revision: 0,
            behind: None,
            votes: [None; 3],
            seen: BTreeSet::new(),
            newest,
        };
        life.configure();
        life
    }

    /// Lives to the end; half way the rooms run the newest machine version that its gates know.
    pub fn live(mut self) -> State {
        for n in 1..=STEPS {
            self.step(n);
            if n == STEPS / 2 {
                self.say(
                    1,
                    Batch {
                        raise: Some(self.newest),
                        ..Batch::default()
                    },
                );
            }
        }
        // One in which little happens would prove little.
        assert_eq!(self.seen, BTreeSet::from(EVERYTHING));
        assert_eq!(self.gates.state.version(), self.newest);
        self.gates.state
    }

    fn step(&mut self, n: u64) {
        match n % LOG {
            at if at == LOG - LOST => self.behind = State::decode(&self.gates.state.encode()).ok(),
            0 => self.begin(n / LOG),
            _ => {}
        }
        let view = self.gates.state.view();
        let sections = (0..self.below(3)).map(|_| self.section(&view)).collect();
        let rooms = if self.hits(20) { vec![self.change()] } else { Vec::new() };
        let batch = Batch {
            goodbye: self.hits(10),
            saved: self.gates.state.confirmed().map(|(sequence, _)| sequence),
            applied: view.position.sequence,
            lag_us: 400,
            sections,
            rooms,
            ..Batch::default()
        };
        let gate = 1 + self.below(3);
        self.say(gate, batch);
    }

    fn below(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let len = u64::try_from(of.len()).unwrap();
        of[usize::try_from(self.below(len)).unwrap()]
    }

    fn hits(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// The next entry, applied from its bytes; then what follows from it.
    fn say(&mut self, gate: u64, batch: Batch) {
        let ms = if self.hits(20) {
            self.below(9_000)
        } else {
            self.below(1_000)
        };
        if self.hits(10) {
            self.gates.time -= 5_000;
        }
        let on = self.gates.state.roster().any(|on| on.id == GateId(gate));
        let vote = usize::try_from(gate - 1).map(|i| self.votes[i].take()).unwrap();
        let batch = Batch {
            hello: !on,
            knows: self.newest,
            vote,
            ..batch
        };
        let nonce = self.below(u64::MAX).to_le_bytes();
        let entry = Entry {
            nonce,
            ..self.gates.entry(gate, ms, batch)
        };
        let effects = self.gates.state.apply(&Encoded::decode(entry.encode()).unwrap());
        self.meet(&effects);
        if let Some(sequence) = self.gates.state.checkpoint() {
            let hash = self.gates.state.hash();
            let vote = Vote {
                sequence,
                hash,
                again: false,
            };
            self.votes = [Some(vote); 3];
        }
        self.watch();
        self.note("confirmed", self.gates.state.confirmed().is_some());
        self.note("skipped", effects.skipped > 0);
    }

    fn watch(&mut self) {
        let view = self.gates.state.view();
        let phases: Vec<_> = view
            .rooms
            .values()
            .filter_map(|room| room.stage)
            .map(|stage| stage.phase)
            .collect();
        self.note("early", phases.contains(&Phase::Early));
        self.note("prequeue", phases.contains(&Phase::Prequeue));
        let runs_out = view.rooms.values().any(|room| room.voided < room.edition);
        self.note("run out", runs_out);
        let lines = || view.rooms.values().flat_map(|room| room.lines.values());
        let sold = lines().any(|line| line.figures.completed > 0);
        let sold_out = lines().any(|line| line.figures.completed > 0 && line.figures.is_sold_out());
        self.note("sold", sold);
        self.note("sold out", sold_out);
    }

    fn meet(&mut self, effects: &Effects) {
        for joined in effects.joined.iter().chain(&effects.pending_joined) {
            let Some(first) = joined.first else { continue };
            self.people.extend((0..joined.count.min(200)).map(|i| Visitor {
                room: joined.room.clone(),
                line: joined.line.clone(),
                lane: joined.lane,
                number: Number {
                    n: first.n + i,
                    ..first
                },
                rehearsal: None,
            }));
        }
        let forgotten = self.people.len().saturating_sub(PEOPLE);
        self.people.drain(..forgotten);
    }

    /// A new log: by turns from an earlier state, of one gate or shared by all, and from nothing. The gate that has read
    /// furthest brings lost data back.
    fn begin(&mut self, kind: u64) {
        let behind = self.behind.take().unwrap();
        let lost = std::mem::replace(&mut self.gates.state, behind);
        let epoch = lost.position().epoch + 1 + self.below(1 << 40);
        self.votes = [None; 3];
        match kind % 3 {
            0 => self.gates.state.begin(epoch, Root::Own),
            1 => self.share(epoch),
            _ => {
                self.gates.state = State::after_a_loss(epoch).with_version(lost.version());
                self.configure();
            }
        }
        for batch in lost.adoption(&self.gates.state) {
            self.say(1, batch);
            let view = self.gates.state.view();
            self.note("adopted", view.adopting.is_some());
        }
    }

    fn share(&mut self, epoch: u64) {
        let (position, nonce, hash) = {
            let state = &self.gates.state;
            (state.position(), state.nonce(), state.hash())
        };
        self.gates.state.begin(epoch, Root::Hash(hash));
        let spoke = Spoke {
            position,
            nonce,
            roster: [1, 2, 3].map(GateId).to_vec(),
        };
        for gate in 1..=3 {
            let spoke = Some(spoke.clone());
            self.say(
                gate,
                Batch {
                    spoke,
                    ..Batch::default()
                },
            );
        }
        let root = Some(hash);
        self.say(
            1,
            Batch {
                root,
                ..Batch::default()
            },
        );
        assert!(self.gates.state.rooted());
    }

    /// One gate's report of a line: joins, and actions of visitors by their standing.
    fn section(&mut self, view: &View) -> Section {
        let line = LineName::new(self.pick(&LINES)).unwrap();
        let mut section = Section::new(self.room(), line);
        for _ in 0..self.below(3) {
            let count = if self.hits(30) { 5_000 } else { self.below(30) };
            section.joins.push((self.lane(), u32::try_from(count).unwrap()));
        }
        if self.hits(200) {
            let id = [u8::try_from(self.below(40)).unwrap(); 12];
            section.pending_joins.push((self.lane(), PendingId(id)));
        }
        section.bypasses = u32::from(self.hits(100));
        let here = |visitor: &&Visitor| visitor.room == section.room && visitor.line == section.line;
        let people: Vec<Visitor> = self.people.iter().rev().filter(here).take(250).cloned().collect();
        for visitor in people {
            self.word(&mut section, view, &visitor);
        }
        section.marks.sort_unstable();
        section
    }

    /// The action of one of them, if any.
    fn word(&mut self, section: &mut Section, view: &View, visitor: &Visitor) {
        let (lane, number) = (visitor.lane, visitor.number);
        let named = (lane, number);
        let standing = view.standing(visitor, view.clock);
        match (standing, self.below(20)) {
            (Standing::Waiting(_) | Standing::Unknown, 0..=5) | (Standing::Late, 6) => section.marks.push(named),
            (Standing::Called(_), 0..=5) => {
                let carried = self.hits(700);
                section.claims.push(Claim { lane, number, carried });
            }
            (Standing::Inside(_), 0..=5) => section.renewals.push(named),
            (Standing::Inside(_), 6) => {
                let after_ms = self.below(4_000);
                section.ends.push(End { lane, number, after_ms });
            }
            (Standing::Ended | Standing::Unknown, 6) => section.reopens.push(named),
            (Standing::Inside(_) | Standing::Waiting(_), 7) if self.hits(200) => section.leaves.push(named),
            (Standing::Inside(_), 8..=10) => self.complete(section, view, visitor),
            (Standing::Ended | Standing::Called(_) | Standing::Unknown, 8) => {
                self.complete(section, view, visitor);
            }
            _ => {}
        }
        self.note(name_of(standing), true);
    }

    /// They buy, or have bought; now and then in a sale that is over.
    fn complete(&mut self, section: &mut Section, view: &View, visitor: &Visitor) {
        let edition = view.rooms.get(&visitor.room).map_or(Edition(0), |room| room.edition);
        let before = u32::from(self.hits(100));
        section.completions.push(Completion {
            lane: visitor.lane,
            number: visitor.number,
            edition: Edition(edition.0.saturating_sub(before)),
            after_ms: self.below(4_000),
            at: None,
            tag: None,
        });
    }

    fn change(&mut self) -> RoomChange {
        let mode = self.pick(&MODES);
        let number = u32::try_from(self.below(30)).unwrap();
        let change = match self.below(12) {
            0 => Change::Reset,
            1 => Change::Remove,
            2 => Change::Edition(Edition(number / 8)),
            3 if self.hits(800) => Change::Windows {
                rule: format!("rule {}", self.below(3)),
                windows: self.windows(),
            },
            3 => Change::Call(CallOrder {
                line: LineName::new(self.pick(&LINES)).unwrap(),
                lane: self.hits(300).then(|| self.lane()),
                count: number,
                beyond: self.hits(300),
            }),
            4 => Change::Add(Box::new(Addition {
                text: format!("a table, {number}"),
                settings: self.settings(),
                at: None,
            })),
            5..=6 => Change::Configure(self.settings()),
            _ => Change::Override(Overrides {
                mode: Some(mode),
                capacity: self.hits(500).then_some(number),
                rate_per_minute: self.hits(300).then_some(Some(20 * number)),
                message: self.hits(500).then(|| "Zurück um 12 — 戻ります".to_owned()),
                messages: self.messages(),
                schedule: self.own_schedule(),
                stock: self.hits(200).then_some(number),
            }),
        };
        let room = self.room();
        self.numbered(room, change)
    }

    fn configure(&mut self) {
        for room in ROOMS {
            let change = Change::Configure(self.settings());
            let rooms = vec![self.numbered(RoomName::new(room).unwrap(), change)];
            self.say(
                1,
                Batch {
                    rooms,
                    ..Batch::default()
                },
            );
        }
    }

    fn settings(&mut self) -> Settings {
        Settings {
            rate_per_minute: self.hits(300).then_some(300),
            max_lines: 3,
            lane_weights: self.pick(&WEIGHTS).to_vec(),
            schedule: self.schedule(),
            stock: self.stock(),
            ..settings(u32::try_from(4 + self.below(60)).unwrap())
        }
    }

    /// Half of the rooms sell some pieces.
    fn stock(&mut self) -> Option<u32> {
        self.hits(500).then(|| u32::try_from(5 + self.below(40)).unwrap())
    }

    /// Some rooms go by a schedule; its windows are minutes apart.
    fn schedule(&mut self) -> Option<Schedule> {
        self.hits(600).then(|| Schedule {
            rule: format!("rule {}", self.below(3)),
            windows: self.windows(),
        })
    }

    /// An operator's own, now and then.
    fn own_schedule(&mut self) -> Option<Schedule> {
        if self.hits(150) { self.schedule() } else { None }
    }

    fn windows(&mut self) -> Vec<Window> {
        let mut at = self.gates.time + self.below(60_000);
        let mut window = |life: &mut Self| {
            let begins = at;
            let opens = begins + life.below(2) * life.below(40_000);
            let closes = opens + 1 + life.below(120_000);
            at = closes + life.below(2) * life.below(30_000);
            Window {
                begins: Wall(begins),
                opens: Wall(opens),
                closes: life.hits(700).then_some(Wall(closes)),
                results: life.hits(300).then_some(Wall(closes + 5)),
            }
        };
        (0..3).map(|_| window(self)).collect()
    }

    fn numbered(&mut self, room: RoomName, change: Change) -> RoomChange {
        self.revision += 1;
        RoomChange {
            room,
            revision: self.revision,
            change,
            who: self.hits(700).then(|| Who {
                name: "anna".to_owned(),
                reason: "too few inside".to_owned(),
            }),
        }
    }

    fn messages(&mut self) -> BTreeMap<String, String> {
        let text = |tag: &str| (tag.to_owned(), format!("{tag}: back at 12"));
        if self.hits(300) {
            BTreeMap::from(["de", "ko"].map(text))
        } else {
            BTreeMap::new()
        }
    }

    fn room(&mut self) -> RoomName {
        RoomName::new(self.pick(&ROOMS)).unwrap()
    }

    fn lane(&mut self) -> LaneId {
        LaneId(u8::try_from(self.below(3)).unwrap())
    }

    fn note(&mut self, what: &'static str, is: bool) {
        if is {
            self.seen.insert(what);
        }
    }
}

fn name_of(standing: Standing) -> &'static str {
    match standing {
        Standing::Waiting(_) => "waiting",
        Standing::Called(_) => "called",
        Standing::Inside(_) => "inside",
        Standing::Late => "late",
        Standing::Ended => "ended",
        Standing::Unknown => "unknown",
    }
}
