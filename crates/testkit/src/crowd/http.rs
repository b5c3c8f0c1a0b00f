//! HTTP/1.1 on a raw socket, as bytes, so that received bytes can be compared with sent ones.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// How long anything is waited for; only ever reached by a test that fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A message's head and body, unchanged.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// Start line and fields, with the empty line.
    pub head: String,
    /// Chunks put together.
    pub body: Vec<u8>,
    /// The bytes behind the last chunk.
    pub trailers: String,
}

impl Message {
    /// A message without a body so far.
    pub fn of(head: String) -> Self {
        Self {
            head,
            ..Self::default()
        }
    }

    /// The value of the first field of that name.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value.trim()))
    }

    /// The values of all fields of that name.
    pub fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.filter_map(move |(key, value)| key.eq_ignore_ascii_case(name).then_some(value.trim()))
    }

    /// The status of an answer.
    pub fn status(&self) -> u16 {
        self.head
            .get(9..12)
            .and_then(|code| code.parse().ok())
            .unwrap_or_default()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.head, self.text()))
    }

    /// The shop's own answer, rather than one of the gate's.
    pub fn is_the_shops(&self) -> bool {
        self.field("x-shop").is_some()
    }

    /// The status in the header of the gate's own answers.
    pub fn word(&self) -> &str {
        self.field("ropeline-status").unwrap_or_default()
    }

    /// The value that a `Set-Cookie` gives to `name`; empty for one taken away.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let values = self
            .fields("set-cookie")
            .filter_map(|line| line.split(';').next()?.split_once('='));
        values.filter_map(|(key, value)| (key == name).then_some(value)).last()
    }

    /// The fields without those named, in order, names in lower case.
    pub fn but(&self, names: &[&str]) -> Vec<(String, String)> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let pairs = lines.map(|(key, value)| (key.to_ascii_lowercase(), value.trim().to_owned()));
        pairs.filter(|(key, _)| !names.contains(&key.as_str())).collect()
    }
}

/// A connection, of either end.
pub struct Wire {
    stream: TcpStream,
    ahead: Vec<u8>,
}

impl Wire {
    pub fn new(stream: TcpStream) -> Self {
        let _ = stream.set_nodelay(true);
        Self {
            stream,
            ahead: Vec::new(),
        }
    }

    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::new(TcpStream::connect(address).await?))
    }

    /// Comes from this address of the machine's own; from any if it is `0.0.0.0`.
    pub async fn open_from(source: IpAddr, address: SocketAddr) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        if !source.is_unspecified() {
            socket.bind(SocketAddr::new(source, 0))?;
        }
        Ok(Self::new(socket.connect(address).await?))
    }

    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Reads a request; none at the end of the connection.
    pub async fn request(&mut self) -> io::Result<Option<Message>> {
        match self.head().await {
            Ok(head) => self.body(Message::of(head), false).await.map(Some),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a request and reads the answer.
    pub async fn ask(&mut self, request: &[u8]) -> io::Result<Message> {
        self.send(request).await?;
        let head = self.head().await?;
        let answer = Message::of(head);
        let bodiless = request.starts_with(b"HEAD ") || matches!(answer.status(), 100..200 | 204 | 304);
        if bodiless {
            Ok(answer)
        } else {
            self.body(answer, true).await
        }
    }

    /// Reads to the end of a head.
    pub async fn head(&mut self) -> io::Result<String> {
        let head = self.through(b"\r\n\r\n").await?;
        Ok(String::from_utf8_lossy(&head).into_owned())
    }

    /// Reads through the next `end`.
    pub async fn through(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.ahead.windows(end.len()).position(|bytes| bytes == end) {
                return Ok(self.split(at + end.len()));
            }
            self.more().await?;
        }
    }

    /// Whether the other end has closed; waits for it or for a byte.
    pub async fn closed(&mut self) -> bool {
        self.ahead.is_empty() && self.more().await.is_err()
    }

    async fn body(&mut self, mut message: Message, answer: bool) -> io::Result<Message> {
        let length = message.field("content-length").and_then(|length| length.parse().ok());
        let chunked = message
            .field("transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        message.body = match length {
            _ if chunked => self.chunks(&mut message.trailers).await?,
            Some(length) => self.take(length).await?,
            None if answer => self.rest().await,
            None => Vec::new(),
        };
        Ok(message)
    }

    async fn chunks(&mut self, trailers: &mut String) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.through(b"\r\n").await?;
            let size = String::from_utf8_lossy(&line);
            let size = usize::from_str_radix(size.trim(), 16).map_err(|_| ErrorKind::InvalidData)?;
            if size == 0 {
                *trailers = self.lines().await?;
                return Ok(body);
            }
            body.extend(self.take(size).await?);
            self.take(2).await?;
        }
    }

    /// Reads through an empty line.
    async fn lines(&mut self) -> io::Result<String> {
        let mut lines = String::new();
        loop {
            match self.through(b"\r\n").await?.as_slice() {
                b"\r\n" => return Ok(lines),
                line => lines.push_str(&String::from_utf8_lossy(line)),
            }
        }
    }

    async fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.ahead.len() < count {
            self.more().await?;
        }
        Ok(self.split(count))
    }

    async fn rest(&mut self) -> Vec<u8> {
        while self.more().await.is_ok() {}
        std::mem::take(&mut self.ahead)
    }

    fn split(&mut self, at: usize) -> Vec<u8> {
        let rest = self.ahead.split_off(at);
        std::mem::replace(&mut self.ahead, rest)
    }

    async fn more(&mut self) -> io::Result<()> {
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.ahead));
        match read.await.map_err(|_| ErrorKind::TimedOut)?? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// A pool of connections for all visitors: an admission belongs to a request, never to a connection. With several gates, each
