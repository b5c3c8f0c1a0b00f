//! The patterns that judge.

use super::Shape::{AtOnce, Even, Falling, Rising, Spike, Wave};
use super::{Bots, Change, HOUR, Leaving, MIN, PLAIN, Pattern, Room, SEC, Stay, arrive};

pub const JUDGING: [Pattern; 20] = [
    Pattern {
        name: "kiosk, five rushes",
        room: Room {
            capacity: 8,
            session: 3 * MIN,
            claim: MIN,
            ..PLAIN.room
        },
        visitors: 320,
        arrivals: &[
            arrive(200, Even, 0, 4 * MIN),
            arrive(200, Even, 50 * MIN, 4 * MIN),
            arrive(200, AtOnce, 100 * MIN, 0),
            arrive(200, Spike, 150 * MIN, 10 * MIN),
            arrive(200, Even, 200 * MIN, 4 * MIN),
        ],
        late: 80,
        stay: Stay::Bimodal {
            short: 45 * SEC,
            long: 7 * MIN,
            share: 300,
        },
        step: 500,
        ..PLAIN
    },
    Pattern {
        name: "two days",
        room: Room {
            capacity: 12,
            session: 6 * MIN,
            ..PLAIN.room
        },
        visitors: 3_000,
        arrivals: &[
            arrive(350, Wave, 0, 14 * HOUR),
            arrive(300, Spike, 16 * HOUR, 10 * HOUR),
            arrive(350, Wave, 26 * HOUR, 22 * HOUR),
        ],
        leaving: Leaving::ByWait {
            share: 500,
            median: 90 * MIN,
            sigma: 700,
        },
        stay: Stay::LogNormal {
            median: 3 * MIN,
            sigma: 900,
        },
        drift: &[(0, 800), (30 * HOUR, 1_200)],
        step: 2 * SEC,
        watched: 600,
        ..PLAIN
    },
    Pattern {
        name: "small, many lose patience or stay away",
        room: Room {
            capacity: 30,
            session: 4 * MIN,
            ..PLAIN.room
        },
        visitors: 900,
        arrivals: &[arrive(1_000, Spike, 0, 45 * MIN)],
        leaving: Leaving::ByWait {
            share: 700,
            median: 25 * MIN,
            sigma: 900,
        },
        say_so: 200,
        no_show: 220,
        step: 500,
        ..PLAIN
    },
    Pattern {
        name: "late crowd, nobody finishes",
        room: Room {
            capacity: 75,
            session: 7 * MIN,
            ..PLAIN.room
        },
        visitors: 1_400,
        arrivals: &[arrive(1_000, Rising, 0, 90 * MIN)],
        stay: Stay::LogNormal {
            median: 100 * SEC,
            sigma: 1_200,
        },
        finish: 0,
        sleep: 60,
        ..PLAIN
    },
    Pattern {
        name: "rate and slots, impatient at the back",
        room: Room {
            capacity: 150,
            rate_per_minute: Some(30),
            ..PLAIN.room
        },
        visitors: 3_200,
        arrivals: &[arrive(300, AtOnce, 0, 0), arrive(700, Wave, 0, 80 * MIN)],
        leaving: Leaving::ByPlace {
            share: 600,
            mean: 50 * MIN,
            at: 500,
        },
        stay: Stay::Exponential { mean: 4 * MIN },
        ..PLAIN
    },
    Pattern {
        name: "bots of both kinds",
        room: Room {
            capacity: 260,
            session: 4 * MIN,
            session_max: 20 * MIN,
            ..PLAIN.room
        },
        visitors: 5_500,
        arrivals: &[arrive(1_000, Even, 0, 55 * MIN)],
        bots: Bots {
            never: 200,
            stay: 60,
            at: &[5 * MIN, 20 * MIN, 21 * MIN, 45 * MIN],
        },
        leaving: Leaving::Steady {
            share: 100,
            mean: 30 * MIN,
        },
        ..PLAIN
    },
    Pattern {
        name: "shop slows while people leave",
        room: Room {
            capacity: 600,
            ..PLAIN.room
        },
        visitors: 11_000,
        arrivals: &[arrive(700, Spike, 0, 25 * MIN), arrive(300, Rising, 0, HOUR)],
        leaving: Leaving::ByWait {
            share: 450,
            median: 35 * MIN,
            sigma: 500,
        },
        stay: Stay::Exponential { mean: 150 * SEC },
        drift: &[
            (15 * MIN, 1_000),
            (20 * MIN, 1_800),
            (50 * MIN, 1_800),
            (80 * MIN, 2_600),
        ],
        finish: 850,
        ..PLAIN
    },
    Pattern {
        name: "quick and tidy",
        room: Room {
            capacity: 1_200,
            session: 10 * MIN,
            ..PLAIN.room
        },
        visitors: 22_000,
        arrivals: &[arrive(800, AtOnce, 0, 0), arrive(200, Falling, 5 * MIN, 20 * MIN)],
        stay: Stay::LogNormal {
            median: 110 * SEC,
            sigma: 350,
        },
        finish: 960,
        end_grace: 10 * SEC,
        page: 10 * SEC,
        ..PLAIN
    },
    Pattern {
        name: "no-shows and sleepers",
        room: Room {
            capacity: 2_500,
            session: 4 * MIN,
            claim: 2 * MIN,
            ..PLAIN.room
        },
        visitors: 30_000,
        arrivals: &[arrive(1_000, Falling, 0, 35 * MIN)],
        no_show: 260,
        sleep: 150,
        late: 40,
        stay: Stay::Bimodal {
            short: 2 * MIN,
            long: 9 * MIN,
            share: 200,
        },
        ..PLAIN
    },
    Pattern {
        name: "large, bots and leavers",
        room: Room {
            capacity: 4_000,
            ..PLAIN.room
        },
        visitors: 55_000,
        arrivals: &[arrive(1_000, Spike, 0, 40 * MIN)],
        bots: Bots {
            never: 250,
            stay: 0,
            at: &[0, 12 * MIN],
        },
        leaving: Leaving::Steady {
            share: 550,
            mean: 45 * MIN,
        },
        say_so: 300,
        ..PLAIN
    },
    Pattern {
        name: "three hours of a long line",
        room: Room {
            capacity: 8_000,
            session: 8 * MIN,
            grace: 10 * MIN,
            ..PLAIN.room
        },
        visitors: 110_000,
        arrivals: &[arrive(1_000, Spike, 0, 60 * MIN)],
        stay: Stay::LogNormal {
            median: 4 * MIN,
            sigma: 800,
        },
        finish: 350,
        no_show: 80,
        step: 2 * SEC,
        ..PLAIN
    },
    Pattern {
        name: "all at once, quicker and quicker",
        room: Room {
            capacity: 20_000,
            grace: 8 * MIN,
            session: 4 * MIN,
            ..PLAIN.room
        },
        visitors: 90_000,
        stay: Stay::Exponential { mean: 5 * MIN },
        drift: &[(5 * MIN, 1_000), (30 * MIN, 400)],
        leaving: Leaving::Steady {
            share: 100,
            mean: 20 * MIN,
        },
        finish: 750,
        watched: 2_000,
        ..PLAIN
    },
    Pattern {
        name: "largest, two masses, two lanes",
        room: Room {
            capacity: 50_000,
            session: 3 * MIN,
            grace: 8 * MIN,
            lanes: &[(2, 850), (3, 150)],
            ..PLAIN.room
        },
        visitors: 180_000,
        arrivals: &[arrive(600, AtOnce, 0, 0), arrive(400, Spike, 12 * MIN, 10 * MIN)],
        stay: Stay::LogNormal {
            median: 130 * SEC,
            sigma: 600,
        },
        no_show: 40,
        finish: 650,
        watched: 2_000,
        ..PLAIN
    },
    Pattern {
        name: "slots up and down",
        room: Room {
            capacity: 40,
            ..PLAIN.room
        },
        visitors: 1_600,
        arrivals: &[arrive(1_000, Even, 0, 100 * MIN)],
        leaving: Leaving::ByWait {
            share: 500,
            median: 40 * MIN,
            sigma: 600,
        },
        changes: &[
            (30 * MIN, Change::Capacity(60)),
            (70 * MIN, Change::Capacity(25)),
            (120 * MIN, Change::Capacity(80)),
        ],
        finish: 300,
        ..PLAIN
    },
    Pattern {
        name: "held twice, then more slots",
        room: Room {
            capacity: 550,
            session: 4 * MIN,
            ..PLAIN.room
        },
        visitors: 9_500,
        arrivals: &[arrive(600, Falling, 0, 30 * MIN), arrive(400, Even, 0, HOUR)],
        changes: &[
            (12 * MIN, Change::Hold),
            (15 * MIN, Change::GoOn),
            (40 * MIN, Change::Hold),
            (48 * MIN, Change::GoOn),
            (55 * MIN, Change::Capacity(800)),
        ],
        stay: Stay::LogNormal {
            median: 3 * MIN,
            sigma: 600,
        },
        ..PLAIN
    },
    Pattern {
        name: "rate lowered, then lifted",
        room: Room {
            capacity: 3_000,
            rate_per_minute: Some(500),
            ..PLAIN.room
        },
        visitors: 26_000,
        arrivals: &[arrive(1_000, Spike, 0, 50 * MIN)],
        leaving: Leaving::ByPlace {
            share: 500,
            mean: HOUR,
            at: 8_000,
        },
        changes: &[(15 * MIN, Change::Rate(Some(200))), (45 * MIN, Change::Rate(None))],
        no_show: 50,
        ..PLAIN
    },
    Pattern {
        name: "follows a shop that stops twice",
        room: Room {
            capacity: 900,
            follows: Some(250),
            ..PLAIN.room
        },
        visitors: 3_600,
        arrivals: &[arrive(500, AtOnce, 0, 0), arrive(500, Even, 0, 30 * MIN)],
        leaving: Leaving::Steady {
            share: 200,
            mean: 40 * MIN,
        },
        changes: &[
            (12 * MIN, Change::ShopStops),
            (15 * MIN, Change::ShopIsBack),
            (40 * MIN, Change::ShopStops),
            (50 * MIN, Change::ShopIsBack),
        ],
        stay: Stay::Exponential { mean: 2 * MIN },
        ..PLAIN
    },
    Pattern {
        name: "four lanes, bots in one way or another",
        room: Room {
            capacity: 360,
            session: 3 * MIN,
            lanes: &[(1, 450), (1, 250), (4, 200), (10, 100)],
            ..PLAIN.room
        },
        visitors: 8_500,
        arrivals: &[arrive(1_000, Wave, 0, 70 * MIN)],
        bots: Bots {
            never: 120,
            stay: 0,
            at: &[10 * MIN, 30 * MIN],
        },
        leaving: Leaving::ByPlace {
            share: 300,
            mean: 30 * MIN,
            at: 1_500,
        },
        ..PLAIN
    },
    Pattern {
        name: "a slow rate, half a day",
        room: Room {
            capacity: 5_000,
            rate_per_minute: Some(12),
            call_every: MIN,
            session: 20 * MIN,
            ..PLAIN.room
        },
        visitors: 9_000,
        arrivals: &[arrive(400, Wave, 0, 6 * HOUR), arrive(600, Rising, 4 * HOUR, 8 * HOUR)],
        leaving: Leaving::Steady {
            share: 400,
            mean: 90 * MIN,
        },
        no_show: 150,
        step: 2 * SEC,
        watched: 600,
        ..PLAIN
    },
    Pattern {
        name: "half of the crowd leaves, then fewer slots",
        room: Room {
            capacity: 15_000,
            ..PLAIN.room
        },
        visitors: 75_000,
        arrivals: &[arrive(300, Spike, 0, 5 * MIN), arrive(700, Rising, 0, 30 * MIN)],
        leaving: Leaving::ByWait {
            share: 700,
            median: 30 * MIN,
            sigma: 500,
        },
        stay: Stay::Bimodal {
            short: 2 * MIN,
            long: 15 * MIN,
            share: 350,
        },
        changes: &[(22 * MIN, Change::Capacity(9_000))],
        say_so: 250,
        watched: 2_000,
        ..PLAIN
    },
];
