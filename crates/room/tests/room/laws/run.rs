//! A state beside the naive model of it, and the properties that must hold at every step.

use std::collections::BTreeSet;

use ropeline_room::{
    Batch, Change, Changed, Effects, Entry, Epoch, Figures, LaneId, LineName, Lines, MAX_BATCH_BYTES, Mode, Number,
    Root, Section, Spoke, Standing, State, View, Visitor, Waiting,
};

use crate::laws::history::{Author, Step, settings};
use crate::laws::model::{Answer, Model};
use ropeline_room::testing::log::{EPOCH, room};

/// The root that a new log waits for.
const ROOT: [u8; 32] = [9; 32];

/// A state and the model of it, step after step.
pub struct Run {
    pub state: State,
    model: Model,
    pub author: Author,
    /// The room's claim deadline and `firm_within`: a turn is missed long after a join has lost its freshness, or before.
    pace: (u64, u64),
    /// A replica that fell behind, with the model of it.
    behind: Option<(State, Model)>,
    /// A replica of a history that the others lost.
    lost: Option<State>,
    seen: BTreeSet<(LineName, LaneId, Number)>,
    /// Given for a pending id.
    by_id: BTreeSet<(LineName, LaneId, Number)>,
}

impl Run {
    /// `kind` picks whether the log may have lost something, and the pace.
    pub fn new(kind: usize) -> Self {
        let proven_new = kind.is_multiple_of(2);
        let mut run = Self {
            state: if proven_new {
                State::empty(EPOCH)
            } else {
                State::after_a_loss(EPOCH)
            },
            model: Model::new(EPOCH, proven_new),
            author: Author::new(),
            pace: if kind.is_multiple_of(3) {
                (1_000, 13_000)
            } else {
                (3_000, 2_000)
            },
            behind: None,
            lost: None,
            seen: BTreeSet::new(),
            by_id: BTreeSet::new(),
        };
        run.step(0, &Step::Change(Change::Configure(settings())));
        run
    }

    pub fn step(&mut self, ms: i16, step: &Step) {
        match step {
            Step::Begin(above) => {
                let epoch = self.author.epoch(&self.state, *above);
                self.begin(epoch, None);
            }
            Step::Share {
                above,
                speak,
                noise,
                rooted,
            } => {
                let epoch = self.author.epoch(&self.state, *above);
                self.begin(epoch, Some(ROOT));
                self.share(*speak, *noise);
                if *rooted {
                    self.root();
                }
            }
            Step::Fork => {
                self.behind = Some((State::decode(&self.state.encode()).unwrap(), self.model.clone()));
            }
            Step::Lose(above) => {
                let epoch = self.author.epoch(&self.state, *above);
                if let Some((state, model)) = self.behind.take() {
                    self.lost = Some(std::mem::replace(&mut self.state, state));
                    self.model = model;
                    self.begin(epoch, None);
                }
            }
            Step::Bring => {
                if let Some(mut lost) = self.lost.take() {
                    self.bring(&mut lost);
                    self.lost = Some(lost);
                }
            }
            Step::Recode => self.state = State::decode(&self.state.encode()).unwrap(),
            _ => {
                let mut entry = self.author.entry(&self.state, ms, step);
                for change in &mut entry.batch.rooms {
                    if let Change::Configure(settings) = &mut change.change {
                        (settings.claim_deadline_ms, settings.firm_within_ms) = self.pace;
                    }
                }
                self.apply(&entry);
            }
        }
    }

    fn begin(&mut self, epoch: u64, awaits: Option<[u8; 32]>) {
        self.state.begin(epoch, awaits.map_or(Root::Own, Root::Hash));
        self.model.begin(epoch, awaits);
    }

    fn say(&mut self, gate: u8, batch: Batch) {
        let entry = self.author.stamp(&self.state, gate, batch);
        self.apply(&entry);
    }

