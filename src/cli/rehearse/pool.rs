//! A bounded number of kept connections to one gate, which all virtual visitors share.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Most connections: a process has about as many files at most.
pub const MOST: usize = 20_000;

type Sender = SendRequest<Empty<Bytes>>;

/// The connections to one address.
#[derive(Debug)]
pub struct Pool {
    address: SocketAddr,
    idle: Mutex<Vec<Sender>>,
    free: Semaphore,
}

/// An answer, read whole.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("no connection: {0}")]
    Connect(std::io::Error),
    #[error("the connection broke: {0}")]
    Broken(hyper::Error),
    #[error("the answer broke off or is longer than {MAX_BODY} bytes")]
    Cut,
    #[error("no answer within {} s", WITHIN.as_secs())]
    Late,
}

impl NoAnswer {
    /// One word, for counting.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Broken(_) => "broken",
            Self::Cut => "cut",
            Self::Late => "timeout",
        }
    }
}

impl Pool {
    pub fn new(address: SocketAddr, connections: usize) -> Self {
        Self {
            address,
            idle: Mutex::default(),
            free: Semaphore::new(connections.clamp(1, MOST)),
        }
    }

    /// Sends a request on a connection that is free; waits for one where all are taken.
    pub async fn send(&self, request: Request<Empty<Bytes>>) -> Result<Answer, NoAnswer> {
        // Nobody closes the semaphore.
        let _turn = self.free.acquire().await;
        timeout(WITHIN, self.exchange(request))
            .await
            .unwrap_or(Err(NoAnswer::Late))
    }

    async fn exchange(&self, request: Request<Empty<Bytes>>) -> Result<Answer, NoAnswer> {
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
        let body = Limited::new(body, MAX_BODY).collect().await;
        let body = body.map_err(|_| NoAnswer::Cut)?.to_bytes();
        self.keep(sender);
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    async fn connect(&self) -> Result<Sender, NoAnswer> {
        let stream = TcpStream::connect(self.address).await.map_err(NoAnswer::Connect)?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(NoAnswer::Broken)?;
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

/// How long an answer may take, once it is the request's turn.
const WITHIN: Duration = Duration::from_secs(20);

/// Most bytes of an answer that is read.
const MAX_BODY: usize = 1 << 20;
