//! A flood of joins that carry no cookie, from a hundred networks, on virtual time: its cost for an honest visitor, and the
//! flood's cost of a place, with the default limits of joins and without any.

use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::FakeRelativeClock;
use ropeline::config::{Config, Overrides, OwnLimits, Rate};
use ropeline::limit::{ClientKey, Limiter, RefusedBy, Together};
use ropeline::room::{
    Batch, Change, Claim, Encoded, Entry, GateId, LaneId, LineName, Number, Position, RoomChange, RoomName, Section,
    Settings, Standing, State, VERSION, View, Visitor, Wall,
};

const LANE: LaneId = LaneId(0);
/// Milliseconds of one entry.
const TICK_MS: u64 = 250;
const MINUTE_MS: u64 = 60_000;

/// The judged flood: so many joins a minute, from so many networks (/24) in as many wider ones.
const FLOOD_A_MINUTE: u64 = 100_000;
const NETWORKS: u64 = 100;
/// As many joins from fewer networks, which the limits as shipped do bound.
const FEW_NETWORKS: u64 = 20;
/// Addresses that the flood has in each of them.
const ADDRESSES: u64 = 200;
const FLOOD: std::ops::Range<u64> = MINUTE_MS..4 * MINUTE_MS;
const END: u64 = 6 * MINUTE_MS;

/// Calls a minute, and as many honest visitors: a line forms of the visitors ahead of them.
const CALLS_A_MINUTE: u32 = 600;
/// Over `firm_within`: what an entry and the room's own step add.
const SLACK_MS: u64 = 2_000;
/// How long an honest visitor stays inside.
const STAY_MS: u64 = 30_000;

/// Joins within the limits of a gate.
struct Door {
    join: Limiter<FakeRelativeClock>,
    network: Limiter<FakeRelativeClock>,
    wide: Limiter<FakeRelativeClock>,
    together: Together,
    own: OwnLimits,
}

impl Door {
    fn new(own: OwnLimits, clock: &FakeRelativeClock) -> Self {
        let limiter = |rate: Rate| {
            let window = Duration::from_millis(rate.window_ms);
            Limiter::with_clock(rate.requests, window, own.clients, clock.clone())
        };
        Self {
            join: limiter(own.join),
            network: limiter(own.join_network),
            wide: limiter(own.join_wide),
            together: Together::default(),
            own,
        }
    }

    /// As the gate does it.
    fn join(&self, room: &RoomName, client: IpAddr) -> Result<(), RefusedBy> {
        let (network, wide) = (self.own.join_network_prefix, self.own.join_wide_prefix);
        self.together.check(&[
            (&self.join, client.into()),
            (&self.network, ClientKey::within(room, client, network)),
            (&self.wide, ClientKey::within(room, client, wide)),
        ])
    }
}

/// An honest visitor: keeps the ticket, checks in, comes when called.
struct Person {
    number: Number,
    joined_at: u64,
    /// Firm numbers of the flood that stood ahead at the join.
    flood_ahead: u64,
    /// Calls that the flood had had by the join.
    flood_called: u64,
}

struct World {
    state: State,
    view: Arc<View>,
    room: RoomName,
    now: u64,
    serial: u64,
    waiting: VecDeque<Person>,
    inside: VecDeque<(u64, Number)>,
    /// Numbers of the flood that count as present unless they were called: when, first and how many.
    firm: VecDeque<(u64, Number, u64)>,
    tally: Tally,
}

#[derive(Default, Debug)]
struct Tally {
    attempts: u64,
    numbered: u64,
    flood_called: u64,
    /// The flood's numbers that were firm in its last moment.
    firm: u64,
    people: u64,
    /// The longest that an honest visitor waited, and the most calls of the flood meanwhile.
    longest_ms: u64,
    passed_by: u64,
}

