//! An entry with the bytes that it was read from, so that a gate encodes no entry that it reads.

use std::ops::Deref;

use super::{Batch, Entry};
use crate::codec::{DecodeError, Reader};
use crate::entry::codec::MAX_ENTRY_BYTES;

/// An entry and its byte form, as [`Entry::encode`] writes it. An entry has one form only, so bytes that were read are that form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoded {
    entry: Entry,
    bytes: Vec<u8>,
}

impl Encoded {
    /// # Errors
    /// As [`Entry::decode`].
    pub fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let entry = Entry::decode(&bytes)?;
        Ok(Self { entry, bytes })
    }

    /// The entry `head` with the encoded `batch` for its own, from a log that keeps the two apart.
    ///
    /// # Errors
    /// As [`Batch::decode`], and as [`Entry::decode`] for the two together: the entry is read again from an archive.
    pub fn with_batch(mut head: Entry, batch: &[u8]) -> Result<Self, DecodeError> {
        head.batch = Batch::decode(batch)?;
        let mut bytes = head.encode_head();
        bytes.extend_from_slice(batch);
        if bytes.len() > MAX_ENTRY_BYTES {
            return Reader::new(&bytes, "entry").wrong();
        }
        Ok(Self { entry: head, bytes })
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[must_use]
    pub fn into_entry(self) -> Entry {
        self.entry
    }
}

impl Deref for Encoded {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl From<Entry> for Encoded {
    fn from(entry: Entry) -> Self {
        let bytes = entry.encode();
        Self { entry, bytes }
    }
}
