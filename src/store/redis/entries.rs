//! The stream's entries as the room knows them.

use redis::Value;

use super::fault::Fault;
use crate::room::{Batch, Encoded, Entry, GateId, NEWEST, OLDEST, Position, Wall};
use crate::store::Exchanged;

/// An entry in the stream: its id, and names and values in turn.
pub(super) type Raw = (String, Vec<Vec<u8>>);

/// The entries that an exchange at `at` has read, where the log's last sequence is `tail` and it holds `log_bytes`; `None`
/// when there are more and the next of them is gone.
pub(super) fn read(at: Position, tail: u64, log_bytes: u64, raw: Vec<Raw>) -> Result<Option<Exchanged>, Fault> {
    let mut entries = Vec::with_capacity(raw.len());
    let mut newer = None;
    for (entry, sequence) in raw.into_iter().zip(at.sequence + 1..) {
        let position = Position { sequence, ..at };
        // A gap: entries between are gone, trimmed or deleted by hand.
        if entry.0 != id(position) {
            break;
        }
        match decode(position, &entry.1)? {
            Ok(entry) => entries.push(entry),
            Err(version) => {
                newer = Some(version);
                break;
            }
        }
    }
    if entries.is_empty() && newer.is_none() && tail > at.sequence {
        return Ok(None);
    }
    let read_to = entries
        .last()
        .map_or(at.sequence, |entry: &Encoded| entry.position.sequence);
    Ok(Some(Exchanged::Entries {
        more: read_to < tail,
        entries,
        log_bytes,
        newer,
    }))
}

/// `epoch-sequence`.
pub(super) fn id(position: Position) -> String {
    format!("{}-{}", position.epoch, position.sequence)
}

/// The position that an id names.
pub(super) fn position(id: &str) -> Option<Position> {
    let (epoch, sequence) = id.split_once('-')?;
    Some(Position {
        epoch: epoch.parse().ok()?,
        sequence: sequence.parse().ok()?,
    })
}

/// A gate's id in the stream.
pub(super) fn gate(gate: GateId) -> String {
    format!("{:016x}", gate.0)
}

/// An entry, or the version that this binary cannot read.
fn decode(position: Position, fields: &[Vec<u8>]) -> Result<Result<Encoded, u16>, Fault> {
    let strange = || {
        Fault::Refused(format!(
            "entry {} was not written by a gate: a new log begins with the next that is",
            id(position)
        ))
    };
    let field = |name: &str| {
        let mut pairs = fields.chunks_exact(2);
        pairs
            .find(|pair| pair[0] == name.as_bytes())
            .map(|pair| &pair[1][..])
            .ok_or_else(strange)
    };
    let text = |name| field(name).and_then(|value| str::from_utf8(value).map_err(|_| strange()));
    let number = |name| text(name).and_then(|text| text.parse::<u64>().map_err(|_| strange()));
    let nonce = |name| field(name).and_then(|value| value.try_into().map_err(|_| strange()));
    let version = text("version")?.parse::<u16>().map_err(|_| strange())?;
    if !(OLDEST..=NEWEST).contains(&version) {
        return Ok(Err(version));
    }
    let gate = u64::from_str_radix(text("gate")?, 16).map_err(|_| strange())?;
    let head = Entry {
        position,
        gate: GateId(gate),
        serial: number("serial")?,
        previous: nonce("previous")?,
        nonce: nonce("nonce")?,
        time: Wall(number("time")?),
        version,
        batch: Batch::default(),
    };
    // Every gate of this version finds the same bytes unreadable, and applies the same empty batch.
    Ok(Ok(Encoded::with_batch(head.clone(), field("batch")?).unwrap_or_else(
        |error| {
            tracing::error!(entry = id(position), %error, "a batch cannot be read and counts as empty");
            head.into()
        },
    )))
}

/// The answer to XRANGE.
pub(super) fn raw(reply: Value) -> Result<Vec<Raw>, Fault> {
    redis::from_redis_value(reply).map_err(|_| Fault::Refused("the answer to XRANGE is none".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Position = Position { epoch: 9, sequence: 4 };

    /// The entry with this batch, as a gate leaves it in the stream.
    fn fields(batch: &[u8]) -> Vec<Vec<u8>> {
        let pairs: [(&str, &[u8]); 7] = [
            ("gate", b"00000000000000ff"),
            ("serial", b"3"),
            ("previous", &[1; 8]),
            ("nonce", &[2; 8]),
            ("time", b"1700000000000"),
            ("version", b"1"),
            ("batch", batch),
        ];
        pairs
            .into_iter()
            .flat_map(|(name, value)| [name.as_bytes().to_vec(), value.to_vec()])
            .collect()
    }

    fn read(batch: &[u8]) -> Encoded {
        decode(AT, &fields(batch)).unwrap().unwrap()
    }

    #[test]
    fn an_entry_is_read_with_the_bytes_that_it_would_be_written_as() {
        let batch = Batch {
            hello: true,
            applied: 3,
            ..Batch::default()
        };
        let entry = read(&batch.encode());
        assert_eq!(
            (entry.position, entry.gate, entry.serial, &entry.batch),
            (AT, GateId(0xff), 3, &batch)
        );
        assert_eq!(entry.bytes(), entry.encode());
    }

    /// The chain is the same on all gates: they must hash the bytes that they apply.
    #[test]
    fn a_batch_that_cannot_be_read_is_an_empty_one_in_its_bytes_too() {
        for wrong in [&b"not a batch"[..], b"", &Batch::default().encode()[1..]] {
            let entry = read(wrong);
            assert_eq!(entry.batch, Batch::default());
            assert_eq!(entry.bytes(), entry.encode());
        }
    }
}
