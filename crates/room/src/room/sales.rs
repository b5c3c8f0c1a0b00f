//! A room's sales: its settings and their schedule, the draw at an opening, and rehearsals, which have no part in either.

use std::sync::Arc;

use crate::draw::Hash;
use crate::entry::sale::{BreaksDraw, Commitment, DrawnLane, Owed, Sale};
use crate::entry::{Change, Section};
use crate::lane::epoch::Epochs;
use crate::line::Line;
use crate::room::draw::RUNS;
use crate::room::rehearsal::{Rehearsal, RehearsalOrder};
use crate::room::terms::joined;
use crate::room::{Room, rules, waits_for_lost};
use crate::settings::schedule::{Phase, Stage, Turn, Window};
use crate::settings::{Overrides, Settings};
use crate::state::context::Context;
use ropeline_ids::{Clock, Edition, LaneId, Number, Place, RehearsalId, RoomName, Wall};

impl Room {
    /// Applies the configured settings.
    pub fn configure(&mut self, mut settings: Settings, m: &mut Context) {
        let configured = Arc::clone(self.terms.configured());
        settings.schedule = joined(configured.schedule.as_ref(), settings.schedule);
        // The opening is over: the visitors in line were promised a draw, and by this beacon.
        if self.draw.sale().is_due() {
            settings.draw.clone_from(&configured.draw);
        }
        if self.breaks_draw(&settings, m.time) == Some(BreaksDraw::Opening) {
            settings.schedule.clone_from(&configured.schedule);
        }
        // Lanes that the room has keep their index. The lane in a ticket must never come to mean another lane.
        let free = |at: usize| self.lines.iter().all(|(_, line)| line.is_vacant(at));
        for at in settings.place_lanes(&configured, free) {
            // Absent visitors would come back into another lane: their places are void.
            let gone: Vec<_> = self.lines.all_mut().flat_map(|line| line.clear_lane(at)).collect();
            Arc::make_mut(&mut m.past).raise(gone.into_iter());
        }
        self.go_by(m, |room| {
            room.terms.configure(settings);
            // A room that is no longer set to draw calls in order of arrival, unless the line is closed for the draw or the
            // order is made already.
            if !room.terms.draws() && room.draw.sale().made.is_none() {
                room.forget_draw();
            }
        });
    }

    /// Applies an operator's overrides. False for older ones that a gate brings back.
    pub fn override_with(&mut self, overrides: &Overrides, revision: u64, m: &mut Context) -> bool {
        let fresh = self.terms.word(m.adopts.unwrap_or(m.past.epoch()), revision);
        if fresh {
            self.go_by(m, |room| room.terms.override_with(overrides));
        }
        fresh
    }

    /// Adds windows of the rule that the room follows; false if it follows another.
    pub fn extend(&mut self, rule: &str, windows: &[Window], m: &Context) -> bool {
        let extended = self.terms.extend(rule, windows);
        if extended == Some(true) {
            self.settle(m);
        }
        extended.is_some()
    }

    /// Applies a change of the room. A new schedule is followed from now on: its turns in the past are not made up. But if a
    /// sale is on by the new schedule and none was by the old one, it has begun now, and if it is open by the new one, it has
    /// opened now. The sale of the present edition goes on, even if its end was moved, or the dates differed for a while.
    fn go_by(&mut self, m: &mut Context, take: impl FnOnce(&mut Self)) {
        let rule = |room: &Self| room.schedule().map(|schedule| schedule.rule.clone());
        let phase = |room: &Self| room.stage().map(|stage| stage.phase);
        let (before, was) = (rule(self), phase(self));
        take(self);
        if rule(self) != before {
            self.timetable.restart(self.schedule().map(|_| m.time));
            let goes_on = self.timetable.goes_on(self.terms.schedule());
            let is_promised = was != Some(Phase::Open) && self.draw.sale().commitment.is_some();
            match (was, phase(self)) {
                // A line that formed before the dates led elsewhere, over the opening, is drawn now.
                (_, Some(Phase::Open)) if goes_on && is_promised => self.close_draw(m),
                (_, Some(Phase::Prequeue | Phase::Open)) if goes_on => {}
                (Some(Phase::Early | Phase::Closed), Some(Phase::Prequeue | Phase::Open)) => self.begin_edition(m),
                (Some(Phase::Prequeue), Some(Phase::Open) | None) => self.close_draw(m),
                _ => {}
            }
            self.draw.put_off_late(self.stage().as_ref());
        }
        self.settle(m);
    }

