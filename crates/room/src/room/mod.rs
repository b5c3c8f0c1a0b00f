//! One room: what is in force, and its lines.

pub(crate) mod account_joins;
pub(crate) mod codec;
pub(crate) mod codes;
pub(crate) mod draw;
pub(crate) mod due;
pub(crate) mod edition;
pub(crate) mod healing;
pub(crate) mod joins;
pub(crate) mod lanes;
pub(crate) mod load;
pub(crate) mod operate;
pub(crate) mod pending;
pub(crate) mod publish;
pub(crate) mod recovered_draw;
pub(crate) mod redeem;
pub(crate) mod rehearsal;
pub(crate) mod rehearse;
pub(crate) mod stage;
pub(crate) mod stock;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::entry::Section;
use crate::entry::commands::Orders;
use crate::entry::effects::Effects;
use crate::entry::eviction::Eviction;
use crate::entry::sale::Sale;
use crate::line::{Counts, Line};
use crate::load::Load;
use crate::recovery::healing::Healing;
use crate::room::codes::Codes;
use crate::room::pending::Pending;
use crate::room::rehearsal::Rehearsal;
use crate::settings::schedule::Turn;
use crate::settings::{Overrides, Settings};
use crate::state::context::Context;
use crate::state::past::Proof;
use crate::version::WITH_SCHEDULES;
use crate::view::RoomView;
use crate::view::lines::Lines;
use ropeline_ids::{Clock, Edition, Era, LineName, Number, Wall};

#[derive(Debug)]
pub(super) struct Room {
    /// As configured.
    configured: Arc<Settings>,
    overrides: Overrides,
    /// The era whose log last set them, and at which revision.
    pub worded: Option<(Era, u64)>,
    pub revision: u64,
    edition: Edition,
    /// See [`RoomView::voided`].
    voided: Edition,
    /// See [`RoomView::spared`].
    spared: Option<Era>,
    /// How far the schedule has been followed: its last turn, or when it was set. It never goes back.
    followed: Option<Wall>,
    /// When the sale that this edition is of began and opened. It stays while the schedule leads elsewhere.
    began: Option<(Wall, Wall)>,
    /// What it does next, which follows from that.
    turn: Option<(Wall, Turn)>,
    /// How far the draw of this edition has come.
    sale: Arc<Sale>,
    /// What operators did of late.
    orders: Arc<Orders>,
    /// The rehearsal that is under way.
    rehearsal: Option<Arc<Rehearsal>>,
    /// Of a room that follows what its shop can take.
    load: Option<Box<Load>>,
    pub healing: Healing,
    lines: BTreeMap<LineName, Line>,
    pub pending: Pending,
    pub codes: Codes,
    /// Configured settings with the overrides applied, and the mode that this comes to in the schedule's phase.
    pub settings: Arc<Settings>,
    /// No turn is missed: an operator, or the configuration, lets nobody in whose turn it is. It follows from the rest.
    keeps_calls: bool,
    /// When lines are due; a line may be due later than it stands here, never earlier.
    dues: BTreeSet<(Clock, LineName)>,
    /// Whom operators take out with the entry under way.
    evicting: Vec<Eviction>,
    /// Lines that the entry under way touches.
    active: BTreeSet<LineName>,
    pub counts: Counts,
    /// The lines as last published, and those that have changed since.
    painted: Lines,
    stale: BTreeSet<LineName>,
    picture: Option<Arc<RoomView>>,
}

impl Room {
    pub fn new(configured: Settings, revision: u64) -> Self {
        Self {
            settings: Arc::new(configured.clone()),
            configured: Arc::new(configured),
            overrides: Overrides::default(),
            worded: None,
            revision,
            edition: Edition(0),
            voided: Edition(0),
            spared: None,
            followed: None,
            began: None,
            turn: None,
            sale: Arc::default(),
            orders: Arc::default(),
            rehearsal: None,
            load: None,
            healing: Healing::default(),
            lines: BTreeMap::new(),
            keeps_calls: false,
            pending: Pending::default(),
            codes: Codes::default(),
            dues: BTreeSet::new(),
            evicting: Vec::new(),
            active: BTreeSet::new(),
            counts: Counts::default(),
            painted: Lines::default(),
            stale: BTreeSet::new(),
            picture: None,
        }
    }

