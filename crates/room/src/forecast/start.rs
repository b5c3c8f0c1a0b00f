//! The holders of slots as they are now, as a flow begins with them.

use std::collections::VecDeque;

use crate::forecast::Sight;
use crate::forecast::ages::SURE;
use crate::forecast::flow::{MASS, Start, Tokens};
use crate::forecast::stays::{Chances, Times};
use crate::lane::record::{Call, Record, Session};
use ropeline_ids::Clock;

/// Most steps ahead for which the end of a slot is kept apart.
const FAR: usize = 4_096;

pub(super) fn start(sight: &Sight, times: Times, chances: &Chances, tokens: Option<Tokens>) -> Start {
    let mut start = Start {
        called: vec![0; chances.claim.len()],
        capacity: u64::from(sight.settings.capacity),
        tokens,
        ..Start::default()
    };
    for (_, record) in sight.lanes.iter().flat_map(|lane| lane.slots.iter()) {
        match record {
            Record::Called(call) => begin_call(&mut start, call, times, sight.now),
            Record::Inside(session) => begin_session(&mut start, session, (times, chances), sight.now),
            Record::Missed { .. } | Record::Spent { .. } | Record::Over { .. } => {}
        }
    }
    start
}

fn begin_call(start: &mut Start, call: &Call, times: Times, now: Clock) {
    let steps = start.called.len();
    let left = usize::try_from(times.steps(call.deadline.since(now))).unwrap_or(steps);
    start.called[steps - (left + 1).min(steps)] += MASS;
}

fn begin_session(start: &mut Start, session: &Session, (times, chances): (Times, &Chances), now: Clock) {
    let due = times.steps(session.due().since(now));
    let idle_ms = now.since(session.renewed);
    if session.ending || session.expires >= session.ends_by {
        add(&mut start.due, due, MASS);
    } else if idle_ms < times.idle_ms {
        add(&mut start.active, times.age(session, now), MASS);
    } else {
        let back = MASS * chances.back(times, idle_ms) / SURE;
        add(&mut start.due, due, MASS - back);
        add(&mut start.active, times.age(session, now), back);
    }
}

fn add(list: &mut VecDeque<u64>, at: u64, mass: u64) {
    let at = usize::try_from(at).unwrap_or(FAR).min(FAR);
    if list.len() <= at {
        list.resize(at + 1, 0);
    }
    list[at] += mass;
}
