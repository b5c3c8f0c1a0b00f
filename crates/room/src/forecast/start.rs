//! The holders of slots as they are now, as a flow begins with them.

use std::collections::VecDeque;

use crate::forecast::Sight;
use crate::forecast::ages::SURE;
use crate::forecast::crowds::Kind;
use crate::forecast::flow::{Holders, MASS, Start};
use crate::forecast::stays::{Chances, Times};
use crate::lane::record::{Call, Record, Session};
use ropeline_ids::{Clock, Place};

/// Most steps ahead for which the end of a slot is kept apart.
const FAR: usize = 4_096;

/// Without the limit of other things than slots; with holders of each kind for which there are chances. Says of a place in a lane which
/// kind it is.
pub(super) fn start(sight: &Sight, times: Times, chances: &[Chances], kind: impl Fn(usize, Place) -> Kind) -> Start {
    let holders = chances.iter().map(|chances| Holders {
        called: vec![0; chances.claim.len()],
        ..Holders::default()
    });
    let mut start = Start {
        holders: holders.collect(),
        capacity: u64::from(sight.slots),
        ..Start::default()
    };
    for (at, lane) in sight.lanes.iter().enumerate() {
        for (place, record) in lane.slots.iter() {
            let kind = kind(at, place).at().min(chances.len() - 1);
            match record {
                Record::Called(call) => begin_call(&mut start.holders[kind], call, times, sight.now),
                // A parked session holds no slot.
                Record::Inside(session) if !session.is_parked() => {
                    begin_session(&mut start, session, kind, (times, &chances[kind]), sight.now);
                }
                Record::Inside(_) | Record::Missed { .. } | Record::Spent { .. } | Record::Over { .. } => {}
            }
        }
    }
    start
}

fn begin_call(holders: &mut Holders, call: &Call, times: Times, now: Clock) {
    let steps = holders.called.len();
    let left = usize::try_from(times.steps(call.deadline.since(now))).unwrap_or(steps);
    holders.called[steps - (left + 1).min(steps)] += MASS;
}

fn begin_session(start: &mut Start, session: &Session, kind: usize, (times, chances): (Times, &Chances), now: Clock) {
    let parks = session.parks(times.parks_after_ms).unwrap_or(session.due());
    let due = times.steps(session.due().min(parks).since(now));
    let idle_ms = now.since(session.renewed);
    let active = &mut start.holders[kind].active;
    if session.ending || session.expires >= session.ends_by {
        add(&mut start.due, due, MASS);
    } else if idle_ms < times.idle_ms {
        add(active, times.age(session, now), MASS);
    } else {
        let back = MASS * chances.back(times, idle_ms) / SURE;
        add(&mut start.due, due, MASS - back);
        add(active, times.age(session, now), back);
    }
}

