//! A room as bytes. What may be absent are fields behind the rest.

use std::sync::Arc;

use crate::codec::{self, Fields, Read, Reader, Writer};
use crate::draw::AdmissionOrder;
use crate::entry::sale::Sale;
use crate::lane::Lane;
use crate::lane::drawn::Draws;
use crate::lane::virtuals::Virtuals;
use crate::line::Line;
use crate::line::accounts::Tags;
use crate::line::pulse::Pulse;
use crate::line::stock::Tally;
use crate::load::Load;
use crate::room::Room;
use crate::room::codes::Codes;
use crate::room::commands::Commands;
use crate::room::draw::RoomDraw;
use crate::room::edition::Editions;
use crate::room::lines::LineSet;
use crate::room::load::RoomLoad;
use crate::room::pending::Pending;
use crate::room::rehearsal::Rehearsal;
use crate::room::terms::Terms;
use crate::settings::Settings;
use ropeline_ids::{Epoch, LaneId, LineName};

pub fn write(room: &Room, w: &mut Writer) {
    room.terms.write(w);
    w.u64(room.revision);
    w.u32(room.edition().0);
    w.option(room.editions.spared(), |w, epoch| w.u64(epoch.0));
    let lines: Vec<(&LineName, &Line)> = room.lines.iter().collect();
    w.list(&lines, |w, (name, line)| {
        w.text(name.as_str());
        line.write(w);
    });
    room.pending.write(w);
    w.fields(&fields(room));
}

/// When lines are due is worked out by [`Room::reschedule`].
pub fn read(r: &mut Reader) -> Read<Room> {
    let terms = Terms::read(r)?;
    let revision = r.u64()?;
    let mut room = Room {
        terms,
        ..Room::new(Settings::default(), revision)
    };
    room.editions = Editions::new(r.edition()?);
    room.editions.restore(r.option(|r| Ok(Epoch(r.u64()?)))?);
    let mut lines = LineSet::default();
    for (name, line) in r.list(64, |r| Ok((r.line_name()?, Line::read(r)?)))? {
        lines.restore(name, line);
    }
    room.lines = lines;
    room.pending = Pending::read(r)?;
    read_fields(&mut room, r)?;
    // Only now are draws known too, by which a place has its number.
    room.lines.all_mut().for_each(Line::derive);
    room.enforce();
    for name in room.lines.names() {
        room.lines.count(&name);
    }
    Ok(room)
}

fn fields(room: &Room) -> Fields {
    let followed = !room.timetable.is_nothing() || room.editions.voided() != room.edition();
    let followed = followed.then(|| {
        let field = Writer::field(|w| {
            room.timetable.write_followed(w);
            w.u32(room.editions.voided().0);
            room.timetable.write_began(w);
        });
        (FOLLOWED, field)
    });
    let sale = room.draw.sale();
    let sale = (!sale.is_nothing()).then(|| (SALE, Writer::field(|w| sale.write(w))));
    let drawn = room.lines.of_lanes(
        |lane| !lane.epochs.draws.is_empty(),
        |lane, w| lane.epochs.draws.write(w),
    );
    let sold = room
        .lines
        .of_lines(|line| !line.tally().is_nothing(), |line, w| line.tally().write(w));
    let tagged = room
        .lines
        .of_lanes(|lane| lane.tags.total() > 0, |lane, w| lane.tags.write(w));
    let codes = (!room.codes.is_nothing()).then(|| (CODES, Writer::field(|w| room.codes.write(w))));
    let commands = (!room.commands.is_empty()).then(|| (ORDERS, Writer::field(|w| room.commands.write(w))));
    let beating = room
        .lines
        .of_lanes(|lane| lane.pulse.total() > 0, |lane, w| lane.pulse.write(w));
    let orders = room.lines.of_lanes(
        |lane| lane.epochs.draws.has_orders(),
        |lane, w| lane.epochs.draws.write_orders(w),
    );
    let rehearsal = room.rehearsal.as_ref();
    let rehearsal = rehearsal.map(|rehearsal| (REHEARSAL, Writer::field(|w| rehearsal.write(w))));
    let virtuals = room
        .lines
        .of_lanes(|lane| !lane.virtuals.is_empty(), |lane, w| lane.virtuals.write(w));
    let load = room.load.load();
    let load = load.map(|load| (LOAD, Writer::field(|w| load.write(w))));
    followed
        .into_iter()
        .chain(sale)
        .chain(drawn.map(|field| (DRAWN, field)))
        .chain(sold.map(|field| (STOCK, field)))
        .chain(tagged.map(|field| (ACCOUNTS, field)))
        .chain(codes)
        .chain(commands)
        .chain(beating.map(|field| (LANES, field)))
        .chain(rehearsal)
        .chain(load)
        .chain(orders.map(|field| (DRAW_ORDERS, field)))
        .chain(virtuals.map(|field| (VIRTUALS, field)))
        .collect()
}

