//! The byte form of a section: what happened in one line.

use super::marks_codec;
use super::{Claim, Completion, End, Section};
use crate::codec::{Fields, Read, Reader, Writer, read_fields};
use crate::line::accounts::{Bound, Tagged};
use ropeline_ids::{LaneId, Number, PendingId, Tag};

pub(crate) fn write_section(w: &mut Writer, section: &Section) {
    w.text(section.room.as_str());
    w.text(section.line.as_str());
    marks_codec::write(w, &section.leaves);
    w.list(&section.ends, |w, end| {
        write_named(w, end.lane, end.number);
        w.var(end.after_ms);
    });
    w.list(&section.claims, |w, claim| {
        write_named(w, claim.lane, claim.number);
        w.flag(claim.carried);
    });
    for named in [
        &section.taken,
        &section.spent,
        &section.reopens,
        &section.renewals,
        &section.marks,
        &section.voids,
    ] {
        marks_codec::write(w, named);
    }
    w.var(u64::from(section.bypasses));
    w.list(&section.joins, |w, (lane, count)| {
        w.u8(lane.0);
        w.var(u64::from(*count));
    });
    w.list(&section.pending_joins, |w, (lane, id)| {
        w.u8(lane.0);
        w.raw(&id.0);
    });
    w.fields(&fields(section));
}

pub(crate) fn read_section(r: &mut Reader) -> Read<Section> {
    let mut section = Section {
        room: r.room_name()?,
        line: r.line_name()?,
        rehearsal: None,
        leaves: marks_codec::read(r)?,
        ends: r.list(14, read_end)?,
        completions: Vec::new(),
        claims: r.list(14, read_claim)?,
        taken: marks_codec::read(r)?,
        spent: marks_codec::read(r)?,
        reopens: marks_codec::read(r)?,
        renewals: marks_codec::read(r)?,
        marks: marks_codec::read(r)?,
        voids: marks_codec::read(r)?,
        bypasses: read_count(r)?,
        networks: 0,
        joins: r.list(2, read_join)?,
        pending_joins: r.list(13, |r| Ok((r.lane()?, PendingId(r.array()?))))?,
        bound: Vec::new(),
        tagged: Vec::new(),
    };
    read_fields(r, |tag, field| match tag {
        COMPLETIONS => {
            section.completions = read_completions(field)?;
            Ok(())
        }
        NETWORKS => {
            section.networks = read_count(field)?;
            // Nothing is never written.
            if section.networks == 0 { field.wrong() } else { Ok(()) }
        }
        TAGGED => read_accounts(field, &mut section),
        _ => field.wrong(),
    })?;
    Ok(section)
}

/// What may be absent.
fn fields(section: &Section) -> Fields {
    let accounts = !section.tagged.is_empty() || !section.bound.is_empty();
    let accounts = accounts.then(|| (TAGGED, Writer::field(|w| write_accounts(w, section))));
    let completions = &section.completions;
    let field = || Writer::field(|w| w.list(completions, write_completion));
    let completions = (!completions.is_empty()).then(|| (COMPLETIONS, field()));
    let networks = (section.networks > 0).then(|| (NETWORKS, Writer::field(|w| w.var(u64::from(section.networks)))));
    completions.into_iter().chain(accounts).chain(networks).collect()
}

/// The numbers go in bulk, and behind them whose each is.
fn write_accounts(w: &mut Writer, section: &Section) {
    w.list(&section.tagged, |w, tagged| {
        w.u8(tagged.lane.0);
        w.list(&tagged.tags, |w, tag| w.raw(&tag.0));
        w.option(tagged.id, |w, id| w.raw(&id.0));
    });
    let numbers: Vec<_> = section.bound.iter().map(|bound| (bound.lane, bound.number)).collect();
    marks_codec::write(w, &numbers);
    for bound in &section.bound {
        w.list(&bound.tags, |w, tag| w.raw(&tag.0));
    }
}

fn read_accounts(r: &mut Reader, section: &mut Section) -> Read<()> {
    section.tagged = r.list(3, |r| {
        Ok(Tagged {
            lane: r.lane()?,
            tags: read_tags(r)?,
            id: r.option(Reader::array)?.map(PendingId),
        })
    })?;
    for (lane, number) in marks_codec::read(r)? {
        let tags = read_tags(r)?;
        section.bound.push(Bound { lane, number, tags });
    }
    // Nothing is never written.
    if section.tagged.is_empty() && section.bound.is_empty() {
        return r.wrong();
    }
    Ok(())
}

fn read_tags(r: &mut Reader) -> Read<Vec<Tag>> {
    r.list(8, |r| Ok(Tag(r.array()?)))
}

/// The tag of a section's field of accounts.
const TAGGED: u8 = 2;

fn read_join(r: &mut Reader) -> Read<(LaneId, u32)> {
    Ok((r.lane()?, read_count(r)?))
}

pub(crate) fn read_count(r: &mut Reader) -> Read<u32> {
    let count = r.var()?;
    u32::try_from(count).or_else(|_| r.wrong())
}

fn write_named(w: &mut Writer, lane: LaneId, number: Number) {
    w.u8(lane.0);
    w.number(number);
}

fn read_end(r: &mut Reader) -> Read<End> {
    Ok(End {
        lane: r.lane()?,
        number: r.number()?,
        after_ms: r.var()?,
    })
}

fn write_completion(w: &mut Writer, done: &Completion) {
    write_named(w, done.lane, done.number);
    w.u32(done.edition.0);
    w.var(done.after_ms);
    w.u8((u8::from(done.at.is_some()) * TIMED) | (u8::from(done.tag.is_some()) * WHOSE));
    if let Some(at) = done.at {
        w.wall(at);
    }
    w.raw(done.tag.as_ref().map_or(&[], |tag| &tag.0));
}

/// What of a completion is there.
const TIMED: u8 = 1;
const WHOSE: u8 = 2;

/// Nothing is never written.
fn read_completions(r: &mut Reader) -> Read<Vec<Completion>> {
    let completions = r.list(19, |r| {
        let (lane, number, edition, after_ms) = (r.lane()?, r.number()?, r.edition()?, r.var()?);
        let flags = r.u8()?;
        if flags & !(TIMED | WHOSE) != 0 {
            return r.wrong();
        }
        let at = if flags & TIMED == 0 { None } else { Some(r.wall()?) };
        let tag = if flags & WHOSE == 0 {
            None
        } else {
            Some(Tag(r.array()?))
        };
        Ok(Completion {
            lane,
            number,
            edition,
            after_ms,
            at,
            tag,
        })
    })?;
    if completions.is_empty() {
        r.wrong()
    } else {
        Ok(completions)
    }
}

fn read_claim(r: &mut Reader) -> Read<Claim> {
    Ok(Claim {
        lane: r.lane()?,
        number: r.number()?,
        carried: r.flag()?,
    })
}

/// Tags of a section's fields.
const COMPLETIONS: u8 = 1;
const NETWORKS: u8 = 3;
