//! Plots as inline SVG: no script, colours by class, so that a page's style fits them to light, dark and paper.
//!
//! Not plotters: it writes colours and fonts into each shape, and these plots are lines, bars and dots.

use std::fmt::Write as _;

use serde::Serialize;

/// A plot with its title and the meaning of its colours.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Plot {
    pub title: String,
    pub keys: Vec<Key>,
    pub svg: String,
}

/// The meaning of a colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Key {
    pub class: &'static str,
    pub name: &'static str,
}

impl Plot {
    /// `svg` was begun by [`Frame::open`]; `keys` are classes with their names.
    pub fn new(title: &str, keys: &[(&'static str, &'static str)], svg: String) -> Self {
        Self {
            title: title.to_owned(),
            keys: keys.iter().map(|(class, name)| Key { class, name }).collect(),
            svg: svg + "</svg>",
        }
    }

    /// As part of a page.
    pub fn figure(&self) -> String {
        let mut keys = String::new();
        for key in &self.keys {
            let _ = write!(keys, "<span class=\"key {}\">{}</span>", key.class, key.name);
        }
        let Self { title, svg, .. } = self;
        format!("<figure><figcaption>{title}{keys}</figcaption>{svg}</figure>\n")
    }
}

/// Where values and steps lie on the picture.
pub struct Frame {
    pub steps: usize,
    /// The value at the upper edge.
    top: f64,
}

impl Frame {
    /// For this number of steps, and values up to `most`.
    pub fn new(steps: usize, most: f64) -> Self {
        Self {
            steps: steps.max(1),
            top: round_up(most),
        }
    }

    pub fn top(&self) -> f64 {
        self.top
    }

    pub fn x(&self, step: usize) -> f64 {
        across(count(step) / count(self.steps))
    }

    pub fn y(&self, value: f64) -> f64 {
        BOTTOM - HIGH * (value / self.top).min(1.0)
    }

    /// The picture with five lines across it, each with its value in quarters of the top.
    pub fn open(&self, title: &str) -> String {
        let mut svg = format!("<svg viewBox=\"0 0 {VIEW_WIDE} {VIEW_HIGH}\" role=\"img\" aria-label=\"{title}\">");
        for part in self.quarters() {
            let y = self.y(part);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT + WIDE,
                LEFT - 6.0,
                y + 4.0,
                amount(part)
            );
        }
        svg
    }

    /// The values at the lines across the picture.
    pub fn quarters(&self) -> [f64; 5] {
        [0.0, 1.0, 2.0, 3.0, 4.0].map(|part| self.top * part / 4.0)
    }

    /// A line from value to value; `None` is a gap.
    pub fn curve(&self, svg: &mut String, class: &str, values: &[Option<f64>]) {
        let mut path = String::new();
        let mut pen = 'M';
        for (at, value) in values.iter().enumerate() {
            if let Some(value) = value {
                let _ = write!(path, "{pen}{:.1} {:.1}", self.x(at), self.y(*value));
            }
            pen = if value.is_some() { 'L' } else { 'M' };
        }
        let _ = write!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// A line on which each value stands until the next step.
    pub fn stairs(&self, svg: &mut String, class: &str, values: &[f64]) {
        let _ = write!(svg, "<path class=\"{class}\" d=\"{}\"/>", self.stairs_path(values));
    }

    /// The area below such a line.
    pub fn area(&self, svg: &mut String, values: &[f64]) {
        let (path, right) = (self.stairs_path(values), self.x(values.len()));
        let _ = write!(
            svg,
            "<path class=\"area\" d=\"{path}L{right:.1} {BOTTOM}L{LEFT} {BOTTOM}Z\"/>"
        );
    }

    fn stairs_path(&self, values: &[f64]) -> String {
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

    /// A bar over one step; none for 0.
    pub fn bar(&self, svg: &mut String, at: usize, value: f64, class: &str, title: &str) {
        if value <= 0.0 {
            return;
        }
        let (x, y) = (self.x(at), self.y(value));
        let wide = (WIDE / count(self.steps) - 1.0).max(0.5);
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\"><title>{title}</title></rect>",
            BOTTOM - y
        );
    }
}

/// Where a part of the whole width lies, which is 0 to 1.
pub fn across(part: f64) -> f64 {
    LEFT + WIDE * part
}

/// Below the lowest line.
pub fn label(svg: &mut String, x: f64, text: &str) {
    let _ = write!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{text}</text>",
        BOTTOM + 16.0
    );
}

/// Seven digits do not fit beside a plot: millions as such.
fn amount(value: f64) -> String {
    if value >= 1e6 {
        return format!("{} M", value / 1e6);
    }
    value.to_string()
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

const VIEW_WIDE: f64 = 560.0;
const VIEW_HIGH: f64 = 230.0;

/// Where the plot lies on the picture.
const LEFT: f64 = 52.0;
const WIDE: f64 = 472.0;
const BOTTOM: f64 = 202.0;
const HIGH: f64 = 190.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millions_are_shown_as_such() {
        for (value, shown) in [
            (900_000.0, "900000"),
            (1_200_000.0, "1.2 M"),
            (2_250_000.0, "2.25 M"),
            (0.3, "0.3"),
        ] {
            assert_eq!(amount(value), shown);
        }
    }

    #[test]
    fn the_top_of_a_plot_is_round_and_above_what_it_shows() {
        for (most, top) in [(0.0, 0.04), (0.9, 1.2), (4.0, 4.0), (17.0, 20.0), (999.0, 1_200.0)] {
            assert!((round_up(most) - top).abs() < 1e-9, "{most}: {}", round_up(most));
        }
    }

    #[test]
    fn where_there_is_no_value_a_curve_has_a_gap() {
        let values = [Some(1.0), Some(2.0), None, None, Some(2.0), Some(1.0)];
        let mut svg = String::new();
        Frame::new(values.len(), 2.0).curve(&mut svg, "a", &values);
        let pens: String = svg
            .split_once("d=\"")
            .map(|(_, path)| path.chars().take_while(|c| *c != '"'))
            .expect("a path")
            .filter(char::is_ascii_alphabetic)
            .collect();
        assert_eq!(pens, "MLML", "{svg}");
    }

    #[test]
    fn stairs_turn_only_where_the_value_is_another() {
        let mut svg = String::new();
        Frame::new(4, 2.0).stairs(&mut svg, "a", &[1.0, 1.0, 2.0, 2.0]);
        assert_eq!(svg, "<path class=\"a\" d=\"M52.0 107.0H288.0V12.0H524.0\"/>");
    }
}
