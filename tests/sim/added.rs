//! Rooms that operators add and remove at any gate while gates and the store fail.
//!
//! After every entry the rooms must be those that the entries have made, as computed here. No number is given twice under a
//! room's name, however often a room of that name came and went. In the end all gates have the same rooms, and those that
//! operators' answers confirmed.

use std::collections::{BTreeMap, BTreeSet};

use ropeline::replica::{Arrival, JoinOutcome, Unrecorded};
use ropeline::room::{
    Addition, Change, Changed, Edition, Effects, Entry, GateId, LineName, Number, PendingId, Position, RoomName, View,
    Who,
};
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::TryRecvError;

use super::chance::number;
use super::faults::Fault;
use super::link::Weather;
use super::observer;
use super::plan::{Outcome, Plan};
use super::rooms::{self, LANE};
use super::scenarios::{over, over_seeds};
use super::world::{Event, SECOND, Time, World};

/// Operators' changes of rooms, and their answers.
#[derive(Default)]
pub struct Works {
    said: u64,
    waiting: Vec<Order>,
    /// Visitors who wait for a number.
    joining: Vec<Receiver<JoinOutcome>>,
    /// The last change of each name, if it was confirmed and none has followed: its text, or its removal.
    sure: BTreeMap<RoomName, Option<String>>,
}

struct Order {
    room: RoomName,
    text: Option<String>,
    told: Receiver<Result<u64, Unrecorded>>,
}

/// How often everything was seen.
#[derive(Clone, Copy, Default, Debug)]
pub struct Seen {
    pub added: u64,
    pub removed: u64,
    pub refused: u64,
    /// By a gate that knew more than the log.
    pub brought: u64,
    pub joined: u64,
}

/// All histories.
#[derive(Default)]
pub struct RoomBook {
    pub on: bool,
    pub seen: Seen,
    logs: BTreeMap<u64, Log>,
    issued: BTreeSet<(RoomName, Number)>,
}

/// The content of one history.
#[derive(Clone, Default)]
struct Log {
    sequence: u64,
    /// The text of each room from which entry on.
    words: Vec<(u64, RoomName, Option<String>)>,
    /// The edition and revision of each room as they were last, whether or not it is there.
    stood: BTreeMap<RoomName, (Edition, u64)>,
}

impl Log {
    fn texts(&self) -> BTreeMap<&RoomName, &str> {
        let mut texts = BTreeMap::new();
        for (_, room, text) in &self.words {
            match text {
                Some(text) => texts.insert(room, text.as_str()),
                None => texts.remove(room),
            };
        }
        texts
    }

    /// Entries were not looked at, since a gate was wrong meanwhile: the rooms are taken as they stand now.
    fn take_over(&mut self, at: Position, view: &View) {
        self.sequence = at.sequence;
        let rooms = view.additions.iter();
        self.words = rooms
            .map(|(room, added)| (at.sequence, room.clone(), Some(added.text.clone())))
            .collect();
        let stand = view.rooms.iter();
        self.stood
            .extend(stand.map(|(name, room)| (name.clone(), (room.edition, room.revision))));
    }

    /// The same history as it was after `sequence`, as the beginning of another.
    fn back_at(&self, sequence: u64) -> Self {
        let words = self.words.iter().filter(|(at, ..)| *at <= sequence);
        Self {
            words: words.map(|(_, room, text)| (0, room.clone(), text.clone())).collect(),
            ..Self::default()
        }
    }
}

impl RoomBook {
    /// After every entry, in the rooms of the first gate that applies it.
    pub fn look(&mut self, entry: &Entry, effects: &Effects, view: &View, root: Option<Position>) -> Vec<String> {
        let at = entry.position;
        if at.sequence == 1 && !self.logs.contains_key(&at.epoch) {
            let before = root.and_then(|root| Some(self.logs.get(&root.epoch)?.back_at(root.sequence)));
            self.logs.insert(at.epoch, before.unwrap_or_default());
        }
        let Some(mut log) = self.logs.remove(&at.epoch) else {
            return Vec::new();
        };
        let mut faults = Vec::new();
        if at.sequence > log.sequence + 1 {
            log.take_over(at, view);
        } else if at.sequence > log.sequence {
            log.sequence = at.sequence;
            faults = self.judge(&mut log, entry, effects, view);
        }
        self.logs.insert(at.epoch, log);
        faults.into_iter().map(|fault| format!("{at:?}: {fault}")).collect()
    }

