//! One room: its parts, each with fields of its own, and how they work together on an entry.
//!
//! `terms` has the settings, `timetable` the progress of the schedule, `edition` the valid edition, `draw` the progress of
//! that edition's draw, `lines` the lines with their totals and due times, `load` the controller, `commands` operators'
//! commands, `rehearsal` the virtual visitors under way, `pending` and `codes` the visitors numbered by an id or a code, and
//! `publish` the last view. The room calls the parts in order and passes on the data that each needs from the others: here
//! for an entry, in `sales` for the schedule and the draw, in `joins` for numbering.

pub(crate) mod codes;
mod commands;
mod draw;
pub(crate) mod edition;
mod joins;
mod lines;
mod load;
pub(crate) mod pending;
mod publish;
pub(crate) mod rehearsal;
mod sales;
mod terms;
mod timetable;

use std::sync::Arc;

use crate::codec::codec;
use crate::entry::commands::{Audited, CallOrder, Deed, MAX_CALL, Who};
use crate::entry::effects::Effects;
use crate::entry::eviction::Eviction;
use crate::entry::{Completion, Section};
use crate::line::Line;
use crate::line::calling::Scope;
use crate::line::counts::Counts;
use crate::line::rules::Rules;
use crate::load::{Outside, Report};
use crate::recovery::healing::{Healing, Proof};
use crate::room::codes::{BroughtCodes, Codes};
use crate::room::commands::Commands;
use crate::room::draw::RoomDraw;
use crate::room::edition::{Current, Editions, is_reset};
use crate::room::lines::LineSet;
use crate::room::load::RoomLoad;
use crate::room::pending::Pending;
use crate::room::publish::Published;
use crate::room::rehearsal::Rehearsal;
use crate::room::terms::Terms;
use crate::room::timetable::Timetable;
use crate::settings::schedule::{Phase, Schedule};
use crate::settings::{Mode, Overrides, Settings};
use crate::state::context::Context;
use crate::state::past;
use crate::view::RoomView;
use crate::view::line_view::LineView;
use ropeline_ids::{Clock, Edition, Epoch, GateId, LaneId, LineName, Number, RoomName, Wall};

#[derive(Debug)]
pub(super) struct Room {
    /// The revision of the last change that was taken.
    revision: u64,
    terms: Terms,
    timetable: Timetable,
    editions: Editions,
    draw: RoomDraw,
    commands: Commands,
    rehearsal: Option<Arc<Rehearsal>>,
    load: RoomLoad,
    healing: Healing,
    pending: Pending,
    codes: Codes,
    lines: LineSet,
    published: Published,
}

codec! {
    struct Room {
        revision, terms, timetable, editions, draw, commands, rehearsal, load, healing, pending, codes, lines,
    } derived { published } then enforced;
}

impl Room {
    pub fn new(configured: Settings, revision: u64) -> Self {
        Self {
            revision,
            terms: Terms::new(configured),
            timetable: Timetable::default(),
            editions: Editions::new(Edition(0)),
            draw: RoomDraw::default(),
            commands: Commands::default(),
            rehearsal: None,
            load: RoomLoad::default(),
            healing: Healing::default(),
            pending: Pending::default(),
            codes: Codes::default(),
            lines: LineSet::default(),
            published: Published::default(),
        }
    }

    /// A room that begins with this edition: everything before belonged to another room of its name.
    pub fn of(edition: Edition, revision: u64) -> Self {
        Self {
            editions: Editions::new(edition),
            ..Self::new(Settings::default(), revision)
        }
    }

    /// With the settings in force, which are derived from the rest. [`Room::reschedule`] computes when lines are due.
    fn enforced(mut self) -> Self {
        self.enforce();
        for line in self.lines.all_mut() {
            line.park_by(self.terms.in_force());
        }
        self
    }

    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn set_revision(&mut self, revision: u64) {
        self.revision = revision;
    }

    pub fn configured(&self) -> &Settings {
        self.terms.configured()
    }

    pub fn overrides(&self) -> &Overrides {
        self.terms.overrides()
    }

    /// The epoch whose log last set the overrides, and at which revision.
    pub fn worded(&self) -> Option<(Epoch, u64)> {
        self.terms.worded()
    }

