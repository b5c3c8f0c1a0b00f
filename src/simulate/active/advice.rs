//! What the operator might set, from what was seen in a simulation.

use super::ways::{Slots, Way};
use crate::charts::{float, in_words, whole_in_words};
use crate::room::Settings;

/// Advice on `slots`, `total_active_users`, `session_duration` and `max_sessions`; the first way is that of the room as it is
/// configured.
#[must_use]
pub fn advise(ways: &[Way], settings: &Settings) -> Vec<String> {
    let Some(own) = ways.first() else { return Vec::new() };
    let of = |slots| ways.iter().find(|way| way.slots == slots);
    let mut advice = Vec::new();
    if let (Some(session), Some(active)) = (of(Slots::Session), of(Slots::Active)) {
        advice.push(slots(own, session, active));
        advice.extend(capacity(session, active));
    }
    advice.extend(session_duration(own, settings));
    advice.extend(max_sessions(own, settings));
    advice
}

fn slots(own: &Way, session: &Way, active: &Way) -> String {
    let is = own.slots;
    let (before, after) = (session.median_wait_secs, active.median_wait_secs);
    let waits = format!(
        "half of the visitors are inside after {} with active slots, and after {} with sessions",
        in_words(after),
        in_words(before)
    );
    let best = match () {
        () if before.max(after) < NO_LINE_SECS => return format!("slots: {is} is right, since there is hardly a line"),
        () if after < before * SHORTER => Slots::Active,
        () => Slots::Session,
    };
    let word = if best == is { "is right" } else { "would be better" };
    format!("slots: \"{best}\" {word}: {waits}")
}

fn capacity(session: &Way, active: &Way) -> Option<String> {
    let (before, after) = (session.busiest_minute, active.busiest_minute);
    if before == 0 {
        return None;
    }
    let times = float(after) / float(before);
    let slots = u64::from(active.capacity);
    if times < MORE {
        return Some(format!(
            "total_active_users: {slots} is right for either way, with {before} requests in the busiest minute with sessions and {after} with active slots"
        ));
    }
    let same = (slots * before / after).max(1);
    Some(format!(
        "total_active_users: with active slots {slots} give the shop {times:.1} times the requests, {after} in the busiest minute in \
         place of {before}; {same} slots give it about today's"
    ))
}

fn session_duration(own: &Way, settings: &Settings) -> Option<String> {
    if own.long_pause_secs <= 0.0 {
        return None;
    }
    let least = settings.parks_after_ms().map_or(0, |ms| ms / 1_000 + 1);
    let needed = sensible(own.long_pause_secs).max(sensible(float(least)));
    let is = settings.session_ms / 1_000;
    let (shown, pause) = (whole_in_words(needed), in_words(own.long_pause_secs));
    let is_long = own.slots == Slots::Session && is > needed * 2;
    let verdict = match () {
        () if is < needed => format!(
            "{shown} would be enough: one pause in a thousand is longer than {pause}, and {} visitors lost their session",
            own.thrown_out
        ),
        () if is_long => format!("{shown} would be enough: only one pause in a thousand is longer than {pause}"),
        () => format!(
            "{} is right: one pause in a thousand is longer than {pause}",
            whole_in_words(is)
        ),
    };
    Some(format!("session_duration: {verdict}"))
}

fn max_sessions(own: &Way, settings: &Settings) -> Option<String> {
    let most = settings.most_rights().filter(|_| own.rights_full_secs >= 1.0)?;
    Some(format!(
        "max_sessions: {most} was the limit for {}, while up to {} slots were free; {} would have let them be used",
        in_words(own.rights_full_secs),
        own.rights_full_free,
        most.saturating_add(own.rights_full_free),
    ))
}

/// Rounded up to a value that a person would set.
fn sensible(secs: f64) -> u64 {
    let secs = crate::charts::rounded(secs.ceil());
    let step = match secs {
        0..120 => 10,
        120..600 => 30,
        600..3_600 => 300,
        _ => 900,
    };
    secs.div_ceil(step) * step
}

/// Below this there is hardly a line.
const NO_LINE_SECS: f64 = 5.0;

