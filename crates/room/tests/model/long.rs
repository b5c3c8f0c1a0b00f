//! The long run, for `scripts/model`: larger worlds, each as deep as its share of the time allows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::search::{Bound, Search};
use crate::world::{Broken, Size};
use crate::{ACTIVE, FAULTS, NO_FAULTS, SMALL};

/// Memory bounds a search: a state takes about a kilobyte.
const STATES: usize = 4_000_000;

/// What is looked at, each with its part of the time.
fn sizes() -> Vec<(&'static str, Size)> {
    vec![
        ("1 gate, 2 visitors, 1 slot, no faults", SMALL),
        (
            "1 gate, 1 visitor, 1 slot, one fault of each kind",
            Size {
                visitors: 1,
                faults: FAULTS,
                ..SMALL
            },
        ),
        (
            "1 gate, 2 visitors, 1 slot, one fault of each kind",
            Size {
                faults: FAULTS,
                ..SMALL
            },
        ),
        (
            "2 gates, 3 visitors, 1 slot, no faults",
            Size {
                gates: 2,
                visitors: 3,
                ..SMALL
            },
        ),
        (
            "2 gates, 4 visitors, 2 slots, no faults",
            Size {
                gates: 2,
                visitors: 4,
                slots: 2,
                rights: None,
                joins: 2,
                faults: NO_FAULTS,
            },
        ),
        (
            "2 gates, 3 visitors, 2 slots, one fault of each kind",
            Size {
                gates: 2,
                visitors: 3,
                slots: 2,
                rights: None,
                joins: 2,
                faults: FAULTS,
            },
        ),
        ("1 gate, 2 visitors, 1 active slot, no faults", ACTIVE),
        (
            "1 gate, 2 visitors, 1 active slot, one fault of each kind",
            Size {
                faults: FAULTS,
                ..ACTIVE
            },
        ),
        (
            "2 gates, 3 visitors, 1 active slot, no faults",
            Size {
                gates: 2,
                visitors: 3,
                ..ACTIVE
            },
        ),
        (
            "2 gates, 4 visitors, 2 active slots of 3 rights, one fault of each kind",
            Size {
                gates: 2,
                visitors: 4,
                slots: 2,
                rights: Some(3),
                joins: 2,
                faults: FAULTS,
            },
        ),
    ]
}

#[test]
#[ignore = "for minutes or hours: scripts/model"]
#[expect(clippy::disallowed_methods, reason = "how long it may take")]
fn larger_worlds_as_deep_as_time_allows() {
    let minutes = std::env::var("ROPELINE_MINUTES")
        .ok()
        .and_then(|minutes| minutes.parse().ok());
    let sizes = sizes();
    let share = Duration::from_secs(60 * minutes.unwrap_or(1)) / u32::try_from(sizes.len()).unwrap();
    let mut broken = 0;
    for (what, size) in sizes {
        let over = Arc::new(AtomicBool::new(false));
        let (done, ends) = channel::<()>();
        let clock = Arc::clone(&over);
        let timer = std::thread::spawn(move || {
            if ends.recv_timeout(share) == Err(RecvTimeoutError::Timeout) {
                clock.store(true, Ordering::Relaxed);
            }
        });
        let bound = Bound {
            states: STATES,
            ..Bound::NONE
        };
        let found = Search::new(size, Broken::Nothing).run(bound, || !over.load(Ordering::Relaxed));
        drop(done);
        timer.join().unwrap();
        match found {
            Ok(found) => println!("{what}: {found:?}"),
            Err(trace) => {
                println!("{what}: {trace}");
                broken += 1;
            }
        }
    }
    assert_eq!(broken, 0);
}