    fn judge(&mut self, log: &mut Log, entry: &Entry, effects: &Effects, view: &View) -> Vec<String> {
        let mut faults = Vec::new();
        let brought = entry.batch.adopt.is_some();
        for (change, done) in entry.batch.rooms.iter().zip(&effects.changed) {
            let (seen, text) = match &change.change {
                Change::Add(_) if *done != Changed::Taken => (&mut self.seen.refused, None),
                Change::Add(addition) if brought => (&mut self.seen.brought, Some(Some(addition.text.clone()))),
                Change::Add(addition) => (&mut self.seen.added, Some(Some(addition.text.clone()))),
                Change::Remove if *done == Changed::Taken => (&mut self.seen.removed, Some(None)),
                _ => continue,
            };
            *seen += 1;
            let Some(text) = text else { continue };
            let began = text.is_some() && !brought;
            log.words.push((log.sequence, change.room.clone(), text));
            if let (Some(gone), Some(room), true) = (log.stood.get(&change.room), view.rooms.get(&change.room), began)
                && (room.edition <= gone.0 || room.revision < gone.1)
            {
                let now = (room.edition, room.revision);
                faults.push(format!("{} was {gone:?} before, and begins as {now:?}", change.room));
            }
        }
        for (name, room) in &view.rooms {
            log.stood.insert(name.clone(), (room.edition, room.revision));
        }
        let texts = log.texts();
        let is: BTreeMap<&RoomName, &str> = view
            .additions
            .iter()
            .map(|(room, added)| (room, &*added.text))
            .collect();
        if is != texts {
            faults.push(format!("the rooms are {is:?}, and were to be {texts:?}"));
        }
        if let Some(room) = texts.keys().find(|room| !view.rooms.contains_key(**room)) {
            faults.push(format!("{room} was added, and is not there"));
        }
        for joined in effects.joined.iter().filter(|joined| joined.room != rooms::room()) {
            let Some(first) = joined.first else { continue };
            for n in (first.n..).take(joined.count as usize) {
                self.seen.joined += 1;
                if !self.issued.insert((joined.room.clone(), Number { n, ..first })) {
                    faults.push(format!("{n} of {:?} is given twice in {}", first.epoch, joined.room));
                }
            }
        }
        faults
    }
}

fn name(at: u64) -> RoomName {
    RoomName::new(&format!("added{at}")).unwrap()
}

impl World {
    /// Operators change rooms now and then, and a visitor comes to one.
    pub fn works(&mut self, until: Time) {
        self.hears_of_rooms();
        if self.now > until {
            return;
        }
        let next = self.chance.within(SECOND / 5, 2 * SECOND);
        self.after(next, Event::Fault(Fault::Rooms(until)));
        let now = self.now;
        let able = |slot: &usize| {
            let gate = self.slots[*slot].gate.as_ref();
            gate.is_some_and(|gate| gate.paused_until <= now && !gate.leaving && !gate.cut_off(now))
        };
        let slots: Vec<usize> = (0..self.slots.len()).filter(able).collect();
        let room = name(self.chance.within(0, 5));
        let come = self.chance.hits(600);
        let Some(slot) = (!slots.is_empty()).then(|| self.chance.pick(&slots)) else {
            return;
        };
        if come {
            self.joins_added(slot, room);
        } else {
            self.orders_room(slot, room);
        }
        self.go_on(slot);
    }

    fn joins_added(&mut self, slot: usize, room: RoomName) {
        let mut id = [0; 12];
        id[..8].copy_from_slice(&self.chance.next().to_le_bytes());
        let arrival = Arrival {
            id: PendingId(id),
            tags: Vec::new(),
            again: false,
            leaves: false,
            rehearsal: None,
        };
        if let Some(gate) = self.slots[slot].gate.as_mut() {
            let answer = gate.protocol.join(room, LineName::ONLY, LANE, arrival);
            self.works.joining.extend(answer);
        }
    }

    /// Adds the room if the gate knows of none, or else removes it.
    fn orders_room(&mut self, slot: usize, room: RoomName) {
        if self.works.waiting.iter().any(|order| order.room == room) {
            return;
        }
        self.works.said += 1;
        let said = self.works.said;
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        let there = gate.view.rooms.get(&room).map(|room| room.revision);
        let text = there.is_none().then(|| format!("[[room]]\nname = \"{room}\" # {said}"));
        let change = match &text {
            None => Change::Remove,
            Some(text) => Change::Add(Box::new(Addition {
                text: text.clone(),
                settings: rooms::settings(),
                at: None,
            })),
        };
        let who = Who {
            name: "operator".to_owned(),
            reason: String::new(),
        };
        let told = gate.protocol.order(room.clone(), change, (there, Some(who)));
        self.works.sure.remove(&room);
        self.works.waiting.push(Order { room, text, told });
    }