    /// Makes the turns that are due, in order. A rehearsal that was over before takes no part.
    pub fn follow(&mut self, m: &mut Context) {
        self.lapse(m);
        self.close_late_draw(m);
        // PERF: every entry passes all rooms, and in nearly all of them nothing turns.
        while let Some((at, turn)) = self.timetable.take_due(m.time) {
            match turn {
                Turn::Begins => self.begin_edition(m),
                // The lowest place is called first: the order of arrival, unless the visitors are to be drawn.
                Turn::Opens => {
                    let waiting = self.lines.counts().waiting;
                    if self.draw.open(at, self.terms.draws(), waiting, m) {
                        self.close_lines(Epochs::close);
                    }
                }
                Turn::Closes => {}
            }
            self.settle(m);
        }
        self.close_lost_draw(m);
        self.lapse(m);
    }

    /// When the schedule turns next, or its line is closed for a late draw.
    pub fn next_turn(&self) -> Option<Wall> {
        let late = self.draw.sale().late.map(|late| late.at);
        self.timetable.next().into_iter().chain(late).min()
    }

    pub(super) fn stage(&self) -> Option<Stage> {
        self.timetable.stage(self.terms.schedule())
    }

    /// Computes the settings in force, and the next turn.
    pub(super) fn enforce(&mut self) {
        let stage = self.stage();
        self.terms.enforce(stage.as_ref(), self.draw.sale().has_no_order());
        self.timetable.settle(self.terms.schedule());
    }

    pub(super) fn settle(&mut self, m: &Context) {
        let (old, kept) = (Arc::clone(self.terms.in_force()), self.terms.keeps_calls());
        self.enforce();
        let settings = self.terms.in_force();
        self.load.settle(settings.load_control.as_ref(), m);
        let reopens = kept && settings.mode.lets_called_in();
        for line in self.lines.all_mut() {
            line.resettle(&old, settings, m);
            if reopens {
                line.renew_calls(settings, m.clock);
            }
        }
        self.lines.touch_all();
        self.published.touch();
    }

    /// Waiting visitors lose their places, and earlier tickets are void; sessions and calls of the edition before go on and
    /// run out.
    fn begin_edition(&mut self, m: &mut Context) {
        self.editions.begin_sale();
        self.forget_draw();
        self.pending.clear();
        let settings = self.terms.overridden();
        let begin = |line: &mut Line| line.begin_sale(&settings, m.clock);
        let gone: Vec<_> = self.lines.all_mut().flat_map(begin).collect();
        Arc::make_mut(&mut m.past).raise(gone.into_iter());
    }

    /// Why the draw does not let the room take these settings.
    pub fn breaks_draw(&self, settings: &Settings, now: Wall) -> Option<BreaksDraw> {
        let draws = (self.terms.drawing(), settings.draw.as_ref());
        let schedule = self.terms.schedule_with(settings);
        self.draw.sale().takes(draws, schedule, now).err()
    }

