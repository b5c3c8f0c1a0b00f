//! How far a room has followed its schedule.
//!
//! The schedule only decides which mode is in force and when an edition begins; everything else follows from these. It is
//! followed by the time of the log's entries and never back, so a clock that steps neither opens nor closes a room again.

use crate::codec::codec;
use crate::settings::schedule::{Phase, Schedule, Stage, Turn};
use ropeline_ids::Wall;

#[derive(Debug, Default)]
pub(super) struct Timetable {
    /// How far the schedule has been followed: its last turn, or when it was set. It never goes back.
    followed: Option<Wall>,
    /// When the sale that this edition is of began and opened. It stays while the schedule leads elsewhere.
    began: Option<(Wall, Wall)>,
    /// The next turn, which follows from that.
    turn: Option<(Wall, Turn)>,
}

codec! {
    struct Timetable { followed, began } derived { turn };
}

impl Timetable {
    pub fn stage(&self, schedule: Option<&Schedule>) -> Option<Stage> {
        schedule?.stage(self.followed?)
    }

    /// When the winners of the sale that began last may be shown.
    pub fn results(&self, schedule: Option<&Schedule>) -> Option<Wall> {
        schedule?.results(self.followed?)
    }

    /// The sale that the edition is of is on.
    pub fn goes_on(&self, schedule: Option<&Schedule>) -> bool {
        self.on(schedule).is_some_and(|sale| self.began == Some(sale))
    }

    /// The schedule has changed: turns in the past are not made up.
    pub fn restart(&mut self, now: Option<Wall>) {
        self.followed = now;
    }

    /// When the schedule turns next.
    pub fn next(&self) -> Option<Wall> {
        self.turn.map(|(at, _)| at)
    }

    /// The turn that is due at `now`; the schedule is followed from there on.
    pub fn take_due(&mut self, now: Wall) -> Option<(Wall, Turn)> {
        let due = self.turn.filter(|(at, _)| *at <= now)?;
        self.followed = Some(due.0);
        Some(due)
    }

    /// Computes the next turn.
    pub fn settle(&mut self, schedule: Option<&Schedule>) {
        self.began = self.on(schedule).or(self.began);
        let from = schedule.zip(self.followed);
        self.turn = from.and_then(|(schedule, at)| schedule.next(at));
    }

    /// The sale that is on by the schedule: when it began, and when it opens.
    fn on(&self, schedule: Option<&Schedule>) -> Option<(Wall, Wall)> {
        let Stage { phase, window, .. } = self.stage(schedule)?;
        matches!(phase, Phase::Prequeue | Phase::Open).then_some((window.begins, window.opens))
    }
}
