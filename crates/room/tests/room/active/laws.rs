//! Laws of active slots over random histories, held against what a shop would count.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use ropeline_room::testing::log::{LANE, Log, active, only, settings};
use ropeline_room::{ActiveSlots, Change, Hold, Mode, Number, Overrides, Section, Settings, Standing};

/// What happens next. Visitors are named by a number that is taken modulo those there are.
#[derive(Clone, Copy, Debug)]
enum Act {
    Join(u8),
    /// A request of anybody, as a gate treats it: claimed, forwarded, or asked for.
    Request(u8),
    /// A request that is forwarded within a step, of which the gate says nothing.
    Unsaid(u8),
    Mark(u8),
    Leave(u8),
    Pay(u8, u16),
    Pass(u16),
    Capacity(u8),
    Mode(bool),
    /// The state goes on from its own bytes.
    Snapshot,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => (1..4_u8).prop_map(Act::Join),
        8 => any::<u8>().prop_map(Act::Request),
        2 => any::<u8>().prop_map(Act::Unsaid),
        2 => any::<u8>().prop_map(Act::Mark),
        1 => any::<u8>().prop_map(Act::Leave),
        1 => (any::<u8>(), 0..20_000_u16).prop_map(|(who, ms)| Act::Pay(who, ms)),
        6 => (0..5_000_u16).prop_map(Act::Pass),
        1 => (0..5_u8).prop_map(Act::Capacity),
        1 => any::<bool>().prop_map(Act::Mode),
        1 => Just(Act::Snapshot),
    ]
}

const IDLE: u64 = 8_000;

/// A room, and what the shop behind it has seen.
struct World {
    log: Log,
    people: Vec<Number>,
    /// When the shop last had a request of each, by the store's time.
    last: BTreeMap<Number, u64>,
    /// Until when a slot is kept.
    kept: BTreeMap<Number, u64>,
    queue: VecDeque<Number>,
    capacity: u32,
    /// The capacity, or the slots that were held when it was lowered, as far as they still are.
    bound: u32,
    most: u32,
    mode: Mode,
}

impl World {
    fn new(capacity: u32, most: u32) -> Self {
        let mut log = Log::new(Settings {
            session_max_ms: 10_000_000,
            ..active(capacity, most)
        });
        Self {
            people: log.join(1),
            log,
            last: BTreeMap::new(),
            kept: BTreeMap::new(),
            queue: VecDeque::new(),
            capacity,
            bound: capacity,
            most,
            mode: Mode::Auto,
        }
    }

    fn who(&self, at: u8) -> Option<Number> {
        let len = self.people.len();
        (len > 0).then(|| self.people[usize::from(at) % len])
    }

    fn forwarded(&mut self, who: Number) {
        self.last.insert(who, self.log.time);
    }

    /// A request, as a gate treats it that sees each entry at once.
    fn request(&mut self, who: Number, says: bool) {
        let now = self.log.now();
        match self.log.standing(who) {
            Standing::Called(_) if says => {
                assert!(self.log.claim(who, true));
                self.forwarded(who);
            }
            Standing::Inside(inside) if inside.must_ask(now) => {
                let waits = inside.parked && !self.queue.contains(&who);
                assert!(self.log.ask(who), "its right lasts");
                if waits {
                    self.queue.push_back(who);
                }
                self.settle();
                if self.log.is_active(who) {
                    self.log.renew(who);
                    self.forwarded(who);
                }
            }
            Standing::Inside(inside) => {
                if inside.renewal_due(now) {
                    if says {
                        self.log.renew(who);
                        self.forwarded(who);
                    }
                } else {
                    self.forwarded(who);
                }
            }
            _ => {}
        }
    }

