//! What a room's lines have sold: as bytes, and between two histories.

use super::Room;
use crate::codec::{Read, Reader, Writer};
use crate::entry::{Completion, Section};
use crate::line::Line;
use crate::line::stock::Tally;
use crate::room::edition::{Current, is_reset};
use crate::state::context::Context;
use crate::state::past::Proof;
use ropeline_ids::{Era, LineName};

impl Room {
    /// What `other` lacks of the numbers of an era that completed in a line here.
    pub fn completions_for(&self, other: Option<&Self>, line: &LineName, era: Era) -> Vec<Completion> {
        let Some(of) = self.lines.get(line) else {
            return Vec::new();
        };
        let same = other.filter(|other| other.edition == self.edition);
        let known = same
            .and_then(|other| other.lines.get(line))
            .map(|line| line.tally.winners());
        let of_era = of.tally.winners().iter_of(era);
        let lacking = of_era.filter(|winner| !known.is_some_and(|known| known.has(winner.lane, winner.number)));
        let completion = lacking.map(|winner| Completion {
            lane: winner.lane,
            number: winner.number,
            edition: self.edition,
            after_ms: 0,
            at: Some(winner.at),
            tag: winner.tag,
        });
        completion.collect()
    }

    /// The edition that completions are of. What was spared when it came back is of that one, and of none that began since.
    pub(super) fn current(&self) -> Current {
        Current {
            edition: self.edition,
            spared: self.spared.filter(|_| self.edition == self.voided),
        }
    }

    /// Something was sold that counts, also in a line that was forgotten since.
    pub(super) fn sells_in(&self, section: &Section, current: Current, m: &Context) -> bool {
        let sells = self.settings.stock.is_some() || m.adopts.is_some();
        let counts = |done: &Completion| {
            let over = is_reset(done.edition, done.number, current.edition, current.spared);
            !over && (m.adopts.is_some() || m.past.prove(done.number, m.clock) != Proof::Ahead)
        };
        sells && section.completions.iter().any(counts)
    }

    /// For one line more. Those that are kept for what they have sold take no room from others, up to a bound of their own.
    pub(super) fn has_room(&self) -> bool {
        let lines = u64::try_from(self.lines.len()).unwrap_or(u64::MAX);
        let most = u64::from(self.settings.max_lines);
        lines.saturating_sub(self.counts.sold) < most && lines < most.saturating_mul(SOLD_LINES)
    }

    pub(super) fn regain_stock(&mut self, spared: Era) {
        for line in self.lines.values_mut() {
            line.regain_stock(spared);
        }
        // What is free now may be called for, and a line that sold nothing be forgotten.
        self.active.extend(self.lines.keys().cloned());
    }

    /// The lines that have sold something, or know whose slots are of the edition before.
    pub(super) fn tallies(&self) -> Option<Vec<u8>> {
        let told: Vec<(&LineName, &Line)> = self.lines.iter().filter(|(_, line)| !line.tally.is_nothing()).collect();
        let field = || {
            Writer::field(|w| {
                w.list(&told, |w, (name, line)| {
                    w.text(name.as_str());
                    line.tally.write(w);
                });
            })
        };
        (!told.is_empty()).then(field)
    }

    pub(super) fn read_tallies(&mut self, r: &mut Reader) -> Read<()> {
        for (name, tally) in r.list(3, |r| Ok((r.line_name()?, Tally::read(r)?)))? {
            let Some(line) = self.lines.get_mut(&name).filter(|_| !tally.is_nothing()) else {
                return r.wrong();
            };
            line.tally = tally;
        }
        Ok(())
    }
}

/// A room keeps no more lines than so many times `max_lines`, for whatever reason.
const SOLD_LINES: u64 = 16;
