//! The byte form of numbers in bulk: lists of (lane, number) that mostly share lane and era and mostly rise.
//!
//! They are cut into runs of one lane and era with rising numbers. A run is written as differences when it is sparse and
//! as a bitmap when that is shorter, so that a generation's marks cost a bit to two bytes each. Any list, sorted or not,
//! comes back as it was.

use crate::codec::{Read, Reader, Writer};
use ropeline_ids::{Era, LaneId, Number};

type Named = (LaneId, Number);

const DIFFERENCES: u8 = 0;
const BITMAP: u8 = 1;

/// Fewest bytes of a run: lane, era, form, first number, one length.
const RUN_BYTES: usize = 1 + 8 + 1 + 4 + 1;

pub(crate) fn write(w: &mut Writer, numbers: &[Named]) {
    let runs: Vec<&[Named]> = numbers.chunk_by(|a, b| follows(*a, *b)).collect();
    w.list(&runs, |w, run| write_run(w, run));
}

pub(crate) fn read(r: &mut Reader) -> Read<Vec<Named>> {
    let mut numbers = Vec::new();
    for _ in 0..r.count(RUN_BYTES)? {
        read_run(r, &mut numbers)?;
    }
    Ok(numbers)
}

fn follows(a: Named, b: Named) -> bool {
    a.0 == b.0 && a.1.era == b.1.era && a.1.n < b.1.n
}

fn write_run(w: &mut Writer, run: &[Named]) {
    let [(lane, first), .., (_, last)] = run else {
        return run
            .first()
            .into_iter()
            .for_each(|one| write_head(w, *one, DIFFERENCES, &mut |w| w.count(0)));
    };
    let bitmap_bytes = usize::try_from((last.n - first.n) / 8)
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    if bitmap_bytes > run.len() {
        return write_head(w, (*lane, *first), DIFFERENCES, &mut |w| write_differences(w, run));
    }
    write_head(w, (*lane, *first), BITMAP, &mut |w| {
        let bits = bitmap(run, bitmap_bytes);
        w.count(bits.len());
        w.raw(&bits);
    });
}

fn write_head(w: &mut Writer, (lane, first): Named, form: u8, rest: &mut dyn FnMut(&mut Writer)) {
    w.u8(lane.0);
    w.u64(first.era.0);
    w.u8(form);
    w.u32(first.n);
    rest(w);
}

fn write_differences(w: &mut Writer, run: &[Named]) {
    w.count(run.len() - 1);
    for pair in run.windows(2) {
        w.var(u64::from(pair[1].1.n - pair[0].1.n));
    }
}

/// Bit i stands for the first number plus i.
fn bitmap(run: &[Named], bytes: usize) -> Vec<u8> {
    let mut bits = vec![0_u8; bytes];
    for (_, number) in run {
        let offset = number.n - run[0].1.n;
        if let Some(byte) = usize::try_from(offset / 8).ok().and_then(|i| bits.get_mut(i)) {
            *byte |= 1 << (offset % 8);
        }
    }
    bits
}

fn read_run(r: &mut Reader, numbers: &mut Vec<Named>) -> Read<()> {
    let lane = r.lane()?;
    let era = Era(r.u64()?);
    let form = r.u8()?;
    let first = r.u32()?;
    let mut add = |n| numbers.push((lane, Number { era, n }));
    match form {
        DIFFERENCES => {
            add(first);
            let mut n = first;
            for _ in 0..r.count(1)? {
                let Some(next) = u32::try_from(r.var()?)
                    .ok()
                    .filter(|d| *d > 0)
                    .and_then(|d| n.checked_add(d))
                else {
                    return r.wrong();
                };
                n = next;
                add(n);
            }
            Ok(())
        }
        BITMAP => {
            let len = r.count(1)?;
            read_bitmap(r.raw(len)?, first, add).map_or_else(|| r.wrong(), Ok)
        }
        _ => r.wrong(),
    }
}

fn read_bitmap(bits: &[u8], first: u32, mut add: impl FnMut(u32)) -> Option<()> {
    for (i, byte) in bits.iter().enumerate() {
        let start = u32::try_from(i).ok()?.checked_mul(8)?;
        for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
            add(first.checked_add(start + bit)?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(lane: u8, era: u64, n: u32) -> Named {
        (LaneId(lane), Number { era: Era(era), n })
    }

    fn round(numbers: &[Named]) -> usize {
        let mut w = Writer::default();
        write(&mut w, numbers);
        let mut r = Reader::new(&w.bytes, "marks");
        assert_eq!(read(&mut r).as_deref(), Ok(numbers));
        assert_eq!(r.finish(), Ok(()));
        w.bytes.len()
    }

    #[test]
    fn any_list_comes_back_as_it_was() {
        round(&[]);
        round(&[named(0, 1, u32::MAX)]);
        round(&[
            named(0, 1, 5),
            named(0, 1, 5),
            named(0, 1, 4),
            named(1, 1, 9),
            named(1, 2, 9),
            named(0, 1, 0),
        ]);
        round(&[named(7, u64::MAX, 0), named(7, u64::MAX, u32::MAX)]);
    }

    #[test]
    fn dense_marks_cost_a_bit_and_sparse_ones_two_bytes() {
        let dense: Vec<Named> = (100..8_100).map(|n| named(0, 1, n)).collect();
        assert!(round(&dense) < 1_020);
        let sparse: Vec<Named> = (0..1_000).map(|n| named(0, 1, n * 200)).collect();
        assert!(round(&sparse) < 2_020);
    }

    #[test]
    fn runs_beyond_the_last_number_are_refused() {
        let mut w = Writer::default();
        w.count(1);
        write_head(&mut w, named(0, 1, u32::MAX), BITMAP, &mut |w| {
            w.count(1);
            w.u8(0b11);
        });
        assert!(read(&mut Reader::new(&w.bytes, "marks")).is_err());
    }
}
