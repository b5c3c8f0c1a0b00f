//! The standing of a number in a naive line.

use ropeline_room::{CallId, Called, Clock, Inside, LaneId, Mode, Settings, Standing, Waiting, Wall};

use super::Lore;
use super::lane::{Is, Key, Lane, Where, number};
use super::line::Line;

impl Line {
    pub fn standing(&self, id: LaneId, key: Key, clock: u64, lore: &Lore, settings: &Settings) -> Standing {
        let Some(lane) = self.lanes.get(usize::from(id.0)) else {
            return Standing::Unknown;
        };
        match lane.find(key) {
            Where::Issued => {}
            Where::Late => return Standing::Late,
            Where::Gap | Where::Ahead => return Standing::Unknown,
            Where::Lost => return lore.prove(key, clock).standing(),
        }
        let Some(person) = lane.people.get(&key) else {
            return Standing::Late;
        };
        let call = |count| CallId {
            lane: id,
            number: number(key),
            count,
        };
        let nobody_comes_in = matches!(settings.mode, Mode::Closed | Mode::Off);
        match person.is {
            Is::InLine => self.waits(lane, key, clock, None),
            Is::Called {
                deadline, at, count, ..
            } if clock <= deadline || nobody_comes_in => Standing::Called(Called {
                call: call(count),
                deadline: Clock(deadline),
                called_at: Wall(at),
            }),
            Is::Missed { at, .. } => self.waits(lane, key, clock, Some(Wall(at))),
            Is::Called { at, count: 1, back, .. } => match self.waits(lane, key, clock, Some(Wall(at))) {
                Standing::Waiting(waiting) => Standing::Waiting(Waiting {
                    mark_due: waiting.mark_due && !back,
                    ..waiting
                }),
                other => other,
            },
            Is::Inside {
                expires,
                ends_by,
                renewed,
                since,
                carried,
                count,
                ending,
                ..
            } if clock <= expires => Standing::Inside(Inside {
                call: call(count),
                expires: Clock(expires),
                ends_by: Clock(ends_by),
                since: Wall(since),
                carried,
                parked: false,
                unasked_until: Clock(u64::MAX),
                renews_from: if !ending && expires < ends_by {
                    Clock(renewed + settings.session_ms / 10)
                } else {
                    Clock(u64::MAX)
                },
                ending,
            }),
            Is::Called { .. } | Is::Spent { .. } => Standing::Late,
            Is::Inside { .. } | Is::Over { .. } | Is::Gone => Standing::Ended,
        }
    }

    fn waits(&self, lane: &Lane, key: Key, clock: u64, missed_at: Option<Wall>) -> Standing {
        let line = self.gen_at(clock);
        if lane.void(key) {
            return Standing::Late;
        }
        let present = lane.present(key, &line);
        let ahead = lane
            .people
            .keys()
            .filter(|other| **other < key && lane.present(**other, &line))
            .count() as u64;
        let marked = lane.people[&key].mark == Some(self.generation);
        Standing::Waiting(Waiting {
            ahead,
            present,
            mark_due: !marked || !present,
            missed_at,
        })
    }
}
