//! A timer wheel for the check-ins of visitors in line.

/// Steps ahead of which visitors are remembered; a later one comes with the last of them.
const STEPS: usize = 4_096;

/// Visitors by the step in which they check in.
pub(super) struct Wheel {
    steps: Vec<Vec<u32>>,
    /// The step that comes next.
    next: u64,
    step_ms: u64,
}

impl Wheel {
    pub fn new(step_ms: u64) -> Self {
        Self {
            steps: (0..STEPS).map(|_| Vec::new()).collect(),
            next: 0,
            step_ms,
        }
    }

    /// The visitor checks in at `at`, or as soon as can be.
    pub fn put(&mut self, id: u32, at: u64) {
        let last = self.next + STEPS as u64 - 1;
        let step = (at / self.step_ms).clamp(self.next, last);
        self.slot(step).push(id);
    }

    /// All visitors whose time is at or before `now`.
    pub fn take(&mut self, now: u64) -> Vec<u32> {
        let mut taken = Vec::new();
        while self.next <= now / self.step_ms {
            let step = self.next;
            taken.append(self.slot(step));
            self.next += 1;
        }
        taken
    }

    /// When a visitor is due next, looked for no further than `until`.
    pub fn due(&mut self, until: u64) -> u64 {
        let last = (until / self.step_ms).min(self.next + STEPS as u64 - 1);
        let found = (self.next..=last).find(|step| !self.slot(*step).is_empty());
        found.map_or(until, |step| step * self.step_ms)
    }

    fn slot(&mut self, step: u64) -> &mut Vec<u32> {
        let at = usize::try_from(step % STEPS as u64).unwrap_or(0);
        &mut self.steps[at]
    }
}
