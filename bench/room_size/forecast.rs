//! A line whose forecast is made again and again: slots in use by visitors who came in a stream and in a crowd, and a long line.

use ropeline::room::{Claim, End, Section, Settings, State};
use std::collections::VecDeque;

use super::allocator;
use super::gate::{Gate, LANE, named, number, only};

/// Longer than a step of any forecast here.
const STEP_MS: u64 = 6_000;

/// A week.
const LONG_MS: u64 = 7 * 24 * 3_600_000;

/// Looks at the line while it is used, before anything is measured.
const LOOKS: u32 = 72;

/// Looks in which all sessions are renewed, and in which all end.
const RENEWED_IN: u32 = 5;
const ENDED_IN: u32 = 60;

/// A line whose slots are in use, with `waiting` visitors in it.
pub struct Line {
    gate: Gate,
    /// Those inside, by the order of their calls.
    inside: VecDeque<u32>,
    joined: u32,
    called: u32,
}

impl Line {
    pub fn new(slots: u32, waiting: u32) -> Self {
        let settings = Settings {
            capacity: slots,
            // Nobody has to check in.
            grace_ms: LONG_MS,
            firm_within_ms: LONG_MS,
            ..Settings::default()
        };
        let mut line = Self {
            gate: Gate::new(settings),
            inside: VecDeque::new(),
            joined: 0,
            called: 0,
        };
        line.look(0, slots);
        for look in 1..LOOKS {
            let joins = match look {
                1..8 => slots / 8 + 1,
                8 => waiting,
                _ => slots / ENDED_IN + 1,
            };
            line.look(look, joins);
        }
        assert!(line.gate.line().figures.waiting >= u64::from(waiting / 2));
        line
    }

    /// So many join. Those called come in, and of those inside some go on and some end.
    fn look(&mut self, look: u32, joins: u32) {
        let calls = if look == 0 { 0 } else { self.gate.line().figures.calls };
        let came = self.called..u32::try_from(calls).expect("a count");
        self.called = came.end;
        self.inside.extend(came.clone());
        let turn = |n: &u32, of: u32| n % of == look % of;
        let (ends, stay): (Vec<u32>, Vec<u32>) = self.inside.iter().copied().partition(|n| turn(n, ENDED_IN));
        self.inside = stay.into();
        let claim = |n| Claim {
            lane: LANE,
            number: number(n),
            carried: true,
        };
        let end = |n| End {
            lane: LANE,
            number: number(n),
            after_ms: 0,
        };
        let section = Section {
            joins: vec![(LANE, joins)],
            claims: came.map(claim).collect(),
            ends: ends.into_iter().map(end).collect(),
            renewals: named(self.inside.iter().copied().filter(|n| turn(n, RENEWED_IN))),
            ..only()
        };
        self.joined += joins;
        self.gate.say(STEP_MS, vec![section]);
    }

    /// So many entries that say the same; each a step after the last, or all in one moment, so that no forecast is made.
    pub fn entries(&mut self, count: u32, steps: bool) {
        for _ in 0..count {
            let last = named(std::iter::once(self.joined - 1));
            let section = Section { marks: last, ..only() };
            self.gate.say(if steps { STEP_MS } else { 0 }, vec![section]);
        }
    }

    /// Bytes of what the line has learnt and forecast: the difference to the same line read from its bytes, which has learnt
    /// nothing.
    pub fn learnt(slots: u32, waiting: u32) -> usize {
        let before = allocator::held();
        let Self { gate, inside, .. } = Self::new(slots, waiting);
        drop(inside);
        let state = gate.into_state();
        let all = allocator::held() - before;
        all.saturating_sub(anew(&state))
    }
}

/// Bytes of the same state, read from its bytes.
pub fn anew(state: &State) -> usize {
    let bytes = state.encode();
    let before = allocator::held();
    let read = State::decode(&bytes).expect("its own bytes");
    let held = allocator::held() - before;
    drop(read);
    held
}
