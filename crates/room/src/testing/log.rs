//! One room and its log for tests: each action of visitors and operators is an entry that is applied at once.

use crate::{
    ACTIVE_SLOTS, ActiveSlots, Batch, Bound, Change, Claim, Clock, Denied, Effects, End, Entry, Figures, GateId, Hold,
    LaneId, LineName, Number, PendingId, Position, Redeem, Redeemed, RoomChange, RoomName, Section, Settings, Standing,
    State, Tag, Tagged, Visitor, Wall,
};

pub const LANE: LaneId = LaneId(0);
pub const EPOCH: u64 = 1_000;

pub fn room() -> RoomName {
    RoomName::new("shop").unwrap()
}

/// Durations short enough for stories: claim 10 s, session 20 s of at most 60 s, grace 40 s, firm 4 s, late 60 s.
pub fn settings(capacity: u32) -> Settings {
    Settings {
        capacity,
        claim_deadline_ms: 10_000,
        session_ms: 20_000,
        session_max_ms: 60_000,
        grace_ms: 40_000,
        firm_within_ms: 4_000,
        late_window_ms: 60_000,
        ..Settings::default()
    }
}

/// The same with active slots: idle 8 s, so that activity is noted every 2 s and a session is parked 12 s after the last note.
pub fn active(capacity: u32, max_sessions: u32) -> Settings {
    Settings {
        active: Some(ActiveSlots {
            idle_after_ms: 8_000,
            max_sessions: Some(max_sessions),
        }),
        grace_ms: 600_000,
        firm_within_ms: 300_000,
        late_window_ms: 600_000,
        ..settings(capacity)
    }
}

/// What a gate says that has read the log to its end, and has no note left.
#[must_use]
pub fn notes_until(state: &State) -> Option<Clock> {
    (state.version() >= ACTIVE_SLOTS).then(|| state.clock())
}

/// One gate's log, entry after entry.
pub struct Log {
    pub state: State,
    pub time: u64,
    pub gate: GateId,
    serial: u64,
    revision: u64,
    hello: bool,
}

impl Log {
    /// A room that can have lost nothing.
    pub fn new(settings: Settings) -> Self {
        Self::of(State::empty(EPOCH), settings)
    }

    pub fn of(state: State, settings: Settings) -> Self {
        let mut log = Self::bare(state);
        log.change(Change::Configure(settings));
        log
    }

    /// No room is configured yet.
    pub fn bare(state: State) -> Self {
        Self {
            state,
            time: 1_000_000,
            gate: GateId(7),
            serial: 0,
            revision: 0,
            hello: true,
        }
    }

