//! One run of a pattern: its crowd in the real room, on virtual time.

use crate::agenda::Agenda;
use crate::chance::Chance;
use crate::crowd::{self, Person};
use crate::gate::{Gate, Moment, News, Seat, Served, Stands};
use crate::looks::{EVERY, Kind, Look, Passed, quarter};
use crate::patterns::{Change, HOUR, MIN, Pattern};

/// A visitor's part so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub is: Is,
    pub asleep: bool,
    /// How often this visitor has been called.
    pub calls: u8,
    pub seat: Seat,
    /// When the visitor will have finished inside.
    pub until: u64,
    pub renewed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Is {
    Coming,
    Waiting,
    Inside,
    Gone,
}

/// What is to be recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Record {
    /// Looks with what was told.
    Told,
    /// Looks without: true waits are enough.
    Waits,
}

/// The looks of a run, and how it went.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub looks: Vec<Look>,
    pub ran_ms: u64,
    pub calls: u64,
    pub longest_line: u64,
}

pub(crate) struct Run<'a> {
    pub pattern: &'a Pattern,
    pub gate: Gate,
    pub chance: Chance,
    pub people: Vec<Person>,
    pub parts: Vec<Part>,
    pub agenda: Agenda,
    pub now: u64,
    /// People in the shop.
    pub busy: u64,
    came: usize,
    /// The visitor of each number, by lane.
    numbers: Vec<Vec<u32>>,
    passed: Vec<Passed>,
    /// Watched visitors in line.
    watching: Vec<u32>,
    record: Record,
    first_call: Option<u64>,
    next_look: u64,
    next_change: usize,
    /// When the last change was made, and the calls until then.
    changed: Option<(u64, u64)>,
    shop_is_down: bool,
    next_report: u64,
    longest: u64,
    looks: Vec<Look>,
}

/// Runs a pattern with a seed until all places have been passed.
pub fn run(pattern: &Pattern, seed: u64, record: Record) -> Outcome {
    let people = crowd::draw(pattern, seed);
    let part = Part {
        is: Is::Coming,
        asleep: false,
        calls: 0,
        seat: Seat { lane: 0, number: 0 },
        until: 0,
        renewed: 0,
    };
    let lanes = pattern.room.lanes.len();
    let mut run = Run {
        pattern,
        gate: Gate::start(&pattern.room),
        chance: Chance::of(!seed),
        parts: vec![part; people.len()],
        people,
        agenda: Agenda::default(),
        now: 0,
        busy: 0,
        came: 0,
        numbers: vec![Vec::new(); lanes],
        passed: vec![Passed::default(); lanes],
        watching: Vec::new(),
        record,
        first_call: None,
        next_look: u64::MAX,
        next_change: 0,
        changed: None,
        shop_is_down: false,
        next_report: 0,
        longest: 0,
        looks: Vec::new(),
    };
    let end = pattern.comes_until() + LONGEST_AFTER;
    while run.now < end && !run.is_over() {
        run.step();
    }
    run.end()
}

