//! The bytes that a forecast holds.

use crate::forecast::tests::Line;
use crate::forecast::{Forecast, LaneCurve, Queue};
use crate::settings::Settings;

/// Most bytes of a line, and of each of its lanes.
const LINE: usize = 56_500;
const LANE: usize = 20_700;

pub(super) fn most(lanes: usize) -> usize {
    LINE + LANE * lanes
}

impl Forecast {
    pub(super) fn bytes(&self) -> usize {
        let stays = self.stays.as_ref().map_or(0, |kinds| kinds.bytes());
        let queues = self.queues.iter().map(Queue::bytes).sum::<usize>();
        let queues = queues + self.queues.capacity() * size_of::<Queue>();
        let curve = self.curve.as_ref().map_or(0, |curve| {
            let lanes = curve.lanes.iter().map(LaneCurve::bytes).sum::<usize>();
            size_of_val(&**curve) + lanes
        });
        size_of_val(self) + stays + queues + self.errors.bytes() + self.told.bytes() + curve
    }
}

/// A long line with so many lanes, to which crowds have come again and again, and of which as much is noted as can be.
fn full(lanes: usize) -> Line {
    let mut line = Line::new(Settings {
        lane_weights: vec![1; lanes],
        capacity: 20,
        ..Settings::default()
    });
    line.look([None; 3]);
    let step_ms = line.forecast.stays(&Settings::default()).times().step_ms;
    for look in 0..300 {
        line.now = line.now.plus(step_ms);
        for at in 0..lanes {
            line.join(at, if look % 8 == 0 { 20_000 } else { look % 8 });
        }
        for (queue, lane) in line.forecast.queues.iter_mut().zip(&line.lanes) {
            queue.watch(lane, (step_ms, 48), step_ms, line.now);
        }
    }
    line.look([None; 3]);
    let Forecast { told, errors, .. } = &mut line.forecast;
    for _ in 0..300 {
        told.note(&line.lanes, |_, _| Some((1, 1)), line.now);
        errors.note((0, &line.lanes[0]), Some, |_| Some((1, (1, 1))), line.now);
    }
    line
}

#[test]
fn a_full_forecast_is_as_large_as_its_bound_says() {
    for lanes in [1, 8] {
        let bytes = full(lanes).forecast.bytes();
        let most = most(lanes);
        assert!((most * 3 / 4..=most).contains(&bytes), "{lanes}: {bytes} of {most}");
    }
}
