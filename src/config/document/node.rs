//! A value of the document, and the result of reading it.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

pub(in crate::config) type Node<'n> = Spanned<DeValue<'n>>;

/// A wrong value: the mistake, and its place.
pub(in crate::config) struct Wrong {
    pub(in crate::config) span: Range<usize>,
    pub(in crate::config) what: String,
    pub(in crate::config) right: String,
}

pub(in crate::config) type Read<T> = Result<T, Vec<Wrong>>;
