//! A visitor with a jar of cookies, over a connection for each request.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};

use serde_json::Value;
use socket2::{Domain, Socket as Socket2, Type};

use crate::PATIENCE;

/// Fields of a browser's navigation.
const NAVIGATION: &str = "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
/// Fields of a script's request to its own site.
const SCRIPT: &str = "Accept: application/json\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n\
    Sec-Fetch-Site: same-origin\r\n";

#[derive(Clone)]
pub struct Visitor {
    pub at: SocketAddr,
    /// The `Host` of the requests.
    pub host: String,
    /// The address that the visitor comes from; the system's choice without one.
    pub from: Option<IpAddr>,
    pub jar: BTreeMap<String, String>,
}

/// An answer as it came.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

/// Fields of a script that opens a socket.
const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-Fetch-Mode: websocket\r\nSec-Fetch-Dest: empty\r\n";

/// A socket to the shop, which gives everything back.
pub struct Socket(TcpStream);

/// An answer under way.
pub struct Coming {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Visitor {
    pub fn new(at: SocketAddr) -> Self {
        Self {
            at,
            host: at.to_string(),
            from: None,
            jar: BTreeMap::new(),
        }
    }

    /// One who comes from this address.
    pub fn from(at: SocketAddr, from: IpAddr) -> Self {
        Self {
            from: Some(from),
            ..Self::new(at)
        }
    }

    /// The same visitor at another host, with all cookies: no browser does that, and an attacker may.
    pub fn at_host(&self, host: &str) -> Self {
        Self {
            host: host.to_owned(),
            ..self.clone()
        }
    }

    /// Goes to a page.
    pub fn goes_to(&mut self, target: &str) -> Answer {
        self.asks(&format!("GET {target}"), NAVIGATION, "")
    }

    /// Sends a form of the site's own.
    pub fn sends(&mut self, target: &str, form: &str) -> Answer {
        let fields = format!("{NAVIGATION}Sec-Fetch-Site: same-origin\r\n{}", form_fields(form));
        self.asks(&format!("POST {target}"), &fields, form)
    }

    /// Sends a form of another site, which keeps `SameSite` cookies back.
    pub fn sends_from_elsewhere(&self, target: &str, form: &str) -> Answer {
        let fields = format!("{NAVIGATION}Sec-Fetch-Site: cross-site\r\n{}", form_fields(form));
        Self::new(self.at).asks(&format!("POST {target}"), &fields, form)
    }

    /// The visitor's status, as the page's script gets it.
    pub fn status(&mut self) -> Value {
        self.asks("GET /.ropeline/rooms/shop/status", SCRIPT, "").json()
    }

    /// As an app does, with the tokens that it has.
    pub fn joins_as_app(&mut self) -> Answer {
        let fields = "Accept: application/json\r\nContent-Length: 0\r\n";
        self.asks("POST /.ropeline/rooms/shop/join", fields, "")
    }

    pub fn leaves(&mut self) -> Answer {
        self.asks("POST /.ropeline/rooms/shop/leave", SCRIPT, "")
    }

    /// The position of a waiting visitor.
    pub fn position(&mut self) -> Option<u64> {
        self.status()["position"].as_u64()
    }

    /// Sends a request, and keeps the cookies of the answer.
    pub fn asks(&mut self, line: &str, fields: &str, body: &str) -> Answer {
        let answer = self.begins(line, fields, body).answer();
        self.keep(&answer);
        answer
    }

    /// Opens the event stream of the waiting page.
    pub fn listens(&self) -> Coming {
        self.begins("GET /.ropeline/rooms/shop/events", "Accept: text/event-stream\r\n", "")
    }

    /// Goes to a page, and does not wait for it.
    pub fn sets_out_for(&self, target: &str) -> Coming {
        self.begins(&format!("GET {target}"), NAVIGATION, "")
    }

    /// Opens a socket to the shop.
    pub fn opens_socket(&self) -> Socket {
        let mut answer = self.writes("GET /socket", UPGRADE, "");
        answer.reads("\r\n\r\n");
        let head = String::from_utf8_lossy(&answer.read);
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        Socket(answer.stream)
    }

