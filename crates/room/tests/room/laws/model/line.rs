//! The naive line: the gates' reports, and the effects of the clock.

use std::collections::BTreeSet;

use ropeline_room::{CallOrder, Figures, LaneId, Mode, Settings};

use super::Lore;
use super::lane::{Gen, Is, Key, Lane, Now, Person};

const SLACK: u64 = 2_000;

#[derive(Clone, Debug)]
pub struct Line {
    pub lanes: Vec<Lane>,
    pub figures: Figures,
    pub generation: u64,
    pub began: u64,
    /// The last entry before which, or after which, the line had a visitor.
    pub busy: u64,
    pub somebody: bool,
    pub stepped: u64,
    pub units: u64,
    /// Lanes in the order of their turns, and the next one.
    pub turn: usize,
    /// An operator's calls with this entry.
    pub ordered: Vec<CallOrder>,
    /// The completed visitors.
    pub sold: BTreeSet<(LaneId, Key)>,
    /// After the last entry it was there for that alone.
    pub kept: bool,
}

impl Line {
    pub fn new(now: &Now) -> Self {
        let mut line = Self {
            lanes: Vec::new(),
            figures: Figures::default(),
            generation: 2,
            began: now.clock,
            busy: now.clock,
            somebody: false,
            stepped: now.clock,
            units: most(now.settings),
            turn: 0,
            ordered: Vec::new(),
            sold: BTreeSet::new(),
            kept: false,
        };
        line.grow(now.settings, now.lore);
        line
    }

    pub fn grow(&mut self, settings: &Settings, lore: &Lore) {
        while self.lanes.len() < settings.lane_weights.len() {
            self.lanes.push(Lane::new(lore));
        }
    }

    pub fn gen_at(&self, clock: u64) -> Gen {
        Gen {
            generation: self.generation,
            clock,
        }
    }

    pub fn waiting(&self, clock: u64) -> u64 {
        let line = self.gen_at(clock);
        self.lanes.iter().map(|lane| lane.waiting(&line)).sum()
    }

    pub fn empty(&self, clock: u64) -> bool {
        self.waiting(clock) == 0 && self.figures.called + self.figures.inside == 0
    }

    pub fn resettle(&mut self, old: &Settings, new: &Settings, now: u64) {
        if old.lane_weights != new.lane_weights {
            self.turn = 0;
        }
        if old.rate_per_minute.is_some() {
            self.accrue(old, now);
            self.accrue(new, now);
            self.units = self.units.min(most(new));
        } else {
            (self.stepped, self.units) = (now, most(new));
        }
    }

    pub fn accrue(&mut self, settings: &Settings, now: u64) {
        while self.stepped + settings.call_every_ms <= now {
            self.stepped += settings.call_every_ms;
            self.units = (self.units + step(settings)).min(most(settings));
        }
    }

    pub fn advance(&mut self, now: &Now) {
        if self.somebody {
            self.busy = now.clock;
        }
        let marked = |lane: &Lane, generation: u64| {
            let seen = |(key, p): (&Key, &Person)| *key >= lane.horizon && p.mark.is_some_and(|m| m + 1 >= generation);
            lane.people.iter().any(seen)
        };
        if !self.lanes.iter().any(|lane| marked(lane, self.generation)) {
            self.began = now.clock;
        } else if now.clock >= self.began + now.settings.grace_ms / 2 {
            self.generation += 1;
            self.began = now.clock;
        }
    }

    pub fn finish(&mut self, now: &mut Now, held: bool) {
        self.expire(now);
        self.call_ordered(now);
        self.call(now);
        let line = self.gen_at(now.clock);
        for lane in &mut self.lanes {
            while !held && lane.heads.first().is_some_and(|(ripe, _)| *ripe <= now.clock) {
                lane.target = lane.target.max(lane.heads.remove(0).1);
            }
            let to = lane.lowest(&line).map_or(lane.target, |low| low.min(lane.target));
            if to > lane.horizon {
                now.lore.raise(lane.pass(to));
            }
        }
        self.somebody = !self.empty(now.clock);
        if self.somebody {
            self.busy = now.clock;
        }
    }

    pub fn renew_calls(&mut self, settings: &Settings, clock: u64) {
        for person in self.lanes.iter_mut().flat_map(|lane| lane.people.values_mut()) {
            if let Is::Called { deadline, back, .. } = &mut person.is {
                *deadline = (clock + settings.claim_deadline_ms).max(*deadline);
                *back = false;
            }
        }
    }

    pub fn expire(&mut self, now: &Now) {
        let until = now.clock + now.settings.late_window_ms;
        let figures = &mut self.figures;
        for lane in &mut self.lanes {
            let voids: BTreeSet<Key> = lane.people.keys().copied().filter(|key| lane.void(*key)).collect();
            let void = |key: &Key| voids.contains(key);
            for (key, person) in &mut lane.people {
                match person.is {
                    Is::Called {
                        deadline,
                        at,
                        count,
                        back,
                    } if now.clock >= deadline + SLACK => {
                        if matches!(now.settings.mode, Mode::Closed | Mode::Off) {
                            person.is = Is::Called {
                                deadline: now.clock + now.settings.claim_deadline_ms,
                                at,
                                count,
                                back: false,
                            };
                            continue;
                        }
                        miss(figures, person, (at, count), void(key));
                        if back && !void(key) {
                            person.mark = Some(self.generation);
                        }
                    }
                    Is::Inside {
                        expires,
                        ends_by,
                        count,
                        ending,
                        excess,
                        ..
                    } if now.clock >= expires + if ending { 0 } else { SLACK } => {
                        figures.inside -= 1;
                        figures.ends += 1;
                        figures.excess -= u32::from(excess);
                        person.is = Is::Over {
                            idled: !ending && expires < ends_by,
                            until,
                            count,
                        };
                    }
                    Is::Over { until, .. } if now.clock >= until => person.is = Is::Gone,
                    _ => {}
                }
            }
            lane.people.retain(|key, p| !void(key) || !matches!(p.is, Is::Gone));
        }
    }

