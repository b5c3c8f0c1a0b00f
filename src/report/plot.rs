//! Plots as inline SVG: no script, colours by class, so that the page's style fits them to light, dark and paper.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::findings::Line;
use super::histogram::Histogram;
use super::series::{Point, Points, Series};
use super::text::said;
use crate::logging::rfc3339;
use crate::room::Wall;

/// A plot with its title and what its colours mean.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub(super) struct Plot {
    pub title: String,
    pub keys: Vec<Key>,
    pub svg: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub(super) struct Key {
    pub class: &'static str,
    pub name: &'static str,
}

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
    let frame = Frame::over_time(series, highest(series, |step| step.waiting));
    let line: Vec<_> = values(series, |step| step.waiting);
    let mut svg = frame.open("Visitors waiting over time");
    let _ = write!(
        svg,
        "<path class=\"area\" d=\"{}L{:.1} {BOTTOM}L{LEFT} {BOTTOM}Z\"/>",
        frame.steps(&line),
        frame.x(line.len())
    );
    let _ = write!(svg, "<path class=\"a\" d=\"{}\"/>", frame.steps(&line));
    plot("Waiting", &[], svg)
}

fn slots(series: &Series) -> Plot {
    let top = highest(series, |step| {
        step.slots.max(step.capacity.min(step.slots.saturating_mul(4)))
    });
    let frame = Frame::over_time(series, top);
    let mut svg = frame.open("Slots in use and capacity over time");
    let used = values(series, |step| step.slots);
    let capacity = values(series, |step| step.capacity.min(frame.top));
    let _ = write!(svg, "<path class=\"a\" d=\"{}\"/>", frame.steps(&used));
    let _ = write!(svg, "<path class=\"b\" d=\"{}\"/>", frame.steps(&capacity));
    let keys = [("a", "called or inside"), ("b", "capacity")];
    plot("Slots", &keys, svg)
}

fn calls(series: &Series) -> Plot {
    let per_minute = |count: u64| (count * 60_000).div_ceil(series.step_ms.max(1));
    // A line as fine as the seconds would only flicker.
    let coarse = usize::try_from(60_000 / series.step_ms).unwrap_or(1).max(1);
    let steps: Vec<u64> = series
        .steps
        .chunks(coarse)
        .map(|steps| {
            let calls: u64 = steps.iter().map(|step| step.calls).sum();
            per_minute(calls) / u64::try_from(coarse).unwrap_or(1)
        })
        .collect();
    let span = series.step_ms * u64::try_from(coarse).unwrap_or(1);
    let frame = Frame::new(
        series.start_ms,
        span,
        steps.len(),
        steps.iter().copied().max().unwrap_or(0),
    );
    let mut svg = frame.open("Calls a minute over time");
    for (at, calls) in steps.iter().enumerate() {
        bar(&mut svg, &frame, at, *calls, "bar", &format!("{calls} a minute"));
    }
    plot("Calls a minute", &[], svg)
}

fn waits(bars: &[(f64, u64)]) -> Plot {
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let frame = Frame::new(0, 1, bars.len(), most);
    let mut svg = frame.open_without_time("How many waited how long");
    for (at, (from, count)) in bars.iter().enumerate() {
        let last = at > 0 && at + 1 == bars.len();
        let to = bars.get(at + 1).map_or_else(|| "more".to_owned(), |(to, _)| said(*to));
        let class = if last { "rest" } else { "bar" };
        bar(
            &mut svg,
            &frame,
            at,
            *count,
            class,
            &format!("{} to {to}: {count}", said(*from)),
        );
        if at % (bars.len() / 5).max(1) == 0 {
            label(&mut svg, frame.x(at), &said(*from));
        }
    }
    plot("Waits, the last bar and longer", &[], svg)
}

