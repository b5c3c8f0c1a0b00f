//! Changes of dates, lanes, stock or draw while visitors waited.
//!
//! A change counts by its effect on the settings in force, and only while visitors wait or a draw is on: a file that says the
//! same again, or a value that an operator's override hides, is no intervention. Nor are the next windows of a recurring
//! schedule.

use std::collections::BTreeMap;

use super::people;
use crate::dates::rfc3339;
use crate::draw::ARRIVAL;
use crate::room::{
    BreaksDraw, Change, Drawing, ONLY_LANE, Overrides, Phase, RoomView, Sale, Schedule, Settings, Wall, Window,
};

/// One of them.
pub(super) struct Moved {
    pub kind: &'static str,
    pub what: String,
    /// How many waited, at least 1.
    pub count: u64,
}

/// The settings in force of a room while the changes of one entry are gone through.
pub(super) struct InForce<'a> {
    /// Before the entry.
    room: &'a RoomView,
    /// Of the entry.
    now: Wall,
    configured: Settings,
    overrides: Overrides,
    settings: Settings,
    dates: Option<Dates>,
}

/// The dates of a room's present or next sale.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Dates {
    begins: Wall,
    opens: Wall,
    /// When it closes, or the next sale begins: the line is gone then.
    ends: Option<Wall>,
}

impl<'a> InForce<'a> {
    /// The room before an entry of this time.
    pub fn of(room: &'a RoomView, now: Wall) -> Self {
        let settings = room.overrides.over(&room.configured);
        let dates = settings.schedule.as_ref().and_then(|schedule| {
            let by_now = schedule.stage(now).map(|stage| stage.window);
            // A store's clock that was set back takes no room back.
            let reached = room.stage.map(|stage| stage.window);
            let window = by_now.into_iter().chain(reached).max_by_key(|window| window.opens)?;
            Some(Dates::of(schedule, &window))
        });
        Self {
            room,
            now,
            configured: Settings::clone(&room.configured),
            overrides: room.overrides.clone(),
            settings,
            dates,
        }
    }

    /// Takes an accepted change. Returns the dates that it moved.
    pub fn take(&mut self, change: &Change) -> Vec<Moved> {
        match change {
            Change::Configure(settings) => {
                let mut settings = settings.clone();
                keep(&mut settings.schedule, self.configured.schedule.as_ref());
                let draws = (self.configured.draw.as_ref(), settings.draw.as_ref());
                let schedule = self.overrides.schedule.as_ref().or(settings.schedule.as_ref());
                if self.room.sale.takes(draws, schedule, self.now) == Err(BreaksDraw::Opening) {
                    settings.schedule.clone_from(&self.configured.schedule);
                }
                self.configured = settings;
            }
            Change::Override(overrides) => {
                let mut overrides = overrides.clone();
                keep(&mut overrides.schedule, self.overrides.schedule.as_ref());
                self.overrides = overrides;
            }
            _ => return Vec::new(),
        }
        let is = self.overrides.over(&self.configured);
        let was = std::mem::replace(&mut self.settings, is);
        let dates = self.settings.schedule.as_ref().and_then(|schedule| {
            let stage = schedule.stage(self.now)?;
            Some(Dates::of(schedule, &stage.window))
        });
        let before = std::mem::replace(&mut self.dates, dates);
        let (was, is) = (&was, &self.settings);
        let touches = self.line_or_draw();
        self.told([
            ("dates moved", touches.then(|| dates_moved(before, dates)).flatten()),
            ("lanes changed", touches.then(|| lanes_changed(was, is)).flatten()),
            ("stock lowered", self.stock_lowered(was.stock)),
            ("draw changed", self.draw_changed(was.draw.as_ref())),
        ])
    }

