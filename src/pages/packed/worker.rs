//! One thread of the process that compresses the beginnings of pages: some 60 ms each, which no request waits for.

use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

type Job = Box<dyn FnOnce() + Send>;

/// Jobs that wait. One more is not taken.
const MOST_JOBS: usize = 64;

static JOBS: LazyLock<Option<SyncSender<Job>>> = LazyLock::new(|| {
    let (sender, jobs) = sync_channel(MOST_JOBS);
    let thread = thread::Builder::new().name("pages".to_owned());
    thread.spawn(move || work(&jobs)).ok().map(|_| sender)
});

/// Has it done soon; false if too much waits already.
pub fn run(job: impl FnOnce() + Send + 'static) -> bool {
    JOBS.as_ref().is_some_and(|jobs| jobs.try_send(Box::new(job)).is_ok())
}

/// Waits until the jobs before this are done.
#[cfg(test)]
pub fn settle() {
    let (sender, done) = sync_channel(1);
    let jobs = JOBS.as_ref().expect("a thread");
    let last: Job = Box::new(move || sender.send(()).unwrap_or_default());
    jobs.send(last).unwrap_or_default();
    done.recv().expect("the thread goes on");
}

/// SECURITY: so long the thread rests after each. Strangers who ask for every page in every language take a seventh of a core.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 400 });

fn work(jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        job();
        thread::park_timeout(PAUSE);
    }
}
