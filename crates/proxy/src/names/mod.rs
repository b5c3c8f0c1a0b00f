//! How the stacks below a gate read names: one place for every rule by which two spellings are one name.
//!
//! Pure: bytes in, a verdict out. [`field`] finds names of header fields that a program sees as one variable. [`parameter`]
//! compares a name in a query or form with one that the gate looks for, and gives the value that every stack reads under it;
//! [`form`] does the same for a body, and [`cookie`] for a cookie. All of them fold more than any single stack does, so that
//! a name that some stack would fold is always found. The other modules handle letters, look-alikes and percent escapes.

pub mod cookie;
pub mod field;
pub mod form;
pub mod letters;
pub mod look_alikes;
mod multipart;
pub mod parameter;
pub mod percent;
pub mod spelling;
