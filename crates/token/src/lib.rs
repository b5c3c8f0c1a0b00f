//! Signed tokens: tickets, passes and codes that visitors carry, so that the gate stores nothing for a waiting visitor.
//!
//! A token is base64url without padding of `version (1), length of the key id (1), key id, payload, HMAC-SHA256 (32)`.
//! The MAC covers the kind, the room, the line and all bytes before the tag. A token is therefore valid for one kind, room
//! and line, and its payload does not repeat them. Decoding is strict: each token has one text, fields have exact lengths,
//! and no byte may be left over. Reading a token that is not genuine gives `None`, never an error.
//!
//! The same keys sign challenges of the proof of work ([`proof`]), probe nonces ([`nonce`]), session names, account tags and
//! the secrets of draws. Forwarded requests are signed with a key of their own ([`RequestSigner`]).
//!
//! The crate is pure: no I/O, no clock, no randomness. The room and the gate decide whether a genuine token still counts.
#![forbid(unsafe_code)]

mod account;
mod audience;
mod code;
mod draw;
mod key;
mod mark;
mod name;
pub mod nonce;
mod pass;
pub mod proof;
mod reference;
mod seal;
mod session;
mod signature;
mod ticket;

#[cfg(any(test, fuzzing, feature = "testing"))]
#[doc(hidden)]
pub mod fuzzing;

#[cfg(test)]
mod tests;

pub use account::account_tags;
pub use audience::{Audience, MAX_AUDIENCES};
pub use code::{Code, CodeDate, Grant};
pub use draw::draw_secrets;
pub use key::{Key, KeyError, KeyId, Keyring, MAX_KEYS, MIN_SECRET, SignedBy, SignerMark};
pub use mark::Mark;
pub use name::{LINE_TAG_LEN, VIRTUAL, code_cookie, pass_cookie, ticket_cookie, virtual_cookies};
pub use pass::{Pass, PassId, unproved_expiry};
pub use reference::Reference;
pub use ropeline_ids::{Secret, Wall};
pub use seal::MAX_TOKEN;
pub use session::SessionName;
pub use signature::{RequestCheck, RequestSigner};
pub use ticket::{Ticket, TicketPlace, unproved_joining};

/// Most values of one cookie name that are tried. A sub-domain can set any number of them, and each try costs a MAC.
pub const MAX_TRIES: usize = 8;
