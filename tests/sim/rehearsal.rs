//! Rehearsals in worlds with faults: real visitors are judged as ever, and once no one renews a rehearsal, no virtual visitor
//! is left in any gate's rooms, whatever gates and the store have lost.

use ropeline::replica::{Arrival, Condition, JoinOutcome, Note};
use ropeline::room::{
    Change, Effects, Entry, LineName, Number, PendingId, RehearsalId, RehearsalOrder, Section, View, Visitor, Who,
};
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::TryRecvError;

use super::chance::number;
use super::faults::Fault;
use super::ledger::book::Book;
use super::link::Weather;
use super::plan::Plan;
use super::rooms::{self, LANE};
use super::scenarios::over_seeds;
use super::world::{Event, MILLI, SECOND, Time, World};

/// The virtual visitors, and who leads them.
#[derive(Default)]
pub struct Troupe {
    /// The last rehearsal that was begun; each has its own.
    begun: u64,
    ticks: u64,
    numbers: Vec<(RehearsalId, Number)>,
    joining: Vec<(RehearsalId, Receiver<JoinOutcome>)>,
    /// How many were ever numbered.
    pub joined: u64,
}

impl World {
    /// A step of the rehearsal: it is begun where there is none, renewed, and its visitors come and do something, some of them
    /// after all is over.
    pub fn rehearses(&mut self, until: Time) {
        let over = self.now > until;
        if self.now > until + STRAGGLE {
            return self.nobody_virtual_is_left();
        }
        self.after(500 * MILLI, Event::Fault(Fault::Rehearse(until)));
        self.troupe.ticks += 1;
        let now = self.now;
        let able = |slot: &usize| {
            let gate = self.slots[*slot].gate.as_ref();
            gate.is_some_and(|gate| gate.paused_until <= now && !gate.leaving)
        };
        let slots: Vec<usize> = (0..self.slots.len()).filter(able).collect();
        let Some(slot) = (!slots.is_empty()).then(|| self.chance.pick(&slots)) else {
            return;
        };
        if !over {
            self.leads(slot);
        }
        self.plays(slot);
        self.go_on(slot);
    }

    fn leads(&mut self, slot: usize) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        let change = match under_way(&gate.view) {
            None => {
                self.troupe.begun += 1;
                Change::Rehearse(Box::new(order(RehearsalId(self.troupe.begun.to_be_bytes()))))
            }
            Some(id) if self.troupe.ticks.is_multiple_of(6) => Change::Renew(id),
            Some(_) => return,
        };
        let told = gate.protocol.change(rooms::room(), change);
        gate.told.push(told);
    }

    fn plays(&mut self, slot: usize) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        let troupe = &mut self.troupe;
        let (numbers, joined) = (&mut troupe.numbers, &mut troupe.joined);
        troupe.joining.retain_mut(|(id, answer)| match answer.try_recv() {
            Ok(JoinOutcome::Numbered(_, number)) => {
                numbers.push((*id, number));
                *joined += 1;
                false
            }
            Ok(_) | Err(TryRecvError::Closed) => false,
            Err(TryRecvError::Empty) => true,
        });
        if let Some(id) = under_way(&gate.view) {
            let mut bytes = [0; 12];
            bytes[..8].copy_from_slice(&self.chance.next().to_le_bytes());
            let arrival = Arrival {
                id: PendingId(bytes),
                tags: Vec::new(),
                again: self.chance.hits(200),
                leaves: false,
                rehearsal: Some(id),
            };
            let answer = gate.protocol.join(rooms::room(), LineName::ONLY, LANE, arrival);
            self.troupe.joining.extend(answer.map(|answer| (id, answer)));
        }
        for _ in 0..12 {
            if self.troupe.numbers.is_empty() {
                return;
            }
            let (id, number) = self.chance.pick(&self.troupe.numbers);
            let note = match self.chance.within(0, 20) {
                0..=10 => Note::Mark,
                11..=15 => Note::Claim { carried: true },
                16..=17 => Note::Renew,
                18 => Note::Reopen,
                _ => Note::Leave,
            };
            let visitor = Visitor {
                rehearsal: Some(id),
                ..rooms::visitor(number)
            };
            self.says(slot, visitor, note);
        }
    }

    /// A gate takes down nothing of a number that a later log has given: it wants to hear of that log first.
    fn says(&mut self, slot: usize, visitor: Visitor, note: Note) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        gate.protocol.foreign(visitor.number.epoch);
        if visitor.number.epoch.0 <= gate.view.position.epoch {
            gate.note(visitor, note, self.now);
        }
    }

    /// In the rooms of every gate that goes with its log.
    fn nobody_virtual_is_left(&mut self) {
        let now = self.now;
        let mut left = Vec::new();
        for (slot, gate) in self.slots.iter().enumerate() {
            let Some(gate) = &gate.gate else { continue };
            if gate.protocol.condition() != Condition::Live || gate.cut_off(now) {
                continue;
            }
            let Some(figures) = rooms::line(&gate.view).map(|line| line.rehearsed()) else {
                continue;
            };
            if figures.waiting + figures.called + figures.inside > 0 || under_way(&gate.view).is_some() {
                left.push((slot, figures));
            }
        }
        if let Some((slot, figures)) = left.first() {
            self.fault(format_args!("gate {slot} has virtual visitors after all: {figures:?}"));
        }
    }
}

