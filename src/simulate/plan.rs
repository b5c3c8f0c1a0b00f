//! The plan of a simulation: room, arrivals, visitors and scripted changes.

use crate::room::{Overrides, RoomName, Settings, Wall};

use super::arrivals::Arrive;
use super::hidden::Claiming;

/// `idle_after`, where neither way to give slots away has it: as a configuration has it by default.
pub const IDLE_AFTER_MS: u64 = 60_000;

/// Most visitors of one simulation.
pub const MAX_VISITORS: u32 = 16_000_000;

/// One simulation; the same plan gives the same outcome.
#[derive(Clone, Debug)]
pub struct Plan {
    pub room: RoomName,
    pub settings: Settings,
    /// How long after the shop's last answer a session ends; `None` where no answer ends one.
    pub end_grace_ms: Option<u64>,
    /// That answer sells a piece, where there is a stock.
    pub completes: bool,
    /// With active slots: how long a request waits for a slot, and for how long the step before a payment keeps one.
    pub return_wait_ms: u64,
    pub hold_ms: Option<u64>,
    /// The room with slots given away in the other way, to compare with.
    pub other_way: Option<Box<Settings>>,
    /// How much the shop can take; without, it answers at once.
    pub upstream: Option<Upstream>,
    /// From so long after the start on, and for so long, the shop answers nothing.
    pub silences: Vec<(u64, u64)>,
    /// So long after the start, all visitors with a right ask within five seconds.
    pub stampedes: Vec<u64>,
    pub visitors: u32,
    pub arrive: Arrive,
    /// From the first to the last arrival.
    pub over_ms: u64,
    pub crowd: Crowd,
    /// What a page that nobody sees does when its turn comes.
    pub claiming: Claiming,
    pub stays: Stays,
    /// Operators' overrides, each from so long after the start.
    pub changes: Vec<(u64, Overrides)>,
    /// Of a thousand visitors, how many come to each lane after the first.
    pub lanes: Vec<u16>,
    pub seed: u64,
    /// When it begins; only schedules look at it.
    pub start: Wall,
    /// It ends then, even with visitors in line.
    pub most_ms: u64,
    /// How long a gate collects events before it appends them.
    pub step_ms: u64,
    /// Most visitors whose estimates are recorded throughout.
    pub probes: u32,
    /// Numbers of gates for each of which the costs of gates and store are computed.
    pub gates: Vec<u32>,
    /// Remarks beside the figures.
    pub notes: Vec<String>,
    /// People of whom all is known, in order of arrival, in place of a crowd; else none.
    pub script: Vec<Scripted>,
}

impl Plan {
    /// The time from a visitor's request on in which the visitor counts as busy.
    #[must_use]
    pub fn idle_ms(&self) -> u64 {
        let either = [Some(&self.settings), self.other_way.as_deref()];
        let active = either.into_iter().flatten().find_map(|settings| settings.active);
        active.map_or(IDLE_AFTER_MS, |active| active.idle_after_ms)
    }

    /// When the silence of the shop ends that a time falls into.
    #[must_use]
    pub fn silence_ends(&self, ms: u64) -> Option<u64> {
        let silences = self.silences.iter().map(|(from, length)| (*from, from + length));
        silences
            .filter(|(from, to)| (*from..*to).contains(&ms))
            .map(|(_, to)| to)
            .max()
    }

    /// When an answer of the shop arrives that would arrive then if the shop were never silent.
    #[must_use]
    pub fn heard_from(&self, ms: u64) -> u64 {
        self.silence_ends(ms).unwrap_or(ms)
    }

    /// Visitors pause by chance between their requests.
    #[must_use]
    pub fn has_pauses(&self) -> bool {
        self.crowd.pause_ms.is_some() || self.script.iter().any(|part| part.pauses.is_some())
    }
}

/// One visitor's whole part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scripted {
    pub arrives_ms: u64,
    /// How long they stay inside, and requests meanwhile, after which they say that they leave.
    pub stay_ms: u64,
    pub pages: u32,
    /// The pauses between these requests; `None` where all are alike.
    pub pauses: Option<ScriptedPauses>,
    pub does: Doing,
}

/// The median and the seed of a visitor's [`Pauses`](super::active::pauses::Pauses).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScriptedPauses {
    pub median_ms: u64,
    pub seed: u64,
}

/// Actions of a visitor besides waiting and coming in, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    Nothing,
    /// Gives up after so long in line, and says so.
    Leaves(u64),
    /// Falls silent after so long in line, for so long.
    Sleeps(u64, u64),
    /// Comes so long after the first call.
    ComesLate(u64),
    StaysAway,
}

/// A shop with a limit, for requests as in `docs/reports/load-control-research.md`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upstream {
    /// From so long after the start on, requests a second at most; at least one, the first from 0.
    pub per_sec: Vec<(u64, u32)>,
}

/// The behaviour of visitors: the share of each kind in thousandths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crowd {
    /// Give up while waiting, within `patience_ms`; half of them say so.
    pub leave: u16,
    pub patience_ms: u64,
    /// Their phone goes to sleep once, for up to a quarter of an hour.
    pub sleep: u16,
    /// Come only after they have missed their first turn.
    pub late: u16,
    /// Wait, and do not come when called.
    pub no_show: u16,
    /// Wait in a second browser too, and come with one.
    pub tabs: u16,
    /// This many more come in masses, at once, and stay as long as they may.
    pub bots: u16,
    /// Wait in a tab that they look at now and then; of these, how many on a phone.
    pub hidden: u16,
    pub phones: u16,
    /// How long these look elsewhere each time: the median of a log-normal distribution.
    pub away_ms: u64,
    /// Of those inside, go to the end, after which the shop's answer ends the session.
    pub finish: u16,
    /// The median of the pauses between two requests, which are log-normal; `None`: all are about alike.
    pub pause_ms: Option<u64>,
    /// Of those inside, pay on another host before their last request.
    pub pay: u16,
    /// Of those inside, leave a tab open that goes on asking.
    pub polling: u16,
}

/// How long people are busy inside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stays {
    /// From so long after the start on, the mean; at least one, the first from 0.
    pub mean_ms: Vec<(u64, u64)>,
    /// Requests of a mean visit.
    pub pages: u32,
}

impl Crowd {
    /// Everybody waits, comes when called and goes to the end.
    pub const PATIENT: Self = Self {
        leave: 0,
        patience_ms: 1_800_000,
        sleep: 0,
        late: 0,
        no_show: 0,
        tabs: 0,
        bots: 0,
        hidden: 0,
        phones: 500,
        away_ms: 120_000,
        finish: 1_000,
        pause_ms: None,
        pay: 0,
        polling: 0,
    };
}

impl Default for Crowd {
    fn default() -> Self {
        Self {
            leave: 50,
            sleep: 50,
            late: 20,
            no_show: 30,
            tabs: 20,
            finish: 600,
            ..Self::PATIENT
        }
    }
}

impl Stays {
    /// The mean at a time.
    #[must_use]
    pub fn at(&self, ms: u64) -> u64 {
        let begun = self.mean_ms.iter().take_while(|(from, _)| *from <= ms);
        begun.last().map_or(0, |(_, mean)| *mean)
    }
}
