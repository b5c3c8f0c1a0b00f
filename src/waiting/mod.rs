//! What people see while they wait: the page, the status answer and the event stream.
//!
//! Everything here turns facts into bytes. Who the visitor is, which page they get and with which status code is decided
//! by the gate. The page's files are in `static/`, its contract with operators' templates in `docs/guides/page.md`.

mod addresses;
mod budget;
mod catalogue;
mod content;
mod frame;
mod kept;
mod kind;
mod language;
mod lookout;
mod lot;
mod pages;
mod pieces;
mod policy;
mod preview;
pub mod problem;
pub mod proof;
mod sample;
mod script;
mod squeeze;
mod stall;
mod status;
mod stream;
mod text;

pub use addresses::check_of;
pub use frame::{Feeds, StreamFrame};
pub use kept::Kept;
pub use kind::{
    DrawFacts, LineFacts, Notice, PageFacts, PageKind, Pause, ProofFacts, Reload, Stall, StockFacts, TurnFacts,
    whole_minutes,
};
pub use language::Language;
pub use lookout::LOOKS_WITHIN;
pub use pages::{MAX_TEMPLATE, Page, Pages, TemplateError};
pub use preview::{Preview, index, previews};
pub use status::{DrawStatus, Opening, State, Status};
pub use stream::{CONTENT_TYPE as EVENT_STREAM, EventStream, Link};
pub use text::{path_on_this_host, percent_encode};
