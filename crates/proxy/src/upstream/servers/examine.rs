//! What the upstream's servers answer just now: one request to each, over a connection of its own, made as the gate makes them.
//!
//! For an operator who looks for a fault. It changes nothing of the servers' health.

use std::net::IpAddr;
use std::time::Duration;

use futures_util::future::join_all;
use http::header::{CONNECTION, DATE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body_util::Empty;
use tokio::time::{Instant, timeout};

use super::check::{Unanswered, answer, own_host};
use super::dial::{Dial, DialError};
use super::error::UpstreamError;
use super::names::Names;
use super::target::{Address, Target};
use crate::settings::UpstreamSettings;
use http::uri::PathAndQuery;

/// One server of the upstream, and how it answered.
#[derive(Clone, Debug)]
pub struct Examined {
    /// As configured, with the address that its name stands for behind it.
    pub server: String,
    /// `None` for a Unix socket, and for a name that has no address.
    pub address: Option<IpAddr>,
    pub found: Result<Found, NotFound>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Found {
    pub status: StatusCode,
    /// `"HTTP/1.1"` or `"HTTP/2"`.
    pub protocol: &'static str,
    /// From the first packet to the head of the answer.
    pub took: Duration,
    pub date: Option<HeaderValue>,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotFound {
    #[error("its name has no address")]
    Nameless,
    #[error("{0}")]
    Connect(String),
    /// Its certificate is not to be trusted, or it does not speak TLS.
    #[error("{0}")]
    Tls(String),
    #[error("{0}")]
    Answer(String),
    #[error("no answer within {} s", .0.as_secs())]
    Late(Duration),
}

/// Asks every server for `path`, with these fields; `Host` is its own address where they have none.
///
/// # Errors
/// When certificates to be used cannot be.
pub async fn examine(
    settings: &UpstreamSettings,
    path: &PathAndQuery,
    fields: &HeaderMap,
    within: Duration,
) -> Result<Vec<Examined>, UpstreamError> {
    let dial = Dial::new(settings)?;
    let mut names = Names::of(settings);
    names.look_up().await;
    let nameless = names.nameless().map(|server| Examined {
        server,
        address: None,
        found: Err(NotFound::Nameless),
    });
    let mut all: Vec<Examined> = nameless.collect();
    let targets = names.targets(&[], &[]);
    let asked = targets.iter().take(MOST).map(async |target| {
        let found = timeout(within, ask(&dial, target, path, fields)).await;
        Examined {
            server: target.to_string(),
            address: match target.address() {
                Address::Tcp(address) => Some(address.ip()),
                Address::Unix(_) => None,
            },
            found: found.unwrap_or(Err(NotFound::Late(within))),
        }
    });
    all.extend(join_all(asked).await);
    Ok(all)
}

async fn ask(dial: &Dial, target: &Target, path: &PathAndQuery, fields: &HeaderMap) -> Result<Found, NotFound> {
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = path.clone().into();
    let headers = request.headers_mut();
    *headers = fields.clone();
    headers.entry(HOST).or_insert_with(|| own_host(target));
    headers.insert(USER_AGENT, HeaderValue::from_static("ropeline-doctor"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    let begun = Instant::now();
    let (head, protocol) = answer(request, dial, target).await?;
    Ok(Found {
        status: head.status,
        protocol: protocol.name(),
        took: begun.elapsed(),
        date: head.headers.get(DATE).cloned(),
    })
}

impl From<Unanswered> for NotFound {
    fn from(unanswered: Unanswered) -> Self {
        let told = unanswered.to_string();
        match unanswered {
            Unanswered::Dial(DialError::Tls(_)) => Self::Tls(told),
            Unanswered::Dial(DialError::Connect(_)) => Self::Connect(told),
            Unanswered::Exchange(_) => Self::Answer(told),
        }
    }
}

/// Most servers that are asked.
const MOST: usize = 64;
