//! A visitor's event stream: the line's frames at the visitor's pace, a heartbeat, and an event when the wait is over.
//!
//! The stream sets no cookie and decides nothing: on `called` the page reloads, and the navigation does the rest. It ends
//! with the wait, with the connection, or with a retry hint when the gate drains.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, ReusableBoxFuture};

use super::budget::Budget;
use super::kind::Pause;
use super::status::{State, claim_in};
use super::text::json;
use crate::room::{Settings, Standing, View, Visitor, Waiting, pace};
use frame::{Event, Feed, Feeds, is_sold_out};
use lookout::{FAR_BACK, LOOKS_WITHIN, Resting};

/// Content type of the stream.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// Most time between two writes.
const HEARTBEAT: Duration = Duration::from_secs(15);
const BEAT: &[u8] = b":\n\n";

/// Within which a line hears that all is sold.
const TELLS_WITHIN: Duration = Duration::from_secs(2);

/// Within which the streams of a gate end after another key signs; looked at with each heartbeat.
const RENEWS_WITHIN: Duration = Duration::from_secs(60);

/// How soon a browser comes back when the connection breaks.
const RETRY_MS: u64 = 3_000;

/// A stream's interface to its connection and to the replica.
pub trait Link: Send + 'static {
    /// Everything written so far has arrived at the visitor's own machine. Never true where that cannot be known.
    fn acknowledged(&self) -> bool;

    /// The visitor is present and a mark is due.
    fn present(&self);

    /// Another key signs than when the stream began: the visitor's ticket is to be signed anew, on the answer to another request.
    fn is_outdated(&self) -> bool;

    /// The reason that stops all lines of this gate, which no view knows; checked at least with each heartbeat.
    fn outage(&self) -> Option<Pause>;
}

/// The body of a `GET /.ropeline/rooms/{room}/events`.
pub struct EventStream<L: Link> {
    /// `None` after the last write.
    step: Option<ReusableBoxFuture<'static, Step<L>>>,
}

/// The bytes to write, and the listener for the next ones; none after the last.
type Step<L> = (Bytes, Option<Listener<L>>);

impl<L: Link> EventStream<L> {
    /// A stream for one visitor with a number. `views` is the replica's; `drain` ends it with a retry hint. Costs nothing
    /// until it is polled; polled, it must be on a runtime with timers.
    #[must_use]
    pub fn new(
        visitor: Visitor,
        views: watch::Receiver<Arc<View>>,
        feeds: &Feeds,
        link: L,
        drain: CancellationToken,
    ) -> Self {
        let listener = Listener::new(visitor, views, feeds, link, drain);
        Self {
            step: Some(ReusableBoxFuture::new(next(listener))),
        }
    }
}

impl<L: Link> Body for EventStream<L> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(step) = &mut self.step else {
            return Poll::Ready(None);
        };
        let (bytes, listener) = ready!(step.poll(cx));
        match listener {
            Some(listener) => step.set(next(listener)),
            None => self.step = None,
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.step.is_none()
    }
}

struct Listener<L> {
    visitor: Visitor,
    views: watch::Receiver<Arc<View>>,
    feed: Arc<Feed>,
    /// Of a stream that has been far back.
    resting: Option<Arc<Resting>>,
    link: L,
    drain: CancellationToken,
    budget: Budget,
    /// The hash of the last event sent.
    sent: Option<u64>,
    /// No frame before this.
    frame_at: Instant,
    /// A heartbeat when nothing has been written until then.
    beat_at: Instant,
    /// A view that comes sooner is looked at then, unless the lookout looks.
    looks_at: Instant,
    /// When the visitor hears that all is sold.
    tells_at: Option<Instant>,
    /// When the stream ends so that the visitor comes for another ticket.
    renews_at: Option<Instant>,
}

/// The next step of the stream.
enum Look {
    Write(Bytes),
    /// The last word.
    Over(Bytes),
    Rest(Instant),
}

async fn next<L: Link>(mut listener: Listener<L>) -> Step<L> {
    loop {
        if listener.drain.is_cancelled() || listener.views.has_changed().is_err() {
            return (retry(listener.visitor.number.n), None);
        }
        let until = match listener.look(Instant::now()) {
            Look::Write(bytes) => return (bytes, Some(listener)),
            Look::Over(bytes) => return (bytes, None),
            Look::Rest(until) => until,
        };
        let (looks_at, views, resting) = (listener.looks_at, &mut listener.views, listener.resting.as_ref());
        let changed = async {
            if let Some(resting) = resting.filter(|resting| resting.rests()) {
                return resting.woken().await;
            }
            sleep_until(looks_at).await;
            // An error is one of the next round too.
            let _ = views.changed().await;
        };
        tokio::select! {
            () = changed => {}
            () = sleep_until(until) => {}
            () = listener.drain.cancelled() => {}
        }
    }
}

impl<L: Link> Listener<L> {
    fn new(
        visitor: Visitor,
        views: watch::Receiver<Arc<View>>,
        feeds: &Feeds,
        link: L,
        drain: CancellationToken,
    ) -> Self {
        let now = Instant::now();
        let feed = feeds.feed(&visitor.room, &visitor.line, visitor.lane);
        let budget = Budget::new(now);
        Self {
            visitor,
            views,
            feed,
            resting: None,
            link,
            drain,
            budget,
            sent: None,
            frame_at: now,
            beat_at: now + HEARTBEAT,
            looks_at: now,
            tells_at: None,
            renews_at: None,
        }
    }

