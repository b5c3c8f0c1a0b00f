//! Parsing of the options of `ropeline simulate`.

use crate::config::duration_of;
use crate::room::{Mode, Overrides};

/// From a time on, in milliseconds, another duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Later {
    pub at: u64,
    pub to: u64,
}

/// A shop's capacity, in requests per second, from a time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    pub at: u64,
    pub per_sec: u32,
}

/// Of a thousand visitors, how many come to a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShareOf {
    pub name: String,
    pub share: u16,
}

/// An operator's command at a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub at: u64,
    to: To,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    Capacity(u32),
    Rate(Option<u32>),
    Mode(Mode),
    Stock(u32),
}

pub(in crate::cli) fn duration(text: &str) -> Result<u64, String> {
    let ms = duration_of(text).filter(|ms| (1..=MOST_MS).contains(ms));
    ms.ok_or_else(|| format!("\"{text}\" is no duration up to 30 days, such as \"90s\", \"4min\" or \"2h\""))
}

/// A percentage as thousandths.
pub(in crate::cli) fn share(text: &str) -> Result<u16, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let percent: Option<f64> = number.parse().ok();
    let share = percent.filter(|percent| (0.0..=100.0).contains(percent));
    // A share that would be printed as none is reported as too small.
    let share = share.filter(|percent| *percent == 0.0 || *percent >= 0.1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    let share = share.map(|percent| (percent * 10.0).round() as u16);
    share.ok_or_else(|| format!("\"{text}\" is no share: 0% to 100%, in steps of 0.1%"))
}

pub(super) fn share_of(text: &str) -> Result<ShareOf, String> {
    let (name, of) = text.split_once('=').ok_or("a lane and a share, such as early=20%")?;
    Ok(ShareOf {
        name: name.to_owned(),
        share: share(of)?,
    })
}

pub(super) fn later(text: &str) -> Result<Later, String> {
    let (at, to) = text.split_once(':').ok_or("when and what, such as 30min:5min")?;
    Ok(Later {
        at: duration(at)?,
        to: duration(to)?,
    })
}

/// Requests a second, such as `60/s`.
pub(super) fn per_sec(text: &str) -> Result<u32, String> {
    let number = text.trim().trim_end_matches("/s").trim_end();
    let per_sec = number.parse().ok().filter(|per_sec| *per_sec <= MOST_PER_SEC);
    per_sec.ok_or_else(|| format!("\"{text}\" is no number of requests a second up to {MOST_PER_SEC}, such as 60/s"))
}

pub(super) fn level(text: &str) -> Result<Level, String> {
    let (at, to) = text.split_once(':').ok_or("when and what, such as 20min:30/s")?;
    Ok(Level {
        at: duration(at)?,
        per_sec: per_sec(to)?,
    })
}

pub(super) fn change(text: &str) -> Result<Change, String> {
    let right = "when and what, such as 20min:capacity=300, 5min:rate=none, 1h:mode=hold or 2h:stock=50";
    let (at, what) = text.split_once(':').ok_or(right)?;
    let (key, value) = what.split_once('=').ok_or(right)?;
    let count = || {
        let count = value.parse().ok().filter(|count| *count <= MOST_COUNT);
        count.ok_or_else(|| format!("\"{value}\" is no whole number up to {MOST_COUNT}: {right}"))
    };
    let to = match (key, value) {
        ("capacity", _) => To::Capacity(count()?),
        ("stock", _) => To::Stock(count()?),
        ("rate", "none") => To::Rate(None),
        ("rate", _) => To::Rate(Some(count()?)),
        ("mode", "auto") => To::Mode(Mode::Auto),
        ("mode", "hold") => To::Mode(Mode::Hold),
        ("mode", "closed") => To::Mode(Mode::Closed),
        ("mode", "off") => return Err("\"off\" has no line that could be simulated: auto, hold or closed".to_owned()),
        ("mode", _) => return Err(format!("\"{value}\" is no mode: auto, hold or closed")),
        _ => {
            return Err(format!(
                "\"{key}\" cannot be changed: capacity, rate (calls a minute), mode or stock"
            ));
        }
    };
    Ok(Change { at: duration(at)?, to })
}

/// The overrides in force after each change, in their order.
pub(super) fn overrides(changes: &[Change]) -> Vec<(u64, Overrides)> {
    let mut overrides = Overrides::default();
    let after = changes.iter().map(|change| {
        match change.to {
            To::Capacity(slots) => overrides.capacity = Some(slots),
            To::Rate(rate) => overrides.rate_per_minute = Some(rate),
            To::Mode(mode) => overrides.mode = Some(mode),
            To::Stock(pieces) => overrides.stock = Some(pieces),
        }
        (change.at, overrides.clone())
    });
    after.collect()
}

/// Most slots, calls a minute and pieces, as in a configuration.
const MOST_COUNT: u32 = 10_000_000;

/// Most that a shop can take.
const MOST_PER_SEC: u32 = 1_000_000;

/// Longest time of an option.
const MOST_MS: u64 = 30 * 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_to_the_thousandth_and_within_everybody() {
        assert_eq!(
            (share("5%"), share("12.5"), share("100 %")),
            (Ok(50), Ok(125), Ok(1_000))
        );
        assert_eq!(share("0"), Ok(0));
        for wrong in ["101%", "-1", "some", "", "NaN", "0.04%"] {
            assert!(share(wrong).unwrap_err().contains("0% to 100%"), "{wrong}");
        }
    }

    #[test]
    fn changes_add_up_in_their_order() {
        let changes: Vec<_> = ["1min:capacity=3", "2min:mode=hold", "3min:rate=none"]
            .map(|text| change(text).unwrap())
            .into();
        let overrides = overrides(&changes);
        assert_eq!(overrides[2].0, 180_000);
        let last = &overrides[2].1;
        assert_eq!(
            (last.capacity, last.mode, last.rate_per_minute),
            (Some(3), Some(Mode::Hold), Some(None))
        );
        assert_eq!(overrides[0].1.mode, None);
    }

    #[test]
    fn what_cannot_be_read_says_what_would_be_right() {
        assert!(change("capacity=3").unwrap_err().contains("20min:capacity=300"));
        assert!(change("1min:colour=3").unwrap_err().contains("capacity, rate"));
        assert!(change("1min:mode=off").unwrap_err().contains("auto, hold or closed"));
        assert!(change("1min:mode=open").unwrap_err().contains("auto, hold or closed"));
        assert!(change("soon:capacity=3").unwrap_err().contains("4min"));
        assert!(later("5min").unwrap_err().contains("30min:5min"));
        assert_eq!(
            (per_sec("60/s"), per_sec("7"), level("1min:0/s").map(|level| level.at)),
            (Ok(60), Ok(7), Ok(60_000))
        );
        assert!(per_sec("-1/s").is_err() && per_sec("some").unwrap_err().contains("60/s"));
        assert!(duration("0s").is_err() && duration("31d").is_err());
    }
}
