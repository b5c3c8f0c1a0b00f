//! The accent colour, with a shade for each theme that can be read.
//!
//! On the page the accent is the colour of links and numbers on `--card` and `--bg`, and the ground of buttons, whose text has
//! the colour `--card`. WCAG 2.2 asks for a contrast of 4.5:1 for such text
//! (<https://www.w3.org/TR/WCAG22/#contrast-minimum>).

use std::fmt;
use std::sync::LazyLock;

use super::unfit::Unfit;

const STYLE: &str = include_str!("../../../static/page.css");

/// The least contrast of text.
const LEAST: f64 = 4.5;

/// The colour in the light theme, and its nearest shade in the dark one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accent {
    light: Colour,
    dark: Colour,
}

impl Accent {
    /// An operator's colour, `#rgb` or `#rrggbb`. The dark theme gets the same, or the nearest lighter one that can be read.
    ///
    /// # Errors
    /// When it is no colour, or cannot be read in the light theme: then with the nearest one of its hue that can.
    pub fn parse(text: &str) -> Result<Self, Unfit> {
        let [light, dark] = &*THEMES;
        let Some(colour) = Colour::parse(text) else {
            let right = "a colour such as \"#0b6b5e\": # and three or six digits of 0-9 and a-f";
            return Err(Unfit::new(format!("{:?} is no colour", beginning(text)), right));
        };
        let nearest = light.nearest(colour);
        if nearest != colour {
            // Rounded down: a contrast below the least never looks like it.
            let contrast = (light.contrast(colour) * 100.0).floor() / 100.0;
            return Err(Unfit::new(
                format!(
                    "text in {colour} on the light page has a contrast of {contrast:.2}:1, and text needs {LEAST}:1"
                ),
                format!("\"{nearest}\", the nearest of this hue, or a darker one"),
            ));
        }
        Ok(Self {
            light: colour,
            dark: dark.nearest(colour),
        })
    }

    /// The rules that follow the built-in style.
    #[must_use]
    pub fn style(&self) -> String {
        let Self { light, dark } = self;
        format!(":root{{--mark:{light}}}@media (prefers-color-scheme:dark){{:root{{--mark:{dark}}}}}")
    }
}

/// The grounds of one theme.
#[derive(Clone, Copy, Debug)]
struct Theme([Colour; 2]);

/// The light theme and the dark one, as the style has them.
static THEMES: LazyLock<[Theme; 2]> = LazyLock::new(|| {
    let theme =
        |nth| Theme(["card", "bg"].map(|name| named(nth, name).expect("a test reads both themes of the style")));
    [theme(0), theme(1)]
});

/// A colour of the style's first or second `:root`.
fn named(nth: usize, name: &str) -> Option<Colour> {
    let (block, _) = STYLE.split(":root{").nth(nth + 1)?.split_once('}')?;
    let mut pairs = block.split(';').filter_map(|pair| pair.split_once(':'));
    let (_, colour) = pairs.find(|(key, _)| key.trim().strip_prefix("--") == Some(name))?;
    Colour::parse(colour.trim())
}

impl Theme {
    /// The least contrast of the colour with the grounds.
    fn contrast(self, colour: Colour) -> f64 {
        let contrasts = self.0.map(|ground| contrast(colour, ground));
        contrasts.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// The colour, or the nearest of its hue and saturation that can be read: darker on light grounds, lighter on dark ones.
    fn nearest(self, colour: Colour) -> Colour {
        const STEPS: u32 = 1_000;
        if self.contrast(colour) >= LEAST {
            return colour;
        }
        let (hue, saturation, lightness) = colour.hsl();
        let end = if luminance(self.0[0]) > 0.5 { 0.0 } else { 1.0 };
        let shade = |step: u32| {
            let part = f64::from(step) / f64::from(STEPS);
            Colour::of_hsl(hue, saturation, lightness + (end - lightness) * part)
        };
        let mut shades = (1..=STEPS).map(shade);
        shades.find(|shade| self.contrast(*shade) >= LEAST).unwrap_or(colour)
    }
}

/// Red, green and blue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Colour([u8; 3]);

impl Colour {
    fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text
            .strip_prefix('#')?
            .chars()
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect::<Option<_>>()?;
        let pair = |pair: &[u8]| pair.iter().fold(0, |value, digit| value * 16 + digit);
        let channels: Vec<u8> = match digits.len() {
            3 => digits.iter().map(|digit| digit * 17).collect(),
            6 => digits.chunks(2).map(pair).collect(),
            _ => return None,
        };
        Some(Self(channels.try_into().ok()?))
    }

    /// Hue from 0 to 6, saturation and lightness from 0 to 1 (CSS Color 4, section 7).
    fn hsl(self) -> (f64, f64, f64) {
        let [r, g, b] = self.0.map(|part| f64::from(part) / 255.0);
        let (most, least) = (r.max(g).max(b), r.min(g).min(b));
        let (spread, lightness) = (most - least, f64::midpoint(most, least));
        if self.0[0] == self.0[1] && self.0[1] == self.0[2] {
            return (0.0, 0.0, lightness);
        }
        let saturation = (most - lightness) / lightness.min(1.0 - lightness);
        let hue = match () {
            () if r >= g && r >= b => ((g - b) / spread).rem_euclid(6.0),
            () if g >= b => (b - r) / spread + 2.0,
            () => (r - g) / spread + 4.0,
        };
        (hue, saturation, lightness)
    }

