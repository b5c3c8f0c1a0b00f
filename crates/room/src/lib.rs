//! The room: a deterministic state machine over the log. No I/O, no clock, no randomness, no floats, no unordered iteration;
//! total, so that no content of a log can make it panic.
//!
//! From the outside in: `state` applies an `entry` of the log and passes it to its parts: roster, versions, checkpoints,
//! `recovery` after a lost log, and the rooms. A `room` has its settings, schedule and draw, and keeps its lines; it wakes
//! the lines that have something due. A `line` records events (`events`) and calls visitors (`calling`). A `lane` has numbers
//! (`epoch`), present visitors (`presence`, over `bits`), and held slots (`slots`). The request path reads `view`.
//!
//! ```
//! use ropeline_room::{Batch, Change, Entry, GateId, Position, RoomChange, RoomName, Settings, State, VERSION, Wall};
//!
//! let room = RoomName::new("shop").expect("letters");
//! let mut state = State::empty(7);
//! let configured = RoomChange { room: room.clone(), revision: 1, change: Change::Configure(Settings::default()), who: None };
//! let entry = Entry {
//!     position: Position { epoch: 7, sequence: 1 },
//!     gate: GateId(1),
//!     serial: 1,
//!     previous: state.nonce(),
//!     nonce: [1; 8],
//!     time: Wall(1_000_000),
//!     version: VERSION,
//!     batch: Batch { hello: true, rooms: vec![configured], ..Batch::default() },
//! };
//! let effects = state.apply(&entry.into());
//! assert!(!effects.ignored);
//! assert!(state.view().rooms.contains_key(&room));
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::as_conversions, clippy::float_arithmetic, clippy::unwrap_used)]

mod codec;
pub mod draw;
mod entry;
mod forecast;
mod lane;
mod line;
mod load;
mod recovery;
mod room;
mod settings;
mod state;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod version;
mod view;

pub use codec::DecodeError;
pub use entry::commands::{CallOrder, Deed, MAX_CALL, MAX_ORDERS, MAX_REASON, MAX_WHO, Order, Orders, Setting, Who};
pub use entry::effects::{Changed, Effects, GivenUp, Joined, Redeemed};
pub use entry::encoded::Encoded;
pub use entry::eviction::Eviction;
pub use entry::sale::{BreaksDraw, Commitment, Drawing, DrawnLane, Forms, Late, Made, Owed, Sale};
pub use entry::{
    Adopt, Batch, Change, Claim, Completion, End, Entry, Hold, MAX_BATCH_BYTES, RoomChange, Section, Spoke, StateHash,
    Vote,
};
pub use forecast::told::{EstimatesHeld, QUARTERS};
pub use lane::record::SLACK_MS;
pub use line::accounts::{Bound, Tagged};
pub use line::figures::Figures;
pub use line::stock::{Winner, Winners};
pub use load::{
    Bounds, Circuit, Controller, Linear, LoadControl, LoadView, MAX_REQUESTS, Measured, OUTSIDE_TTL_MS, Outside,
    Report, Reported, STEPS, TTL_MS, Times, Why,
};
pub use room::codes::{BroughtCodes, Denied, MAX_BYPASS, MAX_SPENT, Redeem, Spent, SpentCodes};
pub use room::edition::is_reset;
pub use room::rehearsal::{LEASE_MS, MAX_REHEARSAL_MS, MAX_REHEARSED, Rehearsal, RehearsalOrder};
pub use ropeline_ids::{
    CallId, Clock, CodeId, Edition, Epoch, GateId, LaneId, LineName, MAX_LANE_NAME, Number, PendingId, Place, Position,
    RehearsalId, RoomName, Tag, Visitor, Wall,
};
pub use settings::active::ActiveSlots;
pub use settings::lanes::{MAX_LANES, NamedLane, ONLY_LANE};
pub use settings::schedule::{MAX_RULE, MAX_WINDOWS, Phase, Schedule, Stage, Window};
pub use settings::{MAX_LANGUAGES, MAX_MESSAGE, MAX_STOCK, MAX_TAG, Mode, Overrides, Settings};
pub use state::additions::{Added, Addition, Additions, MAX_ADDED, MAX_ROOM_TEXT, Noted};
pub use state::bootstrap::Root;
pub use state::chain::Chain;
pub use state::rooms::MAX_ROOMS;
pub use state::roster::{MAX_GATES, RosterGate};
pub use state::{IDLE_TICK_MS, State};
pub use version::{ACTIVE_SLOTS, NEWEST, OLDEST, VERSION};
pub use view::frame::Frame;
pub use view::line_view::{Estimate, LaneFigures, LineView, Rehearsed};
pub use view::lines::Lines;
pub use view::standing::{Called, Inside, Standing, Waiting};
pub use view::{RoomView, View, pace};
