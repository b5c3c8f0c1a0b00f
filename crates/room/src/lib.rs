//! The room: a deterministic state machine over the log. No I/O, no clock, no randomness, no floats, no unordered
//! iteration; total, so that nothing a log can hold makes it panic.
//!
//! From the outside in: `state` applies an entry to all `rooms`; a room keeps its `line`s and wakes those of which
//! something is due; a line is what happened (`section`) and who is called (`calling`); a `lane` is numbers (`era`), who
//! is present (`presence`, over `bits`), and the records of the called (`slots`). The request path reads `view`.
//!
//! ```
//! use ropeline_room::{Batch, Change, Entry, GateId, Position, RoomChange, RoomName, Settings, State, VERSION, Wall};
//!
//! let room = RoomName::new("shop").expect("letters");
//! let mut state = State::empty(7, true);
//! let configured = RoomChange { room: room.clone(), revision: 1, change: Change::Configure(Settings::default()), who: None };
//! let entry = Entry {
//!     position: Position { incarnation: 7, sequence: 1 },
//!     gate: GateId(1),
//!     serial: 1,
//!     previous: state.nonce(),
//!     nonce: [1; 8],
//!     time: Wall(1_000_000),
//!     version: VERSION,
//!     batch: Batch { hello: true, rooms: vec![configured], ..Batch::default() },
//! };
//! let effects = state.apply(&entry);
//! assert!(!effects.ignored);
//! assert!(state.view().rooms.contains_key(&room));
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::as_conversions, clippy::float_arithmetic, clippy::unwrap_used)]

mod accounts;
mod additions;
mod adopted;
mod adoption;
mod batch_fields;
mod beginning;
mod bits;
mod calling;
mod chain;
mod changes;
mod checks;
mod codec;
mod codes;
mod crowd;
mod deadlines;
mod doubt;
pub mod draw;
mod drawn;
mod edition;
mod effects;
mod entry;
mod entry_codec;
mod era;
mod eviction;
mod figures;
mod frame;
mod healing;
mod held;
mod lane;
mod line;
mod line_view;
mod lines;
mod load;
mod marks_codec;
mod moment;
mod named;
mod orders;
pub mod pace;
mod packer;
mod paged;
mod past;
mod pending;
mod presence;
mod pulse;
mod rate;
mod record;
mod rehearsal;
mod ring;
mod rooms;
mod roster;
mod sale;
mod schedule;
mod section;
mod section_codec;
mod selling;
mod settings;
mod settings_codec;
mod slots;
mod snapshot;
mod standing;
mod state;
mod stock;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod turns;
mod version;
mod versions;
mod view;
mod virtuals;

pub use accounts::{Bound, Tagged};
pub use additions::{Added, Addition, Additions, MAX_ADDED, MAX_ROOM_TEXT, Noted};
pub use beginning::Root;
pub use chain::Chain;
pub use codec::DecodeError;
pub use codes::{BroughtCodes, Denied, MAX_BYPASS, MAX_SPENT, Redeem, Spent, SpentCodes};
pub use edition::is_reset;
pub use effects::{Changed, Effects, GivenUp, Joined, Redeemed};
pub use entry::{
    Adopt, Batch, Change, Claim, Completion, End, Entry, MAX_BATCH_BYTES, RoomChange, Section, Spoke, StateHash, Vote,
};
pub use eviction::Eviction;
pub use figures::Figures;
pub use frame::Frame;
pub use line_view::{Estimate, LaneFigures, LineView};
pub use lines::Lines;
pub use load::{
    Admission, Bounds, Circuit, Controller, Linear, LoadView, MAX_REQUESTS, Measured, OUTSIDE_TTL_MS, Outside, Report,
    Reported, STEPS, TTL_MS, Times, Why,
};
pub use named::{MAX_LANES, NamedLane, ONLY_LANE};
pub use orders::{CallOrder, Deed, MAX_CALL, MAX_ORDERS, MAX_REASON, MAX_WHO, Order, Orders, Setting, Who};
pub use record::SLACK_MS;
pub use rehearsal::{MAX_LEASE_MS, MAX_REHEARSAL_MS, MAX_REHEARSED, Rehearsal, RehearsalOrder};
pub use ropeline_ids::{
    CallId, Clock, CodeId, Edition, Era, GateId, LaneId, LineName, MAX_LANE_NAME, Number, PendingId, Place, Position,
    RehearsalId, RoomName, Tag, Visitor, Wall,
};
pub use roster::{MAX_GATES, RosterGate};
pub use sale::{BreaksDraw, Commitment, Drawing, DrawnLane, Forms, Late, Made, Owed, Sale};
pub use schedule::{MAX_RULE, MAX_WINDOWS, Phase, Schedule, Stage, Window};
pub use settings::{MAX_LANGUAGES, MAX_MESSAGE, MAX_TAG, Mode, Overrides, Settings};
pub use standing::{Called, Inside, Standing, Waiting};
pub use state::{IDLE_TICK_MS, MAX_ROOMS, State};
pub use stock::{MAX_STOCK, Winner, Winners};
pub use version::{OLDEST, VERSION, WITH_SCHEDULES};
pub use view::{RoomView, View};
