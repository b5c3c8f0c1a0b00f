//! The plots of the page of a simulation.

use std::fmt::Write as _;

use crate::charts::{Frame, Plot, across, in_words, label, secs};
use crate::simulate::guesses::Point;

/// One line of a plot, by the class that colours it.
pub(in crate::simulate) struct Curve {
    pub class: &'static str,
    pub name: &'static str,
    /// `None` where there is no value: a gap.
    pub values: Vec<Option<f64>>,
}

/// Values over time in equal steps.
pub(in crate::simulate) fn over_time(title: &str, step_ms: u64, curves: &[Curve]) -> Plot {
    let values = curves.iter().flat_map(|curve| curve.values.iter().flatten());
    let most = values.copied().fold(0.0, f64::max);
    let steps = curves.iter().map(|curve| curve.values.len()).max().unwrap_or(0);
    let frame = Frame::new(steps, most);
    let mut svg = frame.open(title);
    let whole_secs = secs(step_ms.saturating_mul(frame.steps as u64));
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        label(&mut svg, across(part), &in_words(whole_secs * part));
    }
    for curve in curves {
        frame.curve(&mut svg, curve.class, &curve.values);
    }
    let named = curves.iter().filter(|_| curves.len() > 1);
    let keys: Vec<_> = named.map(|curve| (curve.class, curve.name)).collect();
    Plot::new(title, &keys, svg)
}

/// Estimates against waits: each interval a line, upright at the true wait; where it crosses the diagonal, the wait lay inside.
pub(in crate::simulate) fn calibration(title: &str, points: &[Point]) -> Plot {
    let most = |of: fn(&Point) -> u32| points.iter().map(of).max().map_or(0.0, minutes);
    let (waits, estimates) = (
        Frame::new(1, most(|point| point.wait_secs)),
        Frame::new(1, most(|point| point.high_secs)),
    );
    let mut svg = estimates.open(title);
    for wait in waits.quarters() {
        label(&mut svg, across(wait / waits.top()), &format!("{wait}"));
    }
    let thin = points.len().div_ceil(MOST_INTERVALS).max(1);
    for point in points.iter().step_by(thin) {
        let inside = (point.low_secs..=point.high_secs).contains(&point.wait_secs);
        let _ = write!(
            svg,
            "<path class=\"{}\" d=\"M{:.1} {:.1}V{:.1}\"/>",
            if inside { "a" } else { "b" },
            across(minutes(point.wait_secs) / waits.top()),
            estimates.y(minutes(point.low_secs)),
            estimates.y(minutes(point.high_secs)),
        );
    }
    let both = waits.top().min(estimates.top());
    let (left, bottom) = (across(0.0), estimates.y(0.0));
    let (right, up) = (across(both / waits.top()), estimates.y(both));
    let _ = write!(svg, "<path class=\"grid\" d=\"M{left} {bottom}L{right:.1} {up:.1}\"/>");
    let keys = [("a", "told, and so it was"), ("b", "told, and otherwise it was")];
    Plot::new(title, &keys, svg)
}

/// The same as a picture by itself.
#[must_use]
pub fn calibration_picture(title: &str, points: &[Point]) -> String {
    let plot = calibration(title, points);
    let svg = plot
        .svg
        .replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    svg.replacen('>', &format!("><style>{PICTURE_STYLE}</style>"), 1) + "\n"
}

fn minutes(secs: u32) -> f64 {
    f64::from(secs) / 60.0
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
    fn an_interval_that_holds_the_wait_is_drawn_as_one() {
        let point = |wait_secs| Point {
            low_secs: 60,
            high_secs: 180,
            wait_secs,
        };
        let svg = calibration("Waits", &[point(100), point(300)]).svg;
        assert_eq!(
            (svg.matches("class=\"a\"").count(), svg.matches("class=\"b\"").count()),
            (1, 1)
        );
    }
}
