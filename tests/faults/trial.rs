//! One fault before a crowd: the fleet starts, the crowd comes, the fault happens, all get in, and the result is judged.

use std::sync::Arc;
use std::time::Duration;

use ropeline::store::redis::{Options as LogOptions, RedisLog};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::fleet::{Fleet, Store};
use super::observer::Observer;
use crate::crowd::chance::number;
use crate::crowd::gathering::Crowd;
use crate::crowd::ledger::{Kind, Ledger};
use crate::crowd::people::{Rules, World};
use crate::crowd::seed;
use crate::crowd::verdict::Verdict;
use crate::harness::eventually;

/// Small crowds, two at a time: much of a trial is waiting. A large one is all that the machine can do.
static MACHINE: Semaphore = Semaphore::const_new(2);

/// Far above the duration of a trial; a visitor who is not in then never will be.
const BOUND: Duration = Duration::from_secs(400);

/// How long after the fault a pause still counts as its own.
const AFTERMATH_MS: u64 = 40_000;

/// A fleet with a crowd before it.
pub struct Trial {
    name: &'static str,
    pub fleet: Fleet,
    pub world: Arc<World>,
    crowd: Crowd,
    observer: Observer,
    /// When the store was there again, or the fault struck if it was never away; milliseconds of wall time.
    since: u64,
    _machine: tokio::sync::SemaphorePermit<'static>,
}

/// People in a crowd.
fn people() -> u32 {
    number("ROPELINE_VISITORS")
        .and_then(|people| u32::try_from(people).ok())
        .unwrap_or(300)
}

/// As many visitors as the machine can handle, and without other load: the figures are compared with their limits.
pub fn large() -> bool {
    people() > 1_000
}

/// The room of every trial.
pub fn rules() -> Rules {
    Rules {
        capacity: if large() { 120 } else { 20 },
        session_secs: 15,
    }
}

impl Trial {
    /// Starts a fleet on `store`, sends the crowd, and waits until a quarter of it has been inside.
    pub async fn begin(name: &'static str, store: Store) -> Self {
        // Cut off from the store a gate does not hear that a session is over.
        Self::begin_with(name, store, None).await
    }

    /// As [`Self::begin`], and a pass is taken nowhere any more when its session has been over for `void_after`.
    pub async fn begin_with(name: &'static str, store: Store, void_after: Option<Duration>) -> Self {
        let machine = MACHINE.acquire_many(if large() { 2 } else { 1 }).await.unwrap();
        let fleet = Fleet::open(store, rules(), "").await;
        Self::before(name, fleet, void_after, machine).await
    }

    /// As [`Self::begin`], before a fleet of two versions that has the machine to itself.
    pub async fn begin_before(name: &'static str, open: impl Future<Output = Fleet>) -> Self {
        let machine = MACHINE.acquire_many(2).await.unwrap();
        Self::before(name, open.await, None, machine).await
    }

    async fn before(
        name: &'static str,
        fleet: Fleet,
        void_after: Option<Duration>,
        machine: tokio::sync::SemaphorePermit<'static>,
    ) -> Self {
        let (people, large, rules) = (people(), large(), rules());
        let chance = seed::of_run(name);
        let url = fleet.store.url().parse().unwrap();
        let log = RedisLog::open(&url, LogOptions::default()).unwrap();
        let observer = Observer::follow(Box::new(log));
        let mut world = World::new(fleet.pool(), rules, true, (50, 400));
        (world.void_after, world.swift) = (void_after, !large);
        let world = Arc::new(world);
        let crowd = Crowd::gather(people, &world, &chance, u64::from(people) * 20);
        let trial = Self {
            name,
            fleet,
            world,
            crowd,
            observer,
            since: 0,
            _machine: machine,
        };
        trial.until_inside(people as usize / 4).await;
        trial
    }

    /// Waits until so many have been inside.
    pub async fn until_inside(&self, many: usize) {
        eventually("people who get in", async || {
            (self.world.tally.lock().unwrap().admitted.len() >= many).then_some(())
        })
        .await;
    }

    /// Waits until so many more have been inside.
    pub async fn further(&self, many: usize) {
        let inside = self.world.tally.lock().unwrap().admitted.len();
        self.until_inside(inside + many).await;
    }

    /// The fault is over, or strikes now and is over at once: from here on a pause counts.
    pub fn over(&mut self) {
        self.since = ropeline::time::wall().0;
    }

    /// The fault lasts for this long.
    pub async fn lasts(&self, time: Duration) {
        sleep(time).await;
    }

    /// Waits for all visitors, stops the gates, prints the row, and checks that the fault cost nothing. The ledger is
    /// returned so that the trial can check that there was a fault.
    pub async fn end(mut self) -> Ledger {
        let never_in = self.crowd.disperse(BOUND).await;
        self.fleet.stop();
        let ledger = self.observer.judge(self.world.rules.capacity);
        let verdict = Verdict::of(&self.world, &self.fleet.shop, &ledger);
        let costs = [Kind::Place, Kind::Twice, Kind::Inversion, Kind::Over].map(|kind| verdict.count(kind));
        let [places, twice, inversions, over] = costs;
        let (tenths, name) = (ledger.pause_ms(self.since, AFTERMATH_MS).div_ceil(100), self.name);
        let (secs, tenth) = (tenths / 10, tenths % 10);
        println!("{name}: {}", verdict.tells);
        println!("{name}: {}, {} unread", ledger.tells(), ledger.unread);
        println!("row: | {name} | {places} | {twice} | {inversions} | {over} | {secs}.{tenth} |");
        assert!(
            never_in == 0 && verdict.faults.is_empty(),
            "{:#?}",
            verdict.first_faults()
        );
        assert!(ledger.lives > 0 && ledger.entries > 0, "the log was not read");
        ledger
    }
}
