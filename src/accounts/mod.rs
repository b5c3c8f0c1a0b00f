//! Accounts: the account that a request names, by the one source that the operator has configured.
//!
//! Pure: the values and the clock are arguments; this module reads, keeps and logs nothing. Ambiguous values are refused: a
//! value that occurs twice, a body that stacks read differently. A token that cannot be verified names no account. The
//! identity itself is used only in the keyed hash that [`account_tags`](crate::token::account_tags) makes of it.

mod field;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod json;
mod jwt;

pub use field::{MAX_BODY, NoField, field_of};
pub use jwt::{Algorithm, Claims, KeyFault, MAX_JWT, MAX_KEYS, PublicKeys, Refused, Verifier};

pub use ropeline_ids::{Identity, MAX_IDENTITY};
