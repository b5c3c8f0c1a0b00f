//! The progress of a room's draw: its promise, the time when the line was closed for it, and its result.
//!
//! [`crate::draw`] describes the parts and how a visitor checks them; the lanes carry out the draw itself (`drawn`). All
//! lines and lanes of an edition share one commitment and one secret.

use crate::codec::codec;
use crate::draw::{AdmissionOrder, Beacon, Draw, Hash, MAX_BEACON_NAME, is_beacon_value};
use crate::settings::schedule::{Phase, Stage};
use crate::settings::schedule::{Schedule, Window};
use ropeline_ids::{Edition, Epoch, LaneId, LineName, Wall};

/// The line is drawn at the opening.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawing {
    /// The order of the visitors who joined before the opening.
    pub order: AdmissionOrder,
    /// The name of a public value that cannot be known before the opening; `None`: the secret alone decides.
    pub beacon: Option<String>,
}

/// The progress of an edition's draw. Each part is known before the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sale {
    /// The opening is over and its draw is lost with the log: the line is closed and drawn anew once its visitors are back.
    pub lost: bool,
    /// The log was silent over the opening: the line is closed for the draw once the gates have reported the earlier
    /// visitors.
    pub late: Option<Late>,
    pub commitment: Option<Commitment>,
    /// When the line was closed for the draw: visitors who join later stand behind.
    pub closed: Option<Wall>,
    pub made: Option<Made>,
}

/// A line that is closed for its draw some time after the opening.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Late {
    /// It is closed then.
    pub at: Wall,
    /// How often that was put off, as the log was silent again.
    pub again: u8,
}

/// The visitors of a lane who were drawn, or are to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnLane {
    pub line: LineName,
    pub lane: LaneId,
    /// Numbers of an epoch, from the first to before the last, in the order of their places.
    pub runs: Vec<(Epoch, u32, u32)>,
}

/// When the line that is to be drawn forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forms {
    pub begins: Wall,
    pub opens: Wall,
}

/// Why a room's draw does not allow a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BreaksDraw {
    #[error(
        "the room's opening is over and its draw is not made yet, so how it calls and by which beacon stay: give the beacon's \
         value, or set another opening and reset the room, which begins another edition and stands in the report"
    )]
    Due,
    #[error(
        "the room's draw is promised for another opening: it can be moved to at least {} s from now, so that a promise for it \
         can be published before",
        PROMISE_MS / 1_000
    )]
    Opening,
}

/// The next step of an edition's draw that the gates must take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owed<'a> {
    /// A promise, for a draw in this way and at this opening.
    Promise(Edition, &'a Drawing, Forms),
    /// The secret of this promise, and its beacon's value if it has one.
    Secret(Edition, &'a Commitment),
}

/// The promise of a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commitment {
    /// The order that was set when the promise was made.
    pub order: AdmissionOrder,
    /// The beacon that was named when the promise was made.
    pub beacon: Option<String>,
    /// The forms that were set when the promise was made.
    pub forms: Forms,
    /// Makes the secret different for each promise; reveals nothing without the gates' key.
    pub salt: [u8; 16],
    pub hash: Hash,
    pub at: Wall,
}

/// The facts from which the order was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    pub secret: Hash,
    /// The beacon's, where there is one.
    pub value: Option<String>,
    pub at: Wall,
}

codec! {
    struct Drawing { order, beacon };
    struct Sale { lost, late, commitment, closed, made };
    struct Late { at, again };
    struct DrawnLane { line, lane, runs };
    struct Forms { begins, opens };
    struct Commitment { order, beacon, forms, salt, hash, at };
    struct Made { secret, value, at };
}

impl Drawing {
    /// `None` for a name that figures cannot have.
    #[must_use]
    pub fn bounded(&self) -> Option<Self> {
        let fits = |name: &String| (1..=MAX_BEACON_NAME).contains(&name.len());
        self.beacon.as_ref().is_none_or(fits).then(|| self.clone())
    }
}

impl Sale {
    /// The visitors in line are to be drawn and are not yet, in a room with a draw that is at `stage`.
    #[must_use]
    pub fn is_open(&self, stage: Option<&Stage>) -> bool {
        let forms = || stage.is_some_and(|stage| stage.phase == Phase::Prequeue);
        self.made.is_none() && (self.has_no_order() || forms())
    }

