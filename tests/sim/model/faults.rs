//! The faults of a world, and an operator's reactions.

use std::sync::Arc;
use std::time::Duration;

use ropeline::replica::Condition;
use ropeline::replica::protocol::Ask;
use ropeline::room::{CallOrder, Change, Entry, LineName, Mode, Overrides, Position, Who};
use ropeline::store::Occasion;

use super::link::{Weather, saves};
use super::observer;
use super::rooms;
use super::world::{Caller, Event, SECOND, Time, World};

/// One thing that happens to the world.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A gate's process dies, and another starts in its place after this.
    Crash(usize, Time),
    Start(usize),
    /// A gate says goodbye, and another starts after this.
    Leave(usize, Time),
    /// A gate's process stands still.
    Pause(usize, Time),
    /// No call gets from a gate to the store.
    Cut(usize, Time),
    Mend(usize),
    /// Links lose, repeat and delay.
    Rough(Time),
    Fair,
    /// The server's clock jumps by so many milliseconds.
    Step(i64),
    /// The server restarts without its last changes.
    Restart {
        lost: usize,
    },
    /// It is down for a while first.
    Down {
        lost: usize,
        time: Time,
    },
    Up {
        lost: usize,
    },
    /// It comes back with its data of this long ago.
    OldDump(Time),
    Flush,
    /// It does not answer for a while.
    Sleep(Time),
    /// It takes entries, and for a while no snapshot.
    Full(Time),
    /// A lagging replica is promoted while the old master lives on: gates of these slots see the new one.
    Fork {
        lost: usize,
        to_new: Vec<usize>,
        time: Time,
    },
    /// One master is left, and all gates see it.
    Heal {
        newer: bool,
    },
    /// A gate and the last changes of the store are lost at once.
    GateAndStore(usize, usize),
    /// Every gate is lost, and the store with everything.
    Everything,
    /// Every gate is lost, and the store comes back with its data of this long ago.
    EverythingSince(Time),
    /// Every gate is lost, and the store is up for this long before it has read its data.
    Bare(Time),
    Filled(Time),
    /// The furthest gate dies when it would give the next log its root: before, or half way through.
    TrapRoot {
        written: bool,
    },
    /// The gate that would begin the next log dies before it does.
    TrapBegin,
    /// The furthest gate dies the moment the log is lost, before it has spoken.
    LoseFurthest {
        lost: usize,
    },
    /// The next entry cannot be applied; after a while an operator skips it.
    Poison,
    Skip(Position),
    /// A bit flips in a gate's rooms.
    Twist(usize),
    /// The gate is replaced by one that knows the newest machine version.
    Upgrade(usize),
    /// The operator raises the machine version.
    Raise(u16),
    Override {
        capacity: Option<u32>,
        hold: bool,
    },
    /// Operators add and remove rooms, so long.
    Rooms(Time),
    /// A rehearsal goes on, until its leader dies.
    Rehearse(Time),
    /// The operator lets so many in now.
    Call {
        count: u32,
        beyond: bool,
    },
}

/// Traps that are set, for the next that runs into them.
#[derive(Default)]
pub struct Traps {
    pub root: Option<bool>,
    pub begin: bool,
    pub poison: bool,
    /// The entry that an operator has skipped, and the life of the gate that took the order.
    pub told: Option<(Position, u64)>,
}

