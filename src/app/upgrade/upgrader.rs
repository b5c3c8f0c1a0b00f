//! Requests for an upgrade, by signal or over the admin API, carried out one at a time.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot, watch};

use super::channel::Channel;
use super::successor::{Given, NotUpgraded, Successor, hand_over};
use crate::admin::{Upgraded, Upgrades, Wish};
use crate::metrics::Metrics;
use crate::replica::{Charge, Replica};

/// Requests for an upgrade, in order.
pub struct Wishes {
    over_api: mpsc::Receiver<Wish>,
    signal: Signal,
}

impl Wishes {
    /// Refuses those for the upgrade that has just been carried out: they came while this process was the one after.
    fn come_too_early(&mut self) {
        while let Ok(wish) = self.over_api.try_recv() {
            let _ = wish.send(Err(BUSY.to_owned()));
        }
    }
}

/// The sender of the admin API's requests, and the receiver of those and of the signal's. Must be called inside a runtime,
/// before any listener opens: without a handler the signal ends the process.
pub fn wishes() -> io::Result<(Upgrades, Wishes)> {
    let (send, over_api) = mpsc::channel(MAX_WISHES);
    let signal = signal(SignalKind::user_defined2())?;
    Ok((Upgrades::new(send), Wishes { over_api, signal }))
}

/// Carries wishes out.
pub struct Upgrader {
    given: Arc<Given>,
    wishes: Wishes,
    /// Of the process before this one; `None` where there was none.
    former: Option<watch::Receiver<bool>>,
    metrics: Metrics,
    under_way: Option<Attempt>,
    handed: Arc<Mutex<Option<Successor>>>,
}

/// A thread that performs the upgrade; dropping it ends the next process if that is not in charge yet, and waits for that.
struct Attempt {
    line: UnixStream,
    handed: Arc<Mutex<Option<Successor>>>,
    thread: Option<JoinHandle<()>>,
}

impl Upgrader {
    pub fn new(given: Given, mut wishes: Wishes, former: Option<watch::Receiver<bool>>, metrics: Metrics) -> Self {
        if former.is_some() {
            wishes.come_too_early();
        }
        Self {
            given: Arc::new(given),
            wishes,
            former,
            metrics,
            under_way: None,
            handed: Arc::default(),
        }
    }

    /// Resolves when another process is in charge, or when an upgrade has failed and this one cannot serve any more.
    pub async fn handed_over(&mut self) {
        loop {
            let wish = tokio::select! {
                _ = self.wishes.signal.recv() => None,
                wish = self.wishes.over_api.recv() => wish,
            };
            let outcome = self.one_at_a_time().await;
            match &outcome {
                Ok(upgraded) => tracing::info!(
                    pid = upgraded.pid,
                    version = upgraded.version,
                    "upgraded: the next process serves"
                ),
                Err(NotUpgraded { reason, is_lost: true }) => {
                    tracing::error!(reason, "the upgrade failed, and this process cannot go on");
                }
                Err(NotUpgraded { reason, .. }) => {
                    self.metrics.upgrades_failed.inc();
                    self.given.replica.compare_rooms().await;
                    tracing::error!(reason, "the upgrade failed: this process goes on as before");
                }
            }
            let is_done = outcome.as_ref().err().is_none_or(|failed| failed.is_lost);
            if let Some(wish) = wish {
                // The client may be gone.
                let _ = wish.send(outcome.map_err(|failed| failed.reason));
            }
            if is_done {
                return;
            }
        }
    }

    /// Another process is in charge: this one has nothing more to say. Ends the requests under way otherwise. The
    /// sockets are let go.
    pub fn close(mut self) -> Option<Successor> {
        self.under_way = None;
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Carries a wish out, and refuses those that come meanwhile.
    async fn one_at_a_time(&mut self) -> Result<Upgraded, NotUpgraded> {
        if let Some(refusal) = self.given.refusal() {
            return Err(NotUpgraded::as_before(refusal.to_owned()));
        }
        let (done, mut outcome) = oneshot::channel();
        let mut until_alone = std::pin::pin!(alone(self.former.clone()));
        let mut waits = Some(done);
        loop {
            tokio::select! {
                biased;
                outcome = &mut outcome => {
                    self.under_way = None;
                    return outcome.unwrap_or_else(|_| Err(NotUpgraded::as_before("the thread that hands over has failed".to_owned())));
                }
                () = &mut until_alone, if waits.is_some() => {
                    let Some(done) = waits.take() else { continue };
                    match Attempt::start(Arc::clone(&self.given), Arc::clone(&self.handed), done) {
                        Ok(attempt) => self.under_way = Some(attempt),
                        Err(error) => {
                            let reason = format!("the system gives nothing to hand over with: {error}");
                            return Err(NotUpgraded::as_before(reason));
                        }
                    }
                }
                _ = self.wishes.signal.recv() => tracing::warn!("{BUSY}"),
                Some(wish) = self.wishes.over_api.recv() => drop(wish.send(Err(BUSY.to_owned()))),
            }
        }
    }
}

/// Resolves when the process before this one has ended.
async fn alone(former: Option<watch::Receiver<bool>>) {
    let Some(mut former) = former else { return };
    if !*former.borrow() {
        tracing::info!("an upgrade waits until the process before this one has drained");
    }
    // There is no one left to notify: the same.
    let _ = former.wait_for(|gone| *gone).await;
}

/// Gives the rooms the settings of the present file, and removes rooms that it has no more once the process before, if there is one,
/// has ended. Never ends.
pub async fn takes_over(replica: Replica, former: Option<watch::Receiver<bool>>) {
    if let Some(mut former) = former {
        replica.set_charge(Charge::Handed).await;
        let _ = former.wait_for(|gone| *gone).await;
        replica.set_charge(Charge::Own).await;
    }
    std::future::pending::<()>().await;
}

impl Attempt {
    fn start(
        given: Arc<Given>,
        handed: Arc<Mutex<Option<Successor>>>,
        done: oneshot::Sender<Result<Upgraded, NotUpgraded>>,
    ) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let line = Channel::new(ours);
        let handle = line.handle()?;
        let in_charge = Arc::clone(&handed);
        let run = move || {
            let outcome = hand_over(&given, line, theirs).map(|next| {
                let upgraded = Upgraded {
                    pid: next.pid,
                    version: next.version.clone(),
                    warnings: (!next.is_told).then(|| NOT_TOLD.to_owned()).into_iter().collect(),
                };
                *handed.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
                upgraded
            });
            drop(given);
            // No one waits for it in a process that is stopping.
            let _ = done.send(outcome);
        };
        Ok(Self {
            line: handle,
            handed: in_charge,
            thread: Some(thread::Builder::new().name("upgrade".into()).spawn(run)?),
        })
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.handed.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            // The wait for the next process's word ends with it.
            let _ = self.line.shutdown(std::net::Shutdown::Both);
        }
        let _ = thread.join();
    }
}

const NOT_TOLD: &str = "the supervisor could not be told of the process that serves, and may end it when the one before ends: restart the gate";
const BUSY: &str = "an upgrade is under way already";
/// Wishes that may wait for a moment.
const MAX_WISHES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wish_that_came_before_this_process_was_in_charge_is_refused() {
        let (_, mut wishes) = wishes().unwrap();
        let (send, over_api) = mpsc::channel(MAX_WISHES);
        wishes.over_api = over_api;
        let (wish, outcome) = oneshot::channel();
        send.try_send(wish).unwrap();
        wishes.come_too_early();
        assert_eq!(outcome.await.unwrap(), Err(BUSY.to_owned()));
    }
}
