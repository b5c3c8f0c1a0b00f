//! What all virtual visitors share: where they go, what they show, and when it is over.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Empty;
use tokio_util::sync::CancellationToken;

use super::pool::{Answer, NoAnswer, Pool};
use super::tally::Tally;
use crate::time;

/// The field that carries the mark, and comes back with the rehearsal's id.
pub const MARK: &str = "anteroom-rehearsal";

/// The gate's word for what an answer is about.
const WORD: &str = "anteroom-status";

/// One rehearsal as its visitors see it.
#[derive(Debug)]
pub struct Stage {
    pub pool: Pool,
    pub host: HeaderValue,
    /// The page that they ask for.
    pub page: String,
    pub status: String,
    pub leave: String,
    /// The rehearsal's id.
    pub id: String,
    pub tally: Tally,
    pub began: Duration,
    mark: Mutex<HeaderValue>,
    over: CancellationToken,
    why: Mutex<Option<String>>,
}

/// Where they go.
#[derive(Clone, Debug)]
pub struct Places {
    pub host: HeaderValue,
    pub page: String,
    pub status: String,
    pub leave: String,
}

/// What a visitor asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asks {
    /// As a browser loads a page.
    Page,
    /// As the page's script does.
    Status,
    Leave,
}

/// The cookies of one visitor, by name.
pub type Jar = BTreeMap<String, String>;

impl Stage {
    pub fn new(pool: Pool, places: Places, id: String, visitors: u32, mark: HeaderValue) -> Self {
        Self {
            pool,
            host: places.host,
            page: places.page,
            status: places.status,
            leave: places.leave,
            id,
            tally: Tally::new(visitors),
            began: time::uptime(),
            mark: Mutex::new(mark),
            over: CancellationToken::new(),
            why: Mutex::default(),
        }
    }

    /// How long it has been going on.
    pub fn since(&self) -> Duration {
        time::uptime().saturating_sub(self.began)
    }

    /// Shown from now on.
    pub fn show(&self, mark: HeaderValue) {
        *self.mark.lock().unwrap_or_else(PoisonError::into_inner) = mark;
    }

    /// Everybody stops; the first reason counts.
    pub fn stop(&self, why: Option<String>) {
        let mut first = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.over.is_cancelled() {
            *first = why;
        }
        self.over.cancel();
    }

    pub fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    pub async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Why it was stopped, where that was not wanted.
    pub fn why(&self) -> Option<String> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends one request, and keeps the cookies that come back. `None` where there is no answer of use, which is counted.
    pub async fn ask(&self, asks: Asks, jar: &mut Jar) -> Option<Answer> {
        self.tally.sent();
        let answer = match self.send(asks, jar).await {
            Ok(answer) => answer,
            Err(error) => {
                self.tally.error(error.word());
                return None;
            }
        };
        if self.is_foreign(&answer) {
            return None;
        }
        keep(&answer, jar);
        if answer.status == StatusCode::TOO_MANY_REQUESTS
            || (answer.status.is_server_error() && word(&answer).is_empty())
        {
            self.tally.error(&format!("status {}", answer.status.as_u16()));
            return None;
        }
        Some(answer)
    }

    /// As [`Stage::ask`], for whoever wants to know what went wrong.
    pub async fn send(&self, asks: Asks, jar: &Jar) -> Result<Answer, NoAnswer> {
        let (method, target) = match asks {
            Asks::Page => (Method::GET, &self.page),
            Asks::Status => (Method::GET, &self.status),
            Asks::Leave => (Method::POST, &self.leave),
        };
        let mut request = Request::new(Empty::<Bytes>::new());
        *request.method_mut() = method;
        // What is no target was refused before.
        *request.uri_mut() = target.parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.host.clone());
        headers.insert(MARK, self.mark.lock().unwrap_or_else(PoisonError::into_inner).clone());
        headers.insert(header::USER_AGENT, HeaderValue::from_static("anteroom-rehearse"));
        let (mode, dest, accept) = match asks {
            Asks::Page => ("navigate", "document", "text/html"),
            Asks::Status | Asks::Leave => ("cors", "empty", "application/json"),
        };
        headers.insert("sec-fetch-site", HeaderValue::from_static("same-origin"));
        headers.insert("sec-fetch-mode", HeaderValue::from_static(mode));
        headers.insert("sec-fetch-dest", HeaderValue::from_static(dest));
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        let cookies: Vec<String> = jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if let Ok(cookies) = HeaderValue::try_from(cookies.join("; "))
            && !jar.is_empty()
        {
            headers.insert(header::COOKIE, cookies);
        }
        self.pool.send(request).await
    }

    /// The answer is not one to a visitor of this rehearsal. Where the gate says that it is over, everybody stops.
    fn is_foreign(&self, answer: &Answer) -> bool {
        let told = answer.headers.get(MARK).is_some_and(|id| id == self.id.as_str());
        match word(answer) {
            _ if told => return false,
            "rehearsal_over" => self.stop(Some(
                "the rehearsal is over at the gate: it was ended there, or its lease ran out".to_owned(),
            )),
            "rehearsal_mark" => self.stop(Some("the gate does not take the mark any more".to_owned())),
            "rehearsal_off" => self.stop(Some("the room is off: there is no line to rehearse".to_owned())),
            _ => self.tally.error(&format!("foreign {}", answer.status.as_u16())),
        }
        true
    }
}

/// What an answer is about.
pub fn word(answer: &Answer) -> &str {
    let word = answer.headers.get(WORD).and_then(|word| word.to_str().ok());
    word.unwrap_or_default()
}

fn keep(answer: &Answer, jar: &mut Jar) {
    let lines = answer.headers.get_all(header::SET_COOKIE).iter();
    let pairs = lines.filter_map(|line| line.to_str().ok()?.split(';').next()?.split_once('='));
    for (name, value) in pairs {
        if value.is_empty() {
            jar.remove(name);
        } else if name.contains(MARK) {
            jar.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// Whether a visitor has been let in.
pub fn has_pass(jar: &Jar) -> bool {
    jar.keys().any(|name| name.contains("anteroom-rehearsal-pass-"))
}
