//! The room: a deterministic state machine over the log. No I/O, no clock, no randomness, no floats, no unordered
//! iteration; total, so that nothing a log can hold makes it panic.

mod entry;
mod ids;
mod line_view;
mod settings;
mod state;
mod view;

pub use entry::{
    Batch, Change, Claim, Effects, End, Entry, Joined, MAX_BATCH_BYTES, PendingId, RoomChange, Section, VERSION,
};
pub use ids::{CallId, Clock, Edition, Era, GateId, LaneId, LineName, Number, Place, Position, RoomName, Wall};
pub use settings::{MAX_MESSAGE, Mode, Overrides, Settings};
pub use state::{DecodeError, State};
pub use view::{Called, Estimate, Figures, Frame, Inside, LineView, RoomView, Standing, View, Visitor, Waiting};
