//! The body of an answer: the gate's own bytes, a stream, or the upstream's bytes, with guards that drop at its end.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::drop_guard::DropGuard;
use crate::error::BoxError;
use crate::revocable::{Revocable, Revoke};
use crate::upstream::answer_body::UpstreamBody;
use crate::upstream::tunnel::Strings;

type Boxed = Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>;

/// The body of an answer. Guards drop when it has been taken whole, when the client is gone, or, behind a 101, when the
/// tunnel ends.
pub struct Body {
    content: Content,
    guards: Vec<Box<dyn DropGuard>>,
}

enum Content {
    Full(Bytes),
    Upstream(Box<UpstreamBody>),
    Stream(Boxed),
    Revocable(Revocable),
    /// Nothing to send; the guards live as long as the tunnel does.
    Tunnel(Strings),
}

impl Body {
    /// No bytes.
    #[must_use]
    pub fn empty() -> Self {
        Self::of(Content::Full(Bytes::new()))
    }

    /// These bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self::of(Content::Full(bytes.into()))
    }

    /// Any other body: a stream of events, an answer of another library.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::of(Content::Stream(Box::pin(http_body_util::BodyExt::map_err(
            body,
            Into::into,
        ))))
    }

    pub(crate) fn upstream(body: UpstreamBody) -> Self {
        Self::of(Content::Upstream(Box::new(body)))
    }

    pub(crate) fn tunnel(strings: Strings) -> Self {
        Self::of(Content::Tunnel(strings))
    }

    fn of(content: Content) -> Self {
        Self {
            content,
            guards: Vec::new(),
        }
    }

    /// A body that can be taken away from a client that reads slowly, with the guards that it holds; no tunnel is.
    #[must_use]
    pub fn revocable(self) -> (Self, Option<Revoke>) {
        if matches!(self.content, Content::Tunnel(_)) {
            return (self, None);
        }
        let (body, revoke) = Revocable::new(self);
        (Self::from(body), Some(revoke))
    }

    /// The whole body has been received.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match &self.content {
            Content::Full(_) => true,
            Content::Upstream(body) => body.is_whole(),
            Content::Stream(_) | Content::Revocable(_) | Content::Tunnel(_) => false,
        }
    }

    /// Of [`Body::stream`], and of no length that is known.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(&self.content, Content::Stream(body) if body.size_hint().exact().is_none())
    }

    /// Keeps `guard` until this body ends, in whichever way.
    #[must_use]
    pub fn hold(mut self, guard: impl Send + 'static) -> Self {
        match &self.content {
            Content::Tunnel(strings) => strings.tie(Box::new(guard)),
            _ => self.guards.push(Box::new(guard)),
        }
        self
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.content {
            Content::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Upstream(body) => Pin::new(body.as_mut()).poll_frame(cx),
            Content::Stream(body) => body.as_mut().poll_frame(cx),
            Content::Revocable(body) => body.poll_frame(cx),
            Content::Tunnel(_) => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Full(bytes) => bytes.is_empty(),
            Content::Upstream(body) => body.is_end_stream(),
            Content::Stream(body) => body.is_end_stream(),
            Content::Revocable(body) => body.is_end_stream(),
            Content::Tunnel(_) => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Upstream(body) => body.size_hint(),
            Content::Stream(body) => body.size_hint(),
            Content::Revocable(body) => body.size_hint(),
            Content::Tunnel(_) => SizeHint::with_exact(0),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.content {
            Content::Full(_) => "Full",
            Content::Upstream(_) => "Upstream",
            Content::Stream(_) => "Stream",
            Content::Revocable(_) => "Revocable",
            Content::Tunnel(_) => "Tunnel",
        };
        f.debug_struct("Body")
            .field("content", &name)
            .field("guards", &self.guards.len())
            .finish()
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<Revocable> for Body {
    fn from(body: Revocable) -> Self {
        Self::of(Content::Revocable(body))
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::full(bytes)
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::full(text)
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::full(text)
    }
}
