//! What is to be done about the certificates, and when: pure functions of dates, failures and chance.
//!
//! ```text
//! no certificate -> order -> certificate -> two thirds of its lifetime -> order -> …
//!                     |  ^
//!                     v  |  fourfold longer each time, or as long as the authority asks for
//!                    pause
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::config::Acme;
use ropeline_ids::Wall;

/// When a certificate is good, and when it is due for renewal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dates {
    pub begins: Wall,
    pub expires: Wall,
    pub renews: Wall,
}

/// A host as the plan sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing<'a> {
    /// `None`: there is no certificate.
    pub dates: Option<Dates>,
    pub pause: Option<&'a Pause>,
    /// No order before this time, for a reason that is no failure.
    pub not_before: Option<Wall>,
}

/// A pause after failures. It stands in the store, so a restart does not end it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pause {
    /// In a row.
    pub failures: u32,
    #[serde(with = "wall")]
    pub until: Wall,
    /// The last reason, for people.
    pub said: String,
}

/// The operator's setting, and the lifetime of the host's last certificate in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub retry_ms: u64,
    pub life_ms: Option<u64>,
}

/// Whether it is time to order for a host.
#[must_use]
pub fn is_due(standing: &Standing<'_>, now: Wall) -> bool {
    let is_paused = standing.pause.is_some_and(|pause| now < pause.until);
    let is_held = standing.not_before.is_some_and(|time| now < time);
    !is_paused && !is_held && standing.dates.is_none_or(|dates| dates.renews <= now)
}