    /// Who has come back stands first of those who asked.
    fn settle(&mut self) {
        while let Some(first) = self.queue.front().copied() {
            let gone = !matches!(self.log.standing(first), Standing::Inside(_));
            if !gone && !self.log.is_active(first) {
                break;
            }
            self.queue.pop_front();
        }
        for waits in self.queue.clone() {
            let first = self.queue.front().copied();
            assert!(!self.log.is_active(waits), "{waits:?} came back past {first:?}");
        }
        self.queue
            .retain(|who| matches!(self.log.standing(*who), Standing::Inside(_)));
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Join(count) => {
                let new = self.log.join(u32::from(count));
                self.people.extend(new);
            }
            Act::Request(at) => {
                if let Some(who) = self.who(at) {
                    self.request(who, true);
                }
            }
            Act::Unsaid(at) => {
                if let Some(who) = self.who(at) {
                    self.request(who, false);
                }
            }
            Act::Mark(at) => _ = self.who(at).map(|who| self.log.mark(who)),
            Act::Leave(at) => {
                if let Some(who) = self.who(at) {
                    self.log.leave(who);
                    self.kept.remove(&who);
                    self.last.remove(&who);
                }
            }
            Act::Pay(at, ms) => {
                let for_ms = u64::from(ms);
                if let Some(who) = self.who(at) {
                    let said = Section {
                        holds: vec![Hold {
                            lane: LANE,
                            number: who,
                            for_ms,
                        }],
                        ..only()
                    };
                    if self.log.is_active(who) && self.log.say(said).skipped == 0 {
                        let until = self.log.time + for_ms;
                        let kept = self.kept.entry(who).or_default();
                        *kept = (*kept).max(until);
                    }
                }
            }
            Act::Pass(ms) => {
                for _ in 0..ms / 250 {
                    self.log.pass(250);
                    self.settle();
                    self.laws();
                }
            }
            Act::Capacity(capacity) => {
                self.capacity = u32::from(capacity);
                self.bound = self.bound.max(self.capacity);
                self.settings();
            }
            Act::Mode(auto) => {
                self.mode = if auto { Mode::Auto } else { Mode::Hold };
                self.settings();
            }
            Act::Snapshot => self.log = self.log.fork(),
        }
        self.settle();
        self.laws();
    }

    fn settings(&mut self) {
        self.log.change(Change::Override(Overrides {
            mode: Some(self.mode),
            capacity: Some(self.capacity),
            ..Overrides::default()
        }));
    }

    fn laws(&mut self) {
        let figures = self.log.figures();
        let (slots, rights) = (
            figures.called + figures.inside,
            figures.called + figures.inside + figures.parked,
        );
        assert!(rights <= self.most, "{rights} rights of {}", self.most);
        let now = self.log.time;
        let people = self.people.clone();
        let mut recent = 0;
        for who in people {
            let last = self.last.get(&who).copied();
            let is_recent = last.is_some_and(|last| now < last + IDLE);
            recent += u32::from(is_recent);
            if self.log.is_parked(who) {
                assert!(
                    !is_recent,
                    "{who:?} is parked {} ms after a request",
                    now - last.unwrap_or(0)
                );
                let kept = self.kept.get(&who).copied().unwrap_or(0);
                assert!(now >= kept, "{who:?} is parked {} ms before its hold ends", kept - now);
            }
        }
        assert!(slots <= self.bound, "{slots} slots of {}", self.bound);
        // Slots that were given up by leaving may be another's while the request is recent.
        assert!(recent <= slots, "the shop counts {recent}, and {slots} hold a slot");
        // A capacity that is lowered takes nobody's slot away.
        self.bound = slots.max(self.capacity);
        if figures.parked > 0 && !self.queue.is_empty() {
            assert!(
                slots >= self.capacity,
                "{:?} wait to return, and {slots} of {} are held",
                self.queue,
                self.capacity
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn rights_and_slots_are_bounded_returns_come_in_order_and_nobody_is_parked_who_is_active(
        capacity in 1..4_u32, more in 0..6_u32, acts in prop::collection::vec(act(), 1..120),
    ) {
        let mut world = World::new(capacity, capacity + more);
        for act in acts {
            world.act(act);
        }
    }

    /// Without idle sessions a room with active slots goes as one without.
    #[test]
    fn where_everybody_is_active_nothing_is_different(acts in prop::collection::vec(act(), 1..60)) {
        let long = ActiveSlots { idle_after_ms: 10_000_000, max_sessions: Some(1_000) };
        let mut with = Log::new(Settings { active: Some(long), ..settings(3) });
        let mut without = Log::new(settings(3));
        let mut people: Vec<Number> = with.join(1);
        without.join(1);
        for act in acts {
            let mut seen = Vec::new();
            for log in [&mut with, &mut without] {
                let who = |at: u8| people.get(usize::from(at) % people.len().max(1)).copied();
                let new = match act {
                    Act::Join(count) => log.join(u32::from(count)),
                    Act::Request(at) => {
                        if let Some(who) = who(at) {
                            _ = log.claim(who, true) || log.renew(who);
                        }
                        Vec::new()
                    }
                    Act::Mark(at) => { _ = who(at).map(|who| log.mark(who)); Vec::new() }
                    Act::Leave(at) => { _ = who(at).map(|who| log.leave(who)); Vec::new() }
                    Act::Pass(ms) => { log.pass(u64::from(ms)); Vec::new() }
                    _ => Vec::new(),
                };
                let figures = log.figures();
                seen.push((new, figures.called, figures.inside, figures.waiting, figures.parked));
            }
            prop_assert_eq!(&seen[0], &seen[1]);
            people.extend(seen.remove(0).0);
        }
    }
}
