//! The run of one seed: the shop, its visitors, and how its cliff moves, as in `docs/reports/load-control-research.md`.

/// Requests a second that the shop answers at 100 %.
pub const FULL: u64 = 60;

pub const SECOND_US: u64 = 1_000_000;

/// Whole numbers by chance, the same on every machine (splitmix64).
#[derive(Clone, Copy)]
pub struct Chance(u64);

impl Chance {
    pub fn of(seed: u64, what: u64) -> Self {
        // Mixed, or the seeds would be one stream, each a step behind the last.
        let mixed = Self(seed).next() ^ what.wrapping_mul(0xd1b5_4a32_d192_ed03);
        Self(Self(mixed).next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Both ends among them.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }
}

/// A stretch of time at one level of the shop; 0 is down.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    pub from_us: u64,
    pub to_us: u64,
    pub percent: u64,
}

#[derive(Clone, Debug)]
pub struct Course {
    pub seed: u64,
    /// Mean work of a request.
    pub work_us: u64,
    pub requests: u64,
    pub think_us: u64,
    pub no_shows_percent: u64,
    pub levels: Vec<Level>,
    pub kind: Kind,
}

/// The visits of a world, and the time after which a level counts as steady.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    requests: (u64, u64),
    think_ms: (u64, u64),
    level_secs: (u64, u64),
    has_outage: bool,
    /// How long a slot is held after its visitor came; `None`: until the visit ends, which is reported to the room.
    pub session_ms: Option<u64>,
    pub settle_us: u64,
    pub piece_us: u64,
    /// Percentage of the visits of the best fixed rate.
    pub share_percent: u64,
    pub recovers: bool,
}

/// Visits of less than a minute, whose ends are reported.
pub const SHORT: Kind = Kind {
    requests: (4, 10),
    think_ms: (2_000, 5_000),
    level_secs: (300, 480),
    has_outage: true,
    session_ms: None,
    settle_us: 120 * SECOND_US,
    piece_us: 30 * SECOND_US,
    share_percent: 90,
    recovers: true,
};

/// Visits of ten minutes, whose ends are not reported.
pub const LONG: Kind = Kind {
    requests: (80, 120),
    think_ms: (4_000, 6_000),
    level_secs: (2_400, 3_600),
    has_outage: false,
    session_ms: Some(900_000),
    settle_us: 1_200 * SECOND_US,
    piece_us: 300 * SECOND_US,
    share_percent: 80,
    recovers: false,
};

impl Course {
    pub fn of(seed: u64, kind: Kind) -> Self {
        let mut chance = Chance::of(seed, 0);
        let mut course = Self {
            seed,
            work_us: chance.within(50_000, 200_000),
            requests: chance.within(kind.requests.0, kind.requests.1),
            think_us: chance.within(kind.think_ms.0 * 1_000, kind.think_ms.1 * 1_000),
            no_shows_percent: chance.within(5, 30),
            levels: Vec::new(),
            kind,
        };
        let mut percent = chance.within(60, 130);
        for level in 0..5 {
            let long_us = chance.within(kind.level_secs.0, kind.level_secs.1) * SECOND_US;
            course.level(long_us, percent);
            if level == 2 && kind.has_outage {
                course.outage(chance.within(30, 90) * SECOND_US);
            }
            let before = percent;
            while percent.abs_diff(before) < 25 {
                percent = chance.within(60, 130);
            }
        }
        course
    }

    pub fn end_us(&self) -> u64 {
        self.levels.last().unwrap().to_us
    }

    /// Thousandths of a worker at a level.
    pub fn workers_milli(&self, percent: u64) -> u64 {
        FULL * self.work_us * percent / 100 / 1_000
    }

    /// Thousandths of a call a second that keep the shop at 100 % busy.
    pub fn full_calls_milli(&self) -> u64 {
        FULL * 1_000 * 100 / self.requests / (100 - self.no_shows_percent)
    }

    /// The work of a request.
    pub fn work(&self, chance: &mut Chance) -> u64 {
        let (low, high) = match chance.within(0, 99) {
            0..70 => (200, 1_000),
            70..95 => (1_000, 2_000),
            _ => (2_000, 6_200),
        };
        self.work_us * chance.within(low, high) / 1_000
    }

    fn level(&mut self, long_us: u64, percent: u64) {
        let from_us = self.levels.last().map_or(0, |level| level.to_us);
        self.levels.push(Level {
            from_us,
            to_us: from_us + long_us,
            percent,
        });
    }

    /// The shop is down 150 s into the last level.
    fn outage(&mut self, long_us: u64) {
        let whole = self.levels.pop().unwrap();
        let from_us = whole.from_us + 150 * SECOND_US;
        let cuts = [whole.from_us, from_us, from_us + long_us, whole.to_us];
        for (i, cut) in cuts.windows(2).enumerate() {
            self.levels.push(Level {
                from_us: cut[0],
                to_us: cut[1],
                percent: if i == 1 { 0 } else { whole.percent },
            });
        }
    }
}
