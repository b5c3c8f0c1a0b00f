//! The byte form of a line's figures.

use super::codec::{Read, Reader, Writer};
use super::view::Figures;

/// Waiting and capacity are worked out when the view is made.
pub(super) fn write_figures(w: &mut Writer, figures: &Figures) {
    for value in [figures.called, figures.inside, figures.excess] {
        w.u32(value);
    }
    for value in [
        figures.joins,
        figures.calls,
        figures.claims,
        figures.no_shows,
        figures.ends,
        figures.left,
        figures.bypasses,
    ] {
        w.u64(value);
    }
}

pub(super) fn read_figures(r: &mut Reader) -> Read<Figures> {
    Ok(Figures {
        called: r.u32()?,
        inside: r.u32()?,
        excess: r.u32()?,
        joins: r.u64()?,
        calls: r.u64()?,
        claims: r.u64()?,
        no_shows: r.u64()?,
        ends: r.u64()?,
        left: r.u64()?,
        bypasses: r.u64()?,
        ..Figures::default()
    })
}
