//! Figures over time in a bounded number of steps: where there are too many, each two become one.

use serde::{Serialize, Serializer};

use ropeline_ids::Wall;

/// Figures of one step of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Moment {
    /// Most visitors waiting, and most slots called or inside, at one time.
    pub waiting: u64,
    pub slots: u64,
    /// Most sessions.
    pub inside: u64,
    /// The capacity at the end.
    pub capacity: u64,
    pub joins: u64,
    pub calls: u64,
    pub claims: u64,
}

/// Steps of equal length.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Series {
    /// When the first step begins, and how long each is.
    pub start_ms: u64,
    pub step_ms: u64,
    pub steps: Vec<Moment>,
    #[serde(skip)]
    most: usize,
    /// The present values, which go on into the next step.
    #[serde(skip)]
    now: Moment,
}

/// Calls as points: when a visitor was called, and with which number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Points {
    /// One call of every `every` is kept.
    pub every: u64,
    pub points: Vec<Point>,
    #[serde(skip)]
    seen: u64,
    #[serde(skip)]
    most: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Point {
    pub at_ms: u64,
    pub lane: u8,
    /// A text, since it is more than JSON's readers keep exactly.
    #[serde(serialize_with = "as_text")]
    pub epoch: u64,
    pub number: u32,
    /// Not the first call of this number.
    pub again: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this form")]
fn as_text<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

impl Series {
    /// At most `most` steps of at least a second.
    pub(super) fn new(most: usize) -> Self {
        Self {
            start_ms: 0,
            step_ms: 1_000,
            steps: Vec::new(),
            most,
            now: Moment::default(),
        }
    }

    /// Records how many visitors wait and hold slots.
    pub(super) fn stands(&mut self, time: Wall, waiting: u64, slots: u64, inside: u64, capacity: u64) {
        self.now = Moment {
            waiting,
            slots,
            inside,
            capacity,
            ..Moment::default()
        };
        let step = self.at(time);
        step.waiting = step.waiting.max(waiting);
        step.slots = step.slots.max(slots);
        step.inside = step.inside.max(inside);
        step.capacity = capacity;
    }

    /// The step of a time; of the last one where time went back.
    pub(super) fn at(&mut self, time: Wall) -> &mut Moment {
        if self.steps.is_empty() {
            self.start_ms = time.0 - time.0 % self.step_ms;
        }
        let index = loop {
            let index = usize::try_from(time.0.saturating_sub(self.start_ms) / self.step_ms).unwrap_or(usize::MAX);
            if index < self.most {
                break index;
            }
            self.halve();
        };
        // The count goes on: no visitor came or went in between.
        while self.steps.len() <= index {
            self.steps.push(self.now);
        }
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }

    fn halve(&mut self) {
        self.steps = self.steps.chunks(2).map(Moment::joined).collect();
        self.step_ms = self.step_ms.saturating_mul(2);
    }
}

impl Moment {
    fn joined(of: &[Self]) -> Self {
        of.iter().fold(Self::default(), |sum, step| Self {
            waiting: sum.waiting.max(step.waiting),
            slots: sum.slots.max(step.slots),
            inside: sum.inside.max(step.inside),
            capacity: step.capacity,
            joins: sum.joins + step.joins,
            calls: sum.calls + step.calls,
            claims: sum.claims + step.claims,
        })
    }
}

impl Points {
    pub(super) fn new(most: usize) -> Self {
        Self {
            every: 1,
            points: Vec::new(),
            seen: 0,
            most,
        }
    }

    pub(super) fn add(&mut self, point: Point) {
        if self.seen.is_multiple_of(self.every) {
            self.points.push(point);
        }
        self.seen += 1;
        if self.points.len() > self.most {
            let mut kept = 0_u32;
            self.points.retain(|_| {
                kept += 1;
                kept % 2 == 1
            });
            self.every = self.every.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_longer_and_keep_their_sums_and_peaks() {
        let mut series = Series::new(4);
        for second in 0..16_u64 {
            let time = Wall(1_000_000 + 1_000 * second);
            series.at(time).joins += 1;
            series.stands(time, second, 1, 1, 5);
        }
        assert_eq!((series.step_ms, series.steps.len()), (4_000, 4));
        assert!(series.steps.iter().all(|step| step.joins == 4 && step.capacity == 5));
        assert_eq!(
            series.steps.iter().map(|step| step.waiting).collect::<Vec<_>>(),
            [3, 7, 11, 15]
        );
    }

    #[test]
    fn what_stands_goes_on_through_silence_and_time_that_goes_back_counts_where_it_stood() {
        let mut series = Series::new(100);
        series.stands(Wall(10_000), 9, 2, 1, 3);
        series.stands(Wall(10_500), 7, 2, 1, 3);
        series.at(Wall(13_000)).joins += 1;
        series.at(Wall(11_000)).joins += 1;
        series.stands(Wall(14_000), 1, 2, 1, 3);
        let waiting: Vec<_> = series.steps.iter().map(|step| step.waiting).collect();
        assert_eq!(waiting[..4], [9, 7, 7, 7]);
        series.at(Wall(15_000)).joins += 1;
        assert_eq!((series.steps[3].joins, series.steps[5].waiting), (2, 1));
    }

    #[test]
    fn points_are_thinned_evenly() {
        let mut points = Points::new(10);
        for number in 0..100 {
            points.add(Point {
                at_ms: u64::from(number),
                lane: 0,
                epoch: 1,
                number,
                again: false,
            });
        }
        assert!(points.points.len() <= 10);
        let numbers: Vec<u32> = points.points.iter().map(|point| point.number).collect();
        assert!(
            numbers
                .windows(2)
                .all(|pair| u64::from(pair[1] - pair[0]) == points.every),
            "{numbers:?}"
        );
    }
}