    pub fn settings(&self) -> &Settings {
        self.terms.in_force()
    }

    pub fn schedule(&self) -> Option<&Schedule> {
        self.terms.schedule()
    }

    pub fn lines(&self) -> impl Iterator<Item = (&LineName, &Line)> {
        self.lines.iter()
    }

    pub fn counts(&self) -> Counts {
        self.lines.counts()
    }

    pub fn edition(&self) -> Edition {
        self.editions.edition()
    }

    pub fn rehearsal(&self) -> Option<&Arc<Rehearsal>> {
        self.rehearsal.as_ref()
    }

    /// A new edition: every line begins afresh, above all numbers it has issued.
    pub fn reset(&mut self, m: &mut Context) {
        self.editions.reset();
        self.forget_draw();
        self.close(m);
        // Slots that the draw held back are free again.
        self.settle(m);
    }

    /// Takes back an edition that the log had lost; false if it is not above the room's.
    pub fn regain(&mut self, edition: Edition, m: &Context) -> bool {
        let epoch = m.past.epoch();
        let higher = self.editions.regain(edition, epoch);
        if higher {
            if self.draw.forget_regained() {
                self.lines.all_mut().for_each(Line::give_up_draw);
            }
            // Free slots may be filled now, and a line that sold nothing may be forgotten.
            self.lines.all_mut().for_each(|line| line.regain_edition(epoch));
            self.settle(m);
            self.repaint();
        }
        higher
    }

    /// The room is new in a log whose predecessor may be lost.
    pub fn suspect(&mut self, m: &Context) {
        self.healing.suspect(self.terms.in_force(), m.clock);
        self.reschedule(m);
    }

    /// Forgets every line, its numbers never to be issued again.
    pub fn close(&mut self, m: &mut Context) {
        for name in self.lines.names() {
            self.forget(&name, m);
        }
        self.pending.clear();
        self.rehearsal = None;
        self.published.touch();
    }

    /// See [`State::mark_newcomers`](crate::State::mark_newcomers).
    pub fn mark_newcomers(&mut self, now: Clock) {
        for line in self.lines.all_mut() {
            line.mark_newcomers(self.terms.in_force(), now);
        }
    }

    /// A new log begins; `last` is the epoch of the one before.
    pub fn begin(&mut self, epoch: Epoch, last: Epoch, m: &Context) {
        self.healing.begin(last);
        for name in self.lines.names() {
            if let Some(line) = self.lines.get_mut(&name) {
                line.begin(epoch, m.clock);
            }
            self.lines.count(&name);
        }
        self.reschedule(m);
    }

    /// The entry under way names a line.
    pub fn name(&mut self, line: &LineName) {
        self.lines.touch(line);
    }

    /// An entry begins: lines that are due, or named by it, advance to its clock.
    pub fn advance(&mut self, m: &Context) {
        let settings = self.terms.in_force();
        self.pending.forget(settings.late_window_ms, m.clock);
        if self.codes.sweep(m.time) {
            self.published.touch();
        }
        let slots = self.lines.counts().slots;
        let rules = rules(&self.terms, &self.healing);
        if self
            .load
            .run(settings.load_control.as_ref(), settings.call_every_ms, slots, m)
        {
            // The published figures of each line do not depend on it.
            self.lines.plan_all((&rules, self.load.allowance()), m);
            self.published.touch();
        }
        self.lines.wake((&rules, self.load.allowance()), m);
        self.lines.advance(settings, m);
        for Eviction { line, lane, number } in self.commands.take_evictions() {
            if let Some(line) = self.lines.get_mut(&line) {
                line.leave(lane, number, &rules, m);
            }
        }
    }

