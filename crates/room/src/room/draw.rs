//! A room's draw: the promise before the opening, the closing at it, and the order once the secret is published.

use std::sync::Arc;

use crate::codec::codec;
use crate::draw::{AdmissionOrder, Draw, Hash};
use crate::entry::sale::{Commitment, Drawing, DrawnLane, Forms, Late, Made, Owed, Sale};
use crate::settings::schedule::{Phase, Stage};
use crate::state::context::Context;
use ropeline_ids::{Edition, LaneId, LineName, RoomName, Wall};

/// How long gates have after an outage to report the visitors who came meanwhile: each appends all that it holds as soon as
/// the store is back.
const LATE_JOINS_MS: u64 = 5_000;

/// A store that takes longer for an answer delays the visitors who come in that time.
const SLOW_MS: u64 = 500;

/// When the closing is looked at again while visitors of a lost log may come back.
const LATE_AGAIN_MS: u64 = 1_000;

/// How often a silence postpones the closing, so that an unstable store does not delay it for ever.
const LATE_MOST: u8 = 12;

/// The progress of the draw of the present edition. It decides when lines are closed for the draw and by which key each is
/// drawn; the room carries that out.
#[derive(Debug, Default)]
pub(super) struct RoomDraw {
    sale: Arc<Sale>,
}

codec! {
    struct RoomDraw { sale };
}

impl RoomDraw {
    pub fn sale(&self) -> &Arc<Sale> {
        &self.sale
    }

    fn change(&mut self) -> &mut Sale {
        Arc::make_mut(&mut self.sale)
    }