    /// The same log in another replica, from its bytes.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            state: State::decode(&self.state.encode()).unwrap(),
            ..*self
        }
    }

    /// The gate says hello again with its next batch.
    pub fn rejoin(&mut self) {
        self.hello = true;
    }

    /// The next entry of the log's gate, `ms` after the one before.
    pub fn entry(&mut self, ms: u64, batch: Batch) -> Entry {
        self.time += ms;
        self.serial += 1;
        let at = self.state.position();
        let nonce = (at.sequence + 1).to_le_bytes();
        Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: self.gate,
            serial: self.serial,
            previous: self.state.nonce(),
            nonce,
            time: Wall(self.time),
            version: self.state.version(),
            batch: Batch {
                hello: batch.hello || std::mem::take(&mut self.hello),
                notes_until: batch.notes_until.or_else(|| notes_until(&self.state)),
                ..batch
            },
        }
    }

    pub fn apply(&mut self, ms: u64, batch: Batch) -> Effects {
        let entry = self.entry(ms, batch);
        self.state.apply(&entry.into())
    }

    /// Until when the room heals.
    pub fn healing(&mut self) -> Option<Clock> {
        let view = self.state.view();
        view.rooms[&room()].healing_until(view.clock)
    }

    /// Time goes on, half a second at a time.
    pub fn pass(&mut self, ms: u64) {
        for _ in 0..ms / 500 {
            self.apply(500, Batch::default());
        }
        self.apply(ms % 500, Batch::default());
    }

    pub fn change(&mut self, change: Change) -> Effects {
        self.revision += 1;
        let change = RoomChange {
            room: room(),
            revision: self.revision,
            change,
            who: None,
        };
        self.apply(
            0,
            Batch {
                rooms: vec![change],
                ..Batch::default()
            },
        )
    }

    pub fn say(&mut self, section: Section) -> Effects {
        self.apply(
            0,
            Batch {
                sections: vec![section],
                ..Batch::default()
            },
        )
    }

    /// Numbers of `count` newcomers.
    pub fn join(&mut self, count: u32) -> Vec<Number> {
        let effects = self.say(Section {
            joins: vec![(LANE, count)],
            ..only()
        });
        numbers(effects.joined[0].first, count)
    }

    pub fn pending(&mut self, id: u8) -> Option<Number> {
        let effects = self.say(Section {
            pending_joins: vec![(LANE, PendingId([id; 12]))],
            ..only()
        });
        effects.pending_joined[0].first
    }

    /// The number of an account, by its tags.
    pub fn account(&mut self, tags: &[u8]) -> Option<Number> {
        self.tagged(tags, None)
    }

    pub fn tagged(&mut self, tags: &[u8], id: Option<PendingId>) -> Option<Number> {
        let effects = self.say(Section {
            tagged: vec![Tagged {
                lane: LANE,
                tags: tags.iter().map(|tag| Tag([*tag; 8])).collect(),
                id,
            }],
            ..only()
        });
        effects.tagged_joined[0].first
    }

    /// Whether the number is the account's now.
    pub fn bind(&mut self, number: Number, tags: &[u8]) -> bool {
        self.did(Section {
            bound: vec![Bound {
                lane: LANE,
                number,
                tags: tags.iter().map(|tag| Tag([*tag; 8])).collect(),
            }],
            ..only()
        })
    }

    pub fn mark(&mut self, number: Number) -> bool {
        self.did(Section {
            marks: vec![(LANE, number)],
            ..only()
        })
    }

    pub fn claim(&mut self, number: Number, carried: bool) -> bool {
        self.did(Section {
            claims: vec![Claim {
                lane: LANE,
                number,
                carried,
            }],
            ..only()
        })
    }

    pub fn leave(&mut self, number: Number) -> bool {
        self.did(Section {
            leaves: vec![(LANE, number)],
            ..only()
        })
    }

    pub fn renew(&mut self, number: Number) -> bool {
        self.did(Section {
            renewals: vec![(LANE, number)],
            ..only()
        })
    }

    pub fn reopen(&mut self, number: Number) -> bool {
        self.did(Section {
            reopens: vec![(LANE, number)],
            ..only()
        })
    }

    /// A request of a session that is parked, or that the room does not know.
    pub fn ask(&mut self, number: Number) -> bool {
        self.did(Section {
            returns: vec![(LANE, number)],
            ..only()
        })
    }

    pub fn hold(&mut self, number: Number, for_ms: u64) -> bool {
        let lane = LANE;
        self.did(Section {
            holds: vec![Hold { lane, number, for_ms }],
            ..only()
        })
    }

    /// Inside with a slot, or without one.
    pub fn is_active(&mut self, number: Number) -> bool {
        matches!(self.standing(number), Standing::Inside(inside) if !inside.parked)
    }

    pub fn is_parked(&mut self, number: Number) -> bool {
        matches!(self.standing(number), Standing::Inside(inside) if inside.parked)
    }

    pub fn end(&mut self, number: Number, after_ms: u64) -> bool {
        self.did(Section {
            ends: vec![End {
                lane: LANE,
                number,
                after_ms,
            }],
            ..only()
        })
    }

    pub fn now(&mut self) -> Clock {
        self.state.view().clock
    }

    pub fn standing(&mut self, number: Number) -> Standing {
        let view = self.state.view();
        view.standing(
            &Visitor {
                room: room(),
                line: LineName::ONLY,
                lane: LANE,
                number,
                rehearsal: None,
            },
            view.clock,
        )
    }

    pub fn figures(&mut self) -> Figures {
        self.state.view().rooms[&room()].lines[&LineName::ONLY].figures
    }

    pub fn is_called(&mut self, number: Number) -> bool {
        matches!(self.standing(number), Standing::Called(_))
    }

    pub fn is_inside(&mut self, number: Number) -> bool {
        matches!(self.standing(number), Standing::Inside(_))
    }

    /// Present visitors ahead, of one who waits.
    pub fn ahead(&mut self, number: Number) -> Option<u64> {
        match self.standing(number) {
            Standing::Waiting(waiting) => Some(waiting.ahead),
            _ => None,
        }
    }

    pub fn is_present(&mut self, number: Number) -> bool {
        matches!(self.standing(number), Standing::Waiting(waiting) if waiting.present)
    }

    pub fn redeems(&mut self, redeems: Vec<Redeem>) -> Vec<Redeemed> {
        let batch = Batch {
            redeems,
            ..Batch::default()
        };
        let entry = self.entry(0, batch);
        // The entry is applied as the log holds it.
        let entry = Entry::decode(&entry.encode()).unwrap();
        self.state.apply(&entry.into()).redeemed
    }

    pub fn redeem(&mut self, redeem: Redeem) -> Result<Number, Denied> {
        let done = self.redeems(vec![redeem]).remove(0);
        done.joined.first.ok_or_else(|| done.denied.unwrap())
    }

    pub fn spent(&mut self) -> usize {
        self.state.view().rooms[&room()].spent.len()
    }

    fn did(&mut self, section: Section) -> bool {
        self.say(section).skipped == 0
    }
}

pub fn only() -> Section {
    Section::new(room(), LineName::ONLY)
}

pub fn numbers(first: Option<Number>, count: u32) -> Vec<Number> {
    let numbers = |first: Number| {
        (0..count)
            .map(|i| Number {
                n: first.n + i,
                ..first
            })
            .collect()
    };
    first.map(numbers).unwrap_or_default()
}