impl Book {
    /// Before an entry: a rehearsal that is over, or was replaced, has no visitors left.
    pub fn rehearse(&mut self, view: &View) {
        self.rehearsal = under_way(view);
        let stays = |id: &RehearsalId| Some(*id) == self.rehearsal;
        let gone: Vec<Number> = self
            .virtuals
            .iter()
            .filter(|(_, id)| !stays(id))
            .map(|(number, _)| *number)
            .collect();
        for number in gone {
            self.virtuals.remove(&number);
            self.leave(number);
        }
    }

    /// The sections of an entry that count.
    pub fn heard<'a>(&mut self, entry: &'a Entry, effects: &Effects) -> Vec<&'a Section> {
        self.take_in(entry, effects);
        entry
            .batch
            .sections
            .iter()
            .filter(|section| self.hears(section))
            .collect()
    }

    /// A section's items by number, and whether any of them counts.
    fn hears(&mut self, section: &Section) -> bool {
        if section.room != rooms::room() {
            return false;
        }
        let Some(id) = section.rehearsal else { return true };
        let heard = self.rehearsal == Some(id);
        for (_, number) in section.marks.iter().chain(&section.reopens).filter(|_| heard) {
            self.virtuals.insert(*number, id);
        }
        heard
    }

    /// The numbers that an entry gave to virtual visitors, by the order of its joins.
    fn take_in(&mut self, entry: &Entry, effects: &Effects) {
        let sections = || entry.batch.sections.iter();
        let joins = sections().flat_map(|section| section.joins.iter().map(|_| section.rehearsal));
        let pending = sections().flat_map(|section| section.pending_joins.iter().map(|_| section.rehearsal));
        let all = effects.joined.iter().zip(joins);
        for (joined, id) in all.chain(effects.pending_joined.iter().zip(pending)) {
            let (Some(first), Some(id)) = (joined.first, id) else {
                continue;
            };
            for n in first.n..first.n + joined.count {
                self.virtuals.insert(Number { n, ..first }, id);
            }
        }
    }
}

fn under_way(view: &View) -> Option<RehearsalId> {
    let room = view.rooms.get(&rooms::room())?;
    room.rehearsal.as_ref().map(|rehearsal| rehearsal.order.id)
}

fn order(id: RehearsalId) -> RehearsalOrder {
    RehearsalOrder {
        id,
        size: 10_000,
        forward: false,
        anyway: true,
        for_ms: 3_600_000,
        by: Who::default(),
    }
}

/// How long visitors go on without their leader: longer than a lease, and than anything that holds the log up.
const STRAGGLE: Time = 60 * SECOND;

#[test]
fn a_rehearsal_costs_nobody_their_place_and_leaves_nothing_behind() {
    over_seeds("a_rehearsal_costs", |plan| plan.with(20, Fault::Rehearse(100 * SECOND)));
}

#[test]
fn gates_that_die_and_are_cut_off_send_its_visitors_off_all_the_same() {
    over_seeds("gates_that_die_and_are", |plan| {
        let plan = Plan {
            weather: Weather::rough(),
            ..plan
        };
        plan.with(20, Fault::Rehearse(130 * SECOND))
            .with(40, Fault::Crash(0, 20 * SECOND))
            .with(60, Fault::Cut(1, 25 * SECOND))
            .with(110, Fault::Pause(2, 10 * SECOND))
            .with(128, Fault::Crash(1, 12 * SECOND))
    });
}

#[test]
fn a_store_that_loses_entries_or_all_leaves_nobody_virtual() {
    over_seeds("a_store_that_loses_entries", |plan| {
        plan.with(20, Fault::Rehearse(120 * SECOND))
            .with(50, Fault::Restart { lost: 20 })
            .with(80, Fault::OldDump(30 * SECOND))
            .with(100, Fault::Flush)
            .with(119, Fault::Restart { lost: 30 })
    });
}

#[test]
fn wild_worlds_send_its_visitors_off_too() {
    let from = number("SIM_SEED");
    let plan = |seed| Plan::wild(seed).with(20, Fault::Rehearse(200 * SECOND));
    let seeds = from.map_or(1_000..1_010, |seed| seed..seed + 1);
    for seed in seeds {
        plan(seed).holds("wild_worlds_send");
    }
}
