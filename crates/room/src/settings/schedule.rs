//! The times when a room is open: windows in wall time, and how far a room has followed them.
//!
//! A room knows instants and no calendar: the gates compute zones, weekdays and summer time (`src/calendar`), and the log
//! carries the results. The room follows the time of its entries and never goes back: a window that has begun stays begun,
//! even if the store's clock goes back.

use crate::codec::codec;
use ropeline_ids::Wall;

/// Most windows of a schedule, those that are over among them.
pub const MAX_WINDOWS: usize = 16;

/// Longest text of the rule behind a schedule, in bytes.
pub const MAX_RULE: usize = 500;

/// The phase of a room in its schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Before the next prequeue, or opening where there is none: no visitor joins or is called.
    Early,
    /// Visitors join, none is called.
    Prequeue,
    Open,
    /// The last window is over: no visitor joins or is called.
    Closed,
}

/// One sale: `begins` <= `opens` < `closes` <= `results`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// A new edition begins: the prequeue, or the opening where there is none.
    pub begins: Wall,
    pub opens: Wall,
    /// `None`: open until the next window begins.
    pub closes: Option<Wall>,
    /// From when on the winners may be shown. For sales by stock; the room itself does nothing at that time.
    pub results: Option<Wall>,
}

/// The windows of a room, and the rule that gives them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// The operator's text, from which a gate computes the windows. Two schedules of one rule are the same, even if their
    /// gates computed different windows: those that the log took first count.
    pub rule: String,
    /// In order, and none overlaps the next.
    pub windows: Vec<Window>,
}

codec! {
    struct Schedule { rule, windows };
    struct Window { begins, opens, closes, results };
}

/// The stage of a room in its schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stage {
    pub phase: Phase,
    /// The window that it is in; the next one while early, the last one once closed.
    pub window: Window,
    /// When the phase changes next, if it does.
    pub next: Option<Wall>,
}

/// A change at an instant of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// A window begins, and with it an edition.
    Begins,
    /// The line that has formed is called from here on; in the order of arrival.
    Opens,
    Closes,
}

impl Window {
    /// Its instants are in their order.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let closes = self.closes.is_none_or(|closes| self.opens < closes);
        let end = self.closes.unwrap_or(self.opens);
        self.begins <= self.opens && closes && self.results.is_none_or(|results| end <= results)
    }

    /// `next` begins when this one is over.
    #[must_use]
    pub fn ends_before(&self, next: &Self) -> bool {
        self.opens < next.begins && self.closes.is_none_or(|closes| closes <= next.begins)
    }
}

impl Schedule {
    /// The schedule within the room's bounds; `None` when no window is left. A validated configuration is not changed by
    /// this.
    #[must_use]
    pub fn bounded(&self) -> Option<Self> {
        let mut bounded = Self {
            rule: self.rule.clone(),
            windows: Vec::new(),
        };
        bounded.add(&self.windows);
        let fits = self.rule.len() <= MAX_RULE && !bounded.windows.is_empty();
        fits.then_some(bounded)
    }

    /// Adds the windows that follow those there are. The oldest make room; false when nothing was added.
    pub(crate) fn add(&mut self, windows: &[Window]) -> bool {
        let before = self.windows.last().copied();
        for window in windows.iter().filter(|window| window.is_sound()) {
            if self.windows.last().is_none_or(|last| last.ends_before(window)) {
                self.windows.push(*window);
            }
        }
        self.windows.drain(..self.windows.len().saturating_sub(MAX_WINDOWS));
        self.windows.last().copied() != before
    }

    /// The stage of a follower that has followed it to `at`; `None` without windows.
    #[must_use]
    pub fn stage(&self, at: Wall) -> Option<Stage> {
        let begun = self.windows.partition_point(|window| window.begins <= at);
        let (last, coming) = (self.windows[..begun].last(), self.windows.get(begun));
        let phase = match last {
            Some(window) if at < window.opens => Phase::Prequeue,
            Some(window) if window.closes.is_none_or(|closes| at < closes) => Phase::Open,
            Some(_) if coming.is_none() => Phase::Closed,
            _ => Phase::Early,
        };
        let window = *if phase == Phase::Early { coming } else { last }?;
        Some(Stage {
            phase,
            window,
            next: self.next(at).map(|(next, _)| next),
        })
    }

    /// The results' date of the window that began last.
    #[must_use]
    pub fn results(&self, at: Wall) -> Option<Wall> {
        self.begun(at)?.results
    }

    /// The window that began last.
    pub(crate) fn begun(&self, at: Wall) -> Option<&Window> {
        let begun = self.windows.partition_point(|window| window.begins <= at);
        self.windows[..begun].last()
    }