impl World {
    fn new() -> Self {
        let room = RoomName::new("shop").unwrap();
        let settings = Settings {
            capacity: 10_000,
            rate_per_minute: Some(CALLS_A_MINUTE),
            ..Settings::default()
        };
        let mut state = State::empty(1_000);
        let mut world = Self {
            view: state.view(),
            state,
            room: room.clone(),
            now: 0,
            serial: 0,
            waiting: VecDeque::new(),
            inside: VecDeque::new(),
            firm: VecDeque::new(),
            tally: Tally::default(),
        };
        let change = Change::Configure(settings);
        let rooms = vec![RoomChange {
            room,
            revision: 1,
            change,
            who: None,
        }];
        world.say(Batch {
            rooms,
            ..Batch::default()
        });
        world
    }

    fn say(&mut self, batch: Batch) -> Option<Number> {
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
            time: Wall(1_800_000_000_000 + self.now),
            version: self.state.version(),
            batch: Batch {
                hello: true,
                knows: VERSION,
                ..batch
            },
        };
        let effects = self.state.apply(&Encoded::decode(entry.encode()).unwrap());
        assert!(!effects.ignored);
        self.view = self.state.view();
        effects.joined.first().and_then(|joined| joined.first)
    }

    /// A quarter of a second: `flood` and `people` join, in this order, which is the worst for the people.
    fn tick(&mut self, flood: u64, people: u64) {
        let mut section = Section::new(self.room.clone(), LineName::ONLY);
        let count = u32::try_from(flood + people).unwrap();
        section.joins = vec![(LANE, count)];
        section.marks = self
            .waiting
            .iter()
            .filter(|person| (self.now - person.joined_at) % MINUTE_MS == 1_000)
            .map(|person| (LANE, person.number))
            .collect();
        section.claims = self.come_in();
        section.leaves = self.go();
        let first = self
            .say(Batch {
                sections: vec![section],
                ..Batch::default()
            })
            .filter(|_| count > 0);
        if let Some(first) = first {
            if flood > 0 {
                self.firm.push_back((self.now, first, flood));
            }
            self.seat(first, flood, people);
        }
        self.judge();
        self.now += TICK_MS;
    }

    fn seat(&mut self, first: Number, flood: u64, people: u64) {
        let from = first.n + u32::try_from(flood).unwrap();
        let flood_ahead = self.firm.iter().map(|(.., count)| count).sum();
        self.waiting
            .extend((0..u32::try_from(people).unwrap()).map(|next| Person {
                number: Number {
                    n: from + next,
                    ..first
                },
                joined_at: self.now,
                flood_ahead,
                flood_called: self.tally.flood_called,
            }));
        self.tally.people += people;
        self.tally.numbered += flood;
    }

    fn standing(&self, number: Number) -> Standing {
        let visitor = Visitor {
            room: self.room.clone(),
            line: LineName::ONLY,
            lane: LANE,
            number,
            rehearsal: None,
        };
        self.view.standing(&visitor, self.view.clock)
    }

    /// Every called honest visitor comes in at the next entry.
    fn come_in(&mut self) -> Vec<Claim> {
        let mut claims = Vec::new();
        while let Some(person) = self.waiting.front() {
            if !matches!(self.standing(person.number), Standing::Called(_)) {
                break;
            }
            let passed_by = self.tally.flood_called - person.flood_called;
            assert!(
                passed_by <= person.flood_ahead,
                "{passed_by} of the flood were called before somebody with {} firm ones ahead",
                person.flood_ahead
            );
            self.tally.passed_by = self.tally.passed_by.max(passed_by);
            self.tally.longest_ms = self.tally.longest_ms.max(self.now - person.joined_at);
            claims.push(Claim {
                lane: LANE,
                number: person.number,
                carried: true,
            });
            self.inside.push_back((self.now + STAY_MS, person.number));
            self.waiting.pop_front();
        }
        claims
    }

    fn go(&mut self) -> Vec<(LaneId, Number)> {
        let gone = self.inside.iter().take_while(|(at, _)| *at <= self.now).count();
        self.inside.drain(..gone).map(|(_, number)| (LANE, number)).collect()
    }

    /// Everybody's place is the people ahead and those numbers of the flood that are firm; nothing older counts.
    fn judge(&mut self) {
        let firm_ms = Settings::default().firm_within_ms + SLACK_MS;
        while self.firm.front().is_some_and(|(at, ..)| at + firm_ms < self.now) {
            self.firm.pop_front();
        }
        let figures = self.view.rooms[&self.room].lines[&LineName::ONLY].figures;
        let called = |person: &&Person| matches!(self.standing(person.number), Standing::Called(_));
        let just = self.waiting.iter().take_while(called).count();
        let honest = self.tally.people - u64::try_from(self.waiting.len() - just).unwrap();
        self.tally.flood_called = figures.calls - honest;
        if self.now < FLOOD.end {
            self.tally.firm = self.firm.iter().map(|(.., count)| count).sum();
        }
        for (ahead_of_them, person) in self.waiting.iter().skip(just).enumerate() {
            let Standing::Waiting(waiting) = self.standing(person.number) else {
                panic!("an honest visitor is not in line");
            };
            let before =
                |(_, first, count): &&(u64, Number, u64)| first.n + u32::try_from(*count).unwrap() <= person.number.n;
            let firm: u64 = self.firm.iter().filter(before).map(|(.., count)| count).sum();
            let people = u64::try_from(ahead_of_them).unwrap();
            assert!(waiting.present && waiting.ahead >= people);
            assert!(
                waiting.ahead <= people + firm,
                "at {} ms {} stand ahead: {people} people and at most {firm} firm numbers",
                self.now,
                waiting.ahead
            );
        }
    }
}

