//! Compares the records of visitors, shop and log at the end.

use std::collections::{BTreeMap, BTreeSet};

use ropeline::room::{CallId, Edition, LaneId, LineName, Number, Wall};
use ropeline::token::{Pass, PassId};

use super::gate::{keyring, room};
use super::ledger::{Kind, Ledger};
use super::people::{Tally, World};
use super::shop::{Seen, Shop};

/// The judgement of a run.
pub struct Verdict {
    /// Everything amiss, the ledger's findings among it.
    pub faults: Vec<(Kind, String)>,
    /// The most sessions that the shop had at once.
    pub most_at_once: u64,
    /// The results of visitors and shop, in one line.
    pub tells: String,
}

/// Sessions by the name that the shop knows.
type Sessions<'a> = BTreeMap<&'a str, Vec<&'a Seen>>;

impl Verdict {
    pub fn of(world: &World, shop: &Shop, ledger: &Ledger) -> Self {
        let (tally, seen) = (world.tally.lock().unwrap(), shop.seen());
        let sessions = by_session(&seen);
        let most_at_once = most_at_once(&sessions);
        let mut verdict = Self {
            faults: ledger.faults.clone(),
            most_at_once,
            tells: format!(
                "{} answers to visitors ({} lost), {} requests at the shop, {} sessions, at most {most_at_once} at once, \
                 {} fell out",
                tally.answers,
                tally.lost_answers,
                seen.len(),
                tally.sessions.len(),
                tally.fell_out,
            ),
        };
        verdict.places(&tally, ledger);
        verdict.sessions(world, &tally, &sessions, ledger);
        if most_at_once > world.rules.capacity + ledger.most_excess {
            let what = format!("the shop had {most_at_once} sessions at once");
            verdict.fault(Kind::Over, what);
        }
        verdict
    }

    /// How many faults of a kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        self.faults.iter().filter(|(of, _)| *of == kind).count()
    }

    /// Enough of the faults to look into.
    pub fn first_faults(&self) -> Vec<&(Kind, String)> {
        self.faults.iter().take(20).collect()
    }

    /// No eager visitor was kept out, and no visitor lost their number before it was called.
    fn places(&mut self, tally: &Tally, ledger: &Ledger) {
        for outside in tally.eager.difference(&tally.admitted) {
            self.fault(Kind::Place, format!("visitor {outside} never got in"));
        }
        for twice in &tally.twice {
            self.fault(Kind::Twice, twice.clone());
        }
        for number in &tally.turned_back {
            self.fault(Kind::Place, format!("{number:?} was told to come in and turned back"));
        }
        for number in &tally.rejoined {
            if !ledger.called.contains_key(number) && !tally.told.contains(number) {
                let what = format!("{number:?} was never called and its visitor given another");
                self.fault(Kind::Place, what);
            }
        }
        let owned: BTreeSet<Number> = tally.owners.keys().copied().collect();
        for number in owned.difference(&ledger.issued) {
            // A ledger that has not read all cannot tell.
            if ledger.unread == 0 {
                self.fault(Kind::Other, format!("the log never issued {number:?}"));
            }
        }
    }

    /// Every session at the shop belongs to one visitor, who was called, and none goes on after an answer said that it was
    /// over.
    fn sessions(&mut self, world: &World, tally: &Tally, sessions: &Sessions<'_>, ledger: &Ledger) {
        let names = names(ledger);
        for (name, of) in sessions {
            let visitor = of[0].request.field("x-visitor");
            if of.iter().any(|seen| seen.request.field("x-visitor") != visitor) {
                self.fault(Kind::Other, format!("two visitors used {name}"));
            }
            let number = names.get(*name);
            if number.is_none() && ledger.unread == 0 {
                self.fault(Kind::Other, format!("{name} was inside and never called"));
            }
            match tally.sessions.get(*name) {
                Some((owner, its)) => {
                    let same = number.is_none_or(|number| number == its);
                    if !same || visitor != Some(&owner.to_string()) {
                        self.fault(Kind::Other, format!("{name} is of {owner} and not of {visitor:?}"));
                    }
                }
                // The answer with the pass may have been lost.
                None if world.rough => {}
                None => self.fault(Kind::Other, format!("nobody has a pass for {name}")),
            }
            let over = tally.ended.get(*name);
            if let Some(after) = of.iter().find(|seen| over.is_some_and(|over| seen.from > *over)) {
                let what = format!("{name} was over and the shop saw {}", after.line());
                self.fault(Kind::Other, what);
            }
        }
    }

    fn fault(&mut self, kind: Kind, what: String) {
        self.faults.push((kind, what));
    }
}

/// Every call of the log, by the name that its session has at the shop.
fn names(ledger: &Ledger) -> BTreeMap<String, Number> {
    let (ring, mut names) = (keyring(), BTreeMap::new());
    for (number, times) in &ledger.called {
        for count in 1..=*times {
            let call = CallId {
                lane: LaneId(0),
                number: *number,
                count: u8::try_from(count).unwrap(),
            };
            let edition = Edition::default();
            let id = PassId::new(&ring, &room(), &LineName::ONLY, edition, call);
            let (room, line, lane, expires_at) = (room(), LineName::ONLY, LaneId(0), Wall(0));
            let pass = Pass {
                room,
                line,
                lane,
                edition,
                number: *number,
                call: call.count,
                id,
                expires_at,
            };
            names.insert(pass.session_header(), *number);
        }
    }
    names
}

fn by_session(seen: &[Seen]) -> Sessions<'_> {
    let mut sessions = Sessions::new();
    for seen in seen {
        if let Some(name) = seen.session() {
            sessions.entry(name).or_default().push(seen);
        }
    }
    sessions
}

/// The most sessions whose spans, from the first request to the last answer, had an instant in common. A slot is held for all
/// of the span, so this can never be more than the capacity, whatever the gate's state says.
fn most_at_once(sessions: &Sessions<'_>) -> u64 {
    let mut steps = Vec::new();
    for of in sessions.values() {
        steps.extend(of.iter().map(|seen| seen.from).min().map(|from| (from, true)));
        steps.extend(of.iter().map(|seen| seen.to).max().map(|to| (to, false)));
    }
    // An end comes before a beginning of the same instant.
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, begins) in steps {
        now = if begins { now + 1 } else { now - 1 };
        most = most.max(now);
    }
    most
}
