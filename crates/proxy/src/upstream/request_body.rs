//! The request's body on its way to the upstream: framed, trailers cleaned, and held back while the client waits for `100 Continue`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, EXPECT, TRAILER, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use hyper::Request;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::client::request_body::RequestBody;
use crate::error::BoxError;
use crate::hygiene;
use crate::upstream::http2::{Again, Upload};

/// The body that hyper's client sends.
pub(crate) struct Sent {
    body: Option<Source>,
    hold: Option<Pin<Box<Hold>>>,
}

/// PERF: each connection to the upstream keeps the room of 32 requests for those that wait to be written; a body, which few have, is
/// no part of that.
enum Source {
    Once(Box<RequestBody>),
    Again(Again),
}

/// Until the upstream says `100 Continue`, or has kept silent long enough (RFC 9110, section 10.1.1: a client may not wait
/// for ever, and neither may we on its behalf).
struct Hold {
    word: Pin<Box<WaitForCancellationFutureOwned>>,
    patience: Pin<Box<Sleep>>,
}

impl Sent {
    /// No body, for requests that have none: these may be sent twice.
    pub(crate) fn nothing() -> Self {
        Self { body: None, hold: None }
    }

    pub(crate) fn new(body: RequestBody) -> Self {
        Self {
            body: Some(Source::Once(Box::new(body))),
            hold: None,
        }
    }

    /// The same for another try, whole if [`is_whole`](Self::is_whole) still says so then.
    pub(crate) fn again(&mut self) -> Self {
        let (own, next) = match self.body.take() {
            None => return Self::nothing(),
            Some(Source::Once(body)) => {
                let own = Again::new(*body);
                let next = own.next();
                (own, next)
            }
            Some(Source::Again(own)) => {
                let next = own.next();
                (own, next)
            }
        };
        self.body = Some(Source::Again(own));
        Self {
            body: Some(Source::Again(next)),
            hold: None,
        }
    }

    pub(crate) fn is_whole(&self) -> bool {
        !matches!(&self.body, Some(Source::Again(body)) if !body.is_whole())
    }

    /// How far a body has gone that may be sent [again](Self::again).
    pub(crate) fn upload(&self) -> Option<Upload> {
        match &self.body {
            Some(Source::Again(body)) => Some(body.upload()),
            _ => None,
        }
    }

    /// Sends the body at once.
    pub(crate) fn release(&mut self) {
        self.hold = None;
    }

    /// Holds the request's body back until its interim answer.
    pub(crate) fn await_continue(request: &mut Request<Self>, patience: Duration) {
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
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
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
        let frame = match body {
            Source::Once(body) => ready!(Pin::new(body).poll_frame(cx)).map(|frame| frame.map_err(Into::into)),
            Source::Again(body) => ready!(Pin::new(body).poll_frame(cx)),
        };
        Poll::Ready(frame.map(|frame| frame.map(clean)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            None => true,
            Some(Source::Once(body)) => body.is_end_stream(),
            Some(Source::Again(body)) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            None => SizeHint::with_exact(0),
            Some(Source::Once(body)) => body.size_hint(),
            Some(Source::Again(body)) => body.size_hint(),
        }
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

/// Sets the fields that frame a body: its length if it is complete, chunks where trailers or an unknown number of bytes
/// follow. A client that waited for `100 Continue` has already sent the bytes that were received.
pub(crate) fn frame(headers: &mut HeaderMap, body: &mut RequestBody, unannounced_pass: bool) {
    if body.is_begun() {
        headers.remove(EXPECT);
    }
    let announced = hygiene::trailers_announced(headers);
    let has_trailers = body.trailers_mut().is_some_and(|trailers| {
        hygiene::clean_trailers(trailers);
        if !unannounced_pass && !trailers.keys().any(|name| announced.contains(name)) {
            trailers.clear();
        }
        !trailers.is_empty()
    });
    // Set explicitly: without it hyper would send a GET without its body.
    match body.size_hint().exact() {
        Some(length) if !has_trailers => {
            headers.insert(CONTENT_LENGTH, length.into());
            if body.is_complete() {
                headers.remove(TRAILER);
            }
        }
        _ => {
            headers.remove(CONTENT_LENGTH);
            headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
    }
}