    fn look(&mut self, now: Instant) -> Look {
        if let Some(resting) = &self.resting {
            resting.heed_nothing();
        }
        if self.renews(now) {
            return Look::Over(retry(self.visitor.number.n));
        }
        let view = self.views.borrow_and_update().clone();
        let (lane, number) = (self.visitor.lane, self.visitor.number);
        let room = view.rooms.get(&self.visitor.room);
        let (Some(frame), Some(room)) = (self.feed.frame(&view, self.link.outage()), room) else {
            return over(State::None);
        };
        let Some(line) = room.line(&self.visitor.line) else {
            return over(State::None);
        };
        let waiting = match line.standing(lane, number, view.clock) {
            Standing::Waiting(waiting) => waiting,
            Standing::Called(called) => return called_over(claim_in(&called, view.clock)),
            Standing::Inside(_) => return over(State::Inside),
            Standing::Late => return over(State::Late),
            Standing::Ended => return over(State::Ended),
            // Healing: the ticket is still to be taken back. The page asks for itself when it hears nothing.
            Standing::Unknown => {
                self.looks_at = now + LOOKS_WITHIN;
                return self.beat(&room.settings, true, now).unwrap_or(Look::Rest(self.beat_at));
            }
        };
        // PERF: where people join all the time there are hundreds of views a second.
        self.looks_at = now + Duration::from_millis(waiting.ahead.min(FAR_BACK));
        let far_back = waiting.ahead >= FAR_BACK;
        if is_sold_out(room, line) {
            return self.tells(now);
        }
        self.tells_at = None;
        let beyond = !line.is_reachable(lane, waiting.ahead);
        let event = frame.event(line.place(lane, number), beyond && !room.is_undrawn());
        if self.sent != Some(event.hash) {
            let due = self.budget.affords(event.bytes.len(), self.frame_at.max(now));
            if due <= now {
                return self.send(event, &room.settings, &waiting, now);
            }
            if far_back {
                self.resting().heed_the_turn();
            }
            let rest = Look::Rest(due.min(self.beat_at));
            return self.beat(&room.settings, waiting.mark_due, now).unwrap_or(rest);
        }
        if far_back {
            self.resting().heed_all_but(frame.index);
        }
        self.beat(&room.settings, waiting.mark_due, now)
            .unwrap_or(Look::Rest(self.beat_at))
    }

    fn resting(&mut self) -> &Resting {
        self.resting.get_or_insert_with(|| self.feed.join(self.visitor.number))
    }

    /// Whether it is time to end for another ticket: not for all streams at once.
    fn renews(&mut self, now: Instant) -> bool {
        if !self.link.is_outdated() {
            return false;
        }
        let spread = RENEWS_WITHIN.mul_f64(f64::from(self.jitter()) / 65_536.0);
        *self.renews_at.get_or_insert(now + spread) <= now
    }

    /// All is sold: each stream says so at once, except where a whole line would ask for its pages together.
    fn tells(&mut self, now: Instant) -> Look {
        let spread = TELLS_WITHIN.mul_f64(f64::from(self.jitter()) / 65_536.0);
        let at = *self.tells_at.get_or_insert(now + spread);
        if at <= now {
            over(State::SoldOut)
        } else {
            Look::Rest(at)
        }
    }

    fn send(&mut self, event: &Event, settings: &Settings, waiting: &Waiting, now: Instant) -> Look {
        let bytes = match self.sent {
            Some(_) => event.bytes.clone(),
            None => [format!("retry: {RETRY_MS}\n").as_bytes(), &event.bytes]
                .concat()
                .into(),
        };
        self.sent = Some(event.hash);
        self.frame_at = now + Duration::from_millis(pace::refresh_ms(settings, Some(waiting.ahead), self.jitter()));
        self.write(bytes, settings, waiting.mark_due, now)
    }

    /// The heartbeat, if it is time.
    fn beat(&mut self, settings: &Settings, mark_due: bool, now: Instant) -> Option<Look> {
        (self.beat_at <= now).then(|| self.write(Bytes::from_static(BEAT), settings, mark_due, now))
    }

    /// The bytes before have had their time to arrive: if they did, the visitor is present.
    fn write(&mut self, bytes: Bytes, settings: &Settings, mark_due: bool, now: Instant) -> Look {
        if mark_due && self.link.acknowledged() {
            self.link.present();
        }
        self.budget.pay(bytes.len(), now);
        self.beat_at = now + heartbeat(settings);
        Look::Write(bytes)
    }

    /// The same for a visitor's whole wait, and spread evenly over visitors.
    fn jitter(&self) -> u16 {
        let [_, _, high, low] = self
            .visitor
            .number
            .n
            .wrapping_mul(0x9e37_79b1)
            .rotate_left(16)
            .to_be_bytes();
        u16::from_be_bytes([high, low])
    }
}

/// Several in each generation, so that one lost does no harm.
fn heartbeat(settings: &Settings) -> Duration {
    HEARTBEAT.min(Duration::from_millis((settings.grace_ms / 8).max(250)))
}

fn over(state: State) -> Look {
    last_word(state, None)
}

fn called_over(claim_in: u64) -> Look {
    last_word(State::Called, Some(claim_in))
}

fn last_word(state: State, claim_in: Option<u64>) -> Look {
    #[derive(Serialize)]
    struct Over {
        state: State,
        #[serde(skip_serializing_if = "Option::is_none")]
        claim_in: Option<u64>,
    }
    Look::Over(Bytes::from(format!(
        "event: called\ndata: {}\n\n",
        json(&Over { state, claim_in })
    )))
}

/// The hint that ends a stream: come back in one to five seconds, not all at once.
fn retry(n: u32) -> Bytes {
    Bytes::from(format!("retry: {}\n\n", 1_000 + n.wrapping_mul(0x9e37_79b1) % 4_000))
}

pub mod frame;
pub mod lookout;
#[cfg(test)]
mod tests;
