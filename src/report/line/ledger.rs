//! The ledger of one line: its entries compared with the room's decisions.

use super::order::{Given, Order};
use super::pieces::Pieces;
use super::usage::Usage;
use super::visits::{Missed, Now, Visits, Who};
use crate::charts::Histogram;
use crate::report::findings::{self, Inversion, Stamp, Tally};
use crate::report::series::{Point, Points, Series};
use crate::room::{
    CallId, Clock, Edition, Epoch, Joined, LaneId, LineView, Mode, Number, Position, Redeem, Redeemed, Section,
    Standing, Wall,
};

/// See the module.
#[derive(Debug)]
pub(in crate::report) struct Ledger {
    edition: Edition,
    orders: Vec<Order>,
    visits: Visits,
    pieces: Pieces,
    pub tally: Tally,
    pub inversions: Vec<Inversion>,
    pub waits: Histogram,
    pub by_cohort: [Histogram; COHORTS.len()],
    pub by_lane: Vec<Histogram>,
    /// The line's first join.
    opened: Option<Wall>,
    pub series: Series,
    pub points: Points,
    pub usage: Usage,
}

/// The events of a line with one entry.
pub(in crate::report) struct Happened<'a> {
    pub position: Position,
    pub now: Now<'a>,
    /// The clock before the entry.
    pub before: Clock,
    pub sections: Vec<&'a Section>,
    /// Visitors whom operators removed.
    pub evicted: Vec<Who>,
    /// Places that accounts gave up, since each keeps the better of two places.
    pub given_up: Vec<Who>,
    /// The answers to the entry's newcomers.
    pub joined: Vec<&'a Joined>,
    /// The results of the codes that were shown.
    pub redeemed: Vec<(&'a Redeem, &'a Redeemed)>,
    pub edition: Edition,
    /// The room's last edition was taken back, not made by a reset: its lines go on.
    pub regained: bool,
    pub view: &'a LineView,
    pub was: Option<&'a LineView>,
}

impl Ledger {
    /// `small` for one of very many lines.
    pub fn new(edition: Edition, small: bool) -> Self {
        let (steps, points) = if small { (60, 256) } else { (600, 4_096) };
        Self {
            edition,
            orders: Vec::new(),
            visits: Visits::default(),
            pieces: Pieces::default(),
            tally: Tally::default(),
            inversions: Vec::new(),
            waits: Histogram::default(),
            by_cohort: Default::default(),
            by_lane: Vec::new(),
            opened: None,
            series: Series::new(steps),
            points: Points::new(points),
            usage: Usage::default(),
        }
    }

    /// Takes up a line in the middle of its history: the room says which visitors are called and inside.
    pub fn resume(&mut self, view: &LineView, now: Now<'_>) {
        self.visits.clear(now.clock);
        self.pieces.resume(view.winners());
        self.orders.iter_mut().for_each(Order::forget);
        for call in view.seated_since(None) {
            let who = (call.lane, call.number);
            let seat = view.seat(call.lane, call.number);
            self.order(call.lane).call(seat, u64::MAX, now.clock);
            match view.standing(call.lane, call.number, now.clock) {
                Standing::Called(called) => self.visits.call_until(who, call.count, called.deadline),
                Standing::Inside(inside) => self.visits.resume(who, inside.expires, inside.ends_by, now),
                _ => {}
            }
        }
    }

    /// The line is no more, and one of its name begins afresh.
    pub fn close(&mut self, clock: Clock) {
        self.visits.clear(clock);
        self.pieces.begin();
        self.orders.iter_mut().for_each(Order::close);
    }

    pub fn entry(&mut self, happened: &Happened<'_>) {
        let now = happened.now;
        if happened.edition != self.edition {
            self.edition = happened.edition;
            if happened.regained {
                self.pieces.regain(happened.view.winners());
            } else {
                self.close(now.clock);
            }
        }
        for lane in 0..happened.now.settings.lane_weights.len() {
            let lane = LaneId(u8::try_from(lane).unwrap_or(u8::MAX));
            self.order(lane).settle(now.settings);
        }
        self.draw(happened);
        self.expire(happened.before, happened.view);
        // A rehearsal is over: the room itself has sent its visitors off.
        for who in happened.view.sent_off_since(happened.was) {
            self.leave(who, happened);
        }
        for who in &happened.evicted {
            self.tally.evicted += 1;
            self.leave(*who, happened);
        }
        for section in &happened.sections {
            self.section(section, happened);
        }
        self.join(happened);
        self.codes(happened);
        for who in &happened.given_up {
            self.leave(*who, happened);
        }
        let before = happened.was.map_or(0, LineView::virtual_joins);
        self.tally.virtual_joins += happened.view.virtual_joins().saturating_sub(before);
        self.expire(now.clock, happened.view);
        self.calls(happened);
        self.stand(happened);
    }