impl World {
    pub fn strike(&mut self, fault: Fault) {
        self.note(format_args!("fault: {fault:?}"));
        match fault {
            Fault::Crash(slot, time) => self.dies_for(slot, time),
            Fault::Start(slot) if self.slots[slot].gate.is_none() => self.start_gate(slot),
            Fault::Start(_) => {}
            Fault::Leave(slot, time) => self.leaves(slot, time),
            Fault::Pause(slot, time) => self.pauses(slot, time),
            Fault::Cut(slot, time) => {
                self.slots[slot].weather.cut = true;
                self.after(time, Event::Fault(Fault::Mend(slot)));
            }
            Fault::Mend(slot) => self.slots[slot].weather.cut = false,
            Fault::Rough(time) => {
                self.weather(&Weather::rough());
                self.after(time, Event::Fault(Fault::Fair));
            }
            Fault::Fair => self.weather(&Weather::default()),
            Fault::Step(ms) => self.steps_clock(ms),
            Fault::Restart { lost } | Fault::Up { lost } => self.restarts(lost),
            Fault::Down { lost, time } => {
                self.master().down = true;
                self.after(time, Event::Fault(Fault::Up { lost }));
            }
            Fault::OldDump(age) => self.comes_back_with(age),
            Fault::Flush => {
                let now = self.now;
                self.master().flush(now);
            }
            Fault::Sleep(time) => {
                let until = self.now + time;
                self.master().asleep_until = until;
            }
            Fault::Full(time) => {
                let until = self.now + time;
                self.master().full_until = until;
            }
            Fault::Fork { lost, to_new, time } => self.forks(lost, &to_new, time),
            Fault::Heal { newer } => self.heals(newer),
            Fault::GateAndStore(slot, lost) => {
                self.excuse.excess = true;
                self.dies_for(slot, 4 * SECOND);
                self.restarts(lost);
            }
            Fault::Everything => self.loses_everything(None),
            Fault::EverythingSince(age) => self.loses_everything(Some(age)),
            Fault::Bare(time) => self.comes_up_bare(time),
            Fault::Filled(since) => {
                let replication = self.replication();
                self.master().restore(since, replication);
            }
            Fault::TrapRoot { written } => {
                self.traps.root = Some(written);
                self.restarts(0);
            }
            Fault::TrapBegin => {
                self.traps.begin = true;
                self.restarts(0);
            }
            Fault::LoseFurthest { lost } => self.loses_furthest(lost),
            Fault::Poison => self.traps.poison = true,
            Fault::Skip(position) => self.skips(position),
            Fault::Twist(slot) => self.twists(slot),
            Fault::Upgrade(slot) => {
                self.slots[slot].knows = ropeline::room::NEWEST;
                self.leaves(slot, SECOND);
            }
            Fault::Raise(version) => self.tell_some_gate(|gate| gate.protocol.raise(version)),
            Fault::Override { capacity, hold } => self.overrides(capacity, hold),
            Fault::Call { count, beyond } => self.calls(count, beyond),
            Fault::Rehearse(until) => self.rehearses(until),
            Fault::Rooms(until) => self.works(until),
        }
    }

    /// Faults are over: everything comes up, and all remaining visitors want to enter.
    pub fn calm_down(&mut self) {
        self.note(format_args!("calm"));
        self.calm = true;
        self.traps = Traps::default();
        if self.servers.len() > 1 {
            self.heals(true);
        }
        self.master().down = false;
        // A sale that opens an hour later is too late for all remaining visitors.
        let behind = self.master().clock_ms.min(0);
        if behind < 0 {
            self.steps_clock(-behind);
        }
        self.weather(&Weather::default());
        for slot in 0..self.slots.len() {
            self.slots[slot].weather.cut = false;
            if self.slots[slot].gate.is_none() {
                self.start_gate(slot);
            }
        }
        // A gate that stands still loses the word, so it is said again.
        for again in [0, 20, 60] {
            let lift = Fault::Override {
                capacity: None,
                hold: false,
            };
            self.after(again * SECOND, Event::Fault(lift));
        }
        for id in 0..self.people.len() {
            use super::people::Is;
            if !matches!(
                self.people[id].is,
                Is::Gone | Is::Joining | Is::Claiming | Is::Returning
            ) {
                self.come_again(id, 0, 3 * SECOND);
            }
        }
    }

