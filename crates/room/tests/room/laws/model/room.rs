//! The naive room: its settings in force, its lines, and the sections that name them.

use std::collections::BTreeMap;

use ropeline_room::{Completion, LaneId, LineName, Mode, Number, Overrides, PendingId, Section, Settings};

use super::lane::Now;
use super::line::Line;
use super::{Answer, Lore, Proof};

#[derive(Clone, Debug)]
pub struct Room {
    pub configured: Settings,
    pub overrides: Overrides,
    /// The epoch whose log last set them.
    pub worded: Option<u64>,
    pub settings: Settings,
    pub revision: u64,
    pub edition: u32,
    /// The epoch that issued when the edition was last taken back.
    pub spared: Option<u64>,
    pub lines: BTreeMap<LineName, Line>,
    /// (numbered at, id, line, number)
    pub pending: Vec<(u64, PendingId, LineName, Number)>,
}

impl Room {
    pub fn settle(&mut self, clock: u64, lore: &Lore) {
        let old = self.settings.clone();
        self.settings = Settings {
            mode: self.overrides.mode.unwrap_or(self.configured.mode),
            capacity: self.overrides.capacity.unwrap_or(self.configured.capacity),
            rate_per_minute: self
                .overrides
                .rate_per_minute
                .unwrap_or(self.configured.rate_per_minute),
            stock: self.overrides.stock.or(self.configured.stock),
            ..self.configured.clone()
        };
        for line in self.lines.values_mut() {
            line.grow(&self.settings, lore);
            line.resettle(&old, &self.settings, clock);
            let lets_in = |mode| matches!(mode, Mode::Auto | Mode::Hold);
            if lets_in(self.settings.mode) && !lets_in(old.mode) {
                line.renew_calls(&self.settings, clock);
            }
        }
    }

    pub fn close(&mut self, lore: &mut Lore) {
        for (_, line) in std::mem::take(&mut self.lines) {
            lore.raise(line.highest());
        }
        self.pending.clear();
    }

    /// Lines without visitors that have sold something take no room from the next ones.
    pub fn keep(&mut self, clock: u64) {
        for line in self.lines.values_mut() {
            line.kept = line.empty(clock) && !line.sold.is_empty();
        }
    }

    fn make(&mut self, name: &LineName, now: &Now) -> bool {
        let most = usize::try_from(self.settings.max_lines).unwrap();
        let counting = self.lines.values().filter(|line| !line.kept).count();
        let room = counting < most && self.lines.len() < 16 * most;
        if room && !self.lines.contains_key(name) {
            self.lines.insert(name.clone(), Line::new(now));
        }
        self.lines.contains_key(name)
    }