    /// Whether a room that draws by `before` may be set to draw by `after`, and to follow this schedule from now on.
    ///
    /// # Errors
    /// When the line is closed for a draw that is to come, or a promise would be broken that no other could replace in time.
    pub fn allows(
        &self,
        draws: (Option<&Drawing>, Option<&Drawing>),
        schedule: Option<&Schedule>,
        now: Wall,
    ) -> Result<(), BreaksDraw> {
        self.allows_from(draws, schedule, (now, PROMISE_MS))
    }

    /// As [`allows`](Self::allows), for a change in the log, which was requested a moment before.
    ///
    /// # Errors
    /// As [`allows`](Self::allows).
    pub fn takes(
        &self,
        draws: (Option<&Drawing>, Option<&Drawing>),
        schedule: Option<&Schedule>,
        now: Wall,
    ) -> Result<(), BreaksDraw> {
        self.allows_from(draws, schedule, (now, PROMISE_MS - WAY_MS))
    }

    fn allows_from(
        &self,
        (before, after): (Option<&Drawing>, Option<&Drawing>),
        schedule: Option<&Schedule>,
        (now, lead_ms): (Wall, u64),
    ) -> Result<(), BreaksDraw> {
        if self.is_due() && before != after {
            return Err(BreaksDraw::Due);
        }
        let Some(promised) = self
            .commitment
            .as_ref()
            .filter(|_| self.closed.is_none() && after.is_some())
        else {
            return Ok(());
        };
        let stage = schedule.and_then(|schedule| schedule.stage(now));
        let soonest = Wall(now.0.saturating_add(lead_ms));
        let fits = |stage: &Stage| {
            let kept = Forms::of(&stage.window) == promised.forms;
            stage.phase != Phase::Open && (kept || stage.window.opens >= soonest)
        };
        // An opening that is due is the promised one.
        let due = promised.forms.opens <= now;
        (due || stage.as_ref().is_some_and(fits))
            .then_some(())
            .ok_or(BreaksDraw::Opening)
    }

    /// Its progress: 0 none, 1 promised, 2 closed, 3 made.
    #[must_use]
    pub fn stage(&self) -> u8 {
        match self {
            Self { made: Some(_), .. } => 3,
            Self { closed: Some(_), .. } => 2,
            Self {
                commitment: Some(_), ..
            } => 1,
            _ => 0,
        }
    }

    /// Closed, and the order is not there yet: no visitor is called.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.closed.is_some() && self.made.is_none()
    }

    /// No calls are made: the opening is over, and the order is not drawn yet, or was lost.
    #[must_use]
    pub fn has_no_order(&self) -> bool {
        self.closes_later() || self.is_awaited()
    }

    /// The opening that was promised is over, and the order is not there yet.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.late.is_some() || self.is_awaited()
    }

    /// The opening is over, and the line is still to be closed for its draw.
    #[must_use]
    pub fn closes_later(&self) -> bool {
        self.lost || self.late.is_some()
    }

    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Forms {
    #[must_use]
    pub fn of(window: &Window) -> Self {
        Self {
            begins: window.begins,
            opens: window.opens,
        }
    }
}

impl Commitment {
    /// Whether a secret and the claimed value of the beacon match the promise for this edition of a room.
    #[must_use]
    pub fn fits(&self, (room, edition): (&str, u32), secret: Hash, value: Option<&str>) -> bool {
        let spelled = value.is_none_or(is_beacon_value);
        let draw = Draw {
            order: self.order,
            room,
            line: "",
            edition,
            lane: 0,
            begins_ms: self.forms.begins.0,
            opens_ms: self.forms.opens.0,
            closed_ms: 0,
            count: 0,
            secret,
            beacon: self.beacon(value),
        };
        spelled && value.is_some() == self.beacon.is_some() && draw.commitment() == self.hash
    }

    /// Whether it was made for a draw in this way.
    pub(crate) fn is_for(&self, drawing: &Drawing) -> bool {
        (self.order, &self.beacon) == (drawing.order, &drawing.beacon)
    }

    pub(crate) fn beacon<'a>(&'a self, value: Option<&'a str>) -> Option<Beacon<'a>> {
        let name = self.beacon.as_deref()?;
        Some(Beacon {
            name,
            value: value.unwrap_or_default(),
        })
    }
}

/// How long before an opening that is moved a promise for it can be published: a few batches.
const PROMISE_MS: u64 = 5_000;
/// How long an allowed change may take to the log.
const WAY_MS: u64 = 1_000;