impl Run<'_> {
    fn step(&mut self) {
        self.now += self.pattern.step;
        self.change();
        let joining = self.arrive();
        for (person, deed) in self.agenda.take(self.now) {
            self.does(person, deed);
        }
        self.report();
        let news = self.gate.speak(self.now);
        self.joined(&joining, &news);
        self.called(&news);
        let moment = self.gate.moment();
        self.pass_empty(&moment, !news.called.is_empty());
        self.longest = self.longest.max(moment.waiting);
        if self.now >= self.next_look {
            self.look(&moment);
            self.next_look += EVERY;
        }
    }

    fn is_over(&self) -> bool {
        let all = self.passed.iter().all(Passed::is_done);
        self.came == self.people.len() && all
    }

    fn change(&mut self) {
        while let Some((at, change)) = self
            .pattern
            .changes
            .get(self.next_change)
            .filter(|(at, _)| *at <= self.now)
        {
            self.next_change += 1;
            self.gate.order(*change, self.now);
            match change {
                Change::ShopStops => self.shop_is_down = true,
                Change::ShopIsBack => self.shop_is_down = false,
                _ => {}
            }
            self.changed = Some((*at, self.gate.moment().calls));
        }
    }

    /// Those who come now, by lane.
    fn arrive(&mut self) -> Vec<Vec<u32>> {
        let mut joining = vec![Vec::new(); self.numbers.len()];
        let before = self.came;
        while let Some(person) = self.people.get(self.came).filter(|person| person.arrives <= self.now) {
            if self.came - before >= MOST_JOINS {
                break;
            }
            joining[usize::from(person.lane)].push(self.came as u32);
            self.came += 1;
        }
        for (lane, people) in (0..).zip(&joining) {
            if !people.is_empty() {
                self.gate.join(lane, people.len() as u32);
            }
        }
        joining
    }

    fn joined(&mut self, joining: &[Vec<u32>], news: &News) {
        for (lane, first) in &news.joined {
            let at = usize::from(*lane);
            for (number, person) in (*first..).zip(&joining[at]) {
                self.numbers[at].resize(number as usize, u32::MAX);
                self.numbers[at].push(*person);
                self.passed[at].grow(number);
                let seat = Seat { lane: *lane, number };
                let ahead = match self.gate.stands(seat) {
                    Stands::Waiting { ahead, .. } => ahead,
                    _ => 0,
                };
                self.waits(*person, seat, ahead);
                let every = self.people.len().div_ceil(self.pattern.watched as usize);
                if (*person as usize) % every == every / 2 {
                    self.watching.push(*person);
                }
            }
        }
    }

    fn called(&mut self, news: &News) {
        for (seat, count) in &news.called {
            let lane = usize::from(seat.lane);
            let Some(person) = self.numbers[lane].get(seat.number as usize).copied() else {
                continue;
            };
            if self.parts[person as usize].calls >= *count {
                continue;
            }
            if self.first_call.is_none() {
                self.first_call = Some(self.now);
                self.next_look = self.now;
            }
            if *count == 1 {
                self.passed[lane].call(seat.number, self.now);
            }
            self.is_called(person, *count);
        }
    }

    /// Where nobody waits and whoever came would be called, the places of all who have gone are passed.
    fn pass_empty(&mut self, moment: &Moment, calls: bool) {
        let others = calls && self.passed.len() > 1 && moment.waiting > 0;
        if !moment.open && !others {
            return;
        }
        for (lane, passed) in (0..).zip(&mut self.passed) {
            if self.gate.waiting(lane) == 0 {
                passed.all(self.now);
            }
        }
    }

    fn look(&mut self, moment: &Moment) {
        let settled = self.is_settled(moment);
        let mut watching = std::mem::take(&mut self.watching);
        watching.retain(|person| {
            let part = &self.parts[*person as usize];
            part.is == Is::Waiting && part.calls == 0
        });
        for person in &watching {
            let part = &self.parts[*person as usize];
            if part.asleep {
                continue;
            }
            if let Stands::Waiting {
                ahead, present: true, ..
            } = self.gate.stands(part.seat)
            {
                let lane = part.seat.lane;
                let told = match self.record {
                    Record::Told => self.gate.told(lane, ahead),
                    Record::Waits => None,
                };
                // For the oracle, which is told nothing, true waits count in any case.
                let quiet = self.record == Record::Told && told.is_none();
                let kind = kind(settled, quiet, moment.calls_possible);
                self.looks.push(Look {
                    person: *person,
                    lane,
                    quarter: quarter(ahead, self.gate.waiting(lane)),
                    at: self.now,
                    ahead: ahead as u32,
                    told,
                    wait: None,
                    kind,
                });
            }
        }
        self.watching = watching;
    }

    /// Five minutes after the last change, and half of the slots have been called anew.
    fn is_settled(&self, moment: &Moment) -> bool {
        self.changed.is_none_or(|(at, calls)| {
            let slots = moment.capacity.min(moment.held);
            self.now >= at + SETTLES && moment.calls - calls >= slots / 2
        })
    }

    /// The gate's report on the shop, every two seconds, where the room follows it.
    fn report(&mut self) {
        let Some(limit) = self.pattern.room.follows else { return };
        if self.now < self.next_report {
            return;
        }
        self.next_report = self.now + REPORTS;
        let requests = (self.busy * REPORTS / self.pattern.page) as u32;
        self.gate.report(Served {
            requests,
            people: requests.min(self.busy as u32),
            took_us: took_us(self.busy, u64::from(limit)),
            down: self.shop_is_down,
        });
    }

    /// Now all waits are known.
    fn end(self) -> Outcome {
        let first = self.first_call.unwrap_or(0);
        let known = |look: Look| {
            let passed = self.passed[usize::from(look.lane)].of(self.parts[look.person as usize].seat.number);
            let spans = |(at, _): &(u64, Change)| look.at < *at && passed.is_none_or(|passed| passed > *at);
            let changed = self.pattern.changes.iter().any(spans);
            Look {
                at: look.at - first,
                wait: passed.map(|passed| passed.saturating_sub(look.at)),
                kind: if changed { Kind::Changed } else { look.kind },
                ..look
            }
        };
        Outcome {
            looks: self.looks.iter().copied().map(known).collect(),
            ran_ms: self.now,
            calls: self.gate.moment().calls,
            longest_line: self.longest,
        }
    }
}

