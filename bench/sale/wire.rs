//! HTTP/1.1 to one gate over kept connections, as many as answers are awaited: no visitor waits for a connection, unless the
//! gate has fallen far behind.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// An answer as it came.
pub struct Answer {
    pub status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    /// The status in the header of the gate's own answers.
    pub fn word(&self) -> &str {
        self.fields("ropeline-status").next().unwrap_or_default()
    }

    /// The value that is set for a cookie whose name begins so.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        self.fields("set-cookie").find_map(|line| {
            let (key, value) = line.split(';').next()?.split_once('=')?;
            (key.starts_with(name) && !value.is_empty()).then_some(value)
        })
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields(name).next().is_some()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.filter_map(move |(key, value)| key.eq_ignore_ascii_case(name).then_some(value.trim()))
    }
}

/// Connections to one gate.
pub struct Wires {
    address: SocketAddr,
    idle: Mutex<Vec<(Wire, Instant)>>,
    places: Semaphore,
}

struct Wire {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Wires {
    pub fn to(address: SocketAddr) -> Self {
        Self {
            address,
            idle: Mutex::default(),
            places: Semaphore::new(MOST),
        }
    }

    /// The answer to a request; an error is one that a visitor would have seen.
    pub async fn ask(&self, request: &str) -> io::Result<Answer> {
        let _place = self.places.acquire().await.map_err(io::Error::other)?;
        let asked = async {
            let kept = self.kept();
            let mut wire = match kept {
                Some(wire) => wire,
                None => Wire::open(self.address).await?,
            };
            let answer = wire.ask(request).await?;
            self.idle.lock().expect("nobody panics").push((wire, Instant::now()));
            Ok(answer)
        };
        timeout(PATIENCE, asked).await.map_err(|_| ErrorKind::TimedOut)?
    }

    /// The one that was used last. What has idled for long the gate may be closing just now.
    fn kept(&self) -> Option<Wire> {
        let mut idle = self.idle.lock().expect("nobody panics");
        let (wire, since) = idle.pop()?;
        if since.elapsed() < FRESH {
            return Some(wire);
        }
        // All others have idled for longer.
        idle.clear();
        None
    }
}

impl Wire {
    async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(ROOM),
        })
    }

    async fn ask(&mut self, request: &str) -> io::Result<Answer> {
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        let end = loop {
            if let Some(at) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        let status = head.get(9..12).and_then(|code| code.parse().ok());
        let mut answer = Answer {
            status: status.ok_or(ErrorKind::InvalidData)?,
            head,
            body: Vec::new(),
        };
        let length = answer.fields("content-length").next();
        let length: usize = length
            .and_then(|text| text.parse().ok())
            .ok_or(ErrorKind::InvalidData)?;
        while self.buffer.len() < end + length {
            self.more().await?;
        }
        answer.body = self.buffer[end..end + length].to_vec();
        Ok(answer)
    }

    async fn more(&mut self) -> io::Result<()> {
        self.buffer.reserve(ROOM);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Connections at once: three gates of them are within the descriptors that are asked for.
const MOST: usize = 5_000;

/// An answer that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(20);

/// Connections that idled for longer are not used again.
const FRESH: Duration = Duration::from_secs(30);

/// Bytes that are read at once.
const ROOM: usize = 32 * 1024;
