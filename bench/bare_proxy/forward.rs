//! One request to the server and its answer back, over connections that are kept.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_TYPE, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri, Version};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// One server, and its idle connections.
pub(crate) struct Proxy {
    upstream: SocketAddr,
    idle: Arc<Idle>,
    /// The answer to `/return`.
    own: Bytes,
}

type Idle = Mutex<Vec<SendRequest<Incoming>>>;

impl Proxy {
    pub(crate) fn new(upstream: SocketAddr, own: Bytes) -> Self {
        Self {
            upstream,
            idle: Arc::default(),
            own,
        }
    }

    /// A server that cannot be reached, or breaks off ahead of its answer, is 502.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Result<Response<Answer>, hyper::Error> {
        if request.uri().path() == "/return" {
            return Ok(self.own());
        }
        let answer = self.forward(outgoing(request)).await;
        Ok(answer.unwrap_or_else(|_| {
            let mut failed = Response::new(Answer::Own(Bytes::new()));
            *failed.status_mut() = StatusCode::BAD_GATEWAY;
            failed
        }))
    }

    fn own(&self) -> Response<Answer> {
        let mut answer = Response::new(Answer::Own(self.own.clone()));
        let kind = HeaderValue::from_static("application/json");
        answer.headers_mut().insert(CONTENT_TYPE, kind);
        answer
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Answer>, Box<dyn std::error::Error>> {
        let mut sender = self.connection().await?;
        let mut answer = sender.send_request(request).await?;
        strip(answer.headers_mut());
        let back = Some((sender, Arc::clone(&self.idle)));
        Ok(answer.map(|body| Answer::Theirs(Lent { body, back })))
    }

    /// The freshest that is kept and still open, or a new one.
    async fn connection(&self) -> Result<SendRequest<Incoming>, Box<dyn std::error::Error>> {
        while let Some(mut kept) = pop(&self.idle) {
            if kept.ready().await.is_ok() {
                return Ok(kept);
            }
        }
        let stream = TcpStream::connect(self.upstream).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // Its errors reach the request that waits for an answer.
        tokio::spawn(connection);
        Ok(sender)
    }
}

fn pop(idle: &Idle) -> Option<SendRequest<Incoming>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

/// The request as the server is sent it, in whichever version it came.
fn outgoing(mut request: Request<Incoming>) -> Request<Incoming> {
    if request.version() == Version::HTTP_2 {
        let target = request.uri().path_and_query().cloned();
        let target = Uri::from(target.unwrap_or_else(|| PathAndQuery::from_static("/")));
        let absolute = std::mem::replace(request.uri_mut(), target);
        let host = absolute.authority().map(|name| HeaderValue::from_str(name.as_str()));
        if let Some(Ok(host)) = host {
            request.headers_mut().insert(HOST, host);
        }
        *request.version_mut() = Version::HTTP_11;
    }
    strip(request.headers_mut());
    request
}

/// Removes hop-by-hop fields (RFC 9110, section 7.6.1).
fn strip(headers: &mut HeaderMap) {
    let lines = headers.get_all(CONNECTION).iter().filter_map(|line| line.to_str().ok());
    let named = lines.flat_map(|line| line.split(',')).map(str::trim);
    // PERF: nearly always one of these stands there alone.
    let named = named.filter(|name| *name != "keep-alive" && *name != "close");
    let of_hop = headers.keys().filter(|name| HOP_BY_HOP.contains(name)).cloned();
    let gone: Vec<HeaderName> = named.filter_map(|name| name.parse().ok()).chain(of_hop).collect();
    for name in gone {
        headers.remove(name);
    }
}

/// The body of an answer.
pub(crate) enum Answer {
    Own(Bytes),
    Theirs(Lent),
}

/// A body that comes over a connection, which is kept once all of it has come.
pub(crate) struct Lent {
    body: Incoming,
    back: Option<(SendRequest<Incoming>, Arc<Idle>)>,
}

impl Lent {
    fn give_back(&mut self) {
        if let Some((sender, idle)) = self.back.take() {
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // hyper does not ask again once a body of known length has been read to its end.
        if self.body.is_end_stream() {
            self.give_back();
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Own(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Own(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Theirs(lent) => {
                let frame = ready!(Pin::new(&mut lent.body).poll_frame(cx));
                if frame.is_none() {
                    lent.give_back();
                }
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(bytes) => bytes.is_empty(),
            Self::Theirs(lent) => lent.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Theirs(lent) => lent.body.size_hint(),
        }
    }
}

const HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];