    /// If the entry drew a lane, known facts move to the drawn places.
    fn draw(&mut self, happened: &Happened<'_>) {
        for lane in (0..).map(LaneId).take(self.orders.len()) {
            let was_drawn = happened
                .was
                .is_some_and(|was| was.is_drawn(lane) && was.edition == happened.view.edition);
            if happened.view.is_drawn(lane) && !was_drawn {
                self.order(lane).draw(|number| happened.view.seat(lane, number));
            }
        }
    }

    fn section(&mut self, section: &Section, happened: &Happened<'_>) {
        let now = happened.now;
        self.tally.bypasses += u64::from(section.bypasses) + u64::from(section.networks);
        for (lane, number) in &section.leaves {
            self.leave((*lane, *number), happened);
        }
        for end in &section.ends {
            let claimed = self.visits.is_called((end.lane, end.number));
            self.claimed(claimed, now.time);
            self.visits.end((end.lane, end.number), end.after_ms, now);
        }
        for done in &section.completions {
            let claimed = self.visits.is_called((done.lane, done.number));
            self.claimed(claimed, now.time);
            self.visits.end((done.lane, done.number), done.after_ms, now);
            let new = self.pieces.complete((done.lane, done.number), happened.view.winners());
            self.tally.completed += u64::from(new);
        }
        for claim in &section.claims {
            let claimed = self.visits.claim((claim.lane, claim.number), now);
            self.claimed(claimed, now.time);
        }
        for (lane, number) in &section.reopens {
            self.reopen((*lane, *number), happened);
        }
        for (lane, number) in &section.renewals {
            self.visits.renew((*lane, *number), now);
        }
        for hold in &section.holds {
            self.visits.hold((hold.lane, hold.number), hold.for_ms, now);
        }
        for (lane, number) in &section.returns {
            // One who is parked stays inside by asking; of one whom the room did not know it is a way back.
            self.visits.renew((*lane, *number), now);
            self.reopen((*lane, *number), happened);
        }
        for (lane, number) in &section.marks {
            let in_line = || matches!(stands(happened, *lane, *number), Standing::Waiting(waiting) if waiting.present);
            let seat = happened.view.seat(*lane, *number);
            let in_time = self.order(*lane).mark(seat, now.clock, in_line);
            self.tally.late_marks += u64::from(!in_time);
        }
        for (lane, number) in &section.taken {
            self.order(*lane).take(happened.view.seat(*lane, *number));
        }
    }

    fn claimed(&mut self, claimed: bool, time: Wall) {
        self.tally.claims += u64::from(claimed);
        self.series.at(time).claims += u64::from(claimed);
    }

    pub(in crate::report) fn leave(&mut self, (lane, number): Who, happened: &Happened<'_>) {
        let called = self.visits.is_called((lane, number));
        let inside = self.visits.is_inside((lane, number));
        self.visits.leave((lane, number), happened.now);
        let seat = happened.view.seat(lane, number);
        let order = self.order(lane);
        let waiting = !order.is_taken(seat) && stands(happened, lane, number) == Standing::Ended;
        order.take(seat);
        self.tally.left += u64::from(called || (waiting && !inside));
    }

    /// A gate says that a visitor is inside on a genuine pass that the room did not know any more.
    fn reopen(&mut self, (lane, number): Who, happened: &Happened<'_>) {
        let (who, now) = ((lane, number), happened.now);
        let inside = matches!(stands(happened, lane, number), Standing::Inside(_));
        if self.visits.is_inside(who) || !inside {
            return;
        }
        if self.visits.is_called(who) {
            let claimed = self.visits.claim(who, now);
            self.claimed(claimed, now.time);
            return;
        }
        self.visits.open(who, now);
        self.tally.excess += 1;
        let seat = happened.view.seat(lane, number);
        let order = self.order(lane);
        let uncalled = !order.was_called(seat) && order.joined(number).is_some();
        let passed_by = order.passed_by(seat, now.clock);
        order.call(seat, now.settings.late_window_ms, now.clock);
        if !uncalled {
            return;
        }
        self.tally.let_in_uncalled += 1;
        // The call of a number of an older log may have been lost with it; of this log nothing is lost.
        let own = number.epoch == Epoch(happened.position.epoch);
        if let Some(before) = passed_by.filter(|_| own) {
            self.invert("let in", who, before, happened);
        }
    }

    fn join(&mut self, happened: &Happened<'_>) {
        let now = happened.now;
        for joined in &happened.joined {
            let Some(first) = joined.first else { continue };
            match self.order(joined.lane).join(first, joined.count, now.clock, now.time) {
                Given::New => {
                    self.tally.joins += u64::from(joined.count);
                    self.opened.get_or_insert(now.time);
                    self.series.at(now.time).joins += u64::from(joined.count);
                }
                Given::Again => {}
                Given::Twice => self.tally.numbers_given_twice += 1,
            }
        }
    }