    /// One that begins with this edition: what is from before was of another room of its name.
    pub fn of(edition: Edition, revision: u64) -> Self {
        Self {
            edition,
            voided: edition,
            ..Self::new(Settings::default(), revision)
        }
    }

    pub fn configured(&self) -> &Settings {
        &self.configured
    }

    /// A new edition: every line begins afresh, above all numbers it has issued.
    pub fn reset(&mut self, m: &mut Context) {
        self.edition = Edition(self.edition.0.saturating_add(1));
        self.forget_sale();
        self.voided = self.edition;
        self.spared = None;
        self.close(m);
        // What the draw held back is held no more.
        self.settle(m);
    }

    /// Takes back an edition that the log had lost; false if it is not above the room's.
    pub fn regain(&mut self, edition: Edition, m: &Context) -> bool {
        let higher = edition > self.edition;
        if higher {
            (self.edition, self.voided) = (edition, edition);
            let lost = self.sale.lost;
            self.forget_sale();
            Arc::make_mut(&mut self.sale).lost = lost;
            self.spared = Some(m.past.era());
            self.regain_stock(m.past.era());
            self.settle(m);
            self.repaint();
        }
        higher
    }

    /// Forgets every line, its numbers never to be issued again.
    pub fn close(&mut self, m: &mut Context) {
        for name in self.lines.keys().cloned().collect::<Vec<_>>() {
            self.forget(&name, m);
        }
        self.pending.clear();
        self.rehearsal = None;
        self.picture = None;
    }

    pub fn lines(&self) -> impl Iterator<Item = (&LineName, &Line)> {
        self.lines.iter()
    }

    pub fn edition(&self) -> Edition {
        self.edition
    }

    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// See [`State::mark_newcomers`](super::state::State::mark_newcomers).
    pub fn mark_newcomers(&mut self, now: Clock) {
        for line in self.lines.values_mut() {
            line.mark_newcomers(&self.settings, now);
        }
    }

    /// A new log begins; `last` is the era of the one before.
    pub fn begin(&mut self, era: Era, last: Era, m: &Context) {
        self.healing.begin(last);
        for name in self.lines.keys().cloned().collect::<Vec<_>>() {
            if let Some(line) = self.lines.get_mut(&name) {
                line.begin(era, m.clock);
            }
            self.count(&name);
        }
        self.reschedule(m);
    }

    /// The entry under way names a line.
    pub fn name(&mut self, line: &LineName) {
        if self.lines.contains_key(line) {
            self.active.insert(line.clone());
        }
    }

    /// An entry begins: lines that are due, or named by it, go with its clock.
    pub fn advance(&mut self, m: &Context) {
        self.pending.forget(self.settings.late_window_ms, m.clock);
        if self.codes.sweep(m.time) {
            self.picture = None;
        }
        self.run_load(m);
        self.wake(m);
        for name in &self.active {
            if let Some(line) = self.lines.get_mut(name) {
                line.advance(&self.settings, m);
            }
        }
        for Eviction { line, lane, number } in std::mem::take(&mut self.evicting) {
            if let Some(line) = self.lines.get_mut(&line) {
                line.leave(lane, number, &self.settings, m);
            }
        }
    }

    pub fn apply(&mut self, section: &Section, m: &mut Context, effects: &mut Effects) {
        let current = self.current();
        self.heal(section, m);
        if self.sells_in(section, current, m) {
            // What was sold is sold, however many lines there are.
            self.make_anyway(&section.line, m);
        } else if self.proves_loss(section, m) {
            self.make(&section.line, m);
        }
        let skipped = match self.lines.get_mut(&section.line) {
            Some(line) => line.apply(section, &self.settings, current, m),
            None => section.items(),
        };
        effects.skip(skipped);
        // A gate that brings an era back says who was present, and not that they were heard of.
        if m.adopts.is_none() {
            self.pending.heard(section);
        }
        if section.bypasses > 0 || section.networks > 0 {
            self.bypass(section, m);
        }
        self.know_virtuals(section);
        self.take_joins(section, m, effects);
        effects.give_up(&section.room, &section.line, std::mem::take(&mut m.given_up));
    }

