//! A run: a world made from a seed, its faults with their times, and whether it keeps its promises.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ropeline::replica::Condition;
use ropeline::room::{ActiveSlots, LoadControl, NEWEST, VERSION};

use super::faults::Fault;
use super::link::Weather;
use super::observer;
use super::people::Is;
use super::rooms::{self, Sale};
use super::store::{EPOCH_MS, Flaw};
use super::world::{Event, SECOND, Tally, Time, World};
use crate::added;
use crate::chance::Chance;
use crate::codes;
use crate::parked;
use crate::stock;

/// The plan of a run.
pub struct Plan {
    pub seed: u64,
    pub gates: usize,
    /// The machine version that the first gates know.
    pub knows: u16,
    pub sale: Option<Sale>,
    /// How long faults last, and the time after that in which all must come in.
    pub busy: Time,
    pub calm: Time,
    /// Visitors at the start, in all, and how often another comes.
    pub crowd: usize,
    pub most: usize,
    pub every: Time,
    pub weather: Weather,
    pub faults: Vec<(Time, Fault)>,
    pub flaw: Option<Flaw>,
    /// The flaw is one that gates must get over by themselves.
    pub survives: bool,
    /// Pieces that there are, and whether the shop now and then answers after the session.
    pub stock: Option<u32>,
    pub slow_shop: bool,
    /// A room beside takes codes.
    pub codes: bool,
    /// The room follows what its shop can take.
    pub admission: Option<LoadControl>,
    /// A slot belongs to a session that is in use.
    pub active: Option<ActiveSlots>,
}

/// The results of a run.
pub struct Outcome {
    pub seed: u64,
    pub tally: Tally,
    /// The trace's hash and length.
    pub trace: (u64, u64),
    pub entries: u64,
    /// Visitors called above the capacity.
    pub beyond: u64,
    /// Slots that were given back, not used, and taken again.
    pub unused: u64,
    pub rooms: added::Seen,
    /// The machine versions that the rooms ran.
    pub versions: BTreeSet<u16>,
    pub faults: Vec<String>,
    /// The ledger stopped judging, because a gate that was wrong may have passed its state to the others.
    pub blind: bool,
}

impl Plan {
    /// A quiet world with three gates.
    pub fn plain(seed: u64) -> Self {
        Self {
            seed,
            gates: 3,
            knows: VERSION,
            sale: None,
            busy: 240 * SECOND,
            calm: 900 * SECOND,
            crowd: 80,
            most: 160,
            every: 2 * SECOND,
            weather: Weather::default(),
            faults: Vec::new(),
            flaw: None,
            survives: false,
            stock: None,
            slow_shop: true,
            codes: false,
            admission: None,
            active: None,
        }
    }

    /// A world with random faults from the seed.
    pub fn wild(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0xFA17);
        let gates = usize::try_from(chance.within(2, 6)).unwrap_or(2);
        let rises = chance.hits(200);
        let mut plan = Self {
            gates,
            sale: chance
                .hits(150)
                .then(|| Sale::DrawnAt(EPOCH_MS + chance.within(40, 160) * 1_000)),
            weather: if chance.hits(300) {
                Weather::rough()
            } else {
                Weather::default()
            },
            crowd: usize::try_from(chance.within(60, 240)).unwrap_or(60),
            most: 400,
            ..Self::plain(seed)
        };
        if rises {
            plan.upgrades(&mut chance);
        }
        plan.stock = stock::some_stock(seed);
        plan.codes = codes::some_codes(seed);
        plan.active = parked::some_active(seed);
        for _ in 0..chance.within(2, 8) {
            let at = chance.within(20 * SECOND, plan.busy);
            let fault = some_fault(&mut chance, gates);
            plan.faults.push((at, fault));
        }
        plan
    }

    fn upgrades(&mut self, chance: &mut Chance) {
        for slot in 0..self.gates {
            let at = chance.within(30 * SECOND, 160 * SECOND);
            self.faults.push((at, Fault::Upgrade(slot)));
        }
        for (from, until) in [(60, 100), (190, 220)] {
            let at = chance.within(from * SECOND, until * SECOND);
            self.faults.push((at, Fault::Raise(NEWEST)));
        }
    }

    pub fn with(mut self, at: u64, fault: Fault) -> Self {
        self.faults.push((at * SECOND, fault));
        self
    }

    /// Runs it, tells how it went, and ends the test where a promise was broken.
    pub fn holds(self, test: &str) -> Outcome {
        let outcome = self.run().shown();
        outcome.must_hold(test);
        outcome
    }

    pub fn run(self) -> Outcome {
        rooms::sell(self.stock);
        rooms::take_codes(self.codes);
        rooms::follow(self.admission);
        rooms::park(self.active);
        rooms::go_by(self.sale);
        let mut world = World::new(self.seed, self.gates, self.knows);
        for slot in &mut world.slots {
            slot.weather = self.weather;
        }
        world.servers[0].flaw = self.flaw;
        let works = self.faults.iter().any(|(_, fault)| matches!(fault, Fault::Rooms(_)));
        observer::with(|watch| watch.added.on = works);
        if self.survives {
            observer::with(|watch| watch.ledger.rewritten = true);
            (world.excuse.excess, world.excuse.numbers, world.excuse.turns) = (true, true, true);
        }
        world.most_people = self.most;
        world.slow_shop = self.slow_shop;
        world.arrivals_every = self.every;
        for slot in 0..self.gates {
            let at = world.chance.within(0, 2 * SECOND);
            world.at(at, Event::Fault(Fault::Start(slot)));
        }
        for _ in 0..self.crowd {
            let person = super::people::Person::new(&mut world.chance);
            world.people.push(person);
            world.come_again(world.people.len() - 1, 4 * SECOND, 15 * SECOND);
        }
        world.at(15 * SECOND, Event::Arrive);
        if self.codes {
            world.open_desk(self.busy, self.faults.iter().any(|(_, fault)| codes::excuses(fault)));
        }
        if self.admission.is_some() {
            world.at(2 * SECOND, Event::Look);
        }
        for (at, fault) in self.faults {
            world.at(at, Event::Fault(fault));
        }
        world.run_until(self.busy);
        if !world.is_at_fault() {
            world.calm_down();
            world.run_until(self.busy + self.calm);
        }
        judge(self.seed, world)
    }
}