/// request goes to the next of them, as a load balancer without sticky sessions sends it.
pub struct Pool {
    /// The only gate's, or the first's.
    pub address: SocketAddr,
    gates: Vec<Kept>,
    turn: AtomicUsize,
}

/// Connections to one gate that are not in use.
struct Kept {
    source: IpAddr,
    address: SocketAddr,
    idle: Mutex<Vec<Wire>>,
}

impl Pool {
    pub fn new(address: SocketAddr) -> Self {
        Self::over(&[address])
    }

    /// A pool over several gates, at least one.
    pub fn over(gates: &[SocketAddr]) -> Self {
        Self::between(Ipv4Addr::UNSPECIFIED.into(), gates)
    }

    /// A pool of connections from this address of the machine's own.
    pub fn from(source: IpAddr, address: SocketAddr) -> Self {
        Self::between(source, &[address])
    }

    fn between(source: IpAddr, gates: &[SocketAddr]) -> Self {
        let kept = |address: &SocketAddr| Kept {
            source,
            address: *address,
            idle: Mutex::default(),
        };
        Self {
            address: gates[0],
            gates: gates.iter().map(kept).collect(),
            turn: AtomicUsize::new(0),
        }
    }

    /// Sends a request to the gate whose turn it is.
    pub async fn ask(&self, request: &[u8]) -> io::Result<Message> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        self.gates[turn % self.gates.len()].ask(request).await
    }
}

impl Kept {
    /// Sends a request over a kept connection, or a new one when that was closed meanwhile.
    async fn ask(&self, request: &[u8]) -> io::Result<Message> {
        let kept = self.idle.lock().unwrap().pop();
        if let Some(mut wire) = kept {
            match wire.ask(request).await {
                Ok(answer) => return Ok(self.keep(wire, answer)),
                Err(error) if error.kind() == ErrorKind::TimedOut => return Err(error),
                Err(_) => self.idle.lock().unwrap().clear(),
            }
        }
        let mut wire = Wire::open_from(self.source, self.address).await?;
        let answer = wire.ask(request).await?;
        Ok(self.keep(wire, answer))
    }

    fn keep(&self, wire: Wire, answer: Message) -> Message {
        let closes = answer
            .field("connection")
            .is_some_and(|word| word.eq_ignore_ascii_case("close"));
        if !closes && wire.ahead.is_empty() {
            self.idle.lock().unwrap().push(wire);
        }
        answer
    }
}