    /// The store's clock jumps. The rooms' clock moves on by a few seconds at most, and sessions end sooner by as much.
    fn steps_clock(&mut self, ms: i64) {
        self.master().clock_ms += ms;
        self.forgets_whom_the_shop_counts();
    }

    /// The server that counts.
    pub fn master(&mut self) -> &mut super::store::Server {
        self.servers.last_mut().expect("there is always a server")
    }

    fn replication(&mut self) -> u64 {
        self.replications += 1;
        self.replications
    }

    fn weather(&mut self, weather: &Weather) {
        for slot in &mut self.slots {
            let cut = slot.weather.cut;
            slot.weather = Weather { cut, ..*weather };
        }
    }

    fn dies_for(&mut self, slot: usize, time: Time) {
        self.crash_gate(slot);
        self.after(time, Event::Fault(Fault::Start(slot)));
    }

    fn leaves(&mut self, slot: usize, time: Time) {
        let patience = self.chance.within(0, 20 * SECOND);
        if let Some(gate) = self.slots[slot].gate.as_mut() {
            gate.leaving = true;
            let uptime = gate.uptime(self.now);
            gate.protocol.leave(uptime, Duration::from_micros(patience));
            self.go_on(slot);
        }
        // Longer than a goodbye may take.
        self.after(time + patience + 8 * SECOND, Event::Fault(Fault::Start(slot)));
    }

    fn pauses(&mut self, slot: usize, time: Time) {
        let until = self.now + time;
        if let Some(gate) = self.slots[slot].gate.as_mut() {
            gate.paused_until = until;
            // Earlier wake-ups are slept through.
            gate.wake = None;
            self.wake_at(slot, until);
        }
    }

    fn restarts(&mut self, lost: usize) {
        let replication = self.replication();
        self.master().restart(lost, replication);
    }

    fn comes_back_with(&mut self, age: Time) {
        let (at, replication) = (self.now.saturating_sub(age), self.replication());
        self.master().restore(at, replication);
    }

    fn forks(&mut self, lost: usize, to_new: &[usize], time: Time) {
        if self.servers.len() > 1 {
            return;
        }
        self.excuse.excess = true;
        let replication = self.replication();
        let host = self.servers[0].host + 1;
        let promoted = self.servers[0].promoted(host, lost, replication);
        self.servers.push(promoted);
        for slot in to_new {
            self.slots[*slot].server = host;
        }
        let newer = self.chance.hits(800);
        self.after(time, Event::Fault(Fault::Heal { newer }));
    }

    fn heals(&mut self, newer: bool) {
        if self.servers.len() < 2 {
            return;
        }
        // Calls under way to the one that is dropped end at the one that is left, as connections do.
        let kept = self.servers.swap_remove(usize::from(newer));
        self.slots.iter_mut().for_each(|slot| slot.server = kept.host);
        self.servers = vec![kept];
    }

    fn loses_everything(&mut self, since: Option<Time>) {
        // Without a trace of the log no visitor is called before all passes have been shown, or have run out.
        self.excuse.excess |= since.is_some();
        self.excuse.turns = true;
        for slot in 0..self.slots.len() {
            let time = self.chance.within(SECOND, 6 * SECOND);
            self.dies_for(slot, time);
        }
        if let Some(age) = since {
            return self.comes_back_with(age);
        }
        let (now, replication) = (self.now, self.replication());
        self.master().flush(now);
        self.master().restart(0, replication);
    }

    fn comes_up_bare(&mut self, time: Time) {
        (self.excuse.excess, self.excuse.turns) = (true, true);
        for slot in 0..self.slots.len() {
            let down = self.chance.within(0, time / 2);
            self.dies_for(slot, down);
        }
        let now = self.now;
        self.master().flush(now);
        self.after(time, Event::Fault(Fault::Filled(now)));
    }