    pub fn section(&mut self, section: &Section, now: &mut Now, answer: &mut Answer) {
        let key = |number: &Number| (number.epoch.0, u64::from(number.n));
        if now.adopts.is_none() {
            let passes = section.reopens.iter().map(|(_, number)| number);
            let passes = passes.chain(section.completions.iter().map(|done| &done.number));
            let tickets = section.marks.iter().map(|(_, number)| (number, false));
            for (number, pass) in passes.map(|number| (number, true)).chain(tickets) {
                if now.lore.prove(key(number), now.clock) == (Proof::Lost { cold: true }) {
                    now.lore.heal(number.epoch.0, pass, &self.settings, now.clock);
                }
            }
        }
        let brought = [&section.taken, &section.spent, &section.voids].into_iter().flatten();
        let brought = brought.filter(|(_, number)| now.adopts == Some(number.epoch.0));
        let named = section.marks.iter().chain(&section.reopens).chain(brought);
        let sold = section.completions.iter().map(|done| &done.number);
        let mut named = named.map(|(_, number)| number).chain(sold);
        let counts = |done: &Completion| {
            let over = done.edition.0 < self.edition && self.spared.is_none_or(|spared| done.number.epoch.0 < spared);
            let ahead = now.lore.prove(key(&done.number), now.clock) == Proof::Ahead;
            !over && (now.adopts.is_some() || self.settings.stock.is_some() && !ahead)
        };
        if section.completions.iter().any(counts) && !self.lines.contains_key(&section.line) {
            self.lines.insert(section.line.clone(), Line::new(now));
        } else if named.any(|number| matches!(now.lore.prove(key(number), now.clock), Proof::Lost { .. })) {
            self.make(&section.line, now);
        }
        match self.lines.get_mut(&section.line) {
            None => answer.skipped += items(section),
            Some(line) => {
                let mut note = |done: bool| answer.skipped += u32::from(!done);
                section
                    .leaves
                    .iter()
                    .for_each(|(lane, n)| note(line.leave(*lane, key(n), now)));
                section
                    .ends
                    .iter()
                    .for_each(|end| note(line.end(end.lane, key(&end.number), end.after_ms, now)));
                let current = (self.edition, self.spared);
                section
                    .completions
                    .iter()
                    .for_each(|done| note(line.complete(done, current, now)));
                section
                    .claims
                    .iter()
                    .for_each(|c| note(line.claim(c.lane, key(&c.number), c.carried, now)));
                section
                    .taken
                    .iter()
                    .for_each(|(lane, n)| note(line.use_up(*lane, key(n), false, now)));
                section
                    .spent
                    .iter()
                    .for_each(|(lane, n)| note(line.use_up(*lane, key(n), true, now)));
                section
                    .reopens
                    .iter()
                    .for_each(|(lane, n)| note(line.reopen(*lane, key(n), now)));
                section
                    .renewals
                    .iter()
                    .for_each(|(lane, n)| note(line.renew(*lane, key(n), now)));
                section
                    .marks
                    .iter()
                    .for_each(|(lane, n)| note(line.mark(*lane, key(n), now)));
                section
                    .voids
                    .iter()
                    .for_each(|(lane, n)| note(line.void_below(*lane, key(n), now)));
            }
        }
        if section.bypasses > 0 && section.line.is_only() {
            self.make(&section.line, now);
        }
        if let Some(line) = self.lines.get_mut(&section.line) {
            line.figures.bypasses += u64::from(section.bypasses);
        }
        for (lane, count) in &section.joins {
            let first = self.join(&section.line, *lane, *count, now);
            answer.skipped += u32::from(first.is_none());
            answer.joined.push(first);
        }
        for (lane, id) in &section.pending_joins {
            let known = self
                .pending
                .iter()
                .find(|p| p.1 == *id && p.2 == section.line)
                .map(|p| p.3);
            let first = known.or_else(|| self.join(&section.line, *lane, 1, now));
            if known.is_none() {
                self.pending
                    .extend(first.map(|number| (now.clock, *id, section.line.clone(), number)));
            }
            answer.skipped += u32::from(first.is_none());
            answer.pending_joined.push(first);
        }
    }

    fn join(&mut self, name: &LineName, lane: LaneId, count: u32, now: &Now) -> Option<Number> {
        let able = matches!(self.settings.mode, Mode::Auto | Mode::Hold);
        let configured = usize::from(lane.0) < self.settings.lane_weights.len();
        if !able || !configured || count == 0 || !self.make(name, now) {
            return None;
        }
        let line = self.lines.get_mut(name)?;
        let sold_out = self
            .settings
            .stock
            .is_some_and(|stock| line.sold.len() >= usize::try_from(stock).unwrap());
        if sold_out { None } else { line.join(lane, count, now) }
    }
}

pub fn refuse(section: &Section, answer: &mut Answer) {
    answer.skipped += items(section) + u32::try_from(section.joins.len() + section.pending_joins.len()).unwrap();
    answer.joined.extend(section.joins.iter().map(|_| None));
    answer.pending_joined.extend(section.pending_joins.iter().map(|_| None));
}

fn items(section: &Section) -> u32 {
    let named = [&section.leaves, &section.reopens, &section.renewals, &section.marks];
    let brought = [&section.taken, &section.spent, &section.voids];
    let lists = named.iter().chain(&brought).map(|list| list.len());
    let items = lists.sum::<usize>() + section.ends.len() + section.completions.len() + section.claims.len();
    u32::try_from(items).unwrap()
}
