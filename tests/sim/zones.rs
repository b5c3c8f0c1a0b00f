//! Daily sales in four time zones over the days on which their clocks change, on virtual time.
//!
//! The test plays the gates' part: it adds the rule's next windows as the gate on turn adds them. The expected instants are
//! written out, computed from the zones' published changes and not from the calendar under test.

use ropeline::calendar::Plan;
use ropeline::room::{
    Batch, Change, Encoded, Entry, GateId, LaneId, LineName, Number, Phase, Position, RoomChange, RoomName, Schedule,
    Section, Settings, Standing, State, VERSION, Visitor, Wall,
};

const HOUR: u64 = 3_600_000;
const MINUTE: u64 = 60_000;

/// 2027-03-11T00:00:00Z: New York's clocks change on 14 March (07:00 UTC), Berlin's on the 28th (01:00 UTC), Sydney's on
/// 4 April (back, 16:00 UTC the day before), Seoul's never.
const START: u64 = 1_804_723_200_000;
const DAYS: u64 = 28;

/// A zone, and the hour of UTC at which it is 13:00 there before and after its change, which comes on that day of the run.
const ZONES: [(&str, u64, u64, u64); 4] = [
    ("Asia/Seoul", 4, 4, 99),
    ("Europe/Berlin", 12, 11, 17),
    ("America/New_York", 18, 17, 3),
    ("Australia/Sydney", 2, 3, 24),
];

/// Four rooms in one log, and the visitors of the sale under way in each.
struct World {
    state: State,
    time: u64,
    serial: u64,
    sales: Vec<Sale>,
}

#[derive(Default)]
struct Sale {
    waiting: Vec<Number>,
    opened: u64,
}

fn room(zone: usize) -> RoomName {
    RoomName::new(&format!("zone-{zone}")).unwrap()
}

fn rule(zone: &str) -> String {
    format!("prequeue_from = daily 12:30 {zone}; opens_at = daily 13:00 {zone}; closes_at = daily 15:00 {zone}")
}

fn settings(zone: &str) -> Settings {
    let plan = Plan::parse(&rule(zone)).unwrap();
    let schedule = Schedule {
        rule: plan.to_string(),
        windows: plan.windows(Wall(START), 4),
    };
    Settings {
        capacity: 2,
        schedule: Some(schedule),
        ..Settings::default()
    }
}

/// The phase at an instant, by the table above.
fn expected(zone: usize, time: u64) -> Phase {
    let (_, before, after, change) = ZONES[zone];
    let day = (time - START) / (24 * HOUR);
    let opens = START + day * 24 * HOUR + HOUR * if day >= change { after } else { before };
    match time {
        at if (opens - 30 * MINUTE..opens).contains(&at) => Phase::Prequeue,
        at if (opens..opens + 2 * HOUR).contains(&at) => Phase::Open,
        _ => Phase::Early,
    }
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            state: State::empty(1_000),
            time: START,
            serial: 0,
            sales: ZONES.map(|_| Sale::default()).into(),
        };
        let configure = |(zone, (name, ..)): (usize, &(&str, u64, u64, u64))| RoomChange {
            room: room(zone),
            revision: 1,
            change: Change::Configure(settings(name)),
            who: None,
        };
        world.say(Batch {
            hello: true,
            knows: VERSION,
            rooms: ZONES.iter().enumerate().map(configure).collect(),
            ..Batch::default()
        });
        world
    }

    fn say(&mut self, batch: Batch) -> Vec<Option<Number>> {
        self.serial += 1;
        let at = self.state.position();
        let entry = Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(1),
            serial: self.serial,
            previous: self.state.nonce(),
            nonce: self.serial.to_le_bytes(),
            time: Wall(self.time),
            version: self.state.version(),
            batch: Batch {
                // A gate that was quiet for a minute says hello again.
                hello: true,
                knows: VERSION,
                ..batch
            },
        };
        let effects = self.state.apply(&Encoded::decode(entry.encode()).unwrap());
        assert!(!effects.ignored);
        effects.joined.iter().map(|joined| joined.first).collect()
    }

    /// The windows that the gate on turn adds.
    fn plan(&mut self) {
        let now = Wall(self.time);
        let next = self.state.schedules().map(|(room, schedule)| RoomChange {
            room: room.clone(),
            revision: 1 + self.serial,
            change: Change::Windows {
                rule: schedule.rule.clone(),
                windows: Plan::parse(&schedule.rule).unwrap().windows(now, 4),
            },
            who: None,
        });
        let rooms = next.collect();
        self.say(Batch {
            rooms,
            ..Batch::default()
        });
    }

    /// One visitor comes to each room; waiting visitors are checked.
    fn visit(&mut self) {
        for zone in 0..ZONES.len() {
            let phase = expected(zone, self.time);
            let mut section = Section::new(room(zone), LineName::ONLY);
            section.joins = vec![(LaneId(0), 1)];
            section.marks = self.sales[zone]
                .waiting
                .iter()
                .map(|number| (LaneId(0), *number))
                .collect();
            let sections = vec![section];
            let joined = self.say(Batch {
                sections,
                ..Batch::default()
            })[0];
            assert_eq!(joined.is_some(), phase != Phase::Early, "zone {zone} at {}", self.time);
            self.sales[zone].waiting.extend(joined);
        }
    }

    fn judge(&mut self) {
        let view = self.state.view();
        for (zone, (name, ..)) in ZONES.iter().enumerate() {
            let of = &view.rooms[&room(zone)];
            let (phase, wanted) = (of.stage.unwrap().phase, expected(zone, self.time));
            assert_eq!(phase, wanted, "{name} at {}", self.time);
            let sale = &mut self.sales[zone];
            if phase == Phase::Early {
                sale.waiting.clear();
                continue;
            }
            let figures = of.lines[&LineName::ONLY].figures;
            assert!(figures.called + figures.inside <= 2, "more than there are slots");
            let called = |number: &Number| {
                let visitor = Visitor {
                    room: room(zone),
                    line: LineName::ONLY,
                    lane: LaneId(0),
                    number: *number,
                    rehearsal: None,
                };
                !matches!(view.standing(&visitor, view.clock), Standing::Waiting(waiting) if waiting.missed_at.is_none())
            };
            let called: Vec<bool> = sale.waiting.iter().map(called).collect();
            assert!(
                phase == Phase::Open || called.iter().all(|called| !called),
                "called before the opening"
            );
            assert!(
                called.is_sorted_by(|a, b| a >= b),
                "called out of the order of arrival: {called:?}"
            );
            sale.opened += u64::from(phase == Phase::Open && called.iter().any(|called| *called));
        }
    }
}

#[test]
fn daily_sales_in_four_zones_keep_their_hours_over_changes_of_the_clock() {
    let mut world = World::new();
    while world.time < START + DAYS * 24 * HOUR {
        world.visit();
        world.judge();
        if world.time.is_multiple_of(HOUR) {
            world.plan();
        }
        world.time += 10 * MINUTE;
    }
    let view = world.state.view();
    for (zone, sale) in world.sales.iter().enumerate() {
        // Sydney's first sale of the run, and whichever is under way at its start, are counted with the rest.
        let editions = u64::from(view.rooms[&room(zone)].edition.0);
        assert_eq!(editions, DAYS, "one edition a sale in {}", ZONES[zone].0);
        assert!(sale.opened >= DAYS, "somebody was called in each: {}", sale.opened);
    }
    let again = State::decode(&world.state.encode()).unwrap();
    assert_eq!(again.hash(), world.state.hash());
}