    /// The next step of this edition's draw that the gates must take.
    pub fn owed(&self) -> Option<Owed<'_>> {
        self.draw
            .owed(self.terms.drawing(), self.stage(), self.editions.edition())
    }

    /// Takes a promise, or the promised secret; false if it does not fit the room's present state.
    pub fn decide(&mut self, name: &RoomName, change: &Change, m: &Context) -> bool {
        match change {
            Change::Commit {
                edition,
                order,
                beacon,
                forms,
                salt,
                commitment,
            } if *edition == self.edition() => self.commit(Commitment {
                order: *order,
                beacon: beacon.clone(),
                forms: *forms,
                salt: *salt,
                hash: *commitment,
                at: m.time,
            }),
            Change::Draw { edition, secret, value } if *edition == self.edition() => {
                self.make_draw(name, *secret, value.as_deref(), m)
            }
            _ => false,
        }
    }

    /// The first promise for a beacon and an opening stands; another takes another promise, until the line is closed. Where it was
    /// closed without one, one is still taken, and its time tells.
    fn commit(&mut self, commitment: Commitment) -> bool {
        let is_owed = |drawing, forms| commitment.is_for(drawing) && forms == commitment.forms;
        let wanted = matches!(self.owed(), Some(Owed::Promise(_, drawing, forms)) if is_owed(drawing, forms));
        if wanted {
            self.draw.commit(commitment);
            self.published.touch();
        }
        wanted
    }

    fn make_draw(&mut self, name: &RoomName, secret: Hash, value: Option<&str>, m: &Context) -> bool {
        let made = self.draw.make((name, self.edition()), secret, value, m.time);
        if made {
            self.order_lines(name, m);
            self.settle(m);
        }
        made
    }

    /// Draws every lane that is closed for it.
    fn order_lines(&mut self, name: &RoomName, m: &Context) {
        let edition = self.editions.edition();
        for (line_name, line) in self.lines.iter_mut() {
            if let Some(by) = self.draw.by(name, edition, line_name) {
                line.draw(edition, by, m.clock);
            }
        }
    }

    fn close_lines(&mut self, close: fn(&mut Epochs, Place)) {
        self.lines.all_mut().for_each(|line| line.close_draw(close));
    }

    fn close_draw(&mut self, m: &Context) {
        if self.draw.close(self.terms.draws(), m) {
            self.close_lines(Epochs::close);
        }
    }

    /// Closes a line whose opening fell into a silence of the log, when it is time.
    fn close_late_draw(&mut self, m: &Context) {
        let waiting = self.lines.counts().waiting;
        let waits = || waits_for_lost(&self.healing, m);
        let Some(is_time) = self.draw.look_at_late(waiting, waits, m) else {
            return;
        };
        if is_time {
            self.close_draw(m);
        }
        self.settle(m);
    }

    /// Closes the line for a draw that was lost, once the time for its visitors to come back is over. Numbers of the present log were
    /// given after the opening: they stand behind.
    fn close_lost_draw(&mut self, m: &Context) {
        if !self.draw.sale().lost || self.waits_for_lost(m) {
            return;
        }
        if self.draw.close_lost(self.stage().as_ref(), m) {
            self.close_lines(Epochs::close_lost);
        }
        self.settle(m);
    }

    /// A token proves a log that was lost with its draw.
    pub(super) fn lose_draw(&mut self, m: &Context) {
        if self.draw.lose(self.stage().as_ref(), self.terms.draws()) {
            self.settle(m);
        }
    }

    /// The next edition has a draw of its own; past draws stay as they are.
    pub(super) fn forget_draw(&mut self) {
        if self.draw.forget() {
            self.lines.all_mut().for_each(Line::give_up_draw);
            self.published.touch();
        }
    }

    /// Continues the draw of another history; false if that does not fit the room's present state, or this one has come
    /// further.
    pub fn bring_sale(
        &mut self,
        name: &RoomName,
        edition: Edition,
        (sale, lanes): (&Sale, &[DrawnLane]),
        m: &mut Context,
    ) -> bool {
        let wanted = m.adopts.is_some() && edition == self.edition() && self.terms.draws();
        if !wanted || !self.draw.take_over(name, edition, sale) {
            return false;
        }
        for lane in lanes {
            self.close_as(lane, m);
        }
        if sale.made.is_some() {
            self.order_lines(name, m);
        }
        self.lose_draw(m);
        self.settle(m);
        true
    }

    /// Closes a lane for the draw as it was closed there, and makes room for the numbers that it lacks.
    fn close_as(&mut self, lane: &DrawnLane, m: &mut Context) {
        let edition = self.edition();
        let lost = |(epoch, from, _): &(_, u32, u32)| {
            let number = Number {
                epoch: *epoch,
                n: *from,
            };
            m.past.may_be_lost(number, m.clock)
        };
        if !self.lines.has(&lane.line) && lane.runs.iter().any(lost) {
            self.make(&lane.line, m);
        }
        let rules = rules(&self.terms, &self.healing);
        if let Some(line) = self.lines.get_mut(&lane.line) {
            line.close_as(lane.lane, (edition, &lane.runs), &rules, m);
        }
    }

    /// The parts of this draw that another history lacks, each small enough for a batch; empty if it has as much.
    pub fn sale_for(&self, other: Option<&Self>) -> Vec<(Sale, Vec<DrawnLane>)> {
        let edition = self.edition();
        let lacks = |other: &Self, sale: &Sale| other.edition() <= edition && other.draw.sale().stage() < sale.stage();
        let lanes = self.lines.iter().flat_map(|(name, line)| {
            let lanes = (0..).map(LaneId).zip(line.lanes());
            lanes.filter_map(move |(id, lane)| {
                let runs = lane.epochs.drawn_runs(edition);
                let fits = (1..=RUNS).contains(&runs.len());
                fits.then(|| DrawnLane {
                    line: name.clone(),
                    lane: id,
                    runs,
                })
            })
        });
        self.draw
            .parts_for(|sale| other.is_none_or(|other| lacks(other, sale)), lanes)
    }

    /// Begins a rehearsal. False while one is under way, if its bounds are invalid, and in a sale by stock or by a draw,
    /// where virtual visitors would affect the outcome.
    pub fn rehearse(&mut self, order: &RehearsalOrder, m: &Context) -> bool {
        if self.rehearsal.is_some() || (self.decides() && !order.anyway) {
            return false;
        }
        self.published.touch();
        self.rehearsal = Rehearsal::of(order, m.time, m.clock).map(Arc::new);
        self.rehearsal.is_some()
    }

    /// False for one that is not under way.
    pub fn renew_rehearsal(&mut self, id: RehearsalId, now: Clock) -> bool {
        self.published.touch();
        let rehearsal = self.rehearsal.as_mut().filter(|rehearsal| rehearsal.order.id == id);
        rehearsal.map(|rehearsal| Arc::make_mut(rehearsal).renew(now)).is_some()
    }

    /// Whether it is under way.
    pub fn is_rehearsing(&self, id: RehearsalId) -> bool {
        self.rehearsal
            .as_ref()
            .is_some_and(|rehearsal| rehearsal.order.id == id)
    }

    /// Whether a section counts: a rehearsal's does while that is under way.
    pub fn hears(&self, section: &Section) -> bool {
        section.rehearsal.is_none_or(|id| self.is_rehearsing(id))
    }

    /// Ends a rehearsal that nobody has renewed, or that a sale with an outcome has come upon, unless that was wanted.
    pub(super) fn lapse(&mut self, m: &Context) {
        // PERF: every entry passes all rooms, and hardly any rehearses.
        let over =
            |rehearsal: &Arc<Rehearsal>| rehearsal.is_over(m.clock) || (!rehearsal.order.anyway && self.decides());
        if self.rehearsal.as_ref().is_some_and(over) {
            self.end_rehearsal();
        }
    }

    /// Every virtual visitor is gone, from all lines, in one step.
    pub fn end_rehearsal(&mut self) {
        self.rehearsal = None;
        self.published.touch();
        for name in self.lines.names() {
            if self.lines.get_mut(&name).is_some_and(Line::send_off) {
                self.lines.touch(&name);
            }
        }
    }

    /// A sale is on that has winners: by stock, or by a draw.
    pub(super) fn decides(&self) -> bool {
        let outcome = self.settings().stock.is_some() || self.terms.draws();
        let on = |phase| matches!(phase, Phase::Prequeue | Phase::Open);
        outcome && self.stage().is_none_or(|stage| on(stage.phase))
    }
}