/// Where calls are possible, a visitor who is told nothing counts.
fn kind(settled: bool, quiet: bool, calls_possible: bool) -> Kind {
    match () {
        () if !settled => Kind::Changed,
        () if quiet && !calls_possible => Kind::Stopped,
        () => Kind::Counts,
    }
}

/// How long requests take while so many people are in a shop that serves `limit` well: half of them, most, and the slowest.
fn took_us(busy: u64, limit: u64) -> [u64; 3] {
    let free = limit.saturating_sub(busy).max(limit / 20).max(1);
    [80_000, 160_000, 300_000].map(|us| us * limit / free)
}

/// Most newcomers of one step; more join with the next.
const MOST_JOINS: usize = 100_000;

/// How long a run goes on after the last arrival at most.
const LONGEST_AFTER: u64 = 48 * HOUR;

/// How long after a change looks do not count.
const SETTLES: u64 = 5 * MIN;

const REPORTS: u64 = 2_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::{Leaving, PLAIN, SEC, Stay, WORKING};

    /// Ten slots, visits of exactly about a minute that the shop ends, and a line that nobody leaves.
    const SMALL: Pattern = Pattern {
        name: "small",
        visitors: 100,
        room: crate::patterns::Room {
            capacity: 10,
            ..PLAIN.room
        },
        stay: Stay::Bimodal {
            short: MIN,
            long: MIN,
            share: 0,
        },
        finish: 1_000,
        end_grace: 0,
        ..PLAIN
    };

    #[test]
    fn the_same_seed_is_the_same_run() {
        let once = run(&WORKING[0], 5, Record::Told);
        assert_eq!(once, run(&WORKING[0], 5, Record::Told));
        assert_ne!(once.looks, run(&WORKING[0], 6, Record::Told).looks);
    }

    #[test]
    fn what_is_told_changes_nothing() {
        let (told, waits) = (run(&SMALL, 5, Record::Told), run(&SMALL, 5, Record::Waits));
        let of = |outcome: &Outcome| {
            outcome
                .looks
                .iter()
                .map(|look| (look.person, look.wait))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&told), of(&waits));
    }

    #[test]
    fn every_place_is_passed_and_waits_of_one_visitor_end_at_one_time() {
        let outcome = run(&SMALL, 1, Record::Told);
        assert_eq!(outcome.calls, 100);
        assert!(outcome.looks.len() > 1_000, "{}", outcome.looks.len());
        assert!(
            outcome
                .looks
                .iter()
                .all(|look| look.at % EVERY < SEC && look.kind == Kind::Counts)
        );
        for pair in outcome
            .looks
            .iter()
            .filter(|look| look.person == 60)
            .collect::<Vec<_>>()
            .windows(2)
        {
            let ends = |look: &Look| look.at + look.wait.unwrap();
            assert_eq!(ends(pair[0]), ends(pair[1]));
        }
        let end = |person| {
            let look = outcome.looks.iter().find(|look| look.person == person).unwrap();
            look.at + look.wait.unwrap()
        };
        assert!(end(20) + 2 * MIN < end(50) && end(50) + 2 * MIN < end(90));
        // Ten visits at once, of a minute and some seconds: ninety others take nine times as long.
        let last = outcome
            .looks
            .iter()
            .map(|look| look.at + look.wait.unwrap())
            .max()
            .unwrap();
        assert!((8 * MIN..14 * MIN).contains(&last), "{last}");
    }

    #[test]
    fn a_leavers_looks_end_with_leaving_and_are_judged_by_when_calls_pass_the_place() {
        for say_so in [0, 1_000] {
            let pattern = Pattern {
                leaving: Leaving::Steady {
                    share: 500,
                    mean: 2 * MIN,
                },
                say_so,
                ..SMALL
            };
            let (people, outcome) = (crowd::draw(&pattern, 1), run(&pattern, 1, Record::Told));
            assert!(outcome.looks.iter().all(|look| look.wait.is_some()));
            let gives_up = |look: &Look| people[look.person as usize].patience.until(0, 0);
            assert!(
                outcome
                    .looks
                    .iter()
                    .all(|look| gives_up(look).is_none_or(|at| look.at <= at + SEC))
            );
            // Most leavers would have had to wait longer than they did.
            let last = |person| outcome.looks.iter().rfind(|look| look.person == person).copied();
            let leavers = (0..100)
                .filter_map(last)
                .filter(|look| look.wait.is_some_and(|wait| wait > 2 * EVERY));
            assert!(leavers.count() > 10);
        }
    }

    #[test]
    fn looks_whose_wait_spans_a_change_or_that_come_soon_after_it_do_not_count() {
        let pattern = Pattern {
            visitors: 400,
            changes: &[(10 * MIN, Change::Capacity(20))],
            ..SMALL
        };
        let outcome = run(&pattern, 1, Record::Told);
        let changed = |look: &Look| {
            let at = look.at + SEC;
            let spans = at < 10 * MIN && at + look.wait.unwrap() > 10 * MIN;
            spans || (10 * MIN..15 * MIN).contains(&at)
        };
        let found = outcome.looks.iter().filter(|look| look.kind == Kind::Changed).count();
        let wanted = outcome.looks.iter().filter(|look| changed(look)).count();
        assert!(found.abs_diff(wanted) <= wanted / 50, "{found} {wanted}");
        assert!(
            outcome
                .looks
                .iter()
                .any(|look| look.kind == Kind::Counts && look.at > 15 * MIN)
        );
    }

    #[test]
    fn a_held_line_has_looks_that_tell_nothing_and_do_not_count_against_the_room() {
        let pattern = Pattern {
            visitors: 200,
            changes: &[(5 * MIN, Change::Hold), (20 * MIN, Change::GoOn)],
            ..SMALL
        };
        let outcome = run(&pattern, 1, Record::Told);
        let held = |look: &&Look| (6 * MIN..19 * MIN).contains(&look.at);
        assert!(outcome.looks.iter().filter(held).count() > 100);
        assert!(
            outcome
                .looks
                .iter()
                .filter(held)
                .all(|look| look.kind != Kind::Counts && look.told.is_none())
        );
    }

    #[test]
    fn a_shop_that_stops_stops_the_calls() {
        let pattern = Pattern {
            visitors: 600,
            room: crate::patterns::Room {
                capacity: 500,
                follows: Some(60),
                ..PLAIN.room
            },
            changes: &[(5 * MIN, Change::ShopStops), (10 * MIN, Change::ShopIsBack)],
            ..SMALL
        };
        let outcome = run(&pattern, 1, Record::Told);
        let ends = outcome.looks.iter().map(|look| look.at + look.wait.unwrap());
        let calls = ends.collect::<Vec<_>>();
        let within = |from: u64, to: u64| calls.iter().filter(|at| (from..to).contains(*at)).count();
        assert_eq!(within(5 * MIN + 10 * SEC, 10 * MIN - 10 * SEC), 0);
        assert!(within(0, 5 * MIN) > 0 && within(10 * MIN, 60 * MIN) > 0);
    }

    #[test]
    fn nothing_told_counts_where_calls_are_possible_and_what_is_told_always() {
        assert_eq!(kind(true, true, true), Kind::Counts);
        assert_eq!(kind(true, true, false), Kind::Stopped);
        assert_eq!(kind(true, false, false), Kind::Counts);
        assert_eq!(kind(false, false, true), Kind::Changed);
    }

    #[test]
    fn a_full_shop_is_slow() {
        assert_eq!(took_us(0, 100), [80_000, 160_000, 300_000]);
        assert_eq!(took_us(80, 100)[2], 1_500_000);
        assert_eq!(took_us(500, 100)[2], 6_000_000);
    }
}
