//! The event stream's frame: one picture of a line for all its streams.
//!
//! A frame says which places have a present visitor, and the page counts those before its own. It is encoded once
//! per published view, in a few widths, so that a page near the front does not get the whole line.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Serialize;
use tokio::sync::watch;

use super::lookout::{FAR_BACK, Lookout, Resting};
use crate::pages::kind::{Pause, Stall};
use crate::pages::text::json;
use crate::room::{Clock, Estimate, Frame, LaneId, LineName, LineView, Number, RoomName, RoomView, Standing, View};

/// Places in a run of the room's frames: exact bits for the first, one count for each that follows.
pub const RUN: u64 = 4_096;

/// Places in a run of a width that shows the first of those: a visitor so far back is told a place that may be off by some.
const SHORT_RUN: u64 = 8 * SHORT_BYTES as u64;
const SHORT_BYTES: usize = 8;

/// How much of a line a width shows, and how exactly. The widest shows 33 million places; visitors behind them get their place by
/// polling.
const WIDTHS: [Width; 7] = [
    Width::Bits { bytes: 32 },
    Width::Bits { bytes: 64 },
    Width::Bits { bytes: 128 },
    Width::Short,
    Width::Long { runs: 16 },
    Width::Long { runs: 256 },
    Width::Long { runs: 8_193 },
];

/// What a width consists of.
#[derive(Clone, Copy)]
enum Width {
    /// A bit for each place.
    Bits { bytes: usize },
    /// A count for each short run of the first [`RUN`] places.
    Short,
    /// A count for each run.
    Long { runs: usize },
}

/// One encoded event and a hash of its content, apart from its id and from how many were called lately.
#[derive(Clone, Debug)]
pub struct Event {
    pub bytes: Bytes,
    pub hash: u64,
}

/// A line's frame, encoded as widely as some stream needed.
#[derive(Debug)]
pub struct StreamFrame {
    /// Which of its feed's it is.
    pub index: u64,
    id: String,
    scalars: Scalars,
    frame: Frame,
    points: Vec<(u64, Estimate)>,
    /// Goes with a frame that has other news, and is none by itself: it changes all the time.
    let_in: Option<u64>,
    events: [OnceLock<Event>; WIDTHS.len()],
    /// The same for those whom the stock cannot reach as things stand.
    beyond: [OnceLock<Event>; WIDTHS.len()],
    /// The stock left, and for how many in each lane: a visitor beyond that cannot get a piece.
    reach: Option<(u32, Vec<u64>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Scalars {
    waiting: u64,
    revision: u64,
    pause: Option<Pause>,
}

/// Read by `static/page.js`, as is `let_in`.
#[derive(Serialize)]
struct Data<'a> {
    waiting: u64,
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Stall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumes: Option<u32>,
    /// `[ahead, low, high]` in rising order; places between two are between their seconds.
    estimate: Vec<(u64, u32, u32)>,
    base: u64,
    /// Base64 of the bits.
    #[serde(skip_serializing_if = "str::is_empty")]
    bits: &'a str,
    /// Base64 of the counts, two bytes each, the low one first.
    #[serde(skip_serializing_if = "str::is_empty")]
    counts: &'a str,
    /// Places that each of them is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<u64>,
    /// The first place that the frame does not cover; absent when it shows the whole line.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
}

impl StreamFrame {
    /// The frame of one lane of a line, as `view` has it, in which no visitor is called because of `pause`.
    #[must_use]
    pub fn of(view: &View, room: &RoomView, line: &LineView, lane: LaneId, pause: Option<Pause>) -> Self {
        let told = pause.is_none_or(|(stall, _)| !stall.pauses());
        let waiting = line.waiting(lane);
        let aheads = std::iter::successors(Some(1_u64), |ahead| ahead.checked_mul(4));
        let aheads = std::iter::once(0)
            .chain(aheads.take_while(|&ahead| ahead < waiting))
            .chain([waiting]);
        Self {
            index: 0,
            id: format!("{}-{}", view.position.epoch, view.position.sequence),
            scalars: Scalars {
                waiting,
                revision: room.announced(),
                pause,
            },
            frame: line.frame(lane),
            points: aheads
                .filter(|_| told)
                .filter_map(|ahead| Some((ahead, line.estimate(lane, ahead, view.clock)?)))
                .collect(),
            let_in: let_in(room, line, pause.map(|(stall, _)| stall), view.clock),
            events: Default::default(),
            beyond: Default::default(),
            reach: line.figures.left().map(|left| (left, line.waiting_by_lane())),
        }
    }

    /// A stream that has this frame would get no news by the other.
    fn says_the_same(&self, other: &Self) -> bool {
        self.scalars == other.scalars
            && self.reach == other.reach
            && self.points == other.points
            && self.frame == other.frame
    }

