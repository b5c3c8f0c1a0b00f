//! The steps between accept and the first byte of HTTP, before [`serve_connection`] takes the connection.
//!
//! `first_byte` bounds these steps together with the wait for that byte, from the moment the core has the socket; the
//! connection is counted from accept on. A listener without such steps costs no further task and no further wait.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::body::Body;
use crate::client::conn::Conn;
use crate::client::connection::{Shared, Speaks, serve_connection};
use crate::client::proto::{Ends, Proto};
use crate::client::request_body::RequestBody;
use crate::client::socket::ClientSocket;
use crate::listen::accept::Arrival;
use crate::listen::listener::Terms;
use crate::listen::load::Permit;
use crate::listen::proxy_protocol::{Header, Malformed, parse};
use crate::listen::secured::serve_secured;
use crate::listen::transport::{ReadHalf, UNIX_PEER, WriteHalf};
use crate::settings::ServerSettings;
use crate::stats::{Stats, up};
use crate::wire::frame::PREFACE;

/// Serves an accepted connection in a task of its own on this thread's runtime.
pub(crate) fn greet<S, F>(arrival: Arrival, closing: &CancellationToken, shared: &Arc<Shared<S>>)
where
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let Some(opening) = Opening::new(arrival, closing.clone(), &shared.settings) else {
        return;
    };
    let (shared, tls) = (Arc::clone(shared), opening.terms.tls.clone());
    let Some(tls) = tls else {
        if !opening.waits() && !shared.settings.h2c {
            // PERF: the task is the connection's own future, and no larger than that.
            let (socket, conn) = opening.into_parts(&shared.settings);
            tokio::spawn(serve_connection(socket, conn, shared, Speaks::Http1));
            return;
        }
        tokio::spawn(async move {
            let Some((mut socket, conn)) = opening.over(&shared).await else {
                return;
            };
            if let Some(speaks) = Box::pin(spoken(&mut socket, &conn, &shared)).await {
                serve_connection(socket, conn, shared, speaks).await;
            }
        });
        return;
    };
    tokio::spawn(async move {
        if let Some((socket, conn)) = opening.over(&shared).await {
            serve_secured(tls, socket, conn, shared).await;
        }
    });
}

/// A connection of which no byte has been read.
struct Opening {
    read: ReadHalf,
    write: WriteHalf,
    ends: Ends,
    since: Instant,
    terms: Arc<Terms>,
    permit: Permit,
    closing: CancellationToken,
    /// A PROXY header must come first.
    announced: bool,
    is_unix: bool,
    /// Was read together with it, and is the client's.
    ahead: Vec<u8>,
}

impl Opening {
    /// `None` when the socket is gone already.
    fn new(arrival: Arrival, closing: CancellationToken, settings: &ServerSettings) -> Option<Self> {
        let Arrival {
            stream,
            peer,
            terms,
            announced,
            permit,
        } = arrival;
        let is_unix = stream.is_unix();
        let local = match stream.local() {
            Some(local) => local.ok()?,
            None => (UNIX_PEER.ip(), usual_port(terms.proto)).into(),
        };
        let (read, write) = stream.split(settings.write).ok()?;
        Some(Self {
            read,
            write,
            ends: Ends { peer, local },
            since: Instant::now(),
            terms,
            permit,
            closing,
            announced,
            is_unix,
            ahead: Vec::new(),
        })
    }

    /// Whether anything must happen before the first byte of HTTP.
    fn waits(&self) -> bool {
        self.announced
    }

    /// Reads the PROXY header from a proxy that must send one. The client that it names is the connection's peer from here
    /// on.
    async fn announced(mut self, settings: &ServerSettings, stats: &Stats) -> Option<Self> {
        if !self.announced {
            return Some(self);
        }
        let read = in_time(self.since + settings.first_byte, &self.closing, header(&mut self.read)).await;
        let (header, rest) = match read {
            Ok(Ok(read)) => read,
            Ok(Err(Unread::Closed)) => return None,
            Ok(Err(Unread::Malformed(malformed))) => {
                tell(malformed, stats);
                return None;
            }
            Err(Late) => {
                up(&stats.timed_out);
                return None;
            }
        };
        if let Some(ends) = header.ends {
            self.ends = Ends {
                peer: ends.source,
                local: ends.destination,
            };
            self.is_unix = false;
        }
        if !self.is_unix && self.permit.count(self.ends.peer.ip()).is_err() {
            up(&stats.refused);
            return None;
        }
        self.ahead = rest;
        Some(self)
    }

