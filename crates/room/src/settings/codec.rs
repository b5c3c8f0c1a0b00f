//! The byte form of settings and overrides. What may be absent are fields at their end, which the mode's byte announces.

use std::collections::BTreeMap;

use super::{Mode, Overrides, Settings};
use crate::codec::{Fields, Read, Reader, Writer};
use crate::entry::sale::Drawing;
use crate::load::LoadControl;
use crate::settings::lanes::NamedLane;
use crate::settings::schedule::Schedule;

pub(crate) fn write_settings(w: &mut Writer, settings: &Settings) {
    let optional = Optional {
        schedule: settings.schedule.clone(),
        draw: settings.draw.clone(),
        stock: settings.stock,
        lanes: settings.lanes.clone(),
        bypass_most: settings.bypass_most,
        load_control: settings.load_control,
    };
    let optional = optional.fields();
    w.u8(mode_byte(settings.mode) | if optional.is_empty() { 0 } else { MORE });
    w.u32(settings.capacity);
    w.option(settings.rate_per_minute, Writer::u32);
    for duration in [
        settings.call_every_ms,
        settings.session_ms,
        settings.session_max_ms,
        settings.claim_deadline_ms,
        settings.grace_ms,
        settings.firm_within_ms,
        settings.late_window_ms,
    ] {
        w.u64(duration);
    }
    w.u32(settings.max_lines);
    w.list(&settings.lane_weights, |w, weight| w.u16(*weight));
    if !optional.is_empty() {
        w.fields(&optional);
    }
}

pub(crate) fn read_settings(r: &mut Reader) -> Read<Settings> {
    let byte = r.u8()?;
    let more = byte & MORE != 0;
    let mode = mode_of(if more { byte & !MORE } else { byte }, r)?;
    let mut settings = Settings {
        mode,
        capacity: r.u32()?,
        rate_per_minute: r.option(Reader::u32)?,
        call_every_ms: r.u64()?,
        session_ms: r.u64()?,
        session_max_ms: r.u64()?,
        claim_deadline_ms: r.u64()?,
        grace_ms: r.u64()?,
        firm_within_ms: r.u64()?,
        late_window_ms: r.u64()?,
        max_lines: r.u32()?,
        lane_weights: r.list(2, Reader::u16)?,
        lanes: Vec::new(),
        schedule: None,
        draw: None,
        stock: None,
        bypass_most: 0,
        load_control: None,
    };
    if more {
        let optional = Optional::read(r)?;
        settings.load_control = optional.load_control;
        (settings.schedule, settings.draw) = (optional.schedule, optional.draw);
        (settings.stock, settings.lanes) = (optional.stock, optional.lanes);
        settings.bypass_most = optional.bypass_most;
    }
    Ok(settings)
}

/// What may be absent of settings, and of overrides.
#[derive(Default)]
struct Optional {
    schedule: Option<Schedule>,
    draw: Option<Drawing>,
    stock: Option<u32>,
    lanes: Vec<NamedLane>,
    bypass_most: u32,
    load_control: Option<LoadControl>,
}

impl Optional {
    fn fields(&self) -> Fields {
        let schedule = self.schedule.as_ref();
        let schedule = schedule.map(|schedule| (SCHEDULE, Writer::field(|w| schedule.write(w))));
        let draw = self.draw.as_ref();
        let draw = draw.map(|draw| (DRAW, Writer::field(|w| draw.write(w))));
        let stock = self.stock.map(|stock| (STOCK, Writer::field(|w| w.u32(stock))));
        let lanes = (!self.lanes.is_empty()).then(|| {
            let field = Writer::field(|w| w.list(&self.lanes, |w, lane| lane.write(w)));
            (LANES, field)
        });
        let load_control = self.load_control.as_ref();
        let load_control = load_control.map(|control| (LOAD_CONTROL, Writer::field(|w| control.write(w))));
        let bypass = (self.bypass_most > 0).then(|| (BYPASS, Writer::field(|w| w.u32(self.bypass_most))));
        let fields = schedule.into_iter().chain(draw).chain(stock).chain(lanes);
        fields.chain(load_control).chain(bypass).collect()
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut optional = Self::default();
        let fields = r.fields()?;
        // Nothing is never written.
        if fields.is_empty() {
            return r.wrong();
        }
        for (tag, mut field) in fields {
            match tag {
                SCHEDULE => optional.schedule = Some(Schedule::read(&mut field)?),
                DRAW => optional.draw = Some(Drawing::read(&mut field)?),
                STOCK => optional.stock = Some(field.u32()?),
                LANES => {
                    optional.lanes = field.list(2, NamedLane::read)?;
                    if optional.lanes.is_empty() {
                        return field.wrong();
                    }
                }
                LOAD_CONTROL => optional.load_control = Some(LoadControl::read(&mut field)?),
                BYPASS => {
                    optional.bypass_most = field.u32()?;
                    if optional.bypass_most == 0 {
                        return field.wrong();
                    }
                }
                _ => return field.wrong(),
            }
            field.finish()?;
        }
        Ok(optional)
    }
}