    /// The narrowest event that shows everybody before `place`, for one whom the stock can reach or cannot.
    pub fn event(&self, place: Option<u64>, beyond: bool) -> &Event {
        let last = WIDTHS.len() - 1;
        let shows = |width: &Width| place.is_some_and(|place| place <= self.frame.base.saturating_add(width.places()));
        let width = WIDTHS.iter().position(shows).unwrap_or(last);
        let events = if beyond { &self.beyond } else { &self.events };
        events[width].get_or_init(|| self.encode(width, beyond))
    }

    fn encode(&self, width: usize, beyond: bool) -> Event {
        // Who is shown this width is behind all whom the one before shows.
        let before = width
            .checked_sub(1)
            .map_or(0, |narrower| self.present(WIDTHS[narrower].places()));
        let width = WIDTHS[width];
        let whole = match width {
            Width::Bits { bytes } => self.frame.counts.is_empty() && self.frame.bits.len() <= bytes,
            Width::Short => self.frame.counts.is_empty(),
            Width::Long { runs } => self.frame.counts.len() < runs,
        };
        let (bits, counts, run) = self.shown(width);
        let data = json(&Data {
            waiting: self.scalars.waiting,
            revision: revision(self.scalars.revision, beyond),
            why: self.scalars.pause.map(|(stall, _)| stall),
            resumes: self.scalars.pause.and_then(|(_, resumes_secs)| resumes_secs),
            estimate: if beyond {
                Vec::new()
            } else {
                points_between(&self.points, before, self.present(width.places()))
            },
            base: self.frame.base,
            bits: &bits,
            counts: &counts,
            run,
            end: (!whole).then(|| self.frame.base.saturating_add(width.places())),
        });
        let mut hasher = DefaultHasher::new();
        hasher.write(data.as_bytes());
        let data = match (self.let_in, data.strip_suffix('}')) {
            (Some(calls), Some(rest)) => format!("{rest},\"let_in\":{calls}}}"),
            _ => data,
        };
        Event {
            bytes: Bytes::from(format!("id: {}\nevent: status\ndata: {data}\n\n", self.id)),
            hash: hasher.finish(),
        }
    }

    /// Bits or counts as they are sent, and the places of a count.
    fn shown(&self, width: Width) -> (String, String, Option<u64>) {
        let Frame { bits, counts, .. } = &self.frame;
        let (run, counts): (_, Vec<u16>) = match width {
            Width::Bits { bytes } => return (STANDARD.encode(&bits[..bits.len().min(bytes)]), String::new(), None),
            Width::Short => (SHORT_RUN, bits.chunks(SHORT_BYTES).map(ones).collect()),
            Width::Long { runs } => (
                RUN,
                std::iter::once(ones(bits))
                    .chain(counts.iter().copied())
                    .take(runs)
                    .collect(),
            ),
        };
        let bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
        (String::new(), STANDARD.encode(bytes), Some(run))
    }

    /// The present among the first `places`.
    fn present(&self, places: u64) -> u64 {
        let Frame { bits, counts, .. } = &self.frame;
        let bytes = usize::try_from(places / 8).unwrap_or(usize::MAX).min(bits.len());
        let runs = usize::try_from((places / RUN).saturating_sub(1))
            .unwrap_or(usize::MAX)
            .min(counts.len());
        u64::from(ones(&bits[..bytes])) + counts[..runs].iter().copied().map(u64::from).sum::<u64>()
    }
}

impl Width {
    fn places(self) -> u64 {
        match self {
            Self::Bits { bytes } => bytes as u64 * 8,
            Self::Short => RUN,
            Self::Long { runs } => runs as u64 * RUN,
        }
    }
}

/// At most [`RUN`].
fn ones(bits: &[u8]) -> u16 {
    bits.iter()
        .map(|byte| u16::try_from(byte.count_ones()).unwrap_or_default())
        .sum()
}

/// A figure whose change makes a page ask: the room's revision, or another figure for visitors whom the stock does not reach,
/// so that a visitor whose state changes asks once.
pub fn revision(of_room: u64, beyond: bool) -> u64 {
    of_room + if beyond { BEYOND } else { 0 }
}

/// Above any revision, and exact in a browser with one added.
const BEYOND: u64 = 1 << 50;

/// The points that somebody needs who has `least` to `most` before them: those between, and one on each side.
fn points_between(points: &[(u64, Estimate)], least: u64, most: u64) -> Vec<(u64, u32, u32)> {
    let first = points.partition_point(|(ahead, _)| *ahead <= least).saturating_sub(1);
    let below = points.partition_point(|(ahead, _)| *ahead < most);
    let needed = points.iter().take(below + 1).skip(first);
    needed
        .map(|(ahead, estimate)| (*ahead, estimate.low_secs, estimate.high_secs))
        .collect()
}

/// The newest frame of one lane of a line, shared by its streams.
#[derive(Debug)]
pub struct Feed {
    key: Key,
    newest: Mutex<Option<Newest>>,
    lookout: Lookout,
}

type Key = (RoomName, LineName, LaneId);

#[derive(Debug)]
struct Newest {
    room: Arc<RoomView>,
    line: Arc<LineView>,
    pause: Option<Pause>,
    frame: Arc<StreamFrame>,
}

impl Feed {
    /// The frame for `view`: the one before, if its content has not changed. `outage` is the reason that stops the whole
    /// gate, which no view knows. `None` when the line is gone.
    pub fn frame(&self, view: &View, outage: Option<Pause>) -> Option<Arc<StreamFrame>> {
        let (room, line, lane) = (&self.key.0, &self.key.1, self.key.2);
        let room = view.rooms.get(room)?;
        let line = room.line(line)?;
        let pause = outage.or_else(|| Stall::pause(view, room, line, view.time));
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |newest: &Newest| {
            Arc::ptr_eq(&newest.line, line) && (newest.room.revision, newest.pause) == (room.revision, pause)
        };
        if let Some(newest) = newest.as_ref().filter(|newest| same(newest)) {
            return Some(newest.frame.clone());
        }
        let mut frame = StreamFrame::of(view, room, line, lane, pause);
        let frame = match newest.take() {
            Some(old) if old.frame.says_the_same(&frame) && old.frame.let_in == frame.let_in => old.frame,
            // For streams that begin: the others have no news.
            Some(old) if old.frame.says_the_same(&frame) => {
                frame.index = old.frame.index;
                Arc::new(frame)
            }
            old => {
                frame.index = old.map_or(0, |old| old.frame.index + 1);
                Arc::new(frame)
            }
        };
        *newest = Some(Newest {
            room: room.clone(),
            line: line.clone(),
            pause,
            frame: frame.clone(),
        });
        Some(frame)
    }

