//! The settings of a room, as the log carries them: integers only, no file syntax.

pub(crate) mod active;
pub(crate) mod lanes;
pub(crate) mod schedule;

use std::collections::BTreeMap;

use crate::codec::codec;
use crate::entry::sale::Drawing;
use crate::load::LoadControl;
use crate::room::codes::MAX_BYPASS;
use crate::settings::active::ActiveSlots;
use crate::settings::lanes::{MAX_LANES, NamedLane, bounded_names};
use crate::settings::schedule::{Phase, Schedule};

/// How a room treats new visitors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Wait only when full.
    #[default]
    Auto,
    /// New visitors wait, and no visitor is called.
    Hold,
    /// No visitor joins or is called; visitors inside go on.
    Closed,
    /// No line; measures only.
    Off,
}

/// The room's settings from its configuration. Durations in milliseconds of the room's clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    pub mode: Mode,
    /// Slots: no call unless called + sessions < capacity.
    pub capacity: u32,
    /// Most visitors called per minute; `None` is unlimited.
    pub rate_per_minute: Option<u32>,
    /// The rate's step: tokens come once a step, and the bucket never holds more than one step's.
    pub call_every_ms: u64,
    /// How long a session lasts after its last request; a slot is held for [`Settings::hold_ms`].
    pub session_ms: u64,
    pub session_max_ms: u64,
    pub claim_deadline_ms: u64,
    pub grace_ms: u64,
    pub firm_within_ms: u64,
    pub late_window_ms: u64,
    /// Most lines of a `per` room at once.
    pub max_lines: u32,
    /// Weights by lane, 1 to 8 of them; calls are shared by deficit round robin.
    pub lane_weights: Vec<u16>,
    /// The lanes' names, as many as weights; empty where lanes differ only in their index. A lane keeps its index for as long
    /// as the room has it.
    pub lanes: Vec<NamedLane>,
    /// When the room is open.
    pub schedule: Option<Schedule>,
    /// Visitors who join before an opening are drawn at it; `None`: called in order of arrival.
    pub draw: Option<Drawing>,
    /// Number of pieces in each line: at most as many visitors are called.
    pub stock: Option<u32>,
    /// How many whom a bypass code let past each line may be called or inside at once; 0: no such codes are taken.
    pub bypass_most: u32,
    /// Load control, within capacity and rate; `None`: capacity and rate alone.
    pub load_control: Option<LoadControl>,
    /// A slot belongs to a session that is in use; `None`: to every session.
    pub active: Option<ActiveSlots>,
}

impl Default for Settings {
    /// The defaults: capacity 100, no rate, session 5 min, claim 90 s, grace 4 min, firm 20 s, late 10 min.
    fn default() -> Self {
        Self {
            mode: Mode::Auto,
            capacity: 100,
            rate_per_minute: None,
            call_every_ms: 1_000,
            session_ms: 300_000,
            session_max_ms: 7_200_000,
            claim_deadline_ms: 90_000,
            grace_ms: 240_000,
            firm_within_ms: 20_000,
            late_window_ms: 600_000,
            max_lines: 1_000,
            lane_weights: vec![1],
            lanes: Vec::new(),
            schedule: None,
            draw: None,
            stock: None,
            bypass_most: 0,
            load_control: None,
            active: None,
        }
    }
}

/// Settings that an operator changed while the room runs; each `Some` replaces the configured value, also after a restart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    pub mode: Option<Mode>,
    pub capacity: Option<u32>,
    /// `Some(None)` lifts the configured rate.
    pub rate_per_minute: Option<Option<u32>>,
    /// Shown to everybody waiting; at most [`MAX_MESSAGE`] bytes.
    pub message: Option<String>,
    /// Messages shown instead to visitors of a language, by its tag.
    pub messages: BTreeMap<String, String>,
    /// The schedule in place of the configured one.
    pub schedule: Option<Schedule>,
    /// Pieces that there are, in each line.
    pub stock: Option<u32>,
}

codec! {
    enum Mode { 0 => Auto, 1 => Hold, 2 => Closed, 3 => Off };
    struct Settings {
        mode, capacity, rate_per_minute, call_every_ms, session_ms, session_max_ms, claim_deadline_ms, grace_ms,
        firm_within_ms, late_window_ms, max_lines, lane_weights, lanes, schedule, draw, stock, bypass_most,
    } parts { load_control, active };
    struct Overrides sparse { mode, capacity, rate_per_minute, message, messages, schedule, stock };
}

/// Longest duration of a room, in milliseconds: a year.
const MAX_MS: u64 = 366 * 24 * 3_600_000;

/// Longest step of a rate, in milliseconds: a day.
const MAX_STEP_MS: u64 = 24 * 3_600_000;

impl Settings {
    /// A session in use is renewed at most this often: a tenth of `session_ms`, and a quarter of `idle_after_ms` with active
    /// slots.
    #[must_use]
    pub fn renewal_ms(&self) -> u64 {
        let step_ms = self.active.map_or(u64::MAX, |active| active.idle_after_ms / 4);
        (self.session_ms / 10).min(step_ms)
    }

