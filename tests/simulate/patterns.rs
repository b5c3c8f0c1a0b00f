//! The patterns against which estimates are measured: arrivals, behaviour, and events meanwhile.

use ropeline::room::{
    Bounds, Controller, LoadControl, Mode, NamedLane, Overrides, RoomName, Schedule, Settings, Wall, Window,
};
use ropeline::simulate::{Arrive, Claiming, Crowd, Plan, Stays, Upstream};

/// A name and what happens.
pub struct Pattern {
    pub name: &'static str,
    pub plan: Plan,
}

const MIN: u64 = 60_000;
const START: Wall = Wall(1_767_225_600_000);

/// All patterns by one seed.
pub fn all(seed: u64) -> Vec<Pattern> {
    let mut all = plain();
    all.extend(crowds());
    all.extend(changes());
    all.extend(rooms());
    all.extend(followed());
    for (at, pattern) in (0..).zip(&mut all) {
        pattern.plan.seed = seed.wrapping_mul(1_000).wrapping_add(at);
    }
    all
}

/// Patterns in which an operator or the shop makes a change that no visitor in line could foresee, and a crowd that the
/// estimate does not model: visitors who waited meanwhile were shown too much or too little.
pub const UNFORESEEN: [&str; 10] = [
    "sleepers",
    "sessions become longer",
    "sessions become shorter",
    "twice the slots on the way",
    "half the slots on the way",
    "held for five minutes",
    "no slots for five minutes",
    "a rate of 0 for five minutes",
    "a rate set on the way",
    "follows a shop that slows",
];

/// Two hundred slots, visits of two minutes with an end, and a crowd that comes and stays.
fn usual(name: &'static str) -> Pattern {
    let settings = Settings {
        capacity: 200,
        ..Settings::default()
    };
    Pattern {
        name,
        plan: Plan {
            room: RoomName::new("shop").expect("letters"),
            settings,
            end_grace_ms: Some(30_000),
            completes: true,
            return_wait_ms: 10_000,
            hold_ms: None,
            other_way: None,
            upstream: None,
            silences: Vec::new(),
            stampedes: Vec::new(),
            visitors: 3_000,
            arrive: Arrive::Spike,
            over_ms: 30 * MIN,
            crowd: Crowd::PATIENT,
            claiming: Claiming::AsPage,
            stays: Stays {
                mean_ms: vec![(0, 2 * MIN)],
                pages: 8,
            },
            changes: Vec::new(),
            lanes: Vec::new(),
            seed: 0,
            start: START,
            most_ms: 12 * 60 * MIN,
            step_ms: 250,
            probes: 300,
            gates: Vec::new(),
            notes: Vec::new(),
            script: Vec::new(),
        },
    }
}

fn with(name: &'static str, change: impl FnOnce(&mut Plan)) -> Pattern {
    let mut pattern = usual(name);
    change(&mut pattern.plan);
    pattern
}

fn plain() -> Vec<Pattern> {
    vec![
        usual("spike"),
        with("wave", |plan| plan.arrive = Arrive::Wave),
        with("steady", |plan| plan.arrive = Arrive::Steady),
        with("ramp", |plan| plan.arrive = Arrive::Ramp),
        with("bursts", |plan| plan.arrive = Arrive::Bursts),
        with("instant", |plan| plan.arrive = Arrive::Instant),
        with("hardly a line", |plan| {
            plan.arrive = Arrive::Steady;
            (plan.visitors, plan.over_ms) = (2_700, 30 * MIN);
        }),
        with("short visits", |plan| plan.stays.mean_ms = vec![(0, 30_000)]),
        with("long visits", |plan| {
            plan.stays.mean_ms = vec![(0, 10 * MIN)];
            plan.visitors = 1_500;
        }),
        with("ten slots", |plan| (plan.settings.capacity, plan.visitors) = (10, 150)),
    ]
}

fn crowds() -> Vec<Pattern> {
    vec![
        with("usual people", |plan| plan.crowd = Crowd::default()),
        with("dropouts", |plan| {
            plan.crowd.leave = 500;
            plan.crowd.patience_ms = 40 * MIN;
        }),
        with("late comers", |plan| plan.crowd.late = 200),
        with("no-shows", |plan| plan.crowd.no_show = 250),
        with("sleepers", |plan| plan.crowd.sleep = 400),
        with("nobody goes to the end", |plan| plan.crowd.finish = 0),
        with("bots", |plan| plan.crowd.bots = 50),
        with("two browsers", |plan| plan.crowd.tabs = 300),
    ]
}

