//! Visitors of a line who are called or inside, computed from claims, renewals and ends: how long slots were held, and how
//! much of that they were used. A session that outlives its date while the room waits for a silent gate ends here on that date.

use std::collections::{BTreeMap, BTreeSet};

use crate::charts::Histogram;
use crate::room::{Clock, LaneId, Number, SLACK_MS, Settings, Wall};

/// A visitor of a line.
pub(in crate::report) type Who = (LaneId, Number);

/// See the module.
#[derive(Debug, Default)]
pub(in crate::report) struct Visits {
    called: BTreeMap<Who, Call>,
    inside: BTreeMap<Who, Session>,
    dues: BTreeSet<(Clock, Who)>,
    /// Sessions from the claim to the last sign of use, and to the slot's end.
    pub used: Histogram,
    pub held: Histogram,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    due: Clock,
    count: u8,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    since: Wall,
    since_clock: Clock,
    last: Wall,
    expires: Clock,
    ends_by: Clock,
    ending: bool,
    /// Began before the available history.
    cut: bool,
}

/// A call whose visitor did not come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::report) struct Missed {
    pub who: Who,
    /// It was not the first: the place is spent.
    pub spent: bool,
}

/// Both of an entry's times, and the settings in force.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Now<'a> {
    pub clock: Clock,
    pub time: Wall,
    pub settings: &'a Settings,
}

impl Visits {
    pub fn called(&self) -> usize {
        self.called.len()
    }

    pub fn inside(&self) -> usize {
        self.inside.len()
    }

    pub fn is_called(&self, who: Who) -> bool {
        self.called.contains_key(&who)
    }

    pub fn is_inside(&self, who: Who) -> bool {
        self.inside.contains_key(&who)
    }

    /// A visitor is called for the first time or (`count`) again.
    pub fn call_until(&mut self, who: Who, count: u8, deadline: Clock) {
        let due = deadline.plus(SLACK_MS);
        if let Some(before) = self.called.insert(who, Call { due, count }) {
            self.dues.remove(&(before.due, who));
        }
        self.dues.insert((due, who));
    }

    /// A called visitor comes in; of one inside it is a renewal. False for one who was not called.
    pub fn claim(&mut self, who: Who, now: Now<'_>) -> bool {
        let Some(call) = self.called.remove(&who) else {
            self.renew(who, now);
            return false;
        };
        self.dues.remove(&(call.due, who));
        self.open(who, now);
        true
    }

    /// A session begins, after any state.
    pub fn open(&mut self, who: Who, now: Now<'_>) {
        let ends_by = now.clock.plus(now.settings.session_max_ms);
        let session = Session {
            since: now.time,
            since_clock: now.clock,
            last: now.time,
            expires: now.clock.plus(now.settings.hold_ms()).min(ends_by),
            ends_by,
            ending: false,
            cut: false,
        };
        self.keep(who, session);
    }

    /// A session from before the available history.
    pub fn resume(&mut self, who: Who, expires: Clock, ends_by: Clock, now: Now<'_>) {
        self.open(who, now);
        if let Some(session) = self.inside.get(&who).copied() {
            let resumed = Session {
                expires,
                ends_by,
                cut: true,
                ..session
            };
            self.keep(who, resumed);
        }
    }

    pub fn renew(&mut self, who: Who, now: Now<'_>) {
        let Some(session) = self.inside.get(&who).copied().filter(|session| !session.ending) else {
            return;
        };
        let expires = now.clock.plus(now.settings.hold_ms()).min(session.ends_by);
        let renewed = Session {
            expires: expires.max(session.expires),
            last: now.time,
            ..session
        };
        self.keep(who, renewed);
    }

    /// The slot of a session is held for so long, whether or not a request comes: it counts as used until shortly before.
    pub fn hold(&mut self, who: Who, for_ms: u64, now: Now<'_>) {
        let Some(parks_after_ms) = now.settings.parks_after_ms() else {
            return;
        };
        self.renew(who, now);
        let Some(session) = self.inside.get(&who).copied().filter(|session| !session.ending) else {
            return;
        };
        let until = now.clock.plus(for_ms).min(session.ends_by);
        let used = until.0.saturating_sub(parks_after_ms);
        let lasts = Clock(used).plus(now.settings.hold_ms()).max(until);
        let expires = lasts.min(session.ends_by).max(session.expires);
        self.keep(who, Session { expires, ..session });
    }

    /// The shop ends a session, `after_ms` from now. False for nobody's.
    pub fn end(&mut self, who: Who, after_ms: u64, now: Now<'_>) -> bool {
        if self.is_called(who) {
            self.claim(who, now);
        }
        let Some(session) = self.inside.get(&who).copied() else {
            return false;
        };
        let ending = Session {
            expires: session.expires.min(now.clock.plus(after_ms)),
            ending: true,
            last: now.time,
            ..session
        };
        self.keep(who, ending);
        true
    }

    /// A called visitor or one inside leaves. False for one in neither state.
    pub fn leave(&mut self, who: Who, now: Now<'_>) -> bool {
        if let Some(call) = self.called.remove(&who) {
            self.dues.remove(&(call.due, who));
            return true;
        }
        let Some(session) = self.inside.get(&who).copied() else {
            return false;
        };
        let last = if session.ending { session.last } else { now.time };
        self.close(who, Session { last, ..session }, now.clock);
        true
    }

