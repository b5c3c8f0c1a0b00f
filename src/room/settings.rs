//! What an operator sets for a room, as the log carries it: integers only, no file syntax.

/// How a room treats new visitors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Wait only when full.
    #[default]
    Auto,
    /// Everybody new waits, nobody is called.
    Hold,
    /// Nobody joins, nobody is called; those inside go on.
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
    pub session_ms: u64,
    pub session_max_ms: u64,
    pub claim_deadline_ms: u64,
    pub grace_ms: u64,
    pub firm_within_ms: u64,
    pub late_window_ms: u64,
    /// Most lines of a `per` room at once.
    pub max_lines: u32,
    /// Weights by lane, 1 to 8 of them; calls go by deficit round robin.
    pub lane_weights: Vec<u16>,
}

impl Default for Settings {
    /// The design's defaults: capacity 100, no rate, session 5 min, claim 90 s, grace 4 min, firm 20 s, late 10 min.
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
        }
    }
}

/// What an operator changed while the room runs; each `Some` stands over the configured value, and over a restart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    pub mode: Option<Mode>,
    pub capacity: Option<u32>,
    /// `Some(None)` lifts the configured rate.
    pub rate_per_minute: Option<Option<u32>>,
    /// Shown to everybody waiting; at most [`MAX_MESSAGE`] bytes.
    pub message: Option<String>,
}

/// Longest duration of a room, in milliseconds: a year.
const MAX_MS: u64 = 366 * 24 * 3_600_000;

/// Longest step of a rate, in milliseconds: a day.
const MAX_STEP_MS: u64 = 24 * 3_600_000;

/// Most lanes of a line.
pub const MAX_LANES: usize = 8;

impl Settings {
    /// The settings within the bounds that the room counts in: durations of 1 ms to a year, 1 to 8 lanes that weigh at
    /// least 1. What a validated configuration says is not changed by this.
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
            lane_weights,
        }
    }
}

impl Overrides {
    /// `configured` with what is overridden, within bounds.
    #[must_use]
    pub fn over(&self, configured: &Settings) -> Settings {
        let configured = configured.bounded();
        Settings {
            mode: self.mode.unwrap_or(configured.mode),
            capacity: self.capacity.unwrap_or(configured.capacity),
            rate_per_minute: self.rate_per_minute.unwrap_or(configured.rate_per_minute),
            ..configured
        }
    }
}

/// Longest operator's message, in bytes of UTF-8.
pub const MAX_MESSAGE: usize = 1_000;
