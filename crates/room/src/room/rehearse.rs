//! A room's rehearsal: what begins it, what keeps it going, and what its end does to the lines.

use std::sync::Arc;

use super::Room;
use crate::codec::{Read, Reader, Writer};
use crate::entry::Section;
use crate::entry::effects::Effects;
use crate::lane::bits::Bits;
use crate::line::Line;
use crate::line::figures::Figures;
use crate::room::rehearsal::{Rehearsal, RehearsalOrder};
use crate::settings::schedule::Phase;
use crate::state::context::Context;
use ropeline_ids::{Clock, LineName, RehearsalId};

impl Room {
    /// Begins a rehearsal. False while one is under way, where its bounds are none, and in a sale by stock or by a draw, whose
    /// outcome virtual visitors would have a part in.
    pub fn rehearse(&mut self, order: &RehearsalOrder, m: &Context) -> bool {
        if self.rehearsal.is_some() || (self.decides() && !order.anyway) {
            return false;
        }
        self.rehearsal = Rehearsal::of(order, m.time, m.clock).map(Arc::new);
        self.picture = None;
        self.rehearsal.is_some()
    }

    /// False for one that is not under way.
    pub fn renew_rehearsal(&mut self, id: RehearsalId, lease_ms: u64, now: Clock) -> bool {
        let rehearsal = self.rehearsal.as_mut().filter(|rehearsal| rehearsal.id == id);
        self.picture = None;
        rehearsal
            .map(|rehearsal| Arc::make_mut(rehearsal).renew(lease_ms, now))
            .is_some()
    }

    pub fn rehearsal(&self) -> Option<&Arc<Rehearsal>> {
        self.rehearsal.as_ref()
    }

    /// Whether it is under way; any, where none is named.
    pub fn is_rehearsing(&self, id: Option<RehearsalId>) -> bool {
        let of = |rehearsal: &Arc<Rehearsal>| id.is_none_or(|id| rehearsal.id == id);
        self.rehearsal.as_ref().is_some_and(of)
    }

    /// Whether a section counts: a rehearsal's does while that is under way.
    pub fn hears(&self, section: &Section) -> bool {
        section.rehearsal.is_none_or(|id| self.is_rehearsing(Some(id)))
    }

    /// A rehearsal that nobody has renewed is over, and so is one that a sale with an outcome has come upon, unless that was wanted.
    pub(super) fn lapse(&mut self, m: &Context) {
        // PERF: every entry passes all rooms, and hardly any rehearses.
        let Some(rehearsal) = &self.rehearsal else { return };
        if rehearsal.until <= m.clock || (!rehearsal.anyway && self.decides()) {
            self.end_rehearsal();
        }
    }

    /// Every virtual visitor is gone, from all lines, in one step.
    pub fn end_rehearsal(&mut self) {
        self.rehearsal = None;
        self.picture = None;
        for (name, line) in &mut self.lines {
            if line.send_off() {
                self.active.insert(name.clone());
            }
        }
    }

    /// What makes the rehearsal in another history that lacks it.
    pub fn rehearsal_for(&self, other: Option<&Self>, now: Clock) -> Option<RehearsalOrder> {
        let rehearsal = self.rehearsal.as_ref()?;
        let lacks = other.is_none_or(|other| !other.is_rehearsing(None));
        lacks.then(|| rehearsal.order(now))
    }

    /// Numbers whoever joins by a section; of a rehearsal's visitors no more than it is for.
    pub(super) fn take_joins(&mut self, section: &Section, m: &mut Context, effects: &mut Effects) {
        let Some(rehearsal) = self.rehearsal.clone().filter(|_| section.rehearsal.is_some()) else {
            return self.number(section, m, effects);
        };
        let nexts = self.lines.get(&section.line).map(Line::nexts).unwrap_or_default();
        let (left, most) = (m.joins_left, rehearsal.size.saturating_sub(rehearsal.joined));
        m.joins_left = left.min(most);
        let before = m.joins_left;
        self.number(section, m, effects);
        let joined = before - m.joins_left;
        m.joins_left = left - joined;
        if joined > 0
            && let Some(line) = self.lines.get_mut(&section.line)
        {
            line.take_in(&nexts);
        }
        if let Some(rehearsal) = self.rehearsal.as_mut().filter(|_| joined > 0) {
            Arc::make_mut(rehearsal).joined += joined;
            self.picture = None;
        }
    }

    /// Numbers of a rehearsal that tokens have brought back are its visitors'.
    pub(super) fn know_virtuals(&mut self, section: &Section) {
        let Some(line) = self
            .lines
            .get_mut(&section.line)
            .filter(|_| section.rehearsal.is_some())
        else {
            return;
        };
        for (id, number) in section.marks.iter().chain(&section.reopens) {
            let place = line.lane(*id).and_then(|lane| lane.place(*number));
            if let Some(place) = place {
                line.know_virtual(*id, place);
            }
        }
    }

    /// A sale is on whose outcome is more than an order: stock, or a draw.
    pub(super) fn decides(&self) -> bool {
        let outcome = self.settings.stock.is_some() || self.configured.draw.is_some();
        let on = |phase| matches!(phase, Phase::Prequeue | Phase::Open);
        outcome && self.stage().is_none_or(|stage| on(stage.phase))
    }

    /// The rehearsal, what of each line's figures was virtual, and where in each lane virtual visitors stand.
    pub(super) fn rehearsed(&self) -> Option<Vec<u8>> {
        let lines: Vec<(&LineName, &Line)> = self.lines.iter().filter(|(_, line)| line.is_rehearsed()).collect();
        let field = || {
            Writer::field(|w| {
                w.option(self.rehearsal.as_deref(), |w, rehearsal| rehearsal.write(w));
                w.list(&lines, |w, (name, line)| {
                    w.text(name.as_str());
                    line.rehearsed.write(w);
                    let lanes: Vec<_> = line.virtual_lanes().collect();
                    w.list(&lanes, |w, (id, lane)| {
                        w.u8(id.0);
                        lane.virtuals.write(w);
                    });
                });
            })
        };
        (self.rehearsal.is_some() || !lines.is_empty()).then(field)
    }

    /// As [`Room::rehearsed`] writes it and no other way: each line and lane once, in order, and none with nothing to say.
    pub(super) fn read_rehearsed(&mut self, r: &mut Reader) -> Read<()> {
        self.rehearsal = r.option(Rehearsal::read)?.map(Arc::new);
        let mut last: Option<LineName> = None;
        for _ in 0..r.count(3)? {
            let (name, figures) = (r.line_name()?, Figures::read(r)?);
            let lanes = r.list(2, |r| Ok((r.lane()?, Bits::read(r)?)))?;
            let in_order = last.as_ref().is_none_or(|last| *last < name) && lanes.is_sorted_by(|a, b| a.0 < b.0);
            let Some(line) = self.lines.get_mut(&name).filter(|_| in_order) else {
                return r.wrong();
            };
            line.rehearsed = figures;
            for (id, virtuals) in lanes {
                match line.lane(id).filter(|_| !virtuals.is_empty()) {
                    Some(lane) => lane.virtuals = virtuals,
                    None => return r.wrong(),
                }
            }
            if !line.is_rehearsed() {
                return r.wrong();
            }
            last = Some(name);
        }
        Ok(())
    }
}