    /// The steps are done. PERF: data needed only for them is not kept for the connection's life.
    async fn over<S>(self, shared: &Shared<S>) -> Option<(ClientSocket, Arc<Conn>)> {
        let announced = Box::pin(self.announced(&shared.settings, &shared.stats)).await?;
        Some(announced.into_parts(&shared.settings))
    }

    /// The connection as hyper's loop takes it. From here on the other end may not change any more.
    fn into_parts(self, settings: &ServerSettings) -> (ClientSocket, Arc<Conn>) {
        let since = (self.closing, self.since);
        let conn = Arc::new(Conn::new(self.ends, self.terms.proto, self.write, self.permit, since));
        let socket = ClientSocket::new((self.read, self.ahead), Arc::clone(&conn), settings.write);
        (socket, conn)
    }
}

/// HTTP/2 in the clear where that is taken and its preface comes first (RFC 9113, section 3.3).
async fn spoken<S>(socket: &mut ClientSocket, conn: &Conn, shared: &Shared<S>) -> Option<Speaks> {
    if !shared.settings.h2c {
        return Some(Speaks::Http1);
    }
    let due = conn.due(&shared.settings).unwrap_or_else(Instant::now);
    match in_time(due, conn.closing(), socket.opens_with(PREFACE)).await {
        Ok(Ok(true)) => Some(Speaks::Http2),
        Ok(Ok(false)) => Some(Speaks::Http1),
        Ok(Err(_)) => None,
        Err(Late) => {
            up(&shared.stats.timed_out);
            None
        }
    }
}

/// Why there is no header.
enum Unread {
    /// Closed without a byte, as by a port check.
    Closed,
    Malformed(Malformed),
}

/// Reads a PROXY header, and the bytes behind it that came with it.
async fn header<R: AsyncRead + Unpin>(read: &mut R) -> Result<(Header, Vec<u8>), Unread> {
    let mut bytes = Vec::with_capacity(HEADER_READ);
    loop {
        // At most a header and one more read: this many bytes contain a header, or are invalid.
        if let Some(header) = parse(&bytes).map_err(Unread::Malformed)? {
            let rest = bytes.split_off(header.length);
            return Ok((header, rest));
        }
        if read.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return Err(Unread::Closed);
        }
    }
}

/// Counts it. The first one is logged, because it usually means a mistake in a configuration.
fn tell(malformed: Malformed, stats: &Stats) {
    let before = stats.unannounced.fetch_add(1, Ordering::Relaxed);
    if before == 0 {
        tracing::warn!(
            reason = %malformed,
            "a connection from a network in proxy_protocol did not begin with a PROXY header and was closed; further ones \
             are only counted"
        );
    }
}

/// The steps before the first byte took too long.
pub(crate) struct Late;

/// Bounds the steps before the first byte of HTTP; once the drain begins there is little time left.
pub(crate) async fn in_time<T>(
    deadline: Instant,
    closing: &CancellationToken,
    step: impl Future<Output = T>,
) -> Result<T, Late> {
    let told = async {
        closing.cancelled().await;
        sleep(LAST_WORD).await;
    };
    tokio::select! {
        biased;
        done = timeout_at(deadline, step) => done.map_err(|_| Late),
        () = told => Err(Late),
    }
}

/// The port that is used for a socket that has none.
fn usual_port(proto: Proto) -> u16 {
    match proto {
        Proto::Http => 80,
        Proto::Https => 443,
    }
}

/// How long a connection may take to begin when the drain has begun already.
const LAST_WORD: Duration = Duration::from_secs(1);
/// How much is read of a header at first; most fit, with the request behind them.
const HEADER_READ: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_header_in_two_reads_leaves_what_lies_behind_it() {
        let all = b"PROXY TCP4 192.0.2.1 198.51.100.2 1 2\r\nGET / HTTP/1.1\r\n";
        for at in 0..all.len() {
            let (mut first, second) = all.split_at(at);
            let mut both = tokio::io::AsyncReadExt::chain(&mut first, second);
            let Ok((header, mut rest)) = header(&mut both).await else {
                panic!("split at {at}");
            };
            both.read_to_end(&mut rest).await.unwrap();
            assert_eq!((header.length, &rest[..]), (39, &all[39..]), "split at {at}");
        }
    }

    #[tokio::test]
    async fn an_end_before_the_header_is_no_mistake_of_anybody() {
        for begun in [&b""[..], b"PROXY", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c1234"] {
            assert!(matches!(header(&mut &begun[..]).await, Err(Unread::Closed)));
        }
    }
}
