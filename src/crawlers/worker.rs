//! The thread that looks addresses up, with bounds on simultaneous look-ups and on their rate.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;

use crate::metrics::{CrawlerMetrics, LookupFate};
use crate::time;

use super::known::{Found, Key, Known, Next, lock};
use super::lookup::Lookup;

/// Most lookups under way: an owner whose name server never answers occupies one of them for seconds.
const AT_ONCE: usize = 32;

/// Starts it. It ends when all its handles are gone.
pub fn start(lookup: Lookup, known: Arc<Mutex<Known>>, wakes: Receiver<()>, metrics: CrawlerMetrics) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let work = move || runtime.block_on(work(Arc::new(lookup), &known, wakes, &metrics));
    std::thread::Builder::new().name("crawlers".to_owned()).spawn(work)?;
    Ok(())
}

async fn work(lookup: Arc<Lookup>, known: &Mutex<Known>, mut wakes: Receiver<()>, metrics: &CrawlerMetrics) {
    let mut under_way: JoinSet<(Key, Found)> = JoinSet::new();
    loop {
        let next = if under_way.len() < AT_ONCE {
            lock(known).next(time::uptime())
        } else {
            Next::Nothing
        };
        let wait = match next {
            Next::LookUp(key) => {
                let lookup = Arc::clone(&lookup);
                under_way.spawn(async move { (key, settled(async move { lookup.look_up(key).await }).await) });
                continue;
            }
            Next::In(wait) => Some(wait),
            Next::Nothing => None,
        };
        tokio::select! {
            wake = wakes.recv() => if wake.is_none() { return },
            Some(done) = under_way.join_next() => if let Ok((key, found)) = done {
                learn(known, (key, found), metrics);
            },
            () = tokio::time::sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {}
        }
    }
}

/// A lookup that a fault of the program ends has failed: its address is asked about again.
async fn settled(lookup: impl Future<Output = Found> + Send + 'static) -> Found {
    tokio::spawn(lookup).await.unwrap_or(Found::Failed)
}

fn learn(known: &Mutex<Known>, (key, found): (Key, Found), metrics: &CrawlerMetrics) {
    let verified = {
        let mut known = lock(known);
        known.learn(key, found, time::uptime());
        known.verified()
    };
    metrics.verified(verified);
    metrics.count(match found {
        Found::Verified(_) => LookupFate::Verified,
        Found::Refuted(_) => LookupFate::Refuted,
        Found::Failed => LookupFate::Failed,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lookup_that_panics_has_failed() {
        assert_eq!(settled(async { panic!("a fault") }).await, Found::Failed);
        let found = Found::Refuted(Duration::ZERO);
        assert_eq!(settled(async move { found }).await, found);
    }
}
