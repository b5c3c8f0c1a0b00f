//! Suggestions for the configuration, each with its rule.

use super::findings::{Advice, Sessions};
use super::series::{Moment, Series};
use crate::charts::{rounded, whole_in_words};
use crate::room::Settings;

/// Empty if there is too little data.
pub(super) fn of(settings: &Settings, sessions: &Sessions, series: &Series) -> Vec<Advice> {
    if sessions.used.count < LEAST {
        return Vec::new();
    }
    std::iter::once(session(settings, sessions))
        .chain(capacity(settings, sessions, series))
        .collect()
}

/// A session as long as all but one in twenty were in use.
fn session(settings: &Settings, sessions: &Sessions) -> Advice {
    let used = rounded(sessions.used.p95_secs);
    let suggested = used.div_ceil(30).max(2) * 30;
    Advice {
        setting: "session_duration",
        now: whole_in_words(settings.session_ms / 1_000),
        suggested: whole_in_words(suggested),
        rule: format!(
            "95 of 100 sessions were last in use within {} of coming in (p95 of use, rounded up to 30 s); they held their \
             slot for {} on average, and used it for {}",
            whole_in_words(used),
            whole_in_words(rounded(sessions.held.mean_secs)),
            whole_in_words(rounded(sessions.used.mean_secs)),
        ),
    }
}

/// Little's law: how many are inside is how many come in a time, times how long each stays.
fn capacity(settings: &Settings, sessions: &Sessions, series: &Series) -> Option<Advice> {
    let held_ms = rounded(sessions.held.mean_secs * 1_000.0);
    // Minute by minute, or as coarse as the history is kept.
    let together = usize::try_from(60_000 / series.step_ms.max(1)).unwrap_or(1).max(1);
    let span_ms = series.step_ms * together as u64;
    let sum = |steps: &[Moment]| steps.iter().map(|step| step.joins).sum::<u64>();
    let mut joins: Vec<u64> = series
        .steps
        .chunks(together)
        .map(sum)
        .filter(|joins| *joins > 0)
        .collect();
    joins.sort_unstable();
    let busy = *joins.get((joins.len() * 95).div_ceil(100).checked_sub(1)?)?;
    let suggested = busy.checked_mul(held_ms)?.div_ceil(span_ms).max(1);
    let per_minute = u64::from(settings.capacity) * 60_000 / held_ms.max(1);
    Some(Advice {
        setting: "total_active_users",
        now: settings.capacity.to_string(),
        suggested: suggested.to_string(),
        rule: format!(
            "Little's law: {busy} came in {} where it was busiest but for one time in twenty, and a slot is held for {}; \
             with so many slots hardly anybody would have waited. {} slots let in about {per_minute} a minute",
            whole_in_words(span_ms / 1_000),
            whole_in_words(held_ms / 1_000),
            settings.capacity,
        ),
    })
}

/// Sessions below which nothing is suggested.
const LEAST: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{Spread, whole_in_words};
    use ropeline_ids::Wall;

    fn sessions(used: f64, held: f64) -> Sessions {
        let spread = |secs: f64| Spread {
            count: 100,
            mean_secs: secs / 2.0,
            p95_secs: secs,
            ..Spread::default()
        };
        Sessions {
            used: spread(used),
            held: spread(held),
        }
    }

    #[test]
    fn capacity_follows_littles_law_and_the_session_its_use() {
        let mut series = Series::new(600);
        for second in 0..120 {
            series.at(Wall(second * 1_000)).joins += 2;
        }
        let advice = of(&Settings::default(), &sessions(95.0, 120.0), &series);
        let suggested: Vec<_> = advice
            .iter()
            .map(|advice| (advice.setting, advice.suggested.as_str()))
            .collect();
        // Two a second, a minute each.
        assert_eq!(
            suggested,
            [("session_duration", "2 min"), ("total_active_users", "120")]
        );
    }

    #[test]
    fn too_little_suggests_nothing() {
        let few = Sessions::default();
        assert!(of(&Settings::default(), &few, &Series::new(10)).is_empty());
    }

    #[test]
    fn durations_are_said_as_people_do() {
        let said = [0, 59, 60, 90, 3_600, 3_661].map(whole_in_words);
        assert_eq!(said, ["0 s", "59 s", "1 min", "1 min 30 s", "1 h", "1 h 1 min"]);
    }
}
