//! Signals: SIGTERM and SIGINT stop the process, SIGHUP reloads the configuration.

use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::time;

/// Signals within this time are one.
const TOGETHER: Duration = Duration::from_secs(1);

/// SIGHUP, caught from the moment this is made.
pub struct Hangup(Signal);

impl Hangup {
    /// Resolves when one comes. Several that come together may count as one.
    pub async fn comes(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// SIGTERM and SIGINT, caught from the moment this is made.
pub struct Signals {
    runtime: Runtime,
    term: Signal,
    int: Signal,
}

impl Signals {
    /// Catches both signals; to be made before anything listens, so that none ends the process half way.
    pub fn catch() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let (term, int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        drop(entered);
        Ok(Self { runtime, term, int })
    }

    /// In the runtime that waits for them; for a caller that catches another.
    pub fn enter(&self) -> tokio::runtime::EnterGuard<'_> {
        self.runtime.enter()
    }

    /// Catches SIGHUP too, which ends a process that does not.
    pub fn catch_hangup(&self) -> io::Result<Hangup> {
        let _entered = self.runtime.enter();
        signal(SignalKind::hangup()).map(Hangup)
    }

    /// Blocks until one comes.
    pub fn wait(&mut self) {
        self.wait_or(std::future::pending());
    }

    /// Blocks until one comes, or until `other` is done; true for a signal.
    pub fn wait_or(&mut self, other: impl Future<Output = ()>) -> bool {
        let (term, int) = (&mut self.term, &mut self.int);
        self.runtime.block_on(async {
            tokio::select! {
                _ = term.recv() => true,
                _ = int.recv() => true,
                () = other => false,
            }
        })
    }

    /// From here on the next one ends the process at once, with exit code 1. Those that come together are one: `timeout`, for one, sends
    /// it to the process and to its group.
    pub fn end_at_once(mut self) {
        let next_from = time::uptime() + TOGETHER;
        std::thread::spawn(move || {
            self.wait();
            while time::uptime() < next_from {
                self.wait();
            }
            std::process::exit(1);
        });
    }
}