    /// Entries before a log's root: they must not change the rooms.
    fn share(&mut self, speak: [bool; 2], noise: bool) {
        let before = self.state.view();
        for gate in [0, 1].into_iter().filter(|gate| speak[usize::from(*gate)]) {
            let batch = Batch {
                spoke: Some(Spoke::default()),
                ..Batch::default()
            };
            self.say(gate, batch);
        }
        if noise {
            let mut join = self.author.entry(&self.state, 4_000, &Step::Goodbye(0));
            join.batch = Batch {
                hello: true,
                sections: vec![Section {
                    joins: vec![(LaneId(0), 2)],
                    ..Section::new(room(), LineName::ONLY)
                }],
                ..Batch::default()
            };
            self.apply(&join);
        }
        let after = self.state.view();
        assert!(!after.rooted && !after.open(&room(), &LineName::ONLY, after.clock));
        assert_eq!(after.clock, before.clock);
        assert_eq!(figures(&after), figures(&before));
    }

    /// The log gets the root that it waits for.
    pub fn root(&mut self) {
        let batch = Batch {
            root: Some(ROOT),
            ..Batch::default()
        };
        self.say(0, batch);
        assert!(self.state.rooted());
    }

    /// All that the lost history knew is known here, and no visitor is called meanwhile.
    fn bring(&mut self, lost: &mut State) {
        let batches = lost.adoption(&self.state);
        let epochs: BTreeSet<Epoch> = batches
            .iter()
            .filter_map(|batch| batch.adopt)
            .map(|adopt| adopt.epoch)
            .collect();
        // Lines that the room had no room for when their numbers came; it may have made it since.
        let mut refused = BTreeSet::new();
        for batch in batches {
            let told: Vec<LineName> = batch.sections.iter().map(|section| section.line.clone()).collect();
            let epoch = batch.adopt.map(|adopt| adopt.epoch);
            assert!(batch.encoded_len() <= MAX_BATCH_BYTES);
            let before = self.state.view();
            self.say(0, Batch { hello: true, ..batch });
            let view = self.state.view();
            let is_there = |line: &LineName| view.rooms.get(&room()).is_some_and(|room| room.line(line).is_some());
            refused.extend(
                told.into_iter()
                    .filter(|line| !is_there(line))
                    .map(|line| (line, epoch)),
            );
            let calls = |view: &View| figures(view).iter().map(|(.., figures)| figures.calls).sum::<u64>();
            assert!(calls(&view) <= calls(&before), "called while an epoch comes back");
        }
        if !self.state.rooted() {
            return;
        }
        assert!(lost.adoption(&self.state).is_empty());
        let (was, is) = (lost.view(), self.state.view());
        for (line, lane, number) in self.author.everybody() {
            let rooms = [&was, &is].map(|view| view.rooms.get(&room()).filter(|room| room.line(&line).is_some()));
            let [Some(before), Some(after)] = rooms else { continue };
            let lane_is_there = after.line(&line).is_some_and(|line| !line.epochs(lane).is_empty());
            let was_refused = refused.contains(&(line.clone(), Some(number.epoch)));
            if before.edition < after.edition || !lane_is_there || was_refused || !epochs.contains(&number.epoch) {
                continue;
            }
            let silent = self.by_id.contains(&(line.clone(), lane, number));
            let visitor = Visitor {
                room: room(),
                line,
                lane,
                number,
                rehearsal: None,
            };
            let (was, is) = (was.standing(&visitor, was.clock), is.standing(&visitor, is.clock));
            // That number may not have reached its visitor yet.
            if silent
                && matches!(
                    is,
                    Standing::Unknown | Standing::Waiting(Waiting { present: false, .. })
                )
            {
                continue;
            }
            assert!(is_brought_back(was, is), "{visitor:?} was {was:?} and is {is:?}");
        }
    }