    /// One more stream that is looked for while it rests.
    pub fn join(&self, number: Number) -> Arc<Resting> {
        self.lookout.join(number)
    }

    /// Looks for all of its streams that rest, as `view` has the line.
    async fn look_out(&self, view: &View, outage: Option<Pause>) {
        let (room, line, lane) = (view.rooms.get(&self.key.0), &self.key.1, self.key.2);
        let line = room.and_then(|room| room.line(line).filter(|line| !is_sold_out(room, line)));
        let there = line.zip(self.frame(view, outage));
        let frame = there.as_ref().map_or(0, |(_, frame)| frame.index);
        let stays = |number| {
            there.as_ref().is_some_and(|(line, _)| {
                let standing = line.standing(lane, number, view.clock);
                matches!(standing, Standing::Waiting(waiting) if waiting.ahead >= FAR_BACK)
            })
        };
        let mut at = Some(0);
        while let Some(from) = at {
            at = self.lookout.look(from, frame, stays);
            tokio::task::yield_now().await;
        }
    }
}

/// How often it was a visitor's turn lately, as it is shown: not while nobody can be called, nor while virtual visitors are among them.
#[must_use]
pub fn let_in(room: &RoomView, line: &LineView, stall: Option<Stall>, now: Clock) -> Option<u64> {
    let told = !stall.is_some_and(Stall::pauses) && room.rehearsal.is_none();
    told.then(|| line.calls_lately(now))
}

/// All waiting is over.
pub fn is_sold_out(room: &RoomView, line: &LineView) -> bool {
    line.figures.is_sold_out() && room.early().is_none()
}

/// The feeds that streams are listening to; one without a listener is forgotten.
#[derive(Default, Debug)]
pub struct Feeds {
    feeds: Mutex<HashMap<Key, Weak<Feed>>>,
}

impl Feeds {
    pub fn feed(&self, room: &RoomName, line: &LineName, lane: LaneId) -> Arc<Feed> {
        let key = (room.clone(), line.clone(), lane);
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = feeds.get(&key).and_then(Weak::upgrade) {
            return feed;
        }
        // PERF: before the map grows, so that forgetting costs no more than growing does.
        if feeds.len() == feeds.capacity() {
            feeds.retain(|_, feed| feed.strong_count() > 0);
        }
        let feed = Arc::new(Feed {
            key: key.clone(),
            newest: Mutex::new(None),
            lookout: Lookout::default(),
        });
        feeds.insert(key, Arc::downgrade(&feed));
        feed
    }

    /// Looks for all streams that rest, and wakes those to whom there is something to tell: to be called each [`crate::pages::LOOKS_WITHIN`].
    pub async fn look_out(&self, views: &watch::Receiver<Arc<View>>, outage: impl Fn() -> Option<Pause>) {
        let feeds: Vec<_> = {
            let feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
            feeds.values().filter_map(Weak::upgrade).collect()
        };
        for feed in feeds.iter().filter(|feed| !feed.lookout.is_empty()) {
            let view = Arc::clone(&views.borrow());
            feed.look_out(&view, outage()).await;
        }
    }
}

#[cfg(test)]
pub mod tests;