pub(crate) fn write_overrides(w: &mut Writer, overrides: &Overrides) {
    let optional = Optional {
        schedule: overrides.schedule.clone(),
        stock: overrides.stock,
        ..Optional::default()
    };
    let mut optional = optional.fields();
    if !overrides.messages.is_empty() {
        optional.push((MESSAGES, Writer::field(|w| write_messages(w, &overrides.messages))));
    }
    w.u8(u8::from(overrides.mode.is_some()) | if optional.is_empty() { 0 } else { MORE });
    if let Some(mode) = overrides.mode {
        w.u8(mode_byte(mode));
    }
    w.option(overrides.capacity, Writer::u32);
    w.option(overrides.rate_per_minute, |w, rate| w.option(rate, Writer::u32));
    w.option(overrides.message.as_deref(), Writer::text);
    if !optional.is_empty() {
        w.fields(&optional);
    }
}

pub(crate) fn read_overrides(r: &mut Reader) -> Read<Overrides> {
    let byte = r.u8()?;
    let more = byte & MORE != 0;
    let mode = match if more { byte & !MORE } else { byte } {
        0 => None,
        1 => Some(r.u8()?),
        _ => return r.wrong(),
    };
    let mut overrides = Overrides {
        mode: mode.map(|byte| mode_of(byte, r)).transpose()?,
        capacity: r.option(Reader::u32)?,
        rate_per_minute: r.option(|r| r.option(Reader::u32))?,
        message: r.option(|r| r.text().map(str::to_owned))?,
        ..Overrides::default()
    };
    if more {
        read_optional(r, &mut overrides)?;
    }
    Ok(overrides)
}

fn read_optional(r: &mut Reader, overrides: &mut Overrides) -> Read<()> {
    let fields = r.fields()?;
    // Nothing is never written.
    if fields.is_empty() {
        return r.wrong();
    }
    for (tag, mut field) in fields {
        match tag {
            SCHEDULE => overrides.schedule = Some(Schedule::read(&mut field)?),
            STOCK => overrides.stock = Some(field.u32()?),
            MESSAGES => overrides.messages = read_messages(&mut field)?,
            _ => return field.wrong(),
        }
        field.finish()?;
    }
    Ok(())
}

fn write_messages(w: &mut Writer, messages: &BTreeMap<String, String>) {
    w.count(messages.len());
    for (tag, text) in messages {
        w.text(tag);
        w.text(text);
    }
}

/// At least one, by rising tags, so that equal ones have equal bytes.
fn read_messages(r: &mut Reader) -> Read<BTreeMap<String, String>> {
    let messages = r.list(2, |r| Ok((r.text()?.to_owned(), r.text()?.to_owned())))?;
    if messages.is_empty() || !messages.is_sorted_by(|(a, _), (b, _)| a < b) {
        return r.wrong();
    }
    Ok(messages.into_iter().collect())
}

pub(crate) fn mode_byte(mode: Mode) -> u8 {
    match mode {
        Mode::Auto => 0,
        Mode::Hold => 1,
        Mode::Closed => 2,
        Mode::Off => 3,
    }
}

pub(crate) fn mode_of(byte: u8, r: &Reader) -> Read<Mode> {
    match byte {
        0 => Ok(Mode::Auto),
        1 => Ok(Mode::Hold),
        2 => Ok(Mode::Closed),
        3 => Ok(Mode::Off),
        _ => r.wrong(),
    }
}

/// In a settings' mode, and in what says whether overrides have one: fields follow at their end.
const MORE: u8 = 0x80;

/// Tags of these fields. Whatever else a room is told by its configuration has its own here.
const SCHEDULE: u8 = 1;
const DRAW: u8 = 2;
const STOCK: u8 = 3;
/// Of overrides alone.
const MESSAGES: u8 = 5;
const LANES: u8 = 5;
const LOAD_CONTROL: u8 = 6;
const BYPASS: u8 = 7;
