//! The admin API: rooms, health and metrics over HTTP, for operators.
//!
//! It has a listener and a thread of its own, so that it answers while the request path is saturated. A wrong request is refused
//! with the reason and changes nothing. A change is answered once it is in the log. `docs/reference/admin-api.md` has the API with curl.

pub mod api;
mod examination;
mod handlers;
mod history;
mod http;
mod live;
mod metrics;
mod options;
mod patch;
mod readiness;
mod reloads;
mod room_order;
mod shared;
mod upgrades;
mod view;

pub use http::access::{Entrance, May, Named, Token};
pub use http::problem::Problem;
pub use http::router::MAX_BODY;
pub use http::serve::{AdminServer, StartError, serve};
pub use live::Live;
pub use metrics::exposition::{CONTENT_TYPE, Exposition};
pub use options::{Handles, Options};
pub use patch::keys::mode_name;
pub use patch::{MAX_CAPACITY, MAX_RATE};
pub use readiness::{Phase, Readiness};
pub use reloads::{Order, Reloads, Task, Trigger};
pub use room_order::{Refused, RoomDone, RoomOrder, Table, Wish as RoomWish};
pub use upgrades::{Upgraded, Upgrades, Wish};
