//! The state that all virtual visitors share: the gate, their mark, and the end.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Empty;
use tokio_util::sync::CancellationToken;

use super::pool::{Answer, NoAnswer, Pool};
use super::tally::Tally;
use crate::time;

/// The field that carries the mark, and comes back with the rehearsal's id.
pub const MARK: &str = "ropeline-rehearsal";

/// The gate's word for what an answer is about.
const WORD: &str = "ropeline-status";

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
    /// When the first may come.
    began: OnceLock<Duration>,
    mark: Mutex<Shown>,
    over: CancellationToken,
    why: Mutex<Option<String>>,
}

/// A mark, and when it was signed.
#[derive(Clone, Debug)]
struct Shown {
    mark: HeaderValue,
    signed: Duration,
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
    /// What belongs to a page, as it follows at once.
    Asset,
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
            began: OnceLock::new(),
            mark: Mutex::new(Shown::now(mark)),
            over: CancellationToken::new(),
            why: Mutex::default(),
        }
    }

    /// The visitors' time runs from now on.
    pub fn begins(&self) {
        let _ = self.began.set(time::uptime());
    }

    /// How long it has been going on.
    pub fn since(&self) -> Duration {
        let began = self.began.get();
        began.map_or(Duration::ZERO, |began| time::uptime().saturating_sub(*began))
    }

    /// Shown from now on.
    pub fn show(&self, mark: HeaderValue) {
        *self.mark.lock().unwrap_or_else(PoisonError::into_inner) = Shown::now(mark);
    }

    fn shown(&self) -> Shown {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        let turn = self.pool.turn().await;
        self.tally.sent();
        let shown = self.shown();
        let answer = match turn.send(self.request(asks, jar, shown.mark)).await {
            Ok(answer) => answer,
            Err(error) => {
                self.tally.error(error.word());
                return None;
            }
        };
        if self.is_foreign(&answer, time::uptime().saturating_sub(shown.signed)) {
            return None;
        }
        // Also when the rest failed: a visitor with a place is no newcomer next time.
        keep(&answer, jar);
        if answer.cut {
            self.tally.error("cut");
            return None;
        }
        if answer.status == StatusCode::TOO_MANY_REQUESTS
            || (answer.status.is_server_error() && word(&answer).is_empty())
        {
            self.tally.error(&format!("status {}", answer.status.as_u16()));
            return None;
        }
        Some(answer)
    }

    /// As [`Stage::ask`], for a caller that wants the reason of a failure.
    pub async fn send(&self, asks: Asks, jar: &Jar) -> Result<Answer, NoAnswer> {
        let turn = self.pool.turn().await;
        turn.send(self.request(asks, jar, self.shown().mark)).await
    }

    fn request(&self, asks: Asks, jar: &Jar, mark: HeaderValue) -> Request<Empty<Bytes>> {
        let (method, target) = match asks {
            Asks::Page | Asks::Asset => (Method::GET, &self.page),
            Asks::Status => (Method::GET, &self.status),
            Asks::Leave => (Method::POST, &self.leave),
        };
        let mut request = Request::new(Empty::<Bytes>::new());
        *request.method_mut() = method;
        // A malformed target was refused before.
        *request.uri_mut() = target.parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.host.clone());
        headers.insert(MARK, mark);
        headers.insert(header::USER_AGENT, HeaderValue::from_static("ropeline-rehearse"));
        let (mode, dest, accept) = match asks {
            Asks::Page => ("navigate", "document", "text/html"),
            Asks::Asset => ("no-cors", "script", "*/*"),
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
        request
    }

    /// The answer is not one to a visitor of this rehearsal. Where the gate says that it is over, everybody stops; where it
    /// refuses a mark, only if that was new: an old one may have been long on the way.
    fn is_foreign(&self, answer: &Answer, age: Duration) -> bool {
        let told = answer.headers.get(MARK).is_some_and(|id| id == self.id.as_str());
        match word(answer) {
            _ if told => return false,
            "rehearsal_over" => self.stop(Some(
                "the rehearsal is over at the gate: it was ended there, or its lease ran out".to_owned(),
            )),
            "rehearsal_mark" if age > FRESH => self.tally.error("mark"),
            "rehearsal_mark" => self.stop(Some("the gate does not take the mark any more".to_owned())),
            "rehearsal_off" => self.stop(Some("the room is off: there is no line to rehearse".to_owned())),
            _ => self.tally.error(&format!("foreign {}", answer.status.as_u16())),
        }
        true
    }
}

impl Shown {
    fn now(mark: HeaderValue) -> Self {
        Self {
            mark,
            signed: time::uptime(),
        }
    }
}

