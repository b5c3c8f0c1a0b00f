//! Metrics of the rooms, read from their view when a scrape asks.
//!
//! Lines are summed per room: a label per line would grow without end.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encode::{counters, gauges, of_room};
use super::load;
use super::rehearsals;
use crate::admin::api;
use crate::admin::patch::keys::mode_name;
use crate::admin::view;
use crate::replica::Replica;
use crate::room::{Figures, LineName, Mode, Phase, RoomName, RoomView};

/// The figures of the rooms.
#[derive(Debug)]
pub struct RoomFigures {
    replica: Replica,
    counted: Mutex<BTreeMap<RoomName, Counted>>,
}

impl RoomFigures {
    pub fn new(replica: Replica) -> Self {
        Self {
            replica,
            counted: Mutex::default(),
        }
    }

    /// Each room's totals so far.
    fn totals(&self, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> Vec<(RoomName, Totals)> {
        // A scrape that panicked half way leaves counts that are still right.
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.retain(|room, _| rooms.contains_key(room));
        let total = |(name, room): (&RoomName, &Arc<RoomView>)| {
            let lines = room.lines.iter().map(|(line, view)| (line, totals(&view.figures)));
            (name.clone(), counted.entry(name.clone()).or_default().advance(lines))
        };
        rooms.iter().map(total).collect()
    }
}

impl Collector for RoomFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (view, now) = (self.replica.view(), self.replica.now());
        for (name, help, figure) in GAUGES {
            let values = view.rooms.iter().map(|(room, view)| (of_room(room), figure(view)));
            gauges(&mut encoder, name, help, values)?;
        }
        let modes = view.rooms.iter().flat_map(|(room, view)| {
            [Mode::Auto, Mode::Hold, Mode::Closed, Mode::Off].map(|mode| {
                let labels = [("room", room.as_str()), ("mode", mode_name(mode))];
                (labels, u64::from(mode == view.settings.mode))
            })
        });
        gauges(&mut encoder, "mode", "1 for the mode that is in force", modes)?;
        encode_phases(&mut encoder, &view.rooms)?;
        let waits = |opening: bool| {
            let view = &view;
            view.rooms.iter().map(move |(room, of)| {
                let left = view.heals_for(of, now).filter(|_| view.is_opening(of) == opening);
                (of_room(room), left.unwrap_or_default().div_ceil(1_000))
            })
        };
        let help = "Until a room calls again, where visitors of a lost log come back; 0 where it does";
        gauges(&mut encoder, "room_healing_seconds", help, waits(false))?;
        let help = "Until a room of a log that has just begun calls, where nothing was lost so far; 0 where it does";
        gauges(&mut encoder, "room_opening_seconds", help, waits(true))?;
        load::encode(&mut encoder, &view.rooms)?;
        encode_lanes(&mut encoder, &view.rooms)?;
        encode_stock(&mut encoder, &view.rooms)?;
        encode_active(&mut encoder, &view.rooms)?;
        encode_estimates(&mut encoder, &view.rooms)?;
        rehearsals::encode(&mut encoder, &view.rooms)?;
        let rooms = self.totals(&view.rooms);
        for (at, (name, help)) in COUNTERS.into_iter().enumerate() {
            let values = rooms.iter().map(|(room, totals)| (of_room(room), totals[at]));
            counters(&mut encoder, name, help, values)?;
        }
        Ok(())
    }
}

/// Empty for rooms without a schedule.
fn encode_phases(encoder: &mut DescriptorEncoder<'_>, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> fmt::Result {
    let scheduled = rooms.iter().filter_map(|(room, view)| Some((room, view.stage?)));
    let phases = scheduled.flat_map(|(room, stage)| {
        [Phase::Early, Phase::Prequeue, Phase::Open, Phase::Closed].map(|phase| {
            let labels = [("room", room.as_str()), ("phase", view::room::phase_name(phase))];
            (labels, u64::from(phase == stage.phase))
        })
    });
    gauges(
        encoder,
        "phase",
        "1 for the phase of its schedule that a room is in",
        phases,
    )
}