    /// An entry ends: expiry, calls, horizons; lines without anybody are forgotten.
    pub fn finish(&mut self, m: &mut Context) {
        // PERF: every entry passes all rooms, and in nearly all of them nothing happens.
        if self.active.is_empty() {
            return;
        }
        for name in self.in_turn() {
            let Some(line) = self.lines.get_mut(&name) else {
                continue;
            };
            self.picture = None;
            match &mut self.load {
                Some(load) => load.lend(line, &name, |line| line.finish(&self.settings, m)),
                None => line.finish(&self.settings, m),
            }
            line.noted = line.outcomes();
            for (revision, called) in std::mem::take(&mut line.answered) {
                Arc::make_mut(&mut self.orders).called(revision, called);
            }
            if !name.is_only() && line.is_forgotten(&self.settings, m) {
                self.forget(&name, m);
            } else {
                self.count(&name);
                self.plan(&name, m);
                self.stale.insert(name);
            }
        }
    }

    /// Works every line's schedule out anew, after something changed that all of them depend on.
    pub fn reschedule(&mut self, m: &Context) {
        self.plan_all(m);
        self.repaint();
    }

    pub(super) fn plan_all(&mut self, m: &Context) {
        for name in self.lines.keys().cloned().collect::<Vec<_>>() {
            self.plan(&name, m);
        }
    }

    /// Publishes every line anew.
    pub fn repaint(&mut self) {
        self.stale.extend(self.lines.keys().cloned());
        self.picture = None;
    }

    fn settle(&mut self, m: &Context) {
        let (old, kept) = (Arc::clone(&self.settings), self.keeps_calls);
        self.enforce();
        self.settle_load(m);
        self.tell_lines(m);
        let reopens = kept && self.settings.mode.lets_called_in() && m.version >= WITH_SCHEDULES;
        for line in self.lines.values_mut() {
            line.resettle(&old, &self.settings, m);
            if reopens {
                line.renew_calls(&self.settings, m.clock);
            }
        }
        self.active.extend(self.lines.keys().cloned());
        self.picture = None;
    }

    fn keeps_calls(&self, m: &Context) -> bool {
        self.keeps_calls && m.version >= WITH_SCHEDULES
    }

    /// Whether a turn can be missed.
    pub(super) fn tell_lines(&mut self, m: &Context) {
        let keeps_calls = self.keeps_calls(m);
        for line in self.lines.values_mut() {
            line.keeps_calls = keeps_calls;
        }
    }

    /// Counts visitors let past the line. A line of a `per` room that nobody waits at is not made for that.
    fn bypass(&mut self, section: &Section, m: &Context) {
        if section.line.is_only() {
            self.make(&section.line, m);
        }
        if let Some(line) = self.lines.get_mut(&section.line) {
            line.figures.bypasses += u64::from(section.bypasses) + u64::from(section.networks);
        }
    }

    /// Whether the section's tokens prove that the line was there and was lost.
    fn proves_loss(&self, section: &Section, m: &Context) -> bool {
        let lost = |number: &Number| matches!(m.past.prove(*number, m.clock), Proof::LostEra | Proof::LostLine);
        let brought = [&section.taken, &section.spent, &section.voids].into_iter().flatten();
        let brought = brought.filter(|(_, number)| m.adopts == Some(number.era));
        let sold = section.completions.iter().map(|done| &done.number);
        let named = section.marks.iter().chain(&section.reopens).chain(brought);
        let mut named = named.map(|(_, number)| number).chain(sold);
        !self.lines.contains_key(&section.line) && named.any(lost)
    }

    /// Makes the line if it is not there; false when there are too many.
    pub(super) fn make(&mut self, name: &LineName, m: &Context) -> bool {
        if self.lines.contains_key(name) {
            return true;
        }
        let room = self.has_room();
        if room {
            self.make_anyway(name, m);
        }
        room
    }

    fn make_anyway(&mut self, name: &LineName, m: &Context) {
        if !self.lines.contains_key(name) {
            let mut line = Line::new(&self.settings, &m.past, m.clock);
            line.heals_until = self.healing.until();
            line.keeps_calls = self.keeps_calls(m);
            self.lines.insert(name.clone(), line);
            self.active.insert(name.clone());
        }
    }

    fn forget(&mut self, name: &LineName, m: &mut Context) {
        let Some(line) = self.lines.remove(name) else { return };
        self.codes.forget_line(name);
        Arc::make_mut(&mut m.past).raise(line.ends());
        self.counts = self.counts.less(line.counted);
        if let Some(at) = line.scheduled {
            self.dues.remove(&(at, name.clone()));
        }
        self.active.remove(name);
        self.stale.insert(name.clone());
        self.picture = None;
    }
}
