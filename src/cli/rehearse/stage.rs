//! The state that all virtual visitors share: the gate, their mark, and the end.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Empty;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::place::Aim;
use super::pool::{Answer, NoAnswer, Pool};
use super::tally::Tally;
use super::target::Target;
use crate::cli::remote::Failure;
use crate::room::Settings;
use crate::time;

/// The field that carries the mark, and comes back with the rehearsal's id.
const MARK: &str = "ropeline-rehearsal";

/// The gate's word for what an answer is about.
const WORD: &str = "ropeline-status";

/// One rehearsal as its visitors see it.
pub struct Stage {
    pub pool: Pool,
    /// The rehearsal's id.
    pub id: String,
    pub tally: Tally,
    target: Target,
    /// When the first may come.
    began: OnceLock<Duration>,
    over: CancellationToken,
    why: OnceLock<Option<String>>,
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
    pub fn new(target: Target, visitors: usize) -> Result<Self, Failure> {
        let place = target.aim.place(&target.host, target.authorities.as_deref())?;
        Ok(Self {
            pool: Pool::new(place, target.connections),
            id: target.rehearsal.to_string(),
            tally: Tally::new(visitors),
            target,
            began: OnceLock::new(),
            over: CancellationToken::new(),
            why: OnceLock::new(),
        })
    }

