//! A bounded connection pool to one gate, shared by all virtual visitors. By hand, because hyper-util's client neither limits
//! connections nor shows how many requests wait for one, and for how long.
//!
//! A visitor who finds every connection taken waits. The report shows these waits: then this tool is slow, and not the gate.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::place::Place;
use crate::time;

/// Most connections: a process has about as many files at most.
pub const MOST: usize = 20_000;

type Sender = SendRequest<Empty<Bytes>>;

/// The connections to one gate.
#[derive(Debug)]
pub struct Pool {
    place: Place,
    idle: Mutex<Vec<Sender>>,
    free: Semaphore,
    waiting: AtomicUsize,
    longest_ms: AtomicU64,
}

/// One connection's, until its answer is there.
#[derive(Debug)]
pub struct Turn<'p> {
    pool: &'p Pool,
    _permit: Option<SemaphorePermit<'p>>,
}

/// An answer, read to its end or as far as it is of use.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// It broke off, or took too long: what came before counts.
    pub cut: bool,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("no connection: {0}")]
    Connect(std::io::Error),
    #[error("no TLS: {0}")]
    Tls(std::io::Error),
    #[error("the connection broke: {0}")]
    Broken(hyper::Error),
    #[error("no answer within {} s", WITHIN.as_secs())]
    Late,
}

impl NoAnswer {
    /// One word, for counting.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Tls(_) => "tls",
            Self::Broken(_) => "broken",
            Self::Late => "timeout",
        }
    }
}

impl Pool {
    pub fn new(place: Place, connections: usize) -> Self {
        Self {
            place,
            idle: Mutex::default(),
            free: Semaphore::new(connections.clamp(1, MOST)),
            waiting: AtomicUsize::default(),
            longest_ms: AtomicU64::default(),
        }
    }

    /// Waits for a connection's turn where all are taken.
    pub async fn turn(&self) -> Turn<'_> {
        let permit = match self.free.try_acquire() {
            Ok(permit) => Some(permit),
            Err(_) => self.wait().await,
        };
        Turn {
            pool: self,
            _permit: permit,
        }
    }

    async fn wait(&self) -> Option<SemaphorePermit<'_>> {
        let began = time::uptime();
        let _waiting = Waiting::one(&self.waiting);
        // The semaphore is never closed.
        let permit = self.free.acquire().await.ok();
        let waited = time::uptime().saturating_sub(began).as_millis();
        self.longest_ms
            .fetch_max(u64::try_from(waited).unwrap_or(u64::MAX), Ordering::Relaxed);
        permit
    }

    /// Requests that wait for a connection now.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// How long a request has waited for one at most, in milliseconds.
    pub fn longest_ms(&self) -> u64 {
        self.longest_ms.load(Ordering::Relaxed)
    }

    async fn exchange(&self, request: Request<Empty<Bytes>>) -> Result<Answer, NoAnswer> {
        let head = timeout(WITHIN, self.head(request)).await;
        let (head, body, sender) = head.unwrap_or(Err(NoAnswer::Late))?;
        let mut kept = BytesMut::new();
        let read = timeout(BODY_WITHIN, read(body, &mut kept)).await;
        if matches!(read, Ok(Read::Whole)) {
            self.keep(sender);
        }
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body: kept.freeze(),
            cut: !matches!(read, Ok(Read::Whole | Read::Enough)),
        })
    }

    async fn head(
        &self,
        request: Request<Empty<Bytes>>,
    ) -> Result<(http::response::Parts, Incoming, Sender), NoAnswer> {
        let mut sender = match self.kept().await {
            Some(sender) => sender,
            None => self.connect().await?,
        };
        let response = match sender.try_send_request(request).await {
            Ok(response) => response,
            // The gate closed it meanwhile: nothing has been sent.
            Err(mut unsent) => match unsent.take_message() {
                Some(request) => {
                    sender = self.connect().await?;
                    sender.send_request(request).await.map_err(NoAnswer::Broken)?
                }
                None => return Err(NoAnswer::Broken(unsent.into_error())),
            },
        };
        let (head, body) = response.into_parts();
        Ok((head, body, sender))
    }

    async fn connect(&self) -> Result<Sender, NoAnswer> {
        let stream = TokioIo::new(self.place.connect().await?);
        let (sender, connection) = handshake(stream).await.map_err(NoAnswer::Broken)?;
        // Ends by itself when the sender is dropped.
        tokio::spawn(connection);
        Ok(sender)
    }

    /// One whose last answer is over; those that were closed meanwhile are let go.
    async fn kept(&self) -> Option<Sender> {
        loop {
            let mut sender = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            if sender.ready().await.is_ok() {
                return Some(sender);
            }
        }
    }

    fn keep(&self, sender: Sender) {
        if !sender.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        }
    }
}

impl Turn<'_> {
    /// Sends a request on a connection that is free. The answer's head is worth having even where its body is not.
    pub async fn send(self, request: Request<Empty<Bytes>>) -> Result<Answer, NoAnswer> {
        self.pool.exchange(request).await
    }
}

/// How far a body was read.
enum Read {
    Whole,
    /// It is longer than any caller here needs.
    Enough,
    Broken,
}

async fn read(mut body: Incoming, kept: &mut BytesMut) -> Read {
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Read::Broken };
        let Some(data) = frame.data_ref() else { continue };
        if kept.len() + data.len() > MAX_BODY {
            return Read::Enough;
        }
        kept.extend_from_slice(data);
    }
    Read::Whole
}

/// Counted for as long as it lives.
struct Waiting<'w>(&'w AtomicUsize);

impl<'w> Waiting<'w> {
    fn one(count: &'w AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long an answer may take to begin, once it is the request's turn: longer than a gate waits for a shop. And to end.
const WITHIN: Duration = Duration::from_secs(90);
const BODY_WITHIN: Duration = Duration::from_secs(20);

/// Most bytes of an answer that is read.
const MAX_BODY: usize = 1 << 20;
