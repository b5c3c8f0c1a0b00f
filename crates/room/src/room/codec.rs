//! A room as bytes. What version 3 and later ones know of a room are fields behind the rest.

use std::sync::Arc;

use super::Room;
use crate::codec::{Fields, Read, Reader, Writer, read_later, write_later};
use crate::entry::commands::Orders;
use crate::entry::sale::Sale;
use crate::lane::drawn::Draws;
use crate::line::Line;
use crate::line::accounts::Tags;
use crate::load::Load;
use crate::room::codes::Codes;
use crate::room::pending::Pending;
use crate::settings::codec::{read_overrides, read_settings, write_overrides, write_settings};
use ropeline_ids::{Era, LaneId};

impl Room {
    pub fn write(&self, w: &mut Writer) {
        write_settings(w, &self.configured);
        write_overrides(w, &self.overrides);
        w.option(self.worded, |w, (era, revision)| {
            w.u64(era.0);
            w.u64(revision);
        });
        w.u64(self.revision);
        w.u32(self.edition.0);
        w.option(self.spared, |w, era| w.u64(era.0));
        w.count(self.lines.len());
        for (name, line) in &self.lines {
            w.text(name.as_str());
            line.write(w);
        }
        self.pending.write(w);
        write_later(w, &self.later());
    }

    /// When lines are due is worked out by [`Room::reschedule`].
    pub fn read(r: &mut Reader) -> Read<Self> {
        let configured = read_settings(r)?;
        let mut room = Self {
            overrides: read_overrides(r)?,
            worded: r.option(|r| Ok((Era(r.u64()?), r.u64()?)))?,
            revision: r.u64()?,
            ..Self::new(configured, 0)
        };
        room.edition = r.edition()?;
        room.voided = room.edition;
        room.spared = r.option(|r| Ok(Era(r.u64()?)))?;
        room.lines = r
            .list(64, |r| Ok((r.line_name()?, Line::read(r)?)))?
            .into_iter()
            .collect();
        room.pending = Pending::read(r)?;
        room.read_later(r)?;
        // Only now are draws known too, by which a place has its number.
        room.lines.values_mut().for_each(Line::recount_pieces);
        room.lines.values_mut().for_each(Line::index_accounts);
        room.enforce();
        for name in room.lines.keys().cloned().collect::<Vec<_>>() {
            room.count(&name);
        }
        Ok(room)
    }

    fn later(&self) -> Fields {
        let followed = self.followed.is_some() || self.began.is_some() || self.voided != self.edition;
        let followed = followed.then(|| {
            let field = Writer::field(|w| {
                w.option(self.followed, Writer::wall);
                w.u32(self.voided.0);
                w.option(self.began, |w, (begins, opens)| {
                    w.wall(begins);
                    w.wall(opens);
                });
            });
            (FOLLOWED, field)
        });
        let sale = (!self.sale.is_nothing()).then(|| (SALE, Writer::field(|w| self.sale.write(w))));
        let orders = (!self.orders.is_empty()).then(|| (ORDERS, Writer::field(|w| self.orders.write(w))));
        let sold = self.tallies().map(|field| (STOCK, field));
        let fields = followed.into_iter().chain(sale).chain(self.drawn());
        let codes = (!self.codes.is_nothing()).then(|| (CODES, Writer::field(|w| self.codes.write(w))));
        let pulses = self.pulses().map(|field| (LANES, field));
        let load = self.load.as_ref();
        let load = load.map(|load| (LOAD, Writer::field(|w| load.write(w))));
        fields
            .chain(sold)
            .chain(self.tagged())
            .chain(codes)
            .chain(orders)
            .chain(pulses)
            .chain(self.rehearsed().map(|field| (VIRTUAL, field)))
            .chain(load)
            .collect()
    }

