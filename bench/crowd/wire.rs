//! HTTP/1.1 over a kept connection, with as little work as possible, so that the load generator is not what is measured.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// An answer as it came.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// The status in the header of the gate's own answers.
    pub fn word(&self) -> &str {
        self.field("ropeline-status").unwrap_or_default()
    }

    /// A cookie that is set, with its name, as it is sent back.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let mut set = self.fields("set-cookie").filter_map(|line| line.split(';').next());
        set.find(|pair| pair.starts_with(name) && !pair.ends_with('='))
    }

    pub fn field<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.fields(name).next()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.filter_map(move |(key, value)| key.eq_ignore_ascii_case(name).then_some(value.trim()))
    }
}

/// One connection.
pub struct Wire {
    pub stream: TcpStream,
    buffer: Vec<u8>,
}

impl Wire {
    /// From a loopback address of this machine, where the client's address matters.
    pub async fn open(to: SocketAddr, from: Option<IpAddr>) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        if let Some(from) = from {
            socket.bind(SocketAddr::new(from, 0))?;
        }
        let stream = socket.connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::new(),
        })
    }

    /// The answer to a request, which must say its length.
    pub async fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        let answer = self.head().await?;
        let length = answer.field("content-length").and_then(|text| text.parse().ok());
        let length: usize = length.ok_or(ErrorKind::InvalidData)?;
        self.buffer.reserve(length);
        while self.buffer.len() < length {
            self.more().await?;
        }
        let body = self.buffer[..length].to_vec();
        self.buffer.clear();
        Ok(Answer { body, ..answer })
    }

    /// The head of an answer; bytes behind it are kept.
    pub async fn head(&mut self) -> io::Result<Answer> {
        let end = loop {
            if let Some(at) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.buffer.drain(..end);
        let status = head.get(9..12).and_then(|code| code.parse().ok());
        Ok(Answer {
            status: status.ok_or(ErrorKind::InvalidData)?,
            head,
            body: Vec::new(),
        })
    }

    /// Everything that has come since, or comes next.
    pub async fn next(&mut self) -> io::Result<Vec<u8>> {
        if self.buffer.is_empty() {
            self.more().await?;
        }
        Ok(std::mem::take(&mut self.buffer))
    }

    async fn more(&mut self) -> io::Result<()> {
        self.buffer.reserve(ROOM);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Bytes that are read at once.
const ROOM: usize = 16 * 1024;
