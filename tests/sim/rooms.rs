//! The one room of the simulation, with durations short enough that everything happens often.

use std::cell::Cell;

use anteroom::room::{Drawing, LaneId, LineName, Number, RoomName, Schedule, Settings, Visitor, Wall, Window};

pub const LANE: LaneId = LaneId(0);
pub const CAPACITY: u32 = 12;
/// How much longer than their pass a gate that is cut off lets visitors go on.
pub const OUTAGE_EXTENSION_MS: u64 = 20_000;

pub fn room() -> RoomName {
    RoomName::new("shop").unwrap()
}

thread_local! {
    static OPENS_AT: Cell<Option<u64>> = const { Cell::new(None) };
    static STOCK: Cell<Option<u32>> = const { Cell::new(None) };
}

/// In the runs of this thread from now on the line forms until the store's clock is there, and is drawn then.
pub fn draw_at(opens_ms: Option<u64>) {
    OPENS_AT.set(opens_ms);
}

/// In the runs of this thread from now on so many pieces are sold.
pub fn sell(stock: Option<u32>) {
    STOCK.set(stock);
}

fn sale(opens_ms: u64) -> Schedule {
    let window = Window {
        begins: Wall(1),
        opens: Wall(opens_ms),
        closes: None,
        results: None,
    };
    Schedule {
        rule: format!("opens at {opens_ms}"),
        windows: vec![window],
    }
}

/// Claim 10 s, session 20 s of at most 100 s, grace 40 s, firm 6 s, late 60 s.
pub fn settings() -> Settings {
    Settings {
        capacity: CAPACITY,
        claim_deadline_ms: 10_000,
        session_ms: 20_000,
        session_max_ms: 100_000,
        grace_ms: 40_000,
        firm_within_ms: 6_000,
        late_window_ms: 60_000,
        schedule: OPENS_AT.get().map(sale),
        draw: OPENS_AT.get().map(|_| Drawing { beacon: None }),
        stock: STOCK.get(),
        ..Settings::default()
    }
}

pub fn configured() -> Vec<(RoomName, Settings)> {
    vec![(room(), settings())]
}

pub fn visitor(number: Number) -> Visitor {
    Visitor {
        room: room(),
        line: LineName::ONLY,
        lane: LANE,
        number,
    }
}