    /// Advances the clock: returns missed calls, and ends sessions that are over.
    pub fn expire(&mut self, clock: Clock) -> Vec<Missed> {
        let mut missed = Vec::new();
        while let Some((due, who)) = self.dues.first().copied().filter(|(due, _)| *due <= clock) {
            self.dues.pop_first();
            if let Some(call) = self.called.remove(&who) {
                let spent = call.count >= 2;
                missed.push(Missed { who, spent });
            } else if let Some(session) = self.inside.get(&who).copied() {
                self.close(who, session, due);
            }
        }
        missed
    }

    /// Removes all, as by a reset.
    pub fn clear(&mut self, clock: Clock) {
        for (who, session) in std::mem::take(&mut self.inside) {
            self.close(who, session, clock);
        }
        self.called.clear();
        self.dues.clear();
    }

    fn keep(&mut self, who: Who, session: Session) {
        if let Some(before) = self.inside.insert(who, session) {
            self.dues.remove(&(before.due(), who));
        }
        self.dues.insert((session.due(), who));
    }

    fn close(&mut self, who: Who, session: Session, clock: Clock) {
        self.inside.remove(&who);
        self.dues.remove(&(session.due(), who));
        if !session.cut {
            self.used.add(session.last.since(session.since));
            self.held.add(clock.since(session.since_clock));
        }
    }
}

impl Session {
    fn due(&self) -> Clock {
        if self.ending {
            self.expires
        } else {
            self.expires.plus(SLACK_MS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::ActiveSlots;
    use ropeline_ids::Epoch;

    const WHO: Who = (LaneId(0), Number { epoch: Epoch(1), n: 4 });

    fn settings() -> Settings {
        Settings {
            session_ms: 10_000,
            session_max_ms: 60_000,
            ..Settings::default()
        }
    }

    fn at(settings: &Settings, ms: u64) -> Now<'_> {
        Now {
            clock: Clock(ms),
            time: Wall(1_000_000 + ms),
            settings,
        }
    }

    #[test]
    fn a_call_that_nobody_comes_for_is_missed_two_seconds_after_its_deadline() {
        let (settings, mut visits) = (settings(), Visits::default());
        visits.call_until(WHO, 1, Clock(5_000));
        assert_eq!(visits.expire(Clock(6_999)), []);
        assert_eq!(visits.expire(Clock(7_000)), [Missed { who: WHO, spent: false }]);
        visits.call_until(WHO, 2, Clock(13_000));
        assert_eq!(visits.expire(Clock(90_000)), [Missed { who: WHO, spent: true }]);
        assert!(!visits.claim(WHO, at(&settings, 90_000)));
    }

    #[test]
    fn a_session_is_used_until_its_last_renewal_and_held_until_it_idles_out() {
        let (settings, mut visits) = (settings(), Visits::default());
        visits.call_until(WHO, 1, Clock(5_000));
        assert!(visits.claim(WHO, at(&settings, 1_000)));
        visits.renew(WHO, at(&settings, 5_000));
        assert!(
            !visits.claim(WHO, at(&settings, 9_000)),
            "of one inside it is a renewal"
        );
        visits.expire(Clock(21_999));
        assert_eq!((visits.inside(), visits.called()), (1, 0));
        visits.expire(Clock(22_000));
        assert_eq!(visits.inside(), 0);
        assert_eq!(
            (visits.used.spread().max_secs, visits.held.spread().max_secs),
            (8.0, 21.0)
        );
    }

    #[test]
    fn an_end_stops_renewals_and_a_leave_ends_at_once() {
        let (settings, mut visits) = (settings(), Visits::default());
        visits.call_until(WHO, 1, Clock(5_000));
        assert!(
            visits.end(WHO, 3_000, at(&settings, 1_000)),
            "a called visitor is let in to end"
        );
        visits.renew(WHO, at(&settings, 2_000));
        assert!(visits.leave(WHO, at(&settings, 3_000)));
        assert!(!visits.leave(WHO, at(&settings, 3_000)));
        assert_eq!(
            (visits.used.spread().max_secs, visits.held.spread().max_secs),
            (0.0, 2.0)
        );
    }

    #[test]
    fn a_session_from_before_is_not_measured() {
        let (settings, mut visits) = (settings(), Visits::default());
        visits.resume(WHO, Clock(5_000), Clock(60_000), at(&settings, 0));
        visits.expire(Clock(7_000));
        assert_eq!((visits.inside(), visits.held.count()), (0, 0));
    }

    #[test]
    fn a_hold_makes_a_session_last_and_a_shorter_one_takes_nothing_away() {
        let active = Some(ActiveSlots {
            idle_after_ms: 2_000,
            max_sessions: None,
        });
        let settings = Settings { active, ..settings() };
        let mut visits = Visits::default();
        visits.open(WHO, at(&settings, 0));
        visits.hold(WHO, 30_000, at(&settings, 1_000));
        visits.hold(WHO, 10, at(&settings, 2_000));
        // A session is parked 4.5 s after a request, and over 12.5 s after it: 8 s after the hold.
        visits.expire(Clock(38_999));
        assert!(visits.is_inside(WHO));
        visits.expire(Clock(39_000));
        assert!(!visits.is_inside(WHO));
    }
}
