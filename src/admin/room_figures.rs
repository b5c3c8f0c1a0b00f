//! Figures of the rooms, read from the view when a scrape asks.
//!
//! Lines are summed per room: a label per line would grow without end.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::patch::mode_name;
use super::{api, shape};
use crate::replica::Replica;
use crate::room::{Figures, LineName, Mode, RoomName, RoomView};

/// What the rooms know.
#[derive(Debug)]
pub(super) struct RoomFigures {
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
    fn totals(&self, rooms: &BTreeMap<RoomName, Arc<RoomView>>) -> Vec<(String, Totals)> {
        // A scrape that panicked half way leaves counts that are still right.
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.retain(|room, _| rooms.contains_key(room));
        let total = |(name, room): (&RoomName, &Arc<RoomView>)| {
            let lines = room.lines.iter().map(|(line, view)| (line, totals(&view.figures)));
            (
                name.to_string(),
                counted.entry(name.clone()).or_default().advance(lines),
            )
        };
        rooms.iter().map(total).collect()
    }
}

impl Collector for RoomFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let view = self.replica.view();
        for (name, help, figure) in GAUGES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (room, view) in &view.rooms {
                metric
                    .encode_family(&[("room", room.as_str())])?
                    .encode_gauge(&figure(view))?;
            }
        }
        let mut modes =
            encoder.encode_descriptor("mode", "1 for the mode that is in force", None, MetricType::Gauge)?;
        for (room, view) in &view.rooms {
            for mode in [Mode::Auto, Mode::Hold, Mode::Closed, Mode::Off] {
                let labels = [("room", room.as_str()), ("mode", mode_name(mode))];
                modes
                    .encode_family(&labels)?
                    .encode_gauge(&u64::from(mode == view.settings.mode))?;
            }
        }
        let rooms = self.totals(&view.rooms);
        for (at, (name, help)) in COUNTERS.into_iter().enumerate() {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (room, totals) in &rooms {
                let labels = [("room", room.as_str())];
                metric
                    .encode_family(&labels)?
                    .encode_counter::<NoLabelSet, _, f64>(&totals[at], None)?;
            }
        }
        Ok(())
    }
}

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
        "Sessions above what the room opened by itself",
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
    shape::total(room)
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

/// What only grows, in the order of [`COUNTERS`].
type Totals = [u64; 6];

const COUNTERS: [(&str, &str); 6] = [
    ("joins", "Visitors who joined"),
    ("calls", "Visitors told to come in, again counted again"),
    ("claims", "Called visitors who came"),
    ("no_shows", "Called visitors who did not come in time"),
    ("ends", "Sessions that ended"),
    ("left", "Visitors who left the line"),
];

fn totals(figures: &Figures) -> Totals {
    let Figures {
        joins,
        calls,
        claims,
        no_shows,
        ends,
        left,
        ..
    } = *figures;
    [joins, calls, claims, no_shows, ends, left]
}

/// A room's totals over lines that come and go: a line that is forgotten takes its own away, and a counter must not fall.
/// What a line did between the last scrape and being forgotten is not seen.
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
        counted.advance(lines.iter().map(|(name, joins)| (*name, [*joins, 0, 0, 0, 0, 0])))[0]
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