fn changes() -> Vec<Pattern> {
    let to = |change: fn(&mut Overrides)| {
        let mut overrides = Overrides::default();
        change(&mut overrides);
        overrides
    };
    vec![
        with("sessions become longer", |plan| {
            plan.stays.mean_ms.extend([(12 * MIN, 3 * MIN), (24 * MIN, 4 * MIN)]);
        }),
        with("sessions become shorter", |plan| {
            plan.stays.mean_ms = vec![(0, 4 * MIN), (15 * MIN, 2 * MIN)];
        }),
        with("twice the slots on the way", |plan| {
            plan.changes = vec![(10 * MIN, to(|set| set.capacity = Some(400)))];
        }),
        with("half the slots on the way", |plan| {
            plan.changes = vec![(10 * MIN, to(|set| set.capacity = Some(100)))];
        }),
        with("held for five minutes", |plan| {
            plan.changes = vec![
                (15 * MIN, to(|set| set.mode = Some(Mode::Hold))),
                (20 * MIN, to(|set| set.mode = Some(Mode::Auto))),
            ];
        }),
        with("no slots for five minutes", |plan| {
            plan.changes = vec![
                (15 * MIN, to(|set| set.capacity = Some(0))),
                (20 * MIN, Overrides::default()),
            ];
        }),
        with("a rate of 0 for five minutes", |plan| {
            plan.changes = vec![
                (15 * MIN, to(|set| set.rate_per_minute = Some(Some(0)))),
                (20 * MIN, Overrides::default()),
            ];
        }),
        with("a rate set on the way", |plan| {
            plan.changes = vec![(10 * MIN, to(|set| set.rate_per_minute = Some(Some(40))))];
        }),
    ]
}

fn rooms() -> Vec<Pattern> {
    vec![
        with("by rate", |plan| {
            plan.settings.capacity = 100_000;
            plan.settings.rate_per_minute = Some(100);
        }),
        with("by rate, usual people", |plan| {
            plan.settings.capacity = 100_000;
            plan.settings.rate_per_minute = Some(100);
            plan.crowd = Crowd::default();
        }),
        with("by rate and slots", |plan| plan.settings.rate_per_minute = Some(80)),
        with("by rate and slots, usual people", |plan| {
            plan.settings.rate_per_minute = Some(60);
            plan.crowd = Crowd::default();
        }),
        with("usual people, long sessions", |plan| {
            plan.crowd = Crowd::default();
            plan.end_grace_ms = None;
        }),
        with("by rate, once a minute", |plan| {
            plan.settings.capacity = 100_000;
            plan.settings.rate_per_minute = Some(100);
            plan.settings.call_every_ms = MIN;
        }),
        with("an opening", |plan| {
            plan.arrive = Arrive::Steady;
            plan.over_ms = 20 * MIN;
            plan.settings.schedule = Some(Schedule {
                rule: "once".to_owned(),
                windows: vec![Window {
                    begins: START,
                    opens: START.plus(10 * MIN),
                    closes: None,
                    results: None,
                }],
            });
        }),
        with("lanes", |plan| {
            plan.settings.lane_weights = vec![1, 3];
            plan.settings.lanes = vec![NamedLane::new("everybody"), NamedLane::new("early")];
            plan.lanes = vec![300];
        }),
        with("a stock", |plan| {
            plan.settings.stock = Some(1_500);
            plan.most_ms = 60 * MIN;
        }),
    ]
}

/// Rooms that find out what their shop can take.
fn followed() -> Vec<Pattern> {
    let follows = |name, per_sec: &[(u64, u32)], change: fn(&mut Plan)| {
        let mut pattern = usual(name);
        let plan = &mut pattern.plan;
        let by = Controller::Adaptive(Bounds {
            p95_ms: 1_500,
            errors_permille: 50,
        });
        plan.settings.load_control = Some(LoadControl::by(by));
        plan.settings.capacity = 2_000;
        plan.upstream = Some(Upstream {
            per_sec: per_sec.to_vec(),
        });
        (plan.visitors, plan.over_ms) = (5_000, 5 * MIN);
        change(plan);
        pattern
    };
    vec![
        follows("follows its shop", &[(0, 60)], |_| ()),
        follows("follows its shop, steady", &[(0, 60)], |plan| {
            plan.arrive = Arrive::Steady;
            (plan.visitors, plan.over_ms) = (8_000, 15 * MIN);
        }),
        follows("follows its shop, usual people", &[(0, 60)], |plan| {
            plan.crowd = Crowd::default();
        }),
        follows("follows a small shop", &[(0, 15)], |plan| plan.visitors = 1_500),
        follows("follows a shop that slows", &[(0, 60), (10 * MIN, 30)], |_| ()),
    ]
}
