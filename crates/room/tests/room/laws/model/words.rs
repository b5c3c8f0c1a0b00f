//! The gates' reports about a naive line's visitors.

use ropeline_room::{Completion, LaneId, Mode, Number};

use super::Proof;
use super::lane::{Is, Key, Now, Person, Where, number};
use super::line::{Line, ripe};

impl Line {
    pub fn join(&mut self, id: LaneId, count: u32, now: &Now) -> Option<Number> {
        let lane = &mut self.lanes[usize::from(id.0)];
        let epoch = lane.epoch();
        let end = lane.ends.get_mut(&epoch)?;
        let first = *end;
        *end += u64::from(count);
        lane.given.insert(epoch, *end);
        let step = (now.settings.firm_within_ms / 64).max(1);
        let fresh_until = now.clock - now.clock % step + step + now.settings.firm_within_ms;
        for n in first..*end {
            lane.people.insert(
                (epoch, n),
                Person {
                    fresh_until,
                    mark: None,
                    is: Is::InLine,
                },
            );
        }
        self.figures.joins += u64::from(count);
        Some(number((epoch, first)))
    }

    /// Makes room for the epoch of a genuine number if it was lost; false when that comes too late.
    fn learn(&mut self, id: LaneId, key: Key, now: &mut Now) -> bool {
        let Some(lane) = self.lanes.get_mut(usize::from(id.0)) else {
            return false;
        };
        if lane.find(key) == Where::Lost {
            match now.lore.prove(key, now.clock) {
                Proof::Lost { .. } => now.lore.learn(key.0),
                Proof::Late | Proof::Ahead => return false,
            }
            let first = now.lore.floor_of(key.0);
            for epoch in lane.ends.keys() {
                let passed = match epoch.cmp(&lane.horizon.0) {
                    std::cmp::Ordering::Less => u64::MAX,
                    std::cmp::Ordering::Equal => lane.horizon.1,
                    std::cmp::Ordering::Greater => 0,
                };
                let void = lane.voids.entry(*epoch).or_default();
                *void = (*void).max(passed);
            }
            lane.ends.insert(key.0, first);
            lane.given.insert(key.0, first);
            lane.firsts.insert(key.0, first);
            let start = (key.0, 0);
            lane.horizon = lane.horizon.min(start);
            lane.target = lane.target.min(start);
            lane.heads = vec![(ripe(now.settings, now.clock.max(now.lore.healing.until)), lane.head)];
        }
        true
    }

    /// The person of a genuine number, given back or from a lost epoch if need be.
    fn reclaim(&mut self, id: LaneId, key: Key, now: &mut Now) -> Option<&mut Person> {
        if !self.learn(id, key, now) {
            return None;
        }
        let lane = self.lanes.get_mut(usize::from(id.0))?;
        if lane.find(key) == Where::Gap {
            lane.people.insert(
                key,
                Person {
                    fresh_until: 0,
                    mark: None,
                    is: Is::InLine,
                },
            );
            let given = lane.given.entry(key.0).or_default();
            *given = (*given).max(key.1 + 1);
        }
        self.person(id, key)
    }

    fn person(&mut self, id: LaneId, key: Key) -> Option<&mut Person> {
        let lane = self.lanes.get_mut(usize::from(id.0))?;
        let known = lane.find(key) == Where::Issued;
        lane.people.get_mut(&key).filter(|_| known)
    }

    pub fn mark(&mut self, id: LaneId, key: Key, now: &mut Now) -> bool {
        let generation = self.generation;
        let adopts = now.adopts == Some(key.0);
        let (clock, brings) = (now.clock, now.adopts.is_some());
        let nobody_comes_in = matches!(now.settings.mode, Mode::Closed | Mode::Off);
        let Some(person) = self.reclaim(id, key, now) else {
            return false;
        };
        if let (true, Is::Spent { at }) = (adopts, &person.is) {
            person.is = Is::Missed { at: *at, count: 1 };
        }
        if let Is::Called {
            deadline,
            count: 1,
            back,
            ..
        } = &mut person.is
        {
            let late = clock > *deadline && !nobody_comes_in && !brings;
            *back |= late;
            return late;
        }
        let in_line = matches!(person.is, Is::InLine | Is::Missed { .. });
        if in_line {
            person.mark = Some(generation);
        }
        in_line
    }

    /// Ended, left, or (`spent`) called twice, in the log that is brought back.
    pub fn use_up(&mut self, id: LaneId, key: Key, spent: bool, now: &mut Now) -> bool {
        let (until, at) = (now.clock + now.settings.late_window_ms, now.time);
        if now.adopts != Some(key.0) {
            return false;
        }
        let Some(person) = self.reclaim(id, key, now) else {
            return false;
        };
        match person.is {
            Is::Called { count, .. } if !spent => {
                person.is = Is::Over {
                    idled: false,
                    until,
                    count,
                };
                self.figures.called -= 1;
            }
            Is::InLine | Is::Missed { .. } => person.is = if spent { Is::Spent { at } } else { Is::Gone },
            _ => return false,
        }
        true
    }

    /// Removes visitors from the line whose number is below and was not issued here.
    pub fn void_below(&mut self, id: LaneId, key: Key, now: &mut Now) -> bool {
        if now.adopts != Some(key.0) || !self.learn(id, key, now) {
            return false;
        }
        let lane = &mut self.lanes[usize::from(id.0)];
        let Some(end) = lane.ends.get(&key.0).copied().filter(|_| key.0 != lane.epoch()) else {
            return false;
        };
        let gone = lane.gone.entry(key.0).or_default();
        *gone = (*gone).max(key.1);
        let given = lane.given.entry(key.0).or_default();
        *given = (*given).max(key.1);
        let held = |is: &Is| matches!(is, Is::Called { .. } | Is::Inside { .. } | Is::Over { .. });
        let below = (key.0, end)..(key.0, key.1.max(end));
        lane.people
            .retain(|other, person| !below.contains(other) || held(&person.is));
        lane.people.range_mut(below).for_each(|(_, person)| person.mark = None);
        true
    }

