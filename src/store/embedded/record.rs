//! Records that prove themselves: an entry or a part's head with a checksum behind it.

use sha2::{Digest, Sha256};

use super::part::Fault;
use crate::room::{Encoded, NEWEST, Wall};

/// The head of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    /// The highest machine version of its snapshot and its entries: a binary that lacks it leaves the part alone.
    pub version: u16,
    pub epoch: u64,
    /// Sequence of the snapshot it starts from; entries follow from the next.
    pub base: u64,
    /// Time of that snapshot.
    pub since: Wall,
    /// Nonce of the entry that it was taken after.
    pub nonce: [u8; 8],
    /// Its size.
    pub base_bytes: u64,
}

impl Head {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&self.version.to_le_bytes());
        for word in [self.epoch, self.base, self.since.0, self.base_bytes] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&self.nonce);
        seal(bytes)
    }

    pub fn decode(record: &[u8]) -> Result<Self, Fault> {
        let damaged = || Fault::Damaged("its head is of another length".into());
        let (format, rest) = open(record)?.split_first_chunk::<2>().ok_or_else(damaged)?;
        let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(damaged)?;
        let (format, version) = (u16::from_le_bytes(*format), u16::from_le_bytes(*version));
        if format > FORMAT || version > NEWEST {
            return Err(Fault::Newer(u64::from(format.max(version))));
        }
        let (words, []) = rest.as_chunks::<8>() else {
            return Err(damaged());
        };
        let [epoch, base, since, base_bytes, nonce] = words else {
            return Err(damaged());
        };
        Ok(Self {
            version,
            epoch: u64::from_le_bytes(*epoch),
            base: u64::from_le_bytes(*base),
            since: Wall(u64::from_le_bytes(*since)),
            nonce: *nonce,
            base_bytes: u64::from_le_bytes(*base_bytes),
        })
    }
}

/// A record with its checksum.
pub(super) fn seal(mut record: Vec<u8>) -> Vec<u8> {
    let sum = Sha256::digest(&record);
    record.extend_from_slice(&sum[..SUM]);
    record
}

fn open(record: &[u8]) -> Result<&[u8], Fault> {
    let (bytes, sum) = record
        .split_last_chunk::<SUM>()
        .ok_or_else(|| Fault::Damaged("a record is cut short".into()))?;
    if Sha256::digest(bytes)[..SUM] != sum[..] {
        return Err(Fault::Damaged("a record's checksum does not match".into()));
    }
    Ok(bytes)
}

pub(super) fn open_entry(record: &[u8]) -> Result<Encoded, Fault> {
    Encoded::decode(open(record)?.to_vec()).map_err(|error| Fault::Damaged(error.to_string()))
}

/// Bytes of SHA-256 kept with each record.
const SUM: usize = 8;

/// The version of this layout; in every version a head starts with it and ends with its checksum.
const FORMAT: u16 = 1;
