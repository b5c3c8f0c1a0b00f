//! The time when each key was last in use, across reloads: so that a reload warns of one that goes too early, and a visitor who follows a line by an
//! event stream comes for a ticket by the key that signs.
//!
//! A gate knows only its own actions and observations since it started. A key that was configured then counts as in use until
//! then, the key that signs until it signs no more, and any key whenever a ticket or a pass that it signed is presented.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::dates::rfc3339;
use crate::token::{Keyring, SignerMark};
use ropeline_ids::Wall;

use crate::gate::request::cookies::TICKET_MAX_AGE_SECS;

/// The keys in force and when each was last in use.
pub struct KeyUse {
    keys: Mutex<Vec<Known>>,
    /// Goes up when another key signs.
    turn: AtomicU64,
}

/// The first signs.
struct Known {
    mark: SignerMark,
    /// `None`: it came with a reload, and none of its tokens was shown since.
    last: Option<Wall>,
}

impl Known {
    /// The warning when the key is removed.
    fn gone(&self, now: Wall, session_max_ms: u64) -> Option<Odd> {
        let last = self.last?;
        let tickets_until = last.plus(TICKET_LIFE_MS);
        let passes_until = last.plus(session_max_ms);
        (now < tickets_until.max(passes_until)).then(|| Odd::Gone {
            key: self.mark.name.clone(),
            last,
            tickets_until,
            passes_until,
        })
    }
}

/// As long as a browser keeps one.
const TICKET_LIFE_MS: u64 = TICKET_MAX_AGE_SECS.unsigned_abs() * 1_000;

/// An oddity of a change of keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Odd {
    /// The key is gone while tokens that it signed may be shown: it was in use until `last`.
    Gone {
        key: String,
        last: Wall,
        tickets_until: Wall,
        passes_until: Wall,
    },
    /// The key signs now, and was not accepted before: other gates may not accept it yet.
    SignsAtOnce { key: String },
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone {
                key,
                last,
                tickets_until,
                passes_until,
            } => {
                let [last, tickets, passes] = [last, tickets_until, passes_until].map(|at| rfc3339(*at));
                write!(
                    f,
                    "tokens: the key \"{key}\" is gone and was in use until {last}: a pass that it signed may be shown until \
                     {passes}, a ticket until {tickets}, and is worth nothing now; right: put it back behind the others until \
                     then"
                )
            }
            Self::SignsAtOnce { key } => write!(
                f,
                "tokens: the key \"{key}\" signs and was not accepted here before: a gate that does not have it yet refuses \
                 what it signs; right: a new key second on every gate, and only then first"
            ),
        }
    }
}

impl KeyUse {
    /// At the start of a gate.
    #[must_use]
    pub fn new(ring: &Keyring, now: Wall) -> Self {
        let known = |mark| Known { mark, last: Some(now) };
        Self {
            keys: Mutex::new(ring.marks().into_iter().map(known).collect()),
            turn: AtomicU64::new(0),
        }
    }

    /// A genuine token of this key was shown.
    pub fn shown(&self, mark: &SignerMark, now: Wall) {
        if let Some(known) = self.lock().iter_mut().find(|known| known.mark == *mark) {
            known.last = Some(now);
        }
    }

    /// Changes when another key signs.
    #[must_use]
    pub fn turn(&self) -> u64 {
        self.turn.load(Ordering::Relaxed)
    }

