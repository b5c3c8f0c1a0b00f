//! A small HTTP/1.1 client for the admin listener: one connection a request, every wait bounded. By hand over `hyper`, not
//! hyper-util's client, because a command needs no pool and that client hides why a connection failed.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, Uri};
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::admin::api;

/// Where the admin listener is by default.
pub const DEFAULT_ADMIN: &str = "http://127.0.0.1:9925";

/// Why a command was not carried out, in words for the operator.
#[derive(Debug)]
pub enum Failure {
    /// There is no listener.
    Absent { at: String, why: String },
    /// The gate refuses, and says why.
    Refused {
        status: StatusCode,
        detail: String,
        /// One by one, where it says so.
        mistakes: Vec<String>,
    },
    /// The token is missing or wrong.
    Token(String),
    /// The listener is no admin listener, or one of another version.
    Foreign(String),
    /// Something on this side.
    Local(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { at, why } => write!(
                f,
                "nothing answers at {at} ({why}); is the gate running? Start it with `ropeline run`, \
                 or name its admin listener with --admin"
            ),
            Self::Refused { status, detail, .. } => write!(f, "{detail} ({})", status.as_u16()),
            Self::Token(detail) => write!(f, "{detail}; give it with --token-file or in ROPELINE_ADMIN_TOKEN"),
            Self::Foreign(why) | Self::Local(why) => f.write_str(why),
        }
    }
}

impl Failure {
    /// A refusal that names the options of the command line instead of the fields of the API.
    pub fn by_options(self) -> Self {
        match self {
            Self::Refused {
                status,
                detail,
                mistakes,
            } => Self::Refused {
                status,
                detail: by_options(&detail),
                mistakes: mistakes.iter().map(|mistake| by_options(mistake)).collect(),
            },
            other => other,
        }
    }
}

fn by_options(text: &str) -> String {
    let text = text.replace("null for the configured one", "default");
    let words: Vec<&str> = text.split(' ').collect();
    let option = |(at, word): (usize, &&str)| {
        let bare = word.trim_end_matches(':');
        // A word of English only where the sentence is about it.
        let is_subject = bare.contains('_') || word.ends_with(':') || words.get(at + 1) == Some(&"must");
        let found = OPTIONS.iter().find(|(field, _)| is_subject && *field == bare);
        found.map_or_else(|| (*word).to_owned(), |(field, option)| word.replacen(field, option, 1))
    };
    words.iter().enumerate().map(option).collect::<Vec<_>>().join(" ")
}

/// Fields of requests, and the options that set them.
const OPTIONS: [(&str, &str); 18] = [
    ("mode", "--mode"),
    ("total_active_users", "--capacity"),
    ("new_users_per_minute", "--rate"),
    ("message", "--message"),
    ("prequeue_from", "--prequeue-from"),
    ("opens_at", "--opens-at"),
    ("closes_at", "--closes-at"),
    ("results_at", "--results-at"),
    ("stock", "--stock"),
    ("reason", "--reason"),
    ("confirm", "--confirm"),
    ("count", "COUNT"),
    ("lane", "--lane"),
    ("requests_per_second", "--requests"),
    ("p95_ms", "--p95-ms"),
    ("error_share", "--errors"),
    ("ttl_secs", "--ttl"),
    ("beacon_value", "--beacon-value"),
];

/// An answer of the API, as it came.
#[derive(Debug)]
pub struct Raw(Bytes);

impl Raw {
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.0)
    }

    /// Indented, for people and scripts.
    pub fn pretty(&self) -> String {
        let value: Value = self.parse().unwrap_or_default();
        format!("{value:#}\n")
    }
}

/// Talks to one admin listener.
#[derive(Debug)]
pub struct Client {
    authority: Authority,
    token: Option<String>,
}

impl Client {
    /// `admin` is `http://host:port`, or `host:port`.
    pub fn new(admin: &str, token: Option<String>) -> Result<Self, Failure> {
        let wrong = |why: &str| Failure::Local(format!("--admin {admin}: {why}; it looks like {DEFAULT_ADMIN}"));
        let rest = admin.strip_prefix("http://").unwrap_or(admin).trim_end_matches('/');
        if admin.starts_with("https://") {
            return Err(wrong("the admin listener speaks plain HTTP; reach it through a tunnel"));
        }
        let authority: Authority = rest.parse().map_err(|_| wrong("that is no address"))?;
        if authority.port_u16().is_none() || authority.as_str().contains('@') {
            return Err(wrong("give a host and a port, and nothing else"));
        }
        if token
            .as_ref()
            .is_some_and(|token| header::HeaderValue::from_str(token).is_err())
        {
            return Err(Failure::Local(
                "the token holds characters that no header can carry".to_owned(),
            ));
        }
        Ok(Self { authority, token })
    }

    pub async fn get(&self, target: &str) -> Result<Raw, Failure> {
        self.ask(Method::GET, target, None).await
    }

    /// For a report that a refusal has too, such as that of a gate that is not ready.
    pub async fn get_whatever_its_status(&self, within: Duration, target: &str) -> Result<Raw, Failure> {
        let (_, _, body) = self
            .exchange_within(within, self.request(Method::GET, target, None)?)
            .await?;
        Ok(Raw(body))
    }

    pub async fn delete(&self, target: &str) -> Result<Raw, Failure> {
        self.ask(Method::DELETE, target, None).await
    }

    pub async fn patch(&self, target: &str, patch: &Value) -> Result<Raw, Failure> {
        self.ask(Method::PATCH, target, Some(patch)).await
    }

