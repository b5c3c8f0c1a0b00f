//! The one room of the simulation, with durations short enough that everything happens often.

use std::cell::Cell;
use std::sync::Arc;

use ropeline::calendar::Plan;
use ropeline::room::{
    ActiveSlots, Drawing, LaneId, LineName, LineView, LoadControl, Number, RoomName, Schedule, Settings, View, Visitor,
    Wall, Window,
};

use crate::codes;

pub const LANE: LaneId = LaneId(0);
pub const CAPACITY: u32 = 12;
/// How much longer than their pass a gate that is cut off lets visitors go on.
pub const OUTAGE_EXTENSION_MS: u64 = 20_000;

pub fn room() -> RoomName {
    RoomName::new("shop").unwrap()
}

/// The kind of sale of a run's room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sale {
    /// The line forms from the start, and is drawn when the store's clock is there.
    DrawnAt(u64),
    /// A rule that recurs.
    Recurring(&'static str),
}

thread_local! {
    static SALE: Cell<Option<Sale>> = const { Cell::new(None) };
    static STOCK: Cell<Option<u32>> = const { Cell::new(None) };
    static CODES: Cell<bool> = const { Cell::new(false) };
    static ADMISSION: Cell<Option<LoadControl>> = const { Cell::new(None) };
    static ACCOUNTS: Cell<bool> = const { Cell::new(false) };
    static ACTIVE: Cell<Option<ActiveSlots>> = const { Cell::new(None) };
}

/// A run begins.
pub fn go_by(sale: Option<Sale>) {
    SALE.set(sale);
}

/// There is a room beside that visitors come to by codes, or is none.
pub fn take_codes(on: bool) {
    CODES.set(on);
}

/// The room follows what its shop can take.
pub fn follow(admission: Option<LoadControl>) {
    ADMISSION.set(admission);
}

/// Sells this many pieces.
pub fn sell(stock: Option<u32>) {
    STOCK.set(stock);
}

/// The room parks sessions that are not in use.
pub fn park(active: Option<ActiveSlots>) {
    ACTIVE.set(active);
}

pub fn active() -> Option<ActiveSlots> {
    ACTIVE.get()
}

/// In the runs of this thread from now on every visitor has an account, or none.
pub fn with_accounts(on: bool) {
    ACCOUNTS.set(on);
}

pub fn has_accounts() -> bool {
    ACCOUNTS.get()
}

impl Sale {
    /// As a gate works it out that starts `now`.
    fn schedule(self, now: Wall) -> Schedule {
        match self {
            Self::Recurring(rule) => Plan::parse(rule).expect("a rule").schedule(now),
            Self::DrawnAt(opens_ms) => Schedule {
                rule: format!("opens at {opens_ms}"),
                windows: vec![Window {
                    begins: Wall(1),
                    opens: Wall(opens_ms),
                    closes: None,
                    results: None,
                }],
            },
        }
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
        stock: STOCK.get(),
        load_control: ADMISSION.get(),
        active: ACTIVE.get(),
        ..Settings::default()
    }
}

/// The configuration of a gate that starts `now`.
pub fn configured(now: Wall) -> Vec<(RoomName, Settings)> {
    let sale = SALE.get();
    let settings = Settings {
        schedule: sale.map(|sale| sale.schedule(now)),
        draw: matches!(sale, Some(Sale::DrawnAt(_))).then_some(Drawing::default()),
        ..settings()
    };
    let codes = CODES.get().then(|| (codes::room(), codes::settings()));
    std::iter::once((room(), settings)).chain(codes).collect()
}

pub fn line(view: &View) -> Option<&Arc<LineView>> {
    view.rooms.get(&room())?.line(&LineName::ONLY)
}

pub fn visitor(number: Number) -> Visitor {
    Visitor {
        room: room(),
        line: LineName::ONLY,
        lane: LANE,
        number,
        rehearsal: None,
    }
}
