//! The patterns to work with.

use super::Shape::{AtOnce, Even, Falling, Rising, Spike, Wave};
use super::{Bots, Change, HOUR, Leaving, MIN, PLAIN, Pattern, Room, SEC, Stay, arrive};

pub const WORKING: [Pattern; 20] = [
    Pattern {
        name: "corner shop",
        room: Room {
            capacity: 5,
            session: 2 * MIN,
            ..PLAIN.room
        },
        visitors: 60,
        finish: 700,
        step: 250,
        ..PLAIN
    },
    Pattern {
        name: "club night",
        room: Room {
            capacity: 50,
            ..PLAIN.room
        },
        visitors: 1_500,
        arrivals: &[arrive(1_000, Spike, 0, 20 * MIN)],
        leaving: Leaving::Steady {
            share: 300,
            mean: 40 * MIN,
        },
        stay: Stay::LogNormal {
            median: 2 * MIN,
            sigma: 700,
        },
        ..PLAIN
    },
    Pattern {
        name: "ticket sale",
        room: Room {
            capacity: 500,
            ..PLAIN.room
        },
        visitors: 10_000,
        arrivals: &[arrive(600, AtOnce, 0, 0), arrive(400, Falling, 0, 30 * MIN)],
        no_show: 100,
        finish: 700,
        ..PLAIN
    },
    Pattern {
        name: "large shop, short line",
        room: Room {
            capacity: 5_000,
            ..PLAIN.room
        },
        visitors: 40_000,
        arrivals: &[arrive(1_000, Spike, 0, 10 * MIN)],
        stay: Stay::LogNormal {
            median: 150 * SEC,
            sigma: 500,
        },
        ..PLAIN
    },
    Pattern {
        name: "largest shop",
        room: Room {
            capacity: 50_000,
            grace: 8 * MIN,
            ..PLAIN.room
        },
        visitors: 200_000,
        arrivals: &[arrive(1_000, Spike, 0, 15 * MIN)],
        finish: 600,
        watched: 2_000,
        ..PLAIN
    },
    Pattern {
        name: "a day of waves",
        room: Room {
            capacity: 20,
            session: 4 * MIN,
            ..PLAIN.room
        },
        visitors: 2_600,
        arrivals: &[
            arrive(300, Wave, 0, 5 * HOUR),
            arrive(300, Wave, 5 * HOUR, 5 * HOUR),
            arrive(400, Wave, 10 * HOUR, 6 * HOUR),
        ],
        leaving: Leaving::Steady { share: 200, mean: HOUR },
        stay: Stay::Bimodal {
            short: 90 * SEC,
            long: 12 * MIN,
            share: 150,
        },
        ..PLAIN
    },
    Pattern {
        name: "impatient at the back",
        room: Room {
            capacity: 200,
            ..PLAIN.room
        },
        visitors: 8_000,
        arrivals: &[arrive(1_000, Spike, 0, 30 * MIN)],
        leaving: Leaving::ByPlace {
            share: 800,
            mean: 40 * MIN,
            at: 2_000,
        },
        ..PLAIN
    },
    Pattern {
        name: "impatient after a while",
        room: Room {
            capacity: 300,
            session: 3 * MIN,
            ..PLAIN.room
        },
        visitors: 9_000,
        arrivals: &[arrive(1_000, Wave, 0, HOUR)],
        leaving: Leaving::ByWait {
            share: 600,
            median: 20 * MIN,
            sigma: 600,
        },
        ..PLAIN
    },
    Pattern {
        name: "no-shows",
        room: Room {
            capacity: 400,
            ..PLAIN.room
        },
        visitors: 8_000,
        arrivals: &[arrive(500, AtOnce, 0, 0), arrive(500, Even, 0, 20 * MIN)],
        no_show: 350,
        late: 50,
        ..PLAIN
    },
    Pattern {
        name: "bots that stay",
        room: Room {
            capacity: 300,
            session_max: 30 * MIN,
            ..PLAIN.room
        },
        visitors: 5_000,
        arrivals: &[arrive(1_000, Even, 0, 40 * MIN)],
        bots: Bots {
            never: 0,
            stay: 100,
            at: &[0, 15 * MIN, 30 * MIN],
        },
        ..PLAIN
    },
    Pattern {
        name: "bots that never come",
        room: Room {
            capacity: 1_000,
            session: 3 * MIN,
            ..PLAIN.room
        },
        visitors: 15_000,
        arrivals: &[arrive(1_000, Spike, 0, 30 * MIN)],
        bots: Bots {
            never: 400,
            stay: 0,
            at: &[0, 2 * MIN, 10 * MIN],
        },
        no_show: 30,
        ..PLAIN
    },
    Pattern {
        name: "stays get longer",
        room: Room {
            capacity: 250,
            ..PLAIN.room
        },
        visitors: 4_000,
        arrivals: &[arrive(1_000, Falling, 0, 40 * MIN)],
        leaving: Leaving::Steady {
            share: 200,
            mean: 40 * MIN,
        },
        stay: Stay::Exponential { mean: 2 * MIN },
        drift: &[(10 * MIN, 1_000), (70 * MIN, 3_000)],
        finish: 800,
        ..PLAIN
    },
    Pattern {
        name: "stays get shorter",
        room: Room {
            capacity: 800,
            ..PLAIN.room
        },
        visitors: 12_000,
        arrivals: &[arrive(1_000, Spike, 0, 20 * MIN)],
        stay: Stay::LogNormal {
            median: 6 * MIN,
            sigma: 600,
        },
        drift: &[(0, 1_000), (HOUR, 350)],
        finish: 900,
        ..PLAIN
    },
    Pattern {
        name: "more slots on the way",
        room: Room {
            capacity: 100,
            ..PLAIN.room
        },
        visitors: 3_000,
        arrivals: &[arrive(1_000, Even, 0, HOUR)],
        changes: &[(25 * MIN, Change::Capacity(250))],
        leaving: Leaving::Steady {
            share: 150,
            mean: 30 * MIN,
        },
        ..PLAIN
    },
    Pattern {
        name: "fewer slots on the way",
        room: Room {
            capacity: 400,
            session: 4 * MIN,
            ..PLAIN.room
        },
        visitors: 5_000,
        arrivals: &[arrive(1_000, Rising, 0, 30 * MIN)],
        changes: &[(25 * MIN, Change::Capacity(150))],
        no_show: 60,
        ..PLAIN
    },
    Pattern {
        name: "by rate, with leavers",
        room: Room {
            capacity: 20_000,
            rate_per_minute: Some(120),
            ..PLAIN.room
        },
        visitors: 6_000,
        arrivals: &[arrive(1_000, Spike, 0, 30 * MIN)],
        leaving: Leaving::Steady {
            share: 500,
            mean: 30 * MIN,
        },
        sleep: 50,
        ..PLAIN
    },
    Pattern {
        name: "a rate that is changed",
        room: Room {
            capacity: 10_000,
            rate_per_minute: Some(300),
            ..PLAIN.room
        },
        visitors: 8_000,
        arrivals: &[arrive(700, AtOnce, 0, 0), arrive(300, Even, 0, 30 * MIN)],
        leaving: Leaving::ByWait {
            share: 200,
            median: 30 * MIN,
            sigma: 400,
        },
        changes: &[(10 * MIN, Change::Rate(Some(100))), (35 * MIN, Change::Rate(Some(400)))],
        ..PLAIN
    },
    Pattern {
        name: "held for ten minutes",
        room: Room {
            capacity: 150,
            ..PLAIN.room
        },
        visitors: 2_500,
        arrivals: &[arrive(1_000, Wave, 0, 40 * MIN)],
        leaving: Leaving::Steady { share: 150, mean: HOUR },
        changes: &[(30 * MIN, Change::Hold), (40 * MIN, Change::GoOn)],
        stay: Stay::Bimodal {
            short: MIN,
            long: 8 * MIN,
            share: 250,
        },
        ..PLAIN
    },
    Pattern {
        name: "follows a shop that stops",
        room: Room {
            capacity: 3_000,
            session: 3 * MIN,
            follows: Some(600),
            ..PLAIN.room
        },
        visitors: 9_000,
        arrivals: &[arrive(1_000, Falling, 0, 15 * MIN)],
        changes: &[(25 * MIN, Change::ShopStops), (30 * MIN, Change::ShopIsBack)],
        ..PLAIN
    },
    Pattern {
        name: "three lanes",
        room: Room {
            capacity: 350,
            lanes: &[(1, 600), (3, 300), (6, 100)],
            ..PLAIN.room
        },
        visitors: 6_000,
        arrivals: &[arrive(500, Spike, 0, 20 * MIN), arrive(500, Even, 0, 50 * MIN)],
        no_show: 50,
        late: 20,
        ..PLAIN
    },
];