    /// Another ring is in force from `now` on; returns the oddities of that.
    pub fn change(&self, ring: &Keyring, now: Wall, session_max_ms: u64) -> Vec<Odd> {
        let marks = ring.marks();
        let mut keys = self.lock();
        if keys.iter().map(|known| &known.mark).eq(&marks) {
            return Vec::new();
        }
        if let Some(first) = keys.first_mut() {
            first.last = Some(now);
        }
        let gone = keys.iter().filter(|known| !marks.contains(&known.mark));
        let mut odd: Vec<Odd> = gone.filter_map(|known| known.gone(now, session_max_ms)).collect();
        let is_known = |mark: &SignerMark| keys.iter().any(|known| known.mark == *mark);
        if let Some(first) = marks.first().filter(|first| !is_known(first)) {
            let key = first.name.clone();
            odd.push(Odd::SignsAtOnce { key });
        }
        if keys.first().map(|known| &known.mark) != marks.first() {
            self.turn.fetch_add(1, Ordering::Relaxed);
        }
        let known = |mark: SignerMark| Known {
            last: keys
                .iter()
                .find(|known| known.mark == mark)
                .and_then(|known| known.last),
            mark,
        };
        *keys = marks.into_iter().map(known).collect();
        odd
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{Audience, Key, KeyId, Secret};

    const HOUR: u64 = 3_600_000;
    const WEEK: u64 = 7 * 24 * HOUR;

    fn ring(keys: &[(&str, u8)]) -> Keyring {
        for_audiences(keys, &[])
    }

    fn for_audiences(keys: &[(&str, u8)], audiences: &[&str]) -> Keyring {
        let key = |(id, byte): &(&str, u8)| Key {
            id: KeyId::new(id).unwrap(),
            secret: Secret::new([*byte; 32]),
        };
        let audiences: Vec<_> = audiences.iter().map(|text| Audience::new(text).unwrap()).collect();
        Keyring::for_audiences(keys.iter().map(key).collect(), &audiences).unwrap()
    }

    fn gone(key: &str, last: u64) -> Odd {
        Odd::Gone {
            key: key.to_owned(),
            last: Wall(last),
            tickets_until: Wall(last + WEEK),
            passes_until: Wall(last + HOUR),
        }
    }

    fn at_once(key: &str) -> Odd {
        Odd::SignsAtOnce { key: key.to_owned() }
    }

    #[test]
    fn a_rotation_in_its_three_steps_is_not_odd() {
        let (old, new) = (("a", 1), ("b", 2));
        let used = KeyUse::new(&ring(&[old]), Wall(0));
        assert_eq!(used.change(&ring(&[old, new]), Wall(10), HOUR), []);
        assert_eq!(used.turn(), 0);
        assert_eq!(used.change(&ring(&[new, old]), Wall(20), HOUR), []);
        assert_eq!(used.turn(), 1);
        assert_eq!(
            used.change(&ring(&[new, old]), Wall(HOUR), HOUR),
            [],
            "nothing has changed"
        );
        assert_eq!(used.change(&ring(&[new]), Wall(WEEK + 20), HOUR), []);
        assert_eq!(used.turn(), 1);
    }

    #[test]
    fn a_key_that_goes_while_its_tokens_may_be_shown_is_odd() {
        let (old, new) = (("a", 1), ("b", 2));
        let used = KeyUse::new(&ring(&[old]), Wall(0));
        assert_eq!(
            used.change(&ring(&[new]), Wall(5_000), HOUR),
            [gone("a", 5_000), at_once("b")],
            "it signed until then"
        );
        let used = KeyUse::new(&ring(&[new, old]), Wall(0));
        assert_eq!(
            used.change(&ring(&[new]), Wall(WEEK - 1), HOUR),
            [gone("a", 0)],
            "before the start"
        );
        let used = KeyUse::new(&ring(&[new, old]), Wall(0));
        used.shown(&ring(&[old]).marks()[0], Wall(4_500));
        assert_eq!(used.change(&ring(&[new]), Wall(5_000), HOUR), [gone("a", 4_500)]);
        let used = KeyUse::new(&ring(&[old]), Wall(0));
        assert_eq!(used.change(&ring(&[old, new]), Wall(10), HOUR), []);
        assert_eq!(
            used.change(&ring(&[old]), Wall(20), HOUR),
            [],
            "it came, was never seen, and went"
        );
    }

    #[test]
    fn another_secret_and_another_audience_are_another_key() {
        let used = KeyUse::new(&ring(&[("a", 1)]), Wall(0));
        assert_eq!(
            used.change(&ring(&[("a", 2)]), Wall(10), HOUR),
            [gone("a", 10), at_once("a")]
        );
        let used = KeyUse::new(&for_audiences(&[("a", 1)], &["x"]), Wall(0));
        assert_eq!(
            used.change(&for_audiences(&[("a", 1)], &["x", "y"]), Wall(10), HOUR),
            []
        );
        assert_eq!(
            used.change(&for_audiences(&[("a", 1)], &["y", "x"]), Wall(20), HOUR),
            []
        );
        assert_eq!(
            used.change(&for_audiences(&[("a", 1)], &["y"]), Wall(30), HOUR),
            [gone("a for x", 20)]
        );
    }
}
