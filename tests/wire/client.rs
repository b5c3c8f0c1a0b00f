//! A client made of a raw socket, or of rustls around one, and just enough of a parser to read answers.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::{ClientConfig, ClientConnection};
use rustls_pki_types::ServerName;
use socket2::{Domain, Socket, Type};

use crate::shop::PATIENCE;

pub struct Client {
    pub stream: TcpStream,
    /// The TLS layer, if the connection is not in the clear.
    pub tls: Option<ClientConnection>,
    ahead: Vec<u8>,
}

/// An answer as it came.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    /// The body, its chunks put together.
    pub body: String,
    /// The bytes behind the last chunk.
    pub trailers: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<String> {
        header(&self.head.to_ascii_lowercase(), name)
    }
}

/// The value of a field of a head in lower case.
pub fn header(head: &str, name: &str) -> Option<String> {
    let mut lines = head.lines().skip(1);
    lines.find_map(|line| {
        line.strip_prefix(name)?
            .strip_prefix(':')
            .map(|value| value.trim().to_owned())
    })
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).unwrap())
    }

    /// From an address of this machine's own, such as any of 127.0.0.0/8.
    pub fn from(own: IpAddr, address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::new(own, 0).into()).unwrap();
        socket.connect(&address.into()).unwrap();
        Self::over(socket.into())
    }

    /// With room for a few KiB of unread data.
    pub fn narrow(address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(&address.into()).unwrap();
        Self::over(socket.into())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            tls: None,
            ahead: Vec::new(),
        }
    }

    /// Over TLS, with its handshake done as far as this end can tell.
    pub fn secured(address: SocketAddr, host: &str, config: &Arc<ClientConfig>) -> io::Result<Self> {
        Self::new(address).shake(host, config)
    }

    /// Performs the handshake on an existing connection.
    pub fn shake(mut self, host: &str, config: &Arc<ClientConfig>) -> io::Result<Self> {
        let host = ServerName::try_from(host.to_owned()).unwrap();
        let mut tls = ClientConnection::new(Arc::clone(config), host).unwrap();
        while tls.is_handshaking() {
            tls.complete_io(&mut self.stream)?;
        }
        self.tls = Some(tls);
        Ok(self)
    }

    /// Reads to the end; whether the other side said that it is one.
    pub fn ends_cleanly(&mut self) -> bool {
        let mut tls = self.tls.take().unwrap();
        let mut rest = Vec::new();
        let read = rustls::Stream::new(&mut tls, &mut self.stream).read_to_end(&mut rest);
        self.ahead.append(&mut rest);
        self.tls = Some(tls);
        read.is_ok()
    }

    /// Sends a request and reads its answer.
    pub fn ask(&mut self, request: &str) -> Answer {
        self.send(request);
        self.answer()
    }

    pub fn send(&mut self, bytes: &str) {
        match &mut self.tls {
            Some(tls) => rustls::Stream::new(tls, &mut self.stream).write_all(bytes.as_bytes()),
            None => self.stream.write_all(bytes.as_bytes()),
        }
        .unwrap();
    }

    /// Closes the sending half.
    pub fn finish(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            tls.write_tls(&mut self.stream).unwrap();
        }
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Reads a whole answer; panics when it is cut.
    pub fn answer(&mut self) -> Answer {
        let head = self.head();
        let lower = head.to_ascii_lowercase();
        let status = head[9..12].parse().unwrap();
        let (mut body, mut trailers) = (String::new(), String::new());
        if let Some(length) = header(&lower, "content-length") {
            body = self.take(length.parse().unwrap());
        } else if lower.contains("transfer-encoding: chunked") {
            (body, trailers) = self.chunks();
        } else if !matches!(status, 100..200 | 204 | 304) {
            body = self.rest();
        }
        Answer {
            status,
            head,
            body,
            trailers,
        }
    }

    /// Reads to the end of a head.
    pub fn head(&mut self) -> String {
        self.through("\r\n\r\n")
    }

    /// Reads exactly so many bytes.
    pub fn take(&mut self, count: usize) -> String {
        while self.ahead.len() < count {
            assert!(
                self.read(),
                "the answer was cut after {:?}",
                String::from_utf8_lossy(&self.ahead)
            );
        }
        self.split(count)
    }

    /// Reads through the next `end`.
    pub fn through(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self.ahead.windows(end.len()).position(|bytes| bytes == end.as_bytes()) {
                return self.split(at + end.len());
            }
            assert!(
                self.read(),
                "closed before {end:?}; got {:?}",
                String::from_utf8_lossy(&self.ahead)
            );
        }
    }

    /// Everything up to the close, in order or not.
    pub fn rest(&mut self) -> String {
        while self.read() {}
        self.split(self.ahead.len())
    }

    fn chunks(&mut self) -> (String, String) {
        let mut body = String::new();
        loop {
            let line = self.through("\r\n");
            let size = usize::from_str_radix(line.trim(), 16).unwrap();
            if size == 0 {
                break;
            }
            body += &self.take(size);
            assert_eq!(self.take(2), "\r\n");
        }
        let mut trailers = String::new();
        loop {
            let line = self.through("\r\n");
            if line == "\r\n" {
                return (body, trailers);
            }
            trailers += &line;
        }
    }

    fn split(&mut self, at: usize) -> String {
        let rest = self.ahead.split_off(at);
        String::from_utf8_lossy(&std::mem::replace(&mut self.ahead, rest)).into_owned()
    }

    /// Reads more; false at the end of the connection, however it ended.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 16384];
        let read = match &mut self.tls {
            Some(tls) => rustls::Stream::new(tls, &mut self.stream).read(&mut buffer),
            None => self.stream.read(&mut buffer),
        };
        match read {
            Ok(count) => {
                self.ahead.extend_from_slice(&buffer[..count]);
                count > 0
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("nothing came; so far {:?}", String::from_utf8_lossy(&self.ahead))
            }
            Err(_) => false,
        }
    }
}