    /// The room's, as the configuration has them.
    pub fn settings(&self) -> &Settings {
        &self.target.settings
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

    /// Everybody stops; the first reason counts.
    pub fn stop(&self, why: Option<String>) {
        let _ = self.why.set(why);
        self.over.cancel();
    }

    pub fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    pub async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Why it was stopped, where that was not wanted.
    pub fn why(&self) -> Option<&str> {
        self.why.get()?.as_deref()
    }

    /// A look before anything begins: a gate that has this room, and takes the mark, says that no rehearsal is under way. One that
    /// redirects requests in the clear is met where TLS is spoken.
    pub async fn at_a_gate(self, visitors: usize) -> Result<Self, Failure> {
        let Some(aim) = self.is_at_a_gate().await? else {
            return Ok(self);
        };
        let stage = Self::new(Target { aim, ..self.target }, visitors)?;
        match stage.is_at_a_gate().await? {
            None => Ok(stage),
            Some(aim) => Err(Failure::Local(format!(
                "the gate sends visitors on and on, last to {aim}"
            ))),
        }
    }

    /// Where the gate sends visitors instead, if it does.
    async fn is_at_a_gate(&self) -> Result<Option<Aim>, Failure> {
        let at = &self.target.aim;
        let answer = self.send(Asks::Status, &Jar::new()).await.map_err(|why| {
            Failure::Local(format!(
                "nothing answers at {at} ({why}); name an address of the gate with --url, and with --ca-file whoever signed its \
                 certificate"
            ))
        })?;
        let location = answer.headers.get(header::LOCATION);
        let location = location.filter(|_| answer.status == StatusCode::PERMANENT_REDIRECT);
        if let Some(aim) = location.and_then(|location| at.redirected(location.to_str().ok()?)) {
            return Ok(Some(aim));
        }
        match word(&answer) {
            "rehearsal_over" => Ok(None),
            "rehearsal_mark" => Err(Failure::Local(format!(
                "the gate at {at} does not take the mark: it has other keys than this configuration, or it has no room of that name"
            ))),
            "rehearsal_off" => Err(Failure::Local(OFF.to_owned())),
            word => Err(Failure::Foreign(format!(
                "what answers at {at} is no gate that can rehearse, or something on the way takes the mark off (it said {} {word})",
                answer.status
            ))),
        }
    }

    /// Waits until the gates that the visitors go to have read of the rehearsal. They may be others than the admin listener's, and
    /// behind a load balancer each request may come to another one.
    pub async fn is_known(&self) -> Result<(), Failure> {
        let mut in_a_row = 0;
        for _ in 0..TRIES {
            let answer = self.send(Asks::Status, &Jar::new()).await;
            if !answer.is_ok_and(|answer| self.is_its(&answer)) {
                in_a_row = 0;
                sleep(Duration::from_millis(100)).await;
                continue;
            }
            in_a_row += 1;
            if in_a_row == IN_A_ROW {
                return Ok(());
            }
        }
        Err(Failure::Foreign(
            "a gate that the visitors would go to knows nothing of the rehearsal: is it one of those behind the admin listener?"
                .to_owned(),
        ))
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
        if !self.is_its(&answer) {
            self.foreign(&answer);
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

    async fn send(&self, asks: Asks, jar: &Jar) -> Result<Answer, NoAnswer> {
        self.pool.send(self.request(asks, jar)).await
    }

    fn request(&self, asks: Asks, jar: &Jar) -> Request<Empty<Bytes>> {
        let target = &self.target;
        let (method, uri, [mode, dest, accept]) = match asks {
            Asks::Page => (Method::GET, &target.page, ["navigate", "document", "text/html"]),
            Asks::Asset => (Method::GET, &target.page, ["no-cors", "script", "*/*"]),
            Asks::Status => (Method::GET, &target.status, ["cors", "empty", "application/json"]),
            Asks::Leave => (Method::POST, &target.leave, ["cors", "empty", "application/json"]),
        };
        let mut request = Request::new(Empty::new());
        (*request.method_mut(), *request.uri_mut()) = (method, uri.clone());
        let headers = request.headers_mut();
        headers.insert(header::HOST, target.host_field.clone());
        headers.insert(MARK, target.mark.clone());
        headers.insert(header::USER_AGENT, HeaderValue::from_static("ropeline-rehearse"));
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

    /// The answer is one to a visitor of this rehearsal.
    fn is_its(&self, answer: &Answer) -> bool {
        answer.headers.get(MARK).is_some_and(|id| id == self.id.as_str())
    }

    /// Where the gate does not take the visitors any more, everybody stops.
    fn foreign(&self, answer: &Answer) {
        let why = match word(answer) {
            // Of several gates, one may not have read of it yet. When it is over, its lease says so.
            "rehearsal_over" => return self.tally.error("rehearsal unknown"),
            "rehearsal_mark" => "the gate does not take the mark any more",
            "rehearsal_off" => OFF,
            _ => return self.tally.error(&format!("foreign {}", answer.status.as_u16())),
        };
        self.stop(Some(why.to_owned()));
    }
}

const OFF: &str = "the room is off: there is no line to rehearse";

/// Questions until the gates must have read of a rehearsal, a tenth of a second apart where one has not. A gate without visitors may
/// take five seconds.
const TRIES: u32 = 100;

/// As many answers in a row must know of it: more than there are gates behind most load balancers.
const IN_A_ROW: u32 = 12;

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
    use std::iter;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use ropeline_ids::RehearsalId;

    const ID: &str = "0102030405060708";

    /// A stage with one connection to a listener of the test's.
    async fn stage() -> (Stage, TcpListener) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let uri = |path: &str| format!("http://{address}{path}").parse().expect("a URI");
        let target = Target {
            aim: Aim::named(&address.to_string()).expect("an address"),
            authorities: None,
            host: "shop.example".to_owned(),
            host_field: HeaderValue::from_static("shop.example"),
            connections: 1,
            page: uri("/"),
            status: uri("/status"),
            leave: uri("/leave"),
            rehearsal: RehearsalId::parse(ID).expect("an id"),
            mark: HeaderValue::from_static("signed"),
            settings: Settings::default(),
        };
        (Stage::new(target, 1).expect("no TLS"), listener)
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

    #[tokio::test]
    async fn a_visitor_waits_for_a_connection_and_shows_the_mark() {
        let (stage, listener) = stage().await;
        let ask = async || stage.ask(Asks::Status, &mut Jar::new()).await;
        let gate = async {
            let (mut socket, _) = listener.accept().await.expect("a visitor");
            for _ in 0..2 {
                let asked = request(&mut socket).await;
                assert!(
                    asked.starts_with("GET /status HTTP/1.1\r\nhost: shop.example\r\n"),
                    "{asked}"
                );
                assert!(asked.contains("ropeline-rehearsal: signed\r\n"), "{asked}");
                answer(&mut socket, "content-length: 2", b"{}").await;
            }
        };
        let (first, second, ()) = tokio::join!(ask(), ask(), gate);
        assert!(first.is_some() && second.is_some());
    }

    /// The answer of a gate that has not read of the rehearsal.
    async fn unknown(socket: &mut TcpStream) {
        let head = "HTTP/1.1 403 Forbidden\r\nropeline-status: rehearsal_over\r\ncontent-length: 0\r\n\r\n";
        socket.write_all(head.as_bytes()).await.expect("open");
    }

    #[tokio::test]
    async fn a_rehearsal_is_known_once_every_gate_behind_a_load_balancer_knows_it() {
        let (stage, listener) = stage().await;
        let asked = AtomicU32::new(0);
        let gates = async {
            let (mut socket, _) = listener.accept().await.expect("a question");
            let first = [false, true, true, false].into_iter();
            for knows in first.chain(iter::repeat(true)) {
                request(&mut socket).await;
                asked.fetch_add(1, Ordering::Relaxed);
                if knows {
                    answer(&mut socket, "content-length: 2", b"{}").await;
                } else {
                    unknown(&mut socket).await;
                }
            }
        };
        tokio::select! {
            known = stage.is_known() => known.expect("all gates know it"),
            () = gates => {}
        }
        assert_eq!(asked.into_inner(), 4 + IN_A_ROW);
    }

    #[tokio::test]
    async fn one_gate_that_does_not_know_the_rehearsal_ends_it_for_nobody() {
        let (stage, listener) = stage().await;
        let gate = async {
            let (mut socket, _) = listener.accept().await.expect("a visitor");
            request(&mut socket).await;
            unknown(&mut socket).await;
        };
        let mut jar = Jar::new();
        let (answer, ()) = tokio::join!(stage.ask(Asks::Page, &mut jar), gate);
        assert!(answer.is_none());
        assert!(!stage.is_over());
        assert_eq!(stage.tally.seen().errors.get("rehearsal unknown"), Some(&1));
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
        assert_eq!(stage.tally.seen().errors.get("cut"), Some(&1));
    }
}
