//! Plots as inline SVG: no script, colours by class, so that a page's style fits them to light, dark and paper.

use std::fmt::Write as _;

use super::float;
use super::guesses::Point;
use crate::report::{BOTTOM, HIGH, LEFT, WIDE, grid, label, said};

/// One line of a plot, by the class that colours it.
pub(super) struct Curve {
    pub class: &'static str,
    pub name: &'static str,
    /// `None` where there is nothing to tell: a gap.
    pub values: Vec<Option<f64>>,
}

/// Values over time in equal steps, as a figure with its title.
pub(super) fn over_time(title: &str, step_ms: u64, curves: &[Curve]) -> String {
    let values = curves.iter().flat_map(|curve| curve.values.iter().flatten());
    let top = round_up(values.fold(0.0, |most: f64, value| most.max(*value)));
    let steps = curves.iter().map(|curve| curve.values.len()).max().unwrap_or(0).max(1);
    let mut svg = open(title, top);
    for part in 0..=4_u32 {
        let secs = float(step_ms) / 1_000.0 * count(steps) * f64::from(part) / 4.0;
        label(&mut svg, LEFT + WIDE * f64::from(part) / 4.0, &said(secs));
    }
    for curve in curves {
        let mut path = String::new();
        let mut pen = 'M';
        for (at, value) in curve.values.iter().enumerate() {
            let x = LEFT + WIDE * count(at) / count(steps);
            if let Some(value) = value {
                let _ = write!(path, "{pen}{x:.1} {:.1}", high(*value, top));
            }
            pen = if value.is_some() { 'L' } else { 'M' };
        }
        let _ = write!(svg, "<path class=\"{}\" d=\"{path}\"/>", curve.class);
    }
    let mut keys = String::new();
    for curve in curves.iter().filter(|_| curves.len() > 1) {
        let _ = write!(keys, "<span class=\"key {}\">{}</span>", curve.class, curve.name);
    }
    format!("<figure><figcaption>{title}{keys}</figcaption>{svg}</svg></figure>\n")
}

/// What was told against what it was: each interval a line, upright at the true wait; where it crosses the diagonal, the wait
/// lay inside.
pub(super) fn calibration(title: &str, points: &[Point]) -> String {
    let keys =
        "<span class=\"key a\">told, and so it was</span><span class=\"key b\">told, and otherwise it was</span>";
    let svg = intervals(title, points);
    format!("<figure><figcaption>{title}{keys}</figcaption>{svg}</svg></figure>\n")
}

/// The same as a picture by itself.
#[must_use]
pub fn calibration_picture(title: &str, points: &[Point]) -> String {
    let svg = intervals(title, points).replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    svg.replacen('>', &format!("><style>{PICTURE_STYLE}</style>"), 1) + "</svg>\n"
}

fn intervals(title: &str, points: &[Point]) -> String {
    let most = |of: fn(&Point) -> u32| points.iter().map(of).max().map_or(0.0, minutes);
    let (wide, top) = (
        round_up(most(|point| point.wait_secs)),
        round_up(most(|point| point.high_secs)),
    );
    let mut svg = open(title, top);
    let x = |secs: u32| LEFT + WIDE * minutes(secs) / wide;
    let y = |secs: u32| high(minutes(secs), top);
    for part in 0..=4_u32 {
        let at = wide * f64::from(part) / 4.0;
        label(&mut svg, LEFT + WIDE * f64::from(part) / 4.0, &format!("{at}"));
    }
    let thin = points.len().div_ceil(MOST_INTERVALS).max(1);
    for point in points.iter().step_by(thin) {
        let inside = (point.low_secs..=point.high_secs).contains(&point.wait_secs);
        let _ = write!(
            svg,
            "<path class=\"{}\" d=\"M{x:.1} {:.1}V{:.1}\"/>",
            if inside { "a" } else { "b" },
            y(point.low_secs),
            y(point.high_secs),
            x = x(point.wait_secs),
        );
    }
    let both = wide.min(top);
    let (right, up) = (LEFT + WIDE * both / wide, high(both, top));
    let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {BOTTOM}L{right:.1} {up:.1}\"/>");
    svg
}

fn minutes(secs: u32) -> f64 {
    f64::from(secs) / 60.0
}

/// Quarters of the top beside the lines.
fn open(title: &str, top: f64) -> String {
    grid(title, &|part| (top * f64::from(part) / 4.0).to_string())
}

fn high(value: f64, top: f64) -> f64 {
    BOTTOM - HIGH * (value / top).min(1.0)
}

/// A round number at or above, of which quarters are round too.
fn round_up(most: f64) -> f64 {
    let mut unit = 0.04;
    loop {
        for times in [1.0, 2.0, 3.0, 5.0, 6.0, 8.0] {
            if unit * times >= most {
                return unit * times;
            }
        }
        unit *= 10.0;
    }
}

#[expect(clippy::cast_precision_loss, reason = "steps of a plot")]
fn count(value: usize) -> f64 {
    value as f64
}

/// On white, in both themes.
const PICTURE_STYLE: &str = "svg{background:#fff}text{fill:#52606d;font:11px sans-serif}.grid{stroke:#b5c0c8}\
                             .a{stroke:#2463a8}.b{stroke:#b4540a}path{fill:none;stroke-width:1.5}";

/// Most intervals of a plot.
const MOST_INTERVALS: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_a_plot_is_round_and_above_what_it_shows() {
        for (most, top) in [(0.0, 0.04), (0.9, 1.2), (4.0, 4.0), (17.0, 20.0), (999.0, 1_200.0)] {
            assert!((round_up(most) - top).abs() < 1e-9, "{most}: {}", round_up(most));
        }
    }

    #[test]
    fn where_there_is_nothing_to_tell_a_curve_has_a_gap() {
        let curve = Curve {
            class: "a",
            name: "seconds",
            values: vec![Some(1.0), Some(2.0), None, None, Some(2.0), Some(1.0)],
        };
        let svg = over_time("Waits", 1_000, &[curve]);
        let (_, path) = svg.split_once("class=\"a\" d=\"").unwrap();
        let pens: String = path
            .chars()
            .take_while(|c| *c != '"')
            .filter(char::is_ascii_alphabetic)
            .collect();
        assert_eq!(pens, "MLML", "{svg}");
    }

    #[test]
    fn an_interval_that_holds_the_wait_is_drawn_as_one() {
        let point = |wait_secs| Point {
            low_secs: 60,
            high_secs: 180,
            wait_secs,
        };
        let svg = calibration("Waits", &[point(100), point(300)]);
        assert_eq!(
            (svg.matches("class=\"a\"").count(), svg.matches("class=\"b\"").count()),
            (1, 1)
        );
    }
}
