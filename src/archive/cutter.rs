//! The boundaries between files of the archive: pure, and the same on every gate.
//!
//! Ends follow from the state alone, so that gates which began at different entries cut at the same ones: where a minute
//! of the room's clock turns while any visitor is about, at the first checkpoint of an hour, and after 8 MB. A gate that begins between two
//! ends files a shorter range or two, and is in step from then on.

use super::segment::Segment;
use crate::room::{Clock, Encoded, GateId, IDLE_TICK_MS, Position, State};

/// Collects the entries that the gate applies, and passes them on in pieces.
#[derive(Debug)]
pub(super) struct Cutter {
    gate: GateId,
    open: Segment,
    /// The clock when the last entry was applied, and whether any visitor was about when a minute last turned; `None` before
    /// the first did.
    clock: Clock,
    busy: Option<bool>,
}

/// A range that is whole.
#[derive(Debug)]
pub(super) struct Cut {
    pub segment: Segment,
    /// It is this gate's turn to file.
    pub mine: bool,
}

impl Cutter {
    /// Waits for the entry after the last one that `state` has applied.
    pub fn new(gate: GateId, state: &State) -> Self {
        Self {
            gate,
            open: Segment::behind(state.position(), state.chain(), Some(state.encode())),
            clock: state.clock(),
            busy: None,
        }
    }

    /// Takes the entry that led to `state`. The range that it ends, if it does.
    pub fn applied(&mut self, entry: &Encoded, passed_over: bool, state: &State) -> Option<Cut> {
        let next = Position {
            sequence: self.open.last + 1,
            epoch: self.open.epoch,
        };
        if entry.position != next {
            return self.begin(state);
        }
        self.open.push(entry, passed_over, state.chain());
        let before = std::mem::replace(&mut self.clock, state.clock());
        let minute = before.0 / MINUTE_MS != self.clock.0 / MINUTE_MS;
        let hour = state.landmark();
        let due = minute && self.is_due(state);
        if !due && !hour && self.open.entry_bytes() < FULL {
            return None;
        }
        // Once an hour a replay can begin, from a state that gates vote on: older files may be thrown away.
        self.cut(state, hour.then(|| state.encode()))
    }

    /// Goes on from another state: the present piece ends here, and a replay can begin again with the next entry.
    pub fn begin(&mut self, state: &State) -> Option<Cut> {
        self.clock = state.clock();
        self.busy = None;
        self.cut(state, Some(state.encode()))
    }

    /// The last piece, when no entry will follow.
    pub fn end(self) -> Option<Segment> {
        (!self.open.is_empty()).then_some(self.open)
    }

    /// The last piece was lost: a replay has to begin anew with the next.
    pub fn lost(&mut self, state: &State) {
        self.open.base = Some(state.encode());
    }

    /// Whether a minute that turns ends a file: not while no visitor is about, but the minute in which the last visitor went
    /// is filed at once too.
    fn is_due(&mut self, state: &State) -> bool {
        let busy = state.tick_ms() < IDLE_TICK_MS;
        let before = self.busy.replace(busy);
        busy || before != Some(false)
    }

    fn cut(&mut self, state: &State, base: Option<Vec<u8>>) -> Option<Cut> {
        let next = Segment::behind(state.position(), state.chain(), base);
        let segment = std::mem::replace(&mut self.open, next);
        let mine = self.is_mine(state);
        (!segment.is_empty()).then_some(Cut { segment, mine })
    }

    /// Whether the gate's place in the roster has its turn at this position.
    fn is_mine(&self, state: &State) -> bool {
        let gates: Vec<GateId> = state.roster().map(|gate| gate.id).collect();
        let turn = state.position().sequence.checked_rem(gates.len() as u64).unwrap_or(0);
        let turn = usize::try_from(turn).unwrap_or(0);
        gates.get(turn).is_none_or(|gate| *gate == self.gate)
    }
}

const MINUTE_MS: u64 = 60_000;

