//! What may be absent of a batch, each a field at its end: codes, which sections are virtual visitors', and what the gate saw
//! of the shop.

use super::{Batch, Section};
use crate::codec::{Fields, Read, Reader, Writer, read_fields};
use crate::load::Report;
use crate::room::codes::{read_brought, read_redeem, write_brought, write_redeem};
use ropeline_ids::RehearsalId;

const CODES: u8 = 1;
const VIRTUAL: u8 = 2;
const LOAD: u8 = 3;

pub(crate) fn write(w: &mut Writer, batch: &Batch) {
    let fields = [
        codes(batch).map(|field| (CODES, field)),
        virtuals(batch).map(|field| (VIRTUAL, field)),
        load(batch).map(|field| (LOAD, field)),
    ];
    w.fields(&fields.into_iter().flatten().collect::<Fields>());
}

pub(crate) fn read(r: &mut Reader, batch: &mut Batch) -> Read<()> {
    read_fields(r, |tag, field| match tag {
        CODES => read_codes(field, batch),
        VIRTUAL => read_virtuals(field, batch),
        LOAD => read_load(field, batch),
        _ => field.wrong(),
    })
}

fn codes(batch: &Batch) -> Option<Vec<u8>> {
    let any = !batch.redeems.is_empty() || !batch.spent_codes.is_empty();
    any.then(|| {
        Writer::field(|w| {
            w.list(&batch.redeems, write_redeem);
            w.list(&batch.spent_codes, write_brought);
        })
    })
}

fn read_codes(r: &mut Reader, batch: &mut Batch) -> Read<()> {
    batch.redeems = r.list(34, read_redeem)?;
    batch.spent_codes = r.list(3, read_brought)?;
    // Nothing is never written.
    if batch.redeems.is_empty() && batch.spent_codes.is_empty() {
        return r.wrong();
    }
    Ok(())
}

fn load(batch: &Batch) -> Option<Vec<u8>> {
    (!batch.load.is_empty()).then(|| {
        Writer::field(|w| {
            w.list(&batch.load, |w, (room, report)| {
                w.text(room.as_str());
                report.write(w);
            });
        })
    })
}

/// Which sections are virtual visitors', by where they stand, and of which rehearsal.
fn virtuals(batch: &Batch) -> Option<Vec<u8>> {
    let named = |(at, section): (usize, &Section)| Some((at, section.rehearsal?));
    let virtuals: Vec<(usize, RehearsalId)> = batch.sections.iter().enumerate().filter_map(named).collect();
    let field = || {
        Writer::field(|w| {
            w.list(&virtuals, |w, (at, id)| {
                w.count(*at);
                w.raw(&id.0);
            });
        })
    };
    (!virtuals.is_empty()).then(field)
}

/// Rising, and nothing is never written.
fn read_virtuals(r: &mut Reader, batch: &mut Batch) -> Read<()> {
    let virtuals = r.list(9, |r| Ok((r.var()?, RehearsalId(r.array()?))))?;
    if virtuals.is_empty() || !virtuals.is_sorted_by(|(a, _), (b, _)| a < b) {
        return r.wrong();
    }
    for (at, id) in virtuals {
        let section = usize::try_from(at).ok().and_then(|at| batch.sections.get_mut(at));
        let Some(section) = section else { return r.wrong() };
        section.rehearsal = Some(id);
    }
    Ok(())
}

/// One report for a room, in their order; nothing is never written.
fn read_load(r: &mut Reader, batch: &mut Batch) -> Read<()> {
    batch.load = r.list(8, |r| Ok((r.room_name()?, Report::read(r)?)))?;
    if batch.load.is_empty() || !batch.load.is_sorted_by(|(a, _), (b, _)| a < b) {
        return r.wrong();
    }
    Ok(())
}
