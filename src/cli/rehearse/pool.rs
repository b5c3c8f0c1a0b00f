//! The connections to one gate, shared by all virtual visitors: hyper-util's client behind a limit on requests under way.
//!
//! A visitor who finds every connection taken waits. The report shows the longest wait: then this tool is slow, and not the gate.

use std::error::Error as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower::service_fn;
use tower::util::BoxCloneSyncService;

use super::place::{NoConnection, Place, Stream};
use crate::time;

type Connector = BoxCloneSyncService<Uri, TokioIo<Box<dyn Stream>>, NoConnection>;

/// The connections to one gate.
#[derive(Debug)]
pub struct Pool {
    client: Client<Connector, Empty<Bytes>>,
    free: Semaphore,
    longest_ms: AtomicU64,
}

/// An answer. Its head counts also where the body broke off.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Empty where it is longer than any caller needs.
    pub body: Bytes,
    /// It broke off, or took too long.
    pub cut: bool,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("{}", .0.source().map_or_else(|| .0.to_string(), ToString::to_string))]
    Failed(#[from] Error),
    #[error("no answer within {} s", WITHIN.as_secs())]
    Late,
}

impl NoAnswer {
    /// One word, for counting.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Failed(error) if error.is_connect() => "connect",
            Self::Failed(_) => "broken",
            Self::Late => "timeout",
        }
    }
}

impl Connection for Box<dyn Stream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Pool {
    pub fn new(place: Place, connections: usize) -> Self {
        let connect = service_fn(move |_: Uri| {
            let place = place.clone();
            async move { place.connect().await.map(TokioIo::new) }
        });
        Self {
            client: Client::builder(TokioExecutor::new()).build(BoxCloneSyncService::new(connect)),
            free: Semaphore::new(connections),
            longest_ms: AtomicU64::default(),
        }
    }

    /// How long a request has waited for a connection at most.
    pub fn longest(&self) -> Duration {
        Duration::from_millis(self.longest_ms.load(Ordering::Relaxed))
    }

    pub async fn send(&self, request: Request<Empty<Bytes>>) -> Result<Answer, NoAnswer> {
        let asked = time::uptime();
        // The semaphore is never closed.
        let _permit = self.free.acquire().await.ok();
        let waited = time::uptime().saturating_sub(asked).as_millis();
        let waited = u64::try_from(waited).unwrap_or(u64::MAX);
        self.longest_ms.fetch_max(waited, Ordering::Relaxed);
        let answer = timeout(WITHIN, self.client.request(request)).await;
        let (head, body) = answer.map_err(|_| NoAnswer::Late)??.into_parts();
        let body = timeout(BODY_WITHIN, Limited::new(body, MAX_BODY).collect()).await;
        let (body, cut) = match body {
            Ok(Ok(body)) => (body.to_bytes(), false),
            Ok(Err(error)) => (Bytes::new(), !error.is::<LengthLimitError>()),
            Err(_) => (Bytes::new(), true),
        };
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body,
            cut,
        })
    }
}

/// How long an answer may take to begin, once it is the request's turn: longer than a gate waits for a shop. And to end.
const WITHIN: Duration = Duration::from_secs(90);
const BODY_WITHIN: Duration = Duration::from_secs(20);

/// Most bytes of an answer that is read.
const MAX_BODY: usize = 1 << 20;
