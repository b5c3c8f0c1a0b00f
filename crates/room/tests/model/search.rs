//! The search: breadth first over all worlds, each form once; and from each the way on which everybody is served.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use crate::SERVED_WITHIN;
use crate::frozen::Frozen;
use crate::laws::{Before, broken_by};
use crate::steps::Step;
use crate::words::Words;
use crate::world::{Broken, Size, World};

/// Where the search ends, if it is not at an end by itself.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub states: usize,
    /// Memory of the states, as far as it is counted.
    pub bytes: usize,
    /// So many ways to the end are followed beyond the states that were looked at.
    pub beyond: usize,
}

impl Bound {
    pub const NONE: Self = Self {
        states: usize::MAX,
        bytes: usize::MAX,
        beyond: 300,
    };
}

/// What ended a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Every state was looked at.
    Exhausted,
    States,
    Memory,
    Time,
}

struct Node {
    /// Until all steps from here were taken.
    frozen: Option<Box<Frozen>>,
    parent: usize,
    step: Option<Step>,
    depth: usize,
    /// The world's time on the way by which it was found first.
    wall: u64,
    fair: Fair,
}

type Key = [u8; 32];

/// States that are looked at before what was found is taken in.
const BATCH: usize = 256;

/// What was found from a state.
struct Looked {
    fair: Option<Step>,
    nexts: Vec<Next>,
}

/// A step, and what it leads to; or the law that it breaks.
struct Next {
    step: Step,
    to: Result<Reached, String>,
}

/// The form of a state, its time, and the state itself if the form is new.
struct Reached {
    key: Key,
    wall: u64,
    new: Option<Box<Frozen>>,
}

/// The next state when nothing fails and everybody acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fair {
    /// Nobody wants anything.
    Served,
    Next(usize),
    /// The search ended before.
    Unknown,
}

pub struct Search {
    size: Size,
    broken: Broken,
    nodes: Vec<Node>,
    known: HashMap<Key, usize>,
    /// Memory of the states that are still to be looked at.
    frozen: usize,
    pub steps: u64,
    /// Two ways to one form, for the property test.
    pub twins: Vec<(Way, Way)>,
    pub twins_wanted: usize,
}

const NOT_SERVED: &str =
    "served in the end: from here, with no more faults and everybody acting in turn, somebody never is";

pub type Way = Vec<Step>;

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    pub states: usize,
    pub steps: u64,
    pub depth: usize,
    pub end: End,
    /// The most steps in which everybody is served, from a state whose way was followed to its end.
    pub longest: usize,
    /// How many states' ways were followed to their end.
    pub followed: usize,
}

impl Search {
    pub fn new(size: Size, broken: Broken) -> Self {
        let (world, key) = World::new(size, broken).plain();
        let frozen = Box::new(world.freeze());
        let bytes = frozen.memory();
        let first = Node {
            frozen: Some(frozen),
            parent: 0,
            step: None,
            depth: 0,
            wall: world.wall,
            fair: Fair::Unknown,
        };
        Self {
            size,
            broken,
            nodes: vec![first],
            known: HashMap::from([(key, 0)]),
            frozen: bytes,
            steps: 0,
            twins: Vec::new(),
            twins_wanted: 0,
        }
    }

    /// Looks at every state within the bound, or fails with the shortest trace to one that breaks a law.
    ///
    /// `goes_on` is asked before each state.
    pub fn run(&mut self, bound: Bound, mut goes_on: impl FnMut() -> bool) -> Result<Found, String> {
        let mut at = 0;
        let end = loop {
            match () {
                () if at == self.nodes.len() => break End::Exhausted,
                () if self.nodes.len() >= bound.states => break End::States,
                () if self.memory() >= bound.bytes => break End::Memory,
                () if !goes_on() => break End::Time,
                () => {}
            }
            let to = self.nodes.len().min(at + BATCH);
            for (from, looked) in (at..to).zip(self.look_all(at..to)) {
                self.take_in(from, looked)?;
            }
            at = to;
        };
        let (longest, followed) = self.all_are_served(bound.beyond)?;
        Ok(Found {
            states: self.nodes.len(),
            steps: self.steps,
            depth: self.nodes.last().map_or(0, |node| node.depth),
            end,
            longest,
            followed,
        })
    }

    /// How much memory the search takes: nodes, forms with their index, which is twice as large while it grows, and states.
    fn memory(&self) -> usize {
        let node = size_of::<Node>() + 3 * size_of::<(Key, usize)>();
        self.nodes.len() * node + self.frozen
    }