    fn expire(&mut self, clock: Clock, view: &LineView) {
        for Missed {
            who: (lane, number),
            spent,
        } in self.visits.expire(clock)
        {
            self.tally.no_shows += 1;
            self.tally.places_spent += u64::from(spent);
            if !spent {
                self.order(lane).untake(view.seat(lane, number));
            }
        }
    }

    fn calls(&mut self, happened: &Happened<'_>) {
        let now = happened.now;
        for call in happened.view.seated_since(happened.was) {
            let CallId { lane, number, count } = call;
            let Standing::Called(called) = stands(happened, lane, number) else {
                continue;
            };
            if self.visits.is_called((lane, number)) {
                continue;
            }
            self.visits.call_until((lane, number), count, called.deadline);
            self.pieces.call((lane, number));
            self.tally.calls += 1;
            self.tally.calls_again += u64::from(count > 1);
            self.series.at(now.time).calls += 1;
            let seat = happened.view.seat(lane, number);
            self.points.add(Point {
                at_ms: now.time.0,
                lane: lane.0,
                epoch: seat.epoch.0,
                number: seat.n,
                again: count > 1,
            });
            let late_window = now.settings.late_window_ms;
            if count == 1 {
                self.wait(lane, number, now.time);
            }
            if happened.is_past((lane, number)) {
                self.order(lane).call_past(seat);
            } else if let Some(before) = self.order(lane).call(seat, late_window, now.clock) {
                self.invert("called", (lane, number), before, happened);
            }
        }
        self.tally.beyond_stock += self.pieces.judge(happened.view, now);
    }

    fn wait(&mut self, lane: LaneId, number: Number, called: Wall) {
        let Some(joined) = self.order(lane).joined(number) else {
            self.tally.waits_unknown += 1;
            return;
        };
        let waited = called.since(joined);
        self.waits.add(waited);
        let after = joined.since(self.opened.unwrap_or(joined));
        let cohort = COHORTS.iter().position(|(_, until)| after < *until);
        self.by_cohort[cohort.unwrap_or(COHORTS.len() - 1)].add(waited);
        let lane = usize::from(lane.0);
        if self.by_lane.len() <= lane {
            self.by_lane.resize_with(lane + 1, Histogram::default);
        }
        self.by_lane[lane].add(waited);
    }

    fn invert(&mut self, kind: &'static str, (lane, number): Who, before: Number, happened: &Happened<'_>) {
        self.tally.inversions += 1;
        if self.inversions.len() < MOST_INVERSIONS {
            self.inversions.push(Inversion {
                at: Stamp::new(happened.position, happened.now.time),
                kind,
                lane: lane.0,
                number: said(number),
                before: said(before),
            });
        }
    }

    /// Records how many visitors wait and hold slots after the entry.
    fn stand(&mut self, happened: &Happened<'_>) {
        let now = happened.now;
        let waiting = happened.view.figures.waiting;
        let (called, inside) = (self.visits.called() as u64, self.visits.inside() as u64);
        let capacity = u64::from(now.settings.capacity);
        self.tally.waiting_at_end = waiting;
        self.series.stands(now.time, waiting, called + inside, inside, capacity);
        let able = now.settings.mode == Mode::Auto;
        self.usage
            .pass(now.clock, if able { waiting } else { 0 }, called + inside, capacity);
    }

    fn order(&mut self, lane: LaneId) -> &mut Order {
        let at = usize::from(lane.0);
        if self.orders.len() <= at {
            self.orders.resize_with(at + 1, Order::default);
        }
        &mut self.orders[at]
    }

    /// Sessions by use, and by the slot's whole time.
    pub fn sessions(&self) -> findings::Sessions {
        findings::Sessions {
            used: self.visits.used.spread(),
            held: self.visits.held.spread(),
        }
    }
}

/// Where the number stands after the entry, by the room's word.
fn stands(happened: &Happened<'_>, lane: LaneId, number: Number) -> Standing {
    happened.view.standing(lane, number, happened.now.clock)
}

/// Epoch and number, without a name.
fn said(number: Number) -> String {
    format!("{}/{}", number.epoch.0, number.n)
}

/// By how long after the line's first join they joined, in milliseconds.
pub(in crate::report) const COHORTS: [(&str, u64); 6] = [
    ("first minute", 60_000),
    ("1 to 5 min", 300_000),
    ("5 to 15 min", 900_000),
    ("15 to 60 min", 3_600_000),
    ("1 to 6 h", 21_600_000),
    ("after 6 h", u64::MAX),
];

/// Inversions listed one by one.
const MOST_INVERSIONS: usize = 100;