fn add(list: &mut VecDeque<u64>, at: u64, mass: u64) {
    let at = usize::try_from(at).unwrap_or(FAR).min(FAR);
    if list.len() <= at {
        list.resize(at + 1, 0);
    }
    list[at] += mass;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::Lane;
    use crate::settings::Settings;
    use ropeline_ids::{Epoch, Place, Wall};

    const NOW: Clock = Clock(10_000_000);

    fn session(since: u64, renewed: u64) -> Session {
        Session::of_test(Clock(since), Clock(renewed), &Settings::default())
    }

    fn call(deadline: u64) -> Record {
        Record::Called(Call {
            deadline: Clock(deadline),
            at: Wall(0),
            count: 1,
            back: false,
        })
    }

    /// The start with these records.
    fn with(records: &[Record]) -> (Start, Times) {
        let settings = Settings::default();
        let mut lane = Lane::new(Epoch(1), 0);
        for (place, record) in (0..).zip(records) {
            lane.slots.put(Place(place), Some(*record));
        }
        let times = Times::of(&settings);
        let sight = Sight {
            lanes: &[lane],
            calls: &[0],
            settings: &settings,
            limit: [None; 3],
            ticks: None,
            slots: settings.capacity,
            reach: u64::MAX,
            is_open: true,
            now: NOW,
        };
        let chances = Chances::steady(SURE / 20);
        (super::start(&sight, times, &[chances], |_, _| Kind::Stream), times)
    }

    fn only(list: impl IntoIterator<Item = u64>) -> Vec<(usize, u64)> {
        list.into_iter().enumerate().filter(|(_, mass)| *mass > 0).collect()
    }

    #[test]
    fn an_active_session_begins_at_its_age() {
        let (start, times) = with(&[Record::Inside(session(NOW.0 - 600_000, NOW.0 - 10_000))]);
        let age = usize::try_from(600_000 / times.step_ms).unwrap();
        assert_eq!(only(start.holders[0].active.clone()), [(age, MASS)]);
        assert_eq!(only(start.due), []);
        assert_eq!(start.capacity, 100);
    }

    #[test]
    fn an_idle_session_is_due_at_its_date() {
        let idle = session(NOW.0 - 600_000, NOW.0 - 100_000);
        let (start, times) = with(&[Record::Inside(idle)]);
        let due = usize::try_from(idle.due().since(NOW) / times.step_ms).unwrap();
        assert_eq!(only(start.due), [(due, MASS)]);
        assert_eq!(only(start.holders[0].active.clone()), []);
    }

    #[test]
    fn with_active_slots_an_idle_session_is_due_when_it_is_parked() {
        let settings = Settings {
            active: Some(crate::ActiveSlots {
                idle_after_ms: 60_000,
                max_sessions: None,
            }),
            ..Settings::default()
        };
        let times = Times::of(&settings);
        let idle = Session::of_test(Clock(NOW.0 - 600_000), Clock(NOW.0 - 50_000), &settings);
        let mut start = Start {
            holders: vec![Holders::default()],
            ..Start::default()
        };
        begin_session(&mut start, &idle, 0, (times, &Chances::steady(0)), NOW);
        // 60 s, a step of 15 s and 2 s after the last use, which was 50 s ago.
        let due = usize::try_from(times.steps(27_000)).unwrap();
        assert_eq!(only(start.due), [(due, MASS)]);
    }

    #[test]
    fn a_session_that_is_to_end_is_due_even_if_it_was_just_used() {
        let ending = Session {
            expires: Clock(NOW.0 + 30_000),
            ending: true,
            ..session(NOW.0 - 600_000, NOW.0)
        };
        let last = Session {
            expires: Clock(NOW.0 + 60_000),
            ends_by: Clock(NOW.0 + 60_000),
            ..session(0, NOW.0)
        };
        let (start, times) = with(&[Record::Inside(ending), Record::Inside(last)]);
        let at = |ms: u64| usize::try_from(ms / times.step_ms).unwrap();
        let dues = [(at(30_000), MASS), (at(60_000 + crate::SLACK_MS), MASS)];
        assert_eq!(only(start.due), dues);
        assert_eq!(only(start.holders[0].active.clone()), []);
    }

    #[test]
    fn an_idle_session_that_may_be_used_again_is_parted() {
        let idle = session(NOW.0 - 600_000, NOW.0 - 100_000);
        let settings = Settings::default();
        let times = Times::of(&settings);
        let mut start = Start {
            holders: vec![Holders::default()],
            ..Start::default()
        };
        let chances = Chances::steady(0).with_backs(SURE / 4);
        begin_session(&mut start, &idle, 0, (times, &chances), NOW);
        let (due, active) = (only(start.due), only(start.holders.remove(0).active));
        assert_eq!(due.iter().map(|(_, mass)| mass).sum::<u64>(), MASS * 3 / 4);
        assert_eq!(active.iter().map(|(_, mass)| mass).sum::<u64>(), MASS / 4);
    }

    #[test]
    fn a_called_visitor_begins_where_as_many_steps_are_left() {
        let mut holders = Holders {
            called: vec![0; 18],
            ..Holders::default()
        };
        let times = Times::of(&Settings::default());
        for steps in [0, 5, 17, 1_000] {
            let Record::Called(call) = call(NOW.0 + steps * times.step_ms) else {
                unreachable!("a call")
            };
            begin_call(&mut holders, &call, times, NOW);
        }
        // The last of them were called at once, as it seems.
        assert_eq!(only(holders.called), [(0, 2 * MASS), (12, MASS), (17, MASS)]);
    }

    #[test]
    fn a_call_past_its_deadline_is_at_its_last_step() {
        let (start, _) = with(&[call(NOW.0 - 60_000)]);
        assert_eq!(only(start.holders[0].called.clone()), [(0, MASS)]);
    }

    #[test]
    fn records_without_a_slot_are_not_held() {
        let (start, _) = with(&[Record::Missed { at: Wall(0), count: 1 }, Record::Spent { at: Wall(0) }]);
        assert_eq!(
            start.holders[0]
                .called
                .iter()
                .chain(&start.holders[0].active)
                .chain(&start.due)
                .sum::<u64>(),
            0
        );
    }

    #[test]
    fn what_is_due_in_a_year_is_due_at_the_last_step_kept() {
        let mut due = VecDeque::new();
        add(&mut due, u64::MAX, MASS);
        add(&mut due, 1 << 40, MASS);
        assert_eq!(only(due), [(FAR, 2 * MASS)]);
    }
}