    /// The lanes in which somebody was drawn, or is to be.
    fn drawn(&self) -> Option<(u8, Vec<u8>)> {
        let lanes = self.lines.iter().flat_map(|(name, line)| {
            let lanes = (0..).map(LaneId).zip(&line.lanes);
            lanes.map(move |(id, lane)| (name, id, &lane.eras.draws))
        });
        let drawn: Vec<_> = lanes.filter(|(.., draws)| !draws.is_empty()).collect();
        let field = || {
            Writer::field(|w| {
                w.list(&drawn, |w, (name, id, draws)| {
                    w.text(name.as_str());
                    w.u8(id.0);
                    draws.write(w);
                });
            })
        };
        (!drawn.is_empty()).then(|| (DRAWN, field()))
    }

    /// The lanes in which places are accounts'.
    fn tagged(&self) -> Option<(u8, Vec<u8>)> {
        let lanes = self.lines.iter().flat_map(|(name, line)| {
            let lanes = (0..).map(LaneId).zip(&line.lanes);
            lanes.map(move |(id, lane)| (name, id, &lane.tags))
        });
        let tagged: Vec<_> = lanes.filter(|(.., tags)| tags.total() > 0).collect();
        let field = || {
            Writer::field(|w| {
                w.list(&tagged, |w, (name, id, tags)| {
                    w.text(name.as_str());
                    w.u8(id.0);
                    tags.write(w);
                });
            })
        };
        (!tagged.is_empty()).then(|| (ACCOUNTS, field()))
    }

    fn read_tagged(&mut self, r: &mut Reader) -> Read<()> {
        for (name, id, tags) in r.list(10, |r| Ok((r.line_name()?, r.lane()?, Tags::read(r)?)))? {
            let Some(lane) = self.lines.get_mut(&name).and_then(|line| line.lane(id)) else {
                return r.wrong();
            };
            lane.tags = tags;
        }
        Ok(())
    }

    fn read_drawn(&mut self, r: &mut Reader) -> Read<()> {
        for (name, id, draws) in r.list(4, |r| Ok((r.line_name()?, r.lane()?, Draws::read(r)?)))? {
            let Some(lane) = self.lines.get_mut(&name).and_then(|line| line.lane(id)) else {
                return r.wrong();
            };
            lane.eras.draws = draws;
        }
        Ok(())
    }

    fn read_later(&mut self, r: &mut Reader) -> Read<()> {
        read_later(r, |tag, field| {
            match tag {
                FOLLOWED => {
                    self.followed = field.option(Reader::wall)?;
                    self.voided = field.edition()?;
                    self.began = field.option(|r| Ok((r.wall()?, r.wall()?)))?;
                }
                SALE => self.sale = Arc::new(Sale::read(field)?),
                DRAWN => self.read_drawn(field)?,
                ORDERS => self.orders = Arc::new(Orders::read(field)?),
                STOCK => self.read_tallies(field)?,
                LANES => self.read_pulses(field)?,
                LOAD => self.load = Some(Box::new(Load::read(field)?)),
                ACCOUNTS => self.read_tagged(field)?,
                CODES => {
                    self.codes = Codes::read(field)?;
                    if self.codes.is_nothing() {
                        return field.wrong();
                    }
                }
                VIRTUAL => self.read_rehearsed(field)?,
                _ => return field.wrong(),
            }
            Ok(())
        })
    }
}

/// Tags of a room's fields: how far its schedule was followed, how far its draw has come, what was drawn, what was sold,
/// which places are accounts', which codes are spent, and how each of several lanes has been calling.
const FOLLOWED: u8 = 1;
const SALE: u8 = 2;
const DRAWN: u8 = 3;
const STOCK: u8 = 4;
const ACCOUNTS: u8 = 5;
const CODES: u8 = 6;
/// What operators did of late.
const ORDERS: u8 = 7;
const LANES: u8 = 8;
/// The rehearsal, and whose of it the places are.
const VIRTUAL: u8 = 9;
const LOAD: u8 = 10;
