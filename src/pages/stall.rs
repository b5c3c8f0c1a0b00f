//! Reasons why no visitor is called, or fewer than could be, as pages show them.

use serde::{Deserialize, Serialize};

use crate::room::{LineView, Mode, Phase, RoomView, View, Wall, Why};

/// Why no visitor is called just now.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stall {
    Held,
    /// The room has not opened yet: the line only forms.
    Prequeue,
    /// The same, and visitors who are present at the opening are drawn then.
    Lot,
    /// The line is closed for its draw, or is about to be, and the order is not there yet.
    Draw,
    /// Every slot has been taken for a while.
    Full,
    /// Fewer are called, as the shop is busy.
    Busy,
    /// No visitor is called until the upstream has recovered, or until its load is known.
    Resting,
    /// The log has just begun. Were another lost before it, its visitors would come back in this time.
    Opening,
    /// Something was lost; tickets are being collected.
    Healing,
    /// This gate cannot reach the store.
    CutOff,
    /// It takes longer than the visitor was shown. This is never the room's state, only one visitor's: [`crate::pages::Kept`].
    Slower,
}

/// Why no visitor is called, and after how many seconds calls go on at the latest, if that is known.
pub type Pause = (Stall, Option<u32>);

/// A full room is no news until this long after its last call.
const FULL_AFTER_MS: u64 = 60_000;

impl Stall {
    /// The views' reason for a line at `now`; the views do not know whether the gate is cut off.
    #[must_use]
    pub fn of(view: &View, room: &RoomView, line: &LineView, now: Wall) -> Option<Self> {
        if view.healing_of(room).is_some() {
            return Some(match () {
                () if room.sale.lost => Self::Draw,
                () if view.is_opening(room) => Self::Opening,
                () => Self::Healing,
            });
        }
        if view.alarm {
            return Some(Self::CutOff);
        }
        if room.settings.mode == Mode::Hold {
            let forms = room.mode != Mode::Hold && room.stage.is_some_and(|stage| stage.phase == Phase::Prequeue);
            return Some(match forms {
                _ if room.sale.has_no_order() && room.mode != Mode::Hold => Self::Draw,
                true if room.is_undrawn() => Self::Lot,
                true => Self::Prequeue,
                false => Self::Held,
            });
        }
        if room.settings.calls_nobody() {
            return Some(Self::Held);
        }
        let figures = &line.figures;
        let full = figures.called.saturating_add(figures.inside) >= figures.capacity;
        let quiet = line.last_call().is_none_or(|last| now.since(last) >= FULL_AFTER_MS);
        if full && quiet {
            return Some(Self::Full);
        }
        let load = room.load.as_ref().filter(|load| load.why != Why::Free)?;
        match load.step_milli {
            0 => Some(Self::Resting),
            _ => (load.binds && figures.waiting > 0).then_some(Self::Busy),
        }
    }

    /// The same, with the time that is left while opening or healing: whole minutes, so that it is news once a minute.
    #[must_use]
    pub fn pause(view: &View, room: &RoomView, line: &LineView, now: Wall) -> Option<Pause> {
        let stall = Self::of(view, room, line, now)?;
        // Before anything of the log was read, nobody knows how long.
        let until = view.healing_of(room).filter(|_| view.position.epoch != 0);
        let left = until.filter(|_| matches!(stall, Self::Opening | Self::Healing));
        Some((stall, left.map(|until| whole_minutes(until.since(view.clock)))))
    }

    /// No free slot leads to a call, so that no wait can be estimated.
    #[must_use]
    pub fn pauses(self) -> bool {
        !matches!(self, Self::Full | Self::Busy | Self::Slower)
    }

