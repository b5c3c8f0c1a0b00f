//! The signals that tell a process to stop.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

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

    /// In the runtime that waits for them; for whoever catches another.
    pub fn enter(&self) -> tokio::runtime::EnterGuard<'_> {
        self.runtime.enter()
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

    /// From here on the next one ends the process at once, with exit code 1.
    pub fn end_at_once(mut self) {
        std::thread::spawn(move || {
            self.wait();
            std::process::exit(1);
        });
    }
}