/// Looks the world over when all is done.
fn judge(seed: u64, mut world: World) -> Outcome {
    let (entries, (beyond, unused), blind, mut faults) = observer::with(|watch| {
        let ledger = &watch.ledger;
        (
            ledger.entries,
            (ledger.beyond, ledger.unused),
            ledger.blind,
            ledger.faults.clone(),
        )
    });
    faults.append(&mut world.faults);
    world.tally.sold = observer::with(|watch| watch.ledger.sold().len() as u64);
    world.tally.bought = world.bought.len() as u64;
    let ghosts = observer::with(|watch| watch.ledger.ghosts(|number| world.given.contains_key(number)));
    world.tally.ghosts = ghosts as u64;
    if faults.is_empty() {
        let left: Vec<usize> = (0..world.people.len())
            .filter(|id| world.people[*id].is != Is::Gone)
            .collect();
        if let Some(first) = left.first() {
            let person = &world.people[*first];
            let tokens = (person.kind, person.is, person.ticket, person.pass);
            faults.push(format!("{} never came in, such as {first}: {tokens:?}", left.len()));
        }
        for (slot, gate) in world.slots.iter().enumerate() {
            let condition = gate.gate.as_ref().map(|gate| gate.protocol.condition());
            if condition != Some(Condition::Live) {
                faults.push(format!("gate {slot} never came back: {condition:?}"));
            }
        }
        let now = world.now;
        let kept = world.master().reaches_back(now);
        if kept > TRIMMED_MS {
            faults.push(format!("the log reaches back {kept} ms, and is not trimmed"));
        }
        faults.extend(stock::judge(&world));
        faults.extend(codes::judge(&world));
        faults.extend(added::judge(&mut world));
        let twisted = observer::with(|watch| watch.twisted.len());
        if twisted > 0 && world.slots.len() > 2 {
            faults.push("a gate's rooms are wrong, and nobody has noticed".into());
        }
    }
    Outcome {
        seed,
        tally: world.tally,
        trace: world.trace.sum(),
        entries,
        beyond,
        unused,
        rooms: observer::with(|watch| watch.added.seen),
        versions: observer::with(|watch| watch.versions.clone()),
        faults,
        blind,
    }
}

/// A minute that entries are kept, two that gates with empty rooms leave a snapshot unsaved, and what a checkpoint and its votes take.
const TRIMMED_MS: u64 = 240_000;

fn some_fault(chance: &mut Chance, gates: usize) -> Fault {
    let slot = usize::try_from(chance.next()).unwrap_or(0) % gates;
    let lost = usize::try_from(chance.within(0, 40)).unwrap_or(0);
    let time = chance.within(SECOND, 30 * SECOND);
    match chance.within(0, 24) {
        0..=2 => Fault::Crash(slot, time),
        3 => Fault::Leave(slot, time),
        4..=5 => Fault::Pause(slot, time),
        6..=7 => Fault::Cut(slot, time),
        8 => Fault::Rough(time),
        9 => Fault::Step(chance.pick(&[-3_600_000, -4_000, -300, 700, 6_000, 3_600_000])),
        10..=11 => Fault::Restart { lost },
        12 => Fault::Down { lost, time },
        13 => Fault::OldDump(chance.within(5 * SECOND, 100 * SECOND)),
        14 => Fault::Flush,
        15 => Fault::Sleep(time / 3),
        16 => Fault::Fork {
            lost,
            to_new: vec![slot],
            time,
        },
        17 => Fault::GateAndStore(slot, lost),
        18 => Fault::TrapRoot { written: lost % 2 == 0 },
        19 => Fault::TrapBegin,
        20 => Fault::LoseFurthest { lost },
        21 => Fault::Poison,
        22 => Fault::Twist(slot),
        _ => Fault::Override {
            capacity: Some(u32::try_from(chance.within(2, 20)).unwrap_or(2)),
            hold: chance.hits(200),
        },
    }
}

impl Outcome {
    /// Says what the run came to.
    pub fn shown(self) -> Self {
        let Self {
            seed, tally, entries, ..
        } = &self;
        println!("seed {seed}: {tally:?} {entries} entries");
        for fault in &self.faults {
            println!("  seed {seed}: {fault}");
        }
        self
    }

    /// # Panics
    /// Reports the faults, and how to run the seed again.
    pub fn must_hold(&self, test: &str) {
        let mut text = String::new();
        for fault in &self.faults {
            let _ = writeln!(text, "  {fault}");
        }
        let seed = self.seed;
        assert!(
            text.is_empty(),
            "seed {seed} breaks a promise; again with: SIM_SEED={seed} cargo test --test sim {test} -- --nocapture\n{text}"
        );
    }
}