    /// Applies a gate's section of one line.
    pub fn apply(&mut self, section: &Section, m: &mut Context, effects: &mut Effects) {
        let current = self.editions.counts();
        self.heal(section, m);
        if self.sells_in(section, current, m) {
            // A sale counts, however many lines there are.
            self.make_anyway(&section.line, m);
        } else if self.proves_loss(section, m) {
            self.make(&section.line, m);
        }
        let rules = rules(&self.terms, &self.healing);
        let skipped = match self.lines.get_mut(&section.line) {
            Some(line) => line.apply(section, &rules, current, m),
            None => section.items(),
        };
        effects.skip(skipped);
        // A gate that brings an epoch back says who was present, and not that they were heard of.
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

    /// An entry ends: expiry, calls, horizons; empty lines are forgotten.
    pub fn finish(&mut self, m: &mut Context) {
        // PERF: every entry passes all rooms, and in nearly all of them nothing happens.
        if self.lines.is_idle() {
            return;
        }
        let lines = self.lines.count_all();
        for name in self.lines.take_active(self.load.last()) {
            let rules = rules(&self.terms, &self.healing);
            let Some(line) = self.lines.get_mut(&name) else {
                continue;
            };
            let mut scope = Scope {
                allowance: self.load.allowance(),
                lines,
                orders: self.commands.take_calls(&name),
                answered: Vec::new(),
            };
            line.finish(&rules, &mut scope, m);
            let forgotten = !name.is_only() && line.is_forgotten(rules.settings, m);
            let outcomes = self.lines.take_outcomes(&name);
            self.load.take_back(&name, scope.allowance, outcomes);
            self.commands.answer(&scope.answered);
            if forgotten {
                self.forget(&name, m);
            } else {
                self.lines.count(&name);
                self.lines.plan(&name, (&rules, self.load.allowance()), m);
                self.published.touch_line(name);
            }
        }
    }

    /// Works every line's schedule out anew, after something changed that all of them depend on.
    pub fn reschedule(&mut self, m: &Context) {
        let rules = rules(&self.terms, &self.healing);
        self.lines.plan_all((&rules, self.load.allowance()), m);
        self.repaint();
    }

    /// Without what is only counted or shown, for a form of the state.
    #[cfg(any(test, feature = "testing"))]
    pub fn forget_totals(&mut self, now: Clock) {
        let settings = self.terms.in_force();
        self.lines.all_mut().for_each(|line| line.forget_totals(settings, now));
    }

    /// When the clock alone changes a line next.
    #[cfg(any(test, feature = "testing"))]
    pub fn next_due(&mut self, m: &Context) -> Option<Clock> {
        let rules = rules(&self.terms, &self.healing);
        let allowance = self.load.allowance();
        let lines = self.lines.iter_mut();
        lines
            .filter_map(|(name, line)| line.next_due(&rules, allowance, m, name.is_only()))
            .min()
    }

    /// When the first session of any line is to be parked.
    #[cfg(any(test, feature = "testing"))]
    pub fn parks_first(&mut self, m: &Context) -> Option<Clock> {
        let until = m.parks_until(self.terms.in_force());
        self.lines.all_mut().filter_map(|line| line.parks_first(until)).min()
    }

    /// Publishes every line anew.
    pub fn repaint(&mut self) {
        self.published.touch_lines(self.lines.iter().map(|(name, _)| name));
    }

    /// The view for the request path, made anew only after a change.
    pub fn view(&mut self, m: &Context) -> Arc<RoomView> {
        if let Some(room) = self.published.room() {
            return Arc::clone(room);
        }
        let (settings, edition) = (self.terms.in_force(), self.editions.edition());
        let rules = rules(&self.terms, &self.healing);
        let line = |name: &LineName| {
            let line = self.lines.get(name)?;
            Some(LineView::new(line, edition, settings, &rules, m))
        };
        let lines = self.published.lines(line);
        let view = RoomView {
            settings: Settings::clone(settings),
            configured: Arc::clone(self.terms.configured()),
            mode: self.terms.mode(),
            stage: self.stage(),
            results: self.timetable.results(self.terms.schedule()),
            sale: Arc::clone(self.draw.sale()),
            orders: Arc::clone(self.commands.done()),
            rehearsal: self.rehearsal.clone(),
            decides: self.decides(),
            spent: self.codes.spent.clone(),
            overrides: self.terms.overrides().clone(),
            revision: self.revision,
            edition,
            voided: self.editions.voided(),
            spared: self.editions.spared(),
            load: self.load.view(),
            allowance: self.load.allowance(),
            heals_until: self.healing.until(),
            lines,
        };
        self.published.keep(view)
    }

    /// The settings to be reported before or after a change.
    pub fn audited(&self) -> Audited {
        let rule = self.schedule().map(|schedule| schedule.rule.as_str());
        Audited::of(self.settings(), self.terms.mode(), self.overrides(), rule)
    }

    /// Takes note of a change; one of the oldest is forgotten for it.
    pub fn note_order(&mut self, revision: u64, said: (Option<Who>, Deed), at: Wall) {
        self.commands.note(revision, said, at);
        self.published.touch();
    }

    /// Takes a visitor out with the entry under way; false where there is no such line.
    pub fn order_eviction(&mut self, eviction: &Eviction) -> bool {
        let known = self.lines.has(&eviction.line);
        if known {
            self.lines.touch(&eviction.line);
            self.commands.evict(eviction);
        }
        known
    }

    /// Admits visitors at the end of the entry. False where no visitor can be called: the room is closed, not open yet or
    /// off, its order is not drawn yet, or there is no such line or lane.
    pub fn order_calls(&mut self, order: &CallOrder, revision: u64) -> bool {
        let stage = self.stage();
        let able = matches!(self.settings().mode, Mode::Auto | Mode::Hold);
        // Held for its opening: the shop behind it may not be there yet.
        let forms = stage.is_some_and(|stage| stage.phase == Phase::Prequeue);
        let undrawn = self.terms.draws() && self.draw.sale().is_open(stage.as_ref());
        let counted = (1..=MAX_CALL).contains(&order.count);
        let Some(line) = self.lines.get(&order.line) else {
            return false;
        };
        let lane = order
            .lane
            .is_none_or(|lane| line.lanes().get(usize::from(lane.0)).is_some());
        if !able || forms || undrawn || !counted || !lane {
            return false;
        }
        self.commands.call(revision, order);
        self.lines.touch(&order.line);
        true
    }

    /// Takes a gate's report; it has no effect in a room without load control.
    pub fn take_report(&mut self, gate: GateId, report: &Report, now: Clock) {
        let load_control = self.terms.in_force().load_control.as_ref();
        if self.load.take(gate, report, load_control, now) {
            self.published.touch();
        }
    }

    /// A gate is gone: its report does not count any more.
    pub fn forget_reports(&mut self, gate: GateId) {
        if self.load.forget(gate) {
            self.published.touch();
        }
    }

    /// Takes outside figures of the shop, or their withdrawal. False for impossible figures, and in a room without load
    /// control.
    pub fn give_load(&mut self, figures: Option<Outside>, who: Option<&Who>, now: Clock) -> bool {
        let given = self.load.give(figures, who, now);
        if given {
            self.published.touch();
        }
        given
    }

    pub fn heals(&self, m: &Context) -> bool {
        m.clock < self.healing.until()
    }

    /// Something that was lost may still come back, by visitors or by gates.
    pub fn waits_for_lost(&self, m: &Context) -> bool {
        waits_for_lost(&self.healing, m)
    }

    /// Uses the section's tokens as proof of a loss. A gate that brings an epoch back proves nothing, because it knows how
    /// far that went.
    fn heal(&mut self, section: &Section, m: &Context) {
        // PERF: in nearly every log nothing is lost, or the loss has been shown.
        if m.adopts.is_some() || self.healing.is_spent() || !m.past.trusts(m.clock) {
            return;
        }
        let passes = section
            .reopens
            .iter()
            .chain(&section.returns)
            .map(|(_, number)| *number);
        let passes = passes.chain(section.completions.iter().map(|done| done.number));
        let tickets = section.marks.iter().map(|(_, number)| *number);
        let shown = passes.map(|number| (Proof::Pass, number));
        let shown = shown.chain(tickets.map(|number| (Proof::Ticket, number)));
        let lost = |number: Number| m.past.prove(number, m.clock) == past::Proof::LostEpoch;
        let mut longer = false;
        for (proof, number) in shown.filter(|(_, number)| lost(*number)) {
            let settings = self.terms.in_force();
            longer |= self.healing.prove(proof, number.epoch, settings, m);
        }
        if longer {
            self.lose_draw(m);
            self.reschedule(m);
        }
    }

    /// All that was lost has come back.
    pub fn end_healing(&mut self, m: &Context) {
        if self.healing.end() {
            self.reschedule(m);
        }
    }

    /// An operator ends it.
    pub fn forbid_healing(&mut self, m: &Context) {
        self.healing.forbid();
        self.reschedule(m);
    }

    /// The completions of an epoch in a line here that `other` lacks.
    pub fn completions_for(&self, other: Option<&Self>, line: &LineName, epoch: Epoch) -> Vec<Completion> {
        let Some(of) = self.lines.get(line) else {
            return Vec::new();
        };
        let same = other.filter(|other| other.edition() == self.edition());
        let known = same
            .and_then(|other| other.lines.get(line))
            .map(|line| line.tally().winners());
        let of_epoch = of.tally().winners().iter_of(epoch);
        let lacking = of_epoch.filter(|winner| !known.is_some_and(|known| known.has(winner.lane, winner.number)));
        let completion = lacking.map(|winner| Completion {
            lane: winner.lane,
            number: winner.number,
            edition: self.edition(),
            after_ms: 0,
            at: Some(winner.at),
            tag: winner.tag,
        });
        completion.collect()
    }

    /// The codes that another history lacks.
    pub fn codes_for(&self, name: &RoomName, other: Option<&Self>) -> Vec<BroughtCodes> {
        self.codes.lacking(name, other.map(|other| &other.codes), PART)
    }

    /// Given for a pending id, and not shown since.
    pub fn is_unheard(&self, line: &LineName, seat: (LaneId, Number)) -> bool {
        self.pending.is_unheard(line, seat)
    }

    /// Something was sold that counts, also in a line that was forgotten since.
    fn sells_in(&self, section: &Section, current: Current, m: &Context) -> bool {
        let sells = self.settings().stock.is_some() || m.adopts.is_some();
        let counts = |done: &Completion| {
            let over = is_reset(done.edition, done.number, current.edition, current.spared);
            !over && (m.adopts.is_some() || m.past.prove(done.number, m.clock) != past::Proof::Ahead)
        };
        sells && section.completions.iter().any(counts)
    }

    /// Whether the section's tokens prove that the line was there and was lost.
    fn proves_loss(&self, section: &Section, m: &Context) -> bool {
        let lost = |number: &Number| m.past.may_be_lost(*number, m.clock);
        let brought = [&section.taken, &section.spent, &section.voids].into_iter().flatten();
        let brought = brought.filter(|(_, number)| m.adopts == Some(number.epoch));
        let sold = section.completions.iter().map(|done| &done.number);
        let back = section.reopens.iter().chain(&section.returns);
        let named = section.marks.iter().chain(back).chain(brought);
        let mut named = named.map(|(_, number)| number).chain(sold);
        !self.lines.has(&section.line) && named.any(lost)
    }

    /// Makes the line if it is not there; false when there are too many.
    fn make(&mut self, name: &LineName, m: &Context) -> bool {
        let room = self.lines.has(name) || self.lines.has_room(self.terms.in_force());
        if room {
            self.make_anyway(name, m);
        }
        room
    }

    fn make_anyway(&mut self, name: &LineName, m: &Context) {
        if !self.lines.has(name) {
            let line = Line::new(self.terms.in_force(), &m.past, m.clock);
            self.lines.insert(name, line);
        }
    }

    fn forget(&mut self, name: &LineName, m: &mut Context) {
        let Some(line) = self.lines.remove(name) else { return };
        self.codes.forget_line(name);
        self.commands.take_calls(name);
        Arc::make_mut(&mut m.past).raise(line.ends());
        self.published.touch_line(name.clone());
    }
}

/// The room's present rules for its lines.
fn rules<'a>(terms: &'a Terms, healing: &Healing) -> Rules<'a> {
    Rules {
        settings: terms.in_force(),
        heals_until: healing.until(),
        keeps_calls: terms.keeps_calls(),
    }
}

fn waits_for_lost(healing: &Healing, m: &Context) -> bool {
    m.is_barred() || m.clock < healing.until()
}

/// Codes in one batch, each with the longest name of a line.
const PART: usize = 400;