/// Waits of less than this share are shorter, and more than this rate of requests is more.
const SHORTER: f64 = 0.9;
const MORE: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::super::ways::Returned;
    use super::*;
    use crate::room::ActiveSlots;

    fn way(slots: Slots, median_wait_secs: f64, busiest_minute: u64) -> Way {
        Way {
            slots,
            counts_for_secs: 60.0,
            capacity: 300,
            median_wait_secs,
            p95_wait_secs: 2.0 * median_wait_secs,
            busy: 0.5,
            ceiling: 0.8,
            most_sessions: 300,
            above: 0,
            above_secs: 0.0,
            returns: Returned::default(),
            thrown_out: 4,
            still_waiting: 0,
            busiest_minute,
            long_pause_secs: 283.0,
            rights_full_secs: 0.0,
            rights_full_free: 0,
        }
    }

    fn session() -> Way {
        way(Slots::Session, 600.0, 1_000)
    }

    #[test]
    fn shorter_waits_speak_for_active_slots_and_equal_ones_for_what_is_simpler() {
        let told = |after| advise(&[session(), way(Slots::Active, after, 2_000)], &Settings::default()).remove(0);
        assert!(
            told(200.0).starts_with("slots: \"active\" would be better: half"),
            "{}",
            told(200.0)
        );
        assert!(
            told(590.0).starts_with("slots: \"session\" is right"),
            "{}",
            told(590.0)
        );
        let own = advise(&[way(Slots::Active, 200.0, 2_000), session()], &Settings::default()).remove(0);
        assert!(own.starts_with("slots: \"active\" is right"), "{own}");
        let none = advise(
            &[way(Slots::Session, 1.0, 9), way(Slots::Active, 1.0, 9)],
            &Settings::default(),
        )
        .remove(0);
        assert!(none.contains("hardly a line"), "{none}");
    }

    #[test]
    fn slots_are_told_that_give_the_shop_as_many_requests() {
        let told = |after| advise(&[session(), way(Slots::Active, 200.0, after)], &Settings::default()).remove(1);
        assert!(told(2_500).contains("2.5 times the requests"), "{}", told(2_500));
        assert!(
            told(2_500).contains("; 120 slots give it about today's"),
            "{}",
            told(2_500)
        );
        assert!(told(1_000).contains("300 is right for either way"), "{}", told(1_000));
    }

    #[test]
    fn a_session_lasts_longer_than_all_but_one_pause_in_a_thousand() {
        let told = |secs: u64, way: &Way| {
            let settings = Settings {
                session_ms: secs * 1_000,
                ..Settings::default()
            };
            advise(std::slice::from_ref(way), &settings).remove(0)
        };
        let short = told(60, &session());
        assert!(
            short.starts_with("session_duration: 5 min would be enough") && short.contains("4 visitors"),
            "{short}"
        );
        assert!(
            told(300, &session()).contains("5 min is right"),
            "{}",
            told(300, &session())
        );
        assert!(told(3_600, &session()).contains("5 min would be enough: only"));
        // With active slots a longer one costs no slot.
        assert!(told(3_600, &way(Slots::Active, 9.0, 9)).contains("1 h is right"));
    }

    #[test]
    fn rights_are_told_of_where_they_were_the_limit() {
        let settings = Settings {
            capacity: 300,
            active: Some(ActiveSlots {
                idle_after_ms: 60_000,
                max_sessions: Some(400),
            }),
            ..Settings::default()
        };
        let limited = Way {
            rights_full_secs: 720.0,
            rights_full_free: 40,
            ..way(Slots::Active, 200.0, 9)
        };
        let told = advise(&[limited], &settings).pop().unwrap_or_default();
        assert!(
            told.contains("400 was the limit for 12 min, while up to 40 slots were free; 440"),
            "{told}"
        );
        assert_eq!(advise(&[way(Slots::Active, 200.0, 9)], &settings).len(), 1);
    }

    #[test]
    fn values_are_rounded_up_as_people_set_them() {
        for (secs, value) in [
            (0.5, 10),
            (61.0, 70),
            (120.0, 120),
            (283.2, 300),
            (601.0, 900),
            (3_601.0, 4_500),
        ] {
            assert_eq!(sensible(secs), value, "{secs}");
        }
    }
}
