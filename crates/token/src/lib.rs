//! Tickets and passes: what a visitor carries, signed, so that the gate stores nothing per visitor who waits.
//!
//! A token is base64url without padding of `version (1), length of the key id (1), key id, payload, HMAC-SHA256 (32)`.
//! The MAC covers the cookie's base name, with a line itself where the name has only its hash, and everything before the
//! tag; so a token is good for one kind, room and line, which its payload need not repeat. Decoding is strict: one text
//! for one token, exact lengths, no byte left over. What fails is as good as no token, never an error.
//!
//! Pure: no I/O, no clock, no randomness. Whether a genuine token still counts is for the room and the gate to say.
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
pub use mark::{Mark, MarkDate};
pub use name::{LINE_TAG_LEN, VIRTUAL, code_cookie, pass_cookie, ticket_cookie, virtual_cookies};
pub use pass::{Pass, PassId, unproved_expiry};
pub use reference::Reference;
pub use ropeline_ids::{Secret, Wall};
pub use seal::MAX_TOKEN;
pub use session::SessionName;
pub use signature::{RequestCheck, RequestSigner};
pub use ticket::{Ticket, TicketPlace, unproved_joining};

/// Most values of one cookie name that are tried; a sub-domain can set any number, and each try costs a MAC.
pub const MAX_TRIES: usize = 8;
