//! A look at the store beside the log: how it is set, how fast it answers, how its clock stands to ours, and the notes that gates
//! leave each other.
//!
//! Each look is a connection of its own that ends with it, so that it neither waits for the log's nor keeps it waiting. It needs
//! no right that the log does not need.

use std::time::Duration;

use ::redis::{Cmd, cmd};

use super::check::{self, Checked};
use super::fault::Fault;
use super::keys::Keys;
use super::link::Link;
use super::route::Route;
use super::script::Scripts;
use super::{Options, RedisUrl, parse};
use crate::store::Unavailable;
use crate::time;
use ropeline_ids::GateId;

/// A store as it answers now.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Such as `Redis 7.0.15`.
    pub server: String,
    /// Settings that may be meant.
    pub warnings: Vec<String>,
    /// The median of some round trips.
    pub round_trip: Duration,
    /// How far this machine's clock is ahead of the store's, in milliseconds; exact to half a round trip.
    pub ahead_ms: i64,
    /// The notes of the gates asked for, in their order; `None` where one has left none of late.
    pub notes: Vec<Option<String>>,
}

/// Looks at a store, and reads the notes of these gates.
///
/// # Errors
/// When it cannot be reached, or cannot be used for the log.
pub fn examine(url: &RedisUrl, options: Options, gates: &[GateId]) -> Result<Examined, Unavailable> {
    let (mut link, keys) = connect(url, options)?;
    let Checked { server, warnings } = check::look(&mut link, url, &Scripts::new(), &keys)?;
    let mut clocks = Vec::new();
    for _ in 0..ROUND_TRIPS {
        clocks.push(clock(&mut link)?);
    }
    clocks.sort_by_key(|clock| clock.round_trip);
    let reads: Vec<Cmd> = gates.iter().take(MOST_NOTES).map(|gate| read(&keys, *gate)).collect();
    let replies = if reads.is_empty() {
        Vec::new()
    } else {
        link.ask(&reads)?
    };
    let notes = replies
        .into_iter()
        .map(|reply| parse::<Option<String>>(Some(reply)).ok().flatten());
    Ok(Examined {
        server,
        warnings,
        round_trip: clocks[ROUND_TRIPS / 2].round_trip,
        ahead_ms: clocks[0].ahead_ms,
        notes: notes
            .map(|note| note.filter(|note| note.len() <= LONGEST_NOTE))
            .collect(),
    })
}

/// Leaves a note of this gate for the others, for [`NOTE_LASTS`]. It is made of how far this machine's clock is ahead of the store's, in
/// milliseconds.
///
/// # Errors
/// When the store does not take it.
pub fn leave_note(
    url: &RedisUrl,
    options: Options,
    gate: GateId,
    note: impl FnOnce(i64) -> String,
) -> Result<(), Unavailable> {
    let (mut link, keys) = connect(url, options)?;
    let ahead_ms = clock(&mut link)?.ahead_ms;
    let mut set = cmd("SET");
    set.arg(keys.note(gate))
        .arg(note(ahead_ms))
        .arg("EX")
        .arg(NOTE_LASTS.as_secs());
    link.ask(&[set])?;
    Ok(())
}

fn connect(url: &RedisUrl, options: Options) -> Result<(Link, Keys), Fault> {
    let keys = Keys::new(&options.prefix, fastrand::u64(..));
    let mut route = Route::new(url.clone(), options.dial(url), keys.head.clone());
    let link = route.connect()?;
    Ok((link, keys))
}

fn read(keys: &Keys, gate: GateId) -> Cmd {
    cmd("GET").arg(keys.note(gate)).to_owned()
}

struct ClockReading {
    round_trip: Duration,
    ahead_ms: i64,
}

fn clock(link: &mut Link) -> Result<ClockReading, Fault> {
    let (begun, wall) = (time::uptime(), time::wall());
    let replies = link.ask(&[cmd("TIME")])?;
    let round_trip = time::uptime().saturating_sub(begun);
    let (secs, micros): (u64, u64) = parse(replies.into_iter().next()).map_err(|odd| Fault::Passing(odd.reason))?;
    let store_ms = secs.saturating_mul(1_000).saturating_add(micros / 1_000);
    let half_ms = u64::try_from(round_trip.as_millis() / 2).unwrap_or(u64::MAX);
    let own_ms = wall.0.saturating_add(half_ms);
    let ahead_ms = i64::try_from(own_ms.abs_diff(store_ms)).unwrap_or(i64::MAX);
    Ok(ClockReading {
        round_trip,
        ahead_ms: if own_ms < store_ms { -ahead_ms } else { ahead_ms },
    })
}

/// Round trips of which the median counts, and the shortest for the clock.
const ROUND_TRIPS: usize = 5;

/// How long a note lasts: some of the intervals in which gates leave them.
pub const NOTE_LASTS: Duration = Duration::from_secs(120);

/// Most gates whose notes are read.
const MOST_NOTES: usize = 64;

/// Most bytes of a note.
const LONGEST_NOTE: usize = 16 * 1024;
