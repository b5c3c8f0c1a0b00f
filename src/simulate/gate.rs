//! The one gate of the simulation: its entries, and the rooms they lead to.

use std::sync::Arc;

use crate::room::{
    Batch, Change, Clock, Effects, Entry, GateId, LineName, LineView, MAX_BATCH_BYTES, Overrides, Position, Report,
    RoomChange, RoomName, RoomView, Section, State, VERSION, View, Wall,
};

use super::plan::Plan;

/// Bytes that an item of a batch takes at most.
const ITEM_BYTES: usize = 28;
const MOST_ITEMS: usize = MAX_BATCH_BYTES / ITEM_BYTES - 16;

/// A gate with its log, and the state that both make.
pub(super) struct Gate {
    state: State,
    room: RoomName,
    start: Wall,
    serial: u64,
    /// The content of the next entry.
    pub said: Section,
    pub report: Option<Report>,
    pub view: Arc<View>,
    /// When the view was made.
    spoke: u64,
    pub entries: u64,
    /// Joins, marks, claims and all other applied events.
    pub events: u64,
    pub skipped: u64,
}

impl Gate {
    pub fn start(plan: &Plan) -> Self {
        let mut state = State::empty(1);
        let view = state.view();
        let mut gate = Self {
            state,
            said: Section::new(plan.room.clone(), LineName::ONLY),
            report: None,
            room: plan.room.clone(),
            start: plan.start,
            serial: 0,
            view,
            spoke: 0,
            entries: 0,
            events: 0,
            skipped: 0,
        };
        gate.change(Change::Configure(plan.settings.clone()), 0);
        gate
    }

    /// The room's clock, as a gate that has heard nothing since tells it.
    pub fn clock(&self, now: u64) -> Clock {
        self.view.clock.plus(now.saturating_sub(self.spoke))
    }

    pub fn tick_ms(&self) -> u64 {
        self.state.tick_ms()
    }

    /// When the room's schedule turns next, in milliseconds after the start.
    pub fn next_turn(&self) -> Option<u64> {
        self.state.next_turn().map(|at| at.since(self.start))
    }

    pub fn line(&self) -> Option<&Arc<LineView>> {
        self.room_view()?.line(&LineName::ONLY)
    }

    pub fn room_view(&self) -> Option<&Arc<RoomView>> {
        self.view.rooms.get(&self.room)
    }

    pub fn override_with(&mut self, overrides: Overrides, now: u64) {
        self.change(Change::Override(overrides), now);
    }

    /// Appends the collected events, in as many entries as they need, and applies them. The joins go with the first.
    pub fn speak(&mut self, now: u64) -> Effects {
        let empty = Section::new(self.room.clone(), LineName::ONLY);
        let mut said = std::mem::replace(&mut self.said, empty);
        said.marks.sort_unstable();
        said.marks.dedup();
        let first = self.cut(&mut said);
        let report = self.report.take().map(|report| (self.room.clone(), report));
        let notes_until = self.notes_until(&said);
        let effects = self.append(
            Batch {
                sections: vec![first],
                load: report.into_iter().collect(),
                notes_until,
                ..Batch::default()
            },
            now,
        );
        while items(&said) > 0 {
            let more = self.cut(&mut said);
            let notes_until = self.notes_until(&said);
            self.append(
                Batch {
                    sections: vec![more],
                    notes_until,
                    ..Batch::default()
                },
                now,
            );
        }
        self.view = self.state.view();
        self.spoke = now;
        effects
    }

    /// The part that fits in one batch, in the order in which a gate packs it.
    fn cut(&self, said: &mut Section) -> Section {
        let mut section = Section::new(self.room.clone(), LineName::ONLY);
        let mut left = MOST_ITEMS;
        section.joins = std::mem::take(&mut said.joins);
        move_some(&mut said.claims, &mut section.claims, &mut left);
        move_some(&mut said.returns, &mut section.returns, &mut left);
        move_some(&mut said.holds, &mut section.holds, &mut left);
        move_some(&mut said.completions, &mut section.completions, &mut left);
        move_some(&mut said.leaves, &mut section.leaves, &mut left);
        move_some(&mut said.ends, &mut section.ends, &mut left);
        move_some(&mut said.renewals, &mut section.renewals, &mut left);
        move_some(&mut said.marks, &mut section.marks, &mut left);
        section
    }

    fn change(&mut self, change: Change, now: u64) {
        let rooms = vec![RoomChange {
            room: self.room.clone(),
            revision: self.serial + 1,
            change,
            who: None,
        }];
        self.append(
            Batch {
                rooms,
                ..Batch::default()
            },
            now,
        );
        self.view = self.state.view();
        self.spoke = now;
    }

    /// How far the gate has read, if nothing is left to be said.
    fn notes_until(&self, left: &Section) -> Option<Clock> {
        (items(left) == 0).then(|| self.state.clock())
    }

    fn append(&mut self, batch: Batch, now: u64) -> Effects {
        self.serial += 1;
        let at = self.state.position();
        let sequence = at.sequence + 1;
        self.entries += 1;
        self.events += batch.sections.iter().map(events).sum::<u64>();
        let entry = Entry {
            position: Position { sequence, ..at },
            gate: GateId(1),
            serial: self.serial,
            previous: self.state.nonce(),
            nonce: sequence.to_le_bytes(),
            time: self.start.plus(now),
            version: VERSION,
            batch: Batch {
                hello: sequence == 1,
                knows: VERSION,
                ..batch
            },
        };
        let effects = self.state.apply(&entry.into());
        self.skipped += u64::from(effects.skipped);
        effects
    }
}

fn move_some<T>(from: &mut Vec<T>, to: &mut Vec<T>, left: &mut usize) {
    let count = from.len().min(*left);
    to.extend(from.drain(..count));
    *left -= count;
}

fn items(section: &Section) -> usize {
    let sent = [
        section.leaves.len(),
        section.renewals.len(),
        section.marks.len(),
        section.returns.len(),
    ];
    let others = section.claims.len() + section.ends.len() + section.completions.len() + section.holds.len();
    sent.iter().sum::<usize>() + others
}

fn events(section: &Section) -> u64 {
    let joins: u64 = section.joins.iter().map(|(_, count)| u64::from(*count)).sum();
    joins + items(section) as u64
}
