//! Plots of told against true: by time and by position, as pictures by themselves.
//!
//! Not `src/charts`: this package builds without the gate, in a minute.

use std::fmt::Write as _;

use crate::looks::Look;
use crate::score::Told;

type Point = (Look, Option<Told>);

/// A value across the picture, and its name.
#[derive(Clone, Copy, Debug)]
pub enum Across {
    /// Minutes since the line's first call.
    Time,
    /// Visitors ahead.
    Place,
}

/// The intervals as upright lines, grey the oracle's; true waits as dots.
pub fn picture(title: &str, across: Across, points: &[Point]) -> String {
    let thin = points.len().div_ceil(MOST).max(1);
    let points: Vec<&Point> = points.iter().step_by(thin).collect();
    let value = |look: &Look| match across {
        Across::Time => minutes(look.at as f64),
        Across::Place => f64::from(look.ahead),
    };
    let wide = points.iter().map(|(look, _)| value(look)).fold(1.0, f64::max);
    let waits = points.iter().map(|(look, _)| wait(look));
    // What was told may be far above all waits: it is cut off at twice the longest.
    let high = 1.25 * waits.fold(1.0, f64::max);
    let x = |value: f64| LEFT + WIDE * value / wide;
    let y = |minutes: f64| BOTTOM - HIGH * (minutes / high).min(1.0);
    let mut svg = open(title);
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (line, column) = (y(high * part), x(wide * part));
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {line:.1}h{WIDE}\"/>\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{:.0}</text>\
             <text x=\"{column:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{:.0}</text>",
            LEFT - 6.0,
            line + 4.0,
            high * part,
            BOTTOM + 16.0,
            wide * part,
        );
    }
    for (look, oracle) in &points {
        let at = x(value(look));
        if let Some(told) = oracle {
            let (from, to) = (y(minutes(told.high)), y(minutes(told.low)));
            let _ = write!(svg, "<path class=\"o\" d=\"M{at:.1} {from:.1}V{to:.1}\"/>");
        }
        if let Some(told) = look.told.map(Told::of) {
            let class = if look.holds() { "a" } else { "b" };
            let (from, to) = (y(minutes(told.high)), y(minutes(told.low)));
            let _ = write!(svg, "<path class=\"{class}\" d=\"M{at:.1} {from:.1}V{to:.1}\"/>");
        }
        let _ = write!(svg, "<circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"1.5\"/>", y(wait(look)));
    }
    svg + "</svg>\n"
}

fn open(title: &str) -> String {
    let (width, height) = (LEFT + WIDE + 20.0, BOTTOM + 30.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\
         <style>svg{{background:#fff}}text{{fill:#52606d;font:11px sans-serif}}path{{fill:none;stroke-width:1.2}}\
         .grid{{stroke:#d5dde2}}.o{{stroke:#c9c9c9;stroke-width:4}}.a{{stroke:#2463a8}}.b{{stroke:#b4540a}}</style>\
         <text x=\"{LEFT}\" y=\"14\">{title}</text>"
    )
}

fn wait(look: &Look) -> f64 {
    minutes(look.wait.unwrap_or(0) as f64)
}

fn minutes(ms: f64) -> f64 {
    ms / 60_000.0
}

/// Most looks of a picture.
const MOST: usize = 700;

const LEFT: f64 = 50.0;
const WIDE: f64 = 800.0;
const HIGH: f64 = 380.0;
const BOTTOM: f64 = 410.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::looks::Kind;

    #[test]
    fn an_interval_that_holds_the_wait_is_drawn_as_one_and_the_oracles_behind_it() {
        let look = |told| Look {
            person: 0,
            lane: 0,
            quarter: 0,
            at: 60_000,
            ahead: 7,
            told,
            wait: Some(60_000),
            kind: Kind::Counts,
        };
        let points = [
            (look(Some((50, 70))), Some(Told::NOTHING)),
            (look(Some((0, 99))), None),
            (look(Some((90, 99))), None),
            (look(None), None),
        ];
        for across in [Across::Time, Across::Place] {
            let svg = picture("Waits", across, &points);
            let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
            assert_eq!(
                (count("a"), count("b"), count("o"), svg.matches("<circle").count()),
                (2, 1, 1, 4)
            );
        }
    }
}