/// Empty for rooms with one lane.
fn encode_lanes(encoder: &mut DescriptorEncoder<'_>, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> fmt::Result {
    let lanes: Vec<(&RoomName, api::Lane)> = rooms
        .iter()
        .flat_map(|(room, view)| view::room::lanes_of(view).into_iter().map(move |lane| (room, lane)))
        .collect();
    for (name, help, figure) in LANES {
        let values = lanes.iter().map(|(room, lane)| {
            let labels = [("room", room.as_str()), ("lane", lane.name.as_str())];
            (labels, figure(lane))
        });
        gauges(encoder, name, help, values)?;
    }
    Ok(())
}

/// Empty for rooms without stock.
fn encode_stock(encoder: &mut DescriptorEncoder<'_>, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> fmt::Result {
    let totals = rooms.iter().map(|(room, view)| (room, total(view)));
    let selling: Vec<_> = totals.filter(|(_, total)| total.stock.is_some()).collect();
    for (name, help, figure) in STOCK {
        gauges(
            encoder,
            name,
            help,
            selling.iter().map(|(room, total)| (of_room(room), figure(total))),
        )?;
    }
    Ok(())
}

/// Empty for rooms without active slots.
fn encode_active(encoder: &mut DescriptorEncoder<'_>, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> fmt::Result {
    let active: Vec<_> = rooms
        .iter()
        .filter(|(_, view)| view.settings.active.is_some())
        .collect();
    for (name, help, figure) in ACTIVE {
        let values = active.iter().map(|(room, view)| (of_room(room), figure(view)));
        gauges(encoder, name, help, values)?;
    }
    Ok(())
}

/// Of each quarter of the line of which an outcome is known.
fn encode_estimates(encoder: &mut DescriptorEncoder<'_>, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> fmt::Result {
    let values = rooms.iter().flat_map(|(room, view)| {
        let quarters = view::room::told(view).into_iter().enumerate();
        quarters.filter_map(move |(at, told)| {
            let labels = [("room", room.to_string()), ("quarter", (at + 1).to_string())];
            Some((labels, f64::from(told.lately_percent()?) / 100.0))
        })
    });
    let help = "Share of the told waits that held lately, by quarter of the line from the front";
    gauges(encoder, "estimates_held_ratio", help, values)
}

type OfActive = (&'static str, &'static str, fn(&RoomView) -> u64);

const ACTIVE: [OfActive; 3] = [
    ("parked_sessions", "Visitors inside without a slot", |room| {
        total(room).parked
    }),
    ("max_sessions", "Most visitors called, inside and parked", |room| {
        total(room).max_sessions.unwrap_or(0)
    }),
    (
        "reserved_slots",
        "Free slots that are kept for parked sessions",
        |room| room.lines.values().map(|line| u64::from(line.figures.reserve)).sum(),
    ),
];

/// Calls are a gauge: those of a line that is forgotten go with it.
type LaneGauge = (&'static str, &'static str, fn(&api::Lane) -> u64);

const LANES: [LaneGauge; 4] = [
    ("lane_waiting", "Present visitors in a lane", |lane| lane.waiting),
    (
        "lane_called",
        "Visitors of a lane called who have not come yet",
        |lane| lane.called,
    ),
    ("lane_sessions", "Visitors of a lane inside", |lane| lane.sessions),
    ("lane_calls", "Calls of a lane, in the lines there are", |lane| {
        lane.calls
    }),
];

type OfStock = (&'static str, &'static str, fn(&api::Figures) -> u64);

const STOCK: [OfStock; 4] = [
    ("stock", "Pieces that there are", |total| total.stock.unwrap_or(0)),
    ("stock_completed", "Pieces sold in this edition", |total| {
        total.completed
    }),
    (
        "stock_unfinished",
        "Pieces held for visitors called or inside",
        |total| total.unfinished,
    ),
    ("stock_left", "Pieces that nobody has and nobody holds", |total| {
        let gone = total.completed.saturating_add(total.unfinished);
        total.stock.unwrap_or(0).saturating_sub(gone)
    }),
];