    pub fn leave(&mut self, id: LaneId, key: Key, now: &Now) -> bool {
        let until = now.clock + now.settings.late_window_ms;
        let Some(person) = self.person(id, key) else {
            return false;
        };
        let before = person.is.clone();
        person.is = match before {
            Is::InLine | Is::Missed { .. } => Is::Gone,
            Is::Called { count, .. } | Is::Inside { count, .. } | Is::Over { idled: true, count, .. } => Is::Over {
                idled: false,
                until,
                count,
            },
            Is::Spent { .. } | Is::Over { .. } | Is::Gone => return false,
        };
        match before {
            Is::Inside { excess, .. } => {
                self.figures.inside -= 1;
                self.figures.ends += 1;
                self.figures.excess -= u32::from(excess);
            }
            Is::Called { .. } => {
                self.figures.called -= 1;
                self.figures.left += 1;
            }
            Is::InLine | Is::Missed { .. } => self.figures.left += 1,
            _ => {}
        }
        true
    }

    fn open(now: &Now, count: u8, carried: bool, excess: bool) -> Is {
        let ends_by = now.clock + now.settings.session_max_ms;
        let expires = (now.clock + hold(now)).min(ends_by);
        Is::Inside {
            expires,
            ends_by,
            renewed: now.clock,
            since: now.time,
            carried,
            count,
            ending: false,
            excess,
        }
    }

    pub fn claim(&mut self, id: LaneId, key: Key, with_pass: bool, now: &Now) -> bool {
        let Some(person) = self.person(id, key) else {
            return false;
        };
        match &mut person.is {
            Is::Called { count, .. } => {
                person.is = Self::open(now, *count, with_pass, false);
                self.figures.called -= 1;
                self.figures.inside += 1;
                self.figures.claims += 1;
                true
            }
            Is::Inside { carried, .. } => {
                *carried |= with_pass;
                self.renew(id, key, now);
                true
            }
            _ => false,
        }
    }

    pub fn end(&mut self, id: LaneId, key: Key, after: u64, now: &Now) -> bool {
        if matches!(self.person(id, key).map(|p| &p.is), Some(Is::Called { .. })) {
            self.claim(id, key, true, now);
            if let Some(Person {
                is: Is::Inside { carried, .. },
                ..
            }) = self.person(id, key)
            {
                *carried = false;
            }
        }
        let Some(Person {
            is: Is::Inside { expires, ending, .. },
            ..
        }) = self.person(id, key)
        else {
            return false;
        };
        *expires = (*expires).min(now.clock + after);
        *ending = true;
        true
    }

    /// Counted once, whatever the state of the session; a completion of another sale only ends it.
    pub fn complete(&mut self, done: &Completion, (edition, spared): (u32, Option<u64>), now: &mut Now) -> bool {
        let (id, key) = (done.lane, (done.number.epoch.0, u64::from(done.number.n)));
        let past = done.edition.0 < edition && spared.is_none_or(|spared| key.0 < spared);
        let sells = now.settings.stock.is_some() || now.adopts.is_some() || !self.sold.is_empty();
        if !sells || past {
            return now.adopts.is_none() && self.end(id, key, done.after_ms, now);
        }
        self.reclaim(id, key, now);
        let issued = match self.lanes.get(usize::from(id.0)) {
            Some(lane) => lane.find(key) != Where::Ahead,
            None => now.adopts.is_some(),
        };
        let new = issued && self.sold.insert((id, key));
        if now.adopts.is_some() {
            if new {
                self.use_up(id, key, false, now);
            }
            return new;
        }
        let until = now.clock + now.settings.late_window_ms;
        let count = match self.person(id, key).map(|person| &person.is) {
            Some(Is::Called { .. } | Is::Inside { .. }) => return self.end(id, key, done.after_ms, now) || new,
            Some(Is::Missed { count, .. } | Is::Over { idled: true, count, .. }) => *count,
            Some(Is::Spent { .. }) => 2,
            Some(Is::InLine) => 1,
            _ => return new,
        };
        if let Some(person) = self.person(id, key) {
            person.is = Is::Over {
                idled: false,
                until,
                count,
            };
        }
        true
    }

    pub fn renew(&mut self, id: LaneId, key: Key, now: &Now) -> bool {
        let Some(Person {
            is:
                Is::Inside {
                    expires,
                    ends_by,
                    renewed,
                    ending: false,
                    ..
                },
            ..
        }) = self.person(id, key)
        else {
            return false;
        };
        *expires = (now.clock + hold(now)).min(*ends_by).max(*expires);
        *renewed = now.clock;
        true
    }

    pub fn reopen(&mut self, id: LaneId, key: Key, now: &mut Now) -> bool {
        if matches!(self.person(id, key).map(|p| &p.is), Some(Is::Called { .. })) {
            return self.claim(id, key, true, now);
        }
        let Some(person) = self.reclaim(id, key, now) else {
            return false;
        };
        let count = match person.is {
            Is::InLine => 1,
            Is::Missed { count, .. } | Is::Over { idled: true, count, .. } => count,
            Is::Spent { .. } => 2,
            _ => return false,
        };
        person.is = Self::open(now, count, true, true);
        self.figures.inside += 1;
        self.figures.excess += 1;
        true
    }
}

/// A session's length, and the tenth of it for which a renewal is not said again.
fn hold(now: &Now) -> u64 {
    now.settings.session_ms + now.settings.session_ms / 10
}
