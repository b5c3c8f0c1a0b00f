//! The request's body on its way to the shop: trailers cleaned, and held back while the client waits for `100 Continue`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::Request;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::hygiene;
use super::request_body::{BodyError, RequestBody};

/// What hyper's client sends.
pub(super) struct Sent {
    body: Option<RequestBody>,
    hold: Option<Pin<Box<Hold>>>,
}

/// Until the shop says `100 Continue`, or has kept silent long enough (RFC 9110, section 10.1.1: a client may not wait
/// for ever, and neither may we on its behalf).
struct Hold {
    word: Pin<Box<WaitForCancellationFutureOwned>>,
    patience: Pin<Box<Sleep>>,
}

impl Sent {
    /// No body, for requests that have none: these may be sent twice.
    pub(super) fn nothing() -> Self {
        Self { body: None, hold: None }
    }

    pub(super) fn new(body: RequestBody) -> Self {
        Self {
            body: Some(body),
            hold: None,
        }
    }

    /// Holds the request's body back until its interim answer.
    pub(super) fn await_continue(request: &mut Request<Self>, patience: Duration) {
        let word = CancellationToken::new();
        let hold = Hold {
            word: Box::pin(word.clone().cancelled_owned()),
            patience: Box::pin(sleep(patience)),
        };
        request.body_mut().hold = Some(Box::pin(hold));
        hyper::ext::on_informational(request, move |interim| {
            if interim.status() == http::StatusCode::CONTINUE {
                word.cancel();
            }
        });
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else {
            return Poll::Ready(None);
        };
        if let Some(hold) = &mut this.hold {
            if hold.word.as_mut().poll(cx).is_pending() {
                ready!(hold.patience.as_mut().poll(cx));
            }
            this.hold = None;
        }
        let frame = ready!(Pin::new(body).poll_frame(cx));
        Poll::Ready(frame.map(|frame| frame.map(clean)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

fn clean(frame: Frame<Bytes>) -> Frame<Bytes> {
    match frame.into_trailers() {
        Ok(mut trailers) => {
            hygiene::clean_trailers(&mut trailers);
            Frame::trailers(trailers)
        }
        Err(data) => data,
    }
}