    pub fn apply(&mut self, entry: &Entry) {
        let before = self.state.view();
        let effects = self.state.apply(&entry.clone().into());
        let expected = self.model.apply(entry);
        let answer = Answer {
            joined: effects.joined.iter().map(|joined| joined.first).collect(),
            pending_joined: effects.pending_joined.iter().map(|joined| joined.first).collect(),
            skipped: effects.skipped,
            ignored: effects.ignored,
            clock: effects.clock.0,
        };
        assert_eq!(answer, expected);
        for joined in &effects.joined {
            let numbers = joined.first.map(|first| {
                (0..joined.count).map(move |i| Number {
                    n: first.n + i,
                    ..first
                })
            });
            for number in numbers.into_iter().flatten() {
                let issued = (joined.line.clone(), joined.lane, number);
                assert!(self.seen.insert(issued.clone()), "issued twice: {issued:?}");
                self.author.issued.push(issued);
            }
        }
        for joined in &effects.pending_joined {
            let issued = joined.first.map(|number| (joined.line.clone(), joined.lane, number));
            self.by_id.extend(issued.clone());
            self.author
                .issued
                .extend(issued.filter(|issued| self.seen.insert(issued.clone())));
        }
        let after = self.state.view();
        capacity_is_kept(&before, &after, (entry, &effects));
        self.stock_is_kept(&before, &after);
        self.order_is_kept(&before, &after);
    }

    /// Every visitor was called for a piece that is neither sold nor held, judged by all visitors' standings and not by the
    /// room's count.
    fn stock_is_kept(&self, before: &View, after: &View) {
        let Some(of) = after.rooms.get(&room()) else { return };
        for (name, line) in of.lines.iter() {
            let Some(stock) = line.figures.stock else { continue };
            let earlier = before.rooms.get(&room()).and_then(|room| room.line(name));
            if line.figures.calls <= earlier.map_or(0, |line| line.figures.calls) {
                continue;
            }
            let everybody: BTreeSet<_> = self.author.everybody().into_iter().collect();
            let holds = |(of, lane, number): &&(LineName, LaneId, Number)| {
                let standing = line.standing(*lane, *number, after.clock);
                let slot = matches!(standing, Standing::Called(_) | Standing::Inside(_));
                of == name && slot && !line.winners().has(*lane, *number)
            };
            let held = everybody.iter().filter(holds).count();
            let sold = line.winners().iter_from(0).count();
            assert!(sold + held <= stock as usize, "{sold} sold, {held} held of {stock}");
        }
    }

    /// The view's figures of all visitors equal the naive model's.
    pub fn agrees(&mut self) {
        let view = self.state.view();
        let ahead = |until: u64| Some(until).filter(|until| *until > self.model.clock);
        if let Some(room) = view.rooms.get(&room()) {
            let heals = ahead(self.model.lore.healing.until);
            assert_eq!(room.healing_until(view.clock).map(|until| until.0), heals);
        }
        assert_eq!(view.rooted, self.model.awaits.is_none());
        let adopting = Some(self.model.adopted_by()).filter(|until| *until > self.model.clock);
        assert_eq!(view.adopting.map(|until| until.0), adopting);
        for (line, lane, number) in self.author.everybody() {
            let expected = self.model.standing(&line, lane, (number.epoch.0, u64::from(number.n)));
            let visitor = Visitor {
                room: room(),
                line,
                lane,
                number,
                rehearsal: None,
            };
            assert_eq!(
                view.standing(&visitor, view.clock),
                expected,
                "{visitor:?} at {:?}",
                view.clock
            );
        }
        let editions = view
            .rooms
            .get(&room())
            .map(|room| (room.edition.0, room.spared.map(|epoch| epoch.0)));
        let modelled = self.model.room.as_ref();
        assert_eq!(editions, modelled.map(|room| (room.edition, room.spared)));
        let lines = view.rooms.get(&room()).map(|room| &room.lines);
        let modelled = self.model.room.as_ref().map(|room| &room.lines);
        assert_eq!(
            lines.map(|lines| lines.keys().collect::<Vec<_>>()),
            modelled.map(|lines| lines.keys().collect())
        );
        for (name, line) in lines.into_iter().flat_map(Lines::iter) {
            let model = &modelled.unwrap()[name];
            let waiting = model.waiting(self.model.clock);
            let settings = &self.model.room.as_ref().unwrap().settings;
            let sold: BTreeSet<_> = line
                .winners()
                .iter_from(0)
                .map(|w| (w.lane, (w.number.epoch.0, u64::from(w.number.n))))
                .collect();
            assert_eq!(sold, model.sold);
            assert_eq!(
                line.figures,
                Figures {
                    waiting,
                    capacity: settings.capacity,
                    stock: settings.stock,
                    completed: u32::try_from(model.sold.len()).unwrap(),
                    unfinished: settings.stock.map_or(0, |_| model.unfinished()),
                    ..model.figures
                },
                "{name:?}"
            );
        }
    }