/// Every call of a lane as a dot, its number against its time: a fair line rises.
fn order(points: &Points, lane: u8, many: bool) -> Plot {
    let points: Vec<&Point> = points.points.iter().filter(|point| point.lane == lane).collect();
    let first = points.iter().map(|point| point.at_ms).min().unwrap_or(0);
    let last = points.iter().map(|point| point.at_ms).max().unwrap_or(0);
    let span = (last - first).max(1_000);
    // Eras one upon the other: a newer one's numbers stand behind all older ones.
    let mut eras: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
    for point in &points {
        let (low, high) = eras.entry(point.era).or_insert((point.number, point.number));
        (*low, *high) = ((*low).min(point.number), (*high).max(point.number));
    }
    let mut bases = BTreeMap::new();
    let mut base = 0;
    for (era, (low, high)) in &eras {
        bases.insert(*era, base);
        base += u64::from(high - low) + 1;
    }
    let frame = Frame::new(first, span, 1, base);
    let mut svg = frame.open("Number against the time of its call");
    for point in points {
        let low = eras.get(&point.era).map_or(0, |(low, _)| *low);
        let base = bases.get(&point.era).copied().unwrap_or(0);
        let (x, y) = (
            LEFT + WIDE * ratio(point.at_ms - first, span),
            frame.y(base + u64::from(point.number - low)),
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
    plot(&title, &keys, svg)
}

fn plot(title: &str, keys: &[(&'static str, &'static str)], svg: String) -> Plot {
    Plot {
        title: title.to_owned(),
        keys: keys.iter().map(|(class, name)| Key { class, name }).collect(),
        svg: svg + "</svg>",
    }
}

/// Where values and steps lie on the picture.
struct Frame {
    start_ms: u64,
    step_ms: u64,
    steps: usize,
    /// The value at the upper edge.
    top: u64,
}

impl Frame {
    fn new(start_ms: u64, step_ms: u64, steps: usize, most: u64) -> Self {
        Self {
            start_ms,
            step_ms,
            steps: steps.max(1),
            top: round_up(most),
        }
    }

    fn over_time(series: &Series, most: u64) -> Self {
        Self::new(series.start_ms, series.step_ms, series.steps.len(), most)
    }

    fn x(&self, step: usize) -> f64 {
        LEFT + WIDE * ratio(step as u64, self.steps as u64)
    }

    fn y(&self, value: u64) -> f64 {
        BOTTOM - HIGH * ratio(value.min(self.top), self.top)
    }

    /// A line that stands until the next step.
    fn steps(&self, values: &[u64]) -> String {
        let mut path = String::new();
        let mut last = None;
        for (at, value) in values.iter().enumerate() {
            if last == Some(value) {
                continue;
            }
            let (x, y) = (self.x(at), self.y(*value));
            let _ = match last {
                None => write!(path, "M{x:.1} {y:.1}"),
                Some(_) => write!(path, "H{x:.1}V{y:.1}"),
            };
            last = Some(value);
        }
        let _ = write!(path, "H{:.1}", self.x(values.len()));
        path
    }

    fn open(&self, title: &str) -> String {
        let mut svg = self.open_without_time(title);
        let span = self.step_ms.saturating_mul(self.steps as u64).max(1);
        let every = EVERY.iter().copied().find(|every| span / every < MARKS).unwrap_or(span);
        let mut at = self.start_ms.next_multiple_of(every);
        while at <= self.start_ms + span {
            label(
                &mut svg,
                LEFT + WIDE * ratio(at - self.start_ms, span),
                &clock(at, every, span),
            );
            at += every;
        }
        svg
    }

    fn open_without_time(&self, title: &str) -> String {
        grid(title, &|part| (self.top * u64::from(part) / 4).to_string())
    }
}

/// A picture with five lines across it, and beside each what it stands for: so many quarters of the top.
pub(crate) fn grid(title: &str, value: &dyn Fn(u32) -> String) -> String {
    let mut svg = format!("<svg viewBox=\"0 0 {VIEW_WIDE} {VIEW_HIGH}\" role=\"img\" aria-label=\"{title}\">");
    for part in 0..=4 {
        let y = BOTTOM - HIGH * f64::from(part) / 4.0;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT + WIDE,
            LEFT - 6.0,
            y + 4.0,
            amount(&value(part))
        );
    }
    svg
}

fn bar(svg: &mut String, frame: &Frame, at: usize, value: u64, class: &str, title: &str) {
    if value == 0 {
        return;
    }
    let (x, y) = (frame.x(at), frame.y(value));
    let wide = (WIDE * ratio(1, frame.steps as u64) - 1.0).max(0.5);
    let _ = write!(
        svg,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\"><title>{title}</title></rect>",
        BOTTOM - y
    );
}

/// Seven digits do not fit beside a plot: millions as such.
fn amount(value: &str) -> String {
    let millions = value.parse().ok().filter(|value: &f64| *value >= 1e6);
    millions.map_or_else(|| value.to_owned(), |value| format!("{} M", value / 1e6))
}

/// Below the lowest line.
pub(crate) fn label(svg: &mut String, x: f64, text: &str) {
    let _ = write!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{text}</text>",
        BOTTOM + 16.0
    );
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

/// A round number at or above, divisible by four.
fn round_up(most: u64) -> u64 {
    let mut unit = 4_u64;
    loop {
        for times in [1, 2, 3, 5, 6, 8] {
            if unit.saturating_mul(times) >= most.max(4) {
                return unit.saturating_mul(times);
            }
        }
        unit = unit.saturating_mul(10);
    }
}

fn values(series: &Series, of: impl Fn(&super::series::Moment) -> u64) -> Vec<u64> {
    series.steps.iter().map(of).collect()
}

fn highest(series: &Series, of: impl Fn(&super::series::Moment) -> u64) -> u64 {
    values(series, of).into_iter().max().unwrap_or(0)
}

fn ratio(part: u64, whole: u64) -> f64 {
    Histogram::secs(part) / Histogram::secs(whole.max(1))
}

const VIEW_WIDE: f64 = 560.0;
const VIEW_HIGH: f64 = 230.0;

/// Where what is drawn lies on the picture.
pub(crate) const LEFT: f64 = 52.0;
pub(crate) const WIDE: f64 = 472.0;
pub(crate) const BOTTOM: f64 = 202.0;
pub(crate) const HIGH: f64 = 190.0;

/// Fewer marks than this are on the axis of time, so many milliseconds apart.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millions_are_told_in_as_little_as_fits_beside_a_plot() {
        for (value, told) in [
            ("900000", "900000"),
            ("1200000", "1.2 M"),
            ("2250000", "2.25 M"),
            ("0.3", "0.3"),
        ] {
            assert_eq!(amount(value), told);
        }
    }
}
