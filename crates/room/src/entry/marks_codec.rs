//! The byte form of numbers in bulk: lists of (lane, number) that mostly share lane and epoch and mostly rise.
//!
//! They are cut into runs of one lane and epoch with rising numbers. A run is written as differences when it is sparse and
//! as a bitmap when that is shorter, so that a generation's marks cost a bit to two bytes each. Any list, sorted or not,
//! comes back as it was. Only the form that is written is read, so that equal lists have equal bytes.

use crate::codec::{Read, Reader, Writer};
use ropeline_ids::{LaneId, Number};

type Named = (LaneId, Number);

const DIFFERENCES: u8 = 0;
const BITMAP: u8 = 1;

pub(crate) fn write(w: &mut Writer, numbers: &[Named]) {
    let runs: Vec<&[Named]> = numbers.chunk_by(|a, b| follows(*a, *b)).collect();
    w.list(runs.into_iter(), write_run);
}

pub(crate) fn read(r: &mut Reader) -> Read<Vec<Named>> {
    let mut numbers = Vec::new();
    for _ in 0..r.count()? {
        let start = numbers.len();
        let form = read_run(r, &mut numbers)?;
        let (before, run) = numbers.split_at(start);
        let joined = before.last().zip(run.first()).is_some_and(|(a, b)| follows(*a, *b));
        if joined || form_of(run) != form {
            return r.wrong();
        }
    }
    Ok(numbers)
}

fn follows(a: Named, b: Named) -> bool {
    a.0 == b.0 && a.1.epoch == b.1.epoch && a.1.n < b.1.n
}

/// How a run is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Differences,
    /// Of so many bytes; there is at least one, and none at the end is empty.
    Bitmap(usize),
}

/// The shorter form; of one number, and of none, there are only differences.
fn form_of(run: &[Named]) -> Form {
    let [(_, first), .., (_, last)] = run else {
        return Form::Differences;
    };
    let bytes = usize::try_from((last.n - first.n) / 8)
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    if bytes > run.len() {
        Form::Differences
    } else {
        Form::Bitmap(bytes)
    }
}

fn write_run(w: &mut Writer, run: &[Named]) {
    let Some((lane, first)) = run.first() else { return };
    w.put(lane);
    w.put(&first.epoch);
    match form_of(run) {
        Form::Differences => {
            w.u8(DIFFERENCES);
            w.put(&first.n);
            write_differences(w, run);
        }
        Form::Bitmap(bytes) => {
            w.u8(BITMAP);
            w.put(&first.n);
            w.count(bytes);
            w.raw(&bitmap(run, bytes));
        }
    }
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

fn read_run(r: &mut Reader, numbers: &mut Vec<Named>) -> Read<Form> {
    let (lane, epoch) = (r.get()?, r.get()?);
    let form = r.u8()?;
    let first = r.get()?;
    let mut add = |n| numbers.push((lane, Number { epoch, n }));
    match form {
        DIFFERENCES => {
            add(first);
            let mut n = first;
            for _ in 0..r.count()? {
                let difference = r.get()?;
                let Some(next) = n.checked_add(difference).filter(|next| *next > n) else {
                    return r.wrong();
                };
                n = next;
                add(n);
            }
            Ok(Form::Differences)
        }
        BITMAP => {
            let len = r.count()?;
            let bits = r.raw(len)?;
            // The first bit stands for the first number.
            if bits.first().is_none_or(|byte| byte & 1 == 0) {
                return r.wrong();
            }
            read_bitmap(bits, first, add).map_or_else(|| r.wrong(), |()| Ok(Form::Bitmap(len)))
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
    use ropeline_ids::Epoch;

    fn named(lane: u8, epoch: u64, n: u32) -> Named {
        (LaneId(lane), Number { epoch: Epoch(epoch), n })
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

    /// A list of runs of epoch 1, each a form, a first number and bytes behind their count.
    fn runs(runs: &[(u8, u32, &[u8])]) -> Read<Vec<Named>> {
        let mut w = Writer::default();
        w.list(runs.iter(), |w, (form, first, rest)| {
            w.put(&LaneId(0));
            w.put(&Epoch(1));
            w.u8(*form);
            w.put(first);
            w.put(&rest.to_vec());
        });
        let mut r = Reader::new(&w.bytes, "marks");
        let numbers = read(&mut r)?;
        r.finish().map(|()| numbers)
    }

    #[test]
    fn runs_beyond_the_last_number_are_refused() {
        assert!(runs(&[(BITMAP, u32::MAX - 1, &[0b11])]).is_ok());
        assert!(runs(&[(BITMAP, u32::MAX, &[0b11])]).is_err());
    }

    #[test]
    fn a_list_is_read_in_the_one_form_that_is_written() {
        assert!(runs(&[(DIFFERENCES, 5, &[])]).is_ok());
        for (why, others) in [
            ("one number is no bitmap", &[(BITMAP, 5, &[1_u8][..])][..]),
            ("nothing is no bitmap", &[(BITMAP, 5, &[])]),
            ("the first bit is another number's", &[(BITMAP, 5, &[0b110])]),
            ("an empty byte at the end", &[(BITMAP, 5, &[0b11, 0])]),
            ("differences are longer", &[(DIFFERENCES, 5, &[1, 1])]),
            ("a bitmap is longer", &[(BITMAP, 5, &[1, 0, 0, 1])]),
            ("two runs are one", &[(DIFFERENCES, 5, &[]), (DIFFERENCES, 6, &[])]),
        ] {
            assert!(runs(others).is_err(), "{why}");
        }
    }
}