/// The host to order for now: of those that have failed least often, one without a certificate first, then the one whose certificate
/// expires first. So one that fails each time keeps no other from its turn. `None` while the authority itself is to be left alone.
#[must_use]
pub fn next(hosts: &[Standing<'_>], authority: Option<&Pause>, now: Wall) -> Option<usize> {
    if authority.is_some_and(|pause| now < pause.until) {
        return None;
    }
    let due = (0..hosts.len()).filter(|at| is_due(&hosts[*at], now));
    due.min_by_key(|at| {
        let failures = hosts[*at].pause.map_or(0, |pause| pause.failures);
        (failures, hosts[*at].dates.map(|dates| dates.expires))
    })
}

/// Whether what was made then is to be made anew by the operator's word. A time that has not come yet replaces nothing: nothing new
/// would be good enough for it.
#[must_use]
pub fn is_replaced(before: Option<Wall>, made: Wall, now: Wall) -> bool {
    before.is_some_and(|before| before <= now && made < before)
}

/// A mark of all settings that can end a failure, the hosts left out: the pause of one is not another's.
#[must_use]
pub fn settings(acme: &Acme) -> String {
    let external = acme.external_account.as_ref();
    let marked = (
        (
            &acme.directory,
            &acme.contact,
            acme.challenge,
            acme.retry,
            acme.replace_before,
        ),
        acme.ca_file.as_ref().map(|file| &file.pem),
        external.map(|own| (&own.id, Sha256::digest(own.key.expose()))),
    );
    URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{marked:?}")))
}

/// The dates of a new certificate. It is renewed at two thirds of its lifetime, and by `chance` up to a twentieth of the lifetime
/// later, so that many installations do not ask at once.
#[must_use]
pub fn dates(begins: Wall, expires: Wall, chance: u16) -> Dates {
    let life = expires.since(begins);
    let later = life / 20 * u64::from(chance) / u64::from(u16::MAX);
    Dates {
        begins,
        expires,
        renews: begins.plus(life / 3 * 2).plus(later),
    }
}

/// The pause after one more failure. `asked` is the time before which the authority does not want to be asked again; `chance` adds
/// up to a quarter.
#[must_use]
pub fn pause(
    before: Option<&Pause>,
    patience: Patience,
    (said, asked): (&str, Option<Wall>),
    chance: u16,
    now: Wall,
) -> Pause {
    let failures = before.map_or(0, |pause| pause.failures).saturating_add(1);
    // Several tries are left in the last third of a short certificate's life.
    let by_life = patience.life_ms.map_or(LONGEST_MS, |life| life / 12);
    let most = by_life.clamp(patience.retry_ms.min(LONGEST_MS), LONGEST_MS);
    let steps = 4_u64.checked_pow(failures - 1);
    let length = steps.and_then(|steps| patience.retry_ms.checked_mul(steps));
    let length = length.unwrap_or(most).min(most);
    let length = length + length / 4 * u64::from(chance) / u64::from(u16::MAX);
    let asked = asked.unwrap_or_default().min(now.plus(MOST_ASKED_MS));
    Pause {
        failures,
        until: now.plus(length).max(asked),
        said: said.to_owned(),
    }
}

/// The longest pause that the gate chooses.
const LONGEST_MS: u64 = 12 * 3_600_000;
/// The longest that an authority may ask for: an answer that is wrong must not stop renewals for good.
const MOST_ASKED_MS: u64 = 7 * 86_400_000;

/// How long a record that none of the keys opens is taken for one of a gate that is there.
pub const LOCKED_MS: u64 = 3_600_000;
/// How often the records of a shared store are written again at least, so that gates with other keys see that a gate is there which
/// can open them.
pub const REFRESH_MS: u64 = LOCKED_MS / 3;

/// Times as numbers of milliseconds.
pub(super) mod wall {
    use ropeline_ids::Wall;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(time: &Wall, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(time.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wall, D::Error> {
        u64::deserialize(deserializer).map(Wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400_000;
    const MINUTE: u64 = 60_000;

    fn of_90_days(begins: u64) -> Dates {
        dates(Wall(begins), Wall(begins + 90 * DAY), 0)
    }

    fn paused(until: u64) -> Pause {
        Pause {
            failures: 1,
            until: Wall(until),
            said: String::new(),
        }
    }

    #[test]
    fn a_certificate_is_renewed_at_two_thirds_of_its_life_and_a_little_later() {
        for (life, chance, after) in [
            (90 * DAY, 0, 60 * DAY),
            (90 * DAY, u16::MAX, 60 * DAY + 90 * DAY / 20),
            (6 * DAY, 0, 4 * DAY),
            (MINUTE, 0, 40_000),
            (MINUTE, u16::MAX, 43_000),
            (0, u16::MAX, 0),
        ] {
            let found = dates(Wall(7), Wall(7 + life), chance);
            assert_eq!(found.renews, Wall(7 + after), "{life} {chance}");
            assert!(found.renews <= found.expires);
        }
    }

    #[test]
    fn what_is_due_depends_on_dates_and_pauses() {
        let (at, pause) = (of_90_days(0), paused(70 * DAY));
        let held = Standing {
            dates: Some(at),
            ..Standing::default()
        };
        let without = Standing::default();
        let failing = Standing {
            pause: Some(&pause),
            ..held
        };
        let not_before = Standing {
            not_before: Some(Wall(70 * DAY)),
            ..without
        };
        for (standing, now, due) in [
            (without, 0, true),
            (held, 60 * DAY - 1, false),
            (held, 60 * DAY, true),
            (held, 91 * DAY, true),
            (failing, 69 * DAY, false),
            (failing, 70 * DAY, true),
            (not_before, 70 * DAY - 1, false),
            (not_before, 70 * DAY, true),
        ] {
            assert_eq!(is_due(&standing, Wall(now)), due, "{standing:?} {now}");
        }
    }

    #[test]
    fn the_host_without_a_certificate_comes_first_and_a_paused_authority_stops_all() {
        let [old, older, none] = [Some(of_90_days(DAY)), Some(of_90_days(0)), None].map(|dates| Standing {
            dates,
            ..Standing::default()
        });
        let now = Wall(80 * DAY);
        assert_eq!(next(&[old, older, none], None, now), Some(2));
        assert_eq!(next(&[old, older], None, now), Some(1));
        assert_eq!(next(&[old, older], None, Wall(30 * DAY)), None);
        assert_eq!(next(&[], None, now), None);
        let pause = paused(now.0 + 1);
        assert_eq!(next(&[none], Some(&pause), now), None);
        assert_eq!(next(&[none], Some(&pause), pause.until), Some(0));
        // The pause of one host is not another's.
        let paused = Standing {
            pause: Some(&pause),
            ..none
        };
        assert_eq!(next(&[paused, older], None, now), Some(1));
    }

    #[test]
    fn a_host_that_fails_each_time_keeps_no_other_from_its_turn() {
        let (renewing, now) = (of_90_days(0), Wall(80 * DAY));
        let over = |failures| Pause {
            failures,
            ..paused(now.0)
        };
        let (one, three) = (over(1), over(3));
        let new = |pause| Standing {
            pause,
            ..Standing::default()
        };
        let renewed = |pause| Standing {
            dates: Some(renewing),
            pause,
            not_before: None,
        };
        assert_eq!(next(&[new(Some(&one)), renewed(None)], None, now), Some(1));
        assert_eq!(next(&[new(Some(&three)), renewed(Some(&one))], None, now), Some(1));
        assert_eq!(next(&[new(Some(&one)), renewed(Some(&one))], None, now), Some(0));
    }

    #[test]
    fn a_pause_grows_fourfold_up_to_a_bound_and_obeys_the_authority() {
        let now = Wall(1_000);
        let rules = |life_ms| Patience {
            retry_ms: MINUTE,
            life_ms,
        };
        let after = |failures: u32, rules: Patience, asked: Option<u64>, chance: u16| {
            let before = (failures > 1).then(|| Pause {
                failures: failures - 1,
                ..paused(0)
            });
            let pause = pause(before.as_ref(), rules, ("why", asked.map(Wall)), chance, now);
            assert_eq!((pause.failures, pause.said.as_str()), (failures, "why"));
            pause.until.since(now)
        };
        for (failures, length) in [
            (1, MINUTE),
            (2, 4 * MINUTE),
            (3, 16 * MINUTE),
            (6, LONGEST_MS),
            (u32::MAX, LONGEST_MS),
        ] {
            assert_eq!(after(failures, rules(None), None, 0), length, "{failures}");
            assert_eq!(after(failures, rules(None), None, u16::MAX), length + length / 4);
        }
        assert_eq!(after(9, rules(Some(90 * DAY)), None, 0), LONGEST_MS);
        assert_eq!(after(9, rules(Some(2 * DAY)), None, 0), 4 * 3_600_000);
        // Never shorter than the operator wants.
        assert_eq!(after(9, rules(Some(MINUTE)), None, 0), MINUTE);
        assert_eq!(after(1, rules(None), Some(now.0 + DAY), 0), DAY);
        assert_eq!(after(1, rules(None), Some(now.0 + 1), 0), MINUTE);
        assert_eq!(after(1, rules(None), Some(u64::MAX), 0), MOST_ASKED_MS);
    }
}