    fn of_hsl(hue: f64, saturation: f64, lightness: f64) -> Self {
        let reach = saturation * lightness.min(1.0 - lightness);
        let part = |offset: f64| {
            let at = (offset + hue * 2.0).rem_euclid(12.0);
            let value = lightness - reach * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "rounded, and from 0 to 255"
            )]
            let byte = (value * 255.0).round().clamp(0.0, 255.0) as u8;
            byte
        };
        Self([part(0.0), part(8.0), part(4.0)])
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

/// WCAG 2.2, contrast ratio (<https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio>).
fn contrast(one: Colour, other: Colour) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// WCAG 2.2, relative luminance (<https://www.w3.org/TR/WCAG22/#dfn-relative-luminance>).
fn luminance(colour: Colour) -> f64 {
    let [r, g, b] = colour.0.map(|part| {
        let value = f64::from(part) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// As much of a wrong value as a message needs.
fn beginning(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(text: &str) -> Colour {
        Colour::parse(text).unwrap()
    }

    #[test]
    fn the_style_has_two_themes_and_the_second_is_dark() {
        let [light, dark] = &*THEMES;
        assert!(light.0.iter().all(|ground| luminance(*ground) > 0.5), "{light:?}");
        assert!(dark.0.iter().all(|ground| luminance(*ground) < 0.1), "{dark:?}");
    }

    #[test]
    fn contrast_is_that_of_known_pairs() {
        // The last one is the grey that is known as the lightest on white.
        for (one, other, want) in [
            ("#000", "#fff", 21.0),
            ("#fff", "#ffffff", 1.0),
            ("#767676", "#fff", 4.54),
        ] {
            let found = contrast(colour(one), colour(other));
            assert!((found - want).abs() < 0.01, "{one} on {other}: {found}");
        }
    }

    #[test]
    fn every_colour_survives_the_way_to_its_hue_and_back() {
        for part in 0..=255_u8 {
            for colour in [
                [part, 0, 255],
                [255, part, 7],
                [part, part, part],
                [9, part, 80],
                [part, 200, 100],
                [30, 30, part],
            ] {
                let colour = Colour(colour);
                let (hue, saturation, lightness) = colour.hsl();
                assert_eq!(Colour::of_hsl(hue, saturation, lightness), colour, "{colour}");
            }
        }
    }

    #[test]
    fn a_colour_that_can_be_read_is_taken_with_a_shade_for_the_dark() {
        let [_, dark] = &*THEMES;
        for text in ["#0b6b5e", "#00F", "#a00", "#6b3fa0", "#000000", "#333"] {
            let accent = Accent::parse(text).unwrap();
            assert_eq!(accent.light, colour(text));
            assert!(dark.contrast(accent.dark) >= LEAST, "{text}: {accent:?}");
            let (hue, ..) = accent.light.hsl();
            let (shade, ..) = accent.dark.hsl();
            assert!((hue - shade).abs() < 0.1, "{text}: {accent:?}");
        }
        let style = Accent::parse("#00f").unwrap().style();
        assert!(
            style.starts_with(":root{--mark:#0000ff}@media (prefers-color-scheme:dark){:root{--mark:#"),
            "{style}"
        );
    }

    #[test]
    fn one_that_cannot_be_read_is_refused_with_the_nearest_that_can() {
        for text in ["#ffd400", "#fff", "#8fd3ff", "#ff0000", "#777777"] {
            let refused = Accent::parse(text).unwrap_err();
            assert!(refused.wrong.contains("contrast of"), "{refused:?}");
            let nearest = refused.right.split('"').nth(1).unwrap();
            assert!(Accent::parse(nearest).is_ok(), "{text}: {refused:?}");
            // A little lighter is too light.
            let (hue, saturation, lightness) = colour(nearest).hsl();
            let lighter = Colour::of_hsl(hue, saturation, lightness + 0.02).to_string();
            assert!(Accent::parse(&lighter).is_err(), "{text}: {refused:?}");
        }
    }

    #[test]
    fn a_refused_contrast_is_below_the_least_also_as_it_is_written() {
        let [light, _] = &*THEMES;
        let mut close = 0;
        for grey in 0x60..=0x80_u8 {
            let grey = Colour([grey; 3]);
            let Err(refused) = Accent::parse(&grey.to_string()) else {
                continue;
            };
            let (_, contrast) = refused.wrong.split_once("a contrast of ").unwrap();
            let (contrast, rest) = contrast.split_once(":1").unwrap();
            assert_eq!(rest, ", and text needs 4.5:1", "{refused:?}");
            assert!(contrast.parse::<f64>().unwrap() < LEAST, "{refused:?}");
            close += usize::from(light.contrast(grey) > 4.45);
        }
        assert!(close > 0, "none would have been rounded up");
    }

    #[test]
    fn what_is_no_colour_is_refused_with_an_example() {
        for text in [
            "",
            "red",
            "#12",
            "#12345",
            "#1234567",
            "0b6b5e",
            "#0b6b5g",
            "#０b6",
            "#fff;}body{x:y",
            "rgb(0,0,0)",
        ] {
            assert!(Accent::parse(text).unwrap_err().right.contains("#0b6b5e"), "{text}");
        }
    }
}