    /// No visitor is called while one with a lower number of the lane is present and stays so; none who ended is called.
    fn order_is_kept(&self, before: &View, after: &View) {
        for (line, lane, number) in &self.author.issued {
            let visitor = Visitor {
                room: room(),
                line: line.clone(),
                lane: *lane,
                number: *number,
                rehearsal: None,
            };
            let (was, is) = (
                before.standing(&visitor, before.clock),
                after.standing(&visitor, after.clock),
            );
            if !matches!(is, Standing::Called(_)) || matches!(was, Standing::Called(_)) {
                continue;
            }
            // Not a call of this entry: its turn was over but not yet missed, and a room that admits no visitor keeps it.
            let keeps_turns = matches!(after.rooms[&room()].settings.mode, Mode::Closed | Mode::Off);
            if keeps_turns && matches!(is, Standing::Called(called) if called.called_at != after.time) {
                continue;
            }
            assert!(
                !matches!(was, Standing::Ended | Standing::Late),
                "{number:?} was {was:?} and is called"
            );
            for other in self
                .author
                .issued
                .iter()
                .filter(|(l, i, n)| l == line && i == lane && n < number)
            {
                let ahead = Visitor {
                    number: other.2,
                    ..visitor.clone()
                };
                let passed = matches!(after.standing(&ahead, after.clock), Standing::Waiting(w) if w.present);
                assert!(!passed, "{number:?} was called before {:?}", other.2);
            }
        }
    }
}

/// The allowed standings of a visitor of a lost history once it was brought back.
fn is_brought_back(was: Standing, is: Standing) -> bool {
    match was {
        Standing::Ended | Standing::Inside(_) => {
            matches!(is, Standing::Ended | Standing::Late | Standing::Inside(_))
        }
        Standing::Called(_) | Standing::Waiting(Waiting { present: true, .. }) => match is {
            // An absent visitor was called here too.
            Standing::Waiting(waiting) => waiting.present || waiting.missed_at.is_some(),
            _ => is != Standing::Unknown,
        },
        _ => true,
    }
}

fn figures(view: &View) -> Vec<(LineName, Figures)> {
    let lines = view.rooms.values().flat_map(|room| room.lines.iter());
    lines.map(|(name, line)| (name.clone(), line.figures)).collect()
}

/// Every visitor was called into a free slot, except those whom an operator admits beyond the capacity.
fn capacity_is_kept(before: &View, after: &View, (entry, effects): (&Entry, &Effects)) {
    let lines = after.rooms.get(&room()).into_iter().flat_map(|room| room.lines.iter());
    for (name, line) in lines {
        let figures = line.figures;
        let earlier = before
            .rooms
            .get(&room())
            .and_then(|room| room.line(name))
            .map_or(0, |line| line.figures.calls);
        let said = entry.batch.rooms.iter().zip(&effects.changed);
        let orders = said.filter_map(|(change, taken)| match (&change.change, taken) {
            (Change::Call(order), Changed::Taken) if order.beyond && order.line == *name => {
                Some(u64::from(order.count))
            }
            _ => None,
        });
        if figures.calls > earlier + orders.sum::<u64>() {
            assert!(figures.called + figures.inside <= figures.capacity, "{figures:?}");
        }
    }
}