    /// The first turn after `at`. If two turns fall on one instant, a beginning goes before the opening, and the end of a
    /// window before the beginning of the next.
    pub(crate) fn next(&self, at: Wall) -> Option<(Wall, Turn)> {
        let turns = self.windows.iter().flat_map(|window| {
            let closes = window.closes.map(|closes| (closes, Turn::Closes));
            let opens = (window.opens > window.begins).then_some((window.opens, Turn::Opens));
            closes.into_iter().chain([(window.begins, Turn::Begins)]).chain(opens)
        });
        let after = turns.filter(|(when, _)| *when > at);
        // An end that is the next beginning too is no more than that.
        after.min_by_key(|(when, turn)| (*when, *turn != Turn::Begins))
    }

    /// Every sale of it has ended.
    #[must_use]
    pub fn is_over(&self, now: Wall) -> bool {
        let over = |window: &Window| window.closes.is_some_and(|closes| closes <= now);
        self.windows.iter().all(over)
    }

    /// Bytes that it takes in a batch, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rule.len() + WINDOW_BYTES * self.windows.len() + 16
    }
}

/// Most bytes of one window.
const WINDOW_BYTES: usize = 34;

#[cfg(test)]
mod tests {
    use super::*;

    fn window(begins: u64, opens: u64, closes: Option<u64>) -> Window {
        Window {
            begins: Wall(begins),
            opens: Wall(opens),
            closes: closes.map(Wall),
            results: None,
        }
    }

    fn schedule(windows: &[Window]) -> Schedule {
        Schedule {
            rule: "a rule".to_owned(),
            windows: windows.to_vec(),
        }
    }

    #[test]
    fn a_window_goes_through_its_phases_at_their_instants() {
        let schedule = schedule(&[window(10, 20, Some(30)), window(50, 50, Some(60))]);
        let phases = [
            (0, Phase::Early, 10, Some(10)),
            (10, Phase::Prequeue, 10, Some(20)),
            (19, Phase::Prequeue, 10, Some(20)),
            (20, Phase::Open, 10, Some(30)),
            (29, Phase::Open, 10, Some(30)),
            (30, Phase::Early, 50, Some(50)),
            (50, Phase::Open, 50, Some(60)),
            (60, Phase::Closed, 50, None),
        ];
        for (at, phase, begins, next) in phases {
            let stage = schedule.stage(Wall(at)).unwrap();
            let told = (stage.phase, stage.window.begins.0, stage.next.map(|next| next.0));
            assert_eq!(told, (phase, begins, next), "at {at}");
        }
    }

    #[test]
    fn a_window_without_an_end_is_open_until_the_next_begins() {
        let schedule = schedule(&[window(10, 20, None), window(50, 60, None)]);
        assert_eq!(schedule.stage(Wall(49)).unwrap().phase, Phase::Open);
        assert_eq!(schedule.next(Wall(20)), Some((Wall(50), Turn::Begins)));
        assert_eq!(schedule.stage(Wall(50)).unwrap().phase, Phase::Prequeue);
        assert_eq!(schedule.stage(Wall(99)).unwrap().phase, Phase::Open);
    }

    #[test]
    fn an_end_that_is_a_beginning_too_is_a_beginning() {
        let schedule = schedule(&[window(10, 10, Some(20)), window(20, 30, Some(40))]);
        assert_eq!(schedule.next(Wall(10)), Some((Wall(20), Turn::Begins)));
        assert_eq!(schedule.stage(Wall(20)).unwrap().phase, Phase::Prequeue);
    }

    #[test]
    fn what_makes_no_sense_is_left_out_and_the_oldest_make_room() {
        let wrong = schedule(&[
            window(20, 10, None),
            window(10, 20, Some(20)),
            window(10, 20, Some(30)),
            window(25, 40, None),
        ]);
        assert_eq!(wrong.bounded().unwrap().windows, [window(10, 20, Some(30))]);
        assert_eq!(schedule(&[window(20, 10, None)]).bounded(), None);
        let many: Vec<Window> = (0..40)
            .map(|i| window(100 * i, 100 * i + 10, Some(100 * i + 20)))
            .collect();
        let mut bounded = schedule(&many).bounded().unwrap();
        assert_eq!(bounded.windows, many[24..]);
        assert!(!bounded.add(&many), "all of them are there, or over");
        assert!(bounded.add(&[window(5_000, 5_000, None)]));
        assert_eq!(bounded.windows.len(), MAX_WINDOWS);
    }
}
