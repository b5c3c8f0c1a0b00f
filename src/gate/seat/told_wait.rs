//! The wait that a visitor without a script was shown, in a cookie of their own; an app sends it with its question.
//!
//! SECURITY: unsigned on purpose. It changes only what is shown to its owner, and within bounds.

use crate::pages::{Kept, Reload, Stall};
use crate::room::{Estimate, Wall};

use crate::gate::request::cookies::Own;
use crate::gate::request::visit::Visit;
use crate::gate::state::rules::Names;

/// Reads the cookie of a visitor without a script; empty if a script keeps the value.
pub fn read(names: &Names, reload: Reload, own: &Own<'_>) -> Kept {
    if !without_script(reload) {
        return Kept::default();
    }
    let kept = own.values(&names.told).find_map(parse);
    kept.unwrap_or_default()
}

/// The visitor runs no script, as far as is known.
#[must_use]
pub fn without_script(reload: Reload) -> bool {
    matches!(reload, Reload::Bare | Reload::Stopped)
}

/// The part of an estimate and of a stall's reason that is shown, and the part that is kept for the next request.
pub fn tell(
    kept: Kept,
    (estimate, stall): (Option<Estimate>, Option<Stall>),
    beyond: bool,
    now: Wall,
) -> (Kept, Option<Estimate>, Option<Stall>) {
    let mut kept = if kept.by.max(kept.slow_until) > now.plus(MOST_MS).0 {
        Kept::default()
    } else {
        kept
    };
    let paused = beyond || stall.is_some_and(Stall::pauses);
    let interval = estimate.map(|known| (known.low_secs, known.high_secs));
    let shown = kept.show(interval, paused, now.0);
    let shown = shown.map(|(low_secs, high_secs)| Estimate { low_secs, high_secs });
    (kept, shown, stall.or(kept.is_slow(now.0).then_some(Stall::Slower)))
}

/// As [`parse`] reads it.
pub fn text(kept: Kept) -> String {
    format!("{}.{}", kept.by.div_ceil(1_000), kept.slow_until.div_ceil(1_000))
}

/// The latest moment that was shown to an app, as it says with its question.
#[must_use]
pub fn asked(visit: &Visit) -> Option<Kept> {
    let (_, query) = visit.here().split_once('?')?;
    let by = query.split('&').find_map(|pair| pair.strip_prefix("by="))?;
    parse(by)
}

/// Seconds of wall time: the latest moment, and until when the reason is shown.
pub fn parse(text: &str) -> Option<Kept> {
    let (by, slow) = text.split_once('.').unwrap_or((text, "0"));
    let ms = |secs: &str| Some(secs.parse::<u64>().ok()?.saturating_mul(1_000));
    Some(Kept {
        by: ms(by)?,
        slow_until: ms(slow)?,
    })
}

/// No wait is longer.
const MOST_MS: u64 = 30 * 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Wall = Wall(1_767_225_600_000);

    const fn mins(low: u32, high: u32) -> Estimate {
        Estimate {
            low_secs: low * 60,
            high_secs: high * 60,
        }
    }

    #[test]
    fn what_was_told_comes_back_in_the_cookie_and_a_later_end_with_its_reason() {
        let (kept, shown, why) = tell(Kept::default(), (Some(mins(4, 8)), None), false, NOW);
        assert_eq!((shown, why), (Some(mins(4, 8)), None));
        let (kept, shown, why) = tell(through(kept), (Some(mins(10, 20)), None), false, NOW.plus(60_000));
        assert_eq!((shown, why), (Some(mins(10, 20)), Some(Stall::Slower)));
        // A reason of the room's own goes before.
        let full = Some(Stall::Full);
        let (kept, _, why) = tell(through(kept), (Some(mins(10, 30)), full), false, NOW.plus(120_000));
        assert_eq!(why, full);
        // A pause that cannot be shown to any visitor is not held against the room.
        let (kept, shown, _) = tell(through(kept), (None, Some(Stall::Held)), false, NOW.plus(180_000));
        assert_eq!((kept.by, shown), (0, None));
    }

    /// As a browser brings it back.
    fn through(kept: Kept) -> Kept {
        parse(&text(kept)).unwrap()
    }

    #[test]
    fn what_somebody_made_up_is_no_promise() {
        for text in ["", "x", "1.", ".1", "-1.0", "1.2.3", "99999999999999999999"] {
            assert_eq!(parse(text), None, "{text}");
        }
        for far in ["18446744073709551615", "1.18446744073709551615"] {
            let far = parse(far).unwrap();
            let (kept, shown, why) = tell(far, (Some(mins(4, 8)), None), false, NOW);
            assert_eq!((shown, why), (Some(mins(4, 8)), None));
            assert_eq!(kept.by, NOW.plus(480_000).0);
            // Without a known value it would be shown unchanged.
            let (kept, shown, why) = tell(far, (None, None), false, NOW);
            assert_eq!((kept.by, shown, why), (0, None, None));
        }
    }
}
