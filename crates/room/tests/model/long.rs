//! The long run, for `scripts/model`: larger worlds, one after the other. Each may take a part of the time that is left, so that the
//! last ones have what the first ones did not need.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::search::{Bound, Found, Search};
use crate::world::{Broken, Faults, Size};
use crate::{ACTIVE, FAULTS, KINDS, NO_FAULTS, SMALL, timed};

/// As much memory as a search may take, as it counts it: with what the allocator adds, less than 12 GiB.
const BYTES: usize = 10 << 30;

/// A world that can perhaps be exhausted may take such a part of the time that is left.
const PART: usize = 5;

/// What is looked at: first the worlds that can perhaps be exhausted, the soonest first, then the others.
fn sizes() -> (Vec<Size>, Vec<Size>) {
    let with = |size: Size, faults| Size { faults, ..size };
    let one = Size { visitors: 1, ..SMALL };
    let two_gates = Size {
        gates: 2,
        visitors: 3,
        ..SMALL
    };
    let two_slots = Size {
        slots: 2,
        joins: 2,
        ..two_gates
    };
    let four = Size {
        visitors: 4,
        ..two_slots
    };
    let two_gates_active = Size {
        rights: ACTIVE.rights,
        ..two_gates
    };
    let four_active = Size {
        rights: Some(3),
        ..four
    };
    let [crash, reply, cut, tokens, log] = KINDS.map(|(_, faults)| with(SMALL, faults));
    let first = [
        SMALL,
        tokens,
        cut,
        reply,
        ACTIVE,
        crash,
        with(SMALL, timed(NO_FAULTS)),
        log,
    ];
    let others = [
        with(one, FAULTS),
        with(SMALL, FAULTS),
        with(two_gates, timed(NO_FAULTS)),
        with(four, timed(NO_FAULTS)),
        with(two_slots, FAULTS),
        with(ACTIVE, FAULTS),
        with(two_gates_active, timed(NO_FAULTS)),
        with(four_active, FAULTS),
    ];
    (first.into(), others.into())
}

/// A world in words, without the stops of time.
fn words(size: Size) -> String {
    let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let slots = usize::try_from(size.slots).unwrap();
    let slots = match size.rights {
        None => many(slots, "slot"),
        Some(rights) => format!("{} of {rights} rights", many(slots, "active slot")),
    };
    let untimed = |faults| Faults {
        early: 0,
        late: 0,
        ..faults
    };
    let kind = KINDS.into_iter().find(|(_, faults)| *faults == untimed(size.faults));
    let faults = match kind {
        Some((what, _)) => what,
        None if untimed(size.faults) == NO_FAULTS => "no faults",
        None => "one fault of each kind",
    };
    let joins = if size.joins == 1 { "" } else { ", all join twice" };
    let (gates, visitors) = (many(size.gates, "gate"), many(size.visitors, "visitor"));
    format!("{gates}, {visitors}, {slots}, {faults}{joins}")
}

/// A row of the table in docs/reports/model.md.
fn row(size: Size, found: Found, took: Duration) -> String {
    let Found {
        states,
        steps,
        depth,
        end,
        longest,
        followed,
    } = found;
    let Faults { early, late, .. } = size.faults;
    let (words, end, secs) = (words(size), format!("{end:?}").to_lowercase(), took.as_secs());
    format!("| {words} | {early}, {late} | {states} | {steps} | {depth} | {end} | {followed} | {longest} | {secs} s |")
}

#[test]
#[ignore = "for minutes or hours: scripts/model"]
#[expect(clippy::disallowed_methods, reason = "how long it may take, and which worlds")]
fn larger_worlds_as_deep_as_time_allows() {
    let minutes = std::env::var("ROPELINE_MINUTES")
        .ok()
        .and_then(|minutes| minutes.parse().ok());
    let mut left = Duration::from_secs(60 * minutes.unwrap_or(1));
    println!("| world | just before, after | states | steps | depth | ended by | followed | served after | time |");
    let mut broken = 0;
    let (mut first, mut others) = sizes();
    let wanted = std::env::var("ROPELINE_WORLDS").unwrap_or_default();
    first.retain(|size| words(*size).contains(&wanted));
    others.retain(|size| words(*size).contains(&wanted));
    let parts = vec![PART; first.len()].into_iter().chain((1..=others.len()).rev());
    for (part, size) in parts.zip(first.into_iter().chain(others)) {
        let began = Instant::now();
        let found = run(size, left / u32::try_from(part).unwrap());
        let took = began.elapsed();
        left = left.saturating_sub(took);
        match found {
            Ok(found) => println!("{}", row(size, found, took)),
            Err(trace) => {
                println!("{}: {trace}", words(size));
                broken += 1;
            }
        }
    }
    assert_eq!(broken, 0);
}

fn run(size: Size, share: Duration) -> Result<Found, String> {
    let over = Arc::new(AtomicBool::new(false));
    let (done, ends) = channel::<()>();
    let clock = Arc::clone(&over);
    let timer = std::thread::spawn(move || {
        if ends.recv_timeout(share) == Err(RecvTimeoutError::Timeout) {
            clock.store(true, Ordering::Relaxed);
        }
    });
    let bound = Bound {
        bytes: BYTES,
        ..Bound::NONE
    };
    let found = Search::new(size, Broken::Nothing).run(bound, || !over.load(Ordering::Relaxed));
    drop(done);
    timer.join().unwrap();
    found
}