    /// How long a session lasts after its last renewal. A request within [`Settings::renewal_ms`] of it is not recorded, so
    /// a session lasts that much longer: never less than `session_ms` after its last request.
    #[must_use]
    pub fn hold_ms(&self) -> u64 {
        self.session_ms.saturating_add(self.renewal_ms())
    }

    /// The settings within the room's bounds: durations of 1 ms to a year, 1 to 8 lanes that weigh at least 1. A validated
    /// configuration is not changed by this.
    #[must_use]
    pub fn bounded(&self) -> Self {
        let within = |ms: u64| ms.clamp(1, MAX_MS);
        let weights = self.lane_weights.iter().map(|weight| (*weight).max(1)).take(MAX_LANES);
        let mut lane_weights: Vec<u16> = weights.collect();
        if lane_weights.is_empty() {
            lane_weights.push(1);
        }
        Self {
            mode: self.mode,
            capacity: self.capacity,
            rate_per_minute: self.rate_per_minute,
            call_every_ms: self.call_every_ms.clamp(1, MAX_STEP_MS),
            session_ms: within(self.session_ms),
            session_max_ms: within(self.session_max_ms),
            claim_deadline_ms: within(self.claim_deadline_ms),
            grace_ms: within(self.grace_ms).max(2),
            firm_within_ms: within(self.firm_within_ms),
            late_window_ms: within(self.late_window_ms),
            max_lines: self.max_lines,
            lanes: bounded_names(&self.lanes, lane_weights.len()),
            lane_weights,
            schedule: self.schedule.as_ref().and_then(Schedule::bounded),
            draw: self.draw.as_ref().and_then(Drawing::bounded),
            stock: self.stock.map(bounded_stock),
            bypass_most: self.bypass_most.min(MAX_BYPASS),
            load_control: self.load_control.as_ref().map(LoadControl::bounded),
            active: self.active.map(ActiveSlots::bounded),
        }
    }

    /// Bypass codes are taken.
    #[must_use]
    pub fn takes_bypass(&self) -> bool {
        self.bypass_most > 0
    }

    /// An operator's stop: no visitor is called, whatever becomes free.
    #[must_use]
    pub fn calls_nobody(&self) -> bool {
        self.capacity == 0 || self.rate_per_minute == Some(0)
    }

    /// Whether both are equal in effect: of one rule, whichever windows were computed from it, and the same lanes, in any
    /// order and regardless of former lanes.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        let rule = |settings: &Self| settings.schedule.as_ref().map(|schedule| schedule.rule.clone());
        let (schedule, lanes) = (other.schedule.clone(), other.lanes.clone());
        rule(self) == rule(other)
            && self.has_lanes_of(other)
            && Self {
                schedule,
                lanes,
                lane_weights: other.lane_weights.clone(),
                ..self.clone()
            } == *other
    }
}

impl Mode {
    /// A called visitor is admitted with a session of the room's.
    #[must_use]
    pub fn lets_called_in(self) -> bool {
        matches!(self, Self::Auto | Self::Hold)
    }

    /// The effective mode in a phase of the room's schedule: the stricter of the two.
    #[must_use]
    pub fn during(self, phase: Phase) -> Self {
        match (self, phase) {
            (Self::Off | Self::Closed, _) | (_, Phase::Open) => self,
            (_, Phase::Early | Phase::Closed) => Self::Closed,
            (_, Phase::Prequeue) => Self::Hold,
        }
    }
}

impl Overrides {
    /// `configured` with the overrides applied, within bounds.
    #[must_use]
    pub fn over(&self, configured: &Settings) -> Settings {
        let configured = configured.bounded();
        Settings {
            mode: self.mode.unwrap_or(configured.mode),
            capacity: self.capacity.unwrap_or(configured.capacity),
            rate_per_minute: self.rate_per_minute.unwrap_or(configured.rate_per_minute),
            schedule: self.schedule.clone().or(configured.schedule),
            stock: self.stock.or(configured.stock),
            ..configured
        }
    }

    /// Whether every text has the length that a room keeps.
    #[must_use]
    pub fn fits(&self) -> bool {
        let mut texts = self.message.iter().chain(self.messages.values());
        let mut tags = self.messages.keys().map(String::len);
        texts.all(|text| text.len() <= MAX_MESSAGE)
            && tags.all(|tag| (1..=MAX_TAG).contains(&tag))
            && self.messages.len() <= MAX_LANGUAGES
    }

    /// The overrides within the bounds that the room counts in.
    #[must_use]
    pub fn bounded(&self) -> Self {
        Self {
            schedule: self.schedule.as_ref().and_then(Schedule::bounded),
            stock: self.stock.map(bounded_stock),
            ..self.clone()
        }
    }
}

/// Most pieces of a room, or of each of its lines.
pub const MAX_STOCK: u32 = 1_000_000;

fn bounded_stock(stock: u32) -> u32 {
    stock.min(MAX_STOCK)
}

/// Longest operator's message, in bytes of UTF-8.
pub const MAX_MESSAGE: usize = 1_000;

/// Most languages of a message, and the longest tag of one in bytes.
pub const MAX_LANGUAGES: usize = 16;
pub const MAX_TAG: usize = 35;
