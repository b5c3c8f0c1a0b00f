//! The byte form of a section: what happened in one line. Numbers go in bulk ([`marks_codec`]).

use super::marks_codec;
use super::{Claim, Completion, End, Hold, Section};
use crate::codec::codec;

// What gates write many times a second comes first, so that one byte says what is there.
codec! {
    struct Section { room, line } sparse {
        marks as marks_codec, joins, claims, renewals as marks_codec, ends, leaves as marks_codec, pending_joins,
        completions, tagged, bound as bound, taken as marks_codec, spent as marks_codec, reopens as marks_codec,
        voids as marks_codec, bypasses, networks, rehearsal, returns as marks_codec, holds,
    };
    struct Hold { lane, number, for_ms };
    struct End { lane, number, after_ms };
    struct Claim { lane, number, carried };
    struct Completion { lane, number, edition, after_ms } sparse { at, tag };
}

/// The numbers go in bulk, and behind them whose each is.
mod bound {
    use super::marks_codec;
    use crate::codec::{Read, Reader, Writer};
    use crate::line::accounts::Bound;

    pub fn write(w: &mut Writer, bound: &[Bound]) {
        let numbers: Vec<_> = bound.iter().map(|bound| (bound.lane, bound.number)).collect();
        marks_codec::write(w, &numbers);
        for bound in bound {
            w.put(&bound.tags);
        }
    }

    pub fn read(r: &mut Reader) -> Read<Vec<Bound>> {
        let numbers = marks_codec::read(r)?.into_iter();
        let bound = numbers.map(|(lane, number)| {
            let tags = r.get()?;
            Ok(Bound { lane, number, tags })
        });
        bound.collect()
    }
}