/// Bytes of entries that fill a file.
const FULL: u64 = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::testing::Hand;
    use crate::room::{Batch, Claim, LaneId, Number, Section, Settings, Wall};

    const LANE: LaneId = LaneId(0);

    fn log() -> Hand {
        Hand::with_room(Settings {
            capacity: 1,
            session_ms: 30_000,
            ..Settings::default()
        })
    }

    /// A visitor comes in and goes after two minutes; then none is about for two hours. Cut by gates that begin at
    /// `starts`.
    fn history(starts: &[u64]) -> Vec<Vec<Segment>> {
        let mut log = log();
        let mut gates: Vec<Option<Cutter>> = starts.iter().map(|_| None).collect();
        let mut cut: Vec<Vec<Segment>> = starts.iter().map(|_| Vec::new()).collect();
        for step in 0..2_000_u64 {
            for (gate, start) in gates.iter_mut().zip(starts).filter(|(_, start)| **start == step) {
                *gate = Some(Cutter::new(GateId(*start), &log.state));
            }
            let (entry, _) = match step {
                5 => log.hear(
                    500,
                    Section {
                        joins: vec![(LANE, 1)],
                        ..Hand::section()
                    },
                ),
                6 => {
                    let number = Number {
                        epoch: ropeline_ids::Epoch(7),
                        n: 0,
                    };
                    let claim = Claim {
                        lane: LANE,
                        number,
                        carried: true,
                    };
                    log.hear(
                        500,
                        Section {
                            claims: vec![claim],
                            ..Hand::section()
                        },
                    )
                }
                7..150 => {
                    let number = Number {
                        epoch: ropeline_ids::Epoch(7),
                        n: 0,
                    };
                    log.hear(
                        1_000,
                        Section {
                            renewals: vec![(LANE, number)],
                            ..Hand::section()
                        },
                    )
                }
                _ => log.say(4_000, Batch::default()),
            };
            for (gate, cut) in gates.iter_mut().zip(&mut cut) {
                let ended = gate
                    .as_mut()
                    .and_then(|gate| gate.applied(&entry.clone().into(), false, &log.state));
                cut.extend(ended.map(|ended| ended.segment));
            }
        }
        cut
    }

    #[test]
    fn gates_that_begin_at_different_entries_soon_cut_alike() {
        let cut = history(&[0, 40, 90, 700]);
        // Where no visitor is about, a gate that has just begun cannot know whether the minute before was the last busy one.
        for (of, own) in cut.iter().zip([0, 1, 1, 2]) {
            assert!(of.len() > own && cut[0].ends_with(&of[own..]), "{own}: {:#?}", ends(of));
        }
    }

    #[test]
    fn a_minute_ends_a_range_while_anybody_is_about_and_an_hour_when_nobody_is() {
        let cut = &history(&[0])[0];
        let clocks: Vec<u64> = ends(cut).iter().map(|to| (to.0 - 1_000_000) / 60_000).collect();
        assert_eq!(clocks, [1, 2, 3, 4, 60, 120]);
        let bases: Vec<bool> = cut.iter().map(|segment| segment.base.is_some()).collect();
        assert_eq!(bases, [true, false, false, false, false, true]);
        assert!(
            cut.windows(2)
                .all(|pair| pair[0].last + 1 == pair[1].first && pair[0].after == pair[1].before)
        );
    }

    #[test]
    fn an_entry_that_does_not_follow_begins_anew_with_a_state() {
        let mut log = log();
        let mut cutter = Cutter::new(GateId(1), &log.state);
        assert!(
            cutter
                .applied(&log.say(10, Batch::default()).0.into(), false, &log.state)
                .is_none()
        );
        log.say(10, Batch::default());
        let (entry, _) = log.say(10, Batch::default());
        let ended = cutter
            .applied(&entry.clone().into(), false, &log.state)
            .unwrap()
            .segment;
        assert_eq!((ended.first, ended.last), (2, 2));
        let (entry, _) = log.say(10, Batch::default());
        assert!(cutter.applied(&entry.clone().into(), false, &log.state).is_none());
        let left = cutter.end().unwrap();
        assert_eq!((left.first, left.last, left.base.is_some()), (5, 5, true));
    }

    fn ends(cut: &[Segment]) -> Vec<Wall> {
        cut.iter().map(|segment| segment.to).collect()
    }
}
