//! What can happen next in a world: what visitors do, faults, and time.

use ropeline_room::testing::log::{LANE, only, room};
use ropeline_room::{Batch, CallOrder, Change, Claim, LineName, Number, SLACK_MS, Section, Standing, View};

use crate::steps::{Act, Came, Fate, Step, When};
use crate::world::{AWAY, Broken, Cut, GRID, KEPT, Pass, Person, Ticket, World, about, call, of, stands};

/// Time goes on twice at most while the gate is cut off.
const MOVES: u8 = 2;

impl World {
    /// Every step that may come next.
    pub fn steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for gate in 0..self.size.gates {
            let view = self.view(gate);
            for at in 0..self.people.len() {
                for act in self.acts_of(at, &view) {
                    self.with_fates(gate, act, &mut steps);
                }
            }
        }
        steps.extend(self.of_nobody().into_iter().map(Step::fine));
        steps
    }

    fn acts_of(&self, at: usize, view: &View) -> Vec<Act> {
        let person = &self.people[at];
        let mut acts = Vec::new();
        if self.cut.is_some() {
            // Without the store a gate takes nobody and takes nothing down; whom it knows as inside goes on.
            acts.extend(person.pass.map(|_| Act::Use(at)));
            return acts;
        }
        match person.ticket {
            None if person.pass.is_none() && person.joins > 0 => acts.push(Act::Join(at)),
            Some(Ticket::Pending(_)) => acts.push(Act::Join(at)),
            Some(Ticket::Numbered(number)) if person.pass.is_none() => match stands(view, number) {
                Standing::Called(_) | Standing::Inside(_) => acts.extend([Act::ComeIn(at), Act::Leave(at)]),
                Standing::Waiting(_) => acts.extend([Act::Ask(at), Act::Leave(at)]),
                _ => acts.push(Act::Ask(at)),
            },
            _ => {}
        }
        if person.pass.is_some() {
            acts.extend([Act::Use(at), Act::Leave(at)]);
            if self.size.rights.is_some() && self.left.crash > 0 {
                acts.push(Act::UseAndCrash(at));
            }
        }
        if person.old.is_some() && self.left.replay > 0 {
            acts.push(Act::Replay(at));
        }
        acts
    }

    fn with_fates(&self, gate: usize, act: Act, steps: &mut Vec<Step>) {
        let step = |fate| Step { gate, act, fate };
        steps.push(step(Fate::Fine));
        if self.cut.is_some() || matches!(act, Act::Replay(_)) {
            return;
        }
        let answered = matches!(act, Act::Join(_) | Act::ComeIn(_) | Act::Use(_));
        if self.left.reply > 0 && answered {
            steps.push(step(Fate::Unanswered));
        }
        if self.left.log > 0 && (answered || matches!(act, Act::Leave(_))) {
            steps.push(step(Fate::Lost));
        }
    }

    fn of_nobody(&mut self) -> Vec<Act> {
        let mut acts = Vec::new();
        if let Some(next) = self
            .next_deadline()
            .filter(|_| self.cut.as_ref().is_none_or(|cut| cut.moves > 0))
        {
            if next > self.wall + GRID && self.left.early > 0 {
                acts.push(Act::Time(When::Before));
            }
            acts.push(Act::Time(When::At));
            if self.left.late > 0 {
                acts.push(Act::Time(When::After));
            }
        }
        if self.stale.is_some() {
            acts.push(Act::Read);
        }
        if self.cut.is_some() {
            acts.push(Act::Mend);
            return acts;
        }
        let faults = [
            (self.left.crash, Act::Crash),
            (self.left.log, Act::LoseEverything),
            (self.left.cut, Act::Cut),
        ];
        acts.extend(faults.into_iter().filter(|(left, _)| *left > 0).map(|(_, act)| act));
        acts
    }

    /// What comes next when nothing fails and everybody acts; `None` when nobody wants anything.
    pub fn fair(&mut self) -> Option<Step> {
        if self.cut.is_some() {
            return Some(Step::fine(Act::Mend));
        }
        if self.people.iter().all(Person::has_nothing) {
            return None;
        }
        if self.stale.is_some() {
            return Some(Step::fine(Act::Read));
        }
        let view = self.state.view();
        let act = |at: usize| {
            let person = &self.people[at];
            match (person.pass, person.ticket) {
                // Who is parked comes back first, as everybody does who is here.
                (Some(pass), _) if self.must_ask(pass.number, &view) => {
                    (!self.queue.contains(&pass.number)).then_some(Act::Use(at))
                }
                (Some(pass), _) if self.honours(&pass, &view).is_some() => Some(Act::Leave(at)),
                (Some(_), _) => Some(Act::Use(at)),
                (None, Some(Ticket::Pending(_))) => Some(Act::Join(at)),
                (None, Some(Ticket::Numbered(number))) => match stands(&view, number) {
                    Standing::Called(_) => Some(Act::ComeIn(at)),
                    Standing::Inside(_) if self.must_ask(number, &view) => {
                        (!self.queue.contains(&number)).then_some(Act::ComeIn(at))
                    }
                    Standing::Inside(inside) if !inside.carried => Some(Act::ComeIn(at)),
                    Standing::Waiting(waiting) => waiting.mark_due.then_some(Act::Ask(at)),
                    _ => Some(Act::Ask(at)),
                },
                (None, None) => None,
            }
        };
        let act = (0..self.people.len()).find_map(act);
        Some(Step::fine(act.unwrap_or(Act::Time(When::At))))
    }

    /// Takes the step.
    pub fn take(&mut self, step: Step) -> Came {
        let before = (step.fate == Fate::Lost).then(|| (self.state.encode(), self.queue.clone()));
        let kept = self.people.clone();
        let mut came = match step.act {
            Act::Join(at) => self.join(at, step),
            Act::Ask(at) => self.ask(at, step.gate),
            Act::ComeIn(at) => self.come_in(at, step),
            Act::Use(at) => self.uses(at, step),
            Act::UseAndCrash(at) => {
                self.forwards_and_crashes(at);
                Came::default()
            }
            Act::Leave(at) => self.leaves(at, step.gate),
            Act::Replay(at) => self.replays(at, step.gate),
            _ => {
                self.happens(step.act);
                Came::default()
            }
        };
        match step.fate {
            Fate::Fine => {}
            Fate::Unanswered => {
                self.left.reply -= 1;
                let (Act::Join(at) | Act::ComeIn(at) | Act::Use(at)) = step.act else {
                    unreachable!("only these are answered")
                };
                let id = match (step.act, self.people[at].ticket) {
                    // The pending ticket came with the page before.
                    (Act::Join(_), _) => Some(Ticket::Pending(self.last_id())),
                    (_, ticket) => ticket,
                };
                let joins = self.people[at].joins;
                self.people[at] = kept[at];
                self.people[at].joins = joins;
                // The request was forwarded all the same, and the session is what counts from now on.
                self.people[at].steady &= !matches!(step.act, Act::ComeIn(_));
                if matches!(step.act, Act::Join(_)) {
                    self.people[at].ticket = kept[at].ticket.or(id);
                }
                came.numbered = None;
            }
            Fate::Lost => {
                self.left.log -= 1;
                let (bytes, queue) = before.unwrap();
                self.lose_end(&bytes);
                self.queue = queue;
                if let Act::ComeIn(at) | Act::Use(at) = step.act
                    && let Some(pass) = &mut self.people[at].pass
                {
                    pass.unheard = true;
                }
            }
        }
        self.note_the_absent();
        came
    }

    /// Who is away for too long, or has missed a turn, may lose the place.
    fn note_the_absent(&mut self) {
        let view = self.state.view();
        let now = self.now(&view);
        for person in &mut self.people {
            let missed = person.number().is_some_and(|number| match stands(&view, number) {
                Standing::Called(called) => now > called.deadline,
                Standing::Waiting(waiting) => waiting.missed_at.is_some(),
                _ => false,
            });
            person.steady &= person.away <= KEPT && !missed;
        }
    }

    /// Who is called and does not come before this time misses the turn, whatever the room makes of it afterwards.
    fn turns_end(&mut self, to: u64) {
        let view = self.state.view();
        let now = self.now(&view).plus(to - self.wall);
        for person in &mut self.people {
            let turn = person.number().map(|number| stands(&view, number));
            person.steady &= !matches!(turn, Some(Standing::Called(called)) if now > called.deadline);
        }
    }

    fn happens(&mut self, act: Act) {
        match act {
            Act::Time(when) => {
                let Some(next) = self.next_deadline() else { return };
                let to = match when {
                    When::Before => next - GRID,
                    When::At => next,
                    When::After => next + GRID,
                };
                self.left.early -= u8::from(when == When::Before);
                self.left.late -= u8::from(when == When::After);
                let passed = (to - self.wall).div_ceil(AWAY);
                for person in &mut self.people {
                    person.away = (person.away + passed).min(KEPT + 1);
                }
                if let Some(cut) = &mut self.cut {
                    cut.moves -= 1;
                }
                self.turns_end(to);
                self.go_on(to);
                if self.broken == Broken::Lost {
                    self.takes_one_out();
                }
            }
            Act::Read => self.stale = None,
            Act::Crash => {
                self.left.crash -= 1;
                self.crash();
            }
            Act::LoseEverything => {
                self.left.log -= 1;
                self.lose_everything();
            }
            Act::Cut => {
                self.left.cut -= 1;
                self.cut = Some(Cut {
                    since: self.wall,
                    moves: MOVES,
                    honoured: Vec::new(),
                });
            }
            Act::Mend => self.mend(),
            _ => unreachable!("an act of a visitor"),
        }
    }

    fn mend(&mut self) {
        let Some(cut) = self.cut.take() else { return };
        let mut section = only();
        section.reopens = cut.honoured.iter().map(|number| (LANE, *number)).collect();
        if self.size.rights.is_some() {
            section.renewals.clone_from(&section.reopens);
        }
        self.say(0, section);
    }

    fn last_id(&self) -> ropeline_room::PendingId {
        ropeline_room::PendingId([self.ids; 12])
    }

    /// Appends a batch; one without an answer a second time, as its gate does that cannot know.
    pub fn record(&mut self, section: Section, step: Step) -> ropeline_room::Effects {
        let entry = self.entry(step.gate, of(section));
        let effects = self.apply(&entry);
        if step.fate == Fate::Unanswered {
            let again = self.entry(step.gate, entry.batch.clone());
            let serial = entry.serial;
            self.apply(&ropeline_room::Entry { serial, ..again });
        }
        // The gate has read what it waited for.
        if step.gate > 0 {
            self.stale = None;
        }
        effects
    }

    fn join(&mut self, at: usize, step: Step) -> Came {
        let id = if let Some(Ticket::Pending(id)) = self.people[at].ticket {
            id
        } else {
            self.people[at].joins -= 1;
            self.pending_id()
        };
        let again = self.people[at].ticket.is_some();
        let mut section = only();
        // No answer can be lost any more: the id would be shown to nobody.
        let plain = !again && step.fate == Fate::Fine && self.left.reply + self.left.log == 0;
        if plain {
            section.joins.push((LANE, 1));
        } else {
            section.pending_joins.push((LANE, id));
        }
        let effects = self.record(section, step);
        let mut first = effects.all_joined().next().and_then(|joined| joined.first);
        if self.broken == Broken::Uniqueness {
            first = self.people.iter().find_map(Person::number).or(first);
        }
        let Some(number) = first else { return Came::default() };
        let person = &mut self.people[at];
        (person.ticket, person.steady, person.asked) = (Some(Ticket::Numbered(number)), true, false);
        person.is_seen();
        if self.broken == Broken::Served && self.people.iter().all(|person| person.number().is_some()) {
            self.hold();
        }
        Came {
            numbered: Some(number).filter(|_| !again),
            ..Came::default()
        }
    }

    fn ask(&mut self, at: usize, gate: usize) -> Came {
        let Some(number) = self.people[at].number() else {
            return Came::default();
        };
        let view = self.view(gate);
        let mut stand = stands(&view, number);
        match stand {
            Standing::Waiting(waiting) if waiting.mark_due => {
                self.say(gate, about(number, |section| &mut section.marks));
            }
            Standing::Unknown => {
                self.record(
                    about(number, |section| &mut section.marks),
                    Step {
                        gate,
                        ..Step::fine(Act::Ask(at))
                    },
                );
                stand = stands(&self.view(gate), number);
            }
            _ => {}
        }
        let person = &mut self.people[at];
        let (steady, name) = (person.steady, person.name);
        person.is_seen();
        person.asked = true;
        match stand {
            Standing::Late | Standing::Ended | Standing::Unknown => {
                person.forget();
                Came {
                    thrown_out: steady.then_some(name),
                    ..Came::default()
                }
            }
            Standing::Inside(inside) if inside.carried => {
                person.forget();
                Came::default()
            }
            _ => Came::default(),
        }
    }

    fn come_in(&mut self, at: usize, step: Step) -> Came {
        let Some(number) = self.people[at].number() else {
            return Came::default();
        };
        let view = self.view(step.gate);
        if self.must_ask(number, &view) {
            self.comes_back(at, number, step);
            return Came::default();
        }
        let mut section = only();
        section.claims.push(Claim {
            lane: LANE,
            number,
            carried: false,
        });
        self.record(section, step);
        let pass = self.pass_for(number, step.gate);
        let wall = self.wall;
        let is_active = self.size.rights.is_some();
        let person = &mut self.people[at];
        (person.pass, person.steady) = (pass, person.steady && pass.is_none());
        person.last = pass.filter(|_| is_active).map(|_| wall);
        Came::default()
    }

    /// The pass that a session entitles to now.
    pub fn pass_for(&mut self, number: Number, gate: usize) -> Option<Pass> {
        let view = self.view(gate);
        let now = self.now(&view);
        match stands(&view, number) {
            Standing::Inside(inside) => {
                let dated = inside.expires.0 - self.size.settings().renewal_ms();
                Some(Pass {
                    number,
                    count: inside.call.count,
                    until: self.wall + dated.saturating_sub(now.0),
                    unheard: false,
                })
            }
            _ => None,
        }
    }

    /// Whether the gate with this view lets the pass in, and what the log should hear of it.
    pub fn honours(&self, pass: &Pass, view: &View) -> Option<Section> {
        let number = pass.number;
        let now = self.now(view);
        let claim = || {
            let mut section = only();
            section.claims.push(Claim {
                lane: LANE,
                number,
                carried: true,
            });
            section
        };
        let reopen = || match self.size.rights {
            Some(_) => about(number, |section| &mut section.returns),
            None => about(number, |section| &mut section.reopens),
        };
        let dated = pass.until > self.wall;
        let of_call = |of| of == call(number, pass.count);
        match stands(view, number) {
            Standing::Inside(inside) if of_call(inside.call) && now <= inside.expires.plus(SLACK_MS) => {
                Some(match () {
                    () if self.must_ask(number, view) => about(number, |section| &mut section.returns),
                    () if !inside.carried => claim(),
                    () if inside.renewal_due(now) => about(number, |section| &mut section.renewals),
                    () => only(),
                })
            }
            Standing::Called(called) if of_call(called.call) && now <= called.deadline.plus(SLACK_MS) => Some(claim()),
            Standing::Waiting(_) | Standing::Unknown if dated => Some(reopen()),
            Standing::Late if dated && missed_second(view, number) => Some(reopen()),
            _ => None,
        }
    }

    fn uses(&mut self, at: usize, step: Step) -> Came {
        let Some(pass) = self.people[at].pass else {
            return Came::default();
        };
        let view = self.view(step.gate);
        let honoured = self.honours(&pass, &view);
        // Whoever is parked stays out while nobody can be asked.
        let stays_out =
            self.must_ask(pass.number, &view) || honoured.as_ref().is_some_and(|said| !said.returns.is_empty());
        if let Some(cut) = &mut self.cut {
            if honoured.is_some() && !stays_out {
                if !cut.honoured.contains(&pass.number) {
                    cut.honoured.push(pass.number);
                }
                self.forwarded(at);
            }
            return Came::default();
        }
        let Some(section) = honoured else {
            let is_called = matches!(stands(&view, pass.number), Standing::Called(_));
            if is_called && self.people[at].ticket.is_some() {
                return self.come_in(at, step);
            }
            self.people[at].forget();
            return Came::default();
        };
        let asks = !section.returns.is_empty();
        let claims = asks || !section.claims.is_empty() || !section.reopens.is_empty();
        if section != only() {
            if claims {
                self.record(section, step);
            } else {
                self.say(step.gate, section);
            }
        }
        let renewed = self.pass_for(pass.number, step.gate);
        let person = &mut self.people[at];
        (person.ticket, person.pass) = (None, renewed.or(Some(pass)));
        if self.size.rights.is_some() {
            self.goes_on(at, pass.number, asks, step.gate);
        }
        Came::default()
    }

    fn leaves(&mut self, at: usize, gate: usize) -> Came {
        let Some(number) = self.people[at].number() else {
            return Came::default();
        };
        self.say(gate, about(number, |section| &mut section.leaves));
        self.people[at].forget();
        if self.broken == Broken::Capacity {
            self.change(Change::Call(CallOrder {
                line: LineName::ONLY,
                lane: None,
                count: 1,
                beyond: true,
            }));
        }
        Came::default()
    }

    /// A copy of what the visitor had: first the pass, if it is worth something, else the ticket.
    fn replays(&mut self, at: usize, gate: usize) -> Came {
        self.left.replay -= 1;
        let Some((number, pass)) = self.people[at].old else {
            return Came::default();
        };
        let view = self.view(gate);
        if let Some(section) = pass.and_then(|pass| self.honours(&pass, &view)) {
            self.say(gate, section);
            return Came::default();
        }
        match stands(&view, number) {
            Standing::Waiting(_) | Standing::Unknown => {
                self.say(gate, about(number, |section| &mut section.marks));
            }
            Standing::Called(_) => {
                let mut section = only();
                section.claims.push(Claim {
                    lane: LANE,
                    number,
                    carried: false,
                });
                self.say(gate, section);
            }
            _ => {}
        }
        Came::default()
    }

    /// For [`Broken::Lost`].
    fn takes_one_out(&mut self) {
        let view = self.state.view();
        let waits = |number: &Number| matches!(stands(&view, *number), Standing::Waiting(_));
        let numbers = self.people.iter().filter_map(Person::number);
        if let Some(number) = numbers.rev().find(waits) {
            self.append(
                0,
                Batch {
                    ..of(about(number, |section| &mut section.leaves))
                },
            );
        }
    }
}

fn missed_second(view: &View, number: Number) -> bool {
    let line = view.rooms[&room()].line(&LineName::ONLY);
    line.is_some_and(|line| line.missed_second(LANE, number))
}