    /// The script's words of a page that says so have its sentence. Those of the others come with the answer that names them.
    #[must_use]
    pub fn is_in_the_words(self) -> bool {
        matches!(self, Self::Full | Self::Prequeue | Self::Lot | Self::Draw)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Prequeue => "prequeue",
            Self::Lot => "lot",
            Self::Draw => "draw",
            Self::Full => "full",
            Self::Busy => "busy",
            Self::Resting => "resting",
            Self::Opening => "opening",
            Self::Healing => "healing",
            Self::CutOff => "cut_off",
            Self::Slower => "slower",
        }
    }
}

/// Milliseconds as seconds, up to the next whole minute.
#[must_use]
pub fn whole_minutes(ms: u64) -> u32 {
    u32::try_from(ms.div_ceil(60_000))
        .unwrap_or(u32::MAX)
        .saturating_mul(60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::catalogue;
    use crate::room::testing::Hand;
    use crate::room::{Drawing, Epoch, LaneId, LineName, Number, Schedule, Settings, State, Window};

    fn stall(hand: &mut Hand) -> Option<Stall> {
        let view = hand.state.view();
        let room = &view.rooms[&Hand::room()];
        let line = room.line(&LineName::ONLY).expect("a line with visitors");
        Stall::of(&view, room, line, view.time)
    }

    #[test]
    fn a_line_that_an_operator_stopped_is_held_and_nothing_is_told_of_its_end() {
        let plain = Settings::default();
        let stops = [(0, None), (100, Some(0)), (0, Some(0))];
        let stopped = stops.map(|(capacity, rate_per_minute)| Settings {
            capacity,
            rate_per_minute,
            ..plain.clone()
        });
        for settings in stopped {
            let mut hand = Hand::with_room(settings);
            let mut section = Hand::section();
            section.joins.push((LaneId(0), 5));
            hand.hear(1_000, section);
            let view = hand.state.view();
            let room = &view.rooms[&Hand::room()];
            let line = room.line(&LineName::ONLY).expect("a line with visitors");
            assert_eq!(stall(&mut hand), Some(Stall::Held));
            assert_eq!(line.estimate(LaneId(0), 1, view.clock), None);
        }
    }

    #[test]
    fn a_log_that_nothing_shows_to_follow_another_is_opening_until_a_token_of_that_one_comes() {
        let lost = |state: State| {
            let mut hand = Hand::of(state, Settings::default());
            let mut section = Hand::section();
            section.joins.push((LaneId(0), 1));
            hand.hear(1_000, section);
            let before = stall(&mut hand);
            let mut section = Hand::section();
            section.marks.push((LaneId(0), Number { epoch: Epoch(3), n: 2 }));
            hand.hear(1_000, section);
            (before, stall(&mut hand))
        };
        assert_eq!(
            lost(State::after_a_loss(7)),
            (Some(Stall::Opening), Some(Stall::Healing))
        );
        assert_eq!(lost(State::empty(7)), (None, Some(Stall::Healing)));
    }

    #[test]
    fn while_tickets_of_a_lost_draw_are_collected_no_place_is_called_safe() {
        let opened = Window {
            begins: Wall(1_000),
            opens: Wall(2_000),
            closes: None,
            results: None,
        };
        let drawn = Settings {
            schedule: Some(Schedule {
                rule: "the rule".to_owned(),
                windows: vec![opened],
            }),
            draw: Some(Drawing::default()),
            ..Settings::default()
        };
        // A draw that was lost is made anew, with other places.
        let words = &catalogue::built_in()[0].words;
        for (settings, told, words) in [
            (drawn, Stall::Draw, &words.why_draw),
            (Settings::default(), Stall::Healing, &words.why_healing),
        ] {
            let mut hand = Hand::with_room(settings);
            let mut section = Hand::section();
            section.marks.push((LaneId(0), Number { epoch: Epoch(3), n: 2 }));
            hand.hear(1_000, section);
            assert_eq!(stall(&mut hand), Some(told));
            let words = words.to_lowercase();
            assert!(!words.contains("safe") && !words.contains("keep your place"), "{words}");
        }
    }
}