    /// The status of the answer to the wish for a socket.
    pub fn asks_for_socket(&self) -> u16 {
        self.writes("GET /socket", UPGRADE, "").status()
    }

    pub fn begins(&self, line: &str, fields: &str, body: &str) -> Coming {
        self.writes(line, &format!("Connection: close\r\n{fields}"), body)
    }

    fn writes(&self, line: &str, fields: &str, body: &str) -> Coming {
        let mut stream = self.connects().expect("somebody listens there");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let pairs: Vec<String> = self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = if pairs.is_empty() {
            String::new()
        } else {
            format!("Cookie: {}\r\n", pairs.join("; "))
        };
        let request = format!("{line} HTTP/1.1\r\nHost: {}\r\n{fields}{cookies}\r\n{body}", self.host);
        stream.write_all(request.as_bytes()).unwrap();
        Coming {
            stream,
            read: Vec::new(),
        }
    }

    fn connects(&self) -> std::io::Result<TcpStream> {
        let Some(from) = self.from else {
            return TcpStream::connect(self.at);
        };
        let socket = Socket2::new(Domain::for_address(self.at), Type::STREAM, None)?;
        socket.bind(&SocketAddr::new(from, 0).into())?;
        socket.connect(&self.at.into())?;
        Ok(socket.into())
    }

    pub fn keep(&mut self, answer: &Answer) {
        for cookie in answer.headers("set-cookie") {
            let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
            let (name, value) = pair.split_once('=').expect("a cookie has a name");
            if attributes.contains("Max-Age=0") {
                self.jar.remove(name);
            } else {
                self.jar.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

fn form_fields(form: &str) -> String {
    format!(
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
        form.len()
    )
}

impl Socket {
    /// Whether sent bytes come back, rather than the end of the socket.
    pub fn is_alive(&mut self) -> bool {
        let mut back = [0; 5];
        self.0.write_all(b"hello").is_ok() && self.0.read_exact(&mut back).is_ok() && back == *b"hello"
    }
}

impl Coming {
    /// Reads until `text` has come.
    pub fn reads(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.read).contains(text) {
            assert!(
                self.more(),
                "ended before {text:?}: {}",
                String::from_utf8_lossy(&self.read)
            );
        }
    }

    /// Reads the head, of an answer that may have no end.
    pub fn head(mut self) -> Answer {
        self.reads("\r\n\r\n");
        Answer::parse(&String::from_utf8_lossy(&self.read))
    }

    pub fn status(self) -> u16 {
        self.head().status
    }

    /// Reads to the end.
    pub fn answer(mut self) -> Answer {
        let end = ropeline::time::uptime() + 2 * PATIENCE;
        while self.more() {
            assert!(ropeline::time::uptime() < end, "an answer without an end");
        }
        Answer::parse(&String::from_utf8_lossy(&self.read))
    }

    fn more(&mut self) -> bool {
        let mut buffer = [0; 16384];
        let count = self.stream.read(&mut buffer).expect("an answer in time");
        self.read.extend_from_slice(&buffer[..count]);
        count > 0
    }
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer, but {text:?}"));
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        Self {
            status: head[9..12].parse().expect("a status"),
            head: head.to_owned(),
            body: if chunked { unchunked(body) } else { body.to_owned() },
        }
    }

    pub fn headers(&self, name: &str) -> Vec<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        let named = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.trim()).collect()
    }

    /// The value of a header field, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers(name).first().copied().unwrap_or_default()
    }

    /// The status in the header of the gate's own answers; empty for one of the shop's.
    pub fn word(&self) -> &str {
        self.header("ropeline-status")
    }

    pub fn is_the_shops(&self) -> bool {
        self.status == 200 && self.word().is_empty() && self.body.starts_with("the shop")
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }
}

fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).expect("a chunk's size");
        text += &rest[..size];
        body = rest[size..].strip_prefix("\r\n").unwrap_or_default();
    }
    text
}
