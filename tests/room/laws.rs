//! The design's invariants over random histories, beside the naive model and without it.

use std::collections::BTreeSet;

use anteroom::room::{
    Batch, Change, Entry, Figures, LaneId, LineName, Lines, Mode, Number, Overrides, Root, Section, Standing, State,
    View, Visitor,
};
use proptest::prelude::*;

use super::history::{Author, Step, Timed, history, line_name, settings};
use super::model::{Answer, Model};
use super::support::{INCARNATION, room};

/// A state and the model of it, step after step.
struct Run {
    state: State,
    model: Model,
    author: Author,
    /// The room's claim deadline and `firm_within`: a turn is missed long after a join has lost its freshness, or before.
    pace: (u64, u64),
    seen: BTreeSet<(LineName, LaneId, Number)>,
}

impl Run {
    /// `kind` picks whether the log may have lost something, and the pace.
    fn new(kind: usize) -> Self {
        let proven_new = kind.is_multiple_of(2);
        let mut run = Self {
            state: State::empty(INCARNATION, proven_new),
            model: Model::new(INCARNATION, proven_new),
            author: Author::new(),
            pace: if kind.is_multiple_of(3) {
                (1_000, 13_000)
            } else {
                (3_000, 2_000)
            },
            seen: BTreeSet::new(),
        };
        run.step(0, &Step::Change(Change::Configure(settings())));
        run
    }

    fn step(&mut self, ms: i16, step: &Step) {
        match step {
            Step::Begin(above) => {
                let incarnation = self.author.incarnation(&self.state, *above);
                self.state.begin(incarnation, Root::Own);
                self.model.begin(incarnation);
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

    fn apply(&mut self, entry: &Entry) {
        let before = self.state.view();
        let effects = self.state.apply(entry);
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
            self.author
                .issued
                .extend(issued.filter(|issued| self.seen.insert(issued.clone())));
        }
        let after = self.state.view();
        capacity_is_kept(&before, &after);
        self.order_is_kept(&before, &after);
    }

    /// Everything that the view says of everybody is what the naive model says.
    fn agrees(&mut self) {
        let view = self.state.view();
        assert_eq!(
            view.healing_until.map_or(0, |until| until.0),
            if self.model.clock < self.model.lore.healing_until {
                self.model.lore.healing_until
            } else {
                0
            }
        );
        for (line, lane, number) in self.author.everybody() {
            let expected = self.model.standing(&line, lane, (number.era.0, u64::from(number.n)));
            let visitor = Visitor {
                room: room(),
                line,
                lane,
                number,
            };
            assert_eq!(
                view.standing(&visitor, view.clock),
                expected,
                "{visitor:?} at {:?}",
                view.clock
            );
        }
        let lines = view.rooms.get(&room()).map(|room| &room.lines);
        let modelled = self.model.room.as_ref().map(|room| &room.lines);
        assert_eq!(
            lines.map(|lines| lines.keys().collect::<Vec<_>>()),
            modelled.map(|lines| lines.keys().collect())
        );
        for (name, line) in lines.into_iter().flat_map(Lines::iter) {
            let model = &modelled.unwrap()[name];
            let waiting = model.waiting(self.model.clock);
            let capacity = self.model.room.as_ref().unwrap().settings.capacity;
            assert_eq!(
                line.figures,
                Figures {
                    waiting,
                    capacity,
                    ..model.figures
                },
                "{name:?}"
            );
        }
    }

    /// Nobody is called while somebody with a lower number of the lane is present and stays so; nobody who ended is
    /// called.
    fn order_is_kept(&self, before: &View, after: &View) {
        for (line, lane, number) in &self.author.issued {
            let visitor = Visitor {
                room: room(),
                line: line.clone(),
                lane: *lane,
                number: *number,
            };
            let (was, is) = (
                before.standing(&visitor, before.clock),
                after.standing(&visitor, after.clock),
            );
            if !matches!(is, Standing::Called(_)) || matches!(was, Standing::Called(_)) {
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

/// Whoever was called was called into a free slot.
fn capacity_is_kept(before: &View, after: &View) {
    let lines = after.rooms.get(&room()).into_iter().flat_map(|room| room.lines.iter());
    for (name, line) in lines {
        let figures = line.figures;
        let earlier = before
            .rooms
            .get(&room())
            .and_then(|room| room.line(name))
            .map_or(0, |line| line.figures.calls);
        if figures.calls > earlier {
            assert!(figures.called + figures.inside <= figures.capacity, "{figures:?}");
        }
    }
}

fn steps(history: &[Timed], mut each: impl FnMut(&mut Run)) -> Run {
    let mut run = Run::new(history.len());
    for (ms, step) in history {
        run.step(*ms, step);
        each(&mut run);
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_room_does_what_the_naive_model_does(history in history(120)) {
        steps(&history, Run::agrees);
    }

    #[test]
    fn the_same_history_makes_the_same_bytes_also_through_snapshots(history in history(80)) {
        let plain: Vec<Timed> = history.iter().filter(|(_, step)| !matches!(step, Step::Recode)).cloned().collect();
        let mut once = Run::new(history.len());
        for (ms, step) in &plain {
            once.step(*ms, step);
        }
        let mut again = Run::new(history.len());
        for (ms, step) in &plain {
            again.step(*ms, step);
            again.state = State::decode(&again.state.encode()).unwrap();
            let _ = again.state.view();
        }
        prop_assert_eq!(once.state.encode(), again.state.encode());
        prop_assert_eq!(once.state.hash(), again.state.hash());
    }

    #[test]
    fn everyone_present_is_called_in_the_end(history in history(60)) {
        let mut run = steps(&history, |_| {});
        let free = Overrides { mode: Some(Mode::Auto), capacity: Some(2), rate_per_minute: Some(Some(60)), message: None };
        run.step(0, &Step::Change(Change::Configure(settings())));
        run.step(0, &Step::Change(Change::Override(free)));
        for _ in 0..200 {
            let waiting = stay(&mut run);
            if waiting == 0 {
                return Ok(());
            }
        }
        prop_assert!(false, "somebody is never called");
    }
}

/// A second passes in which everybody present checks in and everybody called comes in and leaves. Says who still waits.
fn stay(run: &mut Run) -> u64 {
    let view = run.state.view();
    let mut batch = Batch {
        hello: true,
        ..Batch::default()
    };
    for line in [0, 1, 2, 3].map(line_name) {
        let mut section = Section::new(room(), line.clone());
        for (_, lane, number) in run.author.everybody().iter().filter(|(l, ..)| *l == line) {
            let visitor = Visitor {
                room: room(),
                line: line.clone(),
                lane: *lane,
                number: *number,
            };
            match view.standing(&visitor, view.clock) {
                Standing::Waiting(waiting) if waiting.present => section.marks.push((*lane, *number)),
                Standing::Called(_) | Standing::Inside(_) => section.leaves.push((*lane, *number)),
                _ => {}
            }
        }
        batch.sections.push(section);
    }
    let mut entry = run.author.entry(&run.state, 1_000, &Step::Goodbye(1));
    entry.batch = batch;
    run.apply(&entry);
    let view = run.state.view();
    view.rooms[&room()]
        .lines
        .values()
        .map(|line| line.figures.waiting)
        .sum()
}