    /// Takes every step from these states, on all cores; the result does not depend on how many there are.
    fn look_all(&self, states: Range<usize>) -> Vec<Looked> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let share = states.len().div_ceil(cores);
        let firsts: Vec<usize> = states.clone().step_by(share).collect();
        let ranges = firsts.into_iter().map(|first| first..(first + share).min(states.end));
        std::thread::scope(|scope| {
            let work = |range: Range<usize>| scope.spawn(move || range.map(|at| self.look(at)).collect::<Vec<_>>());
            let running: Vec<_> = ranges.map(work).collect();
            running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// Takes every step from a state.
    fn look(&self, at: usize) -> Looked {
        let frozen = self.nodes[at].frozen.as_ref().expect("each state is looked at once");
        let mut world = World::thaw(frozen, self.size, self.broken);
        let fair = world.fair();
        let steps = world.steps();
        let before = Before::of(&mut world);
        let take = |step| {
            let mut world = World::thaw(frozen, self.size, self.broken);
            let came = world.take(step);
            if let Some(law) = broken_by(step, came, &before, &mut world) {
                return Next { step, to: Err(law) };
            }
            let (world, key) = world.plain();
            let new = (!self.known.contains_key(&key)).then(|| Box::new(world.freeze()));
            let wall = world.wall;
            Next {
                step,
                to: Ok(Reached { key, wall, new }),
            }
        };
        let nexts = steps.iter().map(|step| take(*step)).collect();
        Looked { fair, nexts }
    }

    /// Takes in what was found from a state.
    fn take_in(&mut self, at: usize, looked: Looked) -> Result<(), String> {
        let Looked { fair, nexts } = looked;
        let frozen = self.nodes[at].frozen.take();
        self.frozen -= frozen.map_or(0, |frozen| frozen.memory());
        if fair.is_none() {
            self.nodes[at].fair = Fair::Served;
        }
        if let Some(fair) = fair.filter(|fair| nexts.iter().all(|next| next.step != *fair)) {
            return Err(self.trace(at, None, &format!("served in the end: {fair:?} cannot come next")));
        }
        for Next { step, to } in nexts {
            self.steps += 1;
            let reached = to.map_err(|law| self.trace(at, Some(step), &law))?;
            let to = match self.known.get(&reached.key).copied() {
                Some(to) => {
                    self.note_twins((at, step, reached.wall), to);
                    to
                }
                None => self.add(at, step, reached),
            };
            if fair == Some(step) {
                self.nodes[at].fair = Fair::Next(to);
            }
        }
        Ok(())
    }

    fn add(&mut self, parent: usize, step: Step, reached: Reached) -> usize {
        let at = self.nodes.len();
        self.known.insert(reached.key, at);
        self.frozen += reached.new.as_ref().map_or(0, |frozen| frozen.memory());
        self.nodes.push(Node {
            frozen: reached.new,
            parent,
            step: Some(step),
            depth: self.nodes[parent].depth + 1,
            wall: reached.wall,
            fair: Fair::Unknown,
        });
        at
    }

    /// Now and then keeps two ways to one form that took different times, so that the states are not the same.
    fn note_twins(&mut self, (from, step, wall): (usize, Step, u64), to: usize) {
        let differs = to != from && self.nodes[to].wall != wall;
        if differs && self.twins.len() < self.twins_wanted && self.steps.is_multiple_of(2) {
            let (one, mut other) = (self.way(to), self.way(from));
            other.push(step);
            self.twins.push((one, other));
        }
    }

    /// Follows the fair way of every state: it ends where everybody was served. Says how long the longest is, and how many
    /// were followed to the end.
    fn all_are_served(&self, mut beyond: usize) -> Result<(usize, usize), String> {
        const OPEN: usize = usize::MAX;
        const UNDER_WAY: usize = usize::MAX - 1;
        let mut lengths: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let (mut way, mut at) = (Vec::new(), start);
            let mut length = loop {
                match (lengths[at], self.nodes[at].fair) {
                    (Some(UNDER_WAY), _) => {
                        return Err(self.trace(start, None, NOT_SERVED));
                    }
                    (Some(length), _) => break length,
                    (None, Fair::Served) => break 0,
                    (None, Fair::Unknown) if beyond == 0 => break OPEN,
                    (None, Fair::Unknown) => {
                        beyond -= 1;
                        match self.served_from(at) {
                            Some(length) => break length,
                            None => return Err(self.trace(start, None, NOT_SERVED)),
                        }
                    }
                    (None, Fair::Next(next)) => {
                        lengths[at] = Some(UNDER_WAY);
                        way.push(at);
                        at = next;
                    }
                }
            };
            lengths[at] = Some(length);
            for at in way.into_iter().rev() {
                length = if length == OPEN { OPEN } else { length + 1 };
                lengths[at] = Some(length);
            }
        }
        let known = || lengths.iter().flatten().filter(|length| **length != OPEN);
        Ok((known().max().copied().unwrap_or(0), known().count()))
    }

    /// In how many steps everybody is served, from a state that was not looked at.
    fn served_from(&self, at: usize) -> Option<usize> {
        let mut world = World::thaw(self.nodes[at].frozen.as_ref()?, self.size, self.broken);
        for length in 0..=SERVED_WITHIN {
            let Some(step) = world.fair() else { return Some(length) };
            world.take(step);
            world = again(world);
        }
        None
    }

    /// The steps to a state.
    fn way(&self, mut at: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some(step) = self.nodes[at].step {
            steps.push(step);
            at = self.nodes[at].parent;
        }
        steps.reverse();
        steps
    }

    fn trace(&self, at: usize, last: Option<Step>, law: &str) -> String {
        let mut steps = self.way(at);
        steps.extend(last);
        told(&steps, self.size, self.broken, law)
    }
}

/// A way in plain words.
fn told(steps: &[Step], size: Size, broken: Broken, law: &str) -> String {
    let mut world = again(World::new(size, broken));
    let began = world.wall;
    let mut text = format!("after {} steps: {law}\n", steps.len());
    for (n, step) in (1..).zip(steps) {
        let name = step.act.visitor().map_or(' ', |at| world.people[at].name);
        let words = Words {
            step: *step,
            name,
            gates: size.gates,
        };
        world.take(*step);
        let ms = world.wall - began;
        writeln!(text, "{n:3}. {}.{} s  {words}", ms / 1_000, ms % 1_000 / 100).unwrap();
        world = again(world);
    }
    text
}

/// The same world from its bytes, with its visitors in the order of its form.
pub fn again(world: World) -> World {
    let (size, broken) = (world.size, world.broken);
    World::thaw(&world.plain().0.freeze(), size, broken)
}

/// The world at the end of a way.
pub fn go(steps: &[Step], size: Size) -> World {
    let mut world = again(World::new(size, Broken::Nothing));
    for step in steps {
        world.take(*step);
        world = again(world);
    }
    world
}