fn read_fields(room: &mut Room, r: &mut Reader) -> Read<()> {
    codec::read_fields(r, |tag, field| {
        match tag {
            FOLLOWED => {
                room.timetable.read_followed(field)?;
                room.editions.set_voided(field.edition()?);
                room.timetable.read_began(field)?;
            }
            SALE => room.draw = RoomDraw::of(Sale::read(field)?),
            DRAWN => room.lines.read_lanes(field, 4, Draws::read, |lane, draws| {
                lane.epochs.draws = draws;
                true
            })?,
            ORDERS => room.commands = Commands::read(field)?,
            STOCK => room.lines.read_tallies(field)?,
            LANES => room.lines.read_lanes(field, 4, Pulse::read, |lane, pulse| {
                lane.pulse = pulse;
                true
            })?,
            LOAD => room.load = RoomLoad::of(Load::read(field)?),
            ACCOUNTS => room.lines.read_lanes(field, 10, Tags::read, |lane, tags| {
                lane.tags = tags;
                true
            })?,
            CODES => {
                room.codes = Codes::read(field)?;
                if room.codes.is_nothing() {
                    return field.wrong();
                }
            }
            DRAW_ORDERS => {
                let orders = |r: &mut Reader| r.list(1, AdmissionOrder::read);
                room.lines
                    .read_lanes(field, 3, orders, |lane, orders| lane.epochs.draws.set_orders(&orders))?;
            }
            REHEARSAL => room.rehearsal = Some(Arc::new(Rehearsal::read(field)?)),
            VIRTUALS => room.lines.read_lanes(field, 4, Virtuals::read, |lane, virtuals| {
                lane.virtuals = virtuals;
                !lane.virtuals.is_empty()
            })?,
            _ => return field.wrong(),
        }
        Ok(())
    })
}

impl LineSet {
    /// What there is to write of each lane of each line: nothing where no lane has any.
    fn of_lanes(&self, has: fn(&Lane) -> bool, write: fn(&Lane, &mut Writer)) -> Option<Vec<u8>> {
        let lanes = self.iter().flat_map(|(name, line)| {
            let lanes = (0..).map(LaneId).zip(line.lanes());
            lanes.map(move |(id, lane)| (name, id, lane))
        });
        let lanes: Vec<_> = lanes.filter(|(.., lane)| has(lane)).collect();
        let field = || {
            Writer::field(|w| {
                w.list(&lanes, |w, (name, id, lane)| {
                    w.text(name.as_str());
                    w.u8(id.0);
                    write(lane, w);
                });
            })
        };
        (!lanes.is_empty()).then(field)
    }

    /// As [`LineSet::of_lanes`], of each line.
    fn of_lines(&self, has: fn(&Line) -> bool, write: fn(&Line, &mut Writer)) -> Option<Vec<u8>> {
        let lines: Vec<(&LineName, &Line)> = self.iter().filter(|(_, line)| has(line)).collect();
        let field = || {
            Writer::field(|w| {
                w.list(&lines, |w, (name, line)| {
                    w.text(name.as_str());
                    write(line, w);
                });
            })
        };
        (!lines.is_empty()).then(field)
    }

    /// Reads what [`LineSet::of_lanes`] has written.
    fn read_lanes<T>(
        &mut self,
        r: &mut Reader,
        least: usize,
        read: fn(&mut Reader) -> Read<T>,
        put: fn(&mut Lane, T) -> bool,
    ) -> Read<()> {
        for (name, id, value) in r.list(least, |r| Ok((r.line_name()?, r.lane()?, read(r)?)))? {
            let lane = self.get_mut(&name).and_then(|line| line.lane(id));
            if !lane.is_some_and(|lane| put(lane, value)) {
                return r.wrong();
            }
        }
        Ok(())
    }

    fn read_tallies(&mut self, r: &mut Reader) -> Read<()> {
        for (name, tally) in r.list(3, |r| Ok((r.line_name()?, Tally::read(r)?)))? {
            let Some(line) = self.get_mut(&name).filter(|_| !tally.is_nothing()) else {
                return r.wrong();
            };
            line.set_tally(tally);
        }
        Ok(())
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
const REHEARSAL: u8 = 9;
const LOAD: u8 = 10;
/// By which order each draw of a lane was made, where one is by another than the first.
const DRAW_ORDERS: u8 = 11;
/// Which places of each lane are virtual visitors'.
const VIRTUALS: u8 = 12;
