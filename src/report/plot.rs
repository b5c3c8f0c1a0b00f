//! The plots of the report's page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::findings::Line;
use super::series::{Moment, Point, Points, Series};
use crate::charts::{Frame, Plot, across, float, in_words, label};
use crate::dates::rfc3339;
use ropeline_ids::Wall;

/// All plots of a line that there is something to show for.
pub(super) fn of(line: &Line) -> Vec<Plot> {
    let series = &line.over_time;
    if series.steps.is_empty() {
        return Vec::new();
    }
    let mut plots = vec![waiting(series), slots(series), calls(series)];
    if line.waits.count > 0 {
        plots.push(waits(&line.waits_bars));
    }
    let lanes: BTreeSet<u8> = line.order.points.iter().map(|point| point.lane).collect();
    plots.extend(lanes.iter().map(|lane| order(&line.order, *lane, lanes.len() > 1)));
    plots
}

fn waiting(series: &Series) -> Plot {
    let waiting = values(series, |step| step.waiting);
    let frame = Frame::new(waiting.len(), highest(&waiting));
    let mut svg = open(&frame, "Visitors waiting over time", series.start_ms, series.step_ms);
    frame.area(&mut svg, &waiting);
    frame.stairs(&mut svg, "a", &waiting);
    Plot::new("Waiting", &[], svg)
}

fn slots(series: &Series) -> Plot {
    let tops = values(series, |step| {
        step.slots.max(step.capacity.min(step.slots.saturating_mul(4)))
    });
    let frame = Frame::new(tops.len(), highest(&tops));
    let mut svg = open(
        &frame,
        "Slots in use and capacity over time",
        series.start_ms,
        series.step_ms,
    );
    frame.stairs(&mut svg, "a", &values(series, |step| step.slots));
    frame.stairs(&mut svg, "b", &values(series, |step| step.capacity));
    Plot::new("Slots", &[("a", "called or inside"), ("b", "capacity")], svg)
}

fn calls(series: &Series) -> Plot {
    let per_minute = |count: u64| (count * 60_000).div_ceil(series.step_ms.max(1));
    // A line as fine as the seconds would only flicker.
    let coarse = usize::try_from(60_000 / series.step_ms).unwrap_or(1).max(1);
    let coarse_steps = u64::try_from(coarse).unwrap_or(1);
    let calls = series.steps.chunks(coarse).map(|steps| {
        let calls: u64 = steps.iter().map(|step| step.calls).sum();
        float(per_minute(calls) / coarse_steps)
    });
    let calls: Vec<f64> = calls.collect();
    let frame = Frame::new(calls.len(), highest(&calls));
    let mut svg = open(
        &frame,
        "Calls a minute over time",
        series.start_ms,
        series.step_ms * coarse_steps,
    );
    for (at, calls) in calls.iter().enumerate() {
        frame.bar(&mut svg, at, *calls, "bar", &format!("{calls} a minute"));
    }
    Plot::new("Calls a minute", &[], svg)
}

fn waits(bars: &[(f64, u64)]) -> Plot {
    let counts: Vec<f64> = bars.iter().map(|(_, count)| float(*count)).collect();
    let frame = Frame::new(bars.len(), highest(&counts));
    let mut svg = frame.open("How many waited how long");
    for (at, (from, count)) in bars.iter().enumerate() {
        let last = at > 0 && at + 1 == bars.len();
        let from = in_words(*from);
        let to = bars
            .get(at + 1)
            .map_or_else(|| "more".to_owned(), |(to, _)| in_words(*to));
        let class = if last { "rest" } else { "bar" };
        frame.bar(&mut svg, at, counts[at], class, &format!("{from} to {to}: {count}"));
        if at % (bars.len() / 5).max(1) == 0 {
            label(&mut svg, frame.x(at), &from);
        }
    }
    Plot::new("Waits, the last bar and longer", &[], svg)
}

/// Every call of a lane as a dot, its number against its time: a fair line rises.
fn order(points: &Points, lane: u8, many: bool) -> Plot {
    let points: Vec<&Point> = points.points.iter().filter(|point| point.lane == lane).collect();
    let first = points.iter().map(|point| point.at_ms).min().unwrap_or(0);
    let last = points.iter().map(|point| point.at_ms).max().unwrap_or(0);
    let span = (last - first).max(1_000);
    // Epochs one upon the other: a newer one's numbers stand behind all older ones.
    let mut epochs: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
    for point in &points {
        let (low, high) = epochs.entry(point.epoch).or_insert((point.number, point.number));
        (*low, *high) = ((*low).min(point.number), (*high).max(point.number));
    }
    let mut bases = BTreeMap::new();
    let mut base = 0;
    for (epoch, (low, high)) in &epochs {
        bases.insert(*epoch, base);
        base += u64::from(high - low) + 1;
    }
    let frame = Frame::new(1, float(base).max(4.0));
    let mut svg = open(&frame, "Number against the time of its call", first, span);
    for point in points {
        let low = epochs.get(&point.epoch).map_or(0, |(low, _)| *low);
        let base = bases.get(&point.epoch).copied().unwrap_or(0);
        let (x, y) = (
            across(float(point.at_ms - first) / float(span)),
            frame.y(float(base + u64::from(point.number - low))),
        );
        let (class, r) = if point.again {
            (" class=\"again\"", 2.5)
        } else {
            ("", 1.5)
        };
        let _ = write!(svg, "<circle{class} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\"/>");
    }
    let keys = [("dot", "first call"), ("again", "again, after a missed turn")];
    let title = if many {
        format!("Order of lane {lane}: number against time of call")
    } else {
        "Order: number against time of call".to_owned()
    };
    Plot::new(&title, &keys, svg)
}

/// The picture with times below it, `step_ms` apart.
fn open(frame: &Frame, title: &str, start_ms: u64, step_ms: u64) -> String {
    let mut svg = frame.open(title);
    let span = step_ms.saturating_mul(frame.steps as u64).max(1);
    let every = EVERY.iter().copied().find(|every| span / every < MARKS).unwrap_or(span);
    let mut at = start_ms.next_multiple_of(every);
    while at <= start_ms + span {
        let x = across(float(at - start_ms) / float(span));
        label(&mut svg, x, &clock(at, every, span));
        at += every;
    }
    svg
}

/// The time of day in UTC, with the seconds or the date where they tell marks apart.
fn clock(ms: u64, every: u64, span: u64) -> String {
    let time = rfc3339(Wall(ms));
    let part = match () {
        () if every < 60_000 => time.get(11..19),
        () if span > 86_400_000 => time.get(5..16),
        () => time.get(11..16),
    };
    part.unwrap_or_default().replace('T', " ")
}

fn values(series: &Series, of: impl Fn(&Moment) -> u64) -> Vec<f64> {
    series.steps.iter().map(|step| float(of(step))).collect()
}

/// The highest value, at least the four that a plot of counts has lines for.
fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(4.0, f64::max)
}

/// The axis of time has fewer marks than this, at one of these distances in milliseconds.
const MARKS: u64 = 6;
const EVERY: [u64; 21] = [
    1_000,
    2_000,
    5_000,
    10_000,
    15_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    10_800_000,
    21_600_000,
    43_200_000,
    86_400_000,
    172_800_000,
    604_800_000,
    2_419_200_000,
];
