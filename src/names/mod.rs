//! How the stacks below a gate read names: one place for every rule by which two spellings are one name.
//!
//! Pure: bytes in, a verdict out. [`field`] says which names of header fields a program is shown as one variable. It folds more
//! than any one stack does, so that what folds to a name under some stack's rule is always seen. The others take apart letters,
//! look-alikes and percent escapes.

pub mod field;
pub mod letters;
pub mod look_alikes;
pub mod percent;