    fn hears_of_rooms(&mut self) {
        let waits = |answer: &mut Receiver<JoinOutcome>| answer.try_recv() == Err(TryRecvError::Empty);
        self.works.joining.retain_mut(waits);
        for mut order in std::mem::take(&mut self.works.waiting) {
            match order.told.try_recv() {
                Ok(Ok(_)) => _ = self.works.sure.insert(order.room, order.text),
                // It may come to pass yet.
                Ok(Err(_)) | Err(TryRecvError::Closed) => {}
                Err(TryRecvError::Empty) => self.works.waiting.push(order),
            }
        }
    }
}

/// Looks the rooms over when all is done.
pub fn judge(world: &mut World) -> Vec<String> {
    if observer::with(|watch| !watch.added.on) {
        return Vec::new();
    }
    world.hears_of_rooms();
    let texts = |view: &View| -> BTreeMap<RoomName, String> {
        let all = view.additions.iter();
        all.map(|(room, added)| (room.clone(), added.text.clone())).collect()
    };
    let gates = world.slots.iter().filter_map(|slot| slot.gate.as_ref());
    let all: Vec<(GateId, BTreeMap<RoomName, String>)> = gates.map(|gate| (gate.id(), texts(&gate.view))).collect();
    let mut faults = Vec::new();
    if all.windows(2).any(|pair| pair[0].1 != pair[1].1) {
        faults.push(format!("two gates have other rooms: {all:?}"));
    }
    let Some((_, there)) = all.first().filter(|_| !world.excuse.excess) else {
        return faults;
    };
    for (room, text) in &world.works.sure {
        if there.get(room) != text.as_ref() {
            faults.push(format!("{room} was to be {text:?}, and is {:?}", there.get(room)));
        }
    }
    faults
}

fn seen(outcomes: &[Outcome]) -> Seen {
    let mut seen = Seen::default();
    for outcome in outcomes {
        let other = outcome.rooms;
        seen.added += other.added;
        seen.removed += other.removed;
        seen.refused += other.refused;
        seen.brought += other.brought;
        seen.joined += other.joined;
    }
    println!("{seen:?}");
    seen
}

#[test]
fn rooms_that_come_and_go_at_two_gates_are_the_same_at_both() {
    let seen = seen(&over_seeds("rooms_that_come_and_go", |plan| {
        let plan = Plan { gates: 2, ..plan };
        plan.with(10, Fault::Rooms(230 * SECOND))
            .with(60, Fault::Leave(0, SECOND))
            .with(90, Fault::Crash(1, 10 * SECOND))
            .with(120, Fault::Cut(0, 20 * SECOND))
            .with(160, Fault::Pause(1, 6 * SECOND))
            .with(190, Fault::Restart { lost: 10 })
            .with(215, Fault::Crash(0, 2 * SECOND))
    }));
    assert!(seen.added > 60 && seen.removed > 40 && seen.joined > 60, "{seen:?}");
}

#[test]
fn rooms_come_back_from_whoever_has_read_of_them() {
    // Rooms are brought back once in a world, or twice, or never.
    let seen = seen(&over(0..8, "rooms_come_back", |plan| {
        let plan = Plan {
            weather: Weather::rough(),
            ..plan
        };
        plan.with(10, Fault::Rooms(230 * SECOND))
            // The gate that has read more is away while the others begin anew.
            .with(40, Fault::Cut(0, 25 * SECOND))
            .with(42, Fault::Restart { lost: 40 })
            .with(90, Fault::Cut(1, 25 * SECOND))
            .with(92, Fault::OldDump(30 * SECOND))
            .with(140, Fault::Flush)
            .with(
                170,
                Fault::Fork {
                    lost: 20,
                    to_new: vec![0],
                    time: 30 * SECOND,
                },
            )
    }));
    assert!(seen.brought > 0 && seen.added > 60, "{seen:?}");
}

#[test]
fn wild_worlds_have_rooms_that_come_and_go_too() {
    let from = number("SIM_SEED");
    let plan = |seed| Plan::wild(seed).with(20, Fault::Rooms(200 * SECOND));
    let seeds = from.map_or(2_000..2_008, |seed| seed..seed + 1);
    for seed in seeds {
        plan(seed).holds("wild_worlds_have_rooms");
    }
}
