//! A room's draw between two histories: what one that was lost knew of it, for the one that goes on.

use std::sync::Arc;

use super::Room;
use crate::draw::Draw;
use crate::entry::sale::{Drawing, DrawnLane, Sale};
use crate::state::context::Context;
use crate::state::past::Proof;
use ropeline_ids::{Edition, LaneId, Number, RoomName};

impl Room {
    /// Goes on with the draw of another history; false where that is not of this room as it is now, or this one has come
    /// further. Whoever kept the fingerprint or saw the place that was told there finds them again.
    pub fn bring_sale(
        &mut self,
        name: &RoomName,
        edition: Edition,
        (sale, lanes): (&Sale, &[DrawnLane]),
        m: &mut Context,
    ) -> bool {
        let wanted = m.adopts.is_some() && edition == self.edition && self.configured.draw.is_some();
        let same = |of: &Sale| of.made.as_ref().map(|made| made.secret);
        let further = self.sale.made.is_none() || same(&self.sale) == same(sale);
        if !wanted || !further || !is_sound(sale, name, edition) || sale.stage() < self.sale.stage() {
            return false;
        }
        if self.sale.made.is_none() {
            // Whether this log was late does not come from another one.
            let late = self.sale.late.filter(|_| sale.closed.is_none());
            self.sale = Arc::new(Sale { late, ..sale.clone() });
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

    /// Closes a lane for the draw as it was closed there. What it lacks of these numbers is made room for.
    fn close_as(&mut self, lane: &DrawnLane, m: &mut Context) {
        let edition = self.edition;
        let lost = |(era, from, _): &(_, u32, u32)| {
            let number = Number { era: *era, n: *from };
            matches!(m.past.prove(number, m.clock), Proof::LostEra | Proof::LostLine)
        };
        if !self.lines.contains_key(&lane.line) && lane.runs.iter().any(lost) {
            self.make(&lane.line, m);
        }
        let settings = Arc::clone(&self.settings);
        if let Some(line) = self.lines.get_mut(&lane.line) {
            line.close_as(lane.lane, (edition, &lane.runs), &settings, m);
        }
    }

    /// Makes the draw of every lane that is closed for it.
    pub(super) fn order_lines(&mut self, name: &RoomName, m: &Context) {
        let sale = Arc::clone(&self.sale);
        let (Some(commitment), Some(made)) = (&sale.commitment, &sale.made) else {
            return;
        };
        let edition = self.edition;
        for (line_name, line) in &mut self.lines {
            let key = |lane: LaneId, count| {
                let draw = Draw {
                    room: name.as_str(),
                    line: line_name.as_str(),
                    edition: edition.0,
                    lane: lane.0,
                    begins_ms: commitment.forms.begins.0,
                    opens_ms: commitment.forms.opens.0,
                    closed_ms: sale.closed.unwrap_or_default().0,
                    count,
                    secret: made.secret,
                    beacon: commitment.beacon(made.value.as_deref()),
                };
                draw.key()
            };
            line.draw(edition, key, m.clock);
        }
    }

    /// What another history lacks of this draw, in parts that are small enough for a batch; nothing where it has as much.
    pub fn sale_for(&self, other: Option<&Self>) -> Vec<(Sale, Vec<DrawnLane>)> {
        let sale = &self.sale;
        let lacks = |other: &Self| other.edition <= self.edition && other.sale.stage() < sale.stage();
        if sale.commitment.is_none() || !other.is_none_or(lacks) {
            return Vec::new();
        }
        let lanes: Vec<DrawnLane> = self.drawn_lanes().collect();
        let mut parts: Vec<_> = lanes.chunks(LANES).map(<[DrawnLane]>::to_vec).collect();
        if parts.is_empty() {
            parts.push(Vec::new());
        }
        parts.into_iter().map(|lanes| (Sale::clone(sale), lanes)).collect()
    }

    fn drawn_lanes(&self) -> impl Iterator<Item = DrawnLane> {
        self.lines.iter().flat_map(|(name, line)| {
            let lanes = (0..).map(LaneId).zip(&line.lanes);
            lanes.filter_map(|(id, lane)| {
                let runs = lane.eras.drawn_runs(self.edition);
                let fits = (1..=RUNS).contains(&runs.len());
                fits.then(|| DrawnLane {
                    line: name.clone(),
                    lane: id,
                    runs,
                })
            })
        })
    }
}

fn is_sound(sale: &Sale, name: &RoomName, edition: Edition) -> bool {
    let Some(commitment) = &sale.commitment else {
        return false;
    };
    let drawing = Drawing {
        beacon: commitment.beacon.clone(),
    };
    let kept = |made: &crate::entry::sale::Made| {
        let (room, value) = (name.as_str(), made.value.as_deref());
        sale.closed.is_some() && commitment.fits((room, edition.0), made.secret, value)
    };
    drawing.bounded().is_some() && sale.made.as_ref().is_none_or(kept)
}

/// Lanes of one part, and stretches of one lane: no line has more but after dozens of restarts in one prequeue.
const LANES: usize = 8;
const RUNS: usize = 64;