    /// One at a time, at any rate.
    fn call_ordered(&mut self, now: &Now) {
        let settings = now.settings;
        for order in std::mem::take(&mut self.ordered) {
            for _ in 0..order.count {
                let full = self.figures.called + self.figures.inside >= settings.capacity;
                let quiet = now.clock < now.quiet_until;
                if quiet
                    || self.has_nothing_left(settings)
                    || (full && !order.beyond)
                    || matches!(settings.mode, Mode::Closed | Mode::Off)
                {
                    break;
                }
                let line = self.gen_at(now.clock);
                let next = match order.lane.map(|lane| usize::from(lane.0)) {
                    Some(lane) => Some(lane).filter(|lane| self.lanes[*lane].waiting(&line) > 0),
                    None => self.whose_turn(settings, now.clock),
                };
                let Some(id) = next else { break };
                self.call_one(id, now);
            }
        }
    }

    pub fn call(&mut self, now: &Now) {
        let settings = now.settings;
        if settings.mode != Mode::Auto || now.clock < now.quiet_until.max(now.lore.healing.until) {
            return;
        }
        self.accrue(settings, now.clock);
        while self.figures.called + self.figures.inside < settings.capacity {
            if self.has_nothing_left(settings) {
                return;
            }
            if settings.rate_per_minute.is_some() && self.units < 60_000 {
                return;
            }
            let Some(id) = self.whose_turn(settings, now.clock) else {
                return;
            };
            self.call_one(id, now);
            if settings.rate_per_minute.is_some() {
                self.units -= 60_000;
            }
        }
    }

    fn call_one(&mut self, id: usize, now: &Now) {
        let settings = now.settings;
        let line = self.gen_at(now.clock);
        let lane = &mut self.lanes[id];
        let key = lane.lowest(&line).unwrap();
        let person = lane.people.get_mut(&key).unwrap();
        let count = if let Is::Missed { count, .. } = person.is {
            count + 1
        } else {
            1
        };
        person.is = Is::Called {
            deadline: now.clock + settings.claim_deadline_ms,
            at: now.time,
            count,
            back: false,
        };
        if key >= lane.head {
            lane.head = (key.0, key.1 + 1);
            lane.heads.push((
                ripe(settings, now.clock).max(lane.heads.last().map_or(0, |h| h.0)),
                lane.head,
            ));
        }
        self.figures.called += 1;
        self.figures.calls += 1;
    }

    fn has_nothing_left(&self, settings: &Settings) -> bool {
        let promised = u32::try_from(self.sold.len()).unwrap() + self.unfinished();
        settings.stock.is_some_and(|stock| promised >= stock)
    }

    /// Called or inside in this edition, and not complete.
    pub fn unfinished(&self) -> u32 {
        let lanes = (0..).map(LaneId).zip(&self.lanes);
        let held = lanes.flat_map(|(id, lane)| {
            let held = |is: &Is| matches!(is, Is::Called { .. } | Is::Inside { .. });
            let people = lane.people.iter().filter(move |(_, person)| held(&person.is));
            people.map(move |(key, _)| (id, *key))
        });
        let held = held.filter(|who| !self.sold.contains(who));
        u32::try_from(held.count()).unwrap()
    }

    /// Turns written out one by one; a lane without waiting visitors loses the rest of its turn.
    pub fn whose_turn(&mut self, settings: &Settings, clock: u64) -> Option<usize> {
        let weight = |lane: usize| settings.lane_weights.get(lane).map_or(1, |weight| usize::from(*weight));
        let turns: Vec<usize> = (0..self.lanes.len())
            .flat_map(|lane| vec![lane; weight(lane)])
            .collect();
        let line = self.gen_at(clock);
        let waits = |at: &usize| self.lanes[turns[at % turns.len()]].waiting(&line) > 0;
        let at = (self.turn..self.turn + turns.len()).find(waits)?;
        self.turn = at + 1;
        Some(turns[at % turns.len()])
    }

    pub fn begin(&mut self, epoch: u64, clock: u64) {
        if self.somebody {
            self.busy = clock;
        }
        for lane in &mut self.lanes {
            lane.ends.insert(epoch, 0);
            lane.given.insert(epoch, 0);
            lane.people.values_mut().for_each(|person| person.fresh_until = 0);
        }
        self.somebody = !self.empty(clock);
    }

    /// One past the highest number of each epoch.
    pub fn highest(&self) -> Vec<(u64, u64)> {
        self.lanes.iter().flat_map(|lane| lane.given.clone()).collect()
    }
}

fn step(settings: &Settings) -> u64 {
    u64::from(settings.rate_per_minute.unwrap_or(0)) * settings.call_every_ms
}

fn most(settings: &Settings) -> u64 {
    step(settings) + 59_999
}

pub fn ripe(settings: &Settings, at: u64) -> u64 {
    let step = (settings.late_window_ms / 64).max(1);
    at - at % step + step + settings.late_window_ms
}

fn miss(figures: &mut Figures, person: &mut Person, (at, count): (u64, u8), void: bool) {
    figures.called -= 1;
    figures.no_shows += 1;
    person.is = match count {
        _ if void => Is::Gone,
        1 => Is::Missed { at, count },
        _ => Is::Spent { at },
    };
    if count < 2 {
        person.mark = None;
    }
}