fn own_limits() -> OwnLimits {
    let shop = Overrides::none().text("upstream.url", "--upstream", "http://127.0.0.1:3000");
    Config::load(None, &shop).unwrap().own_limits
}

/// Everybody's joins in order of time; the flood's pass the door, where there is one.
fn run(flood_a_minute: u64, networks: u64, own: Option<OwnLimits>) -> Tally {
    let clock = FakeRelativeClock::default();
    let door = own.map(|own| Door::new(own, &clock));
    let mut world = World::new();
    let (mut owed, mut serial) = (0, 0);
    while world.now < END {
        let mut flood = 0;
        if FLOOD.contains(&world.now) {
            owed += flood_a_minute * TICK_MS;
            while owed >= MINUTE_MS {
                owed -= MINUTE_MS;
                serial += 1;
                world.tally.attempts += 1;
                flood += u64::from(
                    door.as_ref()
                        .is_none_or(|door| door.join(&world.room, bot(serial, networks)).is_ok()),
                );
            }
        }
        // Eight a second: nine tenths of the calls would be theirs alone.
        let people = if world.now < 5 * MINUTE_MS { 2 } else { 0 };
        world.tick(flood, people);
        clock.advance(Duration::from_millis(TICK_MS));
    }
    assert!(
        world.waiting.is_empty(),
        "{} people are never called",
        world.waiting.len()
    );
    world.tally
}

/// The address that the flood's next join comes from: network by network, and in each address by address.
fn bot(serial: u64, networks: u64) -> IpAddr {
    let network = u8::try_from(serial % networks).unwrap();
    let host = u8::try_from(serial / networks % ADDRESSES).unwrap();
    IpAddr::from([100, network, 7, host])
}