    /// The next step of the draw that the gates must take; `None` before its prequeue, before its opening, and when it is
    /// made.
    pub fn owed<'a>(
        &'a self,
        drawing: Option<&'a Drawing>,
        stage: Option<Stage>,
        edition: Edition,
    ) -> Option<Owed<'a>> {
        let drawing = drawing?;
        let sale = &self.sale;
        let begun = stage.is_some_and(|stage| stage.phase == Phase::Prequeue);
        // Where there is no window any more the line was closed when that went.
        let now = sale.closed.map(|at| Forms { begins: at, opens: at });
        let forms = stage.map(|stage| Forms::of(&stage.window)).or(now)?;
        match &sale.commitment {
            _ if sale.made.is_some() => None,
            Some(commitment) if sale.closed.is_some() => Some(Owed::Secret(edition, commitment)),
            Some(commitment) if commitment.is_for(drawing) && commitment.forms == forms => None,
            _ if sale.closes_later() || sale.closed.is_some() || begun => Some(Owed::Promise(edition, drawing, forms)),
            _ => None,
        }
    }

    /// Takes a promise that was owed.
    pub fn commit(&mut self, commitment: Commitment) {
        self.change().commitment = Some(commitment);
    }

    /// The opening, at `opens`; true if the lines are to be closed now. After an outage of the store over the opening, or where
    /// it is slow, gates hold visitors who came before and have no number yet. Then the line is closed later, when these have
    /// theirs.
    pub fn open(&mut self, opens: Wall, draws: bool, waiting: u64, m: &Context) -> bool {
        let waits = draws && self.sale.closed.is_none();
        let is_slow = || m.lag_ms > SLOW_MS && waiting > 0;
        if waits && (m.time.since(opens) > m.patience_ms() || was_silent(waiting, m) || is_slow()) {
            let at = late_until(m);
            self.change().late = Some(Late { at, again: 0 });
            return false;
        }
        self.close(draws, m)
    }

    /// Closes the line for the draw: its visitors are drawn, and later ones stand behind. True if the lines are to be closed.
    pub fn close(&mut self, draws: bool, m: &Context) -> bool {
        let closes = draws && self.sale.closed.is_none();
        if closes {
            let sale = self.change();
            (sale.lost, sale.late, sale.closed) = (false, None, Some(m.time));
        }
        closes
    }

    /// Checks a line whose opening fell into a silence of the log: `None` if nothing changes, and true when it is time to
    /// close it. That is not while visitors of a lost log may come back (`waits`).
    pub fn look_at_late(&mut self, waiting: u64, waits: impl FnOnce() -> bool, m: &Context) -> Option<bool> {
        let Late { at, again } = self.sale.late?;
        let later = if again < LATE_MOST && was_silent(waiting, m) {
            // Some gates may not have reported since.
            let at = late_until(m);
            Some(Late { at, again: again + 1 })
        } else if at > m.time {
            return None;
        } else {
            let at = m.time.plus(LATE_AGAIN_MS);
            waits().then_some(Late { at, again })
        };
        self.change().late = later;
        Some(later.is_none())
    }

    /// Dates that were moved to an opening that is to come close the line then.
    pub fn put_off_late(&mut self, stage: Option<&Stage>) {
        if forms(stage) && self.sale.late.is_some() {
            self.change().late = None;
        }
    }

    /// A token proves a log that was lost with its draw, after the opening: that draw is made anew. False where there is none.
    pub fn lose(&mut self, stage: Option<&Stage>, draws: bool) -> bool {
        let opened = stage.is_some_and(|stage| stage.phase == Phase::Open);
        let loses = opened && draws && self.sale.closed.is_none() && !self.sale.closes_later();
        if loses {
            self.change().lost = true;
        }
        loses
    }

    /// The time for the visitors of a lost draw to come back is over; true if the lines are to be closed now.
    pub fn close_lost(&mut self, stage: Option<&Stage>, m: &Context) -> bool {
        // Dates that were moved to an opening that is to come close it then.
        let closes = !forms(stage);
        let sale = self.change();
        sale.lost = false;
        if closes {
            sale.closed = Some(m.time);
        }
        closes
    }

    /// Takes the secret; false where none is awaited, or it is not the one that was promised.
    pub fn make(&mut self, of: (&RoomName, Edition), secret: Hash, value: Option<&str>, now: Wall) -> bool {
        let (room, edition) = (of.0.as_str(), of.1.0);
        let fits = |commitment: &Commitment| commitment.fits((room, edition), secret, value);
        let makes = self.sale.is_awaited() && self.sale.commitment.as_ref().is_some_and(fits);
        if makes {
            self.change().made = Some(Made {
                secret,
                value: value.map(str::to_owned),
                at: now,
            });
        }
        makes
    }

    /// The next edition has a draw of its own; false where this one has none.
    pub fn forget(&mut self) -> bool {
        let any = !self.sale.is_nothing();
        if any {
            self.sale = Arc::default();
        }
        any
    }

    /// As [`RoomDraw::forget`], for an edition that the log had lost: the progress of its draw is lost too.
    pub fn forget_regained(&mut self) -> bool {
        let lost = self.sale.lost;
        let any = self.forget();
        self.change().lost = lost;
        any
    }

    /// The order by which lanes of a line are drawn, and the key of each, from the lane and how many are drawn in it; `None`
    /// before the draw is made.
    pub fn by(
        &self,
        room: &RoomName,
        edition: Edition,
        line: &LineName,
    ) -> Option<(AdmissionOrder, impl Fn(LaneId, u32) -> Hash)> {
        let (commitment, made) = (self.sale.commitment.as_ref()?, self.sale.made.as_ref()?);
        let closed = self.sale.closed.unwrap_or_default();
        let key = move |lane: LaneId, count| {
            let draw = Draw {
                order: commitment.order,
                room: room.as_str(),
                line: line.as_str(),
                edition: edition.0,
                lane: lane.0,
                begins_ms: commitment.forms.begins.0,
                opens_ms: commitment.forms.opens.0,
                closed_ms: closed.0,
                count,
                secret: made.secret,
                beacon: commitment.beacon(made.value.as_deref()),
            };
            draw.key()
        };
        Some((commitment.order, key))
    }

    /// Continues the draw of another history; false if that is not of this edition of the room, or this one has come further.
    /// Visitors who kept the fingerprint or saw their place there find them again.
    pub fn take_over(&mut self, room: &RoomName, edition: Edition, sale: &Sale) -> bool {
        let same = |of: &Sale| of.made.as_ref().map(|made| made.secret);
        let further = self.sale.made.is_none() || same(&self.sale) == same(sale);
        if !further || !is_sound(sale, room, edition) || sale.stage() < self.sale.stage() {
            return false;
        }
        if self.sale.made.is_none() {
            // Whether this log was late does not come from another one.
            let late = self.sale.late.filter(|_| sale.closed.is_none());
            self.sale = Arc::new(Sale { late, ..sale.clone() });
        }
        true
    }

    /// The parts of this draw that another history lacks, each small enough for a batch; empty if it has as much.
    pub fn parts_for(
        &self,
        lacks: impl FnOnce(&Sale) -> bool,
        lanes: impl Iterator<Item = DrawnLane>,
    ) -> Vec<(Sale, Vec<DrawnLane>)> {
        let sale = &self.sale;
        if sale.commitment.is_none() || !lacks(sale) {
            return Vec::new();
        }
        let lanes: Vec<DrawnLane> = lanes.collect();
        let mut parts: Vec<_> = lanes.chunks(LANES).map(<[DrawnLane]>::to_vec).collect();
        if parts.is_empty() {
            parts.push(Vec::new());
        }
        parts.into_iter().map(|lanes| (Sale::clone(sale), lanes)).collect()
    }
}

/// When a late line is closed. A gate's joins reach the log with its next entry, which a slow store delays by a few of its answers.
fn late_until(m: &Context) -> Wall {
    m.time.plus(LATE_JOINS_MS + 4 * m.lag_ms.min(2_000))
}

fn was_silent(waiting: u64, m: &Context) -> bool {
    m.silent_ms > m.patience_ms() && waiting > 0
}

fn forms(stage: Option<&Stage>) -> bool {
    stage.is_some_and(|stage| stage.phase == Phase::Prequeue)
}

fn is_sound(sale: &Sale, name: &RoomName, edition: Edition) -> bool {
    let Some(commitment) = &sale.commitment else {
        return false;
    };
    let drawing = Drawing {
        order: commitment.order,
        beacon: commitment.beacon.clone(),
    };
    let kept = |made: &Made| {
        let (room, value) = (name.as_str(), made.value.as_deref());
        sale.closed.is_some() && commitment.fits((room, edition.0), made.secret, value)
    };
    drawing.bounded().is_some() && sale.made.as_ref().is_none_or(kept)
}

/// Lanes of one part.
const LANES: usize = 8;

/// Stretches of one lane: no line has more but after dozens of restarts in one prequeue.
pub(super) const RUNS: usize = 64;
