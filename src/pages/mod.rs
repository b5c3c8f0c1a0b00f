//! Answers for waiting visitors, as bytes: the page, the status answer and the event stream.
//!
//! The gate decides who the visitor is, which page they get and with which status code. The
//! page's files are in `static/`, its contract with operators' templates in `docs/guides/page.md`.

mod addresses;
pub mod brand;
mod budget;
mod catalogue;
mod content;
mod kept;
mod kind;
mod language;
mod lot;
mod packed;
pub mod problem;
pub mod proof;
mod script;
mod stall;
mod status;
mod stream;
mod template;
mod text;
mod unseen;
pub mod wording;

pub use addresses::check_of;
pub use brand::Brand;
pub use catalogue::TAGS;
pub use kept::Kept;
pub use kind::{
    DrawFacts, LineFacts, Message, Notice, PageFacts, PageKind, Pause, ProofFacts, Reload, Stall, StockFacts,
    TurnFacts, whole_minutes,
};
pub use language::{Language, Languages};
pub use packed::Codings;
pub use script::FACTS;
pub use status::{DrawStatus, Opening, State, Status, claim_in};
pub use stream::frame::{Feeds, StreamFrame, let_in};
pub use stream::lookout::LOOKS_WITHIN;
pub use stream::{CONTENT_TYPE as EVENT_STREAM, EventStream, Link};
pub use template::preview::{Preview, index, preview, previews, states};
pub use template::{MAX_TEMPLATE, Page, Pages, TemplateError};
pub use text::{path_on_this_host, percent_encode};
pub use unseen::holds_ms;
