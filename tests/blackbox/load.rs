//! Two thousand visitors before a room of fifty.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anteroom::room::{CallId, Edition, LaneId, LineName, Number, Wall};
use anteroom::token::Pass;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::crowd::{CAPACITY, LIMITS, REPLIES, ROOM, World, knock, visit};
use crate::gate::{Gate, admin_request, keyring, room};
use crate::http::Pool;
use crate::ledger::{self, Ledger};
use crate::seed::{Seed, number};
use crate::shop::{Seen, Shop};

/// One crowd at a time: each is all that the machine can do.
pub static MACHINE: Mutex<()> = Mutex::const_new(());

/// Far above what a run takes; who is not in by then never will be.
const BOUND: Duration = Duration::from_secs(900);

/// People in the crowd.
pub fn people() -> u32 {
    number("ANTEROOM_VISITORS")
        .and_then(|people| u32::try_from(people).ok())
        .unwrap_or(2_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_gets_in_by_its_numbers_and_never_more_than_the_room_holds() {
    let _machine = MACHINE.lock().await;
    let seed = Seed::of_run("load");
    let shop = Shop::open(REPLIES).await;
    let mut gate = Gate::open(shop.address, ROOM, LIMITS).await;
    let world = World::new(Arc::new(Pool::new(gate.address)), false, (50, 400));
    let mut crowd = Crowd::gather(&world, &seed, 15_000);
    crowd.watch(Pool::new(gate.admin.address), false);
    crowd.disperse().await;
    gate.stop();
    judge(&world, &shop, &gate, "load");
}

/// The crowd's tasks, and those that go on until it is gone.
pub struct Crowd {
    people: JoinSet<()>,
    lasting: JoinSet<()>,
}

impl Crowd {
    /// Everybody sets out; they arrive one by one.
    pub fn gather(world: &Arc<World>, seed: &Seed, arrive_within_ms: u64) -> Self {
        let (mut visitors, mut lasting) = (JoinSet::new(), JoinSet::new());
        for index in 0..people() {
            visitors.spawn(visit(
                Arc::clone(world),
                index,
                seed.branch(u64::from(index)),
                arrive_within_ms,
            ));
        }
        for index in 0..5 {
            lasting.spawn(knock(Arc::clone(world), 1_000_000 + index));
        }
        Self {
            people: visitors,
            lasting,
        }
    }

    /// Looks at the room from the operator's side all the time.
    pub fn watch(&mut self, admin: Pool, rough: bool) {
        self.lasting.spawn(async move {
            let request = admin_request(&admin, "GET", "/api/v1/rooms/shop", "");
            loop {
                match admin.ask(request.as_bytes()).await {
                    Ok(answer) if answer.status() == 200 => {
                        let room = answer.json();
                        let held = room["called"].as_u64().unwrap() + room["sessions"].as_u64().unwrap();
                        assert!(held <= CAPACITY, "{held} slots are held: {room}");
                    }
                    Ok(answer) => assert!(rough, "{}", answer.head),
                    Err(error) => assert!(rough, "{error}"),
                }
                sleep(Duration::from_millis(50)).await;
            }
        });
    }

    /// Waits until everybody has been; what went wrong for one of them goes wrong here.
    pub async fn disperse(&mut self) {
        let all = async {
            while !self.people.is_empty() {
                tokio::select! {
                    Some(person) = self.people.join_next() => person.unwrap(),
                    Some(lasting) = self.lasting.join_next() => lasting.unwrap(),
                }
            }
        };
        let done = timeout(BOUND, all).await;
        assert!(done.is_ok(), "{} never got in", self.people.len());
        self.lasting.shutdown().await;
    }

    /// How many are not through yet.
    pub fn left(&mut self) -> usize {
        while let Some(person) = self.people.try_join_next() {
            person.unwrap();
        }
        self.people.len()
    }
}

/// Compares what visitors, shop and log say.
pub fn judge(world: &World, shop: &Shop, gate: &Gate, test: &str) -> Ledger {
    let replay = gate.command(&["replay", "data"]);
    let proof = String::from_utf8_lossy(&replay.stdout).into_owned();
    assert!(replay.status.success() && !proof.contains("\ngap"), "{proof}");
    let ledger = ledger::read(&gate.data());
    let tally = world.tally.lock().unwrap();
    let seen = shop.seen();
    println!(
        "{test}: {} answers to visitors ({} lost), {} requests at the shop, {} sessions, {} fell out; \
         {} entries in {} lives, {} joins, {} calls, {} claims, {} no-shows, {} slots refilled at once, at most {} held; \
         ticks {} ms at most, {} ms in all but one of a thousand",
        tally.answers,
        tally.lost_answers,
        seen.len(),
        tally.sessions.len(),
        tally.fell_out,
        ledger.entries,
        ledger.lives,
        ledger.issued.len(),
        ledger.called.values().sum::<u32>(),
        ledger.claims,
        ledger.no_shows,
        ledger.refilled,
        ledger.most_held,
        ledger.longest_tick_ms,
        ledger.usual_tick_ms,
    );
    assert!(ledger.faults.is_empty(), "{:#?}", ledger.faults);
    assert!(
        ledger.most_held == CAPACITY || people() < 1_000,
        "the room was never full"
    );
    let outside: BTreeSet<_> = tally.eager.difference(&tally.admitted).collect();
    assert!(outside.is_empty(), "never got in: {outside:?}");

    let owned: BTreeSet<Number> = tally.owners.keys().copied().collect();
    let strange: Vec<_> = owned.difference(&ledger.issued).collect();
    assert!(strange.is_empty(), "tickets that the log never issued: {strange:?}");
    let robbed: Vec<_> = tally
        .rejoined
        .iter()
        .filter(|number| !ledger.called.contains_key(number))
        .collect();
    assert!(
        robbed.is_empty(),
        "given another number although never called: {robbed:?}"
    );

    let (sessions, names) = (by_session(&seen), names(&ledger));
    for (name, of) in &sessions {
        let number = names
            .get(name)
            .unwrap_or_else(|| panic!("{name} was inside and never called"));
        let visitor = of[0].request.field("x-visitor");
        let stranger = of.iter().find(|seen| seen.request.field("x-visitor") != visitor);
        assert!(
            stranger.is_none(),
            "{stranger:?} used the session of visitor {visitor:?}"
        );
        match tally.sessions.get(name) {
            Some((owner, its)) => assert!(its == number && visitor == Some(&owner.to_string()), "{owner}: {name}"),
            // The answer with the pass was lost when the gate was killed.
            None => assert!(world.rough, "nobody has a pass for {name}"),
        }
        let over = tally.ended.get(name);
        let after = of.iter().find(|seen| over.is_some_and(|over| seen.from > *over));
        assert!(after.is_none(), "the session was over and the shop saw {after:?}");
    }
    let most = most_at_once(&sessions);
    println!("{test}: at most {most} sessions at once at the shop");
    assert!(most <= CAPACITY, "the shop had {most} sessions at once");
    ledger
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
            let id = ring.pass_id(&room(), &LineName::ONLY, edition, call);
            let (room, line, lane, expires_at) = (room(), LineName::ONLY, LaneId(0), Wall(0));
            let pass = Pass {
                room,
                line,
                lane,
                edition,
                number: *number,
                id,
                expires_at,
            };
            names.insert(pass.session_header(), *number);
        }
    }
    names
}

fn by_session(seen: &[Seen]) -> BTreeMap<String, Vec<&Seen>> {
    let mut sessions: BTreeMap<String, Vec<&Seen>> = BTreeMap::new();
    for seen in seen {
        if let Some(name) = seen.session() {
            sessions.entry(name.to_owned()).or_default().push(seen);
        }
    }
    sessions
}

/// The most sessions whose spans, from the first request to the last answer, had an instant in common. A slot is held
/// for all of the span, so this can never be more than the capacity, whatever the gate believes.
fn most_at_once(sessions: &BTreeMap<String, Vec<&Seen>>) -> u64 {
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