type Gauge = (&'static str, &'static str, fn(&RoomView) -> f64);

#[expect(clippy::cast_precision_loss, reason = "figures for a graph")]
const GAUGES: [Gauge; 7] = [
    ("waiting", "Present visitors in line", |room| total(room).waiting as f64),
    ("called", "Visitors called who have not come yet", |room| {
        total(room).called as f64
    }),
    ("sessions", "Visitors inside", |room| total(room).sessions as f64),
    ("capacity", "Slots", |room| total(room).capacity as f64),
    (
        "excess_sessions",
        "Slots taken above capacity, or sessions opened again after an outage",
        |room| total(room).excess as f64,
    ),
    ("lines", "Lines", |room| room.lines.len() as f64),
    (
        "last_call_timestamp_seconds",
        "The last call, seconds since 1970; 0 for none yet",
        last_call_secs,
    ),
];

fn total(room: &RoomView) -> api::Figures {
    view::room::total(room)
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
fn last_call_secs(room: &RoomView) -> f64 {
    let last = room
        .lines
        .values()
        .filter_map(|line| line.last_call())
        .max()
        .unwrap_or_default();
    last.0 as f64 / 1e3
}

/// Totals that only grow, in the order of [`COUNTERS`].
type Totals = [u64; 7];

const COUNTERS: [(&str, &str); 7] = [
    ("joins", "Visitors who joined"),
    ("calls", "Visitors told to come in, again counted again"),
    ("claims", "Called visitors who came"),
    ("no_shows", "Called visitors who did not come in time"),
    ("ends", "Sessions that ended"),
    ("left", "Visitors who left the line"),
    ("bypasses", "Visits let past the line while a gate was cut off"),
];

fn totals(figures: &Figures) -> Totals {
    let Figures {
        joins,
        calls,
        claims,
        no_shows,
        ends,
        left,
        bypasses,
        ..
    } = *figures;
    [joins, calls, claims, no_shows, ends, left, bypasses]
}

/// A room's totals over lines that come and go: a forgotten line takes its totals away, and a counter must not fall. Events
/// of a line between the last scrape and its removal are not counted.
#[derive(Debug, Default)]
struct Counted {
    sums: Totals,
    lines: BTreeMap<LineName, Totals>,
}

impl Counted {
    fn advance<'a>(&mut self, lines: impl Iterator<Item = (&'a LineName, Totals)>) -> Totals {
        let before = std::mem::take(&mut self.lines);
        for (line, now) in lines {
            let earlier = before.get(line).copied().unwrap_or_default();
            // Lower than before: forgotten and made anew in between.
            let anew = now.iter().zip(&earlier).any(|(now, earlier)| now < earlier);
            for (at, sum) in self.sums.iter_mut().enumerate() {
                *sum += if anew { now[at] } else { now[at] - earlier[at] };
            }
            self.lines.insert(line.clone(), now);
        }
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str) -> LineName {
        LineName::new(name).expect("a name")
    }

    fn joins(counted: &mut Counted, lines: &[(&LineName, u64)]) -> u64 {
        counted.advance(lines.iter().map(|(name, joins)| (*name, [*joins, 0, 0, 0, 0, 0, 0])))[0]
    }

    #[test]
    fn a_counter_does_not_fall_when_a_line_is_forgotten_or_made_anew() {
        let (a, b) = (line("a"), line("b"));
        let mut counted = Counted::default();
        assert_eq!(joins(&mut counted, &[(&a, 5), (&b, 2)]), 7);
        assert_eq!(joins(&mut counted, &[(&b, 3)]), 8, "a is forgotten");
        assert_eq!(
            joins(&mut counted, &[(&a, 1), (&b, 3)]),
            9,
            "a is back, from its beginning"
        );
        assert_eq!(
            joins(&mut counted, &[(&a, 4), (&b, 1)]),
            13,
            "b was forgotten and made anew in between"
        );
        assert_eq!(joins(&mut counted, &[(&a, 4), (&b, 1)]), 13);
        assert_eq!(
            counted.lines.len(),
            2,
            "what is remembered is bounded by the lines there are"
        );
    }
}
