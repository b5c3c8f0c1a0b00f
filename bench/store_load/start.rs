//! How long a new gate takes until it is live: from the start of the process until it says that it is ready and has read
//! its log.

use std::time::{Duration, Instant};

use super::gate::Gate;

/// Gates started one after another; the slowest counts.
const STARTS: usize = 5;

/// Between two questions.
const STEP: Duration = Duration::from_millis(5);

/// The slowest of some gates that join those on the log of `prefix`; each then knows all who wait in its room.
pub async fn of_another(
    gate: &str,
    store: &str,
    prefix: &'static str,
    (room, waiting): (&'static str, u64),
) -> Duration {
    let (gate, store) = (gate.to_owned(), store.to_owned());
    let start = move |_| {
        // With a room of its own: configured here, theirs would be changed.
        let (gate, took) = start(&gate, &store, prefix, "another");
        assert_eq!(gate.waiting(room), Some(waiting), "it has read the whole line");
        took
    };
    let slowest = tokio::task::spawn_blocking(move || (0..STARTS).map(start).max()).await;
    slowest.expect("the measurement").expect("some starts")
}

/// The first gate on a store that has no log for it.
pub async fn of_the_first(gate: &str, store: &str) -> Duration {
    let (gate, store) = (gate.to_owned(), store.to_owned());
    let first = tokio::task::spawn_blocking(move || start(&gate, &store, "empty", "shop").1).await;
    first.expect("the measurement")
}

fn start(program: &str, store: &str, prefix: &str, room: &str) -> (Gate, Duration) {
    let began = Instant::now();
    let gate = Gate::start(program, store, prefix, room);
    while !gate.is_live() {
        assert!(began.elapsed() < Duration::from_secs(60), "the gate never came up");
        std::thread::park_timeout(STEP);
    }
    (gate, began.elapsed())
}
