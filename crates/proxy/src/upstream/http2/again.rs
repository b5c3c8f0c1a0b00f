//! A request's body that may have to be sent again.
//!
//! An upstream that ends a connection, or refuses a stream, says that it has not processed a request (RFC 9113, section 8.7);
//! then any request may be sent again, with its body. The sent part of the body is kept until the answer's head arrives, up
//! to a bound.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use super::joined::{Joined, PIECE_BYTES, is_small, longer};
use crate::client::request_body::RequestBody;
use crate::error::BoxError;
use crate::lock::held;
use crate::wire::pace::Pace;

/// One try's reading of a body. A later try's first reading ends an earlier one's.
pub(crate) struct Again {
    tale: Arc<Mutex<Tale>>,
    turn: u32,
    /// Frames read of those that are kept.
    at: usize,
}

/// State that the tries share.
struct Tale {
    body: Joined,
    /// The data read so far; none once it exceeds the bound, or is no longer wanted.
    told: Option<Vec<Told>>,
    bytes: usize,
    /// The try that reads.
    turn: u32,
    /// Records when data that was read waits to be taken.
    pace: Arc<Pace>,
}

#[derive(Clone)]
enum Told {
    /// Small pieces that did not come together.
    Small(BytesMut),
    Data(Bytes),
    Trailers(HeaderMap),
}

/// A look at a body from the side.
pub(crate) struct Upload(Arc<Mutex<Tale>>);

impl Again {
    pub(crate) fn new(body: RequestBody) -> Self {
        let tale = Tale {
            body: Joined::new(body),
            told: Some(Vec::new()),
            bytes: 0,
            turn: 0,
            pace: Arc::new(Pace::new()),
        };
        Self {
            tale: Arc::new(Mutex::new(tale)),
            turn: 0,
            at: 0,
        }
    }

    /// The next try's.
    pub(crate) fn next(&self) -> Self {
        Self {
            tale: Arc::clone(&self.tale),
            turn: self.turn + 1,
            at: 0,
        }
    }

    /// Whether all that was read is still here.
    pub(crate) fn is_whole(&self) -> bool {
        held(&self.tale).told.is_some()
    }

    pub(crate) fn upload(&self) -> Upload {
        Upload(Arc::clone(&self.tale))
    }
}

impl Tale {
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(frame) = ready!(self.body.poll_frame(cx)) else {
            return Poll::Ready(None);
        };
        let Ok(frame) = frame else {
            // h2 treats this error as a cancelled request; any other would blame the gate.
            return Poll::Ready(Some(Err(called_off())));
        };
        self.keep(&frame);
        if !self.body.is_end_stream() {
            self.pace.offer();
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn keep(&mut self, frame: &Frame<Bytes>) {
        self.bytes += frame.data_ref().map_or(0, Bytes::len);
        if self.bytes > KEPT_BYTES {
            self.told = None;
        }
        let Some(told) = &mut self.told else { return };
        if let Some(data) = frame.data_ref() {
            match told.last_mut() {
                Some(Told::Small(last)) if last.len() + data.len() <= PIECE_BYTES => last.extend_from_slice(data),
                _ if is_small(data) => told.push(Told::Small(BytesMut::from(&data[..]))),
                _ => told.push(Told::Data(data.clone())),
            }
        } else if let Some(trailers) = frame.trailers_ref() {
            told.push(Told::Trailers(trailers.clone()));
        }
    }
}

impl Body for Again {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let mut tale = held(&this.tale);
        if tale.turn > this.turn {
            return Poll::Ready(Some(Err(called_off())));
        }
        tale.turn = this.turn;
        tale.pace.taken();
        if let Some(told) = tale.told.as_ref().and_then(|told| told.get(this.at)).cloned() {
            this.at += 1;
            tale.pace.offer();
            return Poll::Ready(Some(Ok(told.into())));
        }
        let read = ready!(tale.read(cx));
        this.at = tale.told.as_ref().map_or(0, Vec::len);
        Poll::Ready(read)
    }

    fn is_end_stream(&self) -> bool {
        let tale = held(&self.tale);
        tale.body.is_end_stream() && tale.told.as_ref().is_none_or(|told| self.at >= told.len())
    }

    fn size_hint(&self) -> SizeHint {
        let tale = held(&self.tale);
        let again = tale.told.iter().flatten().skip(self.at).map(Told::len).sum();
        longer(&tale.body.size_hint(), again)
    }
}

impl Told {
    fn len(&self) -> usize {
        match self {
            Self::Small(data) => data.len(),
            Self::Data(data) => data.len(),
            Self::Trailers(_) => 0,
        }
    }
}

impl From<Told> for Frame<Bytes> {
    fn from(told: Told) -> Self {
        match told {
            Told::Small(data) => Self::data(data.freeze()),
            Told::Data(data) => Self::data(data),
            Told::Trailers(trailers) => Self::trailers(trailers),
        }
    }
}

impl Upload {
    /// The answer has arrived: the request is not sent again.
    pub(super) fn forget(&self) {
        held(&self.0).told = None;
    }

    /// Ends when the upstream has taken no data of the body for `patience`. The last piece, once h2 holds it, has other
    /// deadlines.
    pub(super) async fn stalled(&self, patience: Duration) {
        let pace = Arc::clone(&held(&self.0).pace);
        pace.stalled(|| patience).await;
    }
}

fn called_off() -> BoxError {
    Box::new(h2::Error::from(h2::Reason::CANCEL))
}

/// Most bytes of a body that are kept for another try.
const KEPT_BYTES: usize = 64 * 1024;
