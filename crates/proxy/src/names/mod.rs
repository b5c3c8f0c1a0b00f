//! How the stacks below a gate read names: one place for every rule by which two spellings are one name.
//!
//! Pure: bytes in, a verdict out. [`field`] says which names of header fields a program is shown as one variable. [`parameter`]
//! says how a name in a query or form goes with one that the gate looks for, and which value every stack reads under it; [`form`]
//! says the same of a body, and [`cookie`] of a cookie. All fold more than any one stack does, so that what folds to a name under some stack's rule is always
//! seen. The others take apart letters, look-alikes and percent escapes.

pub mod cookie;
pub mod field;
pub mod form;
pub mod letters;
pub mod look_alikes;
mod multipart;
pub mod parameter;
pub mod percent;
pub mod spelling;