    pub async fn post(&self, target: &str, body: &Value) -> Result<Raw, Failure> {
        self.ask(Method::POST, target, Some(body)).await
    }

    /// Posts a text of another kind than JSON.
    pub async fn post_text(&self, target: &str, (kind, text): (&'static str, String)) -> Result<Raw, Failure> {
        let mut request = self.request(Method::POST, target, None)?;
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
        *request.body_mut() = Full::from(text);
        self.answer(ANSWER_WITHIN, request).await
    }

    /// A delete that says why.
    pub async fn delete_saying(&self, target: &str, body: &Value) -> Result<Raw, Failure> {
        self.ask(Method::DELETE, target, Some(body)).await
    }

    /// As [`Client::post`], for requests that take the gate longer.
    pub async fn post_patiently(&self, target: &str, body: &Value) -> Result<Raw, Failure> {
        self.ask_within(LONGEST, Method::POST, target, Some(body)).await
    }

    async fn ask(&self, method: Method, target: &str, body: Option<&Value>) -> Result<Raw, Failure> {
        self.ask_within(ANSWER_WITHIN, method, target, body).await
    }

    async fn ask_within(
        &self,
        within: Duration,
        method: Method,
        target: &str,
        body: Option<&Value>,
    ) -> Result<Raw, Failure> {
        self.answer(within, self.request(method, target, body)?).await
    }

    async fn answer(&self, within: Duration, request: Request<Full<Bytes>>) -> Result<Raw, Failure> {
        let (status, kind, body) = self.exchange_within(within, request).await?;
        if status.is_success() && kind == "application/json" {
            return Ok(Raw(body));
        }
        let problem: api::Problem = serde_json::from_slice(&body).map_err(|_| self.foreign(status))?;
        match status {
            StatusCode::UNAUTHORIZED => Err(Failure::Token(problem.detail)),
            status => Err(Failure::Refused {
                status,
                detail: problem.detail,
                mistakes: problem.mistakes,
            }),
        }
    }

    fn request(&self, method: Method, target: &str, body: Option<&Value>) -> Result<Request<Full<Bytes>>, Failure> {
        let target: Uri = target
            .parse()
            .map_err(|_| Failure::Local(format!("{target} is no path")))?;
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::HOST, self.authority.as_str());
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = body.map(ToString::to_string).unwrap_or_default();
        request
            .body(Full::from(body))
            .map_err(|error| Failure::Local(error.to_string()))
    }

    async fn exchange_within(
        &self,
        within: Duration,
        request: Request<Full<Bytes>>,
    ) -> Result<(StatusCode, String, Bytes), Failure> {
        tokio::time::timeout(within, self.exchange(request))
            .await
            .unwrap_or_else(|_| Err(self.absent(&format!("no answer within {} s", within.as_secs()))))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<(StatusCode, String, Bytes), Failure> {
        let stream = TcpStream::connect(self.authority.as_str())
            .await
            .map_err(|error| self.absent(&error.to_string()))?;
        let no_http = |error: hyper::Error| self.absent(&format!("no HTTP is spoken there: {error}"));
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(no_http)?;
        // Ends by itself when the sender is dropped and the answer has come.
        tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(no_http)?;
        let status = response.status();
        let kind = response
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
        let body = body.map_err(|error| self.absent(&format!("the answer broke off: {error}")))?;
        Ok((status, kind, body.to_bytes()))
    }

    fn absent(&self, why: &str) -> Failure {
        Failure::Absent {
            at: format!("http://{}", self.authority),
            why: why.to_owned(),
        }
    }

    fn foreign(&self, status: StatusCode) -> Failure {
        let at = &self.authority;
        Failure::Foreign(format!(
            "what answers at http://{at} is no admin listener (it said {status}); name it with --admin"
        ))
    }
}

/// How long one request may take, connecting included.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// How long an answer may take that the gate takes its own time for; it has a deadline for each step.
const LONGEST: Duration = Duration::from_secs(3 * 3_600);

/// Most bytes of an answer.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_options_instead_of_fields() {
        for (told, wanted) in [
            (
                "nothing was changed: total_active_users must be 1, or null for the configured one, not \"x\"",
                "nothing was changed: --capacity must be 1, or default, not \"x\"",
            ),
            ("opens_at: \"soon\" is no date", "--opens-at: \"soon\" is no date"),
            (
                "a room that goes by dates; opens_at \"now\" opens it",
                "a room that goes by dates; --opens-at \"now\" opens it",
            ),
            ("message must be at most 9 bytes", "--message must be at most 9 bytes"),
            (
                "the message of a lane is in another mode",
                "the message of a lane is in another mode",
            ),
        ] {
            assert_eq!(by_options(told), wanted);
        }
    }

    #[test]
    fn an_address_is_understood_with_and_without_its_scheme() {
        for admin in [
            "http://127.0.0.1:9925",
            "127.0.0.1:9925",
            "http://gate.internal:1/",
            "[::1]:9925",
        ] {
            assert!(Client::new(admin, None).is_ok(), "{admin}");
        }
        for wrong in [
            "https://127.0.0.1:9925",
            "127.0.0.1",
            "",
            "http://a b:1",
            "http://user@host:1",
            "http://h:1/path",
        ] {
            let failure = Client::new(wrong, None).expect_err(wrong).to_string();
            assert!(failure.contains("--admin"), "{failure}");
        }
        assert!(Client::new("h:1", Some("a\nb".to_owned())).is_err());
    }
}
