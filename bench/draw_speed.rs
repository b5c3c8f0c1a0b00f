//! The duration of a draw: making the order, every place of it both ways, and drawing a line of a room.
//!
//!     cargo run --release --example draw_speed

#![allow(clippy::disallowed_methods, reason = "a clock is what this is for")]

use std::time::Instant;

use ropeline::draw::{AdmissionOrder, Arrangement as _, Draw, Hash, Permutation};
use ropeline::room::{
    Batch, Change, Drawing, Edition, Entry, Epoch, Forms, GateId, LaneId, LineName, Number, Position, RoomChange,
    RoomName, Schedule, Section, Settings, State, VERSION, Wall, Window,
};

fn main() {
    println!(
        "{:>12} {:>12} {:>14} {:>14}",
        "drawn", "made in ms", "ns a place", "ns a number"
    );
    for count in [1_000, 1_000_000, 10_000_000, 100_000_000, u32::MAX] {
        measure(count);
    }
    println!("{:>12} {:>12} {:>14}", "in a room", "drawn in ms", "published in ms");
    for count in [1_000, 100_000, 1_000_000, 10_000_000] {
        draw_line(count);
    }
}

/// At most ten million places of it, evenly spread.
fn measure(count: u32) {
    let start = Instant::now();
    let order = Permutation::new(&[7; 32], count);
    let made = start.elapsed();
    let numbers = || (0..count).step_by(usize::try_from(count / 10_000_000).unwrap_or(1).max(1));
    let asked = u32::try_from(numbers().count()).unwrap_or(u32::MAX);
    let start = Instant::now();
    let places = numbers()
        .filter_map(|number| order.place(number))
        .fold(0_u32, u32::wrapping_add);
    let there = start.elapsed();
    let start = Instant::now();
    let back = numbers()
        .filter_map(|place| order.number(place))
        .fold(0_u32, u32::wrapping_add);
    let here = start.elapsed();
    println!(
        "{count:>12} {:>12.2} {:>14} {:>14}",
        made.as_secs_f64() * 1_000.0,
        (there / asked).as_nanos(),
        (here / asked).as_nanos(),
    );
    // Keeps the work from being left out.
    assert!(places != 1 || back != 1);
}

/// A room's line of visitors who all have checked in, from the entry that tells the secret to the view of it.
fn draw_line(count: u32) {
    let mut room = Room::new();
    let from = |start: u32, most: u32| start..count.min(start + most);
    for start in (0..count).step_by(100_000) {
        let joins = vec![(LANE, u32::try_from(from(start, 100_000).len()).unwrap_or(0))];
        room.say(1, None, vec![Section { joins, ..only() }]);
    }
    for start in (0..count).step_by(400_000) {
        let marks = from(start, 400_000)
            .map(|n| (LANE, Number { epoch: EPOCH, n }))
            .collect();
        room.say(1, None, vec![Section { marks, ..only() }]);
    }
    room.say(OPENS_MS, None, Vec::new());
    drop(room.state.view());
    let reveal = Change::Draw {
        edition: Edition(0),
        secret: SECRET,
        value: None,
    };
    let entry = room.entry(1, Some(reveal), Vec::new());
    let start = Instant::now();
    let effects = room.state.apply(&entry.into());
    let drawn = start.elapsed();
    let start = Instant::now();
    let view = room.state.view();
    let published = start.elapsed();
    assert_eq!(effects.skipped, 0, "the draw was made");
    assert!(view.rooms[&name()].sale.made.is_some());
    let ms = [drawn, published].map(|time| time.as_secs_f64() * 1_000.0);
    println!("{count:>12} {:>12.2} {:>14.2}", ms[0], ms[1]);
}

/// One gate's log of a room whose line forms and is drawn.
struct Room {
    state: State,
    time: u64,
    serial: u64,
}

impl Room {
    fn new() -> Self {
        let mut room = Self {
            state: State::empty(EPOCH.0),
            time: 1_000,
            serial: 0,
        };
        let window = Window {
            begins: Wall(1),
            opens: Wall(OPENS_MS),
            closes: None,
            results: None,
        };
        let forms = Forms::of(&window);
        let settings = Settings {
            capacity: 100,
            schedule: Some(Schedule {
                rule: "the rule".to_owned(),
                windows: vec![window],
            }),
            draw: Some(Drawing::default()),
            ..Settings::default()
        };
        room.say(0, Some(Change::Configure(settings)), Vec::new());
        let draw = Draw {
            order: AdmissionOrder::default(),
            room: "shop",
            line: "",
            edition: 0,
            lane: 0,
            begins_ms: forms.begins.0,
            opens_ms: forms.opens.0,
            closed_ms: 0,
            count: 0,
            secret: SECRET,
            beacon: None,
        };
        let promise = Change::Commit {
            edition: Edition(0),
            order: draw.order,
            beacon: None,
            forms,
            salt: [1; 16],
            commitment: draw.commitment(),
        };
        room.say(1, Some(promise), Vec::new());
        room
    }

    fn say(&mut self, ms: u64, change: Option<Change>, sections: Vec<Section>) {
        let entry = self.entry(ms, change, sections);
        let effects = self.state.apply(&entry.into());
        assert_eq!(effects.skipped, 0);
    }

    fn entry(&mut self, ms: u64, change: Option<Change>, sections: Vec<Section>) -> Entry {
        self.time += ms;
        self.serial += 1;
        let at = self.state.position();
        let word = |change| RoomChange {
            room: name(),
            revision: self.serial,
            change,
            who: None,
        };
        Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(1),
            serial: self.serial,
            previous: [0; 8],
            nonce: [0; 8],
            time: Wall(self.time),
            version: VERSION,
            batch: Batch {
                hello: self.serial == 1,
                knows: VERSION,
                rooms: change.map(word).into_iter().collect(),
                sections,
                ..Batch::default()
            },
        }
    }
}

fn name() -> RoomName {
    RoomName::new("shop").expect("a plain name")
}

fn only() -> Section {
    Section::new(name(), LineName::ONLY)
}

const LANE: LaneId = LaneId(0);
const EPOCH: Epoch = Epoch(1_000);
const SECRET: Hash = Hash([0x5a; 32]);
const OPENS_MS: u64 = 1_000_000;