    /// Those of them that there were.
    fn told<const N: usize>(&self, acts: [(&'static str, Option<String>); N]) -> Vec<Moved> {
        let waiting = self.waiting();
        let while_waiting = (waiting > 0).then(|| format!(", while {waiting} waited"));
        let draw = self.draw().map(|come| format!(", after {come}"));
        let when = format!("{}{}", while_waiting.unwrap_or_default(), draw.unwrap_or_default());
        let acts = acts.into_iter().filter_map(|(kind, what)| Some((kind, what?)));
        acts.map(|(kind, what)| Moved {
            kind,
            what: format!("{what}{when}"),
            count: waiting.max(1),
        })
        .collect()
    }

    fn waiting(&self) -> u64 {
        people(self.room)[0]
    }

    fn line_or_draw(&self) -> bool {
        self.waiting() > 0 || self.draw().is_some()
    }

    /// How far the draw that is on has come. One that was made is over with its sale.
    fn draw(&self) -> Option<&'static str> {
        let is_over = matches!(self.phase(), Some(Phase::Early | Phase::Closed));
        match &*self.room.sale {
            Sale { made: Some(_), .. } => (!is_over).then_some("the draw was made"),
            Sale { closed: Some(_), .. } => Some("the line was closed for its draw"),
            Sale { commitment, .. } => commitment.is_some().then_some("a draw was promised"),
        }
    }

    fn stock_lowered(&self, was: Option<u32>) -> Option<String> {
        let is = self.settings.stock.filter(|is| was.is_none_or(|was| *is < was))?;
        let was = was.map_or_else(|| "none".to_owned(), |was| was.to_string());
        (self.waiting() > 0).then(|| format!("stock lowered from {was} to {is}"))
    }

    /// Until the line is closed for its draw, the first time or anew: later the draw belongs to the next sale.
    fn draw_changed(&self, was: Option<&Drawing>) -> Option<String> {
        let is = self.settings.draw.as_ref();
        let sale = &self.room.sale;
        let forms = sale.closes_later() || (self.phase() == Some(Phase::Prequeue) && sale.closed.is_none());
        let method = |draw: Option<&Drawing>| match draw {
            None => ARRIVAL.to_owned(),
            Some(Drawing { order, beacon: None }) => order.name().to_owned(),
            Some(Drawing {
                order,
                beacon: Some(beacon),
            }) => format!("{} by beacon {beacon:?}", order.name()),
        };
        (forms && self.line_or_draw() && was != is)
            .then(|| format!("queueing_method changed from {} to {}", method(was), method(is)))
    }

    fn phase(&self) -> Option<Phase> {
        self.room.stage.map(|stage| stage.phase)
    }
}

impl Dates {
    fn of(schedule: &Schedule, window: &Window) -> Self {
        let next = schedule.windows.iter().find(|next| next.begins > window.begins);
        Self {
            begins: window.begins,
            opens: window.opens,
            ends: window.closes.or(next.map(|next| next.begins)),
        }
    }

    fn has_prequeue(&self) -> bool {
        self.begins < self.opens
    }
}

/// A room keeps the windows of a rule that it has.
fn keep(schedule: &mut Option<Schedule>, before: Option<&Schedule>) {
    let rule = |schedule: &Schedule| schedule.rule.clone();
    if before.map(rule) == schedule.as_ref().map(rule) {
        *schedule = before.cloned();
    }
}

fn dates_moved(was: Option<Dates>, is: Option<Dates>) -> Option<String> {
    let date = |date: Option<Wall>| date.map_or_else(|| "none".to_owned(), rfc3339);
    let of = |of: fn(&Dates) -> Option<Wall>| (was.as_ref().and_then(of), is.as_ref().and_then(of));
    let has_prequeue = [was, is].iter().flatten().any(Dates::has_prequeue);
    let dates = [
        ("prequeue_from", of(|dates| Some(dates.begins)), has_prequeue),
        ("opens_at", of(|dates| Some(dates.opens)), true),
        ("the end", of(|dates| dates.ends), true),
    ];
    let moved = dates.iter().filter(|(_, (was, is), told)| *told && was != is);
    let moved = moved.map(|(name, (was, is), _)| format!("{name} moved from {} to {}", date(*was), date(*is)));
    joined(&moved.collect::<Vec<_>>())
}

fn lanes_changed(was: &Settings, is: &Settings) -> Option<String> {
    let (Some(before), Some(after)) = (lanes(was), lanes(is)) else {
        let weights = |settings: &Settings| {
            let weights: Vec<String> = settings.lane_weights.iter().map(u16::to_string).collect();
            weights.join(":")
        };
        let (was, is) = (weights(was), weights(is));
        return (was != is).then(|| format!("lane weights changed from {was} to {is}"));
    };
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let gone = gone.map(|name| format!("lane {name:?} taken out"));
    let now = after
        .iter()
        .filter_map(|(name, weight)| match before.get(name).filter(|was| *was != weight) {
            Some(was) => Some(format!("weight of lane {name:?} changed from {was} to {weight}")),
            None if before.contains_key(name) => None,
            None => Some(format!("lane {name:?} added with weight {weight}")),
        });
    joined(&gone.chain(now).collect::<Vec<_>>())
}

/// The lanes that visitors are sent to, with their weights; `None` where they have no names.
fn lanes(settings: &Settings) -> Option<BTreeMap<&str, u16>> {
    if let ([], [weight]) = (settings.lanes.as_slice(), settings.lane_weights.as_slice()) {
        return Some([(ONLY_LANE, *weight)].into());
    }
    let lanes = settings.lanes.iter().zip(&settings.lane_weights);
    let open = lanes.filter(|(lane, _)| !lane.out);
    let named = open.map(|(lane, weight)| (lane.name.as_str(), *weight)).collect();
    (!settings.lanes.is_empty()).then_some(named)
}

fn joined(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(", "))
}
