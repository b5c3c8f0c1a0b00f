//! The source of the number of calls: a fixed rate, or the real room with its controller.

use ropeline::room::{
    Batch, Change, Claim, End, Entry, GateId, LaneId, LineName, LoadControl, LoadView, Number, Report, RoomChange,
    RoomName, Section, Settings, State, Wall,
};

use crate::course::SECOND_US;
use crate::world::{Door, TICK_US, Told};

/// A fixed number of calls per second.
pub struct Fixed {
    calls_milli: u64,
    parts: u64,
}

impl Fixed {
    pub fn new(calls_milli: u64) -> Self {
        Self { calls_milli, parts: 0 }
    }
}

impl Door for Fixed {
    fn call(&mut self, _: &Told, _: &mut dyn FnMut() -> Report, _: u64) -> u64 {
        self.parts += self.calls_milli * TICK_US;
        let whole = 1_000 * SECOND_US;
        let calls = self.parts / whole;
        self.parts %= whole;
        calls
    }
}

/// The room, with one gate that says what happens every quarter of a second, and reports every two seconds.
pub struct Room {
    pub state: State,
    serial: u64,
    calls: u64,
    joined: u64,
    first: Option<Number>,
    settings: Option<Settings>,
    /// The ends of visits are reported to the room.
    hears_ends: bool,
    /// Its allowance, and the reason, at each report.
    pub told: Vec<(u64, LoadView)>,
}

/// As many as are waiting at least, and as many as join at once.
const CROWD: u64 = 5_000;

/// Ticks from one report to the next.
const REPORT_TICKS: u64 = 8;

const DAY_MS: u64 = 86_400_000;

impl Room {
    /// With a time for sessions they end by that alone.
    pub fn new(load_control: LoadControl, session_ms: Option<u64>) -> Self {
        let settings = Settings {
            capacity: 2_000,
            claim_deadline_ms: 20_000,
            session_ms: session_ms.unwrap_or(DAY_MS),
            session_max_ms: session_ms.unwrap_or(DAY_MS),
            grace_ms: DAY_MS,
            firm_within_ms: DAY_MS,
            load_control: Some(load_control),
            ..Settings::default()
        };
        Self {
            state: State::empty(1_000),
            serial: 0,
            calls: 0,
            joined: 0,
            first: None,
            settings: Some(settings),
            hears_ends: session_ms.is_none(),
            told: Vec::new(),
        }
    }

    fn number(&self, visitor: u64) -> Number {
        let first = self.first.unwrap();
        Number {
            n: first.n + u32::try_from(visitor).unwrap(),
            ..first
        }
    }

    fn section(&self, told: &Told) -> Section {
        let lane = LaneId(0);
        let claim = |visitor: &u64| Claim {
            lane,
            number: self.number(*visitor),
            carried: true,
        };
        let end = |visitor: &u64| End {
            lane,
            number: self.number(*visitor),
            after_ms: 0,
        };
        let wanted = self.calls + CROWD > self.joined;
        Section {
            claims: told.came.iter().map(claim).collect(),
            ends: told.left.iter().filter(|_| self.hears_ends).map(end).collect(),
            joins: wanted
                .then_some((lane, u32::try_from(CROWD).unwrap()))
                .into_iter()
                .collect(),
            ..Section::new(name(), LineName::ONLY)
        }
    }

    fn batch(&mut self, told: &Told, report: &mut dyn FnMut() -> Report) -> Batch {
        let configure = self.settings.take().map(|settings| RoomChange {
            room: name(),
            revision: 1,
            change: Change::Configure(settings),
            who: None,
        });
        let reports = self.serial.is_multiple_of(REPORT_TICKS);
        Batch {
            hello: configure.is_some(),
            knows: self.state.version(),
            rooms: configure.into_iter().collect(),
            sections: vec![self.section(told)],
            load: reports.then(|| (name(), report())).into_iter().collect(),
            ..Batch::default()
        }
    }
}

impl Door for Room {
    fn call(&mut self, told: &Told, report: &mut dyn FnMut() -> Report, now_us: u64) -> u64 {
        self.serial += 1;
        let at = self.state.position();
        let entry = Entry {
            position: ropeline::room::Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(7),
            serial: self.serial,
            previous: self.state.nonce(),
            nonce: self.serial.to_le_bytes(),
            time: Wall(1_000_000 + now_us / 1_000),
            version: self.state.version(),
            batch: self.batch(told, report),
        };
        let effects = self.state.apply(&entry.into());
        assert_eq!((effects.ignored, effects.skipped), (false, 0), "at {now_us}");
        if let Some(joined) = effects.joined.first() {
            self.joined += u64::from(joined.count);
            self.first = self.first.or(joined.first);
        }
        let view = self.state.view();
        let room = &view.rooms[&name()];
        if self.serial.is_multiple_of(REPORT_TICKS) {
            self.told.push((now_us, room.load.clone().unwrap()));
        }
        let calls = room.lines.get(&LineName::ONLY).map_or(0, |line| line.figures.calls);
        let new = calls - self.calls;
        self.calls = calls;
        new
    }
}

fn name() -> RoomName {
    RoomName::new("shop").unwrap()
}