    fn loses_furthest(&mut self, lost: usize) {
        self.excuse.excess = true;
        let position = |slot: &usize| self.slots[*slot].gate.as_ref().map(|gate| gate.view.position);
        let furthest = (0..self.slots.len()).max_by_key(position).unwrap_or(0);
        self.dies_for(furthest, 10 * SECOND);
        self.restarts(lost);
    }

    /// The operator tells one gate that stands before the entry, and another only if that is gone before it is done.
    fn skips(&mut self, position: Position) {
        let gates = (0..self.slots.len()).filter_map(|slot| Some((slot, self.slots[slot].gate.as_ref()?)));
        let (mut there, mut told) = (Vec::new(), false);
        for (slot, gate) in gates {
            told |= self.traps.told == Some((position, gate.life));
            if gate.protocol.condition() == (Condition::Frozen { at: position }) {
                there.push(slot);
            }
        }
        if !there.is_empty() && !told {
            let slot = self.chance.pick(&there);
            if let Some(gate) = self.slots[slot].gate.as_mut() {
                gate.protocol.skip(position);
                self.traps.told = Some((position, gate.life));
            }
            self.go_on(slot);
        }
        self.after(20 * SECOND, Event::Fault(Fault::Skip(position)));
    }

    fn twists(&mut self, slot: usize) {
        if let Some(gate) = &self.slots[slot].gate {
            let id = gate.id();
            observer::with(|watch| watch.to_twist.insert(id));
        }
    }

    fn overrides(&mut self, capacity: Option<u32>, hold: bool) {
        let overrides = Overrides {
            capacity,
            mode: hold.then_some(Mode::Hold),
            ..Overrides::default()
        };
        self.tell_some_gate(|gate| {
            drop(gate.protocol.change(rooms::room(), Change::Override(overrides)));
        });
    }

    fn calls(&mut self, count: u32, beyond: bool) {
        let order = CallOrder {
            line: LineName::ONLY,
            lane: None,
            count,
            beyond,
        };
        self.orders += 1;
        let who = Who {
            name: "operator".to_owned(),
            reason: self.orders.to_string(),
        };
        self.tell_some_gate(|gate| {
            let told = gate
                .protocol
                .order(rooms::room(), Change::Call(order), (None, Some(who)));
            gate.told.push(told);
        });
    }

    fn tell_some_gate(&mut self, tell: impl FnOnce(&mut super::gate::Gate)) {
        let there: Vec<usize> = (0..self.slots.len())
            .filter(|slot| self.slots[*slot].gate.is_some())
            .collect();
        if there.is_empty() {
            return;
        }
        let slot = self.chance.pick(&there);
        if let Some(gate) = self.slots[slot].gate.as_mut() {
            tell(gate);
        }
        self.go_on(slot);
    }

    /// The call runs into a trap: its gate dies, and the call may have been carried out.
    pub fn is_trapped(&mut self, from: &Caller, ask: &Ask) -> bool {
        let root = saves(ask, Occasion::Root).then(|| self.traps.root.take()).flatten();
        let begin = matches!(ask, Ask::Begin { .. }) && std::mem::take(&mut self.traps.begin);
        let Some(written) = root.or(begin.then_some(false)) else {
            return false;
        };
        self.excuse.excess = true;
        let alive = self.slots[from.slot]
            .gate
            .as_ref()
            .is_some_and(|gate| gate.life == from.life);
        if alive {
            self.dies_for(from.slot, 9 * SECOND);
        }
        !written
    }

    /// An entry was appended, and may be the one that no gate can apply.
    pub fn poison_is_due(&mut self, entry: &Arc<Entry>) {
        let plain = entry.batch.spoke.is_none() && entry.batch.root.is_none() && entry.position.sequence > 1;
        if !plain || !std::mem::take(&mut self.traps.poison) {
            return;
        }
        let position = entry.position;
        self.note(format_args!("{position:?} is poison"));
        observer::with(|watch| watch.poison.insert(position));
        self.after(8 * SECOND, Event::Fault(Fault::Skip(position)));
    }
}