/// The rule is asserted at every entry, above: at most one place for each firm number. This test checks the consequences.
#[test]
fn a_flood_without_cookies_delays_people_by_its_firm_numbers_and_no_longer() {
    let quiet = run(0, NETWORKS, None);
    let before = run(FLOOD_A_MINUTE, NETWORKS, None);
    let after = run(FLOOD_A_MINUTE, NETWORKS, Some(own_limits()));
    let narrow = run(FLOOD_A_MINUTE, FEW_NETWORKS, Some(own_limits()));
    for (name, tally) in [
        ("quiet", &quiet),
        ("without limits", &before),
        ("with limits", &after),
        ("with limits, from few networks", &narrow),
    ] {
        println!("{name}: {tally:?}");
    }
    assert_eq!((quiet.flood_called, quiet.passed_by), (0, 0));
    assert_eq!(before.numbered, before.attempts);
    let firm_ms = Settings::default().firm_within_ms;
    assert_eq!(
        after.numbered, after.attempts,
        "it stays within what carriers' customers are allowed"
    );
    // A network's burst, and the joins regained in three minutes.
    let (burst, a_second) = bound(own_limits().join_network);
    let most = FEW_NETWORKS * (burst + a_second * (FLOOD.end - FLOOD.start) / 1_000);
    assert!(
        narrow.numbered <= most && narrow.numbered < narrow.attempts / 2,
        "{narrow:?}"
    );
    let firm = FEW_NETWORKS * (a_second * (firm_ms + SLACK_MS + TICK_MS) / 1_000 + 1);
    assert!(narrow.firm <= firm, "{narrow:?}");
    for tally in [&before, &after, &narrow] {
        // A waiting visitor is called as soon as the numbers ahead are not firm any more.
        assert!(tally.longest_ms <= quiet.longest_ms + firm_ms + SLACK_MS, "{tally:?}");
        let calls = u64::from(CALLS_A_MINUTE) * (firm_ms + SLACK_MS) / MINUTE_MS;
        assert!(tally.passed_by <= calls, "{tally:?}");
    }
}

/// How many of a rate join at once, and how many come back a second.
fn bound(rate: Rate) -> (u64, u64) {
    let burst = u64::from(rate.requests.get());
    (burst, burst * 1_000 / rate.window_ms)
}

/// One carrier's /24: so many people at one opening, by as many to an address as its ports allow.
const BEHIND_A_CARRIER: u64 = 5_000;
/// A refused page comes again after 4 to 11 s, each by chance of its own; here by its number.
const AGAIN_MS: std::ops::Range<u64> = 4_000..12_000;

/// The statement of `docs/guides/bots.md` about a crowd behind a carrier's NAT.
#[test]
fn a_crowd_behind_one_network_waits_as_long_as_its_bound_takes_and_no_longer() {
    let clock = FakeRelativeClock::default();
    let door = Door::new(own_limits(), &clock);
    let room = RoomName::new("shop").unwrap();
    let mut coming: BTreeSet<(u64, u64)> = (0..BEHIND_A_CARRIER).map(|person| (0, person)).collect();
    let (mut now, mut tries, mut at_once) = (0, 0, 0);
    while let Some((at, person)) = coming.pop_first() {
        clock.advance(Duration::from_millis(at - now));
        now = at;
        tries += 1;
        let host = u8::try_from(person % 250).unwrap();
        match door.join(&room, IpAddr::from([203, 0, 113, host])) {
            Ok(()) => at_once += u64::from(now == 0),
            Err(refused) => {
                let again = AGAIN_MS.start + (person * 7_919 + tries * 104_729) % (AGAIN_MS.end - AGAIN_MS.start);
                let told = u64::try_from(refused.retry_after.as_millis()).unwrap();
                coming.insert((at + told.max(again), person));
            }
        }
    }
    let (burst, a_second) = bound(door.own.join_network);
    let at_best = (BEHIND_A_CARRIER - burst) * 1_000 / a_second;
    println!("{at_once} join at once, the last after {now} ms of {at_best}, with {tries} tries");
    assert_eq!(
        (at_once, at_best),
        (1_500, 140_000),
        "as docs/guides/bots.md says of the limits as shipped"
    );
    // Slots that were free without a join are not lost, as long as the burst holds them; the last waits for its own next try.
    assert!(
        (at_best..=at_best + AGAIN_MS.end).contains(&now),
        "{now} ms of {at_best}"
    );
}