/// How old a mark may be that a gate must take: half of what it is good for.
const FRESH: Duration = Duration::from_secs(60);

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
    jar.keys().any(|name| name.contains("ropeline-rehearsal-pass-"))
}

/// Whether it has a place, or has had one; or the promise of one, while the log is away.
pub fn has_place(jar: &Jar) -> bool {
    jar.keys().any(|name| name.contains("ropeline-rehearsal-"))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::super::place::Place;
    use super::*;

    const ID: &str = "0102030405060708";

    /// A stage with one connection to a listener of the test's.
    async fn stage() -> (Stage, TcpListener) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let places = Places {
            host: HeaderValue::from_static("shop.example"),
            page: "/".to_owned(),
            status: "/status".to_owned(),
            leave: "/leave".to_owned(),
        };
        let pool = Pool::new(Place::in_the_clear(address), 1);
        let mark = HeaderValue::from_static("first");
        (Stage::new(pool, places, ID.to_owned(), 1, mark), listener)
    }

    /// The head of the next request.
    async fn request(socket: &mut TcpStream) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(socket.read_u8().await.expect("a request"));
        }
        String::from_utf8(head).expect("text")
    }

    async fn answer(socket: &mut TcpStream, fields: &str, body: &[u8]) {
        let head = format!("HTTP/1.1 200 OK\r\nropeline-rehearsal: {ID}\r\n{fields}\r\n\r\n");
        socket.write_all(head.as_bytes()).await.expect("open");
        // A reader that has enough may close before all of it is written.
        let _ = socket.write_all(body).await;
    }

    fn refused(word: &'static str) -> Answer {
        let mut headers = http::HeaderMap::new();
        headers.insert(WORD, HeaderValue::from_static(word));
        Answer {
            status: StatusCode::FORBIDDEN,
            headers,
            body: Bytes::new(),
            cut: false,
        }
    }

    #[tokio::test]
    async fn whoever_waited_for_a_connection_shows_the_mark_of_now() {
        let (stage, listener) = stage().await;
        let ask = async || stage.ask(Asks::Status, &mut Jar::new()).await;
        let gate = async {
            let (mut socket, _) = listener.accept().await.expect("a visitor");
            assert!(request(&mut socket).await.contains("ropeline-rehearsal: first\r\n"));
            while stage.pool.waiting() == 0 {
                tokio::task::yield_now().await;
            }
            stage.show(HeaderValue::from_static("second"));
            answer(&mut socket, "content-length: 2", b"{}").await;
            assert!(request(&mut socket).await.contains("ropeline-rehearsal: second\r\n"));
            answer(&mut socket, "content-length: 2", b"{}").await;
        };
        let (first, second, ()) = tokio::join!(ask(), ask(), gate);
        assert!(first.is_some() && second.is_some());
        assert_eq!(stage.pool.waiting(), 0);
    }

    #[tokio::test]
    async fn a_mark_that_was_long_on_the_way_ends_nothing() {
        let (stage, _listener) = stage().await;
        let old = FRESH + Duration::from_secs(1);
        assert!(stage.is_foreign(&refused("rehearsal_mark"), old));
        assert!(!stage.is_over());
        assert_eq!(stage.tally.look().errors.get("mark"), Some(&1));
        assert!(stage.is_foreign(&refused("rehearsal_mark"), FRESH));
        assert!(stage.is_over() && stage.why().is_some());
    }

    #[tokio::test]
    async fn cookies_count_however_long_the_page_is_and_wherever_it_breaks_off() {
        let (stage, listener) = stage().await;
        let mut jar = Jar::new();
        let cookie =
            |name: &str| format!("set-cookie: ropeline-rehearsal-{name}-shop=x; Path=/\r\ncontent-length: 2000000");
        let gate = async {
            let (mut socket, _) = listener.accept().await.expect("a visitor");
            request(&mut socket).await;
            answer(&mut socket, &cookie("ticket"), &vec![b'x'; 2_000_000]).await;
            let (mut socket, _) = listener.accept().await.expect("a new connection");
            let again = request(&mut socket).await;
            assert!(again.contains("ropeline-rehearsal-ticket-shop=x"), "{again}");
            answer(&mut socket, &cookie("pass"), b"the beginning").await;
        };
        let visitor = async {
            let long = stage.ask(Asks::Page, &mut jar).await;
            assert!(long.is_some_and(|answer| !answer.cut));
            assert!(stage.ask(Asks::Page, &mut jar).await.is_none());
        };
        tokio::join!(gate, visitor);
        assert!(has_pass(&jar) && has_place(&jar));
        assert_eq!(stage.tally.look().errors.get("cut"), Some(&1));
    }
}
